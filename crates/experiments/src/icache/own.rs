//! The experiment on the user's own programs: caches of their choice, and a level for each file.

use super::kernels;
use super::play::{Code, Placing};
use super::record::BY_LINES;
use isa::{Cause, Exception, Stopped};
use kit::model::{
    Account, Caches, Cell, Design, Factor, Finding, Grid, Level, Profile, ProgramFile, Quantity,
    Replacement, Term,
};
use kit::{Result, Stop, Trial};
use std::collections::BTreeSet;

/// The factor whose levels are the files.
pub(crate) const FACTOR: &str = "program";

/// The factor of the lines of a set.
pub(super) const WAYS: &str = "ways";

/// Its level for a set of all lines.
pub(super) const FULL: &str = "full";

/// The factor of which line gives way.
pub(super) const POLICY: &str = "policy";

/// How long a trial may take for each instruction of a program, in nanoseconds: some runs of an
/// unoptimised build, before hundreds of caches.
const NS_PER_INSTRUCTION: u64 = 20_000;

/// The carried program that others are compared with.
const CARRIED: &str = "rv32im";

/// Bytes of a cache, from a profile on: larger than for the programs that scruple carries, whose
/// loop fits into 64 bytes.
const SIZES: [(Profile, &[u32]); 3] = [
    (Profile::Smoke, &[16, 64, 256]),
    (Profile::Quick, &[32, 128, 512, 1024, 2048, 4096, 8192]),
    (Profile::Standard, &[16384, 32768]),
];

/// The most caches of a program whose cycles are computed: each has a pipeline of its own.
const PIPELINES_MAX: usize = 64;

/// A factor with levels of it; none for all.
type Varied<'a> = (&'a str, &'a [&'a str]);

/// The caches and cores with which every program runs, from a profile on.
const GRIDS: [(Profile, &[Varied<'_>]); 8] = [
    (Profile::Smoke, &[("cache_bytes", &[])]),
    (Profile::Quick, &[(WAYS, &[FULL]), ("cache_bytes", &["64", "256", "1024", "4096"])]),
    (Profile::Quick, &[(WAYS, &["4"]), (POLICY, &[]), ("cache_bytes", &["256", "1024"])]),
    (Profile::Quick, &[("line_bytes", &[]), ("cache_bytes", &["64", "1024"])]),
    (Profile::Quick, &[("cache_bytes", &["64", "1024"]), ("penalty_cycles", &[])]),
    (Profile::Quick, &[("fetch_bytes", &[])]),
    (Profile::Standard, &[(WAYS, &["2"]), ("cache_bytes", &[])]),
    (Profile::Standard, &[(WAYS, &[FULL]), ("cache_bytes", &[])]),
];

/// Returns the design for some files, of which the first is the one that others are compared with:
/// the declared one with other programs, larger caches or those that the files name, and findings about
/// each file.
pub(crate) fn design(programs: &[ProgramFile]) -> Design {
    let mut design = super::design();
    let first = programs.first().map(|program| program.level.as_str()).unwrap_or_default();
    design.question = "How do your programs use an instruction cache?".into();
    // Its first sentence is about the programs that scruple carries.
    let method = design.method.split_once(". ").map_or("", |(_, method)| method);
    design.method = format!(
        "{method} The programs are yours: each is one file, known by its SHA-256, and a trial that \
         finds another content fails. One run of a program answers for all caches."
    );
    let is_carried = |name: &str| ["workload", "build", "compiler", "mapping"].contains(&name);
    design.factors.retain(|factor| !is_carried(&factor.name));
    design.factors.insert(0, which(programs));
    let at = design.factors.iter().position(|factor| factor.name == "line_bytes").unwrap_or(0);
    design.factors.insert(at, ways());
    design.factors.insert(at + 1, policies());
    set_levels(&mut design, "cache_bytes", sizes());
    design.grids = GRIDS.iter().map(|(from, vary)| grid(*from, vary)).collect();
    let of_kernels = kernels::RESPONSES.as_flattened();
    design.responses.retain(|response| !of_kernels.contains(&response.name.as_str()));
    design.figures.retain(|figure| !figure.plot.at.contains_key("workload"));
    for response in &mut design.responses {
        response.label = response.label.replace(CARRIED, first);
        response.limits.clear();
    }
    for name in design.figures.iter_mut().flat_map(|figure| &mut figure.plot.by) {
        match name.as_str() {
            "build" => *name = FACTOR.into(),
            "mapping" => *name = WAYS.into(),
            _ => {}
        }
    }
    if programs.len() == 1 {
        design.responses.retain(|response| response.name != "equal_bytes");
    }
    let chosen = programs.first().and_then(|program| program.caches.as_ref());
    let cycles = chosen.is_none_or(|caches| choose(&mut design, caches));
    if !cycles {
        leave_out_cycles(&mut design);
    }
    design.findings = findings(&design, programs, cycles);
    let like = design.accounts.drain(..).next().filter(|_| cycles);
    let accounts = programs.iter().enumerate().filter_map(|(number, program)| {
        Some(account(like.as_ref()?, &size_in_words(&design), number, program))
    });
    design.accounts = accounts.collect();
    design.claims = Vec::new();
    design.programs = programs.to_vec();
    design.time_limit_ms = time_limit_ms(&design, programs);
    design
}

/// How long a trial of some programs may take, of a design for programs that take no time.
pub(crate) fn time_limit_ms(design: &Design, programs: &[ProgramFile]) -> u64 {
    let steps_max = programs.iter().map(|program| program.instructions_max).max().unwrap_or(0);
    let own_ms = steps_max.saturating_mul(NS_PER_INSTRUCTION) / 1_000_000;
    design.time_limit_ms.saturating_add(own_ms)
}

fn set_levels(design: &mut Design, factor: &str, levels: Vec<Level>) {
    for factor in design.factors.iter_mut().filter(|it| it.name == factor) {
        factor.levels.clone_from(&levels);
    }
}

fn sizes() -> Vec<Level> {
    let all = SIZES.iter().flat_map(|(from, sizes)| sizes.iter().map(|bytes| (*bytes, *from)));
    let mut all: Vec<(u32, Profile)> = all.collect();
    all.sort_by_key(|(bytes, _)| *bytes);
    let level = |(bytes, from): (u32, Profile)| Level { from, ..of_bytes(bytes) };
    all.into_iter().map(level).collect()
}

fn of_bytes(bytes: u32) -> Level {
    Level::number(u64::from(bytes), "bytes")
}

fn ways() -> Factor {
    Factor {
        name: WAYS.into(),
        about: "how many lines a set of the cache has".into(),
        levels: [1, 2, 4, 0].map(of_ways).into(),
        baseline: "1".into(),
        ..Factor::default()
    }
}

/// The level of a set of N lines; of all for 0.
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

fn policies() -> Factor {
    Factor {
        name: POLICY.into(),
        about: "which line of a set gives way to a new one".into(),
        label: "replacement".into(),
        levels: Replacement::ALL.map(of_policy).into(),
        baseline: Replacement::Lru.name().into(),
        ..Factor::default()
    }
}

fn of_policy(policy: Replacement) -> Level {
    let (about, label) = match policy {
        Replacement::Lru => ("the one accessed longest ago", "LRU"),
        Replacement::Fifo => ("the one fetched longest ago", "FIFO"),
        Replacement::Random => ("any, drawn at random from a fixed seed", "random"),
        Replacement::Plru => ("the one that a binary tree of bits points to", "pseudo-LRU"),
    };
    Level { label: label.into(), ..Level::new(policy.name(), about) }
}

/// Gives a design the caches of a choice, each of which every program runs before. Returns whether
/// their cycles are computed.
fn choose(design: &mut Design, caches: &Caches) -> bool {
    let (bytes, line_bytes) = (sorted(&caches.bytes), sorted(&caches.line_bytes));
    let (mut ways, policies) = (sorted(&caches.ways), sorted(&caches.policies));
    // All lines come last.
    ways.sort_by_key(|ways| ways.wrapping_sub(1));
    design.grids.clear();
    let mut count = 0;
    let mut first = None;
    for (policy, ways) in policies.iter().flat_map(|policy| ways.iter().map(|it| (*policy, *it))) {
        for line_bytes in &line_bytes {
            let placing = Placing { ways, policy };
            let there = bytes.iter().filter(|bytes| placing.cache(**bytes, *line_bytes).is_ok());
            let there: Vec<u32> = there.copied().collect();
            let Some(smallest) = there.first() else { continue };
            first.get_or_insert((*smallest, *line_bytes, ways, policy));
            count += there.len();
            design.grids.push(chosen_grid(placing, *line_bytes, &there));
        }
    }
    set_levels(design, "cache_bytes", bytes.into_iter().map(of_bytes).collect());
    set_levels(design, "line_bytes", line_bytes.into_iter().map(of_bytes).collect());
    set_levels(design, WAYS, ways.into_iter().map(of_ways).collect());
    set_levels(design, POLICY, policies.into_iter().map(of_policy).collect());
    if let Some((bytes, line_bytes, ways, policy)) = first {
        for factor in &mut design.factors {
            match factor.name.as_str() {
                "cache_bytes" => factor.baseline = bytes.to_string(),
                "line_bytes" => factor.baseline = line_bytes.to_string(),
                WAYS => factor.baseline = of_ways(ways).name,
                POLICY => factor.baseline = policy.name().into(),
                _ => {}
            }
        }
    }
    // Nothing was chosen of the other factors.
    let fixed = ["penalty_cycles", "fetch_bytes"];
    for factor in design.factors.iter_mut().filter(|it| fixed.contains(&it.name.as_str())) {
        let baseline = factor.baseline.clone();
        factor.levels.retain(|level| level.name == baseline);
    }
    design.figures.retain(|figure| !figure.plot.over.iter().any(|it| it == "fetch_bytes"));
    caches.cycles && count <= PIPELINES_MAX
}

fn sorted<T: Copy + Ord>(chosen: &[T]) -> Vec<T> {
    let all: BTreeSet<T> = chosen.iter().copied().collect();
    all.into_iter().collect()
}

/// Reports whether a choice of caches names any that can be.
#[must_use]
pub fn is_any_cache(caches: &Caches) -> bool {
    caches.ways.iter().any(|ways| {
        caches.policies.iter().any(|policy| {
            let placing = Placing { ways: *ways, policy: *policy };
            caches.line_bytes.iter().any(|line_bytes| {
                caches.bytes.iter().any(|bytes| placing.cache(*bytes, *line_bytes).is_ok())
            })
        })
    })
}

fn chosen_grid(placing: Placing, line_bytes: u32, bytes: &[u32]) -> Grid {
    let one = |factor: &str, level: String| (factor.to_owned(), vec![level]);
    let bytes = bytes.iter().map(u32::to_string).collect();
    Grid {
        from: Profile::Smoke,
        vary: [
            (FACTOR.to_owned(), Vec::new()),
            ("cache_bytes".to_owned(), bytes),
            one("line_bytes", line_bytes.to_string()),
            one(WAYS, of_ways(placing.ways).name),
            one(POLICY, placing.policy.name().into()),
        ]
        .into(),
    }
}

/// Takes the pipeline out of a design: its factors, its responses and what is made of them.
fn leave_out_cycles(design: &mut Design) {
    design.factors.retain(|it| !["penalty_cycles", "fetch_bytes"].contains(&it.name.as_str()));
    let of_lines =
        |name: &str| BY_LINES.iter().any(|(_, count, rate)| [*count, *rate].contains(&name));
    design.responses.retain(|it| !it.name.contains("cycle") && !of_lines(&it.name));
    let known: Vec<String> = design.responses.iter().map(|it| it.name.clone()).collect();
    design.figures.retain(|figure| figure.plot.responses.iter().all(|it| known.contains(it)));
    design.accounts.clear();
}

/// Returns the factor that says which program runs; the first one is the baseline.
pub(crate) fn which(programs: &[ProgramFile]) -> Factor {
    let first = programs.first().map(|program| program.level.as_str()).unwrap_or_default();
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

/// The cache of the baselines: how large it is, and how it is built.
fn cache_in_words(design: &Design) -> String {
    let baseline = |factor| design.factor(factor).map_or("", |it| it.baseline.as_str());
    let label = |factor| {
        let level = design.factor(factor).and_then(|it| it.level(&it.baseline));
        level.map_or("", |level| level.label.as_str())
    };
    let lines = baseline("line_bytes");
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
    let bytes = design.factor("cache_bytes").and_then(|it| it.baseline.parse::<u32>().ok());
    match bytes.unwrap_or(0) {
        bytes if bytes >= 1024 && bytes % 1024 == 0 => format!("{} KiB", bytes / 1024),
        bytes => format!("{bytes} bytes"),
    }
}

/// Returns the account of a program's cycles in the cache of the baselines, with the parts of
/// another account.
fn account(like: &Account, size: &str, number: usize, program: &ProgramFile) -> Account {
    let place = at(program);
    let mut account = like.clone();
    account.id = format!("cycles_{number}");
    account.title =
        format!("one instruction of {} before {size} of cache, in cycles", program.level);
    let counts = account.parts.iter_mut().map(|part| &mut part.count);
    for term in counts.chain([&mut account.total]) {
        if let Term::Measured { at, .. } = term {
            *at = place.clone();
        }
    }
    account
}

/// A program in the cache of the baselines.
fn at(program: &ProgramFile) -> Cell {
    Cell::new([(FACTOR, program.level.as_str())])
}

/// Returns what makes sense of any program: its hits and cycles, and how it compares with the first.
fn findings(design: &Design, programs: &[ProgramFile], cycles: bool) -> Vec<Finding> {
    let Some(first) = programs.first() else { return Vec::new() };
    let cache = cache_in_words(design);
    let penalty = design.factor("penalty_cycles").map_or("", |it| it.baseline.as_str());
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let name = &program.level;
        let mut find = |id: &str, response: &str, sentence: String, of_first: bool| {
            let (response, of) = (response.to_owned(), at(program));
            let quantity = if of_first {
                Quantity::Ratio { response, of, to: at(first) }
            } else {
                Quantity::Value { response, at: of }
            };
            if cycles || !quantity.response().contains("cycle") {
                let drives = id == "hits";
                all.push(Finding { id: format!("{id}_{number}"), sentence, quantity, drives });
            }
        };
        find("hits", "hit_ppm", format!("{name} hits {{}} of its accesses to {cache}."), false);
        let costs = format!("{name} takes {{}} per instruction there, at {penalty} a missed line.");
        find("cycles", "cycles", costs, false);
        if number == 0 {
            continue;
        }
        for (id, response, what) in [
            ("text", "text_bytes", "has {} times the size of"),
            ("misses", "miss_count", "misses {} times as often there as"),
            ("all", "cycle_count", "takes {} times the cycles there of"),
        ] {
            find(id, response, format!("{name} {what} {}.", first.level), true);
        }
    }
    all
}

/// The program of a level, and the hash of its file.
pub(crate) fn code(trial: &Trial<'_>, level: &str) -> Result<(Code, String)> {
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
