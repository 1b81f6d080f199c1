//! The estimates of an experiment: a row per treatment, a column per response, so that what went
//! wrong stands beside what it cost.

use super::chapter::{Chapter, chapters_without_figures};
use super::{catalog, missing};
use crate::doc::{Block, Column, Doc, Table, Text};
use crate::{Session, paint, words};
use model::{Cell, EstimateRow, Response, Treatment, Unit};
use std::collections::{BTreeMap, BTreeSet};
use wording::number::{CORRECTED, Terms, count, joined, rate};
use wording::short;

/// The peak memory that looks find, and what stands for it where a trial ends before they do, with its mark.
const LOOKED_AT: &str = "peak_pss_bytes";
const INSTEAD: &str = "peak_cgroup_bytes";
const MARK: &str = " (its cgroup)";

/// The most treatments that the first screen of a study has; of more, those that its answers name.
const TREATMENTS_MAX: usize = 30;

type Cells<'a> = BTreeMap<(&'a Treatment, &'a str), &'a EstimateRow>;

/// Returns the table with the definitions of its columns under it.
pub(crate) fn numbers(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let cells = cells(chapter);
    let (measured, unmeasured) = columns(chapter, &cells);
    let treatments = treatments(chapter, &cells);
    let about = format!(
        "{}, {}.",
        wording::counted(treatments.len() as u64, "treatment"),
        wording::counted(measured.len() as u64, "response")
    );
    let table = table(chapter, &treatments, &measured, &cells);
    // A response that nothing was measured of is defined all the same.
    let cards = catalog::cards(measured.into_iter().chain(unmeasured));
    vec![Block::small(about), Block::Table(table), cards]
}

/// Returns what a study says first: the medians of what is asked at each treatment, with
/// intervals. Nothing for another session.
pub(crate) fn overview(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    if !chapter.is_study() {
        return Vec::new();
    }
    let cells = cells(chapter);
    let (mut columns, _) = columns(chapter, &cells);
    columns.retain(|one| is_asked(chapter, one));
    let mut treatments = treatments(chapter, &cells);
    treatments.retain(|treatment| !chapter.design.repeats(treatment));
    let all = treatments.len();
    if all > TREATMENTS_MAX {
        let named = named(chapter);
        treatments.retain(|treatment| named.contains(treatment));
    }
    let left_out = (treatments.len() < all)
        .then(|| format!(" The other {}: scruple export --format table.", all - treatments.len()));
    let mut table = table(chapter, &treatments, &columns, &cells);
    let heads = table.columns.iter_mut().skip(1).zip(&columns);
    let columns_have_looks = columns.iter().any(|one| one.name == LOOKED_AT);
    heads.for_each(|(column, response)| column.head = words::label(response));
    let instead = treatments.iter().any(|treatment| {
        let known = |name| cells.get(&(treatment, name)).is_some_and(|row| row.estimate.is_some());
        columns_have_looks && !known(LOOKED_AT) && known(INSTEAD)
    });
    let cgroup = instead.then_some(
        " (its cgroup): where a trial ended before its memory was looked at, the peak of its memory cgroup, \
         with files that it cached.",
    );
    let what = "Medians over blocks; in brackets the 95 % confidence interval.";
    let what = [what.to_string(), cgroup.unwrap_or_default().into(), left_out.unwrap_or_default()];
    vec![Block::Table(table), Block::small(what.concat())]
}

/// Returns the treatments that the first answer about each factor and the claims are formed of.
fn named(chapter: &Chapter<'_>) -> BTreeSet<Treatment> {
    let driving = chapter.design.findings.iter().filter(|finding| finding.drives);
    let asked = driving.map(|finding| &finding.quantity);
    let asked = asked.chain(chapter.design.claims.iter().map(|claim| &claim.quantity));
    let cells =
        asked.flat_map(|quantity| quantity.cells().into_iter().cloned().collect::<Vec<_>>());
    cells.map(|cell| chapter.design.complete(&cell)).collect()
}

/// Returns the estimates of some experiments of a session (none named means all) as Markdown: a row per
/// treatment, a column per factor that varies, and one per response: those named, or else those that findings
/// and claims are formed of.
pub fn estimates(session: &Session<'_>, experiments: &[String], responses: &[String]) -> String {
    let mut doc = Doc::new("", "estimates", "estimates");
    let mut chapters = chapters_without_figures(session);
    chapters.retain(|it| experiments.is_empty() || experiments.contains(&it.summary.id));
    for chapter in &chapters {
        let cells = cells(chapter);
        let (mut columns, _) = columns(chapter, &cells);
        columns.retain(|one| match responses {
            [] => is_asked(chapter, one),
            named => named.contains(&one.name),
        });
        if columns.is_empty() {
            continue;
        }
        if chapters.len() > 1 {
            doc.push(Block::heading(2, chapter.summary.id.clone()));
        }
        let mut treatments = treatments(chapter, &cells);
        treatments.retain(|treatment| !chapter.design.repeats(treatment));
        let differs = |name: &&str| {
            treatments.iter().map(|it| it.level(name)).collect::<BTreeSet<_>>().len() > 1
        };
        let factors = chapter.varying.iter().map(String::as_str).filter(differs);
        let factors: Vec<&str> = factors.collect();
        let mut table = Table::of(&factors);
        let heads =
            columns.iter().map(|response| Column { head: words::label(response), number: true });
        table.columns.extend(heads);
        for treatment in treatments {
            let levels = factors.iter().map(|name| treatment.level(name).unwrap_or("").to_string());
            let numbers = row(chapter, &treatment, &columns, &cells);
            // The number of trials comes last, and has no column here.
            let numbers = numbers.unwrap_or_else(|missing| vec![missing]);
            table.row(levels.map(Text::from).chain(numbers.into_iter().take(columns.len())));
        }
        doc.push(Block::Table(table));
        let what = "Medians over blocks; in brackets the 95 % confidence interval.";
        doc.push(Block::plain(what));
    }
    paint::markdown(&doc)
}

fn cells<'a>(chapter: &Chapter<'a>) -> Cells<'a> {
    let rows = chapter.summary.estimates.iter();
    rows.map(|row| ((&row.treatment, row.response.as_str()), row)).collect()
}

/// Returns the responses that were measured: that of the first finding, then the counts that findings and
/// claims ask for, then the others, each in the order of the design; and those that were not.
fn columns<'a>(chapter: &Chapter<'a>, cells: &Cells<'a>) -> (Vec<&'a Response>, Vec<&'a Response>) {
    let names: BTreeSet<&str> = cells.keys().map(|(_, response)| *response).collect();
    let design = chapter.design;
    // Where nothing was looked at, what stands instead has a column of its own, if it was asked for.
    let looked_at =
        cells.iter().any(|((_, name), row)| *name == LOOKED_AT && row.estimate.is_some());
    let own = design.response(INSTEAD).is_some_and(|instead| is_asked(chapter, instead));
    let has_looks = looked_at || names.contains(INSTEAD) && !own;
    let (mut measured, unmeasured): (Vec<&Response>, Vec<_>) =
        design.responses.iter().partition(|response| match response.name.as_str() {
            LOOKED_AT => has_looks,
            name => names.contains(name),
        });
    let main = design.findings.first().map(|finding| finding.quantity.response());
    measured.sort_by_cached_key(|response| {
        let asked = is_asked(chapter, response);
        (Some(response.name.as_str()) != main, response.unit != Unit::Count || !asked)
    });
    (measured, unmeasured)
}

/// Reports whether a finding or a claim is formed of a response.
fn is_asked(chapter: &Chapter<'_>, response: &Response) -> bool {
    chapter.asked().any(|quantity| quantity.responses().any(|name| name == response.name))
}

/// Returns every treatment that has an estimate or was to have one.
fn treatments(chapter: &Chapter<'_>, cells: &Cells<'_>) -> Vec<Treatment> {
    let tried = chapter.witnesses.iter().map(|record| &record.treatment);
    let known = cells.keys().map(|(treatment, _)| *treatment).chain(tried).cloned();
    let all: BTreeSet<_> = known.chain(chapter.design.treatments(chapter.profile)).collect();
    let mut all: Vec<Treatment> = all.into_iter().collect();
    all.sort_by_cached_key(|treatment| words::place(chapter.design, treatment));
    all
}

fn table(
    chapter: &Chapter<'_>,
    treatments: &[Treatment],
    columns: &[&Response],
    cells: &Cells<'_>,
) -> Table {
    let mut table = Table::of(&["treatment"]).kind("wide", "all estimates");
    let heads = columns.iter().map(|response| {
        let name = short(&response.name, 80);
        format!("{} {name}", words::label(response))
    });
    let heads = heads.chain(["trials".into()]).map(|head| Column { head, number: true });
    table.columns.extend(heads);
    let base = chapter.design.complete(&Cell::default());
    for treatment in treatments {
        let mut name = chapter.name(treatment);
        if chapter.is_study() && *treatment == base {
            name.push_str(" (baseline)");
        }
        match row(chapter, treatment, columns, cells) {
            Ok(numbers) => table.row(std::iter::once(Text::from(name)).chain(numbers)),
            Err(missing) => table.absent(name, missing),
        }
    }
    table
}

/// Returns the numbers of a treatment, or why it has none.
fn row(
    chapter: &Chapter<'_>,
    treatment: &Treatment,
    columns: &[&Response],
    cells: &Cells<'_>,
) -> Result<Vec<Text>, Text> {
    let known =
        |name: &str| cells.get(&(treatment, name)).copied().filter(|row| row.estimate.is_some());
    let own = |response: &&Response| match known(&response.name) {
        None if response.name == LOOKED_AT => known(INSTEAD),
        own => own,
    };
    let own: Vec<Option<&EstimateRow>> = columns.iter().map(own).collect();
    let trials = own.iter().flatten().filter_map(|row| Some(row.estimate?.samples)).max();
    let Some(trials) = trials else {
        let missing = missing::of_treatments(chapter.measured(), std::slice::from_ref(treatment));
        let missing = missing.map(|missing| (missing.lead, missing.why));
        let (lead, why) =
            missing.unwrap_or_else(|| ("not measured".into(), "an interval needs 2 trials".into()));
        return Err(Text::strong(lead).then(format!(": {}", short(&why, 600))));
    };
    let number = |row: Option<&EstimateRow>| {
        counts(chapter, treatment, row).unwrap_or_else(|| {
            row.map_or("–".into(), |row| {
                let number = Text::known(row.estimate, Terms::In(&row.unit));
                let mark = row.carried_by.as_ref().map(|_| format!("\n{CORRECTED}"));
                let mark = mark.or_else(|| (row.response == INSTEAD).then(|| MARK.into()));
                number.then(Text::quiet(mark.unwrap_or_default()))
            })
        })
    };
    let numbers = own.into_iter().map(number);
    Ok(numbers.chain([trials.to_string().into()]).collect())
}

/// Returns how often something went wrong, exactly, with its rate; `None` unless findings or claims ask
/// how often it happens.
fn counts(chapter: &Chapter<'_>, treatment: &Treatment, row: Option<&EstimateRow>) -> Option<Text> {
    let row = row.filter(|row| chapter.design.is_frequency(&row.response))?;
    let trials = chapter.records.iter().copied().filter(|record| record.treatment == *treatment);
    let (events, chances) = analysis::events_among(trials, &row.response)?;
    let text = format!("{} of {}", count(events), count(chances));
    let rate = row.estimate.map(|it| format!("\n{}", joined(&rate(&it, events, chances))));
    Some(Text::from(text).then(Text::quiet(rate.unwrap_or_default())))
}
