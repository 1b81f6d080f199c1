//! Whether others took the CPU from a trial, and so from its wall clock.

use model::{Counters, Record};

/// A trial that lost more than this share of its wall clock to others was disturbed.
///
/// A ratio is off by at most what its sides lost, and designs ask for half-widths of a few per
/// cent, so a loss below 5 % cannot reverse what they can resolve. The kernel's sum of user and
/// system time agrees with the wall clock of an undisturbed pinned loop to 1.4 % at worst
/// (seen where short trials meet a 4 ms tick), which must not count.
pub(crate) const DISTURBED_SHARE: f64 = 0.05;

/// A sample counts as disturbed from this share of disturbed trials on, whatever else there is to
/// go by.
///
/// The median breaks down at half of bad numbers (Hampel et al., *Robust Statistics*, 1986), and its
/// interval before that; a quarter keeps clear of both.
pub(crate) const DISTURBED_TRIALS: f64 = 0.25;

/// This over the root of the number of its trials is the share of disturbed ones from which on a
/// sample is *shifted*, so that CPU time carries the number where it can; where it cannot, the
/// limit is [`DISTURBED_TRIALS`].
///
/// A neighbour who is in the way of one side of a comparison alone moves its median. With a share p
/// of the blocks moved far, the median of all is the 0.5/(1 − p) quantile of the clean ones: it moves
/// by p/(2 φ(0)) of their standard deviations, to first order. Its standard error is √(π/2n) of them,
/// so that the bias is p √n standard errors: the more blocks there are, the fewer bad ones they bear.
/// A bias of b standard errors costs a 95 % interval 0.115 b² of its coverage; a third of one of a
/// hundred is meant to be the most, so b = 0.17 and p = 0.17/√n. Up to 34 trials that is a single one.
///
/// The price is small: over the sessions looked at CPU time scatters 0.5 to 1.1 times as widely as
/// the wall clock in experiments that make system calls, and up to 2.6 times in loops of
/// nanoseconds, where nobody is there; and there hardly a trial in a thousand is disturbed.
pub(crate) const SHIFTED_TRIALS: f64 = 0.17;

/// CPU time stands in for elapsed time only where the trials used at least this share of the time
/// that others left them: what sleeps or waits takes longer than its CPU time.
pub(crate) const KEEPS_CPU: f64 = 0.9;

/// A trial that used more CPU time than this multiple of its wall clock worked on several CPUs
/// at once, so that its CPU time is another quantity and cannot stand in for elapsed time.
pub(crate) const ONE_CPU: f64 = 1.05;

/// If at least this share of a trial's CPU time was spent by its own process's threads, then its
/// children hardly worked, and the wait of its own threads is all the wait there was.
const OWN_THREADS: f64 = 0.95;

/// Returns the CPU time over the timed region, the awaited children's included, in nanoseconds.
pub(crate) fn cpu_ns(counters: &Counters) -> Option<u64> {
    Some(counters.user_ns?.saturating_add(counters.system_ns?))
}

/// Returns the share of a trial's wall clock, 0 to 1, in which it wanted a CPU and others had it, or a
/// quota kept it from it.
///
/// The measure is what is missing: work that needs nothing but one CPU and has it for itself uses
/// as much CPU time as time passes. Three things bound it, so that no other lack is mistaken for
/// a disturbance:
///
/// * What others used (foreign CPU time and steal) and for how long a quota held it back. With idle
///   CPUs and no quota nobody can have taken anything; the gap is the trial's own waiting.
/// * The time that the trial's threads stood in a run queue, which is not where a quota holds them,
///   with steal and the quota's time, where its CPU time was its own threads'. The kernel does not
///   tell the wait of children.
/// * Nothing is missing from a trial whose threads kept their one CPU busy, however long they
///   queued behind *each other*: their own queue is their treatment, not a disturbance. Nor does
///   a neighbour on another CPU take anything from a pinned trial.
///
/// `None` where the kernel reported too little: where the trial worked on several CPUs at once, whose
/// number the record does not tell; and where it waited for storage, since the kernel's own
/// threads then work for it and count as others.
pub(crate) fn lost_share(record: &Record) -> Option<f64> {
    let counters = &record.measured.as_ref()?.counters;
    if counters.wall_ns == 0 || waits_for_storage(counters) {
        return None;
    }
    let wall = counters.wall_ns as f64;
    let used = cpu_ns(counters).or(counters.on_cpu_ns)? as f64;
    if used > ONE_CPU * wall {
        return None;
    }
    let mut lost = (wall - used).max(0.0);
    let steal = record.machine.steal_ns.unwrap_or(0) as f64;
    let throttled = record.machine.throttled_ns.unwrap_or(0) as f64;
    if let Some(foreign) = record.machine.foreign_cpu_ns {
        lost = lost.min(foreign as f64 + steal + throttled);
    }
    if let Some(wait) = queue_wait_ns(record, used) {
        lost = lost.min(wait + steal + throttled);
    }
    Some((lost / wall).clamp(0.0, 1.0))
}

/// Returns how long those who used the CPU time stood in a run queue: the trial's own threads, or those of
/// a user's program where enough of it was seen (`queue_wait_ns` among its numbers). `None` where the
/// kernel does not tell.
fn queue_wait_ns(record: &Record, used: f64) -> Option<f64> {
    let measured = record.measured.as_ref()?;
    let counters = &measured.counters;
    if counters.on_cpu_ns? as f64 >= OWN_THREADS * used {
        return Some(counters.queue_wait_ns? as f64);
    }
    let seen = measured.series.iter().find(|series| series.response == "queue_wait_ns")?;
    Some(seen.values.iter().sum::<i64>().max(0) as f64)
}

/// Returns the CPU time of a trial as a share of the time in which others left it a CPU: about 1 for work
/// that needs nothing but a CPU, less where it waits for something else. `wall` and `twin` are the
/// trial's elapsed time and its CPU time as a response has them; the smaller of their share and that
/// of the whole timed region counts. `None` where others disturbed the trial and the kernel does not
/// tell for how long it waited for them.
pub(crate) fn share_on_cpu(record: &Record, wall: f64, twin: f64) -> Option<f64> {
    let counters = &record.measured.as_ref()?.counters;
    let used = cpu_ns(counters).or(counters.on_cpu_ns)? as f64;
    let lost = lost_share(record)?;
    let left = match lost <= DISTURBED_SHARE {
        true => 1.0,
        false => queue_wait_ns(record, used).map(|_| 1.0 - lost)?,
    };
    let share = (used / counters.wall_ns as f64).min(twin / wall) / left;
    share.is_finite().then_some(share)
}

/// Reports whether a trial moved blocks and gave its CPU up meanwhile.
fn waits_for_storage(counters: &Counters) -> bool {
    let some = |count: Option<u64>| count.is_some_and(|count| count > 0);
    some(counters.voluntary_switches) && (some(counters.blocks_in) || some(counters.blocks_out))
}

/// Reports whether CPU time can stand in for elapsed time: the trial worked on one CPU at a time.
pub(crate) fn one_cpu(record: &Record) -> bool {
    let Some(measured) = &record.measured else { return false };
    let counters = &measured.counters;
    cpu_ns(counters).is_some_and(|used| used as f64 <= ONE_CPU * counters.wall_ns as f64)
}

/// How many of some trials were disturbed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disturbed {
    pub(crate) bad: usize,
    /// Of this number that can be judged ([`lost_share`]).
    pub(crate) of: usize,
}

impl Disturbed {
    /// Returns those of two samples together.
    pub(crate) fn and(self, other: Disturbed) -> Self {
        Disturbed { bad: self.bad + other.bad, of: self.of + other.of }
    }

    pub(crate) fn among(records: &[&Record]) -> Self {
        let shares = records.iter().filter_map(|record| lost_share(record));
        shares.fold(Disturbed::default(), |sum, share| Disturbed {
            bad: sum.bad + usize::from(share > DISTURBED_SHARE),
            of: sum.of + 1,
        })
    }

    fn from(self, least: f64) -> bool {
        self.bad > 0 && self.bad as f64 >= least * self.of as f64
    }

    /// Reports whether they are too many for the centre to be trusted.
    pub(crate) fn breaks(self) -> bool {
        self.from(DISTURBED_TRIALS)
    }

    /// Reports whether they are enough for the centre to move by more than its interval bears, if the
    /// other side of a comparison was left alone.
    pub(crate) fn shifts(self) -> bool {
        self.from(DISTURBED_TRIALS.min(SHIFTED_TRIALS / (self.of as f64).sqrt()))
    }
}

/// Reports whether too many of these trials were disturbed for their centre to be trusted.
pub(crate) fn disturbed(records: &[&Record]) -> bool {
    Disturbed::among(records).breaks()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;

    #[test]
    fn a_loop_that_keeps_its_cpu_is_undisturbed() {
        // The neighbour keeps the other CPU busy all the time.
        let record = Trial::new(0).wall(1000).cpu(995).queue(995, 3).foreign(1000).record();
        assert_eq!(lost_share(&record), Some(0.003));
        assert!(!disturbed(&[&record]));
    }

    #[test]
    fn a_loop_that_shares_its_cpu_is_disturbed() {
        let record = Trial::new(0).wall(1000).cpu(500).queue(500, 480).foreign(1500).record();
        assert_eq!(lost_share(&record), Some(0.48));
        assert!(disturbed(&[&record]));
    }

    #[test]
    fn waiting_for_storage_is_not_judged() {
        // The flush is completed by a kernel thread, which is nobody's rival here.
        let mut trial = Trial::new(0).wall(1000).cpu(400).queue(400, 100).foreign(500);
        trial.counters().blocks_out = Some(128);
        trial.counters().voluntary_switches = Some(32);
        assert_eq!(lost_share(&trial.record()), None);
    }

    #[test]
    fn queueing_behind_its_own_threads_is_no_disturbance() {
        // Eight threads on one CPU: each waits 7/8 of the time, and the CPU is theirs.
        let record = Trial::new(0).wall(1000).cpu(990).queue(990, 7000).foreign(900).record();
        assert_eq!(lost_share(&record), Some(0.01));
    }

    #[test]
    fn waiting_of_its_own_is_no_disturbance() {
        // It slept half of the time on an idle machine, then beside a busy neighbour.
        let idle = Trial::new(0).wall(1000).cpu(500).foreign(2).record();
        assert_eq!(lost_share(&idle), Some(0.002));
        let beside = Trial::new(0).wall(1000).cpu(500).queue(500, 1).foreign(1000).record();
        assert_eq!(lost_share(&beside), Some(0.001));
    }

    #[test]
    fn childrens_wait_is_seen_by_what_is_missing() {
        // Forked children did the work; the parent's own queue says nothing of theirs.
        let record = Trial::new(0).wall(1000).cpu(600).queue(50, 2).foreign(700).record();
        assert_eq!(lost_share(&record), Some(0.4));
    }

    #[test]
    fn steal_is_a_loss_that_no_queue_shows() {
        let record = Trial::new(0).wall(1000).cpu(800).queue(800, 0).foreign(0).steal(200).record();
        assert_eq!(lost_share(&record), Some(0.2));
    }

    #[test]
    fn what_a_quota_kept_from_it_is_lost_on_an_idle_machine() {
        let held = |ns| Trial::new(0).wall(1000).cpu(300).queue(300, 5).foreign(2).throttled(ns);
        assert_eq!(lost_share(&held(690).record()), Some(0.692));
        assert_eq!(lost_share(&held(0).record()), Some(0.002));
        assert!(disturbed(&[&held(690).record()]));
    }

    #[test]
    fn several_cpus_at_once_are_not_judged() {
        let record = Trial::new(0).wall(1000).cpu(1900).queue(1900, 100).foreign(90).record();
        assert_eq!(lost_share(&record), None);
        assert!(!one_cpu(&record));
        assert_eq!(lost_share(&Trial::new(0).wall(1000).record()), None);
    }

    #[test]
    fn what_waits_uses_less_than_its_share() {
        let share = |trial: Trial| share_on_cpu(&trial.record(), 1000.0, 500.0);
        // It slept, undisturbed; it shared its CPU with a neighbour, and its queue says so.
        assert_eq!(share(Trial::new(0).wall(1000).cpu(500).queue(500, 3).foreign(5)), Some(0.5));
        let shared = share(Trial::new(0).wall(1000).cpu(500).queue(500, 490).foreign(900));
        assert!((shared.unwrap() - 0.5 / 0.51).abs() < 1e-9, "{shared:?}");
        // Children did the work beside a neighbour, and nobody tells of their wait.
        assert_eq!(share(Trial::new(0).wall(1000).cpu(500).queue(20, 1).foreign(900)), None);
        // The response's own part may sleep though the whole trial does not.
        let busy = Trial::new(0).wall(1000).cpu(990).queue(990, 3).foreign(5).record();
        assert_eq!(share_on_cpu(&busy, 100.0, 55.0), Some(0.55));
    }

    #[test]
    fn a_minority_of_disturbed_trials_is_borne() {
        let quiet = Trial::new(0).wall(1000).cpu(1000).foreign(0).record();
        let loud = Trial::new(0).wall(1000).cpu(500).foreign(500).record();
        assert!(!disturbed(&[&quiet, &quiet, &quiet, &quiet, &loud]));
        assert!(disturbed(&[&quiet, &quiet, &quiet, &loud]));
        assert!(!disturbed(&[]));
    }

    #[test]
    fn the_more_trials_the_fewer_bad_ones_they_bear() {
        let least = |of| (0..=of).find(|&bad| Disturbed { bad, of }.shifts()).unwrap();
        // 0.17 √n, rounded up: of a hundred trials 1.7, of a thousand 5.4; 25 % is never reached.
        assert_eq!([1, 6, 34, 40, 100, 1000].map(least), [1, 1, 1, 2, 2, 6]);
        assert!(!Disturbed::default().shifts() && !Disturbed::default().breaks());
        assert!(Disturbed { bad: 1, of: 4 }.breaks() && !Disturbed { bad: 1, of: 5 }.breaks());
    }
}
