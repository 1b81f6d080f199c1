//! The engine and the stepper agree on random programs: on every cycle, its cause, and the drawing.

use super::super::Prediction;
use super::super::{Cell, Code, Depth, Drawing, Fate, Latency, Parameters, Stage};
use super::stepper::Stepper;
use super::{Fed, ecall, interrupted, pass};
use crate::{Cause, Kind, Step};
use proptest::prelude::*;

/// What a random instruction is, before it has a place.
#[derive(Clone, Copy, Debug)]
struct Draw {
    kind: Kind,
    small: bool,
    taken: bool,
    traps: u8,
    registers: [u8; 3],
    /// Where it goes if it goes elsewhere, in halfwords.
    target: u32,
    missed: u8,
    /// Cycles that its data access waits.
    data: u32,
}

const KINDS: [Kind; 15] = [
    Kind::Alu,
    Kind::Alu,
    Kind::Alu,
    Kind::Multiply,
    Kind::Divide,
    Kind::Load,
    Kind::Load,
    Kind::Store,
    Kind::Branch,
    Kind::Branch,
    Kind::Jump,
    Kind::JumpRegister,
    Kind::Csr,
    Kind::Return,
    Kind::Fence,
];

fn draw() -> impl Strategy<Value = Draw> {
    let kind = (0..KINDS.len()).prop_map(|kind| KINDS[kind]);
    let missed = prop_oneof![8 => Just(0_u8), 1 => Just(1), 1 => Just(2)];
    let data = prop_oneof![4 => Just(0_u32), 1 => 0..7_u32];
    let registers = [0..4_u8, 0..4_u8, 0..4_u8];
    let what = (kind, any::<bool>(), any::<bool>(), 0..12_u8, registers, 0..64_u32, missed, data);
    what.prop_map(|(kind, small, taken, traps, registers, target, missed, data)| Draw {
        kind,
        small,
        taken,
        traps,
        registers,
        target,
        missed,
        data,
    })
}

/// Steps that follow each other from address 0.
fn program(draws: &[Draw]) -> Vec<Fed> {
    let mut pc = 0;
    let steps = draws.iter().map(|draw| {
        let size = if draw.small { 2 } else { 4 };
        let [first, second, writes] = draw.registers;
        let elsewhere = match draw.kind {
            Kind::Jump | Kind::JumpRegister | Kind::Return => true,
            Kind::Branch => draw.taken,
            _ => false,
        };
        let next = if elsewhere { draw.target * 2 } else { pc + size };
        let plain = Step {
            pc,
            next,
            size: size as u8,
            kind: draw.kind,
            reads: [first, second],
            writes,
            offset: (draw.target * 2).wrapping_sub(pc) as i32,
            access: None,
            trap: None,
        };
        let step = match draw.traps {
            0 => interrupted(draw.target * 2, plain),
            1 => Step { size: size as u8, writes, ..ecall(pc, draw.target * 2) },
            _ => plain,
        };
        pc = step.next;
        let accesses = matches!(draw.kind, Kind::Load | Kind::Store) && step.trap.is_none();
        (step, draw.missed, if accesses { draw.data } else { 0 })
    });
    steps.collect()
}

fn prediction() -> impl Strategy<Value = Prediction> {
    (0..5_u8, 0..4_u32).prop_map(|(kind, bits)| {
        let entries = 1 << bits;
        match kind {
            0 => Prediction::NotTaken,
            1 => Prediction::Backward,
            2 => Prediction::OneBit { entries },
            3 => Prediction::TwoBit { entries },
            _ => Prediction::Gshare { entries },
        }
    })
}

fn stage() -> impl Strategy<Value = Stage> {
    (1..5_usize).prop_map(|stage| Stage::ALL[stage])
}

fn latencies([branch, jump, jump_register, trap, interrupt, trap_return]: [u16; 6]) -> Latency {
    Latency { branch, jump, jump_register, trap, interrupt, trap_return }
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let stages = [stage(), stage(), stage(), stage(), stage(), stage(), stage()];
    let small = ([0..3_u16, 0..9_u16, 0..3_u16, 0..3_u16, 0..6_u16], [(); 6].map(|()| 0..5_u16));
    let flags = [any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()];
    let rest = (flags, 1..5_u8, prediction());
    (stages, small, rest).prop_map(|(stages, small, (flags, width, prediction))| {
        let [four, forwarding, first, buffer] = flags;
        let [loaded, multiplied, branch, jump, jump_register, trap, trap_return] = stages
            .map(|stage| if four && stage == Stage::Memory { Stage::WriteBack } else { stage });
        let ([multiply, divide, csr, behind_memory, miss], latency) = small;
        Parameters {
            depth: if four { Depth::Four } else { Depth::Five },
            hazards: true,
            forwarding,
            loaded: loaded.max(Stage::Execute),
            multiplied: multiplied.max(Stage::Execute),
            branch,
            prediction,
            predicted: if buffer || branch == Stage::Decode { Stage::Fetch } else { Stage::Decode },
            jump: if first { Stage::Fetch } else { jump },
            jump_register,
            trap,
            trap_return,
            latency: latencies(latency),
            multiply,
            divide,
            csr,
            behind_memory,
            fetch_bytes: 1 << width,
            miss,
        }
    })
}

/// What lies on the wrong path: both sizes, by the address alone.
fn size(pc: u32) -> u8 {
    if pc.wrapping_mul(0x9e37_79b9) >> 31 == 0 { 2 } else { 4 }
}

fn code(pc: u32) -> Code {
    Code { size: size(pc), text: String::new() }
}

proptest! {
    #[test]
    fn every_cycle_and_its_cause_is_that_of_a_stepped_pipeline(
        parameters in parameters(),
        draws in prop::collection::vec(draw(), 1..60),
    ) {
        let steps = program(&draws);
        let (pipeline, times) = pass(parameters, &steps);
        let stepped = Stepper::new(parameters, &steps, &size).run();
        let last = times[times.len() - 1].leaves(Stage::WriteBack, parameters.depth);
        let mut cycles = stepped.cycles;
        cycles.fill = u64::from(parameters.depth.stages()) - 1;
        prop_assert_eq!(*pipeline.cycles(), cycles);
        prop_assert_eq!(pipeline.cycles().total(), last);
        // The stepper's own end: the cycle behind the last one in which the last step was seen.
        let mut seen = stepped.trails.iter().filter(|trail| !trail.wrong);
        prop_assert_eq!(seen.next_back().unwrap().seen.last().unwrap().0 + 1, last);
    }

    #[test]
    fn a_drawing_shows_who_is_where_in_a_stepped_pipeline(
        parameters in parameters(),
        draws in prop::collection::vec(draw(), 1..30),
    ) {
        let steps = program(&draws);
        let (_, times) = pass(parameters, &steps);
        let timed: Vec<_> = steps.iter().map(|step| step.0).zip(times).collect();
        let drawing = Drawing::new(&parameters, &timed, code);
        let stepped = Stepper::new(parameters, &steps, &size).run();
        // The stepper ends with its last step, the drawing with what that one flushes.
        prop_assert!(drawing.rows.len() >= stepped.trails.len());
        let end = stepped.now();
        let (mut step, mut trails) = (0, stepped.trails.iter());
        for row in &drawing.rows {
            let seen: Vec<(u64, Stage)> = (row.start..).zip(&row.cells)
                .filter_map(|(cycle, cell)| match cell {
                    Cell::In(stage) | Cell::Held(stage) => Some((cycle, *stage)),
                    Cell::Waits | Cell::Flushed => None,
                })
                .filter(|(cycle, _)| *cycle < end)
                .collect();
            if seen.is_empty() {
                continue;
            }
            let trail = trails.next().unwrap();
            prop_assert_eq!(row.pc, trail.pc);
            prop_assert_eq!(row.fate == Fate::WrongPath, trail.wrong);
            let until = match row.fate {
                Fate::Traps => times_of_trap(&parameters, &timed[step]),
                _ => u64::MAX,
            };
            let trail: Vec<_> =
                trail.seen.iter().copied().filter(|(cycle, _)| *cycle < until).collect();
            prop_assert_eq!(seen, trail);
            step += usize::from(row.fate != Fate::WrongPath);
        }
        prop_assert!(trails.next().is_none());
    }

    #[test]
    fn what_is_lost_behind_a_redirect_is_the_rule_wherever_it_stands(
        parameters in parameters(),
        draws in prop::collection::vec(draw(), 1..60),
    ) {
        // A jump from IF is the one exception: what holds it up in ID hides its latency.
        let jump = parameters.jump.max(Stage::Decode);
        let prediction = Prediction::NotTaken;
        let parameters = Parameters { jump, prediction, ..parameters };
        let mut steps = program(&draws);
        // What waits for data holds up who has left ID: it hides a part of what is lost from there.
        steps.iter_mut().for_each(|(_, _, data)| *data = 0);
        let (pipeline, _) = pass(parameters, &steps);
        let lost = |stage, latency: u16| {
            u64::from(parameters.depth.index(stage).unwrap()) + u64::from(latency)
        };
        let latency = parameters.latency;
        let (mut control, mut trap, mut trap_return) = (0, 0, 0);
        // Nothing comes behind the last one.
        for (step, ..) in &steps[..steps.len() - 1] {
            match (step.trap.map(|trap| trap.cause), step.kind) {
                (Some(Cause::Exception(_)), _) => trap += lost(parameters.trap, latency.trap),
                (Some(_), _) => trap += lost(parameters.trap, latency.interrupt),
                (None, Kind::Return) => {
                    trap_return += lost(parameters.trap_return, latency.trap_return);
                }
                (None, Kind::Jump) => control += lost(parameters.jump, latency.jump),
                (None, Kind::JumpRegister) => {
                    control += lost(parameters.jump_register, latency.jump_register);
                }
                (None, Kind::Branch) if step.redirects() => {
                    control += lost(parameters.branch, latency.branch);
                }
                _ => {}
            }
        }
        let cycles = pipeline.cycles();
        prop_assert_eq!((cycles.control, cycles.trap, cycles.trap_return), (control, trap, trap_return));
    }
}

/// A trapped instruction is drawn down to the stage where it traps; the stepper lets it go on as a
/// bubble.
fn times_of_trap(parameters: &Parameters, (_, times): &(Step, super::Times)) -> u64 {
    times.leaves(parameters.trap, parameters.depth)
}
