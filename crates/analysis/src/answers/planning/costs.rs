//! What a session measured of each model: CPU time that it adds to a request, memory of a worker.

use super::case::{Ends, Kind, Model};
use crate::session::summary::ask;
use model::{Cell, Cost, Design, Estimate, Gap, Load, Quantity, Record};

/// What the session says.
#[derive(Debug, Default)]
pub(super) struct Costs {
    pub(super) models: Vec<Model>,
    pub(super) list: Vec<Cost>,
    pub(super) gaps: Vec<Gap>,
}

/// Where a model's costs are looked for.
struct Source {
    name: &'static str,
    kind: Kind,
    /// The mechanism of `create`, with both sides on one CPU: as on a machine that is under load, where
    /// no idle CPU has to be woken.
    mechanism: &'static str,
    created_what: &'static str,
    /// The level of `model` in `workers` and `switch`.
    model: &'static str,
}

const SOURCES: [Source; 3] = [
    Source {
        name: "pool",
        kind: Kind::Pool,
        mechanism: "pool_futex",
        created_what: "CPU time of a hand-off to a waiting thread and back",
        model: "thread",
    },
    Source {
        name: "thread",
        kind: Kind::Each,
        mechanism: "pthread",
        created_what: "CPU time to make and to join a thread",
        model: "thread",
    },
    Source {
        name: "process",
        kind: Kind::Each,
        mechanism: "fork",
        created_what: "CPU time to fork, to end and to await a process",
        model: "process",
    },
];

/// A request that waits leaves its CPU and comes back.
const SWITCHES: f64 = 2.0;

/// The experiment on servers, and what is read of it where a session has it.
const SERVERS: &str = "servers";
const SERVER_CPU: &str = "request_cpu_ns";
const SERVER_MEMORY: &str = "connection_bytes";

/// Returns a quantity of an experiment, with its interval.
pub(super) fn estimate(
    design: &Design,
    records: &[Record],
    quantity: &Quantity,
) -> Option<Estimate> {
    let known = quantity.cells().iter().all(|cell| {
        let has = |factor: &str, level: &str| design.factor(factor)?.level(level);
        cell.0.iter().all(|(factor, level)| has(factor, level).is_some())
    });
    if !known || design.response(quantity.response()).is_none() {
        return None;
    }
    ask(design, records, quantity).estimate
}

/// The session, as it is asked.
struct Asked<'a> {
    designs: &'a [Design],
    records: &'a [Record],
    costs: Costs,
}

impl Costs {
    pub(super) fn of(designs: &[Design], records: &[Record], load: &Load) -> Self {
        let mut asked = Asked { designs, records, costs: Costs::default() };
        for source in &SOURCES {
            asked.model(source, load);
        }
        asked.event_loop();
        asked.costs.gaps.dedup();
        asked.costs
    }
}

impl Asked<'_> {
    /// Looks for a number, and keeps it as evidence.
    fn cost(
        &mut self,
        id: String,
        what: &str,
        of: &str,
        quantity: Quantity,
        by: f64,
    ) -> Option<Ends> {
        if let Some(known) = self.costs.list.iter().find(|cost| cost.id == id) {
            return Some(Ends { point: known.estimate.point, high: known.estimate.high });
        }
        let design = self.designs.iter().find(|design| design.id == of)?;
        let found = estimate(design, self.records, &quantity)?;
        let unit = design.response(quantity.response())?.unit.clone();
        let standard_error = found.standard_error.map(|error| error / by);
        let estimate = Estimate { standard_error, ..found }.map(|x| x / by);
        let (what, experiment, divided_by) = (what.into(), of.into(), by);
        let cost = Cost { id, what, experiment, quantity, divided_by, unit, estimate };
        self.costs.list.push(cost);
        Some(Ends { point: estimate.point, high: estimate.high })
    }

    fn gap(&mut self, what: &str, measure: &str) {
        let gap = Gap { what: what.into(), measure: measure.into() };
        if !self.costs.gaps.contains(&gap) {
            self.costs.gaps.push(gap);
        }
    }

    fn model(&mut self, source: &Source, load: &Load) {
        let at = Cell::new([("mechanism", source.mechanism)]);
        let quantity = Quantity::Value { response: "cpu_ns".into(), at };
        let id = format!("{}_added", source.name);
        let created = self.cost(id, source.created_what, "create", quantity, 1.0);
        let Some(mut added_ns) = created else {
            self.gap("what a model of concurrency adds to a request", "scruple run create");
            return;
        };
        if load.cpu_share < 1.0 {
            match self.switch(source.model) {
                Some(switch) => added_ns = added_ns.plus(switch, SWITCHES),
                None => self.gap(
                    "what it costs when a request waits and its CPU serves another: it is left out",
                    "scruple run switch",
                ),
            }
        }
        let memory_bytes = self.memory(source.model);
        if memory_bytes.is_none() {
            self.gap("how much memory a worker takes", "scruple run footprint");
        }
        let (name, kind) = (source.name, source.kind);
        self.costs.models.push(Model { name, kind, added_ns, memory_bytes });
    }

    fn switch(&mut self, model: &str) -> Option<Ends> {
        let at = Cell::new([("model", model)]);
        let quantity = Quantity::Value { response: "switch_cpu_ns".into(), at };
        let what = format!("CPU time of a switch between two {}", plural(model));
        self.cost(format!("{model}_switch"), &what, "switch", quantity, 1.0)
    }

    /// Returns what each further worker takes. Where a session has no measurement of the kernel's
    /// part, that of a server's worker is taken, or that of the largest crew that computes, without it.
    fn memory(&mut self, model: &str) -> Option<Ends> {
        let at = Cell::new([("model", model)]);
        let whole = Quantity::Value { response: "worker_bytes".into(), at };
        let what = format!("memory of one more {model}, with the kernel's for it");
        let whole = self.cost(format!("{model}_memory"), &what, "footprint", whole, 1.0);
        whole.or_else(|| self.server_memory(model)).or_else(|| self.user_memory(model))
    }

    fn server_memory(&mut self, model: &str) -> Option<Ends> {
        let server = if model == "thread" { "thread_each" } else { "fork_each" };
        let at = Cell::new([("model", server)]);
        let quantity = Quantity::Value { response: SERVER_MEMORY.into(), at };
        let what = format!("memory (PSS, without the kernel's) of one more {model} of a server");
        self.cost(format!("{model}_memory"), &what, SERVERS, quantity, 1.0)
    }

    fn user_memory(&mut self, model: &str) -> Option<Ends> {
        let design = self.designs.iter().find(|design| design.id == "workers")?;
        let mut counts: Vec<f64> =
            design.factor("count")?.levels.iter().filter_map(|level| level.value).collect();
        counts.retain(|count| *count > 1.0);
        counts.sort_by(|a, b| b.total_cmp(a));
        let at = |count: f64| {
            let cell = Cell::new([("model", model), ("worker", "cpu")]);
            cell.with("count", &count.to_string())
        };
        let what = format!("memory (PSS, without the kernel's) of one more {model}");
        counts.into_iter().find_map(|count| {
            let response = "pss_bytes".into();
            let quantity = Quantity::Difference { response, of: at(count), to: at(1.0) };
            self.cost(format!("{model}_memory"), &what, "workers", quantity, count - 1.0)
        })
    }

    /// Adds one thread that serves all connections, where a session measured such a server.
    fn event_loop(&mut self) {
        let at = Cell::new([("model", "event_loop")]);
        let value = |response: &str| Quantity::Value { response: response.into(), at: at.clone() };
        let what = "CPU time that an event loop adds to a request";
        let added = self.cost("event_loop_added".into(), what, SERVERS, value(SERVER_CPU), 1.0);
        let Some(added_ns) = added else {
            let has = self.designs.iter().any(|design| design.id == SERVERS);
            let why = if has {
                "whether an event loop would do: the session's experiment on servers does not hold \
                 its CPU time per request"
            } else {
                "whether an event loop would do: the session holds no experiment on servers"
            };
            self.gap(why, "");
            return;
        };
        let what = "memory (PSS) of one more connection of an event loop";
        let memory_bytes =
            self.cost("event_loop_memory".into(), what, SERVERS, value(SERVER_MEMORY), 1.0);
        let (name, kind) = ("event_loop", Kind::Loop);
        self.costs.models.push(Model { name, kind, added_ns, memory_bytes });
    }
}

fn plural(model: &str) -> &str {
    match model {
        "thread" => "threads",
        "process" => "processes",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::answers::planning::case::Ends;

    #[test]
    fn what_cannot_be_resolved_makes_nothing_cheaper() {
        let sum = Ends { point: 10.0, high: 12.0 }.plus(Ends { point: -3.0, high: 1.0 }, 2.0);
        assert_eq!(sum, Ends { point: 10.0, high: 14.0 });
    }
}
