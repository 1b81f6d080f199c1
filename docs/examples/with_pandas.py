"""How many times a thread does a process cost? From `scruple export DIR -o session.csv`.

Usage: python3 with_pandas.py session.csv
"""
import sys
from math import comb

import numpy as np
import pandas as pd

# An experiment is called "null", and levels are called "none" and "NA": only empty cells are empty.
trials = pd.read_csv(sys.argv[1], keep_default_na=False, na_values=[""], low_memory=False)

whole = trials.query("experiment == 'create' and response == 'whole_ns'")
plain = "descriptors=0 mappings=0 mechanism={} pages=4k placement=same touched=0"
names = {plain.format(mechanism): mechanism for mechanism in ("fork", "pthread")}
whole = whole[whole["treatment"].isin(names)].assign(mechanism=lambda t: t["treatment"].map(names))

# One number per trial; the median over trials.
for mechanism, ns in whole.groupby("mechanism")["value"].median().items():
    print(f"median {mechanism} {ns:.6g} ns")

# One ratio per block: both of its trials ran within the same minute.
blocks = whole.pivot_table(index="block", columns="mechanism", values="value").dropna()
logs = np.log(blocks["fork"] / blocks["pthread"])

# The median of the ratios, and two order statistics that enclose it with 95 %, interpolated as by
# Hettmansperger and Sheather (1986); it needs 6 blocks. (scruple takes the outer one alone at a gap.)
n = len(logs)
ordered = np.sort(logs)
outside = [2 * sum(comb(n, i) for i in range(d)) / 2**n for d in range(n // 2 + 1)]
d = max(depth for depth, share in enumerate(outside) if depth and share <= 0.05)
part = (0.05 - outside[d]) / (outside[d + 1] - outside[d])
weight = (n - d) * part / (d + (n - 2 * d) * part)
low, high = np.interp([d - 1 + weight, n - d - weight], range(n), ordered)
point = np.median(ordered)
print(f"ratio fork/pthread {np.exp(point):.6g} low {np.exp(low):.6g} high {np.exp(high):.6g} blocks {n}")
