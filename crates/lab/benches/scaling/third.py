"""A third set of planted programs in Python: MODE n MILLISECONDS, with the same total work whatever n is."""
import hashlib
import multiprocessing
import multiprocessing.connection
import os
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

FILE_US = 1000
WORDS = 10000
TURNS_OF_WORD = 6
TURNS_OF_ROUND = 10


def compute(turns):
    x = 1
    for _ in range(turns):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def calibrated():
    best = 1e9
    for _ in range(20):
        began = time.process_time()
        compute(20000)
        best = min(best, time.process_time() - began)
    return 20000 / best / 1e6


def shares(total, n):
    return [total // n + (i < total % n) for i in range(n)]


def check_files(files, turns, answer):
    answer.send(sum(compute(turns) for _ in range(files)))


def checksums(n, us, turns_per_us):
    """Each process checks its files and sends back one number."""
    answers = []
    for files in shares(int(us / FILE_US), n):
        mine, theirs = multiprocessing.Pipe(duplex=False)
        job = (files, int(FILE_US * turns_per_us), theirs)
        multiprocessing.Process(target=check_files, args=job).start()
        answers.append(mine)
    sum(answer.recv() for answer in answers)
    for child in multiprocessing.active_children():
        child.join()


def parse(turns):
    return compute(turns) % 97


def feeds(n, us, turns_per_us):
    """A pool of threads parses feeds in plain Python."""
    turns = int(FILE_US * turns_per_us)
    with ThreadPoolExecutor(n) as pool:
        sum(pool.map(parse, [turns] * int(us / FILE_US)))


def sign(items, us, turns_per_us):
    rounds = int(us * turns_per_us / TURNS_OF_ROUND)
    while (digest := items.get()) is not None:
        hashlib.pbkdf2_hmac("sha256", digest, b"key", rounds)


def pack(items, count, us, turns_per_us):
    rounds = int(us * turns_per_us / TURNS_OF_ROUND)
    for number in range(count):
        items.put(hashlib.pbkdf2_hmac("sha256", b"%d" % number, b"pack", rounds))


def signer(n, us, turns_per_us):
    """One thread signs what the others pack. The hashes run without the interpreter's lock."""
    items = queue.Queue(maxsize=4)
    last = threading.Thread(target=sign, args=(items, 900, turns_per_us))
    jobs = [(items, count, 400, turns_per_us) for count in shares(int(us / 900), n)]
    packers = [threading.Thread(target=pack, args=job) for job in jobs]
    last.start()
    for packer in packers:
        packer.start()
    for packer in packers:
        packer.join()
    items.put(None)
    last.join()


def split_log(text, count, results):
    for _ in range(count):
        results.send(text.split())
    results.send(None)


def merge(words, by_host, by_word):
    for word in words:
        host, _, _ = word.partition("=")
        by_host[host] = by_host.get(host, 0) + 1
        by_word[word] = by_word.get(word, 0) + 1


def merge_all(waiting, by_host, by_word):
    while waiting:
        for results in multiprocessing.connection.wait(waiting):
            words = results.recv()
            if words is None:
                waiting.remove(results)
            else:
                merge(words, by_host, by_word)


def logs(n, us, turns_per_us):
    """Children split logs; the parent unpickles their long lists and merges them."""
    text = " ".join(f"host{i % 300}={i % 5000}" for i in range(WORDS))
    waiting = []
    for count in shares(int(us * turns_per_us / (TURNS_OF_WORD * WORDS)), n):
        mine, theirs = multiprocessing.Pipe(duplex=False)
        multiprocessing.Process(target=split_log, args=(text, count, theirs)).start()
        waiting.append(mine)
    merge_all(waiting, {}, {})
    for child in multiprocessing.active_children():
        child.join()


def main():
    if sys.argv[1] == "calibrate":
        return print(calibrated())
    turns_per_us = float(os.environ.get("PLANTED_TURNS") or calibrated())
    modes = {"checksums": checksums, "feeds": feeds, "signer": signer, "logs": logs}
    began = time.monotonic()
    modes[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3]) * 1000, turns_per_us)
    print(f"{(time.monotonic() - began) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
