//! What people say of page faults, each with the number that decides.

use super::cells::{advised, alone, by, limited_and_told};
use kit::declare::{claim, ratio, share};
use kit::model::{Claim, Region};

const QUIZ: &str = "a computer-architecture quiz";

pub(super) fn claims() -> Vec<Claim> {
    let mut all = about_the_disk();
    all.extend(about_memory());
    all
}

fn about_the_disk() -> Vec<Claim> {
    let no_order = by("resident").with("access", "random");
    vec![
        claim(
            "disk_is_why",
            QUIZ,
            "Major faults are slow because of the disk.",
            "the process sleeps until the page has come from the disk; the rest is what a minor \
             fault costs, too",
        )
        .note(
            "It holds if nine tenths of the cost or more vanish where the same walk finds the same \
             page cached. What a CPU does to ask the disk and to switch away is counted with the \
             disk, since without one it would not be done.",
        )
        .holds_if(
            share("page_ns", alone("file_cold"), alone("file_warm"), no_order),
            Region::above(0.9),
        ),
        claim(
            "read_ahead",
            QUIZ,
            "Sequential access turns most major faults into minor ones, by reading ahead.",
            "the kernel reads the pages behind the one that was missing before they are asked for",
        )
        .note(
            "Judged against the same walk in order after MADV_RANDOM, which switches the reading \
             ahead off. A page read ahead may still be on its way when it is touched: the walk \
             waits, and no major fault is counted.",
        )
        .holds_if(
            share("major_count", advised("file_cold", "random"), by("file_cold"), by("file_warm")),
            Region::above(0.5),
        ),
        claim(
            "thousands",
            "a common textbook figure (a fault that the disk serves in 8 ms)",
            "A major fault costs thousands of times as much as a minor one (1000 or more).",
            "memory answers in nanoseconds, a disk that turns in milliseconds",
        )
        .note("Disks that do not turn answer in tens of microseconds.")
        .holds_if(ratio("page_ns", alone("file_cold"), alone("file_warm")), Region::above(1000.0)),
        claim(
            "io_bound",
            QUIZ,
            "Past the memory that there is, the CPU's share falls and the job becomes I/O bound.",
            "each page is gone when the next walk comes to it, and must be read again",
        )
        .note(
            "It holds if the second walk over a file of twice the limit spends at most half the \
             share of its time on a CPU that it spends where the file fits. The kernel is told \
             that the walk goes in order (finding untold_past_memory, from profile standard on: \
             where it is not, and reads ahead as much as the limit lets it keep, it throws pages \
             away before they are used, and a CPU is busy with that).",
        )
        .holds_if(
            ratio("cpu_share_ppm", limited_and_told("below"), limited_and_told("above")),
            Region::below(0.5),
        ),
    ]
}

fn about_memory() -> Vec<Claim> {
    vec![
        claim(
            "huge_pages",
            "the kernel's documentation of transparent huge pages (admin-guide/mm/transhuge)",
            "With huge pages, touching memory for the first time is cheaper (by a fifth or more).",
            "one fault maps 512 pages; the pages must still be zeroed",
        )
        .note(
            "Judged with 8 MiB. What was just given back is zeroed in a large cache; where more \
             memory is touched, zeroing weighs more (finding huge_64, from profile standard on).",
        )
        .holds_if(
            ratio("fault_ns", by("anon_write").with("pages", "huge"), by("anon_write")),
            Region::below(0.8),
        ),
        claim(
            "populate",
            "common advice on MAP_POPULATE",
            "Memory that is mapped beforehand is cheaper in all (by a fifth or more), not only \
             cheaper later.",
            "one call maps all pages, and the way into the kernel is taken once",
        )
        .note(
            "Judged by CPU time, since nothing here waits. The pages must be found and zeroed all \
             the same: only the entries are saved.",
        )
        .holds_if(
            ratio("whole_cpu_ns", advised("anon_write", "populate"), by("anon_write")),
            Region::below(0.8),
        ),
    ]
}
