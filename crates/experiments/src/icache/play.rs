//! A program before a cache.

use isa::cache::{Cache, Fetch, Fetcher, Geometry, Policy, Sweep, Tally, smallest_reaching};
use isa::{Machine, Program, Setup, Stopped};
use kit::Stop;

/// With which instructions the program was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Build {
    /// RV32IM: all of 32 bits.
    Im,
    /// RV32IMC: of 32 and 16 bits.
    Imc,
}

/// By which compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compiler {
    /// GCC 14.2.
    Gcc14,
    /// GCC 12.2.
    Gcc12,
}

impl Build {
    /// The program, an executable file.
    pub(super) fn program(self, compiler: Compiler) -> &'static [u8] {
        match (self, compiler) {
            (Self::Im, Compiler::Gcc14) => {
                include_bytes!("../../../isa/reference/gcc14-rv32im.elf")
            }
            (Self::Imc, Compiler::Gcc14) => {
                include_bytes!("../../../isa/reference/gcc14-rv32imc.elf")
            }
            (Self::Im, Compiler::Gcc12) => {
                include_bytes!("../../../isa/reference/gcc12-rv32im.elf")
            }
            (Self::Imc, Compiler::Gcc12) => {
                include_bytes!("../../../isa/reference/gcc12-rv32imc.elf")
            }
        }
    }
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

/// The cache of so many bytes.
pub(super) fn geometry(bytes: u32, mapping: Mapping, line_bytes: u32) -> Result<Geometry, Stop> {
    let lines = bytes.checked_div(line_bytes).unwrap_or(0);
    let geometry = match mapping {
        Mapping::Direct => Geometry::direct_mapped(lines, line_bytes),
        Mapping::TwoWays => Geometry::new(lines / 2, 2, line_bytes),
        Mapping::Full => Geometry::fully_associative(lines, line_bytes),
    };
    let geometry = geometry.map_err(|error| Stop::failed(error.to_string()))?;
    if geometry.bytes() != u64::from(bytes) {
        return Err(Stop::failed(format!("{bytes} bytes are no whole number of sets")));
    }
    Ok(geometry)
}

/// A program that has not ended by then never will.
const STEPS_MAX: u64 = 10_000_000;

/// The largest cache that a program without compressed instructions is given to be as good as one
/// with them.
const EQUAL_BYTES_MAX: u32 = 4096;

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
}

impl Seen {
    /// By one definition of an access.
    pub(super) fn tally(&self, fetch: Fetch) -> Tally {
        let at = Fetch::ALL.iter().position(|one| *one == fetch);
        at.and_then(|at| self.tallies.get(at)).copied().unwrap_or_default()
    }
}

/// Runs a program to its end and shows each instruction.
fn run(file: &[u8], mut observe: impl FnMut(u32, u8)) -> Result<Program, Stop> {
    let failed = |error: isa::Error| Stop::failed(error.to_string());
    let program = Program::from_elf(file).map_err(failed)?;
    let mut machine = Machine::new(&program, &Setup::default()).map_err(failed)?;
    match machine.run(STEPS_MAX, |step| observe(step.pc, step.size)) {
        // It has no start-up code: `main` returns to where nobody called it from.
        Stopped::Left { pc: 0 } => Ok(program),
        other => Err(Stop::failed(format!("the program did not end as it should: {other:?}"))),
    }
}

/// Runs a program before a cache, by all definitions of an access side by side.
pub(super) fn play(file: &[u8], geometry: Geometry) -> Result<Seen, Stop> {
    let mut units =
        Fetch::ALL.map(|fetch| (Fetcher::new(fetch, geometry), Cache::new(geometry, Policy::Lru)));
    let mut sweep = Sweep::new(&[geometry], Fetch::Instruction);
    let (mut instructions, mut short, mut instruction_bytes) = (0, 0, 0);
    let program = run(file, |pc, size| {
        instructions += 1;
        short += u64::from(size == 2);
        instruction_bytes += u64::from(size);
        sweep.access(pc, size);
        for (fetcher, cache) in &mut units {
            for address in fetcher.accesses(pc, size) {
                cache.access(address);
            }
        }
    })?;
    Ok(Seen {
        text_bytes: program.text.end.saturating_sub(program.text.start),
        instructions,
        short,
        instruction_bytes,
        tallies: units.map(|(_, cache)| cache.tally()),
        swept_misses: sweep.results().first().map_or(0, |(_, tally)| tally.misses()),
    })
}

/// The smallest cache, in bytes, in which this program hits as large a part of its accesses as
/// `tally` says; of those with the mapping and the line of `like`: every number of lines where it is
/// fully associative, else the powers of two. `None` if none of at most [`EQUAL_BYTES_MAX`] does.
pub(super) fn as_good_without(
    file: &[u8],
    like: Geometry,
    mapping: Mapping,
    tally: Tally,
) -> Result<Option<u64>, Stop> {
    let line_bytes = like.line_bytes();
    let lines = 1..=EQUAL_BYTES_MAX / line_bytes;
    let candidates = lines.filter(|lines| mapping == Mapping::Full || lines.is_power_of_two());
    let candidates: Vec<Geometry> = candidates
        .filter_map(|lines| geometry(lines * line_bytes, mapping, line_bytes).ok())
        .collect();
    let mut sweep = Sweep::new(&candidates, Fetch::Instruction);
    run(file, |pc, size| sweep.access(pc, size))?;
    let found = tally.hit_rate().and_then(|rate| smallest_reaching(&sweep.results(), rate));
    Ok(found.map(|(geometry, _)| geometry.bytes()))
}
