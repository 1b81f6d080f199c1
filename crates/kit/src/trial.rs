use crate::channel::{Channel, ChannelError};
use crate::limits;
use crate::pmu::{self, Counts, Pmu};
use crate::workers::Crew;
use crate::{Result, calibration};
use model::{
    Answer, Check, Counters, Exhibit, FromTrial, Measured, ProgramFile, Relation, Series, Spec,
    ToTrial, Treatment,
};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::unix::process::CommandExt;
use std::process::Command;
use sys::usage::Usage;

/// The most rows of an exhibit that are kept: what a reader looks through.
pub const EXHIBIT_ROWS_MAX: usize = 64;

/// Why a trial ends without a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The treatment cannot be realised here; the text says why and what would change it.
    Unsupported(String),
    /// Something went wrong.
    Failed(String),
}

impl From<sys::Error> for Stop {
    fn from(error: sys::Error) -> Self {
        if error.is_unsupported() {
            Stop::Unsupported(error.to_string())
        } else {
            Stop::Failed(error.to_string())
        }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        // One of `sys`, which a function of the standard library's form has handed on.
        match error.downcast::<sys::Error>() {
            Ok(ours) => ours.into(),
            Err(error) => match refused(&error) {
                Some(refused) => refused.into(),
                None => Stop::Failed(error.to_string()),
            },
        }
    }
}

impl From<String> for Stop {
    fn from(reason: String) -> Self {
        Stop::Failed(reason)
    }
}

impl From<ChannelError> for Stop {
    fn from(error: ChannelError) -> Self {
        Stop::Failed(error.to_string())
    }
}

impl Stop {
    /// The treatment cannot be realised here: why, and what would change it.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Stop::Unsupported(reason.into())
    }

    /// Something that was tried failed; where a system call is refused as such, it cannot be done here.
    pub fn io(what: impl Display, error: &std::io::Error) -> Self {
        match refused(error) {
            Some(refused) => Stop::Unsupported(format!("{what}: {refused}")),
            None => Stop::Failed(format!("{what}: {error}")),
        }
    }

    /// Something went wrong.
    pub fn failed(reason: impl Into<String>) -> Self {
        Stop::Failed(reason.into())
    }
}

/// The error as one of a call that is refused here, whatever its arguments.
fn refused(error: &std::io::Error) -> Option<sys::Error> {
    Some(sys::Error::io("a system call", error)).filter(sys::Error::is_unsupported)
}

/// What a trial says at its end.
type Finished = (Measured, BTreeMap<String, String>, Vec<Answer>);

/// One trial, seen from inside its process.
#[derive(Debug)]
pub struct Trial<'a> {
    spec: Spec,
    channel: &'a mut Channel,
    read_ns: u64,
    /// The program was executed anew for [`Trial::need_environment`].
    again: bool,
    observed: BTreeMap<String, String>,
    measured: Measured,
    /// What it says of [`Spec::also`].
    others: Vec<Answer>,
    opened: Option<Opened>,
    /// What the processor counted for this thread.
    counted: Counts,
    closed: bool,
}

/// What the counters said when the timed region began.
#[derive(Debug)]
struct Opened {
    /// How long the calibration loop took before the trial reported to the runner that it is ready.
    calibration_ns: u64,
    wall_ns: u64,
    usage: Usage,
    sched: Option<sys::proc::SchedStat>,
    migrations: Option<u64>,
    io: Option<sys::proc::Io>,
    pmu: Pmu,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(spec: Spec, channel: &'a mut Channel, read_ns: u64, again: bool) -> Self {
        Trial {
            spec,
            channel,
            read_ns,
            again,
            observed: BTreeMap::new(),
            measured: Measured::default(),
            others: Vec::new(),
            opened: None,
            counted: Counts::default(),
            closed: false,
        }
    }

    /// What is to be realised.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The level of a factor. A name the plan does not know is a mistake in the experiment.
    pub fn level(&self, factor: &str) -> Result<&str> {
        self.spec
            .treatment
            .level(factor)
            .ok_or_else(|| Stop::failed(format!("the plan gives no level for factor {factor}")))
    }

    /// The level of a factor whose levels are whole numbers.
    pub fn number(&self, factor: &str) -> Result<u64> {
        let level = self.level(factor)?;
        level.parse().map_err(|_| {
            Stop::failed(format!("level {level} of factor {factor} is no whole number"))
        })
    }

    /// Picks from a table what the level of a factor stands for.
    ///
    /// # Errors
    /// The trial has no such factor, or the table no such level.
    pub fn pick<T: Copy>(&self, factor: &str, table: &[(&str, T)]) -> Result<T> {
        let level = self.level(factor)?;
        let found = table.iter().find(|(name, _)| *name == level);
        found
            .map(|(_, by)| *by)
            .ok_or_else(|| Stop::failed(format!("no code for level {level} of factor {factor}")))
    }

    /// The file that a level stands for, with its content, if that is what it was when the session
    /// was begun.
    pub fn program(&self, level: &str) -> Result<(&ProgramFile, Vec<u8>)> {
        let mut known = self.spec.programs.iter();
        let program = known
            .find(|program| program.level == level)
            .ok_or_else(|| Stop::failed(format!("the plan names no file for {level}")))?;
        Ok((program, crate::programs::unchanged(program).map_err(Stop::Failed)?))
    }

    /// Keeps a fact that was verified about the treatment.
    pub fn observe(&mut self, name: &str, value: impl Display) {
        self.observed.insert(name.into(), value.to_string());
    }

    /// The CPU for work that is to stay on one: the last of those allowed, since interrupts
    /// gather on the first.
    pub fn one_cpu(&self) -> Result<u32> {
        self.spec.cpus.last().copied().ok_or_else(|| Stop::failed("the plan gives no CPU"))
    }

    /// Another CPU than [`Trial::one_cpu`]: of another core if there is one, and near. Keeps both as those
    /// that the trial uses.
    pub fn other_cpu(&mut self) -> Result<u32> {
        Ok(self.pair(None)?[1])
    }

    /// Two CPUs with a relation; without one, [`Trial::one_cpu`] and the next in [`model::Topology::in_order`].
    /// Keeps both as those that the trial uses.
    pub fn pair(&mut self, relation: Option<Relation>) -> Result<[u32; 2]> {
        self.need_cpus(2)?;
        let (cpus, topology) = (&self.spec.cpus, &self.spec.topology);
        let pair = match relation {
            None => topology.in_order(cpus).first_chunk().copied(),
            Some(relation) => topology.pair(cpus, relation),
        };
        let pair = pair.ok_or_else(|| {
            Stop::unsupported(format!(
                "no two of CPUs {} are {}: choose others by --affinity, if the machine has such",
                sys::affinity::format_list(cpus),
                relation.map_or("different", Relation::describe)
            ))
        })?;
        self.uses(&pair);
        Ok(pair)
    }

    /// Keeps the CPUs on which the trial's threads and processes run, where these are more than the CPUs that
    /// it is confined to.
    pub fn uses(&mut self, cpus: &[u32]) {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        self.observe(model::CPUS_USED, sys::affinity::format_list(&cpus));
    }

    /// Confines this thread (and those it makes) to one CPU, and verifies it.
    pub fn pin_to_one(&mut self) -> Result<u32> {
        let cpu = self.one_cpu()?;
        self.pin(&[cpu])?;
        Ok(cpu)
    }

    /// Confines this thread (and those it makes) to some CPUs, and verifies it.
    pub fn pin(&mut self, cpus: &[u32]) -> Result<()> {
        sys::affinity::pin(cpus).map_err(|error| match error.is_unsupported() {
            true => error.into(),
            false => Stop::unsupported(format!("{error}: choose other CPUs by --affinity")),
        })?;
        let found = sys::affinity::allowed()?;
        crate::require!(
            found == cpus,
            "asked for CPUs {}, the kernel gave {}",
            sys::affinity::format_list(cpus),
            sys::affinity::format_list(&found)
        );
        self.observe(model::AFFINITY, sys::affinity::format_list(&found));
        Ok(())
    }

    /// Returns the NUMA node whose memory a thread on a CPU is to use: the CPU's own, or the farthest one.
    /// `None` where there is nothing to choose: near memory on a machine with one node, or of a node whose
    /// memory a cpuset withholds.
    pub fn memory_node(&self, cpu: u32, far: bool) -> Result<Option<u32>> {
        let nodes = &self.spec.topology.nodes;
        let allowed = sys::pages::node::allowed().unwrap_or_default();
        let own = nodes.iter().find(|node| node.cpus.contains(&cpu)).map(|node| node.node);
        if !far {
            return Ok(own.filter(|node| allowed.contains(node) && nodes.len() > 1));
        }
        // A CPU's own node may have no memory: then another one is the near one.
        let usable = nodes.iter().filter(|node| allowed.contains(&node.node)).count();
        let farthest = own.filter(|_| usable > 1).and_then(sys::pages::node::farthest);
        let none =
            || Stop::unsupported("needs two NUMA nodes whose memory scruple may use (cpuset.mems)");
        farthest.map(Some).ok_or_else(none)
    }

    /// Refuses the treatment unless `count` CPUs may be used at the same time.
    pub fn need_cpus(&self, count: usize) -> Result<()> {
        let have = self.spec.cpus.len();
        crate::require!(have >= count, "needs {count} CPUs at the same time, has {have}");
        Ok(())
    }

    /// Refuses the treatment unless one process may use so much memory: of what is available, and of
    /// what the limits allow that the session has inherited.
    pub fn need_memory(&self, bytes: u64) -> Result<()> {
        self.need_memory_in_all(bytes, bytes)
    }

    /// The same for processes that use so much in all, and `most` the largest of them: a cgroup limits
    /// the sum, and a resource limit each process.
    pub fn need_memory_in_all(&self, bytes: u64, most: u64) -> Result<()> {
        may_use(bytes, "memory", self.spec.memory_bytes, "available")?;
        limits::memory(bytes, most)
    }

    /// Refuses the treatment unless `count` more processes and threads may be started.
    pub fn need_tasks(&self, count: usize) -> Result<()> {
        limits::tasks(count as u64)
    }

    /// Refuses the treatment unless so much space may be used in the current folder.
    pub fn need_disk(&self, bytes: u64) -> Result<()> {
        may_use(bytes, "disk", self.spec.disk_bytes, "free")
    }

    /// Executes this program anew, in the same process, unless its environment already holds these
    /// variables. It serves settings that a program reads only before its first instruction, such
    /// as the libraries that the dynamic linker loads first, or glibc's tunables.
    ///
    /// Where it was needed it does not return: the trial begins from its first line, and what was
    /// observed before is forgotten. So it belongs there, before any thread. Treatments that are
    /// compared should all ask for some variable, so that all of them were executed twice.
    pub fn need_environment(&mut self, variables: &[(&str, &str)]) -> Result<()> {
        let is_there =
            |(name, value): &(&str, &str)| std::env::var_os(name).is_some_and(|is| is == *value);
        if variables.iter().all(is_there) {
            return Ok(());
        }
        model::ensure!(self.opened.is_none(), "an environment was asked for after the set-up");
        if self.again {
            let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
            return Err(Stop::unsupported(format!(
                "{} cannot be set: the dynamic linker takes such variables from a program whose \
                 rights were raised (set-user-ID, file capabilities); run one without",
                names.join(", ")
            )));
        }
        let spec = serde_json::to_string(&self.spec).map_err(ChannelError::from)?;
        let error = Command::new("/proc/self/exe")
            .args([crate::TRIAL, &self.spec.experiment, &self.read_ns.to_string(), &spec])
            .envs(variables.iter().copied())
            .exec();
        Err(Stop::failed(format!("execve(/proc/self/exe): {error}")))
    }

    /// Ends the set-up: times the calibration loop, tells the runner what was verified, waits for
    /// its `Go`, and opens the timed region.
    pub fn begin(&mut self) -> Result<()> {
        let mut pmu = Pmu::open();
        let set_up_ns = sys::clock::now_ns() - self.read_ns;
        // Not between `Go` and the region: what the set-up left in caches and branch predictors is
        // to be as near to it as it was. The loop is the instrument's, and no part of the set-up.
        let calibration_ns = calibration::pass_ns();
        let observed = std::mem::take(&mut self.observed);
        self.channel.say(&FromTrial::Ready { observed, set_up_ns })?;
        match self.channel.hear()? {
            ToTrial::Go => {}
            ToTrial::Run { .. } => return Err(Stop::failed("a second order to run came")),
        }
        pmu.begin();
        let opened = Opened {
            calibration_ns,
            pmu,
            io: sys::proc::io(sys::process::pid()),
            sched: sys::proc::schedstat_process(sys::process::pid()),
            migrations: sys::proc::migrations_thread(),
            usage: Usage::of_self().plus(Usage::of_children()),
            wall_ns: sys::clock::now_ns(),
        };
        self.opened = Some(opened);
        Ok(())
    }

    /// Closes the timed region, counts what happened in it, and times the calibration loop again.
    ///
    /// Children must have been awaited by now: the kernel adds their CPU time and faults to the
    /// parent's when it waits for them.
    pub fn end(&mut self) -> Result<&Counters> {
        let wall_ns = sys::clock::now_ns();
        let usage = Usage::of_self().plus(Usage::of_children());
        let migrations = sys::proc::migrations_thread();
        let sched = sys::proc::schedstat_process(sys::process::pid());
        let io = sys::proc::io(sys::process::pid());
        let Some(opened) = self.opened.as_ref() else {
            return Err(Stop::failed("the timed region was closed before it was opened"));
        };
        let counted = opened.pmu.end();
        let used = usage.since(opened.usage);
        let sched = sched.zip(opened.sched).map(|(now, then)| now.since(then));
        let io = io.zip(opened.io).map(|(now, then)| now.since(then));
        let moved = migrations.zip(opened.migrations);
        self.measured.counters = Counters {
            wall_ns: wall_ns - opened.wall_ns,
            user_ns: Some(used.user_ns),
            system_ns: Some(used.system_ns),
            minor_faults: Some(used.minor_faults),
            major_faults: Some(used.major_faults),
            voluntary_switches: Some(used.voluntary_switches),
            involuntary_switches: Some(used.involuntary_switches),
            on_cpu_ns: sched.map(|sched| sched.on_cpu_ns),
            queue_wait_ns: sched.map(|sched| sched.queue_wait_ns),
            migrations: moved.map(|(now, then)| now.saturating_sub(then)),
            blocks_in: Some(used.blocks_in),
            blocks_out: Some(used.blocks_out),
            read_bytes: io.map(|io| io.read_bytes),
            write_bytes: io.map(|io| io.write_bytes),
            pmu: pmu::named(&counted).into(),
        };
        self.counted = counted;
        // All is counted by now, so that the loop is in none of the counters.
        self.measured.calibration = Some(calibration::after(opened.calibration_ns));
        self.closed = true;
        Ok(&self.measured.counters)
    }

    /// Corrects or completes the counters where the trial knows better: of workers, say.
    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.measured.counters
    }

    /// Adds what the processor counted for the workers of a crew to what it counted for this thread.
    pub fn count_workers(&mut self, crew: &Crew) {
        let workers = crew.reports.iter().map(|report| report.counts);
        let all = pmu::sum(workers.chain([self.counted])).unwrap_or_default();
        self.measured.counters.pmu = pmu::named(&all).into();
    }

    /// Keeps what a program's threads waited for.
    pub fn waits(&mut self, waits: model::Waits) {
        self.measured.waits = Some(Box::new(waits));
    }

    /// Keeps observations: each value is the total over `per` operations.
    pub fn record(&mut self, response: &str, per: u64, values: Vec<i64>) {
        debug_assert!(per > 0, "an observation is of one operation at least");
        self.measured.series.push(Series { response: response.into(), per, values });
    }

    /// The same for counts and times.
    pub fn record_all(&mut self, response: &str, per: u64, values: impl IntoIterator<Item = u64>) {
        self.record(response, per, values.into_iter().map(|value| value as i64).collect());
    }

    /// Keeps one observation.
    pub fn record_one(&mut self, response: &str, value: i64) {
        self.record(response, 1, vec![value]);
    }

    /// Keeps one count or time, if it is known.
    pub fn record_known(&mut self, response: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.record_one(response, value as i64);
        }
    }

    /// Keeps a manipulation check: `seen` must lie within `low` and `high`; an infinite end is
    /// stored as the largest finite number, since JSON has no infinity.
    pub fn check(&mut self, name: &str, seen: f64, low: f64, high: f64) {
        self.note_check(name, seen, low, high, false);
    }

    /// The same for something that others can make fail by taking a CPU: that the trial's threads
    /// ran at the same time.
    pub fn check_cpus(&mut self, name: &str, seen: f64, low: f64, high: f64) {
        self.note_check(name, seen, low, high, true);
    }

    fn note_check(&mut self, name: &str, seen: f64, low: f64, high: f64, wants_cpus: bool) {
        let [seen, low, high] = [seen, low, high].map(|x| x.clamp(f64::MIN, f64::MAX));
        self.measured.checks.push(Check { name: name.into(), seen, low, high, wants_cpus });
    }

    /// Keeps something to be shown: at most [`EXHIBIT_ROWS_MAX`] rows, each as long as `columns`.
    pub fn exhibit(&mut self, title: &str, columns: &[&str], rows: Vec<Vec<String>>) {
        self.keep_exhibit(title, columns, rows, false);
    }

    /// Keeps an exhibit that opens its chapter: a picture, in whose last column each character is a cell.
    pub fn picture(&mut self, title: &str, columns: &[&str], rows: Vec<Vec<String>>) {
        self.keep_exhibit(title, columns, rows, true);
    }

    fn keep_exhibit(
        &mut self,
        title: &str,
        columns: &[&str],
        mut rows: Vec<Vec<String>>,
        pictured: bool,
    ) {
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()), "{title}: a ragged table");
        let rows_left_out = rows.len().saturating_sub(EXHIBIT_ROWS_MAX) as u64;
        rows.truncate(EXHIBIT_ROWS_MAX);
        self.measured.exhibits.push(Exhibit {
            title: title.into(),
            columns: columns.iter().map(|column| column.to_string()).collect(),
            rows,
            rows_left_out,
            pictured,
        });
    }

    /// Lets `answer` keep what the same run says of each of the other treatments that it was asked for
    /// ([`Spec::also`]), as if that were the trial's own.
    ///
    /// # Errors
    /// Those of `answer`.
    pub fn answer_others(
        &mut self,
        mut answer: impl FnMut(&mut Self, &Treatment) -> Result<()>,
    ) -> Result<()> {
        for treatment in std::mem::take(&mut self.spec.also) {
            let own = (std::mem::take(&mut self.measured), std::mem::take(&mut self.observed));
            let answered = answer(self, &treatment);
            let other = std::mem::replace(&mut self.measured, own.0);
            let observed = std::mem::replace(&mut self.observed, own.1);
            answered?;
            self.others.push(Answer { measured: other, observed });
        }
        Ok(())
    }

    /// What was measured, for the answer: of its own treatment, what was observed of it, and of others.
    pub(crate) fn finish(self) -> Result<Finished, String> {
        model::ensure!(self.closed, "the trial ended without closing its timed region");
        Ok((self.measured, self.observed, self.others))
    }
}

/// Whether the trial may use that many bytes of something.
fn may_use(bytes: u64, what: &str, have: u64, state: &str) -> Result<()> {
    if have >= bytes {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "needs {} MB of {what}, may use {} MB of what is {state} here",
        bytes / 1_000_000,
        have / 1_000_000
    )))
}
