//! The machine against answers that were worked out by hand.

mod arithmetic;
mod atomics;
#[path = "../../../tests/it/compressed.rs"]
#[expect(dead_code, reason = "the tests of `tests/it` make the others")]
mod compressed;
mod csrs;
mod host;
mod interrupts;
mod jumps;
mod memory;
mod programs;
mod stops;
mod text;
mod traps;

use super::{HOME, Machine, Misaligned, Setup, Stopped};
use crate::encode::*;
use crate::step::{Cause, Exception, Interrupt, Kind, Step, Trap};
use crate::{Program, csr};

/// Where programs begin.
const BASE: u32 = 0x1000;

/// Where handlers of traps are put.
const HANDLER: u32 = 0x1100;

fn with(setup: Setup, words: &[u32]) -> Machine {
    Machine::new(&Program::from_words(BASE, words), &setup).unwrap()
}

fn machine(words: &[u32]) -> Machine {
    with(Setup::default(), words)
}

/// A program, and a handler at [`HANDLER`], with `mtvec` set to it.
fn with_handler(setup: Setup, words: &[u32], handler: &[u32]) -> Machine {
    let mut all = words.to_vec();
    all.resize(((HANDLER - BASE) / 4) as usize, ebreak());
    all.extend(handler);
    let mut machine = with(setup, &all);
    machine.write_csr(csr::MTVEC, HANDLER).unwrap();
    machine
}

/// All steps until it stops, at most 1000, and why it did.
fn all(machine: &mut Machine) -> (Vec<Step>, Stopped) {
    let mut steps = Vec::new();
    let stopped = machine.run(1000, |step| steps.push(*step));
    (steps, stopped)
}

fn exception(exception: Exception, value: u32) -> Trap {
    Trap { cause: Cause::Exception(exception), value }
}
