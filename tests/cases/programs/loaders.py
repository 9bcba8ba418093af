"""Readers beside a consumer, by the means that Python programs have: loaders.py WHICH FOLDER ITEMS MS

Each gives, for every item, when it was ready and the I/O that made it, so that the consumer knows
which part of its wait was I/O.
"""
import asyncio
import concurrent.futures
import multiprocessing
import queue
import sys
import threading

import measure
from measure import now

WHICH, FOLDER, ITEMS, MS = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])


def item(k):
    """Reads one; gives its span and when it was done."""
    io = measure.Spans()
    measure.read_file(io, FOLDER, k)
    return io[0], now()


def consume(items):
    """Takes the items one by one and works on each; gives I/O, and the waits with their I/O."""
    io, waits, it = measure.Spans(), [], iter(items)
    while True:
        start = now()
        try:
            span, ready = next(it)
        except StopIteration:
            return io, waits
        io.append(span)
        waits.append((start, max(start, ready)))
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
        (start, end), ready = item(k)
        free.acquire()
        times[3 * k], times[3 * k + 1], times[3 * k + 2] = start, end, ready
        filled.release()


def by_semaphore():
    fork = multiprocessing.get_context("fork")
    free, filled = fork.Semaphore(1), fork.Semaphore(0)
    times = fork.Array("q", 3 * ITEMS, lock=False)
    process = fork.Process(target=sends, args=(free, filled, times))
    process.start()
    for k in range(ITEMS):
        filled.acquire()
        got = times[3 * k:3 * k + 3]
        free.release()
        yield (got[0], got[1]), got[2]
    process.join()


def by_futures():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(item, 0)
        for k in range(ITEMS):
            got = ahead.result()
            if k + 1 < ITEMS:
                ahead = pool.submit(item, k + 1)
            yield got


def by_asyncio():
    io, waits = measure.Spans(), []

    async def main():
        loop = asyncio.get_running_loop()
        ahead = loop.run_in_executor(None, item, 0)
        for k in range(ITEMS):
            start = now()
            span, ready = await ahead
            io.append(span)
            if ready > start:
                waits.append((start, ready))
            if k + 1 < ITEMS:
                ahead = loop.run_in_executor(None, item, k + 1)
            measure.work(MS)

    asyncio.run(main())
    return io, waits


WAYS = {"thread": by_thread, "process": by_process, "pool": by_pool, "semaphore": by_semaphore,
        "futures": by_futures}

if __name__ == "__main__":
    io, waits = by_asyncio() if WHICH == "asyncio" else consume(WAYS[WHICH]())
    if WHICH == "pool":  # either worker's calls may lie in a wait; those of its item count
        lost = sum(measure.Spans([span]).shared([wait]) for span, wait in zip(io, waits))
    else:
        lost = io.shared(waits)
    measure.truth("input", io.total(), lost, lost)
