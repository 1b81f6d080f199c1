use crate::conversation::{Conversation, Cut, Instants, violation};
use crate::guard::{Guard, Message, UNWINDING};
use crate::others::{Other, Others};
use crate::pauses::Pauses;
use crate::plan::{padding_bytes, trial_seed};
use crate::scratch::Scratch;
use crate::settings::Settings;
use crate::surroundings::Before;
use crate::{Error, Shield};
use model::{
    Answer, Design, FromTrial, Measured, Outcome, PROTOCOL_VERSION, Phase, ProcessUsage, Record,
    Spec, Surroundings, ToTrial, Treatment, Waits,
};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use sys::cgroup::{Freezers, Quotas};
use sys::task::{Ended, Pid};

/// A trial that has answered gets this long to end: gigabytes take a while to unmap.
const ENDING: Duration = Duration::from_secs(5);

/// How long processes that a trial left behind get to die of SIGKILL.
const DYING: Duration = Duration::from_secs(5);

/// One trial to conduct.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The experiment.
    pub design: &'a Design,
    /// What is to be realised.
    pub treatment: &'a Treatment,
    /// The trial's number in the session.
    pub trial: u64,
    /// The block.
    pub block: u32,
    /// The place in the block.
    pub position: u32,
    /// When a trial that still runs is ended; none for its design's limit alone.
    pub until: Option<Instant>,
}

/// Conducts trials, one at a time, and leaves nothing of them behind.
#[derive(Debug)]
pub struct Runner {
    settings: Settings,
    // Fields are dropped in this order: the shield is lowered while the guard still watches.
    shield: Shield,
    guard: Guard,
    scratch: Scratch,
    others: Others,
    /// The quotas of CPU time that hold the trials, which inherit this process's cgroup.
    quotas: Quotas,
    /// The hierarchies in which somebody may freeze a trial.
    freezers: Freezers,
    /// Children that this process had before it conducted anything: a shell may have started them
    /// and then become us. They are nobody's orphans.
    foreign: Vec<Pid>,
    /// What could not be cleared away after a trial; no other trial starts beside it.
    unclear: Option<Error>,
}

/// What is known of a trial while it lives.
#[derive(Debug, Default)]
struct Known {
    begun_ns: u64,
    observed: BTreeMap<String, String>,
    measured: Option<Measured>,
    others: Vec<Answer>,
    spawn_to_ready_ns: Option<u64>,
    harness_ns: Option<u64>,
    measuring_ns: Option<u64>,
    runner_cpu_ns: Option<u64>,
}

/// How the talk with a trial went, before its exit status is known: the outcome that it reported (none if it
/// measured), or why it gave no answer.
type Talk = Result<Option<Outcome>, Cut>;

impl Runner {
    /// Prepares for trials: guard, scratch folder, shield.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        Self::start_with(settings, || Ok(()))
    }

    /// Starts a launcher where the caller makes the folder that [`Settings::scratch`] names. It is
    /// made when the guard knows of it: a caller that is killed earlier has not made it.
    pub fn start_with(
        settings: Settings,
        make_scratch: impl FnOnce() -> std::io::Result<()>,
    ) -> Result<Self, Error> {
        let foreign = sys::process::adopted_children(&[]);
        sys::process::become_subreaper()?;
        let mut guard = Guard::start(Vec::new())?;
        // One folder per runner: the guard of a killed one must not clear away the next one's.
        let mut settings = settings;
        let own = format!("{}-{}", sys::process::pid(), sys::clock::now_ns());
        let shared = std::mem::take(&mut settings.scratch);
        settings.scratch = shared.join(own);
        let refused = |cause| Error::Scratch { path: shared.clone(), cause };
        let scratch = Scratch::at(settings.scratch.clone()).map_err(refused)?;
        guard.tell(Message::Scratch(settings.scratch.clone().into()));
        make_scratch().map_err(refused)?;
        let shield = Shield::raise(&settings, &mut guard)?;
        // In the shield by now: its cgroup is the one the trials are born in.
        let quotas = Quotas::of_own();
        let freezers = Freezers::here();
        let others = Others::on(&settings.cpus);
        let unclear = None;
        Ok(Runner { settings, shield, guard, scratch, others, quotas, freezers, foreign, unclear })
    }

    /// How trials are shielded.
    pub fn shield(&self) -> &Shield {
        &self.shield
    }

    /// What the trials have in common.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts another guard if somebody killed it, since nobody would clean up after a runner that is
    /// killed. Returns whether it did.
    ///
    /// # Errors
    /// If none can be started: no trial is conducted without a guard.
    pub(crate) fn renew_guard(&mut self) -> Result<bool, Error> {
        let is_new = self.guard.renew()?;
        if is_new {
            self.shield.leads_out(self.guard.pid())?;
        }
        Ok(is_new)
    }

    /// Returns the sessions on the same CPUs that were not returned before.
    pub(crate) fn new_others(&mut self) -> Vec<Other> {
        self.others.look();
        self.others.news()
    }

    /// Conducts one trial. Whatever happens to it is in the record; an error means that no trial
    /// can be conducted any more. If somebody asks this process to stop meanwhile, or [`Order::until`]
    /// comes, the trial is ended and has no record: what was cut short from outside says nothing about it.
    pub fn conduct(&mut self, order: &Order<'_>) -> Result<Option<Record>, Error> {
        Ok(self.conduct_also(order, &[])?.pop())
    }

    /// Conducts one trial that also answers other treatments, each with its place in the block; their
    /// records come behind its own, with the numbers behind its own. There are none where
    /// [`conduct`](Self::conduct) has none.
    pub(crate) fn conduct_also(
        &mut self,
        order: &Order<'_>,
        also: &[(u32, Treatment)],
    ) -> Result<Vec<Record>, Error> {
        if let Some(error) = self.unclear.take() {
            return Err(error);
        }
        self.cpus_are_there()?;
        let seed = trial_seed(self.settings.seed, &order.design.id, order.block, order.treatment);
        let folder = self.scratch.folder_of(order.trial)?;
        let others = self.others.look();
        let started_unix_ms = sys::clock::unix_ms();
        let oom_kills = sys::proc::oom_kills();
        let before = Before::now(&self.quotas);
        let begun_ns = sys::clock::now_ns();

        let (pid, mut talk) = self.spawn(padding_bytes(seed), &folder, order.design)?;
        self.guard.tell(Message::Group(Some(pid)));
        let mut known = Known { begun_ns, ..Known::default() };
        let talked = self.talk(order, also, seed, &mut talk, &mut known);
        let (ended, leaked) = self.bury(pid, &mut talk, &talked, order.design)?;
        let total_ns = sys::clock::now_ns() - begun_ns;
        self.guard.tell(Message::Group(None));

        if matches!(talked, Err(Cut::Interrupted | Cut::OutOfTime)) {
            self.clear(order.trial);
            return Ok(Vec::new());
        }
        let killed_for_memory = sys::proc::oom_kills() > oom_kills;
        let outcome = judge(talked, &ended, leaked, killed_for_memory, &mut talk);
        if !matches!(outcome, Outcome::Completed { .. }) {
            known.measured = None;
            if self.is_stopped(order.trial)? {
                return Ok(Vec::new());
            }
        }
        let usage = ended.ended.usage;
        let waits = known.measured.as_ref().and_then(|measured| measured.waits.as_deref());
        let own_ns = usage.user_ns + usage.system_ns + waits.map_or(0, Waits::peers_ns);
        let machine = before.until_now(&self.quotas, own_ns);
        let record = Record {
            trial: order.trial,
            experiment: order.design.id.as_str().into(),
            block: order.block,
            position: order.position,
            treatment: order.treatment.clone(),
            started_unix_ms,
            padding_bytes: padding_bytes(seed),
            outcome,
            observed: known.observed.into(),
            measured: known.measured,
            process: Some(process_usage(&usage)),
            spawn_to_ready_ns: known.spawn_to_ready_ns,
            harness_ns: known.harness_ns,
            measuring_ns: known.measuring_ns,
            // One run for all of them.
            total_ns: total_ns / (also.len() as u64 + 1),
            runner_cpu_ns: known.runner_cpu_ns,
            machine: Surroundings {
                trial_pauses: talk.pauses(),
                other_sessions: others.max(self.others.look()),
                ..machine
            },
            log: talk.log_text(),
        };
        self.clear(order.trial);
        Ok(with_others(record, also, known.others))
    }

    /// Reports whether a trial did not complete because this process is asked to stop: who asks all processes
    /// also asks the trial, and that is no outcome of it. An error if its CPUs are gone.
    fn is_stopped(&mut self, trial: u64) -> Result<bool, Error> {
        let stopped = sys::interrupt::requested().is_some();
        let found = if stopped { Ok(()) } else { self.cpus_are_there() };
        if stopped || found.is_err() {
            self.clear(trial);
        }
        found.map(|()| stopped)
    }

    /// Whether the session's CPUs can still be used: one may be taken offline at any time, and each trial
    /// would refuse its treatment then.
    fn cpus_are_there(&self) -> Result<(), Error> {
        let allowed = sys::affinity::allowed()?;
        let gone = |cpu: &u32| !allowed.contains(cpu);
        let cpus: Vec<u32> = self.settings.cpus.iter().copied().filter(gone).collect();
        if cpus.is_empty() {
            return Ok(());
        }
        Err(Error::CpusGone { cpus: sys::affinity::format_list(&cpus) })
    }

    /// Removes the files and cgroups of a trial that is over. What cannot be removed is no fault
    /// of the trial, whose record stands; it keeps the next one from starting.
    fn clear(&mut self, trial: u64) {
        self.shield.tidy();
        self.unclear = self.scratch.clear(trial).err();
    }

    fn talk(
        &self,
        order: &Order<'_>,
        also: &[(u32, Treatment)],
        seed: u64,
        talk: &mut Conversation,
        known: &mut Known,
    ) -> Talk {
        let [memory_cgroup, cpu_cgroup] = self.shield.trials_cgroups();
        let spec = Spec {
            experiment: order.design.id.clone(),
            treatment: order.treatment.clone(),
            also: also.iter().map(|(_, treatment)| treatment.clone()).collect(),
            cpus: self.settings.cpus.clone(),
            topology: self.settings.topology.clone(),
            seed,
            timed_ns: self.settings.profile.timed_ns(),
            profile: self.settings.profile,
            memory_bytes: self.settings.memory_bytes,
            disk_bytes: self.settings.disk_bytes,
            memory_cgroup,
            cpu_cgroup,
            subject: order.design.subject.clone().map(Box::new),
            programs: order.design.programs.clone(),
        };
        // The trial may be gone already; what became of it is seen below.
        let _ = talk.say(&ToTrial::Run { version: PROTOCOL_VERSION, spec: Box::new(spec) });
        match hear(talk, order, Phase::SettingUp)? {
            FromTrial::Ready { observed, set_up_ns } => {
                let ready_ns = talk.woken().wall_ns - known.begun_ns;
                known.observed = observed;
                known.spawn_to_ready_ns = Some(ready_ns);
                known.harness_ns = Some(ready_ns.saturating_sub(set_up_ns));
            }
            other => return answered(other, Phase::SettingUp, known),
        }
        let go = Instants::now();
        let _ = talk.say(&ToTrial::Go);
        // Its own time: what the set-up took is not taken from the measurement.
        let heard = hear(talk, order, Phase::Measuring);
        let answer = talk.woken();
        known.measuring_ns = Some(answer.wall_ns - go.wall_ns);
        known.runner_cpu_ns = Some(answer.cpu_ns - go.cpu_ns);
        let talk = answered(heard?, Phase::Measuring, known)?;
        if known.measured.is_some() && known.others.len() != also.len() {
            let why = "did not answer as many treatments as it was asked for";
            return Err(Cut::Kill(violation(why)));
        }
        Ok(talk)
    }

    fn spawn(
        &self,
        padding_bytes: u32,
        folder: &Path,
        design: &Design,
    ) -> Result<(Pid, Conversation), Error> {
        let start = |cause| Error::Start { what: "trial", cause };
        let (ours, theirs) = UnixStream::pair().map_err(start)?;
        let (log, printed) = std::io::pipe().map_err(start)?;
        let mut command = Command::new("/proc/self/exe");
        if design.subject.is_none() {
            command.env_clear();
        }
        // A program of the user's gets the user's environment; it passes through and is not stored.
        let child = command
            .arg(kit::TRIAL)
            .arg(&design.id)
            .env("SCRUPLE_PADDING", "x".repeat(padding_bytes as usize))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(printed.try_clone().map_err(start)?))
            .stderr(Stdio::from(printed))
            .current_dir(folder)
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let pid = child.id() as Pid;
        let process = sys::pidfd::open(pid)?;
        let pauses = Pauses::new(pid, design.subject.is_some(), self.freezers.clone());
        let talk = Conversation::new(ours, log, process, pauses).map_err(start)?;
        Ok((pid, talk))
    }

    /// Ends whatever is left of the trial. Its group is killed before its leader is reaped, so
    /// that the group's number cannot have been given to somebody else; what left the group comes
    /// to us as its orphans' reaper and is killed too.
    fn bury(
        &mut self,
        pid: Pid,
        talk: &mut Conversation,
        talked: &Talk,
        design: &Design,
    ) -> Result<(Buried, u32), Error> {
        let in_time = match talked {
            Err(Cut::Kill(_) | Cut::Interrupted | Cut::OutOfTime) => false,
            _ => talk.process_ends(Instant::now() + ENDING),
        };
        if !in_time && design.subject.is_some() {
            unwind(pid, talk);
        }
        let own = sys::process::pid();
        let spared = [&self.foreign[..], &[self.guard.pid()]].concat();
        // Still a zombie, so its orphans are ours by now and its group's number is its own.
        let leaked = if in_time { sys::process::descendants(own, &spared).len() } else { 0 };
        sys::process::kill_group(pid, sys::signal::SIGKILL)?;
        let ended = sys::task::wait(pid)?;
        sys::process::kill_descendants(own, &spared, DYING).map_err(|cause| {
            let experiment = design.id.clone();
            Error::Unkillable { experiment, cause }
        })?;
        sys::process::reap_adopted(&spared)?;
        Ok((Buried { ended, in_time }, leaked as u32))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // The guard hears that it is done after this.
        self.scratch.remove();
    }
}

/// How a trial's process ended.
#[derive(Debug)]
struct Buried {
    ended: Ended,
    /// It ended by itself, before it was killed.
    in_time: bool,
}

/// Has the trial of a program of the user's end that program, and does it in its place if it does
/// not. The program is in no group of ours, but all that comes of it is below the trial, which
/// adopts orphans, as long as the trial lives.
fn unwind(pid: Pid, talk: &mut Conversation) {
    talk.hang_up();
    if !talk.process_ends(Instant::now() + UNWINDING) {
        // Who cannot be killed is found again below, as an orphan of ours, and then named.
        let _ = sys::process::kill_descendants(pid, &[], DYING);
    }
}

/// Waits for the trial's next message, for as long as its design and the order allow from now.
fn hear(talk: &mut Conversation, order: &Order<'_>, phase: Phase) -> Result<FromTrial, Cut> {
    let own = Instant::now() + Duration::from_millis(order.design.time_limit_ms);
    match talk.hear(order.until.map_or(own, |until| until.min(own)), phase) {
        Err(Cut::Kill(Outcome::TimedOut { .. }))
            if order.until.is_some_and(|until| until < own) =>
        {
            Err(Cut::OutOfTime)
        }
        heard => heard,
    }
}

fn answered(message: FromTrial, phase: Phase, known: &mut Known) -> Talk {
    match message {
        FromTrial::Measured { measured, observed, others } if phase == Phase::Measuring => {
            known.observed.extend(observed);
            known.others = others;
            known.measured = Some(*measured);
            Ok(None)
        }
        FromTrial::Unsupported { reason } => Ok(Some(Outcome::Unsupported { reason })),
        FromTrial::Failed { reason } => Ok(Some(Outcome::Failed { reason })),
        FromTrial::Measured { .. } => {
            Err(Cut::Kill(violation("sent its measurement before the runner said go")))
        }
        FromTrial::Ready { .. } => Err(Cut::Kill(violation("said that it is ready a second time"))),
    }
}

/// A trial's record, and those of the treatments that it answered next to its own, which share its fate.
fn with_others(own: Record, also: &[(u32, Treatment)], answers: Vec<Answer>) -> Vec<Record> {
    let mut answers = answers.into_iter();
    let record = |(trial, (position, treatment)): (u64, &(u32, Treatment))| {
        let answer = answers.next().filter(|_| own.measured.is_some());
        let (measured, observed) =
            answer.map_or((None, BTreeMap::new()), |it| (Some(it.measured), it.observed));
        let (position, treatment) = (*position, treatment.clone());
        let observed = if measured.is_some() { observed.into() } else { own.observed.clone() };
        Record { trial, position, treatment, measured, observed, process: None, ..own.clone() }
    };
    let others: Vec<Record> = (own.trial + 1..).zip(also).map(record).collect();
    std::iter::once(own).chain(others).collect()
}

/// The outcome, from what was said and how the process ended.
fn judge(
    talked: Talk,
    buried: &Buried,
    leaked: u32,
    killed_for_memory: bool,
    talk: &mut Conversation,
) -> Outcome {
    let phase = match &talked {
        Err(Cut::Kill(outcome)) => return outcome.clone(),
        Err(Cut::Ended(phase)) => *phase,
        Ok(_) | Err(Cut::Interrupted | Cut::OutOfTime) => Phase::Ending,
    };
    if !buried.in_time {
        return Outcome::TimedOut { phase };
    }
    if let Some(signal) = buried.ended.signal {
        return if signal == sys::signal::SIGKILL && killed_for_memory {
            Outcome::OutOfMemory { phase }
        } else {
            Outcome::Died { signal, phase }
        };
    }
    match talked {
        Ok(_) if talk.has_unread() => violation("said more after its answer"),
        Ok(Some(outcome)) => outcome,
        Ok(None) => Outcome::Completed { leaked },
        Err(_) => violation(format!(
            "ended with exit code {} and no answer",
            buried.ended.code.unwrap_or_default()
        )),
    }
}

fn process_usage(usage: &sys::usage::Usage) -> ProcessUsage {
    ProcessUsage {
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
    }
}
