//! A session as one table: its columns and, one after the other, its rows.

use crate::choice::Chosen;
use crate::{Choice, Error, Session};
use analysis::{Numbers, Tag, Tagger, outcome_words};
use model::{Record, Unit};
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
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    /// Milliseconds since 1970.
    Moment,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
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

    fn number(number: Option<f64>) -> Self {
        number.map_or(Cell::Empty, Cell::Number)
    }
}

/// Columns that come before a treatment's levels, and the kinds of their cells.
const BEFORE: [(&str, Kind); 8] = [
    ("session", Kind::Text),
    ("host", Kind::Text),
    ("experiment", Kind::Text),
    ("version", Kind::Integer),
    ("trial", Kind::Integer),
    ("block", Kind::Integer),
    ("position", Kind::Integer),
    ("treatment", Kind::Text),
];

/// Columns of a trial's one number.
const OF_TRIALS: [(&str, Kind); 5] = [
    ("response", Kind::Text),
    ("unit", Kind::Text),
    ("value", Kind::Number),
    ("measured_value", Kind::Number),
    ("observations", Kind::Integer),
];

/// Columns of an observation.
const OF_OBSERVATIONS: [(&str, Kind); 6] = [
    ("response", Kind::Text),
    ("unit", Kind::Text),
    ("observation", Kind::Integer),
    ("observed_value", Kind::Number),
    ("total", Kind::Integer),
    ("operations", Kind::Integer),
];

/// The last columns.
const AFTER: [(&str, Kind); 4] = [
    ("outcome", Kind::Text),
    ("reason", Kind::Text),
    ("tags", Kind::Text),
    ("started_unix_ms", Kind::Moment),
];

/// What a factor's column begins with: its name alone could be that of another column.
const FACTOR: &str = "factor_";

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
    pub(crate) fn new(session: Session<'a>, choice: &Choice, rows: Rows) -> Result<Self, Error> {
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
        let fixed = |columns: &[(&str, Kind)]| -> Vec<Column> {
            let column = |(name, kind): &(&str, Kind)| Column { name: (*name).into(), kind: *kind };
            columns.iter().map(column).collect()
        };
        let factor = |name: &&str| Column { name: format!("{FACTOR}{name}"), kind: Kind::Text };
        let mut columns = fixed(&BEFORE);
        columns.extend(self.factors.iter().map(factor));
        columns.extend(match self.rows {
            Rows::Trials => fixed(&OF_TRIALS),
            Rows::Observations => fixed(&OF_OBSERVATIONS),
        });
        columns.extend(fixed(&AFTER));
        columns
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
            let Some((chosen, numbers)) = by_id.get(record.experiment.as_str()) else {
                continue;
            };
            let treatment = record.treatment.to_string();
            let before = self.before(record, chosen, &treatment);
            let after = self.after(record);
            let mut row: Vec<Cell<'_>> = Vec::with_capacity(before.len() + 16);
            for response in &chosen.responses {
                for middle in self.middle(numbers, record, response) {
                    row.clear();
                    row.extend_from_slice(&before);
                    row.push(Cell::text(&response.name));
                    row.push(Cell::text(unit(&response.unit)));
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

/// A unit's name, as summary.json has it.
pub(crate) fn unit(unit: &Unit) -> &str {
    match unit {
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::Ppm => "ppm",
        Unit::PerSecond => "per_second",
        Unit::Other(name) => name,
    }
}
