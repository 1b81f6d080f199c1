//! What the numbers of a load say of its server without a model of it.

use super::{rate, time};
use model::{LoadPathology, LoadResult, LoadServer, Unit};
use wording::number::value;

/// A server whose processes use more CPUs than this has several threads at work.
const ONE_THREAD_CPUS: f64 = 1.1;

/// Requests in progress at once from which one worker at a time is ruled out: equal times differ a little.
const SEVERAL: f64 = 1.5;

/// Returns how many requests were there and in progress at once, what they cost, and what that rules out.
pub(super) fn sentences(result: &LoadResult) -> Vec<String> {
    let Some(server) = &result.server else { return Vec::new() };
    let number = |x: f64| value(x, &Unit::Count);
    let LoadServer { answers_per_s, present, in_progress, .. } = *server;
    let stay = time(present / answers_per_s * 1e9);
    let mut all = vec![format!(
        "On average, {} requests were in the server: N = X · R with X = {} answers per second and R = {stay} \
         from sending to answer.",
        number(present),
        rate(answers_per_s)
    )];
    all.extend(result.service.min_ns.map(|fastest_ns| {
        let rules_out = match in_progress >= SEVERAL && !is_delayed(result) {
            true => " That rules out one request at a time.",
            false => "",
        };
        let fastest = time(fastest_ns as f64);
        format!(
            "The fastest answer took {fastest}. If it waited neither in a queue nor outside of the server, the \
             server works on at least {} requests at once.{rules_out}",
            number(in_progress)
        )
    }));
    all.extend(server.cpus.zip(server.cpu_ns).map(|(cpus, cpu_ns)| {
        let rules_out = match cpus > ONE_THREAD_CPUS {
            true => " That rules out one thread.",
            false => "",
        };
        let most = match cpu_ns > 0.0 {
            true => format!(": one CPU gives at most {} answers per second", rate(1e9 / cpu_ns)),
            false => String::new(),
        };
        format!(
            "The processes that listen there used {} CPUs, {} for each answer{most}.{rules_out}",
            number(cpus),
            time(cpu_ns)
        )
    }));
    all
}

/// Reports whether answers were held back by acknowledgements, which is no work of the server.
fn is_delayed(result: &LoadResult) -> bool {
    result.pathologies.iter().any(|one| matches!(one, LoadPathology::DelayedAck(_)))
}
