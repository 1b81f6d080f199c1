//! A program before a cache.

use super::start::{load, start};
use isa::cache::{Cache, Fetch, Fetcher, Geometry, Outcome, Sweep, Tally, smallest_reaching};
use isa::pipeline::{Cycles, Parameters, Pipeline};
use isa::{Machine, Program, Step, Stopped};
use kit::model::ProgramFile;
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

/// The source of the carried programs, in C.
pub const KERNEL: &str = include_str!("../../../isa/reference/icache_test.c");

/// Returns the carried programs that were compiled for `rv32im` or `rv32imc` (`march`), each with
/// its compiler.
#[must_use]
pub fn carried(march: &str) -> Vec<(String, &'static [u8])> {
    let Some((_, build)) = super::BUILDS.into_iter().find(|(name, _)| *name == march) else {
        return Vec::new();
    };
    let design = super::design();
    let about = |name: &str| Some(design.factor("compiler")?.level(name)?.about.clone());
    let programs = super::COMPILERS.into_iter();
    programs.filter_map(|(name, by)| Some((about(name)?, build[by]))).collect()
}

/// Where a line of memory may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    /// In one place.
    Direct,
    /// In one of two.
    TwoWays,
    /// Anywhere.
    Full,
}

/// Returns the geometry of a cache of `bytes` bytes.
pub(super) fn geometry(bytes: u32, mapping: Mapping, line_bytes: u32) -> Result<Geometry> {
    let lines = bytes.checked_div(line_bytes).unwrap_or(0);
    let geometry = match mapping {
        Mapping::Direct => Geometry::direct_mapped(lines, line_bytes),
        Mapping::TwoWays => Geometry::new(lines / 2, 2, line_bytes),
        Mapping::Full => Geometry::fully_associative(lines, line_bytes),
    };
    let geometry = geometry.map_err(|error| Stop::failed(error.to_string()))?;
    kit::ensure!(geometry.bytes() == u64::from(bytes), "{bytes} bytes are no whole number of sets");
    Ok(geometry)
}

/// A carried program that has not ended by then never will.
const STEPS_MAX: u64 = 10_000_000;

/// The largest cache that a program is given to be as good as another.
const EQUAL_BYTES_MAX: u32 = 4096;

/// What is run.
#[derive(Clone, Debug)]
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
    /// One tally for each definition of an access.
    tallies: [Tally; Fetch::ALL.len()],
    /// The misses of the same cache, per instruction, as a sweep over all geometries finds them.
    pub(super) swept_misses: u64,
    /// The cycles of the pipeline, which waits for every line that an instruction touches.
    pub(super) cycles: Cycles,
    /// Steps outside of its text.
    pub(super) outside: u64,
    /// Why it ended.
    pub(super) stopped: Stopped,
}

impl Seen {
    /// By one definition of an access.
    pub(super) fn tally(&self, fetch: Fetch) -> Tally {
        let at = Fetch::ALL.iter().position(|one| *one == fetch);
        at.and_then(|at| self.tallies.get(at)).copied().unwrap_or_default()
    }
}

/// Runs a program before a cache, by all definitions of an access side by side, and through a
/// pipeline.
pub(super) fn play(code: &Code, geometry: Geometry, core: Parameters) -> Result<Seen> {
    let mut units =
        Fetch::ALL.map(|fetch| (fetch, Fetcher::new(fetch, geometry), Cache::new(geometry)));
    let mut sweep = Sweep::new(&[geometry], Fetch::Instruction);
    let mut pipeline = Pipeline::new(core).map_err(|error| Stop::failed(error.to_string()))?;
    let (mut instructions, mut short, mut instruction_bytes) = (0, 0, 0);
    let ran = code.run(|step| {
        let (pc, size) = (step.pc, step.size);
        instructions += 1;
        short += u64::from(size == 2);
        instruction_bytes += u64::from(size);
        sweep.access(pc, size);
        let mut missed_lines = 0;
        for (fetch, fetcher, cache) in &mut units {
            for address in fetcher.accesses(pc, size) {
                let missed = cache.access(address) != Outcome::Hit;
                missed_lines += u8::from(missed && *fetch == Fetch::Lines);
            }
        }
        pipeline.step(step, missed_lines);
    });
    let (machine, stopped) = ran.map_err(Stop::Failed)?;
    Ok(Seen {
        text_bytes: code.text_bytes(),
        instructions,
        short,
        instruction_bytes,
        tallies: units.map(|(_, _, cache)| cache.tally()),
        swept_misses: sweep.results().first().map_or(0, |(_, tally)| tally.misses()),
        cycles: *pipeline.cycles(),
        outside: machine.outside(),
        stopped,
    })
}

/// The smallest cache, in bytes, in which a program hits as large a part of its accesses as
/// `tally` says; of those with the mapping and the line of `like`: every number of lines where it is
/// fully associative, else the powers of two. `None` if none of at most [`EQUAL_BYTES_MAX`] does.
pub(super) fn as_good(
    code: &Code,
    like: Geometry,
    mapping: Mapping,
    tally: Tally,
) -> Result<Option<u64>> {
    let line_bytes = like.line_bytes();
    let lines = 1..=EQUAL_BYTES_MAX / line_bytes;
    let candidates = lines.filter(|lines| mapping == Mapping::Full || lines.is_power_of_two());
    let candidates: Vec<Geometry> = candidates
        .filter_map(|lines| geometry(lines * line_bytes, mapping, line_bytes).ok())
        .collect();
    let mut sweep = Sweep::new(&candidates, Fetch::Instruction);
    code.run(|step| sweep.access(step.pc, step.size)).map_err(Stop::Failed)?;
    let found = tally.hit_rate().and_then(|rate| smallest_reaching(&sweep.results(), rate));
    Ok(found.map(|(config, _)| config.geometry().bytes()))
}
