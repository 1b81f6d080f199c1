//! Why do two small allocations share a cache line, and what does a larger request change?
//!
//! A heap as lectures draw it is asked for blocks one after the other, and shown; and so is the
//! malloc of the C library. Then one or two threads count in the first words of the first two.

mod heap;
mod layout;

use crate::support::counting::{Counters, LINE_SHARED, Promise};
use crate::support::party::{Party, line_bytes};
use kit::workers::{Model, Repeated};
use kit::{Result, Stop, Trial};
use layout::{BLOCKS, Taken, sharing};
use std::sync::atomic::AtomicU64;
use sys::increment;

experiment!("heap_layout", "heap_layout.toml");

/// Takes blocks by the same request, one after the other.
type Maker = fn(usize) -> Result<Taken>;

/// The levels of the factor `allocator`.
const MAKERS: [(&str, Maker); 2] = [("own", Taken::own), ("glibc", Taken::glibc)];

/// The length of a cache line where the machine does not report it, in bytes.
const USUAL_LINE_BYTES: u64 = 64;

/// Requests whose blocks are shown: those of the claims.
const SHOWN: [u64; 2] = [8, 64];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let maker = trial.pick("allocator", &MAKERS)?;
    let request_bytes = trial.number("request")?;
    let threads = trial.number("threads")? as usize;
    let party = Party::new(trial, Model::Thread, threads, threads)?;
    let line_bytes = line_bytes(trial.one_cpu()?).unwrap_or(USUAL_LINE_BYTES);
    let taken = maker(request_bytes as usize)?;
    let payloads = taken.payloads();
    let first_two: Vec<u64> = payloads[..2].iter().map(|at| at % line_bytes).collect();
    trial.observe("first_two_in_line", format!("{first_two:?}"));
    let counters = counters(&taken, threads);
    let mut blocks = counters.ok_or_else(|| Stop::failed("a thread has no counter"))?;
    let near = sharing(&payloads[..2], request_bytes, line_bytes).0 > 0;
    let contention = if near { LINE_SHARED } else { 1 };
    let profile = trial.spec().profile;
    blocks.count =
        party.count(profile, contention, |count| increment::atomic(blocks.words[0], count));
    (&blocks).settle();
    party.count_together(trial, threads as u64 * blocks.count, Promise::Exact, &blocks)?;
    if threads == 1 {
        // Where blocks lie does not depend on how many count in them.
        record_layout(trial, &taken, request_bytes, line_bytes);
    }
    if let Some((pieces, refused)) = taken.give_back() {
        trial.check("pieces when all was given back", pieces as f64, 1.0, 1.0);
        trial.check("requests and blocks refused", refused as f64, 0.0, 0.0);
    }
    Ok(())
}

/// Counters in the first words of the first blocks, one for each thread.
fn counters(taken: &Taken, threads: usize) -> Option<Counters<'_>> {
    let words: Option<Vec<&AtomicU64>> = (0..threads).map(|index| taken.counter(index)).collect();
    Some(Counters { words: words?, each: 1, add: increment::atomic, count: 0 })
}

fn record_layout(trial: &mut Trial<'_>, taken: &Taken, request_bytes: u64, line_bytes: u64) {
    let payloads = taken.payloads();
    let block_bytes = taken.block_bytes();
    let distances =
        payloads.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as i64).collect::<Vec<_>>();
    let overhead_ppm = block_bytes.saturating_sub(request_bytes) * 1_000_000 / block_bytes.max(1);
    let (first_words, any_bytes) = sharing(&payloads, request_bytes, line_bytes);
    trial.record_one("block_bytes", block_bytes as i64);
    trial.record("distance_bytes", 1, distances);
    trial.record_one("overhead_ppm", overhead_ppm as i64);
    trial.record_one("neighbours_count", first_words as i64);
    trial.record_one("payloads_meet_count", any_bytes as i64);
    let aligned = payloads.iter().filter(|payload| *payload % heap::ALIGNMENT as u64 == 0).count();
    trial.check("payloads aligned to 16", aligned as f64, BLOCKS as f64, BLOCKS as f64);
    if SHOWN.contains(&request_bytes) {
        let (title, columns, rows) = taken.shown(request_bytes, line_bytes);
        trial.exhibit(&title, &columns, rows);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_two_threads_count_is_in_their_blocks() {
        for taken in [Taken::own(8), Taken::own(64), Taken::glibc(8)] {
            let Ok(taken) = taken else {
                continue; // Another C library.
            };
            let word = |index: usize| taken.counter(index).unwrap();
            let blocks = Counters { count: 100_000, ..counters(&taken, 2).unwrap() };
            std::thread::scope(|scope| {
                for index in 0..2 {
                    let mut blocks = &blocks;
                    scope.spawn(move || blocks.work(index, 0));
                }
            });
            let found = [0, 1, 2].map(|index| word(index).load(Ordering::Relaxed));
            assert_eq!(found, [100_000, 100_000, 0], "the last is a third one's");
            assert_eq!(((&blocks).settle(), (&blocks).settle()), (200_000, 0));
        }
    }

    #[test]
    fn every_claim_is_measured_in_quick_and_the_layout_in_smoke() {
        let design = design();
        crate::check_levels(&design, "allocator", &MAKERS);
        let quick = design.treatments(kit::model::Profile::Quick);
        for claim in &design.claims {
            for cell in claim.quantity.cells() {
                assert!(quick.contains(&design.complete(cell)), "{}", claim.id);
            }
        }
        let smoke = design.treatments(kit::model::Profile::Smoke);
        assert!(smoke.len() <= 8, "{}", smoke.len());
    }
}
