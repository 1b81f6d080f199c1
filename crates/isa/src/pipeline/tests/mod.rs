//! What the pipeline promises: its rules by examples, and all of it against one that is stepped
//! cycle by cycle.

mod drawing;
mod rules;
mod same;
mod stepper;

use super::{Parameters, Pipeline, Times, Waits};
use crate::{Cause, Exception, Interrupt, Kind, Step, Trap};

/// An instruction of 4 bytes that goes on to the following one.
fn step(pc: u32, kind: Kind) -> Step {
    let next = pc.wrapping_add(4);
    Step { pc, next, size: 4, kind, reads: [0; 2], writes: 0, offset: 0, access: None, trap: None }
}

fn writes(register: u8, step: Step) -> Step {
    Step { writes: register, ..step }
}

fn reads(register: u8, step: Step) -> Step {
    Step { reads: [0, register], ..step }
}

fn to(next: u32, step: Step) -> Step {
    Step { next, ..step }
}

fn ecall(pc: u32, handler: u32) -> Step {
    let trap = Trap { cause: Cause::Exception(Exception::MachineCall), value: 0 };
    Step { next: handler, trap: Some(trap), ..step(pc, Kind::Call) }
}

/// An interrupt in place of an instruction.
fn interrupted(handler: u32, step: Step) -> Step {
    let trap = Trap { cause: Cause::Interrupt(Interrupt::Timer), value: 0 };
    Step { next: handler, trap: Some(trap), ..step }
}

/// A step with how many lines its fetch missed, and how many cycles its data access waits.
type Fed = (Step, u8, u32);

/// Passes steps through a pipeline.
fn pass(parameters: Parameters, steps: &[Fed]) -> (Pipeline, Vec<Times>) {
    let mut pipeline = Pipeline::new(parameters).unwrap();
    let times = steps.iter().map(|(step, missed, data)| {
        let instruction = u32::from(*missed) * u32::from(parameters.miss);
        pipeline.step_waiting(step, Waits { instruction, data: *data })
    });
    let times = times.collect();
    (pipeline, times)
}

/// The same without caches.
fn run(parameters: Parameters, steps: &[Step]) -> Pipeline {
    pass(parameters, &steps.iter().map(|step| (*step, 0, 0)).collect::<Vec<_>>()).0
}
