//! One run of a program, from its first instruction to its end.

use super::late::Late;
use super::loaded::Loaded;
use super::{Moment, Window, options};
use crate::destination::Stopped as Interrupted;
use crate::exit::Exit;
use crate::session;
use isa::cache::Cache;
use isa::pipeline::Cycles;
use isa::system::{Config, Profile, Seen, System};
use isa::{Kind, Machine, Step, Stopped};
use model::{CoreCache, CoreCause, CoreFunction, CoreLine, CoreRun};

/// Steps between two questions whether to go on.
pub(super) const UNASKED_STEPS: u64 = 1 << 22;

/// The instructions and functions that are listed.
const LINES_MAX: usize = 10;

/// Steps that are shown before the first event that is looked for.
const BEFORE: u64 = 3;

/// What a run left.
pub(super) struct Ran {
    pub(super) machine: Machine,
    pub(super) system: System,
    profile: Profile,
    stopped: Stopped,
    pub(super) failure: Option<String>,
    short: u64,
    traps: u64,
    /// What was read too early, in words.
    late: Option<String>,
    pub(super) window: Option<Window>,
    /// The step at which the window begins; none where its event never came.
    pub(super) begins: Option<u64>,
}

impl Ran {
    pub(super) fn is_limited(&self) -> bool {
        self.stopped == Stopped::Limit
    }

    /// Returns how the command ends.
    pub(super) fn exit(&self) -> Exit {
        match &self.failure {
            Some(_) => Exit::Error,
            None if self.is_limited() => Exit::Incomplete,
            None => Exit::Done,
        }
    }

    /// Returns how the program ended, in words.
    pub(super) fn ended(&self, loaded: &Loaded) -> String {
        match (self.machine.returned(self.stopped), self.stopped) {
            (Some(result), _) => format!("main returned {result}"),
            (None, Stopped::Unhandled { pc, trap }) if self.failure.is_none() => {
                let line = loaded.line_said(pc);
                let line = line.map_or_else(String::new, |line| format!(", {line}"));
                format!("{} at {pc:#010x}{line}; --skip-ebreak goes on behind it", trap.cause)
            }
            (None, stopped) => stopped.to_string(),
        }
    }

    /// Returns what the program wanted and did not get, in words.
    pub(super) fn notes(&self, has_input: bool) -> Vec<String> {
        let reads = self.machine.reads_nothing();
        let reads = (reads > 0).then(|| {
            let times = wording::counted(reads, "time");
            let remedy = match has_input {
                true => "behind the end of --input, and got 0 or the end of a file",
                false => "and got 0 or the end of a file; --input FILE gives it something to read",
            };
            format!("the program read {times} {remedy}")
        });
        let name = |name: &str| wording::short(name, 60);
        let missing = self.machine.missing_file().map(|file| {
            format!(
                "the program could not open {}; it is looked for beside the program",
                name(file)
            )
        });
        let written = self.machine.written_files().map(|(file, bytes)| {
            let bytes = wording::counted(bytes as u64, "byte");
            format!("the program wrote {bytes} to {}, which are not kept", name(file))
        });
        let late = self.late.clone();
        late.into_iter().chain(reads).chain(missing).chain(written).collect()
    }
}

/// Runs a program to its end, or to the limit of instructions.
///
/// # Errors
/// If it does not fit the machine, carries out nothing, or the command is asked to end.
pub(super) fn run(loaded: &Loaded, config: &Config, window: Option<Window>) -> anyhow::Result<Ran> {
    let mut machine = loaded.start()?;
    let mut system = System::new(config)?;
    let mut profile = Profile::new();
    let (mut short, mut traps, mut steps, mut begins) = (0, 0, 0, window.is_none().then_some(0));
    let mut finder = Finder { window, last_after: 2 };
    let mut charger = Charger { last: loaded.program.entry, ..Charger::default() };
    let limit = loaded.file.instructions_max;
    let mut late = Late::of(&config.core);
    let stopped = loop {
        let at_once = if late.is_some() { 1 } else { UNASKED_STEPS };
        let most = (limit - machine.steps()).min(at_once);
        let mut last = None;
        if let Some(late) = &mut late {
            late.before(&mut machine);
        }
        let stopped = machine.run(most, |step| {
            let seen = system.step(step);
            if at_once == 1 {
                last = Some((*step, seen));
            }
            charger.note(step, seen, system.cycles(), &mut profile);
            short += u64::from(step.size == 2 && step.trap.is_none());
            traps += u64::from(step.trap.is_some());
            if begins.is_none() && finder.finds(step, &seen) {
                begins = Some(steps);
            }
            steps += 1;
            seen.cycles
        });
        if let (Some(late), Some((step, seen))) = (&mut late, last) {
            late.after(&mut machine, &step, &seen);
        }
        if stopped != Stopped::Limit || machine.steps() == limit {
            break stopped;
        }
        if sys::interrupt::requested().is_some() {
            return Err(std::io::Error::other(Interrupted).into());
        }
    };
    if machine.steps() == 0 {
        let why = machine.failure(stopped).unwrap_or_else(|| stopped.to_string());
        anyhow::bail!("{}: it carries out no instruction: {why}", loaded.file.path);
    }
    let failure = machine.failure(stopped).map(|why| why + &at_fault(loaded, &machine, stopped));
    if let Some(Window::First(_)) = window {
        begins = begins.map(|step: u64| step.saturating_sub(BEFORE));
    }
    let late = late.and_then(|late| late.said(loaded, &machine));
    Ok(Ran { late, machine, system, profile, stopped, failure, short, traps, window, begins })
}

/// Returns the line of the first load or store where no memory is, or of the instruction that trapped; empty where
/// there was none or it is unknown.
fn at_fault(loaded: &Loaded, machine: &Machine, stopped: Stopped) -> String {
    let pc = match (machine.access_fault(), stopped) {
        (None, Stopped::Unhandled { pc, .. }) => Some(pc),
        (fault, _) => fault.map(|(pc, _)| pc),
    };
    let line = pc.and_then(|pc| loaded.line_said(pc));
    line.map_or_else(String::new, |line| format!("; {line}"))
}

/// Charges cycles to the instruction that is the reason of them: what is lost behind a branch or a trap, and what
/// data keep others waiting, to that instruction and not to the next.
#[derive(Default)]
struct Charger {
    /// The instruction before, and for how many cycles it waits for its data.
    last: u32,
    waited: u64,
    /// What was lost so far behind instructions, and what was waited for data.
    lost: u64,
}

impl Charger {
    #[inline]
    fn note(&mut self, step: &Step, seen: Seen, cycles: &Cycles, profile: &mut Profile) {
        let waits = seen.times.memory - seen.times.after - 1;
        let lost = cycles.control + cycles.trap + cycles.trap_return + cycles.memory;
        // The wait of the last instruction is among the cycles before anybody is held up by it.
        let behind = (lost + self.waited).saturating_sub(self.lost + waits).min(seen.cycles);
        (self.lost, self.waited) = (lost, waits);
        profile.note(step, &Seen { cycles: seen.cycles - behind, ..seen });
        if behind > 0 {
            profile.charge(self.last, behind);
        }
        self.last = step.pc;
    }
}

/// Looks for the step at which a window begins.
struct Finder {
    window: Option<Window>,
    last_after: u64,
}

impl Finder {
    fn finds(&mut self, step: &Step, seen: &Seen) -> bool {
        let times = &seen.times;
        let last_after = std::mem::replace(&mut self.last_after, times.after);
        match self.window {
            None => false,
            // It is in WB in this cycle or later.
            Some(Window::Cycles(from, _)) => times.memory >= from,
            Some(Window::First(Moment::Trap)) => step.trap.is_some(),
            Some(Window::First(Moment::Stall)) => {
                times.execute > (times.decode + 1).max(last_after)
            }
            Some(Window::First(Moment::Branch)) => {
                step.kind == Kind::Branch && times.turns.is_some()
            }
            Some(Window::First(Moment::Miss)) => seen.instruction_misses + seen.data_misses > 0,
        }
    }
}

/// Returns what is shown of a run.
pub(super) fn result(loaded: &Loaded, config: &Config, ran: &Ran) -> CoreRun {
    let Ran { machine, system, .. } = ran;
    let cycles = system.cycles();
    let causes = cycles.by_cause().into_iter();
    let caches = [
        ("instructions", system.instruction()),
        ("data", system.data()),
        ("both (second level)", system.second()),
    ];
    CoreRun {
        scruple: session::VERSION.into(),
        file: loaded.file.path.clone(),
        sha256: loaded.file.sha256.clone(),
        failure: ran.failure.clone().unwrap_or_default(),
        limited: ran.is_limited(),
        ended: ran.ended(loaded),
        status: match ran.stopped {
            Stopped::Exited { status } => Some((status as i32).into()),
            _ => None,
        },
        output: String::from_utf8_lossy(machine.output()).into_owned(),
        text_bytes: loaded.program.text_bytes,
        instructions: machine.retired(),
        short_instructions: ran.short,
        traps: ran.traps,
        outside: machine.outside(),
        cycles: cycles.total(),
        causes: causes.map(|one| CoreCause { name: one.name.into(), cycles: one.cycles }).collect(),
        pipeline: options::shown(&config.core),
        caches: caches
            .into_iter()
            .filter_map(|(name, cache)| Some(self::cache(name, cache?)))
            .collect(),
        curves: Vec::new(),
        branches: system.predictor().branches(),
        mispredicted: system.predictor().mispredicted(),
        lines: lines(loaded, ran),
        functions: functions(loaded, ran),
    }
}

fn cache(name: &str, cache: &Cache) -> CoreCache {
    let (config, tally) = (cache.config(), cache.tally());
    let geometry = config.geometry();
    CoreCache {
        name: name.into(),
        sets: geometry.sets(),
        ways: geometry.ways(),
        line_bytes: geometry.line_bytes(),
        policy: config.policy().name().into(),
        accesses: tally.accesses,
        cold: tally.cold,
        conflict: tally.conflict,
        capacity: tally.capacity,
        fetched_bytes: tally.fetched_bytes(geometry),
        written_back: tally.written_back,
        written_through: tally.written_through,
    }
}

/// Returns the instructions that took most cycles.
fn lines(loaded: &Loaded, ran: &Ran) -> Vec<CoreLine> {
    let mut spots = ran.profile.spots();
    spots.sort_by_key(|(pc, spot)| (std::cmp::Reverse(spot.cycles), *pc));
    let line = |(address, spot): (u32, isa::system::Spot)| CoreLine {
        address,
        text: loaded.code(&ran.machine, address).0,
        place: loaded.place(address),
        line: loaded.line(address),
        executions: spot.steps,
        cycles: spot.cycles,
    };
    spots.into_iter().take(LINES_MAX).map(line).collect()
}

/// Returns the functions that took most cycles; labels within a function belong to it.
fn functions(loaded: &Loaded, ran: &Ran) -> Vec<CoreFunction> {
    let mut program = loaded.program.clone();
    if program.symbols.iter().any(|symbol| symbol.size > 0) {
        program.symbols.retain(|symbol| symbol.size > 0);
    }
    let all = ran.profile.functions(&program).into_iter();
    let named = all.filter_map(|(symbol, spot)| {
        let name = wording::short(&symbol?.name, 100);
        Some(CoreFunction { name, executions: spot.steps, cycles: spot.cycles })
    });
    named.take(LINES_MAX).collect()
}
