//! What do compressed instructions bring to an instruction cache?
//!
//! The same program, compiled with and without them, runs on the small RISC-V machine of the room
//! [`isa`], before a cache of the treatment's geometry. Nothing is timed: the numbers are computed,
//! twice, and are the same on every machine. The user's own programs can take its place ([`own`]).

mod own;
mod play;
mod record;
mod start;

pub use own::{Looked, design as design_of_programs, look};
pub use play::{KERNEL, carried};
pub use start::{load, start};

use isa::Stopped;
use isa::cache::Fetch;
use isa::pipeline::Parameters;
use kit::{Result, Stop, Trial};
use play::{Build, Code, IM, IMC, Mapping, as_good, geometry, play};

experiment!("icache", "icache.toml");

/// The levels of the factor `build`.
const BUILDS: [(&str, Build); 2] = [("rv32im", IM), ("rv32imc", IMC)];

/// The levels of the factor `compiler`, with their places in a [`Build`].
const COMPILERS: [(&str, usize); 2] = [("gcc14", 0), ("gcc12", 1)];

/// The levels of the factor `mapping`.
const MAPPINGS: [(&str, Mapping); 3] =
    [("direct", Mapping::Direct), ("two_ways", Mapping::TwoWays), ("full", Mapping::Full)];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let asked = Asked::of(trial)?;
    let mapping = trial.pick("mapping", &MAPPINGS)?;
    let (cache_bytes, line_bytes) = (number(trial, "cache_bytes")?, number(trial, "line_bytes")?);
    let geometry = geometry(cache_bytes, mapping, line_bytes)?;
    let core = Parameters {
        miss: number(trial, "penalty_cycles")?,
        fetch_bytes: number(trial, "fetch_bytes")?,
        ..Parameters::textbook()
    };
    let first = play(&asked.code, geometry, core)?;
    trial.observe("geometry", geometry);
    trial.observe("ended", first.stopped);
    if first.outside > 0 {
        trial.observe("steps_outside_text", first.outside);
    }
    trial.begin()?;
    let seen = play(&asked.code, geometry, core)?;
    let equal = as_good(&asked.beside, geometry, mapping, seen.tally(Fetch::Instruction))?;
    trial.end()?;
    kit::ensure!(first == seen, "the same program gave other numbers when it ran again");
    // The carried programs have no start-up code: `main` returns to where nobody called it from.
    if asked.carried && seen.stopped != (Stopped::Left { pc: 0 }) {
        let stopped = seen.stopped;
        return Err(Stop::failed(format!("the program did not end as it should: {stopped}")));
    }
    record::record(trial, &seen, geometry.line_bytes());
    match equal {
        Some(bytes) => trial.record_one("equal_bytes", record::signed(bytes)),
        None => trial.observe("equal_bytes", "no cache is large enough"),
    }
    Ok(())
}

/// What a trial runs.
struct Asked {
    code: Code,
    /// The program that is to be as good in a cache of another size.
    beside: Code,
    carried: bool,
}

impl Asked {
    fn of(trial: &mut Trial<'_>) -> Result<Self> {
        if let Some(first) = trial.spec().programs.first().map(|program| program.level.clone()) {
            let level = trial.level(own::FACTOR)?.to_owned();
            let (code, sha256) = own::code(trial, &level)?;
            let (beside, _) = own::code(trial, &first)?;
            trial.observe("sha256", sha256);
            return Ok(Asked { code, beside, carried: false });
        }
        let build = trial.pick("build", &BUILDS)?;
        let compiler = trial.pick("compiler", &COMPILERS)?;
        let code = Code::carried(build[compiler])?;
        Ok(Asked { code, beside: Code::carried(IM[compiler])?, carried: true })
    }
}

fn number<T: TryFrom<u64, Error: std::fmt::Display>>(trial: &Trial<'_>, factor: &str) -> Result<T> {
    T::try_from(trial.number(factor)?).map_err(|error| Stop::failed(format!("{factor}: {error}")))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
