//! How fine are the clocks, what does a reading cost, and do they agree between CPUs?

use crate::support::not_made;
use crate::support::passes::record_cpu_time;
use kit::{OBSERVATIONS_MAX, Result, Stop, Trial};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::black_box;
use sys::clock::{Clock, now_ns};

experiment!("clock", "clock.toml");

/// The fewest readings among which the smallest step is looked for…
const READINGS_MIN: u64 = 20_000;

/// …and the fewest steps, which a clock that moves with the tick takes only every few milliseconds…
const STEPS_MIN: u64 = 6;

/// …within this time.
const STEPS_LIMIT_NS: u64 = 100_000_000;

/// How long the CPU's counter is compared with CLOCK_MONOTONIC: the error of one reading is then
/// a millionth.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Times a reading is handed over and back in one burst: one observation.
const ROUNDS: u64 = 50;

/// After this time a hand-off is given up: it may be that somebody else has the other CPU.
const WAIT_LIMIT_NS: u64 = 100_000_000;

/// How long to go on.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// No burst begins after this time.
    bursts_ns: u64,
    /// No hand-off is waited for any longer.
    wait_ns: u64,
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let clock = trial.pick("clock", &Clock::ALL)?;
    kit::require!(clock.available(), "{} cannot be read on this machine", clock.name());
    trial.pin_to_one()?;
    if let Some(claimed) = clock.resolution_ns() {
        trial.observe("resolution_claimed_ns", claimed);
    }
    let rate = ticks_per_ns(clock)?;
    trial.observe("ticks_per_ns", rate);
    let (batch, batches) = trial.batches("read_ns", |count| {
        for _ in 0..count {
            black_box(clock.read());
        }
    })?;
    record_cpu_time(trial, "read_cpu_ns", batch * batches);
    match smallest_step(|| clock.read()) {
        Some(step) => trial.record("step_ns", STEP_PARTS, vec![in_parts(step, rate)]),
        None => trial.observe("step", "none was seen"),
    }
    between_cpus(trial, clock)
}

/// A step is kept in picoseconds: that of a counter can be less than a nanosecond.
const STEP_PARTS: u64 = 1000;

/// A step of the clock in picoseconds.
fn in_parts(step: u64, ticks_per_ns: f64) -> i64 {
    (step as f64 / ticks_per_ns * STEP_PARTS as f64).round() as i64
}

/// How many units of the clock make a nanosecond.
fn ticks_per_ns(clock: Clock) -> Result<f64> {
    if !clock.counts_ticks() {
        return Ok(1.0);
    }
    sys::clock::ticks_per_ns(CALIBRATION)
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| Stop::unsupported("the CPU's counter stands still"))
}

/// The smallest difference between successive readings that is not zero.
fn smallest_step(mut read: impl FnMut() -> u64) -> Option<u64> {
    let begun_ns = now_ns();
    let mut smallest = u64::MAX;
    let (mut readings, mut steps) = (0_u64, 0_u64);
    let mut before = read();
    while readings < READINGS_MIN || steps < STEPS_MIN {
        let now = read();
        readings += 1;
        if now > before {
            smallest = smallest.min(now - before);
            steps += 1;
        }
        before = now;
        // Rarely, since this also reads a clock.
        if readings.is_multiple_of(1024) && now_ns() - begun_ns > STEPS_LIMIT_NS {
            break;
        }
    }
    (steps > 0).then_some(smallest)
}

/// Lets two CPUs compare their clocks, where there are two and it means something.
fn between_cpus(trial: &mut Trial<'_>, clock: Clock) -> Result<()> {
    if trial.spec().cpus.len() < 2 {
        trial.observe("between_cpus", "not compared: the trial may use one CPU only");
        return Ok(());
    }
    if clock == Clock::ThreadCpu {
        trial.observe("between_cpus", "not compared: each thread has a CPU time of its own");
        return Ok(());
    }
    let [own, other] = trial.pair(None)?;
    let patience = Patience { bursts_ns: 2 * trial.spec().timed_ns, wait_ns: WAIT_LIMIT_NS };
    let bursts = compare(other, patience, || clock.read())?;
    if bursts.is_empty() {
        trial.observe("between_cpus", "not compared: the other CPU was busy all the time");
        return Ok(());
    }
    trial.observe("between_cpus", format!("{own} and {other}"));
    trial.record("backwards_count", 1, bursts);
    Ok(())
}

/// A reading on its way between two threads.
#[derive(Debug, Default)]
struct Mail {
    /// Odd while it is the partner's turn, even while it is ours.
    turn: AtomicU64,
    reading: AtomicU64,
    over: AtomicBool,
}

impl Mail {
    /// Waits for a turn. False if it was called off, or took too long.
    fn await_turn(&self, turn: u64, wait_ns: u64) -> bool {
        let begun_ns = now_ns();
        let mut looks = 0_u32;
        while self.turn.load(Ordering::Acquire) != turn {
            std::hint::spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(1024)
                && (self.over.load(Ordering::Relaxed) || now_ns() - begun_ns > wait_ns)
            {
                return false;
            }
        }
        true
    }

    /// Reads the clock and hands the reading over.
    fn send(&self, reading: u64, turn: u64) {
        self.reading.store(reading, Ordering::Relaxed);
        self.turn.store(turn, Ordering::Release);
    }
}

/// Hands readings to and fro between this thread and one on CPU `other`. Returns, for each burst,
/// in how many exchanges a receiver read an earlier time than it was handed; no burst, if the two
/// never met.
fn compare(other: u32, patience: Patience, read: impl Fn() -> u64 + Sync) -> Result<Vec<i64>> {
    let mail = Mail::default();
    std::thread::scope(|scope| {
        let partner = std::thread::Builder::new().spawn_scoped(scope, || {
            sys::affinity::pin(&[other])?;
            let mut turn = 1;
            while mail.await_turn(turn, patience.wait_ns) {
                let now = read();
                let handed = mail.reading.load(Ordering::Relaxed);
                mail.send(if now < handed { BACKWARDS } else { read() }, turn + 1);
                turn += 2;
            }
            Ok::<(), sys::Error>(())
        });
        let partner = partner.map_err(not_made)?;
        let bursts = bursts(&mail, patience, &read);
        mail.over.store(true, Ordering::Relaxed);
        let ended = partner.join().map_err(|_| Stop::failed("the second thread panicked"))?;
        ended.map_err(|error| Stop::unsupported(error.to_string()))?;
        Ok(bursts)
    })
}

/// What the partner sends instead of a reading if time ran backwards for it: no clock shows it
/// for the next 500 years.
const BACKWARDS: u64 = u64::MAX;

/// Our side of the hand-offs.
fn bursts(mail: &Mail, patience: Patience, read: &impl Fn() -> u64) -> Vec<i64> {
    let begun_ns = now_ns();
    let mut bursts = Vec::with_capacity(OBSERVATIONS_MAX);
    let mut turn = 0;
    while bursts.len() < OBSERVATIONS_MAX && now_ns() - begun_ns < patience.bursts_ns {
        let mut backwards = 0;
        for _ in 0..ROUNDS {
            mail.send(read(), turn + 1);
            turn += 2;
            if !mail.await_turn(turn, patience.wait_ns) {
                return bursts;
            }
            let now = read();
            let handed = mail.reading.load(Ordering::Relaxed);
            // Either the partner saw it on the way there, or we see it on the way back.
            backwards += i64::from(now < handed);
        }
        bursts.push(backwards);
    }
    bursts
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Clock, Patience, ROUNDS, compare, design, in_parts, smallest_step};
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_clock_is_a_level_and_every_level_a_clock() {
        crate::check_levels(&design(), "clock", &Clock::ALL);
    }

    #[test]
    fn the_smallest_step_is_found_among_larger_ones_and_repeats() {
        let mut readings = 0_u64;
        let mut now = 0;
        let step = smallest_step(|| {
            readings += 1;
            now += match readings % 7 {
                0 => 13,
                3 => 4,
                5 => 40,
                _ => 0,
            };
            now
        });
        assert_eq!(step, Some(4));
        assert_eq!(smallest_step(|| 5), None, "a clock that stands still has no step");
    }

    #[test]
    fn steps_of_a_counter_become_picoseconds() {
        assert_eq!(in_parts(26, 1.0), 26_000);
        assert_eq!(in_parts(1, 2.5), 400);
    }

    /// Bursts between this thread and one on some other CPU (or the same, if there is but one).
    fn bursts_with(read: impl Fn() -> u64 + Sync) -> Vec<i64> {
        let cpus = sys::affinity::allowed().unwrap();
        // On a busy machine a hand-off may wait for many slices of others.
        let patience = Patience { bursts_ns: 20_000_000, wait_ns: 20_000_000_000 };
        let bursts = compare(cpus[0], patience, read).unwrap();
        assert!(!bursts.is_empty(), "the two never met");
        bursts
    }

    #[test]
    fn a_clock_that_all_share_never_runs_backwards() {
        let ticks = AtomicU64::new(1);
        let bursts = bursts_with(|| ticks.fetch_add(1, Ordering::SeqCst));
        assert!(bursts.iter().all(|backwards| *backwards == 0), "{bursts:?}");
    }

    #[test]
    fn a_clock_that_falls_is_seen_in_every_exchange() {
        let ticks = AtomicU64::new(u64::MAX / 2);
        let bursts = bursts_with(|| ticks.fetch_sub(1, Ordering::SeqCst));
        assert!(bursts.iter().all(|backwards| *backwards == ROUNDS as i64), "{bursts:?}");
    }
}
