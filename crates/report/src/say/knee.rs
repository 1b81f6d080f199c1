//! The highest rate that a server sustains.

use super::load::{answer, asked, begin, doubts, rate, time, time_or_unknown};
use crate::doc::{Block, Doc, Role, Table};
use model::{Knee, KneeBreak, KneeEnd, KneeRules};
use wording::counted;
use wording::number::{Parts, Terms, parts};

/// Returns the highest rate that a server sustains, what defines it, and each rate that was tried.
pub fn knee(knee: &Knee) -> Doc<'static> {
    let first = format!("first load: {}", asked(&knee.plan));
    let mut doc = begin(&knee.scruple, "the capacity of a server", &knee.plan, &first);
    doc.push(answer(knee.held_per_s.is_some(), capacity(knee)));
    doc.push(Block::paragraph(Role::Further, criterion(knee)));
    doc.blocks.extend(doubts(&knee.doubts));
    doc.push(Block::heading(2, "Rates tried, in requests per second"));
    doc.push(Block::Table(table(knee)));
    doc.push(Block::small(ended(knee)));
    doc
}

fn capacity(knee: &Knee) -> String {
    if let Some(capacity) = &knee.capacity_per_s {
        let blocks = counted(capacity.samples.into(), "block");
        let Parts { point, interval } = parts(capacity, Terms::Plain);
        return format!(
            "The server sustains {point} requests per second {interval} (95 % confidence interval \
             over {blocks})."
        );
    }
    match (knee.held_per_s.map(rate), knee.broke_per_s.map(rate)) {
        (Some(held), Some(broke)) => format!(
            "The server sustains {held} requests per second and not {broke}. There was no time for a \
             confidence interval."
        ),
        (Some(held), None) => {
            format!("The server sustains {held} requests per second, the highest rate tried.")
        }
        (None, Some(broke)) if knee.end != KneeEnd::NoAnswer => format!(
            "The server does not sustain {broke} requests per second, the lowest rate tried."
        ),
        _ => "No request was answered.".into(),
    }
}

/// Returns what it means to sustain a rate, and what fails first above the capacity.
fn criterion(knee: &Knee) -> String {
    let Some(limit) = knee.limit_ns.map(time) else {
        return "No limit could be set: too few requests were answered at the lowest rate.".into();
    };
    let source = match (knee.rules.limit_ns, knee.lowest_p95_ns.map(time), knee.rates.first()) {
        (None, Some(p95), Some(lowest)) => {
            let (times, per_s) = (KneeRules::TIMES_LOWEST, rate(lowest.per_s));
            format!(" ({times} times its {p95} at {per_s} requests per second)")
        }
        _ => String::new(),
    };
    let broke = match knee.broke_by {
        Some(KneeBreak::ResponseTime) => " At higher rates the response time is the first to fail.",
        Some(KneeBreak::Throughput) => " At higher rates too few requests succeed.",
        None => "",
    };
    format!(
        "A rate is sustained if p95 of the response time is within {limit}{source} and 95 % of the \
         requests succeed.{broke}"
    )
}

fn table(knee: &Knee) -> Table {
    let rows = knee.rates.iter().map(|tried| {
        let (per_s, succeeded) = (rate(tried.per_s), rate(tried.throughput_per_s));
        let passed = format!("{} of {}", tried.held, tried.trials);
        let why = match tried.broke {
            None => "",
            Some(KneeBreak::ResponseTime) => "too slow",
            Some(KneeBreak::Throughput) => "too few succeed",
        };
        [per_s, succeeded, time_or_unknown(tried.p95_ns), passed, why.into()]
    });
    let heads = ["#rate", "#succeeded", "#response p95", "#trials passed", "failed because"];
    Table::of(&heads).rows(rows)
}

fn ended(knee: &Knee) -> String {
    let why = match knee.end {
        KneeEnd::Precise => "the interval is narrow enough",
        KneeEnd::Blocks => "all blocks are measured",
        KneeEnd::OutOfTime => "the time was over (--time-budget)",
        KneeEnd::Interrupted => "interrupted",
        KneeEnd::HighestHeld => "the highest rate passed",
        KneeEnd::LowestBroke => "no lower rate makes sense",
        KneeEnd::NoAnswer => "no request was answered",
    };
    format!("Ended after {}: {why}.", counted(knee.trials.len() as u64, "trial"))
}
