"""The second set, in Python: MODE n MILLISECONDS, with the same total work whatever n is."""
import concurrent.futures
import multiprocessing
import os
import sys
import threading
import time


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


def executor(n, us, turns):
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        list(pool.map(compute, [int(2000 * turns)] * int(us / 2000)))


def slow_lock(n, us, turns):
    """Each sleeps for 2 ms while it holds the only lock, as a client of one connection does."""
    lock = threading.Lock()

    def work():
        for _ in range(int(us / 3000) // n):
            with lock:
                time.sleep(0.002)
            compute(int(500 * turns))

    threads = [threading.Thread(target=work) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def consumer(tasks, turns):
    while tasks.get():
        compute(int(1500 * turns))


def dealt(n, us, turns):
    """The parent makes each task, for two thirds of the time, and processes do them."""
    tasks = multiprocessing.Queue(4)
    workers = [multiprocessing.Process(target=consumer, args=(tasks, turns)) for _ in range(n)]
    for worker in workers:
        worker.start()
    for _ in range(int(us / 4500)):
        compute(int(3000 * turns))
        tasks.put(1)
    for _ in workers:
        tasks.put(0)
    for worker in workers:
        worker.join()


def main():
    turns = float(os.environ.get("PLANTED_TURNS") or calibrated())
    if sys.argv[1] == "calibrate":
        return print(turns)
    modes = {"executor": executor, "slow-lock": slow_lock, "dealt": dealt}
    modes[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3]) * 1e3, turns)


if __name__ == "__main__":
    main()
