//! What do compressed instructions bring to an instruction cache?
//!
//! The same program, compiled with and without them, runs on the small RISC-V machine of the room
//! [`isa`], before a cache of the treatment's geometry. Nothing is timed: the numbers are computed,
//! twice, and are the same on every machine. The user's own programs can take its place ([`own`]).

mod kernels;
mod own;
mod picture;
mod play;
mod record;
mod start;

pub(crate) use own::design as design_of_programs;
pub use own::{Looked, is_any_cache, look};
pub use play::policy;
pub use start::{load, start};

use isa::Stopped;
use isa::pipeline::Parameters;
use kit::model::{Replacement, Treatment};
use kit::{Result, Stop, Trial};
use play::{Build, Code, Equals, IM, IMC, More, Placing, Setting, play};

experiment!("icache", "icache.toml");

/// The levels of the factor `build`.
const BUILDS: [(&str, Build); 2] = [("rv32im", IM), ("rv32imc", IMC)];

/// The levels of the factor `compiler`, with their places in a [`Build`].
const COMPILERS: [(&str, usize); 2] = [("gcc14", 0), ("gcc12", 1)];

/// The levels of the factor `mapping`, with the lines of a set; 0 for all.
const MAPPINGS: [(&str, u32); 3] = [("direct", 1), ("two_ways", 2), ("full", 0)];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    if trial.spec().treatment.level("workload") == Some("kernels") {
        let place = BUILDS.iter().position(|(name, _)| Ok(*name) == trial.level("build"));
        let setting = setting(&trial.spec().treatment)?;
        return kernels::trial(trial, &setting, place.unwrap_or_default());
    }
    let asked = Asked::of(trial)?;
    let own = trial.spec().treatment.clone();
    let treatments = std::iter::once(&own).chain(&trial.spec().also);
    let settings = treatments.map(setting).collect::<Result<Vec<Setting>>>()?;
    trial.begin()?;
    let among: &[Setting] = if asked.beside == Beside::Itself { &settings } else { &[] };
    let more = More { among, twice: asked.sha256.is_none() };
    let seen = play(&asked.code, &settings, more)?;
    let equals = match &asked.beside {
        Beside::Nothing => None,
        Beside::Itself => Some(Equals::from_run(&seen)),
        Beside::Other(code) => Some(Equals::of(code, &settings)?),
    };
    trial.end()?;
    // The carried programs have no start-up code: `main` returns to where nobody called it from.
    if asked.sha256.is_none() && seen.stopped != (Stopped::Left { pc: isa::HOME }) {
        let stopped = seen.stopped;
        return Err(Stop::failed(format!("the program did not end as it should: {stopped}")));
    }
    let mut settings = settings.iter().zip(&seen.of);
    let mut keep = |trial: &mut Trial<'_>| {
        let Some((setting, counts)) = settings.next() else {
            return Err(Stop::failed("a treatment has no cache"));
        };
        trial.observe("geometry", setting.cache);
        trial.observe("ended", seen.stopped);
        if seen.outside > 0 {
            trial.observe("steps_outside_text", seen.outside);
        }
        asked.sha256.iter().for_each(|sha256| trial.observe("sha256", sha256));
        record::record(trial, &seen, setting, counts, equals.as_ref());
        match asked.sha256 {
            Some(_) => Ok(()),
            None => picture::show(trial, &asked.code, setting),
        }
    };
    keep(trial)?;
    trial.answer_others(|trial, _| keep(trial))
}

/// What a trial runs.
struct Asked {
    code: Code,
    beside: Beside,
    /// Of the user's file, if it is one.
    sha256: Option<String>,
}

/// The program that is to be as good as another in a cache of another size.
#[derive(Debug, PartialEq)]
enum Beside {
    /// There is no other.
    Nothing,
    /// It is the one that runs.
    Itself,
    Other(Box<Code>),
}

impl Asked {
    fn of(trial: &Trial<'_>) -> Result<Self> {
        if let Some(first) = trial.spec().programs.first() {
            let (level, first) = (trial.level(own::FACTOR)?, &first.level);
            let (code, sha256) = own::code(trial, level)?;
            let beside = match trial.spec().programs.len() {
                1 => Beside::Nothing,
                _ if level == first => Beside::Itself,
                _ => Beside::Other(Box::new(own::code(trial, first)?.0)),
            };
            return Ok(Asked { code, beside, sha256: Some(sha256) });
        }
        let build = trial.pick("build", &BUILDS)?;
        let compiler = trial.pick("compiler", &COMPILERS)?;
        let code = Code::carried(build[compiler])?;
        let beside = Beside::Other(Box::new(Code::carried(IM[compiler])?));
        Ok(Asked { code, beside, sha256: None })
    }
}

/// Returns what a treatment names: the cache, and the pipeline if it has one.
fn setting(treatment: &Treatment) -> Result<Setting> {
    let level = |factor: &str| {
        let level = treatment.level(factor);
        level.ok_or_else(|| Stop::failed(format!("the plan gives no level for factor {factor}")))
    };
    let wrong = |what: &str, error: &dyn std::fmt::Display| {
        Stop::failed(format!("{what} of {treatment}: {error}"))
    };
    let number = |factor: &str| -> Result<u16> {
        level(factor)?.parse().map_err(|error| wrong(factor, &error))
    };
    let bytes = |factor: &str| -> Result<u32> {
        level(factor)?.parse().map_err(|error| wrong(factor, &error))
    };
    let placing = if treatment.level(own::WAYS).is_some() {
        let (ways, policy) = (level(own::WAYS)?, level(own::POLICY)?);
        let policy = Replacement::ALL.into_iter().find(|known| known.name() == policy);
        let policy = policy.ok_or_else(|| wrong(own::POLICY, &"there is no such policy"))?;
        let ways = if ways == own::FULL { 0 } else { bytes(own::WAYS)? };
        Placing { ways, policy }
    } else {
        let mapping = level("mapping")?;
        let found = MAPPINGS.iter().find(|(name, _)| *name == mapping);
        Placing::lru(found.ok_or_else(|| wrong("mapping", &"there is no such mapping"))?.1)
    };
    let cache = placing
        .cache(bytes("cache_bytes")?, bytes("line_bytes")?)
        .map_err(|error| wrong("the cache", &error))?;
    let mut core = None;
    if treatment.level("penalty_cycles").is_some() {
        let fetch_bytes = number("fetch_bytes")?;
        let fetch_bytes =
            u8::try_from(fetch_bytes).map_err(|error| wrong("fetch_bytes", &error))?;
        let miss = number("penalty_cycles")?;
        core = Some(Parameters { miss, fetch_bytes, ..Parameters::textbook() });
    }
    Ok(Setting { cache, placing, core })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
