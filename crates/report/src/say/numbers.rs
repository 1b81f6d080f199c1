//! All estimates of an experiment: a row per treatment, a column per response, so that what went
//! wrong stands beside what it cost.

use super::chapter::Chapter;
use super::{catalog, missing};
use crate::doc::{Block, Column, Table, Text};
use crate::format::{Terms, count, parts, rounded};
use crate::words::{self, short};
use model::{Design, EstimateRow, Quantity, Record, Response, Treatment, Unit};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A table of at most this number of rows is open from the start.
const OPEN_ROWS_MAX: usize = 12;

/// The trials of each treatment.
type Trials<'a> = HashMap<&'a Treatment, Vec<&'a Record>>;

type Cells<'a> = BTreeMap<(&'a Treatment, &'a str), &'a EstimateRow>;

/// Returns the table with the definitions of its columns under it.
pub(crate) fn numbers(chapter: &Chapter<'_>) -> Block<'static> {
    let rows = &chapter.summary.estimates;
    let cells: Cells<'_> =
        rows.iter().map(|row| ((&row.treatment, row.response.as_str()), row)).collect();
    let columns = columns(chapter, &cells);
    let treatments = treatments(chapter, &cells);
    let mut responses: Vec<&Response> =
        columns.iter().filter_map(|name| chapter.design?.response(name)).collect();
    // One that nothing was measured of is defined all the same.
    let declared = chapter.design.into_iter().flat_map(|design| &design.responses);
    responses.extend(declared.filter(|response| !columns.contains(&response.name.as_str())));
    let label = format!(
        "All estimates: {}, {}",
        words::counted(treatments.len() as u64, "treatment"),
        words::counted(columns.len() as u64, "response")
    );
    let table = table(chapter, &treatments, &columns, &cells);
    let blocks = vec![Block::Table(table), catalog::cards(responses.into_iter())];
    let open = treatments.len() <= OPEN_ROWS_MAX && columns.len() > 1;
    Block::details("", label, open, blocks)
}

/// The responses that were measured: that of the first finding, then the counts that findings and
/// claims ask for, then the others, each in the order of the design.
fn columns<'a>(chapter: &Chapter<'a>, cells: &Cells<'a>) -> Vec<&'a str> {
    let measured: BTreeSet<&str> = cells.keys().map(|(_, response)| *response).collect();
    let Some(design) = chapter.design else {
        return measured.into_iter().collect();
    };
    let main = design.findings.first().map(|finding| finding.quantity.response());
    let mut responses: Vec<&Response> =
        design.responses.iter().filter(|r| measured.contains(r.name.as_str())).collect();
    let asked =
        |response: &Response| asked(design).any(|quantity| quantity.response() == response.name);
    responses.sort_by_cached_key(|response| {
        let correctness = response.unit == Unit::Count && asked(response);
        (Some(response.name.as_str()) != main, !correctness)
    });
    responses.into_iter().map(|response| response.name.as_str()).collect()
}

/// What findings and claims ask for.
fn asked(design: &Design) -> impl Iterator<Item = &Quantity> {
    let findings = design.findings.iter().map(|finding| &finding.quantity);
    findings.chain(design.claims.iter().map(|claim| &claim.quantity))
}

/// Every treatment that has an estimate or was to have one.
fn treatments<'a>(chapter: &Chapter<'a>, cells: &Cells<'a>) -> Vec<Treatment> {
    let mut all: BTreeSet<Treatment> =
        cells.keys().map(|(treatment, _)| (*treatment).clone()).collect();
    all.extend(chapter.witnesses.iter().map(|record| record.treatment.clone()));
    let Some(design) = chapter.design else {
        return all.into_iter().collect();
    };
    all.extend(design.treatments(chapter.profile));
    let mut all: Vec<Treatment> = all.into_iter().collect();
    all.sort_by_cached_key(|treatment| words::place(design, treatment));
    all
}

fn table(
    chapter: &Chapter<'_>,
    treatments: &[Treatment],
    columns: &[&str],
    cells: &Cells<'_>,
) -> Table {
    let varying = chapter.varying();
    let mut trials = Trials::new();
    for record in &chapter.records {
        trials.entry(&record.treatment).or_default().push(record);
    }
    let mut table = Table::of(&["treatment"]).kind("wide", "all estimates");
    let head = |name: &&str| Column { head: head(chapter, name), number: true };
    table.columns.extend(columns.iter().map(head));
    table.columns.push(Column { head: "trials".into(), number: true });
    for treatment in treatments {
        let name = chapter.name(treatment, &varying);
        match row(chapter, treatment, columns, cells, &trials) {
            Ok(numbers) => table.row(std::iter::once(Text::from(name)).chain(numbers)),
            Err(missing) => table.absent(name, missing),
        }
    }
    table
}

fn head(chapter: &Chapter<'_>, name: &str) -> String {
    let response = chapter.design.and_then(|design| design.response(name));
    let label = response.map(|response| format!("{} ", words::label(response)));
    format!("{}{}", label.unwrap_or_default(), short(name, 80))
}

/// Returns the numbers of a treatment, or why it has none.
fn row(
    chapter: &Chapter<'_>,
    treatment: &Treatment,
    columns: &[&str],
    cells: &Cells<'_>,
    all: &Trials<'_>,
) -> Result<Vec<Text>, Text> {
    let own: Vec<Option<&EstimateRow>> =
        columns.iter().map(|name| cells.get(&(treatment, *name)).copied()).collect();
    if own.iter().all(|row| row.is_none_or(|row| row.estimate.is_none())) {
        let missing = chapter
            .measured()
            .and_then(|measured| missing::of_treatments(measured, std::slice::from_ref(treatment)));
        let (word, why) = match &missing {
            Some(missing) => (missing.lead.as_str(), missing.why.as_str()),
            None => ("not measured", "an interval needs 2 trials"),
        };
        return Err(Text::strong(word).then(format!(": {}", short(why, 600))));
    }
    let trials = own.iter().flatten().filter_map(|row| Some(row.estimate?.samples)).max();
    let number = |(name, row): (&&str, &Option<&EstimateRow>)| match counted(
        chapter,
        all.get(treatment),
        name,
    ) {
        Some(tally) => counts(tally),
        None => cell(*row),
    };
    let mut numbers: Vec<Text> = columns.iter().zip(&own).map(number).collect();
    numbers.push(trials.map_or("–".to_string(), |trials| trials.to_string()).into());
    Ok(numbers)
}

/// The exact counts of a response that findings or claims ask for by how often it happens.
fn counted(
    chapter: &Chapter<'_>,
    trials: Option<&Vec<&Record>>,
    response: &str,
) -> Option<(u64, u64)> {
    let rate = |quantity: &Quantity| matches!(quantity, Quantity::Frequency { response: name, .. } if name == response);
    if !asked(chapter.design?).any(rate) {
        return None;
    }
    analysis::events_among(trials?.iter().copied(), response)
}

/// Returns what went wrong, exactly, with its rate.
fn counts((events, chances): (u64, u64)) -> Text {
    let text = format!("{} of {}", count(events), count(chances));
    let rate = (events > 0)
        .then(|| format!("\n{}", rounded(events as f64 / chances as f64, Terms::Frequency)));
    Text::from(text).then(Text::quiet(rate.unwrap_or_default()))
}

/// Returns one estimate; of a number that was the same in every trial there is no interval to show.
fn cell(row: Option<&EstimateRow>) -> Text {
    let found = row.and_then(|row| Some((row.estimate?, Terms::In(&row.unit))));
    found.map_or("–".into(), |(estimate, terms)| Text::number(parts(&estimate, terms)))
}
