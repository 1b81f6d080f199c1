# How many times a thread does a process cost? From `scruple export DIR -o session.csv`.
#
# Usage: Rscript with_base.R session.csv

file <- commandArgs(trailingOnly = TRUE)[1]
# A level may be called NA: only empty cells are empty.
trials <- read.csv(file, na.strings = "", stringsAsFactors = FALSE)

plain <- "descriptors=0 mappings=0 mechanism=%s pages=4k placement=same touched=0"
whole <- subset(trials, experiment == "create" & response == "whole_ns" &
  treatment %in% sprintf(plain, c("fork", "pthread")))

# One number per trial; the median over trials.
medians <- tapply(whole$value, whole$factor_mechanism, median, na.rm = TRUE)
cat(sprintf("median %s %.6g ns\n", names(medians), medians), sep = "")

# One ratio per block: both of its trials ran within the same minute.
blocks <- tapply(whole$value, list(whole$block, whole$factor_mechanism), mean)
logs <- na.omit(log(blocks[, "fork"] / blocks[, "pthread"]))

# The median of the ratios, and two order statistics that enclose it with 95 %, interpolated as by
# Hettmansperger and Sheather (1986); it needs 6 blocks. (scruple takes the outer one alone at a gap.)
n <- length(logs)
ordered <- sort(logs)
outside <- 2 * pbinom(seq_len(n %/% 2) - 1, n, 0.5)
d <- max(which(outside <= 0.05))
part <- (0.05 - outside[d]) / (outside[d + 1] - outside[d])
weight <- (n - d) * part / (d + (n - 2 * d) * part)
inwards <- function(m) exp(m[d] + weight * (m[d + 1] - m[d]))
cat(sprintf("ratio fork/pthread %.6g low %.6g high %.6g blocks %d\n",
  exp(median(ordered)), inwards(ordered), inwards(rev(ordered)), n))
