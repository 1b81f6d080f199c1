"""Small tools. Called as MODE n MILLISECONDS."""
import multiprocessing
import queue
import sys
import threading
import time

MS = 400.0


def amount(in_400_ms):
    return int(in_400_ms * MS / 400)


def score(text, rounds):
    """A checksum in pure Python."""
    h = text
    for i in range(rounds):
        h = (h * 31 + i) & 0xFFFFFFFF
        h ^= h >> 7
    return h


def tokenise(n):
    """Threads that take documents from a queue and score them in Python."""
    jobs = queue.SimpleQueue()
    for d in range(amount(135)):
        jobs.put(d)
    totals = [0] * n

    def worker(me):
        while True:
            try:
                document = jobs.get_nowait()
            except queue.Empty:
                return
            totals[me] += score(document, 8000)

    team = [threading.Thread(target=worker, args=(i,)) for i in range(n)]
    for t in team:
        t.start()
    for t in team:
        t.join()
    print(sum(totals))


def scored(document):
    return score(document, 20000)


def gridsearch(n):
    """A pool of processes."""
    with multiprocessing.Pool(n) as pool:
        print(max(pool.imap_unordered(scored, range(amount(60)), chunksize=2)))


def ledger_clerk(lock, total, entries):
    for e in entries:
        with lock:
            total.value = (total.value + score(e, 16000)) & 0xFFFFFFFF


def ledger(n):
    """Processes that do all their work while they hold one lock."""
    lock = multiprocessing.Lock()
    total = multiprocessing.Value("L", 0, lock=False)
    entries = list(range(amount(115)))
    team = [multiprocessing.Process(target=ledger_clerk, args=(lock, total, entries[i::n])) for i in range(n)]
    for p in team:
        p.start()
    for p in team:
        p.join()
    print(total.value)


def download(n):
    """Threads that wait for answers from afar, each on its own."""
    urls = list(range(amount(80)))

    def worker(mine):
        for _ in mine:
            time.sleep(0.005)

    team = [threading.Thread(target=worker, args=(urls[i::n],)) for i in range(n)]
    for t in team:
        t.start()
    for t in team:
        t.join()


def resizer(frames):
    while frames.get() is not None:
        score(1, 5000)


def video(n):
    """The parent decodes, in order, and the other processes resize; alone it does both."""
    frames = multiprocessing.Queue(8)
    team = [multiprocessing.Process(target=resizer, args=(frames,)) for _ in range(1, n)]
    for p in team:
        p.start()
    stream = 1
    for _ in range(amount(105)):
        stream = score(stream, 15000)
        if n == 1:
            score(1, 5000)
        else:
            frames.put(stream)
    for _ in team:
        frames.put(None)
    for p in team:
        p.join()
    print(stream)


def main():
    global MS
    if sys.argv[1:] == ["calibrate"]:
        print("10.0")
        return
    mode, n = sys.argv[1], int(sys.argv[2])
    MS = float(sys.argv[3]) if len(sys.argv) > 3 else MS
    from_s = time.perf_counter()
    {"tokenise": tokenise, "gridsearch": gridsearch, "ledger": ledger, "download": download, "video": video}[mode](n)
    print(f"{(time.perf_counter() - from_s) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
