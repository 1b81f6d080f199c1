//! A program on the machine, before a cache and through a pipeline, and what is counted.

use super::programs::{Event, MSTATUS_BEFORE, Plan, STATE, Written};
use isa::cache::{Cache, Geometry, Outcome};
use isa::pipeline::{Cycles, Latency, Parameters, Pipeline, Stage, Times};
use isa::{Kind, Machine, Setup, Step, Stopped};
use kit::{Result, Stop};

/// The instruction cache: direct-mapped, so that two pieces of code of the same address modulo its
/// size throw each other out.
pub(super) const CACHE_BYTES: u32 = 1024;
const LINE_BYTES: u32 = 8;

/// Cycles that a line takes from memory.
const MISS_CYCLES: u16 = 10;

/// Steps of one round beyond its instructions, at most: traps and handlers.
const STEPS_BEYOND: u64 = 32;

/// The levels of the factor `stage`.
pub(super) const STAGES: [(&str, Stage); 4] = [
    ("ID", Stage::Decode),
    ("EX", Stage::Execute),
    ("MEM", Stage::Memory),
    ("WB", Stage::WriteBack),
];

/// Whether there is an instruction cache, and where in it the handler lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    None,
    Conflicting,
    Apart,
}

/// The levels of the factor `cache`.
pub(super) const CACHES: [(&str, Caching); 3] =
    [("none", Caching::None), ("conflicting", Caching::Conflicting), ("apart", Caching::Apart)];

/// How the program is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) stage: Stage,
    pub(super) latency: u16,
    pub(super) caching: Caching,
}

impl Way {
    /// Returns the textbook's pipeline, except for the stage in which the event is resolved.
    pub(super) fn parameters(&self, event: Event) -> Parameters {
        let textbook = Parameters {
            latency: Latency::all(self.latency),
            miss: if self.caching == Caching::None { 0 } else { MISS_CYCLES },
            ..Parameters::textbook()
        };
        let stage = self.stage;
        match event {
            // The loop's own branch is also resolved there, in both programs.
            Event::Nothing | Event::NotTaken | Event::Branch => {
                Parameters { branch: stage, ..textbook }
            }
            Event::Jump => Parameters { jump: stage, ..textbook },
            Event::JumpRegister => Parameters { jump_register: stage, ..textbook },
            Event::Return => Parameters { trap_return: stage, ..textbook },
            Event::Call | Event::CallAgain | Event::Illegal | Event::Timer => {
                Parameters { trap: stage, ..textbook }
            }
        }
    }

    fn cache(&self) -> Result<Option<Cache>> {
        if self.caching == Caching::None {
            return Ok(None);
        }
        let geometry = Geometry::direct_mapped(CACHE_BYTES / LINE_BYTES, LINE_BYTES)
            .map_err(|error| Stop::failed(error.to_string()))?;
        Ok(Some(Cache::new(geometry)))
    }
}

/// What a run counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) cycles: Cycles,
    /// When the last step left the pipeline.
    pub(super) last_cycle: u64,
    pub(super) traps: u64,
    /// Traps whose instruction came again straight after `mret`.
    pub(super) again: u64,
    pub(super) misses: u64,
}

/// Runs a program to its end and shows each step, and when it was where, to `observe`.
pub(super) fn run(
    plan: &Plan,
    written: &Written,
    way: &Way,
    parameters: Parameters,
    mut observe: impl FnMut(&Step, &Times),
) -> Result<(Counted, Machine)> {
    let failed = |error: &dyn std::error::Error| Stop::failed(error.to_string());
    let mut machine = Machine::new(&written.program, &Setup::default()).map_err(|e| failed(&e))?;
    let mut pipeline = Pipeline::new(parameters).map_err(|error| failed(&error))?;
    let mut cache = way.cache()?;
    let mut counted = Counted::default();
    let (mut trapped_at, mut returned) = (None, false);
    let limit = (plan.rounds + 1) * (2 * plan.interval + STEPS_BEYOND);
    let stopped = machine.run(limit, |step| {
        counted.again += u64::from(returned && trapped_at == Some(step.pc));
        returned = step.kind == Kind::Return;
        if step.trap.is_some() {
            counted.traps += 1;
            trapped_at = Some(step.pc);
        }
        // Instructions of four bytes at multiples of four lie on one line.
        let missed =
            cache.as_mut().is_some_and(|cache| matches!(cache.access(step.pc), Outcome::Miss(_)));
        counted.misses += u64::from(missed);
        let times = pipeline.step(step, u8::from(missed));
        counted.last_cycle = times.leaves(Stage::WriteBack, parameters.depth);
        observe(step, &times);
    });
    if stopped != (Stopped::Left { pc: 0 }) {
        return Err(Stop::failed(format!("the program did not end as planned: {stopped}")));
    }
    counted.cycles = *pipeline.cycles();
    Ok((counted, machine))
}

/// A program with an event, and the same without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) with: Counted,
    pub(super) without: Counted,
}

impl Compared {
    /// Runs both.
    pub(super) fn by(plan: &Plan, way: &Way) -> Result<Self> {
        let parameters = way.parameters(plan.event);
        let only = |plan: &Plan| {
            run(plan, &plan.write(), way, parameters, |_, _| {}).map(|(counted, _)| counted)
        };
        let without = only(&Plan { event: Event::Nothing, ..*plan })?;
        Ok(Compared { with: only(plan)?, without })
    }

    /// Cycles lost behind the events themselves: not in their handlers, nor in what brings back.
    pub(super) fn lost(&self, event: Event) -> u64 {
        let (with, without) = (&self.with.cycles, &self.without.cycles);
        match event {
            Event::Return => with.trap_return,
            _ if event.cause().is_some() => with.trap,
            _ => with.control.saturating_sub(without.control),
        }
    }

    /// Cycles of the program with its events beyond those of the program without.
    pub(super) fn whole(&self) -> i64 {
        self.with.cycles.total() as i64 - self.without.cycles.total() as i64
    }
}

/// What a trap leaves, as its handler reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// mepc, mcause, mtval and mstatus.
    pub(super) written: [u32; 4],
    /// mstatus before the loop.
    pub(super) mstatus_before: u32,
}

/// What the first trap of a program leaves.
pub(super) fn state(plan: &Plan, way: &Way) -> Result<State> {
    let plan = Plan { shows_state: true, ..*plan };
    let (_, machine) = run(&plan, &plan.write(), way, way.parameters(plan.event), |_, _| {})?;
    let written = STATE.map(|register| machine.register(register));
    Ok(State { written, mstatus_before: machine.register(MSTATUS_BEFORE) })
}
