//! One signal at a time, at a random moment: does it wake who waits for it?

use super::receiver::{Receiver, Way};
use super::sender::{self, Plan, Target};
use super::stage::{LOST, QUEUE_WAIT_NS, READY, Stage};
use kit::workers::{Model, queue_wait_since};
use kit::{Result, Trial, ppm};
use sys::clock::now_ns;

/// How long signals are sent, in parts of the time that a trial's timed region may take: rare losses
/// need many chances.
const TIMED_PARTS: u64 = 3;

/// The most signals of a trial.
const ROUNDS_MAX: u64 = 20_000;

/// Below this overlap receiver and sender took turns.
const OVERLAP_MIN: f64 = 0.5;

/// What the receiver works before it looks at its flag. A signal takes some microseconds from the
/// sender's decision to its arrival; without work before it, the look would always come first.
pub(super) const WORK_NS: u64 = 10_000;

/// What came of the rounds.
pub(super) struct Rounds {
    pub(super) rounds: u64,
    pub(super) handled: u64,
    pub(super) lost: u64,
    pub(super) latencies: Vec<i64>,
    pub(super) elapsed_ns: u64,
    /// Time in which one of the two was ready to run and had no CPU.
    pub(super) queue_wait_ns: Option<u64>,
}

pub(super) fn measure(
    trial: &mut Trial<'_>,
    way: Way,
    signal: i32,
    window_us: u64,
    model: Model,
) -> Result<()> {
    // On one CPU a signal would come only when the receiver sleeps or was preempted.
    trial.need_cpus(2)?;
    let mut plan = Plan::of(trial, ROUNDS_MAX)?;
    plan.limit_ns *= TIMED_PARTS;
    trial.pin_to_one()?;
    let receiver = Receiver::new(way, signal, 1000 * window_us)?;
    trial.begin()?;
    let rounds = run(receiver, signal, model, plan)?;
    trial.end()?;
    trial.record("lost_count", rounds.rounds, vec![rounds.lost as i64]);
    if !rounds.latencies.is_empty() {
        trial.record("latency_ns", 1, rounds.latencies);
    }
    let share = rounds.handled as f64 / rounds.rounds as f64;
    trial.check("signals handled per signal", share, 1.0, 1.0);
    if let Some(waited_ns) = rounds.queue_wait_ns {
        let overlap_ppm = overlap_ppm(rounds.elapsed_ns, waited_ns);
        trial.record_one("overlap_ppm", overlap_ppm);
        let overlap = overlap_ppm as f64 / 1e6;
        trial.check_cpus("overlap of receiver and sender", overlap, OVERLAP_MIN, 1.0);
    }
    Ok(())
}

/// Waits for signals, one after the other, which a sender sends.
pub(super) fn run(mut receiver: Receiver, signal: i32, model: Model, plan: Plan) -> Result<Rounds> {
    let stage = Stage::new()?;
    let target = Target::this_thread(signal)?;
    // With a window the time to the next wait's beginning would be counted as latency.
    let timed = receiver.is_prompt();
    let work = || sender::one_by_one(stage, &target, plan, timed);
    sender::beside(model, plan.cpu, signal, work, || {
        let sched = sys::proc::schedstat_thread();
        let begun_ns = now_ns();
        let rounds = receive(stage, &mut receiver)?;
        let elapsed_ns = now_ns() - begun_ns;
        let waited_ns = queue_wait_since(sched);
        let both_ns = waited_ns.zip(stage.known(QUEUE_WAIT_NS));
        let queue_wait_ns = both_ns.map(|(own, senders)| own + senders);
        let (handled, lost, latencies) = (receiver.handled(), stage.get(LOST), stage.latencies());
        Ok(Rounds { rounds, handled, lost, latencies, elapsed_ns, queue_wait_ns })
    })
}

/// The receiver's side; returns how many rounds there were. Nothing in it sleeps but the wait.
fn receive(stage: Stage, receiver: &mut Receiver) -> Result<u64> {
    let mut round = 1;
    loop {
        stage.set(READY, round);
        let work_until_ns = now_ns() + WORK_NS;
        while now_ns() < work_until_ns {
            std::hint::spin_loop();
        }
        receiver.wait_for(round)?;
        stage.notice(round, now_ns());
        if !stage.another(round, std::hint::spin_loop) {
            return Ok(round);
        }
        round += 1;
    }
}

/// The least share of the time in which neither waited for a CPU, in parts per million.
fn overlap_ppm(elapsed_ns: u64, waited_ns: u64) -> i64 {
    ppm(elapsed_ns.saturating_sub(waited_ns), elapsed_ns)
}

#[cfg(test)]
mod tests {
    use super::overlap_ppm;

    #[test]
    fn overlap_is_what_waiting_leaves() {
        assert_eq!(overlap_ppm(100, 0), 1_000_000);
        assert_eq!(overlap_ppm(100, 25), 750_000);
        assert_eq!(overlap_ppm(100, 150), 0);
        assert_eq!(overlap_ppm(0, 0), 0);
    }
}
