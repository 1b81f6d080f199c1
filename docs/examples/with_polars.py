"""How many times a thread does a process cost? From `scruple export DIR -o session.csv`.

Usage: python3 with_polars.py session.csv
"""
import math
import statistics
import sys
from itertools import accumulate, combinations_with_replacement

import polars as pl

# Types from the whole file: a column may be empty for its first thousand rows.
trials = pl.read_csv(sys.argv[1], infer_schema_length=None)

# CPU time: in this session neighbours disturbed the wall clock (`carried_by` in summary.json).
plain = "descriptors=0 mappings=0 mechanism={} pages=4k placement=same touched=0"
plain = pl.col("treatment").is_in([plain.format("fork"), plain.format("pthread")])
cpu = trials.filter(pl.col("experiment") == "create", pl.col("response") == "cpu_ns", plain)
# One number per trial; the median over trials.
medians = cpu.group_by("factor_mechanism").agg(pl.median("value")).sort("factor_mechanism")
for mechanism, ns in medians.rows():
    print(f"median {mechanism} {ns:.6g} ns")

# One ratio per block: both of its trials ran within the same minute.
blocks = cpu.pivot("factor_mechanism", index="block", values="value", aggregate_function="mean")
logs = [math.log(row["fork"] / row["pthread"]) for row in blocks.drop_nulls().rows(named=True)]

# Hodges-Lehmann: the median of the means of all pairs of blocks, each with itself, too.
means = sorted((a + b) / 2 for a, b in combinations_with_replacement(logs, 2))
# The interval of Wilcoxon's signed-rank test, interpolated to 95 %; it needs 6 blocks.
chance = [1.0]
for rank in range(1, len(logs) + 1):
    chance = [(a + b) / 2 for a, b in zip(chance + [0] * rank, [0] * rank + chance)]
outside = [2 * total for total in accumulate(chance)]
place = max(i for i, share in enumerate(outside) if share <= 0.05)
weight = (0.05 - outside[place]) / (outside[place + 1] - outside[place])
inwards = lambda m: math.exp(m[place] + weight * (m[place + 1] - m[place]))
point, low, high = math.exp(statistics.median(means)), inwards(means), inwards(means[::-1])
print(f"ratio fork/pthread {point:.6g} low {low:.6g} high {high:.6g} blocks {len(logs)}")
