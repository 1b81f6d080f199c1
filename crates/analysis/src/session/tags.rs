//! What is to be known of a trial beside its numbers. Trials are tagged, never deleted.

use crate::session::disturbance::share_of_programs;
use crate::stats::order::median;
use model::{Calibration, Design, Record};
use std::collections::{BTreeMap, BTreeSet};

/// A trial is tagged *preempted* when other programs took at least this share of its wall clock.
pub(crate) const PREEMPTED_SHARE: f64 = 0.01;

/// A trial is tagged *foreign load* when others used at least this share of one CPU beside it.
pub(crate) const FOREIGN_SHARE: f64 = 0.10;

/// A trial is tagged *slow clock* when its calibration loop took this many times what it takes in
/// the trials it is held against.
///
/// The loop waits for nothing but the CPU's cycles and the best of three passes counts, so that an
/// undisturbed CPU repeats it to a few parts in a thousand; designs ask for half-widths of a few per
/// cent.
pub(crate) const SLOW_CLOCK: f64 = 1.05;

/// This number of trials with a calibration makes a median that one of them cannot move.
const REFERENCE_TRIALS: usize = 5;

/// Something that happened to a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// It was switched out against its will at least once, and other programs took at least
    /// [`PREEMPTED_SHARE`] of its wall clock; switches between its own threads take nothing.
    Preempted,
    /// The hypervisor took time from this machine meanwhile (from any of its CPUs: the kernel does
    /// not tell from which task).
    StolenFrom,
    /// Its first thread moved to another CPU.
    Migrated,
    /// Others used at least [`FOREIGN_SHARE`] of one CPU, this trial's or another, over its whole
    /// life, which is what their CPU time is known of.
    ForeignLoad,
    /// A CPU quota held its cgroup, or one above it, back.
    Throttled,
    /// The calibration loop took [`SLOW_CLOCK`] times its ordinary time before or after the timed
    /// region, or longer.
    SlowClock,
    /// The machine was suspended meanwhile: its clock stood still, and its caches were lost.
    Suspended,
    /// It was stopped or frozen meanwhile, while its clock ran on.
    Paused,
}

impl Tag {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Tag; 8] = [
        Tag::Preempted,
        Tag::StolenFrom,
        Tag::Migrated,
        Tag::ForeignLoad,
        Tag::Throttled,
        Tag::SlowClock,
        Tag::Suspended,
        Tag::Paused,
    ];

    /// Returns what it is called.
    pub fn name(self) -> &'static str {
        match self {
            Tag::Preempted => "preempted",
            Tag::StolenFrom => "stolen from",
            Tag::Migrated => "migrated",
            Tag::ForeignLoad => "foreign load",
            Tag::Throttled => "throttled",
            Tag::SlowClock => "slow clock",
            Tag::Suspended => "suspended",
            Tag::Paused => "paused",
        }
    }

    /// Reports whether a completed trial has it; `None` where the kernel did not tell, and for
    /// [`Tag::SlowClock`], which only the other trials of the session can tell ([`Tagger`]).
    pub fn of(self, record: &Record) -> Option<bool> {
        let counters = &record.measured.as_ref()?.counters;
        match self {
            Tag::Preempted => match counters.involuntary_switches? {
                0 => Some(false),
                _ => Some(share_of_programs(record)? >= PREEMPTED_SHARE),
            },
            Tag::StolenFrom => Some(record.machine.steal_ns? > 0),
            Tag::Migrated => Some(counters.migrations? > 0),
            Tag::ForeignLoad => {
                let life_ns = record.total_ns.max(1) as f64;
                Some(record.machine.foreign_cpu_ns? as f64 / life_ns >= FOREIGN_SHARE)
            }
            Tag::Throttled => Some(record.machine.throttled_ns? > 0),
            Tag::SlowClock => None,
            Tag::Suspended => Some(record.machine.suspended_ms > 0),
            Tag::Paused => Some(record.machine.trial_pauses > 0),
        }
    }

    /// Returns the tag that a response such as `tag_preempted_count` counts.
    pub(crate) fn counted_by(response: &str) -> Option<Tag> {
        let name = response.strip_prefix("tag_")?.strip_suffix("_count")?;
        Tag::ALL.into_iter().find(|tag| tag.name().replace(' ', "_") == name)
    }

    /// Returns 1 where a completed trial has the tag that the response counts, 0 where it has not; `None`
    /// as [`Tag::of`], and for any other response.
    pub(crate) fn count(record: &Record, response: &str) -> Option<f64> {
        Tag::counted_by(response)?.of(record).map(|has| f64::from(u8::from(has)))
    }
}

/// Tags the trials of one session: some tags compare a trial with the others.
///
/// *The clock's reference.* A trial's calibration is held against the median, over the trials of
/// the session that were confined to the same CPUs, of the shorter of their two loops. CPUs of one
/// machine may differ (big and little cores, a core with a faster clock), and to be pinned to a slow
/// one is a treatment, not a disturbance; a trial that may run anywhere and came to a slow CPU did
/// meet a slow clock. The median of the session, and not its best, since a boosted clock in a few
/// trials must not make all others slow; the shorter of the two loops, since a clock that fell during
/// the trial must not raise the reference. Fewer than five trials make no reference.
///
/// *What is computed.* No number of an exact experiment is read from a clock, so that whatever the
/// machine did meanwhile its trials have no tag.
#[derive(Clone, Debug, Default)]
pub struct Tagger {
    references: BTreeMap<String, f64>,
    /// The shortest of them.
    shortest: Option<f64>,
    /// The experiments of which nothing is measured.
    exact: BTreeSet<String>,
}

impl Tagger {
    /// Learns from all trials of a session, whatever their experiment; `designs` tell whose are
    /// exact.
    pub fn over(designs: &[Design], records: &[Record]) -> Self {
        let mut loops: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for record in records {
            if let Some(Calibration { before_ns, after_ns }) = calibration(record) {
                let shorter = before_ns.min(after_ns) as f64;
                loops.entry(place(record).to_string()).or_default().push(shorter);
            }
        }
        loops.retain(|_, loops| loops.len() >= REFERENCE_TRIALS);
        let median = |(place, loops): (String, Vec<f64>)| Some((place, median(&loops)?));
        let references: BTreeMap<String, f64> = loops.into_iter().filter_map(median).collect();
        let shortest = references.values().copied().filter(|ns| *ns > 0.0).min_by(f64::total_cmp);
        let exact = designs.iter().filter(|design| design.is_exact());
        Tagger { references, shortest, exact: exact.map(|design| design.id.clone()).collect() }
    }

    /// Returns how long the loop took before and after a trial, as multiples of its ordinary time there;
    /// `None` without a calibration or a reference.
    pub fn clock(&self, record: &Record) -> Option<[f64; 2]> {
        let Calibration { before_ns, after_ns } = calibration(record)?;
        let reference = self.references.get(place(record)).filter(|ns| **ns > 0.0)?;
        Some([before_ns, after_ns].map(|ns| ns as f64 / reference))
    }

    /// Returns the tags of a trial, in the order of [`Tag::ALL`]; none for one that did not complete.
    pub fn tags(&self, record: &Record) -> Vec<Tag> {
        Tag::ALL.into_iter().filter(|tag| self.has(*tag, record)).collect()
    }

    /// Reports whether a trial has any tag.
    pub fn is_tagged(&self, record: &Record) -> bool {
        Tag::ALL.into_iter().any(|tag| self.has(tag, record))
    }

    /// Reports whether a trial's clock is slow if its reference is the shortest there is.
    fn may_be_slow(&self, record: &Record, slow: impl Fn(f64) -> bool) -> bool {
        let longer = calibration(record).map(|own| own.before_ns.max(own.after_ns) as f64);
        longer.zip(self.shortest).is_some_and(|(longer, shortest)| slow(longer / shortest))
    }

    fn has(&self, tag: Tag, record: &Record) -> bool {
        match tag {
            _ if self.exact.contains(record.experiment.as_str()) => false,
            Tag::SlowClock => {
                let slow = |times: f64| times >= SLOW_CLOCK;
                // What is not slow for the fastest CPU is not slow for the trial's, whose name
                // stands in a list elsewhere: each trial is asked several times.
                self.may_be_slow(record, slow)
                    && self.clock(record).is_some_and(|loops| loops.into_iter().any(slow))
            }
            other => other.of(record) == Some(true),
        }
    }
}

/// Returns the calibration of a trial that completed.
pub(crate) fn calibration(record: &Record) -> Option<Calibration> {
    record.measured.as_ref()?.calibration
}

/// Returns the CPUs a trial verified that it was confined to; empty for one that was not.
fn place(record: &Record) -> &str {
    record.observed.get("affinity").map_or("", model::Name::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use proptest::prelude::*;

    fn names(tagger: &Tagger, record: &Record) -> Vec<&'static str> {
        tagger.tags(record).into_iter().map(Tag::name).collect()
    }

    #[test]
    fn tags_name_what_happened() {
        let tagger = Tagger::default();
        let quiet = Trial::new(0).wall(1000).cpu(999).foreign(50).switches(3).throttled(0).record();
        assert!(!tagger.is_tagged(&quiet), "{:?}", tagger.tags(&quiet));
        let loud = Trial::new(0).wall(1000).cpu(500).foreign(500).switches(3).steal(1).moved(2);
        let loud = loud.throttled(9).suspended(12_000).stood_still().record();
        let all = [
            "preempted",
            "stolen from",
            "migrated",
            "foreign load",
            "throttled",
            "suspended",
            "paused",
        ];
        assert_eq!(names(&tagger, &loud), all);
        let mut failed = loud;
        failed.measured = None;
        assert!(!tagger.is_tagged(&failed));
    }

    #[test]
    fn tags_can_be_asked_for_as_counts() {
        let loud = Trial::new(0).wall(1000).cpu(500).foreign(500).switches(3).steal(1).moved(0);
        let loud = loud.throttled(9).record();
        let asked = |response: &str| Tag::count(&loud, response);
        assert_eq!(asked("tag_preempted_count"), Some(1.0));
        assert_eq!(asked("tag_stolen_from_count"), Some(1.0));
        assert_eq!(asked("tag_migrated_count"), Some(0.0));
        assert_eq!(asked("tag_foreign_load_count"), Some(1.0));
        assert_eq!(asked("tag_throttled_count"), Some(1.0));
        // A matter of the session; an unknown tag; a blank is written as an underscore.
        for response in
            ["tag_slow_clock_count", "tag_haunted_count", "tag_stolen from_count", "tag_", "_count"]
        {
            assert_eq!(asked(response), None, "{response}");
        }
        // What the kernel did not tell is not "no".
        let silent = Trial::new(0).record();
        assert_eq!(Tag::count(&silent, "tag_throttled_count"), None);
        assert_eq!(Tag::count(&silent, "tag_preempted_count"), None);
        let never = Trial::new(0).switches(0).record();
        assert_eq!(Tag::count(&never, "tag_preempted_count"), Some(0.0));
    }

    #[test]
    fn a_clock_is_slow_beside_the_other_trials() {
        let quiet = |block| Trial::new(block).calibration(20_000, 20_100).record();
        let mut records: Vec<Record> = (0..6).map(quiet).collect();
        records.push(Trial::new(6).calibration(20_900, 20_000).record());
        records.push(Trial::new(7).calibration(20_000, 21_000).record());
        records.push(Trial::new(8).calibration(30_000, 30_000).record());
        let tagger = Tagger::over(&[], &records);
        let slow: Vec<u32> =
            records.iter().filter(|r| tagger.is_tagged(r)).map(|r| r.block).collect();
        assert_eq!(slow, vec![7, 8]);
        assert_eq!(names(&tagger, &records[7]), ["slow clock"]);
        assert_eq!(tagger.clock(&records[7]), Some([1.0, 1.05]));
    }

    #[test]
    fn a_trial_of_an_exact_experiment_has_no_tag() {
        let loud = Trial::new(0).wall(1000).cpu(500).foreign(500).switches(3).steal(1).moved(2);
        let records = vec![loud.throttled(9).record()];
        let mut design = crate::fixture::design();
        assert!(Tagger::over(&[design.clone()], &records).is_tagged(&records[0]));
        design.responses.iter_mut().for_each(|response| response.exact = true);
        assert_eq!(records[0].experiment.as_str(), design.id);
        let tagger = Tagger::over(&[design], &records);
        assert!(!tagger.is_tagged(&records[0]) && tagger.tags(&records[0]).is_empty());
    }

    #[test]
    fn a_cpu_that_is_slow_for_all_its_trials_is_no_slow_clock() {
        let pinned = |block, cpu: &str, ns| {
            Trial::new(block).observed("affinity", cpu).calibration(ns, ns).record()
        };
        let mut records: Vec<Record> = (0..6).map(|block| pinned(block, "0", 20_000)).collect();
        records.extend((0..6).map(|block| pinned(block, "8", 35_000)));
        // Free to run anywhere: four on the fast kind, one on the slow, compared with its like.
        records.extend((0..4).map(|b| Trial::new(b).calibration(20_000, 20_000).record()));
        records.push(Trial::new(9).calibration(35_000, 35_000).record());
        let tagger = Tagger::over(&[], &records);
        let slow: Vec<u32> =
            records.iter().filter(|r| tagger.is_tagged(r)).map(|r| r.block).collect();
        assert_eq!(slow, vec![9]);
        // Four trials are too few to say what is ordinary.
        let few: Vec<Record> =
            records.iter().filter(|r| r.observed.is_empty()).take(4).cloned().collect();
        assert_eq!(Tagger::over(&[], &few).clock(&few[0]), None);
    }

    proptest! {
        #[test]
        fn any_record_is_tagged_without_panic(
            ns in proptest::collection::vec((any::<u64>(), any::<u64>()), 1..12),
            throttled in any::<u64>(),
        ) {
            let one = |(before, after): &(u64, u64)| {
                Trial::new(0).calibration(*before, *after).throttled(throttled).record()
            };
            let records: Vec<Record> = ns.iter().map(one).collect();
            let tagger = Tagger::over(&[], &records);
            for record in &records {
                let tags = tagger.tags(record);
                prop_assert_eq!(tagger.is_tagged(record), !tags.is_empty());
                prop_assert_eq!(tags.contains(&Tag::Throttled), throttled > 0);
            }
        }
    }
}
