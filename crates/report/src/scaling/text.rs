//! The answer for a terminal: sentences, the curve, the accounts, the laws.

use super::{PARTS, meaning};
use crate::format::{Terms, joined, parts, rounded};
use crate::text::{BOLD, CARE, DIM, bounded, cut, paint, paragraph};
use crate::words::{capital, short};
use analysis::scaling::{cause_words, loss_words};
use model::{Estimate, Grade, ScaleAccount, ScaleFit, ScaleLoss, Scaling};

/// The columns of a level's number and of a number with its interval.
const NAME: usize = 8;
const NUMBER: usize = 24;

/// See [`crate::scaling_text`].
pub(crate) fn text(scaling: &Scaling, width: usize) -> String {
    let width = bounded(width);
    let mut out = String::new();
    let source = short(&scaling.source, 400);
    out.push_str(&paint(BOLD, paragraph(&source, "", "  ", width).trim_end()));
    out.push('\n');
    for (index, sentence) in scaling.answer.iter().enumerate() {
        let told = paragraph(&short(sentence, 1000), "  ", "  ", width);
        out.push_str(&if index == 0 {
            format!("{}\n", paint(BOLD, told.trim_end()))
        } else {
            told
        });
    }
    section(&mut out, "What to do");
    for sentence in &scaling.advice.sentences {
        out.push_str(&paragraph(sentence, "  ", "    ", width));
    }
    curve(&mut out, scaling, width);
    accounts(&mut out, scaling, width);
    causes(&mut out, scaling, width);
    laws(&mut out, scaling, width);
    for remark in &scaling.remarks {
        out.push_str(&paint(CARE, "! "));
        out.push_str(&paragraph(remark, "", "  ", width - 2));
    }
    out
}

fn section(out: &mut String, title: &str) {
    out.push_str(&format!("\n{}\n", paint(BOLD, title)));
}

/// Throughput over n: a mark with its interval for each, and the fitted curve.
fn curve(out: &mut String, scaling: &Scaling, width: usize) {
    let tops = scaling.levels.iter().filter_map(|level| Some(level.throughput?.high));
    let top = tops.fold(0.0, f64::max);
    if top <= 0.0 || !top.is_finite() {
        return;
    }
    let unit = short(&scaling.work.unit, 24);
    section(
        out,
        &format!("Throughput over n, in {unit} (o trials with interval, x the fitted curve)"),
    );
    let room = width.saturating_sub(NAME + NUMBER + 2).max(10);
    let place = |x: f64| ((x / top).clamp(0.0, 1.0) * (room - 1) as f64).round() as usize;
    let mut crossed = scaling.cpus.is_none();
    for level in &scaling.levels {
        if !crossed && scaling.cpus.is_some_and(|cpus| level.n > f64::from(cpus)) {
            let rule = format!("{:-^1$}", " more workers than CPUs ", NAME + NUMBER + room);
            out.push_str(&format!("  {}\n", paint(DIM, &cut(&rule, width - 2))));
            crossed = true;
        }
        let Some(estimate) = level.throughput else { continue };
        let mut row = vec![' '; room];
        row[place(estimate.low)..=place(estimate.high)].fill('-');
        let fitted = scaling.throughput.curve.iter().find(|drawn| drawn.n == level.n);
        if let Some(fitted) = fitted {
            row[place(fitted.point)] = 'x';
        }
        row[place(estimate.point)] = 'o';
        let row: String = row.into_iter().collect();
        let told = estimate_text(&estimate);
        out.push_str(&format!("  {:<NAME$}{told:<NUMBER$}{}\n", name(level.n), row.trim_end()));
    }
}

fn name(n: f64) -> String {
    format!("n {n}")
}

fn estimate_text(estimate: &Estimate) -> String {
    joined(&parts(estimate, Terms::Plain))
}

/// Where the time of the workers went: a bar of letters for each n.
fn accounts(out: &mut String, scaling: &Scaling, width: usize) {
    let known: Vec<(f64, &ScaleAccount)> = scaling
        .levels
        .iter()
        .filter_map(|level| Some((level.n, level.account.as_ref()?)))
        .collect();
    if known.is_empty() {
        return;
    }
    section(out, "Where the time of n workers went");
    let room = width.saturating_sub(NAME + 12).clamp(10, 60);
    for (n, account) in &known {
        let told = format!("= {}", rounded(account.explained, Terms::Share));
        let bar = paint(CARE, &bar(account, room));
        out.push_str(&format!("  {:<NAME$}{bar} {told}\n", name(*n)));
    }
    for (into, letter) in PARTS {
        let share = |account: &ScaleAccount| {
            account.parts.iter().find(|part| part.into == into).map(|part| part.share)
        };
        let shares: Vec<(f64, Estimate)> =
            known.iter().filter_map(|(n, account)| Some((*n, share(account)?))).collect();
        // A part that is nothing anywhere needs no line.
        if !shares.iter().any(|(_, share)| share.point.abs() >= 0.005) {
            continue;
        }
        let told: Vec<String> = shares
            .iter()
            .map(|(n, share)| format!("n {n}: {}", joined(&parts(share, Terms::Share))))
            .collect();
        let line = format!("{}: {}. {}", loss_words(into), told.join("; "), capital(meaning(into)));
        out.push_str(&paragraph(&line, &format!("  {letter} "), "    ", width));
    }
}

/// A bar whose letters are shares of the whole; what is left over is dots.
fn bar(account: &ScaleAccount, room: usize) -> String {
    let mut bar = String::new();
    let mut end = 0.0;
    for (into, letter) in PARTS {
        let part = account.parts.iter().find(|part| part.into == into);
        end += part.map_or(0.0, |part| part.share.point.max(0.0));
        let until = ((end * room as f64).round() as usize).min(room);
        while bar.len() < until {
            bar.push(letter);
        }
    }
    format!("{bar:.<room$}")
}

fn causes(out: &mut String, scaling: &Scaling, width: usize) {
    section(out, "Why it does not scale further");
    for cause in &scaling.causes {
        let grade = match cause.grade {
            Grade::Timing => "timing only",
            Grade::Software => "software counters",
            Grade::Pmu => "the processor's counters",
        };
        let head = format!("{} (evidence: {grade})", capital(cause_words(cause.cause)));
        out.push_str(&format!("  {}\n", paint(BOLD, &head)));
        for evidence in &cause.evidence {
            out.push_str(&paragraph(evidence, "    - ", "      ", width));
        }
    }
}

fn laws(out: &mut String, scaling: &Scaling, width: usize) {
    let curves = [("Laws fitted to throughput", Some(&scaling.throughput))];
    let cpu = [("Laws fitted to work per CPU second", scaling.cpu_throughput.as_ref())];
    for (title, curve) in curves.into_iter().chain(cpu) {
        let Some(curve) = curve.filter(|curve| !curve.fits.is_empty()) else { continue };
        section(out, title);
        for fit in &curve.fits {
            let chosen = curve.chosen.as_ref() == Some(&fit.law);
            let line = law(fit);
            let mark = if chosen { "> " } else { "  " };
            let told = paragraph(&line, mark, "    ", width);
            let told = told.trim_end();
            out.push_str(&if chosen { paint(BOLD, told) } else { paint(DIM, told) });
            out.push('\n');
        }
        out.push_str(&paragraph(&format!("Chosen: {}.", curve.reason), "  ", "    ", width));
        out.push_str(&paragraph(
            &format!("{}.", capital(&curve.peak.sentence)),
            "  ",
            "    ",
            width,
        ));
    }
}

fn law(fit: &ScaleFit) -> String {
    if !fit.missing.is_empty() {
        return format!("{}: {}", fit.law, fit.missing);
    }
    let numbers: Vec<String> = fit
        .coefficients
        .iter()
        .map(|one| format!("{} {}", one.symbol, joined(&parts(&coefficient(one), Terms::Plain))))
        .collect();
    let mut told = format!("{}: {}", fit.law, numbers.join(", "));
    if let Some(aicc) = fit.aicc {
        told.push_str(&format!("; AICc {aicc:.1}").replace('-', "−"));
    }
    match fit.lack_of_fit_p {
        Some(p) if fit.refuted => told.push_str(&format!("; refuted (p {})", probability(p))),
        Some(p) => told.push_str(&format!("; fits (p {})", probability(p))),
        None => {}
    }
    told
}

pub(super) fn probability(p: f64) -> String {
    if p < 0.001 { "below 0.001".into() } else { format!("{p:.3}") }
}

/// A coefficient as an estimate, to be written like any other.
pub(super) fn coefficient(one: &model::ScaleCoefficient) -> Estimate {
    let (point, low, high) = (one.value, one.low, one.high);
    Estimate { point, low, high, standard_error: None, level: 0.95, samples: 0 }
}

/// The rest of an account, for its row in a table.
pub(super) fn rest(account: &ScaleAccount) -> Option<Estimate> {
    account.parts.iter().find(|part| part.into == ScaleLoss::Rest).map(|part| part.share)
}
