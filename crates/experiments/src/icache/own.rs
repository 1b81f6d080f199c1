//! The experiment on the user's own programs: the same caches, and a level for each file.

use super::play::Code;
use isa::{Cause, Exception, Stopped};
use kit::model::{
    Account, Cell, Design, Factor, Finding, Grid, Level, Profile, ProgramFile, Quantity, Term,
};
use kit::{Result, Stop, Trial};

/// The factor whose levels are the files.
pub(super) const FACTOR: &str = "program";

/// How long a trial may take for each instruction of a program, in nanoseconds: four runs of an
/// unoptimised build, before some hundred caches.
const NS_PER_INSTRUCTION: u64 = 10_000;

/// The carried program that others are compared with.
const CARRIED: &str = "rv32im";

/// Bytes of a cache, from a profile on: larger than for the programs that scruple carries, whose
/// loop fits into 64 bytes.
const SIZES: [(Profile, &[u32]); 3] = [
    (Profile::Smoke, &[16, 64, 256]),
    (Profile::Quick, &[32, 128, 512, 1024, 2048, 4096, 8192]),
    (Profile::Standard, &[16384, 32768]),
];

/// A factor with levels of it; none for all.
type Varied<'a> = (&'a str, &'a [&'a str]);

/// The caches and cores with which every program runs, from a profile on.
const GRIDS: [(Profile, &[Varied<'_>]); 7] = [
    (Profile::Smoke, &[("cache_bytes", &[])]),
    (Profile::Quick, &[("mapping", &["full"]), ("cache_bytes", &["64", "256", "1024", "4096"])]),
    (Profile::Quick, &[("line_bytes", &[]), ("cache_bytes", &["64", "1024"])]),
    (Profile::Quick, &[("cache_bytes", &["64", "1024"]), ("penalty_cycles", &[])]),
    (Profile::Quick, &[("fetch_bytes", &[])]),
    (Profile::Standard, &[("mapping", &["two_ways"]), ("cache_bytes", &[])]),
    (Profile::Standard, &[("mapping", &["full"]), ("cache_bytes", &[])]),
];

/// Returns the design for some files, of which the first is the one that others are compared with:
/// the declared one with other programs, larger caches and findings about each file.
#[must_use]
pub fn design(programs: &[ProgramFile]) -> Design {
    let mut design = super::design();
    let first = programs.first().map(|program| program.level.as_str()).unwrap_or_default();
    design.question = "How do your programs use an instruction cache?".into();
    // Its first sentence is about the programs that scruple carries.
    let method = design.method.split_once(". ").map_or("", |(_, method)| method);
    design.method = format!(
        "{method} The programs are yours: each is one file, known by its SHA-256, and a trial that \
         finds another content fails."
    );
    design.factors.retain(|factor| !["build", "compiler"].contains(&factor.name.as_str()));
    for factor in design.factors.iter_mut().filter(|factor| factor.name == "cache_bytes") {
        factor.levels = sizes();
    }
    design.factors.insert(0, which(programs, first));
    design.grids = GRIDS.iter().map(|(from, vary)| grid(*from, vary)).collect();
    for response in &mut design.responses {
        response.label = response.label.replace(CARRIED, first);
    }
    for name in design.figures.iter_mut().flat_map(|figure| &mut figure.plot.by) {
        if name == "build" {
            *name = FACTOR.into();
        }
    }
    design.findings = findings(programs);
    let like = design.accounts.swap_remove(0);
    let accounts = programs.iter().enumerate();
    design.accounts = accounts.map(|(number, program)| account(&like, number, program)).collect();
    design.claims = Vec::new();
    design.programs = programs.to_vec();
    let steps_max = programs.iter().map(|program| program.instructions_max).max().unwrap_or(0);
    let own_ms = steps_max.saturating_mul(NS_PER_INSTRUCTION) / 1_000_000;
    design.time_limit_ms = design.time_limit_ms.saturating_add(own_ms);
    design
}

fn sizes() -> Vec<Level> {
    let all = SIZES.iter().flat_map(|(from, sizes)| sizes.iter().map(|bytes| (*bytes, *from)));
    let mut all: Vec<(u32, Profile)> = all.collect();
    all.sort_by_key(|(bytes, _)| *bytes);
    let level = |(bytes, from): (u32, Profile)| {
        let value = Some(f64::from(bytes));
        Level { value, from, ..Level::new(&bytes.to_string(), "bytes") }
    };
    all.into_iter().map(level).collect()
}

fn which(programs: &[ProgramFile], first: &str) -> Factor {
    let level = |program: &ProgramFile| Level::new(&program.level, &program.about);
    Factor {
        name: FACTOR.into(),
        about: "which program runs".into(),
        levels: programs.iter().map(level).collect(),
        baseline: first.into(),
        ..Factor::default()
    }
}

fn grid(from: Profile, vary: &[Varied<'_>]) -> Grid {
    let named = |(factor, levels): &Varied<'_>| {
        (factor.to_string(), levels.iter().map(|level| level.to_string()).collect())
    };
    Grid { from, vary: [(FACTOR, &[][..])].iter().chain(vary).map(named).collect() }
}

/// Returns the account of a program's cycles in the cache of the baselines, with the parts of
/// another account.
fn account(like: &Account, number: usize, program: &ProgramFile) -> Account {
    let place = at(program);
    let mut account = like.clone();
    account.id = format!("cycles_{number}");
    account.title =
        format!("one instruction of {} before 64 bytes of cache, in cycles", program.level);
    let counts = account.parts.iter_mut().map(|part| &mut part.count);
    for term in counts.chain([&mut account.total]) {
        if let Term::Measured { at, .. } = term {
            *at = place.clone();
        }
    }
    account
}

/// A program in the cache of the baselines: 8 lines of 8 bytes, direct-mapped.
fn at(program: &ProgramFile) -> Cell {
    Cell::new([(FACTOR, program.level.as_str())])
}

/// Returns what makes sense of any program: its hits and cycles, and how it compares with the first.
fn findings(programs: &[ProgramFile]) -> Vec<Finding> {
    let Some(first) = programs.first() else { return Vec::new() };
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let name = &program.level;
        let mut find = |id: &str, sentence: String, quantity| {
            let drives = id == "hits";
            all.push(Finding { id: format!("{id}_{number}"), sentence, quantity, drives });
        };
        for (id, response, what) in [
            ("hits", "hit_ppm", "hits {} of its accesses to 8 lines of 8 bytes, direct-mapped"),
            ("cycles", "cycles", "takes {} per instruction there, at 20 a missed line"),
        ] {
            let quantity = Quantity::Value { response: response.into(), at: at(program) };
            find(id, format!("{name} {what}."), quantity);
        }
        if number == 0 {
            continue;
        }
        for (id, response, what) in [
            ("text", "text_bytes", "has {} times the size of"),
            ("misses", "miss_count", "misses {} times as often there as"),
            ("all", "cycle_count", "takes {} times the cycles there of"),
        ] {
            let (of, to) = (at(program), at(first));
            let quantity = Quantity::Ratio { response: response.into(), of, to };
            find(id, format!("{name} {what} {}.", first.level), quantity);
        }
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
    /// What it wrote.
    pub output: String,
}

/// Steps between two questions whether to go on: they take some hundredths of a second.
const UNASKED_STEPS: u64 = 1 << 22;

/// Runs a program in an ELF file to its end, or to the limit of instructions. Asks now and then
/// whether to go on; `None` if not.
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
    let stopped = loop {
        let left = file.instructions_max - machine.steps();
        let stopped = machine.run(left.min(UNASKED_STEPS), |_| {});
        if stopped != Stopped::Limit || machine.steps() == file.instructions_max {
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
        ended: stopped.to_string(),
        failure,
        limited: stopped == Stopped::Limit,
        output: String::from_utf8_lossy(machine.output()).into_owned(),
    }))
}

/// Whether a program asked for something that the machine does not have: it is none for this machine.
fn lacks(stopped: Stopped) -> bool {
    let missing = [Exception::Illegal, Exception::MachineCall].map(Cause::Exception);
    matches!(stopped, Stopped::Unhandled { trap, .. } if missing.contains(&trap.cause))
}
