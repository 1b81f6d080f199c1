"""How many times a thread does a process cost? From `scruple export DIR -o session.csv`.

Usage: python3 with_pandas.py session.csv
"""
import sys
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

# An experiment is called "null", and levels are called "none" and "NA": only empty cells are empty.
trials = pd.read_csv(sys.argv[1], keep_default_na=False, na_values=[""], low_memory=False)

# CPU time: in this session neighbours disturbed the wall clock (`carried_by` in summary.json).
cpu = trials.query("experiment == 'create' and response == 'cpu_ns'")
plain = "descriptors=0 mappings=0 mechanism={} pages=4k placement=same touched=0"
names = {plain.format(mechanism): mechanism for mechanism in ("fork", "pthread")}
cpu = cpu[cpu["treatment"].isin(names)].assign(mechanism=lambda t: t["treatment"].map(names))

# One number per trial; the median over trials.
for mechanism, ns in cpu.groupby("mechanism")["value"].median().items():
    print(f"median {mechanism} {ns:.6g} ns")

# One ratio per block: both of its trials ran within the same minute.
blocks = cpu.pivot_table(index="block", columns="mechanism", values="value").dropna()
logs = np.log(blocks["fork"] / blocks["pthread"])

# Hodges-Lehmann: the median of the means of all pairs of blocks, each with itself, too.
n = len(logs)
means = np.sort([(a + b) / 2 for a, b in combinations_with_replacement(logs, 2)])
# The interval of Wilcoxon's signed-rank test, interpolated to 95 %; it needs 6 blocks.
chance = np.array([1.0])
for rank in range(1, n + 1):
    chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
outside = 2 * chance.cumsum()
place = np.flatnonzero(outside <= 0.05)[-1]
at = place + (0.05 - outside[place]) / (outside[place + 1] - outside[place])
low, high = np.interp([at, len(means) - 1 - at], range(len(means)), means)
point = np.median(means)
print(f"ratio fork/pthread {np.exp(point):.6g} low {np.exp(low):.6g} high {np.exp(high):.6g} blocks {n}")
