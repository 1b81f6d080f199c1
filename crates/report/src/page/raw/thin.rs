//! How much of the trials a page carries.

use super::data::Reader;
use super::data_id;
use crate::say::chapter::Chapter;
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeSet;

/// What a trial takes at the least, and each of its numbers, in bytes, before anything has been
/// written: from the recorded sessions. It is the first guess; what was written decides.
const TRIAL_BYTES: usize = 12;
const NUMBER_BYTES: usize = 4;

/// So often the guess is held against what came out.
const ATTEMPTS: usize = 5;

/// What one attempt aims below the room, since names and small experiments do not shrink.
const MARGIN: f64 = 0.97;

/// The trials of all experiments as data for the page's script, in at most `room` bytes or, at the
/// least, one block of each experiment. Where there is no room for all, the largest experiments
/// give evenly spaced blocks, and whole ones: comparisons are made within a block.
pub(in crate::page) fn embed(reader: &Reader<'_>, chapters: &[Chapter<'_>], room: usize) -> Markup {
    let written: Vec<&Chapter<'_>> =
        chapters.iter().filter(|chapter| !chapter.records.is_empty()).collect();
    let guessed: Vec<usize> = written.iter().map(|chapter| guess(chapter)).collect();
    let mut aim = room as f64;
    let mut scripts = Vec::new();
    for _ in 0..ATTEMPTS {
        let level = level(&guessed, aim);
        scripts = written
            .iter()
            .zip(&guessed)
            .map(|(chapter, bytes)| reader.json(chapter, &kept(chapter, level / *bytes as f64)))
            .collect();
        let bytes: usize = scripts.iter().map(String::len).sum();
        if bytes <= room {
            break;
        }
        aim *= MARGIN * room as f64 / bytes as f64;
    }
    html! {
        @for (chapter, json) in written.iter().zip(scripts) {
            script type="application/json" id=(data_id(&chapter.summary.id)) { (PreEscaped(json)) }
        }
    }
}

fn guess(chapter: &Chapter<'_>) -> usize {
    let trial = |record: &&model::Record| {
        let numbers = record.measured.as_ref().map_or(0, |measured| measured.series.len());
        TRIAL_BYTES + NUMBER_BYTES * numbers
    };
    chapter.records.iter().map(trial).sum::<usize>().max(1)
}

/// The size to which the largest must be cut, so that all of them fit: what is smaller stays whole.
fn level(sizes: &[usize], room: f64) -> f64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (index, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index) as f64;
        if *size as f64 > share {
            return share;
        }
        left -= *size as f64;
    }
    f64::INFINITY
}

/// This share of an experiment's blocks, evenly spaced from the first to the last; one at least.
fn kept(chapter: &Chapter<'_>, share: f64) -> BTreeSet<u32> {
    let all: BTreeSet<u32> = chapter.records.iter().map(|record| record.block).collect();
    let all: Vec<u32> = all.into_iter().collect();
    let most = ((all.len() as f64 * share) as usize).clamp(1, all.len());
    evenly(&all, most).into_iter().collect()
}

fn evenly(all: &[u32], most: usize) -> Vec<u32> {
    if most >= all.len() {
        return all.to_vec();
    }
    let gaps = most.saturating_sub(1).max(1);
    (0..most).map(|index| all[index * (all.len() - 1) / gaps]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_cut_and_the_small_stay_whole() {
        assert_eq!(level(&[10, 20, 30], 60.0), f64::INFINITY);
        assert_eq!(level(&[10, 100, 100], 110.0), 50.0);
        assert_eq!(level(&[50, 50], 60.0), 30.0);
    }

    #[test]
    fn blocks_are_spread_from_the_first_to_the_last() {
        let all: Vec<u32> = (0..11).collect();
        assert_eq!(evenly(&all, 3), [0, 5, 10]);
        assert_eq!(evenly(&all, 1), [0]);
        assert_eq!(evenly(&all, 11), all);
        assert_eq!(evenly(&all, 10).len(), 10);
    }
}
