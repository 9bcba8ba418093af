"""Readers beside a consumer, by the means that Python programs have: loaders.py WHICH FOLDER ITEMS MS

Each gives, for every item, when it was ready and the I/O that made it, so that the consumer knows
which part of its wait was I/O; and which thread read it, with what that has waited for a CPU so far.

Between processes, a reader begins the next item while the last is handed over. Without I/O the readers
would be ahead, and no hand-over but the first would be waited for: it is the I/O's, as the read is.
Between threads it takes the interpreter, which the reader needs as well, and is nobody's to get back.
"""
import asyncio
import concurrent.futures
import multiprocessing
import queue
import sys
import threading

import measure
from measure import now, waited_for_cpu

WHICH, FOLDER, ITEMS, MS = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
FIELDS = 5  # of what is known of an item


def item(k):
    """Reads one; gives its span, when it was done, and who read it."""
    io = measure.Spans()
    measure.read_file(io, FOLDER, k)
    return *io[0], now(), threading.get_native_id(), waited_for_cpu()


def take(got, start, io, waits, handed, queued):
    """Notes an item that was asked for at `start`."""
    begin, end, ready, reader, queued[reader] = got
    io.append((begin, end))
    waits.append((start, max(start, ready)))
    handed.append(now() - ready if ready > start else 0)


def consume(items, *notes):
    """Takes the items one by one and works on each."""
    it = iter(items)
    while True:
        start = now()
        try:
            got = next(it)
        except StopIteration:
            return
        take(got, start, *notes)
        measure.work(MS)


def by_thread():
    q = queue.Queue(maxsize=2)

    def reads():
        for k in range(ITEMS):
            q.put(item(k))

    thread = threading.Thread(target=reads)
    thread.start()
    for _ in range(ITEMS):
        yield q.get()
    thread.join()


def puts(q):
    for k in range(ITEMS):
        q.put(item(k))


def by_process():
    fork = multiprocessing.get_context("fork")
    q = fork.Queue(maxsize=2)
    process = fork.Process(target=puts, args=(q,))
    process.start()
    for _ in range(ITEMS):
        yield q.get()
    process.join()


def by_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        yield from pool.imap(item, range(ITEMS))


def sends(free, filled, times):
    for k in range(ITEMS):
        got = item(k)
        free.acquire()
        times[FIELDS * k:FIELDS * (k + 1)] = got
        filled.release()


def by_semaphore():
    fork = multiprocessing.get_context("fork")
    free, filled = fork.Semaphore(1), fork.Semaphore(0)
    times = fork.Array("q", FIELDS * ITEMS, lock=False)
    process = fork.Process(target=sends, args=(free, filled, times))
    process.start()
    for k in range(ITEMS):
        filled.acquire()
        got = times[FIELDS * k:FIELDS * (k + 1)]
        free.release()
        yield got
    process.join()


def by_futures():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(item, 0)
        for k in range(ITEMS):
            got = ahead.result()
            if k + 1 < ITEMS:
                ahead = pool.submit(item, k + 1)
            yield got


def by_asyncio(*notes):
    async def main():
        loop = asyncio.get_running_loop()
        ahead = loop.run_in_executor(None, item, 0)
        for k in range(ITEMS):
            start = now()
            take(await ahead, start, *notes)
            if k + 1 < ITEMS:
                ahead = loop.run_in_executor(None, item, k + 1)
            measure.work(MS)

    asyncio.run(main())


WAYS = {"thread": by_thread, "process": by_process, "pool": by_pool, "semaphore": by_semaphore,
        "futures": by_futures}
AHEAD = ("process", "semaphore")  # one process reads, another takes


def main():
    io, waits, handed, queued = notes = measure.Spans(), [], [], {}
    before = waited_for_cpu()
    if WHICH == "asyncio":
        by_asyncio(*notes)
    else:
        consume(WAYS[WHICH](), *notes)
    if WHICH == "pool":  # either worker's calls may lie in a wait; those of its item count
        lost = sum(measure.Spans([span]).shared([wait]) for span, wait in zip(io, waits))
    else:
        lost = io.shared(waits) + (sum(handed[1:]) if WHICH in AHEAD else 0)
    measure.truth("input", io.total(), lost, lost,
                  queued_ns=waited_for_cpu() - before + sum(queued.values()))


if __name__ == "__main__":
    main()
