// The next files are read by a thread. queue mpsc|mutex FOLDER ITEMS COMPUTE_MS
use std::fs::{write, File};
use std::io::Read;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn read_file(folder: &str, k: usize) {
    let mut data = vec![0u8; 1 << 16];
    let mut file = File::open(format!("{}/part{:03}.bin", folder, k)).unwrap();
    file.read(&mut data).unwrap();
}

fn shared(io: &[(Instant, Instant)], waits: &[(Instant, Instant)]) -> u128 {
    let mut sum = 0;
    for a in io {
        for b in waits {
            let (from, to) = (a.0.max(b.0), a.1.min(b.1));
            if to > from {
                sum += (to - from).as_nanos();
            }
        }
    }
    sum
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (folder, items) = (args[2].clone(), args[3].parse::<usize>().unwrap());
    let compute = Duration::from_millis(args[4].parse().unwrap());
    let mut waits = Vec::new();
    let reader;
    if args[1] == "mpsc" {
        let (sender, receiver) = mpsc::sync_channel(1);
        reader = thread::spawn(move || {
            let mut io = Vec::new();
            for k in 0..items {
                let from = Instant::now();
                read_file(&folder, k);
                io.push((from, Instant::now()));
                sender.send(Instant::now()).unwrap();
            }
            io
        });
        for _ in 0..items {
            let from = Instant::now();
            let sent = receiver.recv().unwrap();
            if sent > from {
                waits.push((from, sent));
            }
            thread::sleep(compute);
        }
    } else {
        let lock = Arc::new(Mutex::new(0usize));
        let its = lock.clone();
        reader = thread::spawn(move || {
            let mut io = Vec::new();
            for k in 0..items {
                {
                    let _held = its.lock().unwrap();
                    let from = Instant::now();
                    read_file(&folder, k);
                    io.push((from, Instant::now()));
                }
                thread::sleep(Duration::from_millis(20));
            }
            io
        });
        for _ in 0..items {
            thread::sleep(compute);
            let from = Instant::now();
            let _held = lock.lock().unwrap();
            waits.push((from, Instant::now()));
        }
    }
    let from = Instant::now();
    let io = reader.join().unwrap();
    waits.push((from, Instant::now()));
    let service: u128 = io.iter().map(|a| (a.1 - a.0).as_nanos()).sum();
    // Who has the lock half of the time and is waited for at the end never rests: it is the path.
    let lost = if args[1] == "mutex" { service } else { shared(&io, &waits) };
    write(std::env::var("TRUTH").unwrap(),
          format!("{{\"object\": \"input\", \"service_ns\": {}, \"exposed_ns\": {}, \
                   \"waited_ns\": {}}}", service, lost, lost)).unwrap();
}
