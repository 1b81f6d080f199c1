//! Connections of which each waits for its answer before it asks again.

use super::case::{CPUS_MAX, Case, Done, Kind, THROUGHPUT_PART, least};
use super::pools::{Arrivals, Pools};
use laws::Error;
use model::Refusal;

/// Returns what the case needs for this number of connections, or why nothing suffices.
pub(super) fn done(case: &Case<'_>, connections: u32) -> Result<Result<Done, Refusal>, Error> {
    let pools = Pools::new(case, connections);
    let arrivals = Arrivals::Closed(connections);
    let all = pools.done(arrivals, connections)?;
    let target = case.load.target_p95_ns;
    if let Some(target) = target
        && all.p95 > target
    {
        let most = connections.max(case.cpus).min(CPUS_MAX);
        let refusal = case.out_of_reach((all.p95, target), most, |cpus| {
            let more = Case { cpus, ..*case };
            Ok(Pools::new(&more, connections).done(arrivals, connections)?.p95)
        });
        return Ok(Err(refusal?));
    }
    if case.kind != Kind::Pool {
        let workers = if case.kind == Kind::Loop { 1 } else { connections };
        return Ok(Ok(Done { workers, least: workers, ..all }));
    }
    let enough = |workers: u32| -> Result<bool, Error> {
        let steady = pools.steady(arrivals, workers)?;
        Ok(match target {
            Some(target) => steady.done(case, workers)?.p95 <= target,
            None => {
                let does = steady.throughput >= THROUGHPUT_PART * all.throughput;
                does && steady.waits_little(case.load)
            }
        })
    };
    let asked = least(1, connections, enough)?.unwrap_or(connections);
    // More workers than connections have nothing to do.
    let workers = case.load.workers.map_or(asked, |given| given.min(connections));
    let done = pools.done(arrivals, workers)?;
    if workers < asked && target.is_some() {
        return Ok(Err(Refusal::Late { p95_ns: done.p95, workers_enough: asked }));
    }
    Ok(Ok(Done { workers: case.load.workers.unwrap_or(asked), ..done }))
}
