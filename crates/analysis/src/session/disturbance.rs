//! Whether others took the CPU from a trial, and so from its wall clock.

use crate::stats::order::median;
use model::measures::THROTTLED;
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
/// sample is *shifted*, so that its trials are corrected where they can be; where they cannot, the
/// limit is [`DISTURBED_TRIALS`].
///
/// A neighbour who is in the way of one side of a comparison alone moves its median. With a share p
/// of the blocks moved far, the median of all is the 0.5/(1 − p) quantile of the clean ones: it moves
/// by p/(2 φ(0)) of their standard deviations, to first order. Its standard error is √(π/2n) of them,
/// so that the bias is p √n standard errors: the more blocks there are, the fewer bad ones they bear.
/// A bias of b standard errors costs a 95 % interval 0.115 b² of its coverage; a third of one of a
/// hundred is meant to be the most, so b = 0.17 and p = 0.17/√n. Up to 34 trials that is a single one.
pub(crate) const SHIFTED_TRIALS: f64 = 0.17;

/// What stands before a response's name in the name of its corrected numbers: the elapsed time of each
/// trial less what others took from it ([`Taken`]).
const CORRECTED: &str = "corrected_";

/// A trial that used more CPU time than this multiple of its wall clock worked on several CPUs
/// at once, so that nothing can be said of what others took from it.
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
/// * The time that the trial's threads stood in a run queue, with steal and the quota's time, where its CPU
///   time was its own threads'. The kernel does not tell the wait of children.
/// * Nothing is missing from a trial whose threads kept their one CPU busy, however long they
///   queued behind *each other*: their own queue is their treatment, not a disturbance. Nor does
///   a neighbour on another CPU take anything from a pinned trial.
///
/// `None` where the kernel reported too little: where the trial worked on several CPUs at once, whose
/// number the record does not tell; and where it waited for storage, since the kernel's own
/// threads then work for it and count as others.
pub(crate) fn lost_share(record: &Record) -> Option<f64> {
    let [throttled, steal] =
        [record.machine.throttled_ns, record.machine.steal_ns].map(|ns| ns.unwrap_or(0) as f64);
    // A quota of the program's own is a part of its treatment.
    share_lost(record, throttled + steal, [throttled_of_its_own_ns(record), 0.0])
}

/// Returns for how long a quota held a trial back, and the hypervisor gave its time to other machines, in ns.
fn of_quota_and_host(record: &Record) -> [f64; 2] {
    let throttled = record.machine.throttled_ns.unwrap_or(0) as f64;
    let steal = record.machine.steal_ns.unwrap_or(0) as f64;
    [throttled.max(throttled_of_its_own_ns(record)), steal]
}

/// Returns for how long a quota of a program's own cgroup held it back, in ns, over all CPUs.
pub(crate) fn throttled_of_its_own_ns(record: &Record) -> f64 {
    let series = record.measured.iter().flat_map(|measured| &measured.series);
    let own = { series }.find(|series| series.response == THROTTLED);
    own.and_then(|own| own.values.first()).map_or(0.0, |ns| *ns as f64)
}

/// Returns the share of a trial's wall clock in which a quota held it back: of all its CPUs together, no more than all.
pub(crate) fn share_of_quota(record: &Record) -> Option<f64> {
    let wall = record.measured.as_ref()?.counters.wall_ns;
    (wall > 0).then(|| (of_quota_and_host(record)[0] / wall as f64).min(1.0))
}

/// Returns the share of a trial's wall clock that programs of this machine took, and nobody else.
pub(crate) fn share_of_programs(record: &Record) -> Option<f64> {
    share_lost(record, 0.0, of_quota_and_host(record))
}

/// Returns the share of a trial's wall clock that the hypervisor took: no more than it lost beside the quota.
pub(crate) fn share_of_host(record: &Record) -> Option<f64> {
    let [throttled, steal] = of_quota_and_host(record);
    let wall = record.measured.as_ref()?.counters.wall_ns as f64;
    Some(share_lost(record, steal, [throttled, 0.0])?.min(steal / wall))
}

/// Returns the share of a trial's wall clock that other programs and machines took. What a quota took from it is the quota's
/// effect, and stays in the trial's time. Some kernels count it as time in a run queue.
fn share_of_others(record: &Record) -> Option<f64> {
    let [throttled, steal] = of_quota_and_host(record);
    share_lost(record, steal, [throttled, 0.0])
}

/// Returns the share of a trial's wall clock in which it wanted a CPU: at most for as long as others used CPU time
/// or it stood in a run queue, and `more` ns; without the times of quota and host in `apart`, of which the
/// first may be in the queue's.
fn share_lost(record: &Record, more: f64, apart: [f64; 2]) -> Option<f64> {
    let counters = &record.measured.as_ref()?.counters;
    if counters.wall_ns == 0 || waits_for_storage(counters) {
        return None;
    }
    let wall = counters.wall_ns as f64;
    let used = cpu_ns(counters).or(counters.on_cpu_ns)? as f64;
    if used > ONE_CPU * wall {
        return None;
    }
    let [throttled, steal] = apart;
    let mut lost = (wall - used - throttled - steal).max(0.0);
    if let Some(foreign) = record.machine.foreign_cpu_ns {
        lost = lost.min(foreign as f64 + more);
    }
    if let Some(wait) = queue_wait_ns(record, used) {
        lost = lost.min((wait - throttled).max(0.0) + more);
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

/// What others took from the elapsed time that a trial measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Taken {
    /// As a share of the number, 0 to 1.
    share: f64,
    /// Whether the kernel reported for how long the trial waited for a CPU, so that its sleep is no part of
    /// the share.
    by_queue: bool,
}

impl Taken {
    /// Returns what others took from a trial's number: the share of the timed region, but no more than
    /// the number exceeds its CPU time by. `twin` is the CPU time of the same work.
    ///
    /// The second bound is for the median of many operations. Others stop few of them, and the median
    /// is that of the others. A quota's time is no part of it. `None` where [`lost_share`] is.
    pub(crate) fn from(record: &Record, value: f64, twin: f64) -> Option<Self> {
        let measured = record.measured.as_ref()?;
        let used = cpu_ns(&measured.counters).or(measured.counters.on_cpu_ns)? as f64;
        let share = share_of_others(record)?.min(1.0 - twin / value);
        // Where several threads waited, one may have slept while another was in the queue.
        let is_one_thread = !measured.series.iter().any(|series| {
            ["threads_count", "processes_count"].contains(&series.response.as_str())
                && series.values.iter().any(|count| *count > 1)
        });
        let by_queue = is_one_thread && queue_wait_ns(record, used).is_some();
        share.is_finite().then_some(Taken { share: share.max(0.0), by_queue })
    }

    /// Returns the share of the number that is the trial's own; all of it where what is missing may be
    /// its sleep.
    pub(crate) fn left(self) -> f64 {
        if self.by_queue { 1.0 - self.share } else { 1.0 }
    }

    fn disturbs(self) -> bool {
        self.share > DISTURBED_SHARE
    }
}

/// Returns the name of a response's corrected numbers, for [`Table`](super::sample::Table).
pub(crate) fn corrected(response: &str) -> String {
    format!("{CORRECTED}{response}")
}

/// Returns the response that a name of corrected numbers means.
pub(crate) fn of_corrected(name: &str) -> Option<&str> {
    name.strip_prefix(CORRECTED)
}

/// What others took from the trials of a treatment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses {
    pub(crate) disturbed: Disturbed,
    /// What they took from the median trial.
    pub(crate) typical: f64,
    /// Whether it is known of nearly all of them, so that their numbers can be corrected: they worked on
    /// one CPU at a time, and the kernel reported for how long the disturbed ones waited for it.
    pub(crate) is_known: bool,
    /// Whether the trials last as long whatever others take ([`is_timed`]). Then nobody disturbs them.
    pub(crate) is_timed: bool,
}

impl Losses {
    /// Returns the losses of a treatment's completed trials, each with its own.
    pub(crate) fn among(trials: &[(&Record, Option<Taken>)]) -> Self {
        let taken: Vec<Taken> = trials.iter().filter_map(|(_, taken)| *taken).collect();
        let count = |is: fn(&Taken) -> bool| taken.iter().filter(|one| is(one)).count();
        let known = count(|one| one.by_queue || !one.disturbs());
        let unknown = Disturbed { bad: trials.len() - known, of: trials.len() };
        Losses {
            disturbed: Disturbed { bad: count(|one| one.disturbs()), of: taken.len() },
            typical: median(&taken.iter().map(|one| one.share).collect::<Vec<f64>>())
                .unwrap_or_default(),
            is_known: trials.iter().all(|(record, _)| one_cpu(record)) && !unknown.breaks(),
            is_timed: false,
        }
    }

    /// Returns the losses of trials that last as long whatever others take: none.
    pub(crate) fn of_timed(self) -> Self {
        let disturbed = Disturbed { bad: 0, of: self.disturbed.of };
        Losses { disturbed, typical: 0.0, is_known: true, is_timed: true }
    }
}

/// Reports whether a trial moved blocks and gave its CPU up meanwhile.
fn waits_for_storage(counters: &Counters) -> bool {
    let some = |count: Option<u64>| count.is_some_and(|count| count > 0);
    some(counters.voluntary_switches) && (some(counters.blocks_in) || some(counters.blocks_out))
}

/// Reports whether the trial worked on one CPU at a time.
fn one_cpu(record: &Record) -> bool {
    let Some(measured) = &record.measured else { return false };
    let counters = &measured.counters;
    cpu_ns(counters).is_some_and(|used| used as f64 <= ONE_CPU * counters.wall_ns as f64)
}

/// Fewer trials do not show whether their time depends on what others take.
const TIMED_TRIALS: usize = 6;

/// A clock ends trials whose times vary this number of times less than the same times without what others took, if
/// these vary by at least the second number, relative to their median.
const TIMED_RATIO: f64 = 3.0;
const TIMED_SPREAD: f64 = 0.005;

/// Reports whether trials last as long whatever others take, so that nothing must be subtracted from their times:
/// programs that run until a timer ends them. Each trial has its time and what others took.
pub(crate) fn is_timed(trials: &[(f64, Option<Taken>)]) -> bool {
    let own: Vec<f64> =
        trials.iter().map(|(value, taken)| value * taken.map_or(1.0, Taken::left)).collect();
    let measured: Vec<f64> = trials.iter().map(|(value, _)| *value).collect();
    let (Some(measured), Some(own)) = (spread(&measured), spread(&own)) else { return false };
    trials.len() >= TIMED_TRIALS && own >= TIMED_SPREAD && own >= TIMED_RATIO * measured
}

/// Returns the median distance from the median, relative to it.
fn spread(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    Some(median(&distances)? / centre.abs().max(f64::MIN_POSITIVE))
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
    fn what_a_quota_takes_stays_in_the_time() {
        let of = |trial: Trial| Taken::from(&trial.record(), 1000.0, 300.0).unwrap();
        // With and without the quota's time in the queue, alone and beside others who took a tenth.
        for (queue, taken) in [(650, 0.0), (5, 0.0), (750, 0.1)] {
            let held = Trial::new(0).wall(1000).cpu(300).queue(300, queue).foreign(900);
            let found = of(held.throttled(if queue == 750 { 600 } else { 690 }));
            assert!((found.share - taken).abs() < 1e-9, "{queue}: {found:?}");
        }
    }

    #[test]
    fn what_a_quota_of_its_own_takes_is_nobody_elses() {
        // Beside a busy neighbour, with the quota's time in the queue and without.
        for queue in [690, 5] {
            let held = Trial::new(0).wall(1000).cpu(300).queue(300, queue).foreign(1000);
            let record = held.series(THROTTLED, 1, &[690]).record();
            let programs = share_of_programs(&record).unwrap();
            assert!(programs <= 0.01 && lost_share(&record).unwrap() <= 0.01, "{programs}");
        }
    }

    #[test]
    fn several_cpus_at_once_are_not_judged() {
        let record = Trial::new(0).wall(1000).cpu(1900).queue(1900, 100).foreign(90).record();
        assert_eq!(lost_share(&record), None);
        assert!(!one_cpu(&record));
        assert_eq!(lost_share(&Trial::new(0).wall(1000).record()), None);
    }

    #[test]
    fn sleep_is_no_loss_where_the_queue_is_known() {
        let taken = |trial: Trial, value, twin| Taken::from(&trial.record(), value, twin).unwrap();
        // It slept for a half beside a busy neighbour, and for a tenth its queue says that it waited.
        let slept = Trial::new(0).wall(1000).cpu(400).queue(400, 100).foreign(900);
        let one = taken(slept.clone(), 1000.0, 400.0);
        assert_eq!((one.share, one.left(), one.disturbs()), (0.1, 0.9, true));
        // Of several threads one may sleep while another waits, and children's wait nobody tells.
        let several = taken(slept.series("threads_count", 1, &[2]), 1000.0, 400.0);
        let children = Trial::new(0).wall(1000).cpu(400).queue(20, 1).foreign(900);
        for unknown in [several, taken(children, 1000.0, 400.0)] {
            assert!(unknown.disturbs() && unknown.left() == 1.0, "{unknown:?}");
        }
    }

    #[test]
    fn a_median_of_many_operations_is_disturbed_only_where_it_is_longer_than_its_cpu_time() {
        // Half of the region is lost, to few of its operations.
        let trial = Trial::new(0).wall(1000).cpu(500).queue(500, 500).foreign(900).record();
        let few = Taken::from(&trial, 9.9, 10.0).unwrap();
        assert!(few.left() == 1.0 && !few.disturbs());
        let most = Taken::from(&trial, 30.0, 10.0).unwrap();
        assert_eq!((most.left(), most.disturbs()), (0.5, true));
        // No number is corrected to less than its CPU time.
        assert_eq!(12.5 * Taken::from(&trial, 12.5, 10.0).unwrap().left(), 10.0);
    }

    #[test]
    fn numbers_are_corrected_where_nearly_all_losses_are_known() {
        let known = Trial::new(0).wall(1000).cpu(500).queue(500, 500).foreign(900).record();
        let unknown = Trial::new(0).wall(1000).cpu(500).queue(20, 1).foreign(900).record();
        let several = Trial::new(0).wall(1000).cpu(1900).queue(1900, 9).foreign(90).record();
        let losses = |records: &[&Record]| {
            let trials = records.iter().map(|it| (*it, Taken::from(it, 1000.0, 500.0)));
            Losses::among(&trials.collect::<Vec<_>>())
        };
        let most = losses(&[&known, &known, &known, &known, &unknown]);
        assert!(most.is_known && most.typical == 0.5);
        assert_eq!(most.disturbed, Disturbed { bad: 5, of: 5 });
        assert!(!losses(&[&known, &known, &known, &unknown]).is_known);
        assert!(!losses(&[&known, &known, &known, &known, &several]).is_known);
    }

    #[test]
    fn a_program_that_a_timer_ends_loses_nothing() {
        let trial = |wall: u64, queue: u64| {
            let record = Trial::new(0).wall(wall).cpu(wall - queue).queue(wall - queue, queue);
            let taken = Taken::from(&record.foreign(900).record(), wall as f64, 0.0);
            (wall as f64, taken)
        };
        let waits = [100, 420, 250, 310, 500, 380];
        // 1,000 whatever others take; and 600 of work, to which others add.
        assert!(is_timed(&waits.map(|wait| trial(1_000, wait))));
        assert!(!is_timed(&waits.map(|wait| trial(600 + wait, wait))));
        assert!(!is_timed(&waits[..5].iter().map(|wait| trial(1_000, *wait)).collect::<Vec<_>>()));
        // Others take next to nothing.
        assert!(!is_timed(&[0, 1, 2, 1, 0, 3].map(|wait| trial(1_000, wait))));
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
