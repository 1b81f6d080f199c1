//! The experiment on programs of the user's: the same caches, and a level for each file.

use super::design::{METHOD, TIME_LIMIT_MS, caches, frame};
use super::play::Code;
use super::responses::{accounts, responses};
use kit::declare::{cell, factor, finding, grid, level, ratio, remark, value};
use kit::model::{Cell, Design, Finding, Grid, Profile, ProgramFile};
use kit::{Stop, Trial};

/// The factor whose levels are the files.
pub(super) const FACTOR: &str = "program";

/// How long a trial may take for each instruction of a program, in nanoseconds: four runs of an
/// unoptimised build, before some hundred caches.
const NS_PER_INSTRUCTION: u64 = 10_000;

/// The design for some files, of which the first is the one that others are compared with.
pub(crate) fn design(programs: &[ProgramFile]) -> Design {
    let first = programs.first().map(|program| program.level.as_str()).unwrap_or_default();
    let mut program = factor(FACTOR, "which program runs", first);
    for file in programs {
        program = program.level(level(&file.level, &file.about));
    }
    let cache_bytes = factor("cache_bytes", "how many bytes the cache holds", "64")
        .numbers(Profile::Smoke, "bytes", &[16, 64, 256])
        .numbers(Profile::Quick, "bytes", &[32, 128, 512, 1024, 2048, 4096, 8192])
        .numbers(Profile::Standard, "bytes", &[16384, 32768]);
    let steps_max = programs.iter().map(|program| program.instructions_max).max().unwrap_or(0);
    let own_ms = steps_max.saturating_mul(NS_PER_INSTRUCTION) / 1_000_000;
    Design {
        question: "How do your programs use an instruction cache?".into(),
        method: format!(
            "{METHOD} The programs are yours: each is one file, known by its SHA-256, and a trial that \
             finds another content fails."
        ),
        factors: std::iter::once(program.build()).chain(caches(cache_bytes)).collect(),
        grids: grids(),
        responses: responses(first),
        findings: findings(programs),
        accounts: accounts(
            programs.iter().map(|program| (program.level.as_str(), at(program))),
            "64 bytes of cache",
        ),
        programs: programs.to_vec(),
        time_limit_ms: TIME_LIMIT_MS.saturating_add(own_ms),
        ..frame()
    }
}

/// Larger caches than for the programs that scruple carries, whose loop fits into 64 bytes.
fn grids() -> Vec<Grid> {
    let all = (FACTOR, &[][..]);
    let full = ("mapping", &["full"][..]);
    let two_ways = ("mapping", &["two_ways"][..]);
    let sizes = ("cache_bytes", &[][..]);
    vec![
        grid(Profile::Smoke, &[all, sizes]),
        grid(Profile::Quick, &[all, full, ("cache_bytes", &["64", "256", "1024", "4096"])]),
        grid(Profile::Quick, &[all, ("line_bytes", &[]), ("cache_bytes", &["64", "1024"])]),
        grid(Profile::Quick, &[all, ("cache_bytes", &["64", "1024"]), ("penalty_cycles", &[])]),
        grid(Profile::Quick, &[all, ("fetch_bytes", &[])]),
        grid(Profile::Standard, &[all, two_ways, sizes]),
        grid(Profile::Standard, &[all, full, sizes]),
    ]
}

/// A program in the cache of the baselines: 8 lines of 8 bytes, direct-mapped.
fn at(program: &ProgramFile) -> Cell {
    cell([(FACTOR, program.level.as_str())])
}

/// What makes sense of any program: its hits and cycles, and what it takes beside the first.
fn findings(programs: &[ProgramFile]) -> Vec<Finding> {
    let Some(first) = programs.first() else { return Vec::new() };
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let name = &program.level;
        all.push(finding(
            &format!("hits_{number}"),
            &format!("{name} hits {{}} of its accesses to 8 lines of 8 bytes, direct-mapped."),
            value("hit_ppm", at(program)),
        ));
        all.push(remark(
            &format!("cycles_{number}"),
            &format!("{name} takes {{}} per instruction there, at 20 a missed line."),
            value("cycles", at(program)),
        ));
        if number == 0 {
            continue;
        }
        for (id, response, what) in [
            ("text", "text_bytes", "has {} times the size"),
            ("misses", "miss_count", "misses {} times as often there as"),
            ("all", "cycle_count", "takes {} times the cycles there"),
        ] {
            let of = if id == "misses" { " " } else { " of " };
            all.push(remark(
                &format!("{id}_{number}"),
                &format!("{name} {what}{of}{}.", first.level),
                ratio(response, at(program), at(first)),
            ));
        }
    }
    all
}

/// The program of a level, and the hash of its file.
pub(super) fn code(trial: &Trial<'_>, level: &str) -> Result<(Code, String), Stop> {
    let (program, bytes) = trial.program(level)?;
    let failed = |what: String| Stop::failed(format!("{}: {what}", program.path));
    let code = Code::of(&bytes, program.instructions_max).map_err(failed)?;
    Ok((code, program.sha256.clone()))
}

/// What a run of a program to its end shows before any cache is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Bytes of its instructions in memory.
    pub text_bytes: u32,
    /// Instructions carried out, and traps taken.
    pub steps: u64,
    /// Why it ended, in words.
    pub ended: String,
    /// Whether that was the limit of instructions.
    pub limited: bool,
}

/// Runs a program in an ELF file to its end, or for so many instructions. Asks now and then whether
/// to go on; `None` if not.
///
/// # Errors
/// A sentence that says why it is no program for this machine, or how it failed.
pub fn look(
    file: &[u8],
    steps_max: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Looked>, String> {
    let code = Code::of(file, steps_max)?;
    let Some((steps, stopped)) = code.try_out(go_on)? else { return Ok(None) };
    Ok(Some(Looked {
        text_bytes: code.text_bytes(),
        steps,
        ended: stopped.to_string(),
        limited: stopped == isa::Stopped::Limit,
    }))
}
