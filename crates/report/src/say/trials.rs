//! Every trial of an experiment as data: the page's script makes a table of them when somebody opens it,
//! and gives them back as CSV.
//!
//! They are not written as rows of a table. Ten thousand rows would make a page of many megabytes that
//! every reader has to lay out, for the one who wants to look.

use super::chapter::Chapter;
use crate::Session;
use crate::doc::{Block, Data, Text};
use crate::words;
use analysis::{Numbers, Tag, Tagger, outcome_words};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use model::{Record, Response, Treatment};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wording::{command_line, counted, short};

/// The most characters of a name or a level, and of a reason why a trial gave no number; more only a
/// hostile session has.
const NAME_CHARACTERS_MAX: usize = 200;
const REASON_CHARACTERS_MAX: usize = 300;

/// What a trial takes at the least, and each of its numbers, in bytes, before anything has been
/// written: from the recorded sessions. It is the first guess; what was written decides.
const TRIAL_BYTES: usize = 12;
const NUMBER_BYTES: usize = 4;

/// So often the guess is held against what came out.
const ATTEMPTS: usize = 5;

/// What one attempt aims below the room, since names and small experiments do not shrink.
const MARGIN: f64 = 0.97;

/// Returns the place where the table will stand, and where the data are for those who have no script.
pub(crate) fn place(session: &Session<'_>, chapter: &Chapter<'_>) -> Option<Block<'static>> {
    let trials = counted(chapter.records.len() as u64, "trial");
    let label = format!("Every trial with its numbers: {trials}, to sort and to download");
    let text = "This table is built by the page's script, which does not run here. The same data lie \
                beside the page in {}; as a table they come from {}.";
    let command = export_command(session, &chapter.summary.id);
    let text = Text::filled(text, [Text::code("trials.ndjson"), Text::code(command)]);
    let blocks = vec![Block::small(text)];
    (!chapter.records.is_empty()).then(|| Block::details("raw", label, false, blocks))
}

/// Returns what writes all trials of an experiment as CSV.
fn export_command(session: &Session<'_>, id: &str) -> String {
    let words =
        ["scruple", "export", &session.manifest.session, "--format", "csv", "--experiment", id];
    command_line(&words.map(|word| short(word, 120)))
}

/// Returns the trials of all experiments, in at most `room` bytes or, at the least, one block of each
/// experiment. Where there is no room for all, the largest experiments give evenly spaced blocks, and
/// whole ones: comparisons are made within a block.
pub(crate) fn data(session: &Session<'_>, chapters: &[Chapter<'_>], room: usize) -> Vec<Data> {
    // What is ordinary is known from all trials of the session.
    let tagger = Tagger::over(&session.manifest.designs, session.records);
    let written: Vec<&Chapter<'_>> =
        chapters.iter().filter(|chapter| !chapter.records.is_empty()).collect();
    let guessed: Vec<usize> = written.iter().map(|chapter| guess(chapter)).collect();
    let mut aim = room as f64;
    let mut packed = Vec::new();
    for _ in 0..ATTEMPTS {
        let level = level(&guessed, aim);
        let one = |(chapter, bytes): (&&Chapter<'_>, &usize)| {
            let own = part(session, &tagger, chapter, &kept(chapter, level / *bytes as f64));
            Data { of: words::anchor(&chapter.summary.id), gzip: gzip(&own) }
        };
        packed = written.iter().zip(&guessed).map(one).collect();
        let bytes: usize = packed.iter().map(|data: &Data| data.gzip.len()).sum();
        if bytes <= room {
            break;
        }
        aim *= MARGIN * room as f64 / bytes as f64;
    }
    packed
}

fn guess(chapter: &Chapter<'_>) -> usize {
    let trial = |record: &&Record| {
        let numbers = record.measured.as_ref().map_or(0, |measured| measured.series.len());
        TRIAL_BYTES + NUMBER_BYTES * numbers
    };
    chapter.records.iter().map(trial).sum::<usize>().max(1)
}

/// Returns the size to which the largest must be cut, so that all of them fit: what is smaller stays
/// whole.
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

/// Returns this share of an experiment's blocks, evenly spaced from the first to the last; one at least.
fn kept(chapter: &Chapter<'_>, share: f64) -> BTreeSet<u32> {
    let all = blocks(chapter);
    let most = ((all.len() as f64 * share) as usize).clamp(1, all.len());
    evenly(&all, most).into_iter().collect()
}

/// Returns the blocks of an experiment, in order.
fn blocks(chapter: &Chapter<'_>) -> Vec<u32> {
    let all: BTreeSet<u32> = chapter.records.iter().map(|record| record.block).collect();
    all.into_iter().collect()
}

fn evenly(all: &[u32], most: usize) -> Vec<u32> {
    if most >= all.len() {
        return all.to_vec();
    }
    let gaps = most.saturating_sub(1).max(1);
    (0..most).map(|index| all[index * (all.len() - 1) / gaps]).collect()
}

fn gzip(data: &Value) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut gzip, data);
    BASE64_STANDARD.encode(gzip.finish().unwrap_or_default())
}

/// Returns the trials of some blocks of an experiment, in the order in which they were made, column by
/// column: what is alike lies side by side.
fn part(
    session: &Session<'_>,
    tagger: &Tagger,
    chapter: &Chapter<'_>,
    kept: &BTreeSet<u32>,
) -> Value {
    let (manifest, id, design) = (session.manifest, &chapter.summary.id, chapter.design);
    let own = chapter.records.iter().copied();
    let mut trials: Vec<&Record> = own.filter(|record| kept.contains(&record.block)).collect();
    trials.sort_by_key(|record| record.trial);
    let distinct: BTreeSet<&Treatment> = trials.iter().map(|record| &record.treatment).collect();
    let treatments: Vec<&Treatment> = distinct.into_iter().collect();
    let factors = design.factors.iter().map(|factor| {
        let levels = factor.levels.iter().map(|level| name(&level.name));
        (name(&factor.name), levels.collect::<Vec<_>>())
    });
    let levels = |treatment: &&Treatment| -> BTreeMap<String, String> {
        treatment.0.iter().map(|(factor, level)| (name(factor), name(level))).collect()
    };
    let column = |of: &dyn Fn(&Record) -> Value| -> Vec<Value> {
        trials.iter().map(|record| of(record)).collect()
    };
    json!({
        "session": name(&manifest.session),
        "host": name(&manifest.environment.host),
        "experiment": name(id),
        "version": design.version,
        "command": name(&export_command(session, id)),
        "stored": chapter.records.len(),
        "blocks": [kept.len(), blocks(chapter).len()],
        "factors": factors.collect::<Vec<_>>(),
        "varying": chapter.varying.iter().map(|factor| name(factor)).collect::<Vec<_>>(),
        "treatments": treatments.iter().map(levels).collect::<Vec<_>>(),
        "responses": responses(session, chapter, &trials),
        "trial": column(&|record| json!(record.trial)),
        "block": column(&|record| json!(record.block)),
        "position": column(&|record| json!(record.position)),
        "started": column(&|record| json!(record.started_unix_ms)),
        "place": column(&|record| json!(treatments.binary_search(&&record.treatment).ok())),
        "outcome": column(&|record| {
            let (word, reason) = outcome_words(&record.outcome);
            json!([word, short(&reason, REASON_CHARACTERS_MAX)])
        }),
        "tags": column(&|record| {
            let tags = tagger.tags(record).into_iter().map(Tag::name);
            tags.collect::<Vec<_>>().into()
        }),
    })
}

/// Returns the numbers, a column for each response.
fn responses(session: &Session<'_>, chapter: &Chapter<'_>, trials: &[&Record]) -> Vec<Value> {
    let numbers = Numbers::new(chapter.design, session.records);
    let response = |response: &Response| {
        let own: Vec<_> = trials.iter().map(|record| numbers.of(record, &response.name)).collect();
        let mut column = json!({
            "name": name(&response.name),
            "unit": response.unit,
            "label": words::label(response),
            "values": own.iter().map(|one| one.measured.map(rounded)).collect::<Vec<_>>(),
            "observations": own.iter().map(|one| one.observations).collect::<Vec<_>>(),
        });
        if response.subtract.is_some() {
            column["net"] = own.iter().map(|one| one.value.map(rounded)).collect();
        }
        column
    };
    chapter.design.responses.iter().map(response).collect()
}

/// Returns a number with nine digits, unless it is a whole one. Raw values are whole; what is not has
/// been divided, and a billionth of it is far below what any clock resolves.
fn rounded(value: f64) -> f64 {
    let short = || format!("{value:.8e}").parse().unwrap_or(value);
    if value.fract() == 0.0 { value } else { short() }
}

fn name(written: &str) -> String {
    short(written, NAME_CHARACTERS_MAX)
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

    #[test]
    fn whole_numbers_are_kept_and_others_have_nine_digits() {
        for whole in [0.0, 12.0, 9_007_199_254_740_991.0, -7e15] {
            assert_eq!(rounded(whole), whole);
        }
        assert_eq!(rounded(1.0 / 3.0), 0.333_333_333);
        assert_eq!(rounded(12_345_678.912_345), 12_345_678.9);
        assert_eq!(rounded(2e-9), 2e-9);
        assert!(rounded(f64::NAN).is_nan());
    }

    proptest::proptest! {
        #[test]
        fn numbers_come_back_through_json(value in proptest::prelude::any::<f64>()) {
            let read: Value = serde_json::from_str(&json!([rounded(value)]).to_string()).unwrap_or_default();
            match value.is_finite() {
                false => proptest::prop_assert!(read[0].is_null()),
                true => {
                    let read = read[0].as_f64().unwrap_or(f64::NAN);
                    proptest::prop_assert!((read - value).abs() <= value.abs() * 1e-8);
                }
            }
        }
    }
}
