//! A session as one table: its columns and, one after the other, its rows.

use crate::choice::Chosen;
use crate::{Choice, Result, Session};
use Kind::{Integer, Moment, Number, Text};
use analysis::{Numbers, Tag, Tagger, outcome_words};
use model::Record;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// One per trial and response: the trial's one number.
    #[default]
    Trials,
    /// One per observation within a trial, as it was made; nothing is subtracted.
    Observations,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Milliseconds since 1970.
    Moment,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its cells hold.
    pub kind: Kind,
    /// What it tells, for people who read the table.
    pub what: &'static str,
}

/// A cell of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Empty,
    Text(Cow<'a, str>),
    Integer(i64),
    Number(f64),
}

impl<'a> Cell<'a> {
    fn text(text: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }

    /// A count; none of them comes near the largest 64-bit number.
    fn count(count: u64) -> Self {
        Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// The same, on its own.
    #[cfg(feature = "parquet")]
    pub(crate) fn to_static(&self) -> Cell<'static> {
        match self {
            Cell::Empty => Cell::Empty,
            Cell::Text(text) => Cell::Text(Cow::Owned(text.to_string())),
            Cell::Integer(number) => Cell::Integer(*number),
            Cell::Number(number) => Cell::Number(*number),
        }
    }

    fn number(number: Option<f64>) -> Self {
        number.map_or(Cell::Empty, Cell::Number)
    }
}

/// What a factor's column begins with: its name alone could be that of another column.
pub const FACTOR: &str = "factor_";

const BOTH: Option<Rows> = None;
const TRIALS: Option<Rows> = Some(Rows::Trials);
const OBSERVATIONS: Option<Rows> = Some(Rows::Observations);

/// The columns: the rows that have them, their names, kinds, and what they tell.
const COLUMNS: [(Option<Rows>, &str, Kind, &str); 22] = [
    (
        BOTH,
        "session",
        Text,
        "the session's name; one that several have is numbered: base, base (2)",
    ),
    (BOTH, "host", Text, "the machine's name"),
    (BOTH, "experiment", Text, "the experiment"),
    (BOTH, "version", Integer, "the version of its design: numbers of two are not comparable"),
    (BOTH, "trial", Integer, "the trial's number in the session, from 0"),
    (BOTH, "block", Integer, "the block: pair treatments by it, within a session"),
    (BOTH, "position", Integer, "the trial's place in the block's random order, from 0"),
    (BOTH, "treatment", Text, "all levels in one text"),
    (BOTH, FACTOR, Text, "the level of that factor; null where the experiment has none of it"),
    (BOTH, "response", Text, "what was measured"),
    (BOTH, "unit", Text, "ns, bytes, count, ppm, per_second, or a study's own"),
    (TRIALS, "value", Number, "what estimates are made from: measured_value, less its control"),
    (TRIALS, "measured_value", Number, "the trial's one number as it was measured"),
    (TRIALS, "observations", Integer, "observations behind it"),
    (
        OBSERVATIONS,
        "observation",
        Integer,
        "its number within trial and response, from 0, in order of time",
    ),
    (OBSERVATIONS, "observed_value", Number, "per operation: total divided by operations"),
    (OBSERVATIONS, "total", Integer, "the measured number, in the response's unit"),
    (OBSERVATIONS, "operations", Integer, "number of operations in the total"),
    (BOTH, "outcome", Text, "completed, unsupported, failed, died, timed_out, …"),
    (BOTH, "reason", Text, "why, where there is a reason"),
    (BOTH, "tags", Text, "what happened to the trial, with ; between them"),
    (BOTH, "started_unix_ms", Moment, "when it was started, in ms since 1970"),
];

/// Returns the columns of a table with these rows, in order; each factor has one.
pub fn columns(rows: Rows, factors: &[&str]) -> Vec<Column> {
    let mut columns = Vec::new();
    let own = COLUMNS.into_iter().filter(|(of, ..)| of.is_none_or(|of| of == rows));
    for (_, name, kind, what) in own {
        let own = if name == FACTOR { factors } else { &[""] };
        columns.extend(own.iter().map(|end| Column { name: format!("{name}{end}"), kind, what }));
    }
    columns
}

/// A session, or a part of it, as a table.
pub(crate) struct Table<'a> {
    session: Session<'a>,
    rows: Rows,
    chosen: Vec<Chosen<'a>>,
    /// The factors of all chosen experiments: each is one column, whichever experiment has it.
    factors: Vec<&'a str>,
    tagger: Tagger,
}

impl<'a> Table<'a> {
    pub(crate) fn new(session: Session<'a>, choice: &Choice, rows: Rows) -> Result<Self> {
        let chosen = choice.of(&session)?;
        let factors = chosen.iter().flat_map(|chosen| &chosen.design.factors);
        // In the order in which the experiments name them.
        let mut seen = BTreeSet::new();
        let factors =
            factors.map(|factor| factor.name.as_str()).filter(|name| seen.insert(*name)).collect();
        // Tags compare a trial with all others of the session, chosen or not.
        let tagger = Tagger::over(&session.manifest.designs, session.records);
        Ok(Table { session, rows, chosen, factors, tagger })
    }

    pub(crate) fn columns(&self) -> Vec<Column> {
        columns(self.rows, &self.factors)
    }

    /// Hands over row after row, in the order of the session's trials; returns their number.
    pub(crate) fn each<E>(
        &self,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let records = self.session.records;
        let by_id: HashMap<&str, (&Chosen<'a>, Numbers<'a>)> = self
            .chosen
            .iter()
            .map(|it| (it.design.id.as_str(), (it, Numbers::new(it.design, records))))
            .collect();
        let mut count = 0;
        for record in records {
            let Some((chosen, numbers)) = by_id.get(record.experiment.as_str()) else { continue };
            let treatment = record.treatment.to_string();
            let before = self.before(record, chosen, &treatment);
            let after = self.after(record);
            let mut row: Vec<Cell<'_>> = Vec::with_capacity(before.len() + 16);
            for response in &chosen.responses {
                for middle in self.middle(numbers, record, response) {
                    row.clear();
                    row.extend_from_slice(&before);
                    row.push(Cell::text(&response.name));
                    row.push(Cell::text(response.unit.name()));
                    row.extend(middle);
                    row.extend_from_slice(&after);
                    take(&row)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    fn before<'r>(
        &'r self,
        record: &'r Record,
        chosen: &Chosen<'r>,
        treatment: &'r str,
    ) -> Vec<Cell<'r>> {
        let manifest = self.session.manifest;
        let mut cells = vec![
            Cell::text(&manifest.session),
            Cell::text(&manifest.environment.host),
            Cell::text(&record.experiment),
            Cell::count(chosen.design.version.into()),
            Cell::count(record.trial),
            Cell::count(record.block.into()),
            Cell::count(record.position.into()),
            Cell::text(treatment),
        ];
        let level = |factor: &&str| record.treatment.level(factor).map_or(Cell::Empty, Cell::text);
        cells.extend(self.factors.iter().map(level));
        cells
    }

    fn after<'r>(&self, record: &Record) -> Vec<Cell<'r>> {
        let (outcome, reason) = outcome_words(&record.outcome);
        let tags = self.tagger.tags(record).into_iter().map(Tag::name);
        let tags = tags.collect::<Vec<_>>().join(";");
        let some = |text: String| {
            if text.is_empty() { Cell::Empty } else { Cell::Text(Cow::Owned(text)) }
        };
        vec![Cell::text(outcome), some(reason), some(tags), Cell::count(record.started_unix_ms)]
    }

    /// What stands between unit and outcome, row by row; a trial without a number is also a row.
    fn middle(
        &self,
        numbers: &Numbers<'_>,
        record: &Record,
        response: &model::Response,
    ) -> Vec<Vec<Cell<'static>>> {
        match self.rows {
            Rows::Trials => {
                let it = numbers.of(record, &response.name);
                let observations = Cell::count(it.observations);
                vec![vec![Cell::number(it.value), Cell::number(it.measured), observations]]
            }
            Rows::Observations => {
                let found = numbers.observations(record, &response.name);
                if found.is_empty() {
                    return vec![vec![Cell::Empty; 4]];
                }
                let row = |(index, it): (usize, analysis::Observation)| {
                    let each = it.total as f64 / it.operations.max(1) as f64;
                    let operations = Cell::count(it.operations);
                    let index = Cell::count(index as u64);
                    vec![index, Cell::Number(each), Cell::Integer(it.total), operations]
                };
                found.into_iter().enumerate().map(row).collect()
            }
        }
    }
}
