//! The experiment on the user's own programs: a level for each file, and the caches of their choice.

use super::play::{Code, Placing};
use isa::{Cause, Exception, Stopped};
use kit::model::{
    Account, Caches, Cell, Design, Finding, Grid, Level, Profile, ProgramFile, Quantity, Term,
};
use kit::{Result, Stop, Trial};
use std::collections::BTreeSet;

/// What is declared, and what is declared beyond that where the cycles of a pipeline are computed.
const DECLARED: &str = include_str!("icache_programs.toml");
const DECLARED_OF_CYCLES: &str = include_str!("icache_programs_cycles.toml");

/// The responses that any program has in any cache, and those that take a pipeline: both are declared with
/// the programs that scruple carries.
const OF_ACCESSES: [&str; 11] = [
    "hit_ppm",
    "text_bytes",
    "instruction_count",
    "short_count",
    "miss_count",
    "cold_count",
    "conflict_count",
    "capacity_count",
    "spared_count",
    "fetched_bytes",
    "no_reuse_ppm",
];
const OF_CYCLES: [&str; 15] = [
    "line_access_count",
    "word_access_count",
    "line_change_count",
    "hit_lines_ppm",
    "hit_word_ppm",
    "hit_change_ppm",
    "cycles",
    "cycle_count",
    "useful_cycles",
    "operand_cycles",
    "redirect_cycles",
    "trap_cycles",
    "straddle_cycles",
    "missing_cycles",
    "filling_cycles",
];

/// The response that compares a program with the first.
const EQUAL: &str = "equal_bytes";

/// The factor whose levels are the files.
pub(super) const FACTOR: &str = "program";

/// The factors of a cache.
const BYTES: &str = "cache_bytes";
const LINE_BYTES: &str = "line_bytes";
pub(super) const WAYS: &str = "ways";
pub(super) const POLICY: &str = "policy";

/// The level of the ways for a set of all lines.
pub(super) const FULL: &str = "full";

/// How long a trial may take for each instruction of a program, in nanoseconds: some runs of an
/// unoptimised build, before hundreds of caches.
const NS_PER_INSTRUCTION: u64 = 20_000;

/// The most caches of a program whose cycles are computed: each has a pipeline of its own.
const PIPELINES_MAX: usize = 64;

/// Returns the design for some files, of which the first is the one that others are compared with, before the
/// caches that are chosen for it; `None` without any.
pub(crate) fn design(programs: &[ProgramFile]) -> Option<Design> {
    let first = programs.first()?;
    let caches = first.caches.as_ref()?;
    let grids = grids(caches);
    let count: usize = grids.iter().map(|grid| grid.vary[0].1.len()).sum();
    let mut design = declared(caches.cycles && count <= PIPELINES_MAX);
    let of_bytes = |bytes: u32| Level::number(u64::from(bytes), "bytes");
    let policies: Vec<&str> = caches.policies.iter().map(|policy| policy.name()).collect();
    for factor in &mut design.factors {
        match factor.name.as_str() {
            FACTOR => {
                factor.levels =
                    programs.iter().map(|it| Level::new(&it.level, &it.about)).collect();
                factor.baseline.clone_from(&first.level);
            }
            BYTES => factor.levels = sorted(&caches.bytes).into_iter().map(of_bytes).collect(),
            LINE_BYTES => {
                factor.levels = sorted(&caches.line_bytes).into_iter().map(of_bytes).collect();
            }
            WAYS => factor.levels = sorted_ways(caches).into_iter().map(of_ways).collect(),
            POLICY => factor.levels.retain(|level| policies.contains(&level.name.as_str())),
            _ => {}
        }
        // The first cache is the one that findings are about.
        let chosen = grids.first().into_iter().flat_map(|grid| &grid.vary);
        if let Some((_, levels)) = chosen.clone().find(|(name, _)| *name == factor.name)
            && let Some(level) = levels.first()
        {
            factor.baseline.clone_from(level);
        }
    }
    design.grids = grids;
    if programs.len() == 1 {
        design.responses.retain(|response| response.name != EQUAL);
    }
    design.findings = findings(&design, programs);
    let like = std::mem::take(&mut design.accounts);
    let size = size_in_words(&design);
    design.accounts = like
        .iter()
        .flat_map(|like| (0..).zip(programs).map(|program| account(like, &size, program)))
        .collect();
    design.programs = programs.to_vec();
    let steps_max = programs.iter().map(|program| program.instructions_max).max().unwrap_or(0);
    let own_ms = steps_max.saturating_mul(NS_PER_INSTRUCTION) / 1_000_000;
    design.time_limit_ms = design.time_limit_ms.saturating_add(own_ms);
    Some(design)
}

/// Returns the design as it is declared, for a program that stands for all.
fn declared(cycles: bool) -> Design {
    let of_cycles = if cycles { &OF_CYCLES[..] } else { &[] };
    let mut responses = super::design().responses;
    responses.retain(|it| OF_ACCESSES.iter().chain(of_cycles).any(|name| *name == it.name));
    // They are about instructions of the programs that scruple carries.
    responses.iter_mut().for_each(|response| response.limits.clear());
    let more = if cycles { DECLARED_OF_CYCLES } else { "" };
    crate::declared_with(super::EXPERIMENT.id, &format!("{DECLARED}\n{more}"), responses)
}

/// Returns a grid for each placing and line of a choice, with the sizes that such a cache can have; each
/// program runs before all of them.
fn grids(caches: &Caches) -> Vec<Grid> {
    let mut grids = Vec::new();
    for policy in sorted(&caches.policies) {
        for ways in sorted_ways(caches) {
            for line_bytes in sorted(&caches.line_bytes) {
                let placing = Placing { ways, policy };
                let mut sizes = sorted(&caches.bytes);
                sizes.retain(|bytes| placing.cache(*bytes, line_bytes).is_ok());
                if !sizes.is_empty() {
                    grids.push(grid(placing, line_bytes, &sizes));
                }
            }
        }
    }
    grids
}

fn grid(placing: Placing, line_bytes: u32, bytes: &[u32]) -> Grid {
    let varied = [
        (BYTES, bytes.iter().map(u32::to_string).collect()),
        (FACTOR, Vec::new()),
        (LINE_BYTES, vec![line_bytes.to_string()]),
        (WAYS, vec![of_ways(placing.ways).name]),
        (POLICY, vec![placing.policy.name().into()]),
    ];
    let vary = varied.into_iter().map(|(factor, levels)| (factor.to_owned(), levels)).collect();
    Grid { from: Profile::Smoke, vary }
}

fn sorted<T: Copy + Ord>(chosen: &[T]) -> Vec<T> {
    let all: BTreeSet<T> = chosen.iter().copied().collect();
    all.into_iter().collect()
}

/// Returns the numbers of ways of a choice; all lines (0) come last.
fn sorted_ways(caches: &Caches) -> Vec<u32> {
    let mut ways = sorted(&caches.ways);
    ways.sort_by_key(|ways| ways.wrapping_sub(1));
    ways
}

/// Returns the level of a set of N lines; of all for 0.
fn of_ways(ways: u32) -> Level {
    let (name, about, label) = match ways {
        0 => (FULL.to_owned(), "a line may stand anywhere".into(), "fully associative".into()),
        1 => ("1".into(), "a line may stand in one place".into(), "direct-mapped".into()),
        _ => (
            ways.to_string(),
            format!("a line may stand in one of {ways} places"),
            format!("{ways} ways"),
        ),
    };
    // The level of all lines has no place on an axis, or its axis would have two scales.
    Level { label, ..Level::new(&name, &about) }
}

/// Reports whether a choice of caches names any that can be.
#[must_use]
pub fn is_any_cache(caches: &Caches) -> bool {
    !grids(caches).is_empty()
}

/// The cache of the baselines: how large it is, and how it is built.
fn cache_in_words(design: &Design) -> String {
    let baseline = |factor| design.factor(factor).map_or("", |it| it.baseline.as_str());
    let label = |factor| {
        let level = design.factor(factor).and_then(|it| it.level(&it.baseline));
        level.map_or("", |level| level.label.as_str())
    };
    let lines = baseline(LINE_BYTES);
    let policy = match (baseline(WAYS), label(POLICY)) {
        ("1", _) => String::new(),
        (_, policy) => format!(", {policy}"),
    };
    format!(
        "{} of cache with lines of {lines} bytes, {}{policy}",
        size_in_words(design),
        label(WAYS)
    )
}

fn size_in_words(design: &Design) -> String {
    let bytes = design.factor(BYTES).and_then(|it| it.baseline.parse::<u32>().ok());
    match bytes.unwrap_or(0) {
        bytes if bytes >= 1024 && bytes % 1024 == 0 => format!("{} KiB", bytes / 1024),
        bytes => format!("{bytes} bytes"),
    }
}

/// Returns the account of a program's cycles in the cache of the baselines, with the parts of another account.
fn account(like: &Account, size: &str, (number, program): (u32, &ProgramFile)) -> Account {
    let name = &program.level;
    let mut account = like.clone();
    account.id = format!("{}_{number}", like.id);
    account.title = format!("one instruction of {name} before {size} of cache, in cycles");
    let counts = account.parts.iter_mut().map(|part| &mut part.count);
    for term in counts.chain([&mut account.total]) {
        if let Term::Measured { at: of, .. } = term {
            *of = at(program);
        }
    }
    account
}

/// A program in the cache of the baselines.
fn at(program: &ProgramFile) -> Cell {
    Cell::new([(FACTOR, program.level.as_str())])
}

/// Returns what makes sense of any program: its hits and cycles, and how it compares with the first.
fn findings(design: &Design, programs: &[ProgramFile]) -> Vec<Finding> {
    let cache = cache_in_words(design);
    let penalty = design.factor("penalty_cycles").map_or("", |it| it.baseline.as_str());
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let name = &program.level;
        let mut found = vec![
            ("hits", "hit_ppm", format!("{name} hits {{}} of its accesses to {cache}."), None),
            (
                "cycles",
                "cycles",
                format!("{name} takes {{}} per instruction there, at {penalty} a missed line."),
                None,
            ),
        ];
        let first = programs.first().filter(|_| number > 0);
        let compared = [
            ("text", "text_bytes", "has {} times the size of"),
            ("misses", "miss_count", "misses {} times as often there as"),
            ("all", "cycle_count", "takes {} times the cycles there of"),
        ];
        found.extend(first.into_iter().flat_map(|first| {
            compared.map(|(id, response, what)| {
                (id, response, format!("{name} {what} {}.", first.level), Some(at(first)))
            })
        }));
        found.retain(|(_, response, ..)| design.response(response).is_some());
        all.extend(found.into_iter().map(|(id, response, sentence, to)| {
            let (response, of) = (response.to_owned(), at(program));
            let quantity = match to {
                Some(to) => Quantity::Ratio { response, of, to },
                None => Quantity::Value { response, at: of },
            };
            Finding { id: format!("{id}_{number}"), sentence, quantity, drives: id == "hits" }
        }));
    }
    all
}

/// The program of a level, and the hash of its file.
pub(super) fn code(trial: &Trial<'_>, level: &str) -> Result<(Code, String)> {
    let (program, bytes) = trial.program(level)?;
    let failed = |what: String| Stop::failed(format!("{}: {what}", program.path));
    let code = Code::of(&bytes, program).map_err(failed)?;
    Ok((code, program.sha256.clone()))
}

/// The most steps of a program that are looked at before its session.
const LOOKED_STEPS_MAX: u64 = 20_000_000;

/// What a run of a program to its end shows before any cache is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Bytes of its instructions in memory.
    pub text_bytes: u32,
    /// Instructions carried out, and traps taken.
    pub steps: u64,
    /// How many of them were outside of its text.
    pub outside: u64,
    /// Why it ended, in words.
    pub ended: String,
    /// Why that is a failure.
    pub failure: Option<String>,
    /// Whether it ended at the limit of instructions.
    pub limited: bool,
    /// Whether it goes on: only its first steps were looked at.
    pub goes_on: bool,
    /// What it wrote.
    pub output: String,
    /// Whether it read a counter of cycles or the time.
    pub reads_clock: bool,
}

/// Steps between two questions whether to go on: they take some hundredths of a second.
const UNASKED_STEPS: u64 = 1 << 22;

/// Runs a program in an ELF file to its end, or to the limit of instructions, or as far as is looked at
/// before a session. Asks now and then whether to go on; `None` if not.
///
/// # Errors
/// A sentence that says why it is no program for this machine.
pub fn look(
    content: &[u8],
    file: &ProgramFile,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Looked>, String> {
    let code = Code::of(content, file)?;
    let mut machine = code.start()?;
    let most = file.instructions_max.min(LOOKED_STEPS_MAX);
    let stopped = loop {
        let left = most - machine.steps();
        let stopped = machine.run(left.min(UNASKED_STEPS), |_| {});
        if stopped != Stopped::Limit || machine.steps() == most {
            break stopped;
        }
        if !go_on() {
            return Ok(None);
        }
    };
    let (steps, failure) = (machine.steps(), machine.failure(stopped));
    kit::ensure!(steps != 0, "it carries out no instruction: {stopped}");
    if let (Some(why), true) = (&failure, lacks(stopped)) {
        return Err(format!("after {steps} steps it stops: {why}"));
    }
    Ok(Some(Looked {
        text_bytes: code.text_bytes(),
        steps,
        outside: machine.outside(),
        ended: match stopped {
            Stopped::Limit if steps < file.instructions_max => "it goes on".into(),
            stopped => stopped.to_string(),
        },
        failure,
        limited: stopped == Stopped::Limit && steps == file.instructions_max,
        goes_on: stopped == Stopped::Limit && steps < file.instructions_max,
        output: String::from_utf8_lossy(machine.output()).into_owned(),
        reads_clock: machine.reads_clock(),
    }))
}

/// Whether a program asked for something that the machine does not have: it is none for this machine.
fn lacks(stopped: Stopped) -> bool {
    let missing = [Exception::Illegal, Exception::MachineCall].map(Cause::Exception);
    matches!(stopped, Stopped::Unhandled { trap, .. } if missing.contains(&trap.cause))
}
