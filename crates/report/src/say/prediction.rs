//! A server's response times next to those of simulated servers.

use super::load::{alike, begin, doubts, rate, time};
use crate::PredictedCurves;
use crate::chart::{Mark, request_times};
use crate::doc::{Block, Doc, Role, Table, Tone};
use model::{
    LoadPrediction, ModelFault, PredictedLoad, PredictedModel, PredictedTime, ServerDemand,
    ServerKind, ServerLimit, ServerSeen,
};
use wording::number::{Parts, Terms, parts};
use wording::{cleaned, counted, sentences};

/// The percentiles that the figures mark: those of the tables.
const MARKED: [Mark; 2] = [("p50", 0.5), ("p99", 0.99)];

/// Returns a server's response times next to those of simulated ones: which models are consistent with the
/// measurements, and of one of them a chapter for each load; `curves` has an element for each load, in their
/// order, or fewer. What others wrote is made harmless.
pub fn prediction(result: &LoadPrediction, curves: &[PredictedCurves]) -> Doc<'static> {
    let lead = match result.asked {
        Some(server) => format!("supposed to be {}. {}", kind(server), alike(&result.plan)),
        None => alike(&result.plan),
    };
    let mut doc = begin(&result.scruple, "a server and its models", &result.plan, &lead);
    let Some(seen) = &result.seen else {
        let text = "Interrupted before the demand of a request was known.";
        doc.push(Block::note(Tone::Bad, text));
        return doc;
    };
    doc.push(Block::paragraph(Role::Answer, verdict(result)));
    doc.push(Block::paragraph(Role::Further, learned(seen)));
    doc.blocks.extend(doubts(&result.doubts));
    if !result.complete {
        doc.push(Block::note(Tone::Care, "Interrupted: not all loads were measured."));
    }
    doc.push(Block::heading(2, "Models"));
    doc.push(Block::Table(models(&result.models)));
    let method = "Requests arrived at random at parts of the maximum throughput. Each simulated server got \
                  the same arrivals. A model is consistent if its mean response time is off by at most 10 % \
                  (15 % above 80 % of the maximum) and its p99 by at most 25 % (30 %).";
    doc.push(Block::small(method));
    let Some(shown) = result.shown() else { return doc };
    if let Some(demand) = &shown.demand {
        let text = format!("The chapters below are of {}. {}", name(shown), demanded(demand));
        doc.push(Block::paragraph(Role::Further, text));
    }
    for (number, load) in shown.loads.iter().enumerate() {
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

fn name(model: &PredictedModel) -> String {
    let kind = kind(model.server);
    if model.bound { format!("{kind} that keeps its connections") } else { kind }
}

/// Returns which models are consistent, and whether the one that was asked for is.
fn verdict(result: &LoadPrediction) -> String {
    let consistent: Vec<&PredictedModel> =
        result.models.iter().filter(|model| model.fault.is_none()).collect();
    let names = |models: &[&PredictedModel]| {
        let names: Vec<String> = models.iter().map(|model| name(model)).collect();
        names.join("; ")
    };
    let asked = result.asked.map(|server| {
        let yes = consistent.iter().any(|model| model.server == server);
        let fault = result.models.iter().find(|model| model.server == server);
        match fault.and_then(|model| model.fault).filter(|_| !yes) {
            Some(fault) => format!("No: it is not {}. {}", kind(server), because(&fault)),
            None => format!("Yes: the server may be {}.", kind(server)),
        }
    });
    let others: Vec<&PredictedModel> =
        consistent.iter().copied().filter(|model| Some(model.server) != result.asked).collect();
    let all = match (others.len(), result.asked) {
        (0, None) => Some(unexplained(result)),
        (0, Some(_)) if consistent.is_empty() => Some(unexplained(result)),
        (0, Some(_)) => Some("Every other model is refuted.".into()),
        (_, Some(_)) => Some(format!("Also consistent: {}.", names(&others))),
        (1, None) => {
            Some(format!("The server behaves as {}. Every other model is refuted.", names(&others)))
        }
        (n, None) => {
            Some(format!("{n} models are consistent with the server: {}.", names(&others)))
        }
    };
    sentences([asked, all])
}

/// Returns what the best of the refuted models leaves unexplained.
fn unexplained(result: &LoadPrediction) -> String {
    let nearest = result.models.iter().find(|model| !model.loads.is_empty());
    let nearest = nearest.and_then(|model| Some((model, model.fault?)));
    let rest = nearest.map(|(model, fault)| {
        format!(" The nearest is {}. Unexplained: {}", name(model), because(&fault))
    });
    format!("No model is consistent with the server.{}", rest.unwrap_or_default())
}

/// Returns why a model is refuted.
fn because(fault: &ModelFault) -> String {
    let part = |part: f64| format!("{:.0} %", 100.0 * part);
    match *fault {
        ModelFault::Throughput(would) => format!(
            "Such a server would answer {} requests per second, or be limited by its CPUs.",
            rate(would)
        ),
        ModelFault::Alone(ns) => format!(
            "One request at a time takes {} longer than such a server would need.",
            time(ns)
        ),
        ModelFault::Answered { at, by } => format!(
            "At {} of the maximum, {} of the requests are answered either by the server or by the \
             simulation, not by both.",
            part(at),
            part(by)
        ),
        ModelFault::Mean { at, by } => {
            format!(
                "At {} of the maximum, the predicted mean is off by {:+.0} %.",
                part(at),
                100.0 * by
            )
        }
        ModelFault::P99 { at, by } => {
            format!(
                "At {} of the maximum, the predicted p99 is off by {:+.0} %.",
                part(at),
                100.0 * by
            )
        }
    }
}

/// Returns the models with the errors of their means.
fn models(models: &[PredictedModel]) -> Table {
    let heads = ["model", "verdict", "#mean off by", "#p99 off by", "refuted because"];
    Table::of(&heads).rows(models.iter().map(|model| {
        let errors = |of: fn(&PredictedLoad) -> Option<PredictedTime>| {
            let error = |load: &PredictedLoad| of(load).map_or("?".into(), |time| error(&time));
            model.loads.iter().map(error).collect::<Vec<_>>().join(", ")
        };
        let verdict = if model.fault.is_none() { "consistent" } else { "refuted" };
        let why = model.fault.as_ref().map_or(String::new(), because);
        [name(model), verdict.into(), errors(|load| load.mean), errors(|load| load.p99), why]
    }))
}

fn utilisation(load: &PredictedLoad) -> String {
    format!("{:.0} %", 100.0 * load.utilisation)
}

fn error(time: &PredictedTime) -> String {
    time.error().map_or("unknown".into(), |error| format!("{:+.1} %", 100.0 * error))
}

/// Returns what was measured of the server itself.
fn learned(seen: &ServerSeen) -> String {
    let alone = parts(&seen.alone_ns, Terms::In(&model::Unit::Ns));
    let connections = counted(seen.connections.into(), "connection");
    let Parts { point, interval } = alone;
    let cpu = match (seen.cpu_ns, seen.cpus_busy) {
        (Some(cpu_ns), Some(busy)) => {
            let cpu = time(cpu_ns);
            format!("Its processes used {cpu} of CPU time per answer then, {busy:.2} CPUs in all.")
        }
        _ => "Its processes could not be found, so their CPU time is unknown.".into(),
    };
    format!(
        "One request alone takes {point} {interval} on average. The maximum throughput is {} requests per \
         second, with {connections}. {cpu}",
        rate(seen.throughput_per_s.point)
    )
}

/// Returns what a request demands of such a server.
fn demanded(demand: &ServerDemand) -> String {
    let [wait, cpu, outside] =
        [demand.wait_ns, demand.cpu_ns, demand.outside_ns].map(|ns| time(ns as f64));
    let limit = match demand.limit {
        ServerLimit::Workers => {
            format!("Its workers are the limit: a request holds one for {wait}")
        }
        ServerLimit::Cpu => {
            let cpus = counted(demand.cpus.into(), "CPU");
            format!("The limit is {cpus}: a request computes for {cpu} and waits for {wait}")
        }
        ServerLimit::Nothing => format!("No limit was reached: a request waits for {wait}"),
    };
    format!("{limit}, and spends {outside} outside the server.")
}

fn table(load: &PredictedLoad) -> Table {
    let all = [("mean", &load.mean), ("p50", &load.p50), ("p99", &load.p99)];
    let rows = all.into_iter().filter_map(|(name, known)| {
        let known = known.as_ref()?;
        let [measured, predicted, low, high] =
            [known.measured_ns, known.predicted_ns, known.low_ns, known.high_ns].map(time);
        let range = format!("{low} – {high}");
        Some([name.into(), measured, predicted, range, error(known)])
    });
    Table::of(&["response time", "#measured", "#predicted", "#range", "#off by"]).rows(rows)
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
