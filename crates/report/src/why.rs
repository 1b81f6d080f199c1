//! Which resource a command lives on, in words for a terminal.

use crate::Session;
use crate::format::{self, Terms, joined, parts, parts_within};
use crate::text::{BOLD, CARE, DIM, GOOD, bounded, columns, cut, padded, paint, paragraph};
use crate::words::{self, capital};
use model::{Dose, SqueezeResult, Why};

/// Columns of a number with its interval.
const NUMBER_COLUMNS_MAX: usize = 22;

/// The bar of an elasticity of 1, in columns.
const BAR_COLUMNS: usize = 16;

/// The answer from a session's trials.
pub(crate) fn of(session: &Session<'_>) -> Option<Why> {
    let squeezes = |design: &&model::Design| {
        design.subject.as_ref().is_some_and(|subject| subject.squeeze.is_some())
    };
    let design = session.manifest.designs.iter().find(squeezes)?;
    analysis::why(&analysis::WhyInput {
        scruple: &session.summary.scruple,
        session: &session.summary.session,
        complete: session.summary.complete,
        design,
        records: session.records,
    })
}

/// See [`crate::why_text`].
pub(crate) fn text(why: &Why, width: usize) -> String {
    let width = bounded(width);
    let style = if why.named.is_some() { GOOD } else { CARE };
    let mut lines = vec![
        paint(DIM, &cut(&words::cleaned(&why.command.join(" ")), width)),
        paint(style, paragraph(&why.answer, "", "", width).trim_end()),
        paint(DIM, paragraph(&evidence(why), "", "", width).trim_end()),
        String::new(),
    ];
    lines.extend(table(why, width));
    if let Some(residual) = &why.residual {
        let text = format!("{}: {}", RESIDUAL, joined(&parts(residual, Terms::Plain)));
        lines.push(paragraph(&text, "  ", "  ", width).trim_end().into());
    }
    let quiet = |text: &str| paint(DIM, paragraph(text, "  - ", "    ", width).trim_end());
    let not = |it: &model::NotSqueezed| {
        format!("not squeezed: {}: {}", it.resource.words(), words::cleaned(&it.reason))
    };
    lines.extend(why.not_squeezed.iter().map(|it| quiet(&not(it))));
    lines.extend(control(why).map(|text| quiet(&text)));
    lines.extend(counted(why).map(|text| quiet(&text)));
    lines.extend(
        why.warnings
            .iter()
            .map(|warning| paint(CARE, paragraph(warning, "  ! ", "    ", width).trim_end())),
    );
    lines.push(paint(DIM, paragraph(MEANING, "", "", width).trim_end()));
    lines.join("\n") + "\n"
}

/// What an elasticity is.
pub(crate) const MEANING: &str = "Elasticity: 1 is what a program has that lives on nothing else, 0 that it does not matter; \
     95 % intervals over blocks. Time on the CPU holds what is lost there to memory, cache and \
     wake-ups.";

/// What the residual is.
pub(crate) const RESIDUAL: &str = "Left beside CPU time, storage and timers";

/// "Evidence: timing and counters; 12 trials of 1.2 s with nothing taken."
pub(crate) fn evidence(why: &Why) -> String {
    let wall = why.wall_ns.as_ref().map(|wall| {
        let time = format::estimate(wall, Some(&model::Unit::Ns));
        format!("; {} trials took {time} with nothing taken", wall.samples)
    });
    format!("Evidence: {}{}.", why.evidence, wall.unwrap_or_default())
}

fn table(why: &Why, width: usize) -> Vec<String> {
    let labels = why.squeezes.iter().map(|one| columns(one.resource.words()));
    let label = labels.max().unwrap_or(0);
    let mut lines = Vec::new();
    for one in &why.squeezes {
        let (mark, style) = if one.stands { ("●", GOOD) } else { ("○", DIM) };
        let name = padded(&capital(one.resource.words()), label);
        let (number, bar) = match &one.elasticity {
            Some(e) => {
                let number = joined(&parts_within(e, Terms::Plain, NUMBER_COLUMNS_MAX));
                (number, bar(e.point))
            }
            None => ("–".into(), String::new()),
        };
        let number = padded(&number, NUMBER_COLUMNS_MAX);
        let line = format!("{name}  {number}  {bar}");
        let line = cut(line.trim_end(), width.saturating_sub(2));
        lines.push(format!(
            "{} {}",
            paint(style, mark),
            paint(if one.stands { BOLD } else { DIM }, &line)
        ));
        let doses = doses(one);
        if !doses.is_empty() {
            lines.push(paint(DIM, paragraph(&doses, "    ", "    ", width).trim_end()));
        }
    }
    lines
}

fn bar(e: f64) -> String {
    let filled = (e * BAR_COLUMNS as f64).round().clamp(0.0, 2.0 * BAR_COLUMNS as f64) as usize;
    "█".repeat(filled)
}

/// "26 % taken: ×1.34 [1.32, 1.36]; 51 % taken: …".
pub(crate) fn doses(one: &SqueezeResult) -> String {
    let mut said: Vec<String> = one.doses.iter().map(dose).collect();
    if one.linear == Some(false) {
        said.push("the stronger does not do what the weaker makes expect".into());
    }
    if one.cpu_subtracted && one.elasticity.is_some() {
        said.push("the elasticity is without the CPU time that its co-runners took".into());
    }
    if !one.remark.is_empty() {
        said.push(one.remark.clone());
    }
    said.join("; ")
}

fn dose(dose: &Dose) -> String {
    let taken = match &dose.taken {
        Some(taken) => format!("{} taken", joined(&parts(taken, Terms::Share))),
        None => words::cleaned(&dose.level),
    };
    let slower = dose.slower.as_ref().map(|slower| joined(&parts(slower, Terms::Times)));
    format!("{taken}: {}", slower.unwrap_or_else(|| "–".into()))
}

/// What the controls say.
pub(crate) fn control(why: &Why) -> impl Iterator<Item = String> {
    let ratio = |result: &Option<model::QuantityResult>| {
        let estimate = result.as_ref()?.estimate.as_ref()?;
        Some(joined(&parts(estimate, Terms::Times)))
    };
    let again = ratio(&why.again).map(|it| format!("control, the same again: {it}"));
    let beside =
        ratio(&why.beside).map(|it| format!("a busy CPU beside it that touches no memory: {it}"));
    [again, beside].into_iter().flatten()
}

/// What the kernel counted, in one line.
pub(crate) fn counted(why: &Why) -> Option<String> {
    let one = |count: &model::WhyCount| {
        format!("{} {}", count.label, format::value(count.estimate.point, &count.unit))
    };
    let all: Vec<String> = why.counted.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("counted with nothing taken: {}", all.join(", ")))
}
