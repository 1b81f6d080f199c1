//! The highest rate that a server sustains.

use super::load::{alike, answer, begin, doubts, rate, time, time_or_unknown};
use crate::doc::{Block, Doc, Role, Table, Tone};
use model::{Knee, KneeBreak, KneeEnd, KneeRules, KneeStage, KneeTrial};
use wording::counted;
use wording::number::{Parts, Terms, duration_s, parts};

/// Fewer requests without an answer may have met a pause.
const STOPPED_DUE: u64 = 5;

/// Returns the highest rate that a server sustains, what defines it, and each rate that was tried.
pub fn knee(knee: &Knee) -> Doc<'static> {
    let lead = alike(&knee.plan);
    let mut doc = begin(&knee.scruple, "the capacity of a server", &knee.plan, &lead);
    let held = knee.held_per_s.filter(|_| stopped(knee).is_none());
    doc.push(answer(knee.capacity_per_s.is_some() || held.is_some(), capacity(knee)));
    doc.push(Block::paragraph(Role::Further, criterion(knee)));
    doc.blocks.extend(silent(knee));
    doc.blocks.extend(knee.slowed_ns.map(slowed));
    doc.blocks.extend(doubts(&knee.doubts));
    doc.push(Block::heading(2, "Trials, in requests per second"));
    doc.push(Block::Table(table(knee)));
    doc.push(Block::small(ended(knee)));
    doc
}

fn capacity(knee: &Knee) -> String {
    if let Some(capacity) = &knee.capacity_per_s {
        let trials = counted(capacity.samples.into(), "trial");
        let Parts { point, interval } = parts(capacity, Terms::Plain);
        return format!(
            "The server sustains {point} requests per second {interval} (95 % confidence interval over \
             {trials})."
        );
    }
    if let Some(stopped) = stopped(knee) {
        return stopped;
    }
    let roughly = knee.roughly_per_s.map(rate);
    match (knee.held_per_s.map(rate), knee.broke_per_s.map(rate), roughly) {
        (_, Some(_), Some(roughly)) if knee.end == KneeEnd::TooSlow => {
            format!("The server sustains about {roughly} requests per second. {}", needed(knee))
        }
        (Some(held), Some(broke), _) => format!(
            "The server sustains {held} requests per second and not {broke}. There was no time for a \
             confidence interval."
        ),
        (Some(held), None, _) => {
            format!("The server sustains {held} requests per second, the highest rate tried.")
        }
        (None, Some(broke), _) => format!(
            "The server does not sustain {broke} requests per second, and no lower rate was found that it does."
        ),
        (None, None, _) if knee.end == KneeEnd::LowestBroke => {
            "The server does not keep the limit even for one request at a time.".into()
        }
        _ if knee.limit_ns.is_some() => "There was no time to try a rate.".into(),
        _ => "No request was answered.".into(),
    }
}

/// Returns that the server may have stopped, if no request of the last trial succeeded.
fn silent(knee: &Knee) -> Option<Block<'static>> {
    let last = knee.trials.last()?;
    let is_silent = last.succeeded == 0 && last.due >= STOPPED_DUE && knee.trials.len() > 1;
    let text = "No request of the last trial succeeded: the server may have stopped.";
    (is_silent && stopped(knee).is_none()).then(|| Block::note(Tone::Care, text))
}

/// Returns that the server stopped, or refuses all: the last trial had no success at a rate below that of an earlier one.
fn stopped(knee: &Knee) -> Option<String> {
    let (last, before) = knee.trials.split_last()?;
    let succeeded =
        |trial: &KneeTrial| trial.succeeded as f64 * 1e9 / trial.elapsed_ns.max(1) as f64;
    let best = before.iter().map(succeeded).fold(0.0, f64::max);
    (last.succeeded == 0 && last.due >= STOPPED_DUE && best > last.per_s).then(|| {
        format!(
            "No request of the last trial, of {} per second, succeeded, where {} per second had before: the server \
             stopped, or refuses all. Nothing is said of its capacity.",
            rate(last.per_s),
            rate(best)
        )
    })
}

/// Returns that the server became slower.
fn slowed([first, last]: [u64; 2]) -> Block<'static> {
    let [first, last] = [first, last].map(|ns| time(ns as f64));
    let text = format!(
        "The server became slower during the search: one request at a time took {first} at first and {last} at \
         the end (medians). The capacity is that of neither."
    );
    Block::note(Tone::Care, text)
}

/// Returns how long an interval would take.
fn needed(knee: &Knee) -> String {
    let seconds = knee.needed_ns.map_or(0.0, |ns| (ns / 1e9).ceil());
    // The search before it comes on top.
    let all = duration_s((1.5 * seconds) as u64);
    format!("A confidence interval takes about {all}: set --time-budget.")
}

/// Returns what it means to sustain a rate, and what fails first above the capacity.
fn criterion(knee: &Knee) -> String {
    let Some(limit) = knee.limit_ns.map(time) else {
        return "No limit could be set: too few requests were answered one at a time.".into();
    };
    let source = match (knee.rules.limit_ns, knee.alone_p95_ns.map(time)) {
        (None, Some(p95)) => {
            format!(" ({} times the {p95} of one request at a time)", KneeRules::TIMES_ALONE)
        }
        _ => String::new(),
    };
    let broke = match knee.broke_by {
        Some(KneeBreak::ResponseTime) => " At higher rates the response time is the first to fail.",
        Some(KneeBreak::Throughput) => " At higher rates too few requests succeed.",
        None => "",
    };
    format!(
        "A rate is sustained if 95 % of the requests succeed within {limit}{source}, with the queue in \
         its steady state.{broke}"
    )
}

fn table(knee: &Knee) -> Table {
    let heads = ["trial", "#rate", "#succeeded", "#response p95", "#late or failed"];
    Table::of(&heads).rows(knee.trials.iter().map(row))
}

fn row(trial: &KneeTrial) -> [String; 5] {
    let stage = match trial.stage {
        KneeStage::Alone => "one at a time",
        KneeStage::Search => "search",
        KneeStage::Measure => "measurement",
    };
    let succeeded = trial.succeeded as f64 * 1e9 / trial.elapsed_ns.max(1) as f64;
    let late = trial.late_part().filter(|_| trial.stage != KneeStage::Alone);
    let late = late.map_or("–".into(), |part| format!("{:.1} %", 100.0 * part));
    let p95 = time_or_unknown(trial.p95_ns.map(|ns| ns as f64));
    [stage.into(), rate(trial.per_s), rate(succeeded), p95, late]
}

fn ended(knee: &Knee) -> String {
    let why = match knee.end {
        KneeEnd::Precise => "the interval is narrow enough",
        KneeEnd::OutOfTime => "the time was over (--time-budget)",
        KneeEnd::TooSlow => "an interval takes longer than there is time (--time-budget)",
        KneeEnd::Interrupted => "interrupted",
        KneeEnd::HighestHeld => "the highest rate was sustained",
        KneeEnd::LowestBroke => "no lower rate makes sense",
        KneeEnd::NoAnswer => "no request was answered",
    };
    format!("Ended after {}: {why}.", counted(knee.trials.len() as u64, "trial"))
}
