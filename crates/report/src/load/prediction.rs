//! A server's answers beside a simulated server's, for a terminal.

use super::{rate, time};
use crate::text::{BOLD, CARE, DIM, bounded, columns, cut, paint, paragraph};
use crate::words::{self, counted, short};
use model::{LoadPrediction, PredictedLoad, PredictedTime, ServerDemand, ServerKind, ServerLimit};

/// Columns of each number.
const COLUMN: usize = 13;

/// See [`crate::prediction_terminal`].
pub(crate) fn text(told: &LoadPrediction, width: usize) -> String {
    let width = bounded(width);
    let head = format!("{} {}", short(&told.plan.method, 20), short(&told.plan.url, 400));
    let mut out = format!("{}\n", paint(BOLD, &cut(&head, width)));
    let taken = format!("taken for {}", kind(told.server));
    out.push_str(&format!("{}\n\n", paint(DIM, &cut(&taken, width))));
    let Some(demand) = &told.demand else {
        out.push_str("Interrupted before it was known what a request asks for.\n");
        return out;
    };
    out.push_str(&paragraph(&learned(told, demand), "", "", width));
    doubts(&mut out, &told.doubts, width);
    for load in &told.loads {
        table(&mut out, load, width);
    }
    if !told.complete {
        out.push_str(&format!("{}\n", paint(CARE, "Interrupted: not all loads were measured.")));
    }
    out
}

pub(super) fn kind(server: ServerKind) -> String {
    match server {
        ServerKind::Single => "a single thread, one request after the other".into(),
        ServerKind::Pool(workers) => format!("a pool of {}", counted(workers.into(), "worker")),
        ServerKind::Each => "a thread or process for each connection".into(),
        ServerKind::EventLoop(threads) => {
            format!("an event loop on {}", counted(threads.into(), "thread"))
        }
    }
}

/// What the closed loops told.
pub(super) fn learned(told: &LoadPrediction, demand: &ServerDemand) -> String {
    let by = match demand.limit {
        ServerLimit::Workers => "its workers are what holds it".to_string(),
        ServerLimit::Cpu => format!(
            "{} what holds it",
            match told.cpus {
                1 => "one CPU is".to_string(),
                cpus => format!("{cpus} CPUs are"),
            }
        ),
        ServerLimit::Nothing => {
            "nothing holds it that was reached: a request takes as long as one \
                                 alone"
                .to_string()
        }
    };
    let [wait, cpu, outside] =
        [demand.wait_ns, demand.cpu_ns, demand.outside_ns].map(|ns| time(ns as f64));
    let asks = match demand.limit {
        ServerLimit::Workers => format!("a request holds a worker for {wait}"),
        ServerLimit::Cpu => format!("a request computes for {cpu} and waits for {wait}"),
        ServerLimit::Nothing => format!("a request waits for {wait}"),
    };
    format!(
        "One request alone takes {}. {} got the most answers, {} per second; {by}. So {asks}, and \
         {outside} are outside of the server.",
        time(demand.alone_ns),
        counted(demand.connections.into(), "connection"),
        rate(demand.throughput_per_s),
    )
}

/// Which load it was.
pub(super) fn head(load: &PredictedLoad) -> String {
    format!(
        "{} per second, {:.0} % of the most: {}",
        rate(load.per_s),
        100.0 * load.utilisation,
        counted(load.requests, "request")
    )
}

/// What is known of the mean and of two percentiles.
pub(super) fn times(load: &PredictedLoad) -> impl Iterator<Item = (&'static str, &PredictedTime)> {
    let all = [("mean", &load.mean), ("p50", &load.p50), ("p99", &load.p99)];
    all.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?)))
}

fn table(out: &mut String, load: &PredictedLoad, width: usize) {
    out.push_str(&format!("\n{}\n", paint(BOLD, &cut(&head(load), width))));
    let row = |name: &str, cells: [String; 3]| {
        let cells: String = cells
            .iter()
            .map(|text| format!("{}{text}", " ".repeat(COLUMN.saturating_sub(columns(text)))))
            .collect();
        format!("{}\n", cut(&format!("{name:<8}{cells}"), width))
    };
    let heads = ["measured", "predicted", "off by"].map(String::from);
    out.push_str(&paint(DIM, &row("", heads)).to_string());
    for (name, it) in times(load) {
        out.push_str(&row(name, [time(it.measured_ns), time(it.predicted_ns), off(it)]));
    }
    out.push_str(&paragraph(&remarks(load), "", "", width));
    doubts(out, &load.doubts, width);
}

fn doubts(out: &mut String, doubts: &[String], width: usize) {
    for doubt in doubts {
        let told = paragraph(&words::sentence(doubt, 600), "", "  ", width - 2);
        out.push_str(&format!("{} {told}", paint(CARE, "!")));
    }
}

pub(super) fn off(time: &PredictedTime) -> String {
    time.error().map_or("unknown".into(), |error| format!("{:+.1} %", 100.0 * error))
}

/// What is to be said beside the table.
pub(super) fn remarks(load: &PredictedLoad) -> String {
    let mut said = Vec::new();
    if let (Some(half), Some(most)) = (load.each_p50, load.each_p99) {
        let part = |part: f64| format!("{:.1} %", 100.0 * part);
        said.push(format!(
            "Request by request, half are off by {} or less, and 99 % by {} or less.",
            part(half),
            part(most)
        ));
    } else {
        said.push("No request was answered in both.".into());
    }
    if let Some(formula) = &load.formula {
        let (name, mean) = (words::cleaned(&formula.name), time(formula.mean_ns));
        said.push(format!("By the formula ({name}) the mean would be {mean}."));
    }
    if load.measured_alone > 0 || load.predicted_alone > 0 {
        said.push(format!(
            "Answered in the measurement alone: {}; in the simulation alone: {}.",
            load.measured_alone, load.predicted_alone
        ));
    }
    said.join(" ")
}
