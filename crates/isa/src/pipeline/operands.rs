//! Where instructions get their operands from: the registers, or an instruction before them.

use super::{Depth, Parameters, Stage, Times};
use crate::{Cause, Kind, Step};

/// A value that an instruction takes from one before it that has not written it back, or waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The instruction that uses it, counted from 0.
    pub user: usize,
    /// The instruction that makes it.
    pub maker: usize,
    /// The register.
    pub register: u8,
    /// The stage at whose end it is forwarded; none where it is read from the registers after a wait.
    pub forwarded: Option<Stage>,
    /// The cycle in which it is used.
    pub cycle: u64,
    /// For how many cycles the user waited for it.
    pub waited: u64,
}

/// Returns the operands that are forwarded or waited for among steps that followed each other, in their order.
pub fn operands(parameters: &Parameters, steps: &[(Step, Times)]) -> Vec<Operand> {
    let mut all = Vec::new();
    let mut makers: [Option<usize>; 32] = [None; 32];
    let mut before: Option<Times> = None;
    for (user, (step, times)) in steps.iter().enumerate() {
        let interrupted = step.trap.is_some_and(|trap| matches!(trap.cause, Cause::Interrupt(_)));
        let mut reads: Vec<u8> = if interrupted { Vec::new() } else { step.reads.to_vec() };
        reads.dedup();
        let arrives = before.map_or(times.execute, |before| (times.decode + 1).max(before.after));
        let waited = times.execute.saturating_sub(arrives);
        // The last that was made is the one that was waited for.
        let made = |register: &u8| {
            makers[usize::from(register & 31)]
                .map(|maker| (steps[maker].1.after, steps[maker].0.kind == Kind::Load))
        };
        let last = reads.iter().copied().max_by_key(made).filter(|_| waited > 0);
        for register in reads.iter().copied().filter(|register| *register != 0) {
            let Some(maker) = makers[usize::from(register & 31)] else { continue };
            let cycle = times.execute - u64::from(is_early(parameters, step));
            let forwarded = forwarded(parameters.depth, &steps[maker].1, times.execute, cycle);
            let waited = if last == Some(register) { waited } else { 0 };
            if forwarded.is_some() || waited > 0 {
                all.push(Operand { user, maker, register, forwarded, cycle, waited });
            }
        }
        if step.trap.is_none() && step.writes & 31 != 0 {
            makers[usize::from(step.writes & 31)] = Some(user);
        }
        before = Some(*times);
    }
    all
}

/// Reports whether an instruction uses its operands in ID.
fn is_early(parameters: &Parameters, step: &Step) -> bool {
    parameters.forwarding
        && match step.kind {
            Kind::Branch => parameters.branch == Stage::Decode,
            Kind::JumpRegister => parameters.jump_register == Stage::Decode,
            _ => false,
        }
}

/// Returns the stage at whose end a value is taken that is used in a cycle; none if the registers have it when
/// the user reads them, in the cycle before it enters EX.
fn forwarded(depth: Depth, maker: &Times, execute: u64, cycle: u64) -> Option<Stage> {
    let written = maker.enters(Stage::WriteBack, depth);
    if written < execute {
        return None;
    }
    let at = cycle.checked_sub(1)?;
    let stages =
        [Stage::Memory, Stage::Execute].into_iter().filter(|stage| depth.index(*stage).is_some());
    let there =
        |stage: &Stage| maker.enters(*stage, depth) <= at && at < maker.leaves(*stage, depth);
    let last =
        if maker.enters(Stage::WriteBack, depth) <= at { Some(Stage::WriteBack) } else { None };
    last.or_else(|| stages.into_iter().find(there))
}

#[cfg(test)]
mod tests {
    use super::{Operand, operands};
    use crate::assembly::tests::assemble;
    use crate::pipeline::{Parameters, Pipeline, Stage};
    use crate::{Machine, Setup};

    fn of(text: &str, parameters: Parameters) -> Vec<Operand> {
        let program = assemble(text, &[], false).unwrap().program;
        let mut machine = Machine::new(&program, &Setup::default()).unwrap();
        let mut pipeline = Pipeline::new(parameters).unwrap();
        let mut steps = Vec::new();
        machine.run(100, |step| steps.push((*step, pipeline.step(step, 0))));
        operands(&parameters, &steps)
    }

    fn briefly(all: &[Operand]) -> Vec<(usize, usize, Option<Stage>, u64)> {
        all.iter().map(|one| (one.user, one.maker, one.forwarded, one.waited)).collect()
    }

    #[test]
    fn a_result_is_forwarded_from_ex_then_from_mem_then_read() {
        let text = "li a0, 1\naddi a1, a0, 1\naddi a2, a0, 2\naddi a3, a0, 3\nadd a4, a2, a3";
        let all = of(text, Parameters::textbook());
        assert_eq!(
            briefly(&all),
            [
                (1, 0, Some(Stage::Execute), 0),
                (2, 0, Some(Stage::Memory), 0),
                (4, 2, Some(Stage::Memory), 0),
                (4, 3, Some(Stage::Execute), 0),
            ]
        );
    }

    #[test]
    fn the_user_of_a_load_waits_a_cycle() {
        let all = of("lw a0, -16(sp)\naddi a1, a0, 1", Parameters::textbook());
        assert_eq!(briefly(&all), [(1, 0, Some(Stage::Memory), 1)]);
    }

    #[test]
    fn without_forwarding_the_registers_are_waited_for() {
        let parameters = Parameters { forwarding: false, ..Parameters::textbook() };
        assert_eq!(briefly(&of("li a0, 1\naddi a1, a0, 1", parameters)), [(1, 0, None, 2)]);
    }

    #[test]
    fn a_branch_in_id_uses_its_operand_a_cycle_earlier() {
        let parameters = Parameters { branch: Stage::Decode, ..Parameters::textbook() };
        let all = of("li a0, 1\nbeqz a0, 8\nnop", parameters);
        assert_eq!(briefly(&all), [(1, 0, Some(Stage::Execute), 1)]);
    }
}
