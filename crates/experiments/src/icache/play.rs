//! A program before caches, all of them in one run.

use super::start::{load, start};
use isa::cache::{Config, Fetch, Geometry, GeometryError, Policy, Sweep, Tally, smallest_reaching};
use isa::pipeline::{Cycles, Parameters};
use isa::system::System;
use isa::{Machine, Program, Step, Stopped};
use kit::model::{ProgramFile, Replacement};
use kit::{Result, Stop};

/// The carried program, an executable file, by each compiler: GCC 14.2 and GCC 12.2.
pub(super) type Build = [&'static [u8]; 2];

/// It is compiled for RV32IM: all instructions have 32 bits.
pub(super) const IM: Build = [
    include_bytes!("../../../isa/reference/gcc14-rv32im.elf"),
    include_bytes!("../../../isa/reference/gcc12-rv32im.elf"),
];

/// It is compiled for RV32IMC: they have 32 and 16 bits.
pub(super) const IMC: Build = [
    include_bytes!("../../../isa/reference/gcc14-rv32imc.elf"),
    include_bytes!("../../../isa/reference/gcc12-rv32imc.elf"),
];

/// What random replacement draws from, so that it is the same everywhere.
const SEED: u64 = 1;

/// Returns the policy by which a cache replaces its lines.
#[must_use]
pub fn policy(replacement: Replacement) -> Policy {
    match replacement {
        Replacement::Lru => Policy::Lru,
        Replacement::Fifo => Policy::Fifo,
        Replacement::Random => Policy::Random { seed: SEED },
        Replacement::Plru => Policy::Tree,
    }
}

/// How lines are placed in a cache, and which one gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placing {
    /// Lines of a set; 0 for a set of all lines.
    pub(super) ways: u32,
    pub(super) policy: Replacement,
}

impl Placing {
    /// LRU with that number of ways.
    pub(super) fn lru(ways: u32) -> Self {
        Placing { ways, policy: Replacement::Lru }
    }

    /// Returns the cache of `bytes` bytes; an error if there is none.
    pub(super) fn cache(self, bytes: u32, line_bytes: u32) -> Result<Config, GeometryError> {
        let lines = bytes.checked_div(line_bytes).unwrap_or(0);
        let ways = if self.ways == 0 { lines } else { self.ways };
        let sets = lines.checked_div(ways).unwrap_or(0);
        let config = Config::new(Geometry::new(sets, ways, line_bytes)?, policy(self.policy))?;
        if config.geometry().bytes() == u64::from(bytes) {
            return Ok(config);
        }
        // Not a whole number of sets.
        Err(GeometryError::Lines { lines: 0 })
    }

    /// Returns the caches among which one is looked for that is as good as another: of up to
    /// [`EQUAL_BYTES_MAX`], every number of lines where there is one set under LRU, else the powers of two.
    fn candidates(self, line_bytes: u32) -> Vec<Config> {
        let lines = 1..=EQUAL_BYTES_MAX / line_bytes;
        let any = self == Placing::lru(0);
        let lines = lines.filter(|lines| any || lines.is_power_of_two());
        lines.filter_map(|lines| self.cache(lines * line_bytes, line_bytes).ok()).collect()
    }
}

/// A carried program that has not ended by then never will.
const STEPS_MAX: u64 = 10_000_000;

/// The largest cache that a program is given to be as good as another.
const EQUAL_BYTES_MAX: u32 = 4096;

/// What is run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Code {
    program: Program,
    file: ProgramFile,
}

impl Code {
    /// One of the programs that scruple carries.
    pub(super) fn carried(program: &[u8]) -> Result<Self> {
        let file = ProgramFile { instructions_max: STEPS_MAX, ..ProgramFile::default() };
        Self::of(program, &file).map_err(Stop::Failed)
    }

    /// A program in an ELF file.
    ///
    /// # Errors
    /// A sentence that says why it is none for this machine.
    pub(super) fn of(content: &[u8], file: &ProgramFile) -> Result<Self, String> {
        Ok(Self { program: load(content, file)?, file: file.clone() })
    }

    /// Bytes of its instructions in memory.
    pub(super) fn text_bytes(&self) -> u32 {
        self.program.text_bytes
    }

    /// A machine at its first instruction.
    pub(super) fn start(&self) -> Result<Machine, String> {
        start(&self.program, &self.file)
    }

    /// Runs it to its end, shows each step, and returns the machine and how it ended.
    ///
    /// # Errors
    /// A sentence that says why its end is none to go by.
    pub(super) fn run(&self, observe: impl FnMut(&Step)) -> Result<(Machine, Stopped), String> {
        let mut machine = self.start()?;
        let stopped = machine.run(self.file.instructions_max, observe);
        kit::ensure!(machine.steps() != 0, "it carries out no instruction: {stopped}");
        match machine.failure(stopped) {
            Some(why) => {
                let (name, steps) = (&self.file.level, machine.steps());
                Err(format!("{name} failed after {steps} steps: {why}"))
            }
            None => Ok((machine, stopped)),
        }
    }
}

/// What a program runs before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) cache: Config,
    /// How the cache's lines are placed, for those that are to be as good as it.
    pub(super) placing: Placing,
    /// The pipeline that waits for every missed line that an instruction touches, if its cycles are asked
    /// for.
    pub(super) core: Option<Parameters>,
}

/// What a run of a program shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Bytes of its instructions in memory.
    pub(super) text_bytes: u32,
    /// Instructions carried out.
    pub(super) instructions: u64,
    /// Those of 16 bits.
    pub(super) short: u64,
    /// Bytes of all instructions carried out.
    pub(super) instruction_bytes: u64,
    /// Steps outside of its text.
    pub(super) outside: u64,
    /// Why it ended.
    pub(super) stopped: Stopped,
    /// What each setting shows, in the order in which they were given.
    pub(super) of: Vec<Counts>,
    /// The caches of candidates, one access per instruction.
    among: Vec<(Config, Tally)>,
}

/// What a setting shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// One tally for each definition of an access; with one access per instruction alone, where neither a
    /// sweep nor a pipeline asked for every line that an instruction touches.
    tallies: [Option<Tally>; Fetch::ALL.len()],
    /// The cycles of its pipeline.
    pub(super) cycles: Option<Cycles>,
    /// Misses of every line that an instruction touches, as the cache before that pipeline counted them.
    pub(super) pipeline_misses: Option<u64>,
}

impl Counts {
    /// By one definition of an access.
    pub(super) fn tally(&self, fetch: Fetch) -> Option<Tally> {
        let at = Fetch::ALL.iter().position(|one| *one == fetch)?;
        self.tallies.get(at).copied().flatten()
    }
}

/// What is fetched in a run, whatever the cache.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    /// Instructions of 16 bits.
    short: u64,
    /// Steps for which nothing could be fetched.
    nothing: u64,
    /// Words, by a fetch unit that holds one ([`Fetch::WordBuffer`]).
    words: u64,
    /// The word that it holds; at first none that there is.
    held: u32,
}

impl Fetched {
    const NONE: Self = Fetched { short: 0, nothing: 0, words: 0, held: u32::MAX };

    #[inline(always)]
    fn count(&mut self, step: &Step) {
        let Some(behind_first) = step.size.checked_sub(1) else {
            self.nothing += 1;
            return;
        };
        self.short += u64::from(step.size == 2);
        let (first, last) = (step.pc >> 2, step.pc.wrapping_add(u32::from(behind_first)) >> 2);
        self.words += u64::from(self.held != first) + u64::from(first != last);
        self.held = last;
    }

    /// Returns the bytes of the instructions in a number of steps.
    fn bytes(&self, steps: u64) -> u64 {
        4 * (steps - self.nothing) - 2 * self.short
    }
}

/// What is looked at in a run beyond what its settings ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct More<'a> {
    /// Caches of other sizes, to look for one as good as another's.
    pub(super) among: &'a [Setting],
    /// Whether a sweep also counts every line that an instruction touches. Otherwise the caches before the
    /// pipelines do.
    pub(super) twice: bool,
}

/// Runs a program once before all caches and through all pipelines.
pub(super) fn play(code: &Code, settings: &[Setting], more: More<'_>) -> Result<Seen> {
    let caches: Vec<Config> = unique(settings.iter().map(|setting| setting.cache));
    let candidates = candidates(more.among);
    let every = unique(caches.iter().chain(&candidates).copied());
    let mut by_instruction = Sweep::new(&every, Fetch::Instruction);
    let mut by_line = more.twice.then(|| Sweep::new(&caches, Fetch::Lines));
    let cores = unique(settings.iter().filter_map(|it| Some((it.cache, it.core?))));
    let mut systems = cores.iter().map(system).collect::<Result<Vec<System>>>()?;
    let mut fetched = Fetched::NONE;
    // Few observers are played into the machine's loop, which is up to twice as fast.
    let ran = match (&mut by_line, systems.as_mut_slice()) {
        (None, []) => code.run(|step| {
            fetched.count(step);
            by_instruction.access(step.pc, step.size);
        }),
        (None, [system]) => code.run(|step| {
            fetched.count(step);
            by_instruction.access(step.pc, step.size);
            system.step(step);
        }),
        (by_line, systems) => code.run(|step| {
            fetched.count(step);
            by_instruction.access(step.pc, step.size);
            if let Some(by_line) = by_line {
                by_line.access(step.pc, step.size);
            }
            for system in &mut *systems {
                system.step(step);
            }
        }),
    };
    let (machine, stopped) = ran.map_err(Stop::Failed)?;
    let by_instruction = by_instruction.results();
    let swept = by_line.as_ref().map(Sweep::results).unwrap_or_default();
    let find = |all: &[(Config, Tally)], cache| all.iter().find(|it| it.0 == cache).map(|it| it.1);
    let counts = |setting: &Setting| {
        let core = setting.core.map(|core| (setting.cache, core));
        let system = cores.iter().zip(&systems).find(|(it, _)| Some(**it) == core);
        let cache = system.and_then(|(_, system)| system.instruction());
        let lines = cache.map(|cache| cache.tally());
        let line_bytes = setting.cache.geometry().line_bytes();
        let swept_changes = by_line.as_ref().and_then(|sweep| sweep.line_changes(line_bytes));
        let changes = swept_changes.or(cache.map(|cache| cache.line_changes()));
        let pipeline_misses = lines.map(|lines| lines.misses());
        let lines = find(&swept, setting.cache).or(lines);
        let counted = |accesses| lines.map(|lines| Tally { accesses, ..lines });
        Counts {
            tallies: [
                find(&by_instruction, setting.cache),
                lines,
                counted(fetched.words),
                changes.and_then(counted),
            ],
            cycles: system.map(|(_, system)| *system.cycles()),
            pipeline_misses,
        }
    };
    Ok(Seen {
        text_bytes: code.text_bytes(),
        instructions: machine.steps(),
        short: fetched.short,
        instruction_bytes: fetched.bytes(machine.steps()),
        outside: machine.outside(),
        stopped,
        of: settings.iter().map(counts).collect(),
        among: by_instruction.iter().filter(|it| candidates.contains(&it.0)).copied().collect(),
    })
}

/// The caches in which a program may be as good as before some settings.
fn candidates(settings: &[Setting]) -> Vec<Config> {
    let kinds = settings.iter().map(|it| (it.placing, it.cache.geometry().line_bytes()));
    unique(unique(kinds).into_iter().flat_map(|(placing, line)| placing.candidates(line)))
}

fn system((cache, core): &(Config, Parameters)) -> Result<System> {
    let instruction = Some(*cache);
    let config = isa::system::Config { core: *core, instruction, ..isa::system::Config::default() };
    System::new(&config).map_err(|error| Stop::failed(error.to_string()))
}

/// Each of some things once, in the order in which they come first.
fn unique<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

/// The caches of other sizes before which a program ran.
pub(super) struct Equals(Vec<(Config, Tally)>);

impl Equals {
    /// Runs a program before all caches in which it may be as good as another in some settings.
    pub(super) fn of(code: &Code, settings: &[Setting]) -> Result<Self> {
        Ok(Equals(play(code, &[], More { among: settings, twice: false })?.among))
    }

    /// Takes them from a run that was made with them.
    pub(super) fn from_run(seen: &Seen) -> Self {
        Equals(seen.among.clone())
    }

    /// The smallest cache, in bytes, in which the program hits as large a part of its accesses as a tally
    /// says; of those with the placing and the line of a setting. `None` if none does.
    pub(super) fn as_good(&self, setting: &Setting, tally: Tally) -> Option<u64> {
        let wanted = setting.placing.candidates(setting.cache.geometry().line_bytes());
        let own: Vec<_> = self.0.iter().filter(|it| wanted.contains(&it.0)).copied().collect();
        let found = smallest_reaching(&own, tally.hit_rate()?)?;
        Some(found.0.geometry().bytes())
    }
}
