"""Programs that nobody tuned the analysis to, in Python: MODE n MILLISECONDS, with the same total work."""
import concurrent.futures
import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the very old bear " * 40


def count_words(_=0):
    """About 150 µs of pure Python."""
    seen = {}
    for word in TEXT.split():
        seen[word] = seen.get(word, 0) + 1
    return seen


def calibrated():
    best = 1e9
    for _ in range(200):
        began = time.process_time()
        count_words()
        best = min(best, time.process_time() - began)
    return 1 / best / 1e6


# How many calls of count_words a microsecond is worth; a child inherits it.
CALLS = float(os.environ.get("PLANTED_TURNS") or 0) or calibrated()


def words_for(us):
    for _ in range(max(1, round(us * CALLS))):
        count_words()


def futures(n, us):
    """Counts words in a pool of threads."""
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        list(pool.map(words_for, [5000] * int(us / 5000)))


def processes(n, us):
    """Counts words in a pool of processes."""
    with concurrent.futures.ProcessPoolExecutor(n) as pool:
        list(pool.map(words_for, [5000] * int(us / 5000)))


def digest(data):
    return hashlib.sha256(data).hexdigest()


def digests(n, us):
    """Hashes blocks of 4 MB in threads: hashlib gives the interpreter free meanwhile."""
    data = bytes(4 << 20)
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        list(pool.map(digest, [data] * int(us / 4000)))


def in_threads(n, items, work):
    parts = [items // n + (i < items % n) for i in range(n)]
    threads = [threading.Thread(target=lambda part: [work() for _ in range(part)], args=(p,)) for p in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def session(n, us):
    """Threads share one connection, and keep it while they wait for the answer."""
    connection = threading.Lock()

    def query():
        with connection:
            time.sleep(0.004)
        time.sleep(0.001)

    in_threads(n, int(us / 5000), query)


def pages(n, us):
    """Threads fetch pages that each take a while to come."""
    in_threads(n, int(us / 10000), lambda: time.sleep(0.01))


def charge(guard, items):
    for _ in range(items):
        words_for(1000)
        with guard:
            words_for(3000)


def accounts(n, us):
    """Processes that change one file's accounts under a lock of multiprocessing."""
    guard = multiprocessing.Lock()
    items = int(us / 4000)
    parts = [items // n + (i < items % n) for i in range(n)]
    team = [multiprocessing.Process(target=charge, args=(guard, part)) for part in parts]
    for process in team:
        process.start()
    for process in team:
        process.join()


def report(n, us):
    """Counts in processes, and writes the report alone: half of the work."""
    with multiprocessing.Pool(n) as pool:
        pool.map(words_for, [5000] * int(us / 2 / 5000))
    words_for(us / 2)


def convert(_):
    """A converter in a process of its own."""
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"], check=True)


def converters(n, us):
    """Threads that start a converter for each picture."""
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        list(pool.map(convert, range(int(us / 20000))))


def main():
    if sys.argv[1] == "calibrate":
        return print(calibrated())
    modes = {
        "futures": futures, "processes": processes, "digests": digests, "session": session, "pages": pages,
        "accounts": accounts, "report": report, "converters": converters,
    }
    modes[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3]) * 1000)


if __name__ == "__main__":
    main()
