//! At which rate a server breaks, for a terminal.

use super::{asked, rate, time};
use crate::format::{Parts, Terms, parts};
use crate::text::{BAD, BOLD, CARE, DIM, bounded, columns, cut, paint, paragraph};
use crate::words::{self, counted, short};
use model::{Knee, KneeBreak, KneeEnd, KneeRate, KneeRules, Unit};

/// Columns of a rate and of each number.
const COLUMN: usize = 14;

/// See [`crate::knee_terminal`].
pub(crate) fn text(knee: &Knee, width: usize) -> String {
    let width = bounded(width);
    let head = format!("{} {}", short(&knee.plan.method, 20), short(&knee.plan.url, 400));
    let mut out = format!("{}\n", paint(BOLD, &cut(&head, width)));
    let first = paragraph(&format!("first: {}", asked(&knee.plan)), "", "", width);
    out.push_str(&format!("{}\n\n", paint(DIM, first.trim_end())));
    let style = if knee.held_per_s.is_some() { BOLD } else { BAD };
    let told = paragraph(&answer(knee), "", "", width);
    out.push_str(&format!("{}\n", paint(style, told.trim_end())));
    out.push_str(&paragraph(&terms(knee), "", "", width));
    table(&mut out, knee, width);
    for doubt in &knee.doubts {
        let told = paragraph(&words::sentence(doubt, 600), "", "  ", width - 2);
        out.push_str(&format!("{} {told}", paint(CARE, "!")));
    }
    let told = paragraph(&ended(knee), "", "", width);
    out.push_str(&format!("{}\n", paint(DIM, told.trim_end())));
    out
}

/// The capacity, or what is known of it.
fn answer(knee: &Knee) -> String {
    if let Some(capacity) = &knee.capacity_per_s {
        let terms = Unit::Other(String::new());
        let Parts { point, interval } = parts(capacity, Terms::In(&terms));
        let level = format!("95 % interval over {}", counted(capacity.samples.into(), "block"));
        return format!("It bears {point} requests per second {interval} ({level}).");
    }
    match (knee.held_per_s, knee.broke_per_s) {
        (Some(held), Some(broke)) => format!(
            "It bears {} requests per second and not {}; there was no time for an interval.",
            rate(held),
            rate(broke)
        ),
        (Some(held), None) => {
            format!("It bears {} requests per second, the highest rate that was tried.", rate(held))
        }
        (None, Some(broke)) if knee.end != KneeEnd::NoAnswer => {
            format!("It does not bear {} requests per second, the lowest rate tried.", rate(broke))
        }
        _ => "Nothing was answered.".into(),
    }
}

/// What counts as bearing a rate.
fn terms(knee: &Knee) -> String {
    let Some(limit) = knee.limit_ns else {
        return "No limit could be formed: too little was answered at the lowest rate.".into();
    };
    let whence = match (knee.rules.limit_ns, knee.lowest_p95_ns, knee.rates.first()) {
        (None, Some(p95), Some(lowest)) => format!(
            " ({} times its {} at {} per second)",
            KneeRules::TIMES_LOWEST,
            time(p95),
            rate(lowest.per_s)
        ),
        _ => String::new(),
    };
    let broke = match knee.broke_by {
        Some(KneeBreak::ResponseTime) => " Beyond, the response time breaks first.",
        Some(KneeBreak::Throughput) => " Beyond, too few requests succeed.",
        None => "",
    };
    format!(
        "A rate is borne where p95 of the response time is within {}{whence} and 95 % of the requests \
         succeed.{broke}",
        time(limit)
    )
}

fn table(out: &mut String, knee: &Knee, width: usize) {
    let row = |cells: &[String], last: &str| {
        let cells: String = cells
            .iter()
            .map(|text| format!("{}{text}", " ".repeat(COLUMN.saturating_sub(columns(text)))))
            .collect();
        cut(&format!("{cells}  {last}"), width)
    };
    let heads = ["rate, /s", "succeeded, /s", "response p95", "trials held"].map(String::from);
    out.push_str(&format!("\n{}\n", paint(DIM, row(&heads, "").trim_end())));
    for one in &knee.rates {
        let cells = [
            rate(one.per_s),
            rate(one.throughput_per_s),
            one.p95_ns.map_or("unknown".into(), time),
            format!("{} of {}", one.held, one.trials),
        ];
        out.push_str(&format!("{}\n", row(&cells, why(one)).trim_end()));
    }
    out.push('\n');
}

fn why(rate: &KneeRate) -> &'static str {
    match rate.broke {
        None => "",
        Some(KneeBreak::ResponseTime) => "too slow",
        Some(KneeBreak::Throughput) => "too few succeed",
    }
}

fn ended(knee: &Knee) -> String {
    let trials = counted(knee.trials.len() as u64, "trial");
    let why = match knee.end {
        KneeEnd::Precise => "the interval is narrow enough",
        KneeEnd::Blocks => "all blocks are measured",
        KneeEnd::OutOfTime => "the time was over (--time-budget)",
        KneeEnd::Interrupted => "interrupted",
        KneeEnd::HighestHeld => "the highest rate held",
        KneeEnd::LowestBroke => "no lower rate makes sense",
        KneeEnd::NoAnswer => "nothing was answered",
    };
    format!("Ended after {trials}: {why}.")
}
