//! Two threads that count, on one cache line or on two.

use crate::support::counting::{Counters, Promise};
use crate::support::party::Party;
use kit::model::Relation;
use kit::workers::Model;
use kit::{Result, Stop, Trial};
use std::sync::atomic::AtomicU64;
use sys::increment;

/// Increments of each thread in a round: the same in both levels.
const INCREMENTS: u64 = 10_000;

pub(super) fn count(trial: &mut Trial<'_>, distance_words: usize) -> Result<()> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let party = Party::new(trial, Model::Thread, 2, 2)?;
    if let [one, other] = party.cpus[..]
        && trial.spec().topology.relation(one, other) == Some(Relation::Siblings)
    {
        return Err(Stop::unsupported(
            "the two CPUs are hardware threads of one core, which has one cache for both: this needs more \
             cores (--affinity, if the machine has more)",
        ));
    }
    let words = sys::pages::shared((distance_words + 1) * size_of::<u64>())?;
    party.count_together(trial, 2 * INCREMENTS, Promise::Exact, &pair(words.words())).map(drop)
}

/// Two counters in the first and the last of some words, the first at the beginning of a line.
fn pair(words: &[AtomicU64]) -> Counters<'_> {
    let words = vec![&words[0], &words[words.len() - 1]];
    Counters { words, each: 1, add: increment::atomic, count: INCREMENTS }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{INCREMENTS, pair};
    use kit::workers::Repeated;

    #[test]
    fn both_count_as_far_wherever_their_counters_lie() {
        for distance_words in [1, super::super::APART_WORDS] {
            let words = sys::pages::shared((distance_words + 1) * 8).unwrap();
            let counters = pair(words.words());
            let line = |index: usize| std::ptr::from_ref(counters.words[index]).addr() / 128;
            assert_eq!(line(0) == line(1), distance_words == 1);
            for index in 0..2 {
                (&counters).work(index, 0);
            }
            assert_eq!((&counters).settle(), 2 * INCREMENTS);
        }
    }
}
