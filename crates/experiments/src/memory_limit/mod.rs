//! What happens to threads and processes at a limit on memory, and what only seems to happen.

mod house;
mod shown;

use crate::support::program;
use house::{House, Order, Outcome};
use kit::model::Profile;
use kit::workers::{MODEL_LEVELS, Model};
use kit::{Result, Stop, Trial};
use shown::BY_TEXT;
use sys::task::Pid;

experiment!("memory_limit", "memory_limit.toml");

/// The limit, in buffers.
const LIMIT_BUFFERS: u64 = 5;

/// Memory beside the buffers.
const SPARE_BYTES: u64 = 64 << 20;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Nothing.
    None,
    /// The address space of each process.
    AddressSpace,
    /// The memory of all together.
    Cgroup,
}

impl Limit {
    /// What the limit is on, in a sentence.
    fn what(self) -> &'static str {
        match self {
            Limit::None => "nothing",
            Limit::AddressSpace => "the address space of each process (RLIMIT_AS)",
            Limit::Cgroup => "the memory of all together (cgroup)",
        }
    }
}

/// What the levels of the factor `limit` stand for.
const LIMITS: [(&str, Limit); 3] =
    [("none", Limit::None), ("address_space", Limit::AddressSpace), ("cgroup", Limit::Cgroup)];

fn trial(trial: &mut Trial) -> Result<()> {
    let by_text = trial.pick("method", &BY_TEXT)?;
    if by_text {
        program::top()?;
    }
    let order = read_order(trial)?;
    need_memory(trial, &order)?;
    trial.need_tasks(order.count + 1)?;
    let cpus = order.cpus.clone();
    trial.pin(&cpus)?;
    // Workers whose house is killed must come to us, not outlive the trial.
    sys::process::become_subreaper()?;
    let memory_cgroup = trial.spec().memory_cgroup.clone();
    let house = House::build(order.clone(), memory_cgroup.as_deref())?;
    trial.observe("limit_in_force_bytes", house.limit_in_force());
    trial.begin()?;
    let mut measured = None;
    let outcome = house.occupy(|pids| measured = Some(measure(by_text, pids)))?;
    reap_orphans();
    trial.end()?;
    came_in_the_way(&order, outcome.finished, &inherited())?;
    record(trial, &order, &outcome, measured.transpose()?);
    Ok(())
}

/// Refuses what the inherited limits forbid. Under a limit of its own the crew may be refused memory:
/// that is the treatment.
fn need_memory(trial: &Trial, order: &Order) -> Result<()> {
    let buffers = order.count as u64 * order.buffer_bytes as u64;
    let most = match order.model {
        Model::Thread => buffers,
        Model::Process => order.buffer_bytes as u64,
    };
    trial.need_memory_in_all(buffers + SPARE_BYTES, most + SPARE_BYTES)
}

/// The limits on memory that the session has inherited, in words.
fn inherited() -> Vec<String> {
    let group = sys::cgroup::memory_room()
        .map(|room| format!("a memory cgroup of {} MB", room.limit / 1_000_000));
    let own = sys::limits::in_force().into_iter().filter(|(resource, _)| resource.is_of_memory());
    let own =
        own.map(|(resource, limit)| format!("{} of {} MB", resource.name(), limit / 1_000_000));
    group.into_iter().chain(own).collect()
}

/// Refuses what was to have no limit if not all finished and an inherited limit can be why: what others
/// in the group use later, and how much address space stacks and heaps take, is not known beforehand.
fn came_in_the_way(order: &Order, finished: u64, inherited: &[String]) -> Result<()> {
    if order.limit != Limit::None || finished == order.count as u64 || inherited.is_empty() {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "{finished} of {} workers finished where the treatment sets no limit, but the session inherits \
         {}",
        order.count,
        inherited.join(" and ")
    )))
}

fn read_order(trial: &Trial) -> Result<Order> {
    let limit = trial.pick("limit", &LIMITS)?;
    let buffer_bytes: usize = match (trial.spec().profile, limit) {
        (Profile::Smoke, _) => 8 << 20,
        // Beside buffers of any size that the limit is five of, all else is small.
        (Profile::Quick, Limit::Cgroup) => 64 << 20,
        _ => 220 << 20,
    };
    Ok(Order {
        model: trial.pick("model", &MODEL_LEVELS)?,
        count: trial.number("count")? as usize,
        buffer_bytes,
        limit,
        limit_bytes: LIMIT_BUFFERS * buffer_bytes as u64,
        cpus: trial.spec().cpus.clone(),
    })
}

/// Memory of all processes of the crew at one moment.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// As the method shows it, in bytes.
    shown_bytes: f64,
    /// As the kernel counts it, in bytes.
    true_bytes: u64,
}

fn measure(by_text: bool, pids: &[Pid]) -> Result<Seen> {
    let mut true_bytes = 0;
    for pid in pids {
        true_bytes += held_by(*pid)?;
    }
    let shown_bytes = if by_text { shown::by_top(pids)? * 1024.0 } else { true_bytes as f64 };
    Ok(Seen { shown_bytes, true_bytes })
}

/// What a process holds. One that the kernel is just killing has no memory any more, although it
/// has not been reaped: that is the one case in which an answer that is missing means nothing.
fn held_by(pid: Pid) -> Result<u64> {
    match sys::proc::memory(pid) {
        Ok(memory) => Ok(memory.pss_bytes),
        Err(error) => match sys::proc::status(pid) {
            Ok(status) if status.rss_bytes.is_some() => Err(error.into()),
            _ => Ok(0),
        },
    }
}

fn record(trial: &mut Trial, order: &Order, outcome: &Outcome, seen: Option<Seen>) {
    trial.record_one("finished_count", outcome.finished as i64);
    trial.record_one("refused_count", outcome.refused as i64);
    trial.record_one("killed_count", outcome.killed as i64);
    if let Some(wall_ns) = outcome.wall_ns {
        trial.counters_mut().wall_ns = wall_ns;
        trial.record_one("wall_ns", wall_ns as i64);
    }
    let known = outcome.finished + outcome.refused + outcome.killed;
    trial.check("workers_accounted_for", known as f64, order.count as f64, order.count as f64);
    if let Some(seen) = seen {
        let true_bytes = seen.true_bytes.max(1) as f64;
        trial.record_one("shown_bytes", seen.shown_bytes.round() as i64);
        trial.record_one("true_bytes", seen.true_bytes as i64);
        trial.record_one("shown_ppm", (seen.shown_bytes / true_bytes * 1e6).round() as i64);
        let held = outcome.finished as f64 * order.buffer_bytes as f64;
        trial.check("memory_held_bytes", true_bytes, held, held * 1.2 + 64e6);
    }
}

/// Takes in worker processes whose house was killed: they die with it, and must not be left.
fn reap_orphans() {
    for orphan in sys::process::adopted_children(&[]) {
        let _ = sys::process::kill(orphan, sys::signal::SIGKILL);
        let _ = sys::task::wait(orphan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "model", &MODEL_LEVELS);
        crate::check_levels(&design, "limit", &LIMITS);
        crate::check_levels(&design, "method", &BY_TEXT);
    }

    #[test]
    fn an_inherited_limit_is_no_finding_of_the_treatment_without_one() {
        let order = |limit| Order {
            model: Model::Thread,
            count: 5,
            buffer_bytes: 1,
            limit,
            limit_bytes: 5,
            cpus: Vec::new(),
        };
        let inherited =
            ["a memory cgroup of 600 MB".to_string(), "RLIMIT_AS of 307 MB".to_string()];
        assert_eq!(
            came_in_the_way(&order(Limit::None), 4, &inherited),
            Err(Stop::unsupported(
                "4 of 5 workers finished where the treatment sets no limit, but the session inherits \
                 a memory cgroup of 600 MB and RLIMIT_AS of 307 MB"
            ))
        );
        assert_eq!(came_in_the_way(&order(Limit::None), 5, &inherited), Ok(()));
        // Nothing is known that explains it: that is a finding.
        assert_eq!(came_in_the_way(&order(Limit::None), 4, &[]), Ok(()));
        assert_eq!(came_in_the_way(&order(Limit::Cgroup), 4, &inherited), Ok(()));
    }
}
