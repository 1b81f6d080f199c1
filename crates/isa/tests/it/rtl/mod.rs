//! The pipeline against cycles that were measured on an RTL core. `cargo xtask rtl` measures them again;
//! docs/machine.md has the table.

mod programs;

use isa::pipeline::{Parameters, Pipeline};
use isa::{Cause, Kind, Machine, Misaligned, Program, Setup, Step, Stopped};
use programs::MAILBOX;
pub(crate) use programs::samples;

/// No program runs longer.
const STEPS_MAX: u64 = 1_000_000;

/// What a program does on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// From its first read of the counter of cycles to its second.
    pub(crate) cycles: u64,
    /// What it computed.
    pub(crate) result: u32,
}

/// What it does on ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computed {
    pub(crate) measured: Measured,
    /// Cycles that the RTL core waits for a register that is none, or is only written.
    pub(crate) false_waits: u64,
    /// Interrupts that were taken.
    pub(crate) interrupts: u64,
}

/// Runs a program on the machine and its steps through the pipeline.
pub(crate) fn compute(program: &Program) -> Computed {
    let setup = Setup { compressed: false, misaligned: Misaligned::Trapped, ..Setup::default() };
    let mut machine = Machine::new(program, &setup).unwrap();
    let code = machine.clone();
    let mut pipeline = Pipeline::new(Parameters::ultraembedded()).unwrap();
    let [begin, end] = ["begin", "end"].map(|name| program.address_of(name).unwrap());
    let (mut from, mut to) = (0, 0);
    let (mut false_waits, mut interrupts) = (0, 0);
    let mut before: Option<Step> = None;
    let stopped = machine.run(STEPS_MAX, |step| {
        let execute = pipeline.step(step, 0).execute;
        match step.pc {
            pc if pc == begin => from = execute,
            pc if pc == end => to = execute,
            _ if from > 0 && to == 0 => {
                let word = word(&code, step.pc);
                let waits = before.is_some_and(|before| waits_in_vain(&before, step, word));
                false_waits += u64::from(waits);
                interrupts += u64::from(is_interrupt(step));
            }
            _ => {}
        }
        before = Some(*step);
    });
    assert!(matches!(stopped, Stopped::Circles { .. }), "{stopped}");
    let measured = Measured { cycles: to - from, result: word(&machine, MAILBOX + 4) };
    Computed { measured, false_waits, interrupts }
}

fn is_interrupt(step: &Step) -> bool {
    step.trap.is_some_and(|trap| matches!(trap.cause, Cause::Interrupt(_)))
}

fn word(machine: &Machine, address: u32) -> u32 {
    let bytes = machine.bytes(address, 4).unwrap();
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// Whether the RTL core lets an instruction wait although it does not need what the one before it loads
/// or multiplies.
fn waits_in_vain(before: &Step, step: &Step, word: u32) -> bool {
    let late = matches!(before.kind, Kind::Load | Kind::Multiply) && before.trap.is_none();
    let unit = !matches!(
        step.kind,
        Kind::Alu | Kind::Load | Kind::Store | Kind::Branch | Kind::Jump | Kind::JumpRegister
    );
    let waits_anyway = step.reads.contains(&before.writes) || unit && before.kind == Kind::Load;
    let fields = [word >> 7, word >> 15, word >> 20].map(|field| (field & 31) as u8);
    late && !is_interrupt(step)
        && before.writes != 0
        && !waits_anyway
        && fields.contains(&before.writes)
}

/// Returns the table of docs/machine.md.
pub(crate) fn table(rows: &[(&str, Measured, Computed)]) -> String {
    let mut text = String::from(
        "| program | RTL core | ours | difference | reason |\n|---|--:|--:|--:|---|\n",
    );
    for (name, rtl, ours) in rows {
        let reason = match difference(rtl, ours) {
            0 => String::new(),
            _ if ours.interrupts > 0 => "interrupts come at other instructions".into(),
            waits => format!("{waits} waits for registers that are not read"),
        };
        let (difference, percent) = (difference(rtl, ours), percent(rtl, ours));
        let cycles = ours.measured.cycles;
        text += &format!(
            "| {name} | {} | {cycles} | {difference} ({percent:.2} %) | {reason} |\n",
            rtl.cycles
        );
    }
    text
}

/// Cycles that the RTL core takes and ours does not.
fn difference(rtl: &Measured, ours: &Computed) -> i64 {
    rtl.cycles as i64 - ours.measured.cycles as i64
}

fn percent(rtl: &Measured, ours: &Computed) -> f64 {
    100.0 * difference(rtl, ours) as f64 / rtl.cycles as f64
}

/// Returns why a row of the table is wrong; nothing if the pipeline does what the RTL core does, or the
/// reason for the difference is known.
pub(crate) fn fault((name, rtl, ours): &(&str, Measured, Computed)) -> Option<String> {
    let (difference, percent) = (difference(rtl, ours), percent(rtl, ours));
    if rtl.result != ours.measured.result {
        return Some(format!("{name}: the result is {}, not {}", ours.measured.result, rtl.result));
    }
    let explained = match ours.interrupts {
        0 => difference == ours.false_waits as i64,
        _ => percent.abs() <= 1.0,
    };
    (!explained).then(|| format!("{name}: {difference} cycles ({percent:.2} %) have no reason"))
}

/// Reads lines of a program, its cycles and its result.
pub(crate) fn measurements(text: &str) -> Vec<(&str, Measured)> {
    let lines = text.lines().skip(1).map(|line| {
        let mut parts = line.rsplitn(3, ',');
        let mut part = || parts.next().unwrap();
        let (result, cycles) = (part().parse().unwrap(), part().parse().unwrap());
        (part(), Measured { cycles, result })
    });
    lines.collect()
}
