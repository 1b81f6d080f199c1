"""How many times a thread does a process cost? From `scruple export DIR -o session.csv`.

Usage: python3 with_polars.py session.csv
"""
import math
import statistics
import sys

import polars as pl

# Types from the whole file: a column may be empty for its first thousand rows.
trials = pl.read_csv(sys.argv[1], infer_schema_length=None)

plain = "descriptors=0 mappings=0 mechanism={} pages=4k placement=same touched=0"
plain = pl.col("treatment").is_in([plain.format("fork"), plain.format("pthread")])
whole = trials.filter(pl.col("experiment") == "create", pl.col("response") == "whole_ns", plain)
# One number per trial; the median over trials.
medians = whole.group_by("factor_mechanism").agg(pl.median("value")).sort("factor_mechanism")
for mechanism, ns in medians.rows():
    print(f"median {mechanism} {ns:.6g} ns")

# One ratio per block: both of its trials ran within the same minute.
blocks = whole.pivot("factor_mechanism", index="block", values="value", aggregate_function="mean")
logs = [math.log(row["fork"] / row["pthread"]) for row in blocks.drop_nulls().rows(named=True)]

# The median of the ratios, and two order statistics that enclose it with 95 %, interpolated as by
# Hettmansperger and Sheather (1986); it needs 6 blocks. (scruple takes the outer one alone at a gap.)
n, ordered = len(logs), sorted(logs)
outside = [2 * sum(math.comb(n, i) for i in range(d)) / 2**n for d in range(n // 2 + 1)]
d = max(depth for depth, share in enumerate(outside) if depth and share <= 0.05)
part = (0.05 - outside[d]) / (outside[d + 1] - outside[d])
weight = (n - d) * part / (d + (n - 2 * d) * part)
inwards = lambda m: math.exp(m[d - 1] + weight * (m[d] - m[d - 1]))
point = math.exp(statistics.median(ordered))
low, high = inwards(ordered), inwards(ordered[::-1])
print(f"ratio fork/pthread {point:.6g} low {low:.6g} high {high:.6g} blocks {n}")
