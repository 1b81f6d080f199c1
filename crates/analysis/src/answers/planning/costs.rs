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

/// A number of connections is far from another if it is more than three times as high or low: memory of the
/// one says nothing of the other.
const FAR: f64 = 3.0;

/// Where a model's costs are looked for in a session without servers.
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

/// The servers that are candidates: the level of `model` in `servers`, the name here, what it is.
///
/// A thread of a pool takes what a thread for a connection takes. Python's threads share one CPU, like
/// an event loop, and each has its stack.
const SERVED: [(&str, &str, Kind); 12] = [
    ("pool", "pool", Kind::Pool),
    ("thread_each", "thread", Kind::Each),
    ("fork_each", "process", Kind::Each),
    ("event_loop", "event_loop", Kind::Loop),
    ("io_uring", "io_uring", Kind::Loop),
    ("tokio", "tokio", Kind::Each),
    ("go", "go", Kind::Each),
    ("java_threads", "java_threads", Kind::Each),
    ("java_virtual", "java_virtual", Kind::Each),
    ("node", "node", Kind::Loop),
    ("python_threads", "python_threads", Kind::Loop),
    ("python_asyncio", "python_asyncio", Kind::Loop),
];

/// A request that waits leaves its CPU and comes back.
const SWITCHES: f64 = 2.0;

/// The experiment on servers, and what is read of it where a session has it.
const SERVERS: &str = "servers";

/// Its factor of connections that are open while memory is read.
const HELD: &str = "held";

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
    /// Connections that stay open, of each machine.
    open: Option<u32>,
    costs: Costs,
}

impl Costs {
    pub(super) fn of(designs: &[Design], records: &[Record], load: &Load) -> Self {
        let machines = load.machines.unwrap_or(1);
        let open = load.connections.map(|count| count.div_ceil(machines));
        let mut asked = Asked { designs, records, open, costs: Costs::default() };
        for (level, name, kind) in SERVED {
            if !asked.served(level, name, kind)
                && let Some(source) = SOURCES.iter().find(|source| source.name == name)
            {
                asked.model(source, load);
            }
        }
        if !asked.costs.models.iter().any(|model| model.kind == Kind::Loop) {
            asked.gap("whether an event loop would do", "scruple run servers");
        }
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
            return Some(Ends::of(&known.estimate));
        }
        let design = self.designs.iter().find(|design| design.id == of)?;
        let found = estimate(design, self.records, &quantity)?;
        let unit = design.response(quantity.response())?.unit.clone();
        let standard_error = found.standard_error.map(|error| error / by);
        let estimate = Estimate { standard_error, ..found }.map(|x| x / by);
        let (what, experiment, divided_by) = (what.into(), of.into(), by);
        let cost = Cost { id, what, experiment, quantity, divided_by, unit, estimate };
        self.costs.list.push(cost);
        Some(Ends::of(&estimate))
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
        let none = Ends::default();
        let model =
            Model { name, kind, added_ns, memory_bytes, base_bytes: none, open_bytes: none };
        self.costs.models.push(model);
    }

    fn switch(&mut self, model: &str) -> Option<Ends> {
        let at = Cell::new([("model", model)]);
        let quantity = Quantity::Value { response: "switch_cpu_ns".into(), at };
        let what = format!("CPU time of a switch between two {}", plural(model));
        self.cost(format!("{model}_switch"), &what, "switch", quantity, 1.0)
    }

    /// Returns what each further worker takes. Where a session has no measurement of the kernel's
    /// part, that of the largest crew is taken, without it.
    fn memory(&mut self, model: &str) -> Option<Ends> {
        let at = Cell::new([("model", model)]);
        let whole = Quantity::Value { response: "worker_bytes".into(), at };
        let what = format!("memory of one more {model}, with the kernel's for it");
        let whole = self.cost(format!("{model}_memory"), &what, "footprint", whole, 1.0);
        whole.or_else(|| self.user_memory(model))
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

    /// Adds a model that was measured as a server. Reports whether it was.
    fn served(&mut self, level: &str, name: &'static str, kind: Kind) -> bool {
        let what = format!("CPU time of a request beside its service, {}", words(name));
        let new = Cell::new([("model", level)]);
        let kept = new.clone().with("keep_alive", "yes");
        let what_kept = format!("{what}, on a kept connection");
        // A server at work has connections that bring request after request.
        let kept = self.of_server(format!("{name}_kept"), what_kept, "request_cpu_ns", kept);
        let new = self.of_server(format!("{name}_added"), what, "request_cpu_ns", new);
        let Some(added_ns) = kept.or(new) else { return false };
        let is_pool = kind == Kind::Pool;
        let (holder, level) = if is_pool { ("thread", "thread_each") } else { (name, level) };
        // A pool has few threads. Connections that stay open are held by an event loop, and requests handed
        // to the workers.
        let open = self.open;
        let memory_bytes = self.connection(holder, level, if is_pool { None } else { open });
        let open_bytes = match kind {
            Kind::Pool => self.connection("event_loop", "event_loop", open),
            Kind::Each | Kind::Loop => Some(Ends::default()),
        };
        let what = format!("memory (PSS) of a server without connections, {}", words(holder));
        let at = Cell::new([("model", level)]);
        let base = self.of_server(format!("{holder}_base"), what, "server_bytes", at);
        let base_bytes = base.unwrap_or_default();
        let (memory_bytes, open_bytes) = match open_bytes {
            Some(open_bytes) => (memory_bytes, open_bytes),
            None => (None, Ends::default()),
        };
        self.costs.models.push(Model {
            name,
            kind,
            added_ns,
            memory_bytes,
            base_bytes,
            open_bytes,
        });
        true
    }

    /// Returns what a connection of a server takes, the kernel's memory included where it is known: of a
    /// thread or a process, `footprint` knows it too. It is that of the number of connections nearest to
    /// `open` that was measured, or of the fewest; `None` if that number is far from `open`: with few connections
    /// the kernel reuses memory that earlier ones left, and heaps of runtimes grow in steps.
    fn connection(&mut self, name: &str, level: &str, open: Option<u32>) -> Option<Ends> {
        let server = self.designs.iter().find(|design| design.id == SERVERS)?;
        let levels = server.factor(HELD).map(|factor| factor.levels.as_slice()).unwrap_or_default();
        let mut counts: Vec<f64> = levels.iter().filter_map(|level| level.value).collect();
        let wanted = open.map_or(0.0, |open| f64::from(open).max(1.0).ln());
        counts.sort_by(|a, b| (a.ln() - wanted).abs().total_cmp(&(b.ln() - wanted).abs()));
        let is_near = |count: &f64| open.is_none() || (count.ln() - wanted).abs() <= FAR.ln();
        let mut places: Vec<_> = counts.iter().copied().filter(is_near).map(Some).collect();
        if counts.is_empty() {
            // Sessions of earlier versions have no such factor.
            places.push(None);
        }
        if places.is_empty() {
            let open = open.unwrap_or(0);
            self.gap(
                &format!("memory of {open} connections: none near that number were measured"),
                "",
            );
        }
        let found = places.into_iter().find_map(|count| self.connection_of(name, level, count));
        found.or_else(|| self.worker(name))
    }

    /// Returns what each of this number of connections takes.
    fn connection_of(&mut self, name: &str, level: &str, count: Option<f64>) -> Option<Ends> {
        let cell = Cell::new([("model", level)]);
        let (at, of, suffix) = match count {
            Some(count) => (
                cell.with(HELD, &count.to_string()),
                format!("each of {count} connections"),
                format!("_{count}"),
            ),
            None => (cell, "one more connection".into(), String::new()),
        };
        let (id, what) = (format!("{name}_connection{suffix}"), words(name));
        let what_own = format!("memory (PSS) of {of}, {what}");
        let own = self.of_server(id, what_own, "connection_bytes", at.clone())?;
        let (id, what_kernel) =
            (format!("{name}_kernel{suffix}"), format!("kernel memory of {of}, {what}"));
        match self.of_server(id, what_kernel, "connection_kernel_bytes", at) {
            Some(kernel) => Some(own.plus(kernel, 1.0)),
            None => self.worker(name).or(Some(own)),
        }
    }

    /// Returns what `footprint` knows of a thread or a process, with the kernel's memory for it.
    fn worker(&mut self, name: &str) -> Option<Ends> {
        SOURCES.iter().any(|source| source.model == name).then(|| self.memory(name)).flatten()
    }

    fn of_server(&mut self, id: String, what: String, response: &str, at: Cell) -> Option<Ends> {
        let quantity = Quantity::Value { response: response.into(), at };
        self.cost(id, &what, SERVERS, quantity, 1.0)
    }
}

/// Returns how a server is called.
fn words(name: &str) -> &str {
    match name {
        "pool" => "in a pool of threads",
        "thread" => "with a thread for each connection",
        "process" => "with a process for each connection",
        "event_loop" => "in an event loop",
        "io_uring" => "in an event loop with io_uring",
        "tokio" => "in event loops (tokio)",
        "go" => "with goroutines (Go)",
        "java_threads" => "with a thread for each connection (Java)",
        "java_virtual" => "with virtual threads (Java)",
        "node" => "in an event loop (Node.js)",
        "python_threads" => "with a thread for each connection (Python)",
        "python_asyncio" => "in an event loop (Python)",
        other => other,
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
        let ends = |low, point, high| Ends { low, point, high };
        let sum = ends(9.0, 10.0, 12.0).plus(ends(-5.0, -3.0, 1.0), 2.0);
        assert_eq!(sum, ends(9.0, 10.0, 14.0));
    }
}
