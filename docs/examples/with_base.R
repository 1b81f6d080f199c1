# How many times a thread does a process cost? From `scruple export DIR -o session.csv`.
#
# Usage: Rscript with_base.R session.csv

file <- commandArgs(trailingOnly = TRUE)[1]
# A level may be called NA: only empty cells are empty.
trials <- read.csv(file, na.strings = "", stringsAsFactors = FALSE)

# CPU time: in this session neighbours disturbed the wall clock (`carried_by` in summary.json).
plain <- "descriptors=0 mappings=0 mechanism=%s pages=4k placement=same touched=0"
cpu <- subset(trials, experiment == "create" & response == "cpu_ns" &
  treatment %in% sprintf(plain, c("fork", "pthread")))

# One number per trial; the median over trials.
medians <- tapply(cpu$value, cpu$factor_mechanism, median, na.rm = TRUE)
cat(sprintf("median %s %.6g ns\n", names(medians), medians), sep = "")

# One ratio per block: both of its trials ran within the same minute.
blocks <- tapply(cpu$value, list(cpu$block, cpu$factor_mechanism), mean)
logs <- na.omit(log(blocks[, "fork"] / blocks[, "pthread"]))

# Hodges-Lehmann: the median of the means of all pairs of blocks, each with itself, too.
n <- length(logs)
pairs <- outer(logs, logs, "+") / 2
means <- sort(pairs[upper.tri(pairs, diag = TRUE)])
# The interval of Wilcoxon's signed-rank test, interpolated to 95 %; it needs 6 blocks.
# (wilcox.test(logs, conf.int = TRUE) gives the same point and the next wider interval.)
outside <- 2 * psignrank(seq_along(means) - 1, n)
place <- max(which(outside <= 0.05))
weight <- (0.05 - outside[place]) / (outside[place + 1] - outside[place])
inwards <- function(m) exp(m[place] + weight * (m[place + 1] - m[place]))
cat(sprintf("ratio fork/pthread %.6g low %.6g high %.6g blocks %d\n",
  exp(median(means)), inwards(means), inwards(rev(means)), n))
