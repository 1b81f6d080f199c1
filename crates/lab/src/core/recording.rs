//! What happened in some hundreds of steps, cycle by cycle: what the page shows.

use super::late::Late;
use super::loaded::Loaded;
use super::run::{Ran, UNASKED_STEPS};
use super::{Window, label};
use anyhow::{Result, bail};
use isa::cache::Cache;
use isa::pipeline::{Code, Depth, Drawing, Fate, Operand, Parameters, Stage, Times, operands};
use isa::system::{Config, System};
use isa::{Machine, Step, csr};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most steps of a recording.
pub(super) const STEPS_MAX: usize = 2000;

/// The most lines of a cache that is shown set by set.
const CACHE_LINES_MAX: u32 = 512;

/// The csrs that are shown.
const CSRS: [(&str, u16); 6] = [
    ("mstatus", csr::MSTATUS),
    ("mie", csr::MIE),
    ("mtvec", csr::MTVEC),
    ("mepc", csr::MEPC),
    ("mcause", csr::MCAUSE),
    ("mtval", csr::MTVAL),
];

/// A part of a run, as data.
#[derive(Debug, Serialize)]
pub(super) struct Recording {
    /// The names of the stages.
    pub(super) stages: Vec<&'static str>,
    /// The first cycle, and the last.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) rows: Vec<Row>,
    /// What happened, by cycles.
    pub(super) said: Vec<(u64, String)>,
    /// What became of registers, memory and caches, by cycles.
    pub(super) changes: Vec<Change>,
    /// What they held before.
    pub(super) registers: Vec<u32>,
    pub(super) csrs: Vec<(&'static str, u32)>,
    pub(super) memory: Vec<Word>,
    pub(super) caches: Vec<Sets>,
    /// The instructions of the rows, by their addresses.
    pub(super) listing: Vec<Listed>,
    /// What the program wrote before.
    pub(super) output: String,
    /// How the program ended, if it did in these steps, or that it goes on.
    pub(super) ending: String,
}

/// An instruction on its way.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) pc: u32,
    pub(super) text: String,
    /// `r` where it retires, `t` where it traps, `x` on the wrong path.
    pub(super) fate: char,
    pub(super) start: u64,
    /// A letter for each cycle: a stage, small where it is held; `.` for a redirect, `x` where it is flushed.
    pub(super) cells: String,
    /// The cycles in which it takes an operand that was not written back.
    pub(super) forwarded: Vec<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Change {
    pub(super) cycle: u64,
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum What {
    /// A register holds a value.
    Register(u8, u32),
    Csr(usize, u32),
    /// A word of memory holds a value.
    Memory(u32, u32),
    /// A cache was asked: its number, the set, the way, the line, and whether it was there.
    Line(usize, u32, usize, u32, bool),
    Output(String),
}

/// A word of memory that was stored to, and what it held before.
#[derive(Debug, Serialize)]
pub(super) struct Word {
    pub(super) address: u32,
    pub(super) value: u32,
    pub(super) place: String,
}

/// A cache set by set.
#[derive(Debug, Serialize)]
pub(super) struct Sets {
    pub(super) name: &'static str,
    pub(super) shape: String,
    pub(super) line_bytes: u32,
    /// The lines of each set; none in an empty place. Empty where the cache is too large to be shown.
    pub(super) sets: Vec<Vec<Option<u32>>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Listed {
    pub(super) pc: u32,
    pub(super) text: String,
    pub(super) label: String,
    pub(super) line: Option<u32>,
    /// Whether the next one of the list follows it in memory.
    pub(super) goes_on: bool,
}

/// Steps that followed each other, and their drawing.
pub(super) struct Seen {
    pub(super) drawing: Drawing,
    pub(super) operands: Vec<Operand>,
    recorder: Recorder,
    sizes: BTreeMap<u32, u8>,
    ended: Option<String>,
    /// The machine before them, and behind them.
    before: Machine,
    machine: Machine,
}

/// Carries the program out again and records steps of the window, at most `most` and none that is fetched in the
/// cycle `until` or later.
pub(super) fn steps(
    loaded: &Loaded,
    config: &Config,
    ran: &Ran,
    most: usize,
    until: Option<u64>,
) -> Result<Seen> {
    let Some(begins) = ran.begins else {
        match ran.window {
            Some(Window::Cycles(..)) => {
                bail!("the program ends at cycle {}", ran.system.cycles().total())
            }
            _ => bail!("the program has no such moment"),
        }
    };
    let mut machine = loaded.start()?;
    let mut system = System::new(config)?;
    let mut late = Late::of(&config.core);
    run_up_to(begins, &mut machine, &mut system, late.as_mut())?;
    let before = machine.clone();
    let mut recorder = Recorder::new(config.core, &system);
    let mut ended = None;
    while recorder.steps.len() < most && machine.steps() < loaded.file.instructions_max {
        if let Some(late) = &mut late {
            late.before(&mut machine);
        }
        let state = State::of(&machine);
        let step = match machine.step() {
            Ok(step) => step,
            Err(stopped) => {
                ended = Some(stopped.to_string());
                break;
            }
        };
        let seen = system.step(&step);
        machine.wait_cycles(seen.cycles.saturating_sub(1));
        if until.is_some_and(|until| seen.times.fetch >= until) {
            break;
        }
        recorder.note(&step, &seen.times, &machine, &system, &state);
        if let Some(late) = &mut late {
            late.after(&mut machine, &step, &seen);
        }
    }
    let mut sizes = BTreeMap::new();
    let code = |pc: u32| {
        let (text, size) = loaded.code(&machine, pc);
        sizes.insert(pc, size);
        Code { size, text }
    };
    let drawing = Drawing::new(&config.core, &recorder.steps, code);
    let operands = match config.core.hazards {
        true => operands(&config.core, &recorder.steps),
        false => Vec::new(),
    };
    Ok(Seen { drawing, operands, recorder, sizes, ended, before, machine })
}

/// Carries the program out up to a step.
fn run_up_to(
    begins: u64,
    machine: &mut Machine,
    system: &mut System,
    mut late: Option<&mut Late>,
) -> Result<()> {
    while machine.steps() < begins {
        let at_once = if late.is_some() { 1 } else { UNASKED_STEPS };
        let more = (begins - machine.steps()).min(at_once);
        let mut last = None;
        if let Some(late) = late.as_deref_mut() {
            late.before(machine);
        }
        machine.run(more, |step| {
            let seen = system.step(step);
            if at_once == 1 {
                last = Some((*step, seen));
            }
            seen.cycles
        });
        if let (Some(late), Some((step, seen))) = (late.as_deref_mut(), last) {
            late.after(machine, &step, &seen);
        }
        if sys::interrupt::requested().is_some() {
            return Err(std::io::Error::other(crate::destination::Stopped).into());
        }
    }
    Ok(())
}

/// Records the steps of the window.
pub(super) fn record(loaded: &Loaded, config: &Config, ran: &Ran) -> Result<Recording> {
    let Seen { drawing, operands, recorder, sizes, ended, before, machine } =
        steps(loaded, config, ran, STEPS_MAX, None)?;
    let cycles = drawing.cycles();
    let Recorder { mut changes, caches, stored, .. } = recorder;
    changes.sort_by_key(|change| change.cycle);
    let stages = Stage::ALL.into_iter().filter(|stage| config.core.depth.index(*stage).is_some());
    let word = |address: &u32| Word {
        address: *address,
        value: word(&before, *address).unwrap_or(0),
        place: loaded.place(*address),
    };
    let shown: BTreeSet<u32> = drawing.rows.iter().map(|row| row.pc).collect();
    let listed = |pc: &u32| Listed {
        pc: *pc,
        text: loaded.code(&machine, *pc).0,
        label: label(&loaded.program, *pc).unwrap_or_default(),
        line: loaded.line(*pc),
        goes_on: shown.contains(&pc.wrapping_add(sizes.get(pc).copied().unwrap_or(4).into())),
    };
    Ok(Recording {
        stages: stages.map(Stage::name).collect(),
        first: cycles.start,
        last: cycles.end.saturating_sub(1),
        said: drawing.said(&operands),
        changes,
        registers: before.registers().to_vec(),
        csrs: CSRS.iter().map(|(name, number)| (*name, before.csr(*number).unwrap_or(0))).collect(),
        memory: stored.iter().map(word).collect(),
        caches,
        listing: shown.iter().map(listed).collect(),
        output: String::from_utf8_lossy(before.output()).into_owned(),
        ending: ended
            .unwrap_or_else(|| format!("the program goes on; {STEPS_MAX} instructions are held")),
        rows: rows(&drawing, &operands),
    })
}

fn rows(drawing: &Drawing, operands: &[Operand]) -> Vec<Row> {
    let mut step = 0..;
    let row = |row: &isa::pipeline::Row| {
        let step = if row.fate == Fate::WrongPath { None } else { step.next() };
        let forwarded =
            operands.iter().filter(|one| Some(one.user) == step && one.forwarded.is_some());
        Row {
            pc: row.pc,
            text: row.text.clone(),
            fate: match row.fate {
                Fate::Retires => 'r',
                Fate::Traps => 't',
                Fate::WrongPath => 'x',
            },
            start: row.start,
            cells: row.cells.iter().map(|cell| cell.letter()).collect(),
            forwarded: forwarded.map(|one| one.cycle).collect(),
        }
    };
    drawing.rows.iter().map(row).collect()
}

fn word(machine: &Machine, address: u32) -> Option<u32> {
    Some(u32::from_le_bytes(*machine.bytes(address, 4)?.first_chunk()?))
}

/// What a step may change beside a register and memory.
struct State {
    csrs: [u32; CSRS.len()],
    output: usize,
}

impl State {
    fn of(machine: &Machine) -> Self {
        let csrs = CSRS.map(|(_, number)| machine.csr(number).unwrap_or(0));
        Self { csrs, output: machine.output().len() }
    }
}

/// Notes what steps change, and when.
struct Recorder {
    parameters: Parameters,
    steps: Vec<(Step, Times)>,
    changes: Vec<Change>,
    /// Words that were stored to.
    stored: BTreeSet<u32>,
    caches: Vec<Sets>,
    /// The caches as they are now: places keep their lines, whatever the policy's order is.
    places: Vec<Vec<Vec<Option<u32>>>>,
}

impl Recorder {
    fn new(parameters: Parameters, system: &System) -> Self {
        let caches: Vec<Sets> =
            caches(system).into_iter().map(|(name, cache)| sets(name, cache)).collect();
        let places = caches.iter().map(|cache| cache.sets.clone()).collect();
        Self {
            parameters,
            steps: Vec::new(),
            changes: Vec::new(),
            stored: BTreeSet::new(),
            caches,
            places,
        }
    }

    fn note(
        &mut self,
        step: &Step,
        times: &Times,
        machine: &Machine,
        system: &System,
        before: &State,
    ) {
        self.steps.push((*step, *times));
        let depth = self.parameters.depth;
        let written = times.enters(Stage::WriteBack, depth);
        let answered = times
            .enters(if depth == Depth::Five { Stage::Memory } else { Stage::WriteBack }, depth);
        let mut change = |cycle, what| self.changes.push(Change { cycle, what });
        let register = match step.writes & 31 {
            // A call of the host may answer in a0.
            0 if step.kind == isa::Kind::Call && step.trap.is_none() => 10,
            register => register,
        };
        if register != 0 {
            let value = machine.registers()[usize::from(register)];
            change(written, What::Register(register, value));
        }
        let after = State::of(machine);
        let commits = times.turns.filter(|_| step.trap.is_some());
        let commits = commits.map_or(written, |stage| times.leaves(stage, depth).saturating_sub(1));
        for (at, (old, new)) in before.csrs.iter().zip(after.csrs).enumerate() {
            if *old != new {
                change(commits, What::Csr(at, new));
            }
        }
        if let Some(new) = machine.output().get(before.output..).filter(|new| !new.is_empty()) {
            change(written, What::Output(String::from_utf8_lossy(new).into_owned()));
        }
        let lines = |bytes: u32, address: u32, size: u8| {
            let last = address.wrapping_add(u32::from(size.max(1)) - 1);
            [address & !(bytes - 1), last & !(bytes - 1)]
        };
        if let Some(access) = step.access.filter(|_| step.trap.is_none()) {
            let words = lines(4, access.address, access.bytes);
            for word in words.iter().take(if access.write {
                1 + usize::from(words[0] != words[1])
            } else {
                0
            }) {
                if let Some(value) = self::word(machine, *word) {
                    self.stored.insert(*word);
                    change(answered, What::Memory(*word, value));
                }
            }
        }
        for (number, (name, cache)) in caches(system).into_iter().enumerate() {
            let bytes = cache.config().geometry().line_bytes();
            let (cycle, touched) = match (name, step.access.filter(|_| step.trap.is_none())) {
                ("instructions", _) if step.size > 0 => {
                    (times.fetch, lines(bytes, step.pc, step.size))
                }
                ("data", Some(access)) => (answered, lines(bytes, access.address, access.bytes)),
                _ => continue,
            };
            let count = 1 + usize::from(touched[0] != touched[1]);
            for line in touched.into_iter().take(count) {
                if let Some(what) = self.touch(number, cache, line) {
                    self.changes.push(Change { cycle, what });
                }
            }
        }
    }

    /// Notes what became of a set of a cache.
    fn touch(&mut self, number: usize, cache: &Cache, line: u32) -> Option<What> {
        let set = cache.set(line);
        let places = self.places.get_mut(number)?.get_mut(set as usize)?;
        if let Some(way) = places.iter().position(|held| *held == Some(line)) {
            return Some(What::Line(number, set, way, line, true));
        }
        let held: Vec<u32> = cache.held(set).collect();
        let gone = |place: &Option<u32>| place.is_none_or(|line| !held.contains(&line));
        // A store that fetches nothing has no place.
        let way = places.iter().position(gone).filter(|_| held.contains(&line))?;
        places[way] = Some(line);
        Some(What::Line(number, set, way, line, false))
    }
}

fn caches(system: &System) -> Vec<(&'static str, &Cache)> {
    let all = [("instructions", system.instruction()), ("data", system.data())];
    all.into_iter().filter_map(|(name, cache)| Some((name, cache?))).collect()
}

fn sets(name: &'static str, cache: &Cache) -> Sets {
    let geometry = cache.config().geometry();
    let shown = if geometry.lines() <= CACHE_LINES_MAX { geometry.sets() } else { 0 };
    let set = |set| {
        let mut places: Vec<Option<u32>> = cache.held(set).map(Some).collect();
        places.resize(geometry.ways() as usize, None);
        places
    };
    Sets {
        name,
        shape: cache.config().to_string(),
        line_bytes: geometry.line_bytes(),
        sets: (0..shown).map(set).collect(),
    }
}
