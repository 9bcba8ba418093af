// The same run in Rust, which looks the functions up as the C header does.
use std::ffi::{c_char, c_void, CString};
use std::io::Read;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Named = extern "C" fn(*const c_char);
type Plain = extern "C" fn();

fn find(name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }
}

fn say(function: &str, name: &str) {
    let found = find(function);
    if !found.is_null() {
        let call: Named = unsafe { std::mem::transmute(found) };
        let name = CString::new(name).unwrap();
        call(name.as_ptr());
    }
}

fn tell(function: &str) {
    let found = find(function);
    if !found.is_null() {
        let call: Plain = unsafe { std::mem::transmute(found) };
        call();
    }
}

fn main() {
    say("iotrace_mark", "loaded");
    say("iotrace_range_begin", "epoch");
    for i in 0..5 {
        tell("iotrace_step");
        say("iotrace_range_begin", "load");
        let mut data = vec![0u8; 65536];
        std::fs::File::open("data.raw").unwrap().read_exact(&mut data).unwrap();
        tell("iotrace_range_end");
        say("iotrace_range_begin", &format!("compute {i}"));
        std::thread::sleep(std::time::Duration::from_millis(2));
        tell("iotrace_range_end");
    }
    tell("iotrace_range_end");
}
