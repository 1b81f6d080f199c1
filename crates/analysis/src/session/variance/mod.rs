//! Where the scatter of a trial's number comes from: its variance, on the scale of logarithms,
//! taken apart into what happens within a trial, between the trials of a block, and between blocks.
//!
//! The model is y = treatment + block + trial, the last two random (Kalibera and Jones, *Rigorous
//! benchmarking in reasonable time*, ISMM 2013; Searle, Casella and McCulloch, *Variance
//! Components*, 1992). The treatment's mean is removed, so that what is left is noise:
//!
//! * *Between trials*: the residual mean square of the block × treatment table, less the part that
//!   is within trials.
//! * *Between blocks*: what blocks explain beyond their treatments, by Henderson's third method,
//!   which needs no complete table (Searle and others, 5.5). In a complete one it is the textbook's
//!   (mean square of blocks − residual mean square) / treatments.
//! * *Within trials*: a trial's observations are cut into two contiguous halves, each is centred as
//!   the whole is, and half of the log-ratio of the two has the variance that the whole's centre
//!   owes to what happened within. Halves, not single observations: neighbouring ones resemble
//!   each other. What all trials of a treatment share, such as warming up, is no scatter and is
//!   removed. Sums and maxima over workers have no such halves.
//!
//! An estimate below 0 is set to 0, which is then said by the share it shows.
//!
//! **One wild trial does not own the picture**: the table is first fitted by medians (Tukey's
//! median polish), and a residual beyond 3.5 robust standard deviations is pulled in to that. The
//! spread is that of the typical trial of the response; under a normal distribution the pulling
//! costs the variance less than 1 %.

use crate::session::sample::{Table, logarithms, observations};
use crate::session::tags::{Tag, Tagger};
use crate::stats::order::{mean, median_in_place};
use model::{Center, Record, Response, Source, Treatment, Variance};
use std::collections::BTreeMap;

mod table;

use table::{Cell, Cells, pulled_in};

/// A trial with fewer observations does not tell what happens within it.
const OBSERVATIONS: usize = 8;

/// This number of trials of a response is cut into halves, at least two of each treatment: enough to
/// know a variance to a seventh, and a bound on the time it takes, since a trial may hold
/// thousands of observations.
const TRIALS_HALVED: usize = 96;

/// Below this the variance of a logarithm is the last digits' of the arithmetic.
const NOTHING: f64 = 1e-20;

/// From this share of trials on that changed CPUs unpinned, pinning is the remedy.
const MANY: f64 = 0.25;

/// Tagged trials are named as the scattering ones if they scatter this many times as much.
const MORE: f64 = 4.0;

/// A larger ratio of their scatter is not printed.
const RATIO_MAX: f64 = 1e3;

/// Mean squares of fewer trials than this are not compared.
const COMPARED: usize = 6;

/// Returns one for each response whose scatter can be taken apart: two treatments at least share two
/// blocks at least, their numbers are positive, and they vary at all.
pub(crate) fn variances(table: &Table<'_>, tagger: &Tagger) -> Vec<Variance> {
    let responses = table.design.responses.iter();
    responses.filter_map(|response| of_response(table, response, tagger)).collect()
}

fn of_response(table: &Table<'_>, response: &Response, tagger: &Tagger) -> Option<Variance> {
    let columns = logarithms(table, &response.name);
    let cells: Vec<Cell> = columns
        .iter()
        .enumerate()
        .flat_map(|(treatment, (_, values))| {
            values.iter().map(move |(&block, &value)| (treatment, block, value))
        })
        .collect();
    let cells = Cells::new(cells)?;
    let residuals = cells.residuals();
    let parts = cells.components()?;
    let treatments: Vec<&Treatment> = columns.iter().map(|(treatment, _)| *treatment).collect();
    let within = within_trials(table, response, &treatments).map(|part| part.min(parts.residual));
    let total = parts.residual + parts.blocks;
    if total.is_nan() || total < NOTHING {
        return None;
    }
    let between_trials = parts.residual - within.unwrap_or(0.0);
    let sources = [
        (within.unwrap_or(0.0), Source::WithinTrials),
        (between_trials, Source::BetweenTrials),
        (parts.blocks, Source::BetweenBlocks),
    ];
    let (_, largest) = sources.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let cause = match largest {
        Source::BetweenBlocks => None,
        _ => cause(table, tagger, &treatments, &residuals),
    };
    Some(Variance {
        response: response.name.clone(),
        total: total.exp_m1().sqrt(),
        within_trials: within.map(|part| part / total),
        between_trials: between_trials / total,
        between_blocks: parts.blocks / total,
        largest,
        remedy: cause.unwrap_or_else(|| remedy(largest, within.is_some()).into()),
    })
}

/// Returns what the centre of a trial owes to the scatter within it: the variance of half the log-ratio of
/// the two halves, about each treatment's own mean. `None` unless half of the trials looked at
/// tell.
fn within_trials(table: &Table<'_>, response: &Response, treatments: &[&Treatment]) -> Option<f64> {
    if !matches!(response.center, Center::Median | Center::Mean) {
        return None;
    }
    let share = (TRIALS_HALVED / treatments.len().max(1)).max(2);
    let (mut looked, mut described) = (0, 0);
    let mut halves: Vec<Vec<f64>> = Vec::new();
    for treatment in treatments {
        let control = table.control(&response.name, treatment).unwrap_or_default();
        let records: Vec<&Record> =
            table.records(treatment).iter().filter(|r| r.measured.is_some()).copied().collect();
        let step = records.len().div_ceil(share).max(1);
        let mut own = Vec::new();
        for record in records.into_iter().step_by(step) {
            let less = control.get(&record.block).copied().unwrap_or(0.0);
            looked += 1;
            own.extend(half_ratio(record, response, less));
        }
        described += own.len();
        if own.len() >= 2 {
            halves.push(own);
        }
    }
    if looked == 0 || 2 * described < looked { None } else { pooled(&halves) }
}

/// Returns half of the log-ratio of a trial's first and second half, each centred and less the control.
fn half_ratio(record: &Record, response: &Response, less: f64) -> Option<f64> {
    let mut observations = observations(record, &response.name);
    let count = observations.len();
    if count < OBSERVATIONS {
        return None;
    }
    // Of an odd number the one in the middle belongs to neither.
    let (first, rest) = observations.split_at_mut(count / 2);
    let second = &mut rest[count % 2..];
    let centred = |half: &mut [f64]| match response.center {
        Center::Mean => mean(half),
        _ => median_in_place(half),
    };
    let ratio = (centred(first)? - less) / (centred(second)? - less);
    Some(ratio.ln() / 2.0).filter(|half| half.is_finite())
}

/// Returns the variance about each group's own mean, wild numbers pulled in.
fn pooled(groups: &[Vec<f64>]) -> Option<f64> {
    let mut residuals: Vec<f64> = Vec::new();
    for group in groups {
        let centre = median_in_place(&mut group.clone())?;
        residuals.extend(group.iter().map(|value| value - centre));
    }
    let freedom = residuals.len().checked_sub(groups.len()).filter(|freedom| *freedom > 0)?;
    let mut pulled = pulled_in(&residuals, groups.len()).into_iter();
    let mut squares = 0.0;
    for group in groups {
        let own: Vec<f64> = pulled.by_ref().take(group.len()).collect();
        let centre = mean(&own)?;
        squares += own.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    }
    Some(squares / freedom as f64)
}

/// Returns what would reduce the largest part, as far as its kind alone tells.
fn remedy(largest: Source, within_known: bool) -> &'static str {
    match (largest, within_known) {
        (Source::WithinTrials, _) => "Longer trials would reduce it: take a larger profile.",
        (Source::BetweenTrials, true) => "More trials would reduce it: give it more time.",
        (Source::BetweenTrials, false) => {
            "More trials would reduce it: give it more time; they have too few observations to \
             tell whether longer trials would also reduce it."
        }
        (Source::BetweenBlocks, _) => {
            "It is drift, which cancels in comparisons; for absolute values measure at another \
             time or on a quieter machine."
        }
    }
}

/// A trial as the remedy looks at it.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// It changed CPUs although it had been left free to.
    moved: bool,
    /// Others disturbed it in some way.
    disturbed: bool,
}

/// Returns what the trials that scatter have in common, and so what would reduce it; `None` where their
/// tags do not tell.
fn cause(
    table: &Table<'_>,
    tagger: &Tagger,
    treatments: &[&Treatment],
    residuals: &[(usize, u32, f64)],
) -> Option<String> {
    let mut marks: BTreeMap<(usize, u32), Marks> = BTreeMap::new();
    for (place, treatment) in treatments.iter().enumerate() {
        for record in table.records(treatment).iter().filter(|r| r.measured.is_some()) {
            let own = marks.entry((place, record.block)).or_default();
            let tags = tagger.tags(record);
            own.moved |= tags.contains(&Tag::Migrated) && !pinned(record);
            own.disturbed |= tags.iter().any(|tag| *tag != Tag::Migrated);
        }
    }
    let has = |mark: fn(&Marks) -> bool| {
        let squares = |wanted: bool| -> Vec<f64> {
            let is = |treatment, block| marks.get(&(treatment, block)).is_some_and(mark);
            let cells =
                residuals.iter().filter(|(treatment, block, _)| is(*treatment, *block) == wanted);
            cells.map(|(_, _, residual)| residual.powi(2)).collect()
        };
        let (with, without) = (squares(true), squares(false));
        let enough = with.len() >= COMPARED && without.len() >= COMPARED;
        let means = mean(&with).zip(mean(&without)).filter(|_| enough);
        (with.len(), means.map_or(f64::NAN, |(with, without)| with / without))
    };
    let all = residuals.len();
    let (moved, times) = has(|marks| marks.moved);
    // Where all moved there is nothing to compare them with.
    if moved as f64 >= MANY * all as f64 && (times >= MORE || all - moved < COMPARED) {
        return Some(format!(
            "{moved} of {all} trials moved between CPUs unpinned: pinning would reduce it \
             (--affinity with one CPU, where the treatment allows that)."
        ));
    }
    let (disturbed, times) = has(|marks| marks.disturbed);
    // Without scatter among the rest, the ratio is infinite or an artefact of rounding.
    let how = match times.sqrt() < RATIO_MAX {
        true => format!("scatter {:.0} times as widely as the rest", times.sqrt()),
        false => "scatter, and the rest hardly do".into(),
    };
    (times >= MORE).then(|| {
        format!(
            "The {disturbed} of {all} trials that others disturbed {how}: measure at another time or on a \
             quieter machine."
        )
    })
}

/// Reports whether a trial was confined to one CPU.
fn pinned(record: &Record) -> bool {
    record.observed.get("affinity").is_some_and(|cpus| cpus.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests;
