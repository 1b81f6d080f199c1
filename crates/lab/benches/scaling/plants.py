"""Planted programs in Python: MODE n MILLISECONDS, with the same total work whatever n is."""
import multiprocessing
import os
import sys
import threading
import time

OPERATION_US = 500


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


def main():
    if sys.argv[1] == "calibrate":
        return print(calibrated())
    mode, n, ms = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    turns = int(OPERATION_US * float(os.environ.get("PLANTED_TURNS") or calibrated()))
    operations = int(ms * 1000 / OPERATION_US)
    if mode == "pool":
        with multiprocessing.Pool(n) as pool:
            pool.map(compute, [turns] * operations, chunksize=max(1, operations // (8 * n)))
        return
    parts = [operations // n + (i < operations % n) for i in range(n)]
    threads = [threading.Thread(target=lambda part: [compute(turns) for _ in range(part)], args=(p,)) for p in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
