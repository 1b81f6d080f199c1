//! Why do two small allocations share a cache line, and what does a larger request change?
//!
//! A heap as lectures draw it is asked for blocks one after the other, and shown; and so is the
//! malloc of the C library. Then one or two threads count in the first words of the first two.

mod design;
mod heap;
mod layout;

use crate::support::crowd::{
    self, MILLION, Rounds, Shift, Span, Step, all_disturbed, are_apart, by_round, gather, is_sound,
    per_million, places,
};
use design::MAKERS;
use kit::{Experiment, Stop, Trial};
use layout::{BLOCKS, Taken, line_bytes, sharing};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "heap_layout", design: design::design, trial };

/// Additions between two looks at the clock.
const BATCH: u64 = 256;

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let maker = trial.realise("allocator", &MAKERS)?;
    let request_bytes = trial.number("request")?;
    let threads = trial.number("threads")? as usize;
    trial.need_cpus(threads)?;
    let cpus = places(&trial.spec().cpus, threads);
    let line_bytes = line_bytes(trial.one_cpu()?);
    let taken = Taken::by(maker, request_bytes as usize)?;
    let payloads = taken.payloads();
    trial.observe("placement", sys::affinity::format_list(&cpus));
    trial.observe("line_bytes", line_bytes);
    trial.observe("first_two_in_line", format!("{:?}", in_line(&payloads[..2], line_bytes)));
    let counters: Vec<&AtomicU64> = (0..threads).filter_map(|index| taken.counter(index)).collect();
    if counters.len() < threads {
        return Err(Stop::failed("a thread has no counter"));
    }
    let counted = gather(
        &cpus,
        trial.spec().timed_ns,
        |index, gate| {
            let mut all = 0;
            let rounds = gate.work(index, |shift| {
                let count = increment(counters[index], shift);
                all += count;
                count
            })?;
            Some((rounds, all))
        },
        |step| match step {
            Step::Begin => trial.begin(),
            Step::End => trial.end().map(|_| ()),
            Step::Look => Ok(()),
        },
    )?;
    record_time(trial, &counted, are_apart(&cpus))?;
    let lost: u64 = counters
        .iter()
        .zip(&counted)
        .map(|(counter, (_, all))| counter.load(Ordering::Relaxed).abs_diff(*all))
        .sum();
    trial.check("increments lost", lost as f64, 0.0, 0.0);
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

/// Where in their lines some addresses lie.
fn in_line(payloads: &[u64], line_bytes: u64) -> Vec<u64> {
    payloads.iter().map(|payload| payload % line_bytes).collect()
}

/// Adds to a counter until the shift is over, each time by one atomic instruction in memory: the
/// compiler cannot know what is added, so it can add nothing up.
fn increment(counter: &AtomicU64, shift: &Shift) -> u64 {
    let mut count = 0;
    loop {
        for _ in 0..BATCH {
            counter.fetch_add(black_box(1), Ordering::Relaxed);
        }
        count += BATCH;
        if shift.is_over() {
            return count;
        }
    }
}

/// Keeps what each round came to in which all threads had their CPUs.
fn record_time(
    trial: &mut Trial<'_>,
    counted: &[(Rounds<u64>, u64)],
    apart: bool,
) -> Result<(), Stop> {
    let threads: Vec<&Rounds<u64>> = counted.iter().map(|(rounds, _)| rounds).collect();
    let all = by_round(&threads);
    let sound: Vec<&(Vec<Span>, Vec<u64>)> =
        all.iter().filter(|(spans, _)| is_sound(spans, apart)).collect();
    if sound.is_empty() {
        return Err(all_disturbed(all.len(), trial.spec().profile));
    }
    let each = |of: fn(&Span) -> u64| -> Vec<i64> {
        let value = |(spans, counts): &&(Vec<Span>, Vec<u64>)| {
            per_million(spans.iter().map(of).sum(), counts.iter().sum())
        };
        sound.iter().map(value).collect()
    };
    trial.record("increment_ns", MILLION, each(Span::wall_ns));
    trial.record("increment_cpu_ns", MILLION, each(|span| span.cpu_ns));
    if counted.len() > 1 {
        let overlaps = sound.iter().map(|(spans, _)| crowd::overlap_ppm(spans)).collect();
        trial.record("overlap_ppm", 1, overlaps);
    }
    trial.record("set_aside_count", all.len() as u64, vec![(all.len() - sound.len()) as i64]);
    Ok(())
}

fn record_layout(trial: &mut Trial<'_>, taken: &Taken, request_bytes: u64, line_bytes: u64) {
    let payloads = taken.payloads();
    let block_bytes = taken.block_bytes();
    let distances =
        payloads.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as i64).collect::<Vec<_>>();
    let overhead_ppm = block_bytes.saturating_sub(request_bytes) * 1_000_000 / block_bytes.max(1);
    let (first_words, any_bytes) = sharing(&payloads, request_bytes, line_bytes);
    let (first_pair, _) = sharing(&payloads[..2], request_bytes, line_bytes);
    let pairs = BLOCKS as u64 - 1;
    trial.record_one("block_bytes", block_bytes as i64);
    trial.record("distance_bytes", 1, distances);
    trial.record_one("overhead_ppm", overhead_ppm as i64);
    trial.record_one("same_line_count", first_pair as i64);
    trial.record("neighbours_count", pairs, vec![first_words as i64]);
    trial.record("payloads_meet_count", pairs, vec![any_bytes as i64]);
    let aligned = payloads.iter().filter(|payload| *payload % heap::ALIGNMENT as u64 == 0).count();
    trial.check("payloads aligned to 16", aligned as f64, BLOCKS as f64, BLOCKS as f64);
    let (title, columns, rows) = taken.shown(request_bytes, line_bytes);
    trial.exhibit(&title, &columns, rows);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn what_two_threads_count_is_in_their_blocks() {
        for (named, request_bytes) in [(&MAKERS[0], 8), (&MAKERS[0], 64), (&MAKERS[1], 8)] {
            let Ok(taken) = Taken::by(named.by, request_bytes) else {
                continue; // Another C library.
            };
            let cpus = places(&sys::affinity::allowed().unwrap(), 2);
            let body = |index: usize, gate: &crowd::Gate| {
                let mut all = 0;
                gate.work(index, |shift| all += increment(taken.counter(index).unwrap(), shift))?;
                Some(all)
            };
            let counts = gather(&cpus, 1_000_000, body, |_| Ok(())).unwrap();
            for (index, count) in counts.iter().enumerate() {
                assert_eq!(taken.counter(index).unwrap().load(Ordering::Relaxed), *count);
                assert!(*count >= BATCH);
            }
            assert_eq!(taken.counter(2).unwrap().load(Ordering::Relaxed), 0, "a third one's");
        }
    }

    #[test]
    fn every_claim_is_measured_in_quick_and_the_layout_in_smoke() {
        let design = design::design();
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
