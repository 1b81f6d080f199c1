//! A server's response times next to those of a simulated server.

use super::load::{alike, begin, doubts, rate, time};
use crate::PredictedCurves;
use crate::chart::{Mark, request_times};
use crate::doc::{Block, Doc, Role, Table, Tone};
use model::{LoadPrediction, PredictedLoad, PredictedTime, ServerDemand, ServerKind, ServerLimit};
use wording::{cleaned, counted, sentences};

/// The percentiles that the figures mark: those of the tables.
const MARKED: [Mark; 2] = [("p50", 0.5), ("p99", 0.99)];

/// Returns a server's response times next to those of a simulated one, with a chapter for each load;
/// `curves` has an element for each load, in their order, or fewer. What others wrote is made harmless.
pub fn prediction(result: &LoadPrediction, curves: &[PredictedCurves]) -> Doc<'static> {
    let lead = format!("simulated as {}. {}", kind(result.server), alike(&result.plan));
    let mut doc = begin(&result.scruple, "a server and its simulation", &result.plan, &lead);
    let Some(demand) = &result.demand else {
        let text = "Interrupted before the demand of a request was known.";
        doc.push(Block::note(Tone::Bad, text));
        return doc;
    };
    if !result.loads.is_empty() {
        doc.push(Block::paragraph(Role::Answer, errors(&result.loads)));
    }
    doc.push(Block::paragraph(Role::Further, learned(result.cpus, demand)));
    let method = "Then requests arrived at random. The simulation got the same arrivals, and nothing \
                  else that was measured with them.";
    doc.push(Block::paragraph(Role::Further, method));
    doc.blocks.extend(doubts(&result.doubts));
    if !result.complete {
        doc.push(Block::note(Tone::Care, "Interrupted: not all loads were measured."));
    }
    for (number, load) in result.loads.iter().enumerate() {
        let (per_s, part) = (rate(load.per_s), utilisation(load));
        let requests = counted(load.requests, "request");
        let title = format!("{per_s} requests per second, {part} of the maximum: {requests}");
        doc.push(Block::heading(2, title));
        doc.blocks.extend(doubts(&load.doubts));
        doc.push(Block::Table(table(load)));
        doc.push(Block::plain(remarks(load)));
        doc.blocks.extend(curves.get(number).and_then(figure));
    }
    doc
}

fn kind(server: ServerKind) -> String {
    match server {
        ServerKind::Single => "a single thread that serves one request at a time".into(),
        ServerKind::Pool(workers) => format!("a pool of {}", counted(workers.into(), "worker")),
        ServerKind::Each => "a thread or process for each connection".into(),
        ServerKind::EventLoop(n) => format!("an event loop on {}", counted(n.into(), "thread")),
    }
}

/// Returns by how much the predicted means are wrong.
fn errors(loads: &[PredictedLoad]) -> String {
    let error = |load: &PredictedLoad| {
        let error = load.mean.as_ref().map_or("unknown".into(), error);
        format!("{error} at {}", utilisation(load))
    };
    let errors = loads.iter().map(error).collect::<Vec<_>>().join(", ");
    format!("The predicted mean response time is off by {errors} of the maximum throughput.")
}

fn utilisation(load: &PredictedLoad) -> String {
    format!("{:.0} %", 100.0 * load.utilisation)
}

fn error(time: &PredictedTime) -> String {
    time.error().map_or("unknown".into(), |error| format!("{:+.1} %", 100.0 * error))
}

/// Returns what a request demands of the server, as the closed loops showed.
fn learned(cpus: u32, demand: &ServerDemand) -> String {
    let (alone, per_s) = (time(demand.alone_ns), rate(demand.throughput_per_s));
    let connections = counted(demand.connections.into(), "connection");
    let [wait, cpu, outside] =
        [demand.wait_ns, demand.cpu_ns, demand.outside_ns].map(|ns| time(ns as f64));
    let limit = match demand.limit {
        ServerLimit::Workers => {
            format!("Its workers are the limit: a request holds one for {wait}")
        }
        ServerLimit::Cpu => {
            let cpus = counted(cpus.into(), "CPU");
            format!("The limit is {cpus}: a request computes for {cpu} and waits for {wait}")
        }
        ServerLimit::Nothing => format!("No limit was reached: a request waits for {wait}"),
    };
    format!(
        "One request alone takes {alone}. The maximum throughput is {per_s} requests per second, with \
         {connections}. {limit}, and spends {outside} outside the server."
    )
}

fn table(load: &PredictedLoad) -> Table {
    let all = [("mean", &load.mean), ("p50", &load.p50), ("p99", &load.p99)];
    let rows = all.into_iter().filter_map(|(name, known)| {
        let known = known.as_ref()?;
        let [measured, predicted] = [known.measured_ns, known.predicted_ns].map(time);
        Some([name.into(), measured, predicted, error(known)])
    });
    Table::of(&["response time", "#measured", "#predicted", "#off by"]).rows(rows)
}

fn remarks(load: &PredictedLoad) -> String {
    let [half, most] = [load.each_p50, load.each_p99].map(|part| Some(100.0 * part?));
    let singles = match half.zip(most) {
        Some((half, most)) => format!(
            "Half of the single requests are off by {half:.1} % or less, and 99 % by {most:.1} % or less."
        ),
        None => "No request was answered in both the measurement and the simulation.".into(),
    };
    let formula = load.formula.as_ref().map(|formula| {
        let (name, mean) = (cleaned(&formula.name), time(formula.mean_ns));
        format!("By the formula ({name}) the mean would be {mean}.")
    });
    let (measured, predicted) = (load.measured_alone, load.predicted_alone);
    let alone = format!(
        "Answered only in the measurement: {measured}; only in the simulation: {predicted}."
    );
    sentences([Some(singles), formula, (measured + predicted > 0).then_some(alone)])
}

fn figure(curves: &PredictedCurves) -> Option<Block<'static>> {
    let all = ["measured", "predicted"].into_iter().zip(curves);
    let caption = "The share of the requests that had been answered within a time, of those answered in \
                   both. The marks are p50 and p99.";
    request_times(&MARKED, all, caption)
}
