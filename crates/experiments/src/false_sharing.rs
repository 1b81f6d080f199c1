//! What do two counters on one cache line cost each other?

use crate::support::counting::{Counters, LINE_SHARED, Promise};
use crate::support::party::{PAIRS, Party};
use kit::workers::{Model, Repeated};
use kit::{Result, Stop, Trial};
use std::sync::atomic::AtomicU64;
use sys::increment::{self, Loop};

experiment!("false_sharing", "false_sharing.toml");

const HOW: [(&str, Loop); 5] = [
    ("unoptimised", increment::unoptimised),
    ("volatile", increment::volatile),
    ("relaxed", increment::relaxed),
    ("atomic", increment::atomic),
    ("register", increment::register),
];

/// Counters nearer than this share a line almost everywhere, so that a round needs fewer increments
/// to be as long.
const NEAR_WORDS: usize = 8;

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// One thread, one counter after the other.
    Serial,
    /// Two at the same time, each on its own CPU.
    Together(Model),
    /// Two on one CPU.
    OneCore,
}

const WHO: [(&str, Who); 4] = [
    ("serial", Who::Serial),
    ("threads", Who::Together(Model::Thread)),
    ("processes", Who::Together(Model::Process)),
    ("one_core", Who::OneCore),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let add = trial.pick("how", &HOW)?;
    let who = trial.pick("who", &WHO)?;
    let distance_words = trial.number("distance")? as usize / size_of::<u64>();
    let relation = trial.pick("placement", &PAIRS)?;
    let party = match who {
        Who::Serial => Party::new(trial, Model::Thread, 1, 1),
        Who::Together(model) => Party::of_two(trial, model, relation),
        Who::OneCore => Party::new(trial, Model::Thread, 2, 1),
    }?;
    let profile = trial.spec().profile;
    let near = distance_words < NEAR_WORDS && trial.level("how")? != "register";
    let contention = if near { LINE_SHARED } else { 1 };
    let words = sys::pages::shared((distance_words + 1) * size_of::<u64>())?;
    let mut pair = pair(words.words(), who, add);
    pair.count = party.count(profile, contention, |count| add(pair.words[0], count));
    (&pair).settle();
    let races = distance_words == 0 && who != Who::Serial && trial.level("how")? != "atomic";
    let promise = if races { Promise::Racing } else { Promise::Exact };
    party.count_together(trial, 2 * pair.count, promise, &pair).map(drop)
}

/// The two counters in the first and the last of some words: the page begins at a line, and so does
/// the first counter.
fn pair(words: &[AtomicU64], who: Who, add: Loop) -> Counters<'_> {
    let words = vec![&words[0], &words[words.len() - 1]];
    Counters { words, each: if who == Who::Serial { 2 } else { 1 }, add, count: 0 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Counters, HOW, PAIRS, WHO, Who, design, pair};
    use kit::model::Profile;
    use kit::workers::{Model, Repeated};
    use std::sync::atomic::Ordering;

    fn counters(who: Who, distance_words: usize) -> Counters<'static> {
        let words = sys::pages::shared_for_ever(distance_words + 1).unwrap();
        Counters { count: 1000, ..pair(words, who, HOW[0].1) }
    }

    #[test]
    fn both_counters_get_the_same_whoever_counts() {
        for distance_words in [1, 2, 8, 16, 32] {
            let serial = counters(Who::Serial, distance_words);
            (&serial).work(0, 0);
            let together = counters(Who::Together(Model::Thread), distance_words);
            (&together).work(0, 0);
            (&together).work(1, 0);
            for pair in [serial, together] {
                let found = [0, 1].map(|index| pair.words[index].load(Ordering::Relaxed));
                assert_eq!(found, [1000, 1000]);
                assert_eq!(((&pair).settle(), (&pair).settle()), (2000, 0));
            }
        }
    }

    #[test]
    fn the_first_counter_begins_a_line_and_the_other_lies_where_it_should() {
        for distance_words in [0, 1, 8, 32] {
            let pair = counters(Who::Serial, distance_words);
            let [first, other] = [0, 1].map(|index| std::ptr::from_ref(pair.words[index]).addr());
            assert_eq!((first % 256, other - first), (0, 8 * distance_words));
        }
    }

    #[test]
    fn one_counter_for_both_is_not_counted_twice() {
        let pair = counters(Who::Serial, 0);
        (&pair).work(0, 0);
        assert_eq!((&pair).settle(), 2000);
    }

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "how", &HOW);
        crate::check_levels(&design, "who", &WHO);
        crate::check_levels(&design, "placement", &PAIRS);
    }

    #[test]
    fn every_distance_is_a_whole_number_of_words() {
        let design = design();
        for distance in &design.factor("distance").unwrap().levels {
            assert_eq!(distance.name.parse::<u64>().unwrap() % 8, 0);
        }
        assert!(design.treatments(Profile::Smoke).len() <= 6);
    }
}
