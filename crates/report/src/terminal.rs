//! The final summary of `scruple run`: it fits a screen.

mod brief;
mod charts;
pub(crate) mod comparison;
mod inventory;

pub(crate) use charts::charts;

use crate::Session;
use crate::evidence::{self, FLOOR_MEANING};
use crate::format::{self, Terms};
use crate::missing::{self, Measured, Missing};
use crate::text::{
    self, BAD, BOLD, CARE, DIM, GOOD, bounded, columns, cut, padded, paint, wrapped,
};
use crate::trust::{Alarm, alarm, control_sentence, floor_sentence};
use crate::words::{self, counted};
use anstyle::Style;
use model::{
    ClaimResult, Design, ExperimentSummary, FindingResult, Profile, QuantityResult, Record, Unit,
    Verdict,
};

/// Columns that a claim's number may take before the rest of it is cut.
const NUMBER_COLUMNS_MAX: usize = 22;

/// What stands for a number where there is none; its reason may be longer or shorter.
const MISSING: &str = "not measured";

/// How much is said of the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Every claim in full, with its floor and its grade.
    Full,
    /// Every claim in full.
    Whole,
    /// Every claim in one line.
    Cut,
    /// Refuted claims in one line each, the others by name: what contradicts people comes first.
    Refuted,
}

/// The most lines of an answer: no honest one needs as many.
const ANSWER_LINES_MAX: usize = 6;

/// The most warnings printed where the summary is to fit a screen, and the most lines of one.
const WARNINGS_MAX: usize = 4;
const WARNING_LINES_MAX: usize = 2;

/// The same where answers would be cut for them.
const BRIEF_WARNINGS_MAX: usize = 2;

/// Columns of "✗ inconclusive" with the space after it.
const VERDICT_COLUMNS: usize = 16;

/// The fewest columns in which a claim can be told from another.
const TEXT_COLUMNS_MIN: usize = 32;

/// See [`crate::terminal`].
pub(crate) fn terminal(session: &Session<'_>, width: usize, height: Option<usize>) -> String {
    let width = bounded(width);
    let Some(height) = height else {
        let columns = Columns::over(session, width, Detail::Full);
        return laid_out(&blocks(session, &columns, width), 1);
    };
    let said = |detail| blocks(session, &Columns::over(session, width, detail), width);
    let fits = |blocks: &[Vec<String>], blank: usize| {
        let lines = blocks.iter().map(Vec::len).sum::<usize>() + blank * blocks.len();
        lines <= height
    };
    let steps = [
        (Detail::Whole, 1),
        (Detail::Cut, 1),
        (Detail::Cut, 0),
        (Detail::Refuted, 1),
        (Detail::Refuted, 0),
    ];
    let fitting = steps.into_iter().map(|(detail, blank)| (said(detail), blank));
    let (blocks, blank) = fitting
        .into_iter()
        .find(|(blocks, blank)| fits(blocks, *blank))
        .unwrap_or_else(|| self::brief(session, width, height));
    laid_out(&blocks, blank)
}

/// The briefest that tells of every experiment, and how many blank lines stand between its blocks.
/// Answers come first: for those that would be cut, blank lines go, then what the harness cost and
/// all but the worst warnings.
fn brief(session: &Session<'_>, width: usize, height: usize) -> (Vec<Vec<String>>, usize) {
    let (head, claims) = (header(session, width), brief::claims(session, width));
    let steps = [(1, WARNINGS_MAX, true), (0, WARNINGS_MAX, true), (0, BRIEF_WARNINGS_MAX, false)];
    let steps = steps.map(|(blank, warnings, harness)| {
        let trust = trust_lines(session, width, warnings, harness);
        let around = [&head, &claims, &trust];
        let blocks = 1 + around.iter().filter(|lines| !lines.is_empty()).count();
        let taken = around.iter().map(|lines| lines.len()).sum::<usize>() + blank * blocks;
        let told = brief::experiments(session, height.saturating_sub(taken), width);
        let fits = taken + told.lines.len() <= height;
        (told, trust, blank, fits)
    });
    let best = steps.iter().position(|(told, _, _, fits)| told.cut == 0 && *fits);
    let chosen = steps.into_iter().nth(best.unwrap_or(2));
    let (experiments, trust, blank) =
        chosen.map_or_else(Default::default, |(told, trust, blank, _)| (told.lines, trust, blank));
    let blocks = [head, experiments, claims, trust].into_iter();
    (blocks.filter(|lines| !lines.is_empty()).collect(), blank)
}

fn laid_out(blocks: &[Vec<String>], blank: usize) -> String {
    let blocks: Vec<String> = blocks.iter().map(|lines| lines.join("\n")).collect();
    blocks.join(if blank == 0 { "\n" } else { "\n\n" }) + "\n"
}

fn blocks(session: &Session<'_>, columns: &Columns, width: usize) -> Vec<Vec<String>> {
    let full = columns.detail == Detail::Full;
    let mut blocks = vec![header(session, width)];
    let experiments = session.experiments();
    blocks.extend(experiments.map(|experiment| {
        let own = Own::of(session, experiment);
        let mut lines = experiment_lines(&own, columns, width);
        if full {
            lines.extend(inventory::whole(&own, width));
        } else if columns.detail != Detail::Refuted {
            lines.extend(inventory::pointer(&own, width));
        }
        lines
    }));
    let most = if full { usize::MAX } else { WARNINGS_MAX };
    blocks.push(trust_lines(session, width, most, true));
    blocks
}

fn header(session: &Session<'_>, width: usize) -> Vec<String> {
    let manifest = session.manifest;
    let environment = &manifest.environment;
    let text = format!(
        "{} · profile {} · {} · {}, Linux {}",
        manifest.session,
        manifest.options.profile.name(),
        counted(session.summary.harness.trials, "trial"),
        counted(environment.cpus_allowed.len() as u64, "CPU"),
        environment.kernel
    );
    let mut lines = vec![paint(DIM, &cut(&text, width))];
    lines.extend(alarm_lines(session, width));
    if !session.summary.complete {
        lines.push(paint(CARE, "! not complete: some planned trials have no record"));
    }
    lines
}

/// That this machine told identical things apart, or that nobody knows whether it does: before
/// anything else.
fn alarm_lines(session: &Session<'_>, width: usize) -> Vec<String> {
    let Some(alarm) = alarm(session) else {
        return Vec::new();
    };
    let (style, text) = match &alarm {
        Alarm::Differs { what, so } => (BAD, format!("✗ {so} {what}")),
        Alarm::NotKnown => (CARE, format!("? {}", alarm.text())),
    };
    let lines = wrapped(&text, width.saturating_sub(2));
    let indented = lines.iter().enumerate().map(|(index, line)| match index {
        0 => line.clone(),
        _ => format!("  {line}"),
    });
    indented.map(|line| paint(style, &line)).collect()
}

/// An experiment with its trials.
struct Own<'a> {
    summary: &'a ExperimentSummary,
    design: Option<&'a Design>,
    records: Vec<&'a Record>,
    /// Those that tell what became of each treatment: [`missing::witnesses`].
    witnesses: Vec<&'a Record>,
    profile: Profile,
    /// What is said once of all claims: [`evidence::raises_most`].
    raises_most: Option<&'a str>,
}

impl<'a> Own<'a> {
    fn of(session: &Session<'a>, summary: &'a ExperimentSummary) -> Self {
        let records = session.records_of(&summary.id);
        Own {
            summary,
            design: session.design(&summary.id),
            witnesses: missing::witnesses(&records),
            records,
            profile: session.manifest.options.profile,
            raises_most: evidence::raises_most(session),
        }
    }

    fn measured(&self) -> Option<Measured<'_>> {
        let design = self.design?;
        Some(Measured { design, records: &self.witnesses, profile: self.profile })
    }

    fn missing(&self, result: &QuantityResult) -> Missing {
        missing::of_quantity(self.measured(), &result.quantity, &result.remark)
    }
}

fn experiment_lines(own: &Own<'_>, columns: &Columns, width: usize) -> Vec<String> {
    let experiment = own.summary;
    let room = width.saturating_sub(text::columns(&experiment.id) + 2);
    let question = cut(&experiment.question, room);
    let mut lines =
        vec![format!("{}  {}", paint(BOLD, &question), paint(DIM, &cut(&experiment.id, width)))];
    if let Some(finding) = experiment.findings.first() {
        lines.extend(answer_lines(own, finding, width));
        if columns.detail == Detail::Full {
            lines.extend(worth_lines(own, &finding.result, None, 2, width));
        }
    }
    let alone = |claim: &&ClaimResult| {
        columns.detail != Detail::Refuted || claim.verdict == Verdict::Refuted
    };
    let claims = experiment.claims.iter().filter(alone);
    lines.extend(claims.flat_map(|claim| claim_lines(own, claim, columns, width)));
    if columns.detail == Detail::Refuted {
        lines.extend(named_lines(experiment, Verdict::Supported, width));
        lines.extend(named_lines(experiment, Verdict::Inconclusive, width));
    }
    lines
}

/// The claims of one verdict, by name.
fn named_lines(experiment: &ExperimentSummary, verdict: Verdict, width: usize) -> Vec<String> {
    let names: Vec<&str> = experiment
        .claims
        .iter()
        .filter(|claim| claim.verdict == verdict)
        .map(|claim| claim.id.as_str())
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let mark = format!("{} {}", words::mark(verdict), words::verdict(verdict));
    let room = width.saturating_sub(2 + VERDICT_COLUMNS);
    let mut lines = Vec::new();
    for (index, line) in wrapped(&names.join(", "), room).iter().enumerate() {
        let mark = if index == 0 { mark.as_str() } else { "" };
        lines.push(format!("  {}{line}", paint(style(verdict), &padded(mark, VERDICT_COLUMNS))));
    }
    lines
}

fn answer_lines(own: &Own<'_>, finding: &FindingResult, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(2);
    if finding.result.estimate.is_none() {
        let lines = wrapped(&cut(&answer_sentence(own, finding), ANSWER_LINES_MAX * inner), inner);
        return lines.iter().map(|line| format!("  {}", paint(CARE, line))).collect();
    }
    let sentence = answer_sentence(own, finding);
    wrapped(&cut(&sentence, ANSWER_LINES_MAX * inner), inner)
        .iter()
        .map(|line| format!("  {line}"))
        .collect()
}

/// A finding as a sentence, or why there is none.
fn answer_sentence(own: &Own<'_>, finding: &FindingResult) -> String {
    if finding.result.estimate.is_none() {
        return format!("No answer, {}", own.missing(&finding.result).whole());
    }
    let mut sentence = format::sentence(&finding.sentence, &finding.result);
    if let Some(rest) = format::rest(&finding.result) {
        sentence.push_str(&format!(" {rest}"));
    }
    if finding.result.of_means.is_some() {
        sentence.push_str(&format!(" {}.", words::capital(&finding.result.remark)));
    }
    sentence
}

/// How wide the columns of verdicts are, over the whole session.
struct Columns {
    number: usize,
    /// What is left for the claim itself; 0 where it gets a line of its own.
    text: usize,
    detail: Detail,
}

impl Columns {
    fn over(session: &Session<'_>, width: usize, detail: Detail) -> Columns {
        let claims = session.experiments().flat_map(|experiment| &experiment.claims);
        let number = claims.map(|claim| columns(&number(claim))).max().unwrap_or(0);
        let number = number.min(NUMBER_COLUMNS_MAX);
        let text = width.saturating_sub(2 + VERDICT_COLUMNS + number + 2);
        Columns { number, text: if text < TEXT_COLUMNS_MIN { 0 } else { text }, detail }
    }
}

/// The number with its interval; with fewer digits where all would take too much room. The counts
/// behind a frequency stand in the report alone.
fn number(claim: &ClaimResult) -> String {
    let Some(estimate) = &claim.result.estimate else {
        return MISSING.into();
    };
    let whole = format::result_parts(&claim.result).map_or(MISSING.into(), |p| format::joined(&p));
    let brief = |text: &str| {
        text.replace("at most ", "≤ ").replace("at least ", "≥ ").replace("per million", "ppm")
    };
    let whole = brief(&whole);
    if columns(&whole) <= NUMBER_COLUMNS_MAX || !whole.contains('[') {
        return whole;
    }
    let terms = format::terms(&claim.result);
    brief(&format::joined(&format::parts_within(estimate, terms, NUMBER_COLUMNS_MAX)))
}

fn claim_lines(own: &Own<'_>, claim: &ClaimResult, columns: &Columns, width: usize) -> Vec<String> {
    let verdict = format!("{} {}", words::mark(claim.verdict), words::verdict(claim.verdict));
    let verdict = paint(style(claim.verdict), &padded(&verdict, VERDICT_COLUMNS));
    let missing = claim.result.estimate.is_none().then(|| own.missing(&claim.result));
    let number = missing.as_ref().map_or_else(|| number(claim), |missing| missing.word.clone());
    let whole = matches!(columns.detail, Detail::Full | Detail::Whole);
    let means = claim.result.of_means.map(|_| claim.result.remark.clone());
    let why = missing.map(|missing| missing.why).or(means).filter(|_| whole);
    let full = Some(claim).filter(|_| columns.detail == Detail::Full);
    let worth = |indent| full.map(|c| worth_lines(own, &c.result, Some(c), indent, width));
    if columns.text == 0 {
        let inner = width.saturating_sub(4);
        let text = format!("{} ({})", claim.text, claim.source);
        let number = cut(&number, width.saturating_sub(2 + VERDICT_COLUMNS));
        let mut lines = vec![format!("  {verdict}{number}")];
        lines.extend(wrapped(&text, inner).iter().map(|line| format!("    {line}")));
        let why = why.map(|why| wrapped(&cut(&why, 2 * inner), inner)).unwrap_or_default();
        lines.extend(why.iter().map(|line| paint(DIM, &format!("    {line}"))));
        lines.extend(worth(4).unwrap_or_default());
        return lines;
    }
    let text = match columns.detail {
        Detail::Full | Detail::Whole => format!("{} ({})", claim.text, claim.source),
        _ => {
            // Who says it is part of the line; it is the claim that is cut.
            let source = cut(&claim.source, columns.text * 2 / 5);
            let room = columns.text.saturating_sub(text::columns(&source) + 3);
            format!("{} ({source})", cut(&claim.text, room))
        }
    };
    let number = padded(&cut(&number, columns.number), columns.number);
    let indent = 2 + VERDICT_COLUMNS + columns.number + 2;
    let mut lines = Vec::new();
    for (index, line) in wrapped(&text, columns.text).iter().enumerate() {
        lines.push(match index {
            0 => format!("  {verdict}{number}  {line}"),
            _ => format!("{}{line}", " ".repeat(indent)),
        });
    }
    let why = why.map(|why| cut(&why, 4 * columns.text));
    for line in why.map(|why| wrapped(&why, columns.text)).unwrap_or_default() {
        lines.push(format!("{}{}", " ".repeat(indent), paint(DIM, &line)));
    }
    lines.extend(worth(indent).unwrap_or_default());
    lines
}

/// What a number is worth: its floors, what it is without tagged trials, and, where a verdict
/// rests on it, what kind of evidence it is.
fn worth_lines(
    own: &Own<'_>,
    result: &QuantityResult,
    claim: Option<&ClaimResult>,
    indent: usize,
    width: usize,
) -> Vec<String> {
    if result.estimate.is_none() {
        return Vec::new();
    }
    let grade = claim.map(|claim| {
        let (mark, word) = (evidence::grade_mark(claim.grade), evidence::grade(claim.grade));
        match evidence::raise(claim, own.raises_most) {
            None => format!("evidence {mark} {word}"),
            Some(raise) => format!("evidence {mark} {word} (higher with: {})", cut(raise, 200)),
        }
    });
    let parts = [evidence::floors(result), evidence::moved_by_tags(result), grade];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let lines = wrapped(&words::capital(&text), width.saturating_sub(indent));
    lines.iter().map(|line| format!("{}{}", " ".repeat(indent), paint(DIM, line))).collect()
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Supported => GOOD,
        Verdict::Refuted => BAD,
        Verdict::Inconclusive => CARE,
    }
}

/// Controls, floor, what the harness cost where that is wanted, and at most so many warnings.
fn trust_lines(session: &Session<'_>, width: usize, most: usize, harness: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let floor = floor_sentence(session);
    // What is said at the top is not said again.
    let (mark, mut text) = match alarm(session) {
        Some(_) => (" ", floor),
        None => ("✓", format!("{} {floor}", control_sentence(session))),
    };
    if most == usize::MAX {
        text = format!("{text} {FLOOR_MEANING}");
        if session.experiments().any(|experiment| !experiment.claims.is_empty()) {
            let grades = evidence::grade_meaning(evidence::raises_most(session));
            text = format!("{text} {grades}");
        }
    }
    for (index, line) in wrapped(&text, width.saturating_sub(2)).iter().enumerate() {
        let mark = if index == 0 { mark } else { " " };
        lines.push(format!("{} {line}", paint(GOOD, mark)));
    }
    if let Some(text) = harness_sentence(session).filter(|_| harness) {
        lines
            .extend(wrapped(&text, width.saturating_sub(2)).iter().map(|line| format!("  {line}")));
    }
    let warnings = warnings(session);
    for warning in warnings.iter().take(most) {
        let text = cut(warning, WARNING_LINES_MAX * (width - 2));
        for (index, line) in wrapped(&text, width - 2).iter().enumerate() {
            let mark = if index == 0 { "! " } else { "  " };
            lines.push(paint(CARE, &format!("{mark}{line}")));
        }
    }
    if warnings.len() > most {
        let more = counted((warnings.len() - most) as u64, "more warning");
        lines.push(paint(CARE, &format!("! {more} in the report")));
    }
    lines
}

/// The warnings of the session and of all experiments, the worst first; one that several share is
/// said once.
fn warnings(session: &Session<'_>) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<&ExperimentSummary>)> = Vec::new();
    for experiment in session.experiments() {
        for warning in &experiment.warnings {
            match shared.iter_mut().find(|(known, _)| known == warning) {
                Some((_, experiments)) => experiments.push(experiment),
                None => shared.push((warning, vec![experiment])),
            }
        }
    }
    let recognised = &session.summary.meter.recognised;
    shared.extend(recognised.iter().map(|text| (text.as_str(), Vec::new())));
    // What was recognised of the machine weighs as much as what disturbed one experiment.
    shared.sort_by_key(|(warning, own)| own.first().map_or(1, |e| rank(e, warning)));
    let all = session.experiments().count();
    let said = shared.into_iter().map(|(warning, experiments)| match experiments.len() {
        0 => words::capital(warning),
        many if many > 2 && many == all => format!("all experiments: {warning}"),
        many if many > 4 => format!("{many} experiments: {warning}"),
        _ => {
            let names: Vec<&str> = experiments.iter().map(|e| e.id.as_str()).collect();
            format!("{}: {warning}", names.join(", "))
        }
    });
    said.collect()
}

/// How grave a warning is: 0 casts doubt on what was measured, 1 on how well, 2 says what is not
/// there.
fn rank(experiment: &ExperimentSummary, warning: &str) -> u8 {
    let mut checks = experiment.failed_checks.iter();
    let ends = |kind: fn(&str) -> bool| {
        let mut outcomes = experiment.outcomes.iter().filter(move |o| kind(&o.outcome));
        outcomes.any(|o| !o.reason.is_empty() && warning.ends_with(&format!(": {}", o.reason)))
    };
    if checks.any(|(name, _)| warning.starts_with(&format!("check \"{name}\"")))
        || ends(|kind| !["completed", "unsupported"].contains(&kind))
    {
        return 0;
    }
    if ends(|kind| kind == "unsupported") { 2 } else { 1 }
}

/// What the instrument cost, in a sentence.
pub(crate) fn harness_sentence(session: &Session<'_>) -> Option<String> {
    let harness = &session.summary.harness;
    let mut parts = Vec::new();
    if let Some(ns) = harness.spawn_to_ready_ns {
        parts.push(format!("{} from start to Ready", format::value(ns as f64, &Unit::Ns)));
    }
    if let Some(ns) = harness.outside_ns {
        let ns = format::value(ns as f64, &Unit::Ns);
        parts.push(format!("{ns} outside the timed region"));
    }
    if let Some(share) = harness.runner_cpu_share {
        let share = format::rounded(share, Terms::Share);
        parts.push(format!("{share} of one CPU while a trial measures"));
    }
    if parts.is_empty() {
        return None;
    }
    Some(format!("The harness itself cost, per trial (median): {}.", parts.join(", ")))
}
