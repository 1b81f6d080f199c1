"""Small tools. Called as MODE n MILLISECONDS; PLANTED_TURNS: turns of the loop in a microsecond."""
import asyncio
import concurrent.futures
import hashlib
import multiprocessing
import os
import queue
import sys
import threading
import time

MS = 600.0
TURNS = 0.0


def score(seed, rounds):
    """A checksum in pure Python."""
    h = seed
    for i in range(rounds):
        h = (h * 31 + i) & 0xFFFFFFFF
        h ^= h >> 7
    return h


def rounds_of(us):
    return int(us * TURNS)


def calibrated():
    best = 1e18
    for _ in range(40):
        start = time.perf_counter()
        score(1, 10000)
        best = min(best, time.perf_counter() - start)
    return 10000 / (best * 1e6)


def checksums(n):
    """Nothing is planted (control): threads hash buffers of 1 MiB (1 ms each), and hashlib releases the GIL."""
    jobs = queue.SimpleQueue()
    for i in range(int(MS)):
        jobs.put(i)
    found = [b""] * n

    def worker(me):
        buffer = bytes([me + 1]) * (1 << 20)
        while True:
            try:
                jobs.get_nowait()
            except queue.Empty:
                return
            found[me] = hashlib.blake2b(buffer).digest()

    team = [threading.Thread(target=worker, args=(i,)) for i in range(n)]
    for t in team:
        t.start()
    for t in team:
        t.join()
    print(found[0].hex()[:8])


async def gateway_requests(n):
    loop = asyncio.get_running_loop()
    mine, theirs = rounds_of(1500), rounds_of(4500)
    requests = iter(range(int(MS / 6)))
    with concurrent.futures.ProcessPoolExecutor(1) as pool:

        async def worker():
            for r in requests:
                score(r, mine)
                await loop.run_in_executor(pool, score, r, theirs)

        await asyncio.gather(*(worker() for _ in range(n)))


def gateway(n):
    """n coroutines send 0.75 of each request to one process, which serves them one after the other."""
    asyncio.run(gateway_requests(n))


def exported(rounds):
    return score(7, rounds)


def exports(n):
    """A pool of processes and chunks of four customers, the largest first: the first chunk is 0.68 of all the work."""
    sizes = [0.17] * 4 + [0.32 / 28] * 28
    with multiprocessing.Pool(n) as pool:
        print(max(pool.map(exported, [rounds_of(s * MS * 1e3) for s in sizes], chunksize=4)))


def census(n):
    """A pool of processes maps (1 ms an item); the parent alone reduces (5 ms an item)."""
    districts = [rounds_of(1000)] * int(MS / 5)
    total, reducing = 1, rounds_of(5000)
    with multiprocessing.Pool(n) as pool:
        for part in pool.imap_unordered(exported, districts):
            total = score(total ^ part, reducing)
    print(total)


def main():
    global MS, TURNS
    TURNS = float(os.environ.get("PLANTED_TURNS") or 0) or calibrated()
    if sys.argv[1:] == ["calibrate"]:
        print(f"{TURNS:.3f}")
        return
    mode, n = sys.argv[1], int(sys.argv[2])
    MS = float(sys.argv[3]) if len(sys.argv) > 3 else MS
    start = time.perf_counter()
    {"checksums": checksums, "gateway": gateway, "exports": exports, "census": census}[mode](n)
    print(f"{(time.perf_counter() - start) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
