//! What trials saw: one table per exhibit, of the first completed trial of each treatment.

use super::chapter::Chapter;
use crate::doc::{Block, Column, Role, Span, Table, Text};
use crate::words;
use model::{Design, Exhibit, Record};
use wording::{counted, short};

/// A single exhibit of at most this number of rows is open from the start.
const OPEN_ROWS_MAX: usize = 12;

/// Exhibits of one experiment, and columns and rows of one of them, at most. The kit keeps fewer
/// rows; what comes from elsewhere is bounded here.
const SHOWN_MAX: usize = 40;
const COLUMNS_MAX: usize = 16;
const ROWS_MAX: usize = 200;

/// The most characters of one cell.
const CELL_CHARACTERS: usize = 300;

/// Pictures that open a chapter, at most.
const PICTURES_MAX: usize = 4;

/// Returns the pictures that open a chapter.
pub(crate) fn pictures(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let mut all = shown(chapter.design, &chapter.records);
    all.retain(|(exhibit, ..)| exhibit.pictured);
    let picture = |(exhibit, trial, _): &Shown<'_>| {
        let title = Text::strong(chapter.name(&trial.treatment))
            .then(format!(": {}", short(&exhibit.title, 200)));
        [Block::Paragraph(Role::Small, title), Block::Table(table(exhibit))]
    };
    all.iter().take(PICTURES_MAX).flat_map(picture).collect()
}

/// Returns all exhibits of an experiment but its pictures.
pub(crate) fn exhibits(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let mut all = shown(chapter.design, &chapter.records);
    all.retain(|(exhibit, ..)| !exhibit.pictured);
    let shown = all.iter().take(SHOWN_MAX);
    let mut blocks: Vec<Block<'_>> =
        shown.map(|shown| one(chapter, shown, all.len() > 1)).collect();
    blocks.extend(Block::more(all.len(), SHOWN_MAX, "trials.ndjson"));
    blocks
}

fn one(
    chapter: &Chapter<'_>,
    (exhibit, trial, origin): &Shown<'_>,
    several: bool,
) -> Block<'static> {
    let rows = (exhibit.rows.len() as u64).saturating_add(exhibit.rows_left_out);
    let label = Text::strong(chapter.name(&trial.treatment))
        .then(format!(": {} ", short(&exhibit.title, 200)))
        .then(Text::quiet(format!("({})", counted(rows, "row"))));
    let mut blocks = vec![Block::small(origin.as_str()), Block::Table(table(exhibit))];
    let most = exhibit.rows.len().min(ROWS_MAX);
    blocks.extend(Block::left_out(rows as usize, most, "more row", " not shown."));
    let open = !several && exhibit.rows.len() <= OPEN_ROWS_MAX;
    Block::details("exhibit", label, open, blocks)
}

fn table(exhibit: &Exhibit) -> Table {
    let is_pictured = |index| exhibit.pictured && index + 1 == exhibit.columns.len();
    let column = |(index, title): (usize, &String)| Column {
        head: short(title, 80),
        number: is_pictured(index) || is_numeric(exhibit, index),
    };
    let columns = exhibit.columns.iter().take(COLUMNS_MAX).enumerate().map(column).collect();
    let about = wording::capital(&short(&exhibit.title, 200));
    let mut table = Table { columns, ..Table::default() }
        .kind(if exhibit.pictured { "seen drawn" } else { "seen" }, about);
    for row in exhibit.rows.iter().take(ROWS_MAX) {
        let cell = |(index, cell): (usize, &String)| match short(cell, CELL_CHARACTERS) {
            cells if is_pictured(index) => Text(vec![Span::Cells(cells)]),
            words => words.into(),
        };
        table.row(row.iter().take(COLUMNS_MAX).enumerate().map(cell));
    }
    table
}

/// Reports whether every cell of a column is a decimal number, which reads best from the right.
fn is_numeric(exhibit: &Exhibit, column: usize) -> bool {
    let mut cells = exhibit.rows.iter().filter_map(|row| row.get(column)).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.len() <= 24 && cell.parse::<f64>().is_ok())
}

/// An exhibit, the trial it is of, and where it comes from and whether the others agree, in a sentence.
type Shown<'a> = (&'a Exhibit, &'a Record, String);

/// Says where an exhibit comes from, and in how many of its treatment's trials it differs.
fn origin(trial: &Record, trials: usize, differing: usize) -> String {
    let others = match (trials, differing) {
        (1, _) => ", the only one.".into(),
        (trials, 0) => format!("; all {trials} trials show the same."),
        (trials, differing) => format!("; in {differing} of {trials} trials it differs."),
    };
    format!("Seen in trial {}, block {}{others}", trial.trial, trial.block)
}

/// The exhibits of an experiment, by treatment in the design's order: those of the completed trial
/// with the lowest block.
fn shown<'a>(design: &Design, records: &[&'a Record]) -> Vec<Shown<'a>> {
    let completed =
        |&record: &&'a Record| Some((record, record.measured.as_ref()?.exhibits.as_slice()));
    let mut trials: Vec<(&Record, &[Exhibit])> = records.iter().filter_map(completed).collect();
    trials.sort_by_cached_key(|&(record, _)| {
        let treatment = &record.treatment;
        (words::place(design, treatment), treatment, record.block, record.trial)
    });
    let mut all = Vec::new();
    for trials in trials.chunk_by(|(one, _), (next, _)| one.treatment == next.treatment) {
        // A treatment may show something in some of its trials only.
        let Some((trial, exhibits)) = trials.iter().find(|(_, exhibits)| !exhibits.is_empty())
        else {
            continue;
        };
        for exhibit in *exhibits {
            let differing = trials.iter().filter(|(_, others)| !others.contains(exhibit)).count();
            all.push((exhibit, *trial, origin(trial, trials.len(), differing)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_first_trial_stands_for_the_others_and_the_others_are_compared() {
        let mut fixture = fixture::mechanisms(8);
        fixture.records.reverse();
        let records: Vec<&Record> =
            fixture.records.iter().filter(|record| record.experiment == "switch").collect();
        let found = shown(&Design::default(), &records);
        let seen: Vec<(Option<&str>, &str, u32, &str)> = found
            .iter()
            .map(|(exhibit, trial, origin)| {
                let others = origin.split_once("block 0; ").map_or("", |(_, others)| others);
                (trial.treatment.level("mechanism"), exhibit.title.as_str(), trial.block, others)
            })
            .collect();
        let same = "all 8 trials show the same.";
        assert_eq!(
            seen,
            [
                (Some("futex"), "system calls of one hop", 0, same),
                (Some("futex"), "blocks of the heap afterwards", 0, same),
                (Some("pipe"), "system calls of one hop", 0, "in 2 of 8 trials it differs."),
            ]
        );
    }

    #[test]
    fn a_picture_opens_its_chapter_and_is_no_exhibit() {
        let mut fixture = fixture::mechanisms(2);
        let measured = fixture.records.iter_mut().filter_map(|record| record.measured.as_mut());
        for exhibit in measured.flat_map(|measured| &mut measured.exhibits) {
            exhibit.pictured = exhibit.columns[0] == "address";
        }
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = crate::Session { manifest, records, summary };
        let chapters = super::super::chapter::chapters_without_figures(&session);
        let chapter = &chapters[0];
        let [Block::Paragraph(..), Block::Table(picture)] = &pictures(chapter)[..] else {
            panic!("one picture with its title");
        };
        assert_eq!(picture.rows[0].cells[2], Text(vec![Span::Cells("free".into())]));
        assert_eq!(exhibits(chapter).len(), 2);
    }

    #[test]
    fn trials_that_did_not_complete_show_nothing() {
        let mut fixture = fixture::mechanisms(2);
        for record in &mut fixture.records {
            record.measured = None;
        }
        assert!(
            shown(&fixture.manifest.designs[0], &fixture.records.iter().collect::<Vec<_>>())
                .is_empty()
        );
    }
}
