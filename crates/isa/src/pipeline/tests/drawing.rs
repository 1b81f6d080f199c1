//! The drawing of a trap, as people see it.

use super::super::{Code, Drawing, Latency, Look, Parameters, Times, What};
use super::{ecall, interrupted, pass, reads, step, to, writes};
use crate::{Kind, Step};

fn text(drawing: &Drawing, columns: usize) -> String {
    drawing.text(&Look { columns, cycles: None, operands: &[], paint: &|_, text| text.into() })
}

fn code(pc: u32) -> Code {
    let text = match pc {
        0x100 => "lw a0, 0(sp)".to_owned(),
        0x104 => "addi a0, a0, 1".to_owned(),
        0x200 => "mret".to_owned(),
        _ => format!("the instruction at {pc:x}"),
    };
    Code { size: 4, text }
}

fn draw(parameters: Parameters, steps: &[Step]) -> Drawing {
    let fed: Vec<_> = steps.iter().map(|step| (*step, 0, 0)).collect();
    let (_, times) = pass(parameters, &fed);
    let timed: Vec<(Step, Times)> = steps.iter().copied().zip(times).collect();
    Drawing::new(&parameters, &timed, code)
}

/// An interrupt displaces the user of a load; `mret` brings it back.
fn interrupt() -> [Step; 4] {
    let load = writes(10, step(0x100, Kind::Load));
    let add = writes(10, reads(10, step(0x104, Kind::Alu)));
    [load, interrupted(0x200, add), to(0x104, step(0x200, Kind::Return)), add]
}

const INTERRUPT: &str = "\
cycles 0 to 17              0                   1
                            0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7
 100 lw a0, 0(sp)           F D E M W
!104 addi a0, a0, 1           F D E M W!
x108 the instruction at 108     F D E M x
x10c the instruction at 10c       F D E x
x110 the instruction at 110         F D x
x114 the instruction at 114           F x
 200 mret                               . F D E M W>
x204 the instruction at 204                 F D E M x
x208 the instruction at 208                   F D E x
x20c the instruction at 20c                     F D x
x210 the instruction at 210                       F x
 104 addi a0, a0, 1                                 . F D E M W
cycle 5: a timer interrupt comes before addi: mepc = 0x104, mcause = 0x80000007,
    mtval = 0x0; goes on in the handler at 0x200
cycle 11: mret resumes at 0x104

F fetch, D decode, E execute, M memory, W write back; small: held there
<: operand forwarded   !: traps   >: goes elsewhere   .: redirect waits
x: flushed; x before an address: wrong path
";

#[test]
fn an_interrupted_instruction_comes_again() {
    let parameters = Parameters { latency: Latency::all(1), ..Parameters::textbook() };
    assert_eq!(text(&draw(parameters, &interrupt()), 80), INTERRUPT);
}

#[test]
fn no_line_is_wider_than_80_columns() {
    let parameters = Parameters { latency: Latency::all(40), ..Parameters::textbook() };
    let drawing = draw(parameters, &interrupt());
    let text = text(&drawing, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // 96 cycles are more than one panel holds.
    assert_eq!(text.lines().filter(|line| line.starts_with("cycles ")).count(), 4);
}

#[test]
fn notes_say_what_mepc_holds_and_where_execution_goes() {
    let drawing = draw(Parameters::textbook(), &interrupt());
    let notes: Vec<_> = drawing.notes.iter().map(|note| (note.row, note.cycle)).collect();
    assert_eq!(notes, [(1, 5), (6, 10)]);
    let trap = drawing.notes[0].what;
    assert!(matches!(trap, What::Trap { mepc: 0x104, trap, handler: 0x200 }
        if trap.cause.code() == 0x8000_0007 && trap.value == 0));
    assert_eq!(drawing.notes[1].what, What::Resumes { at: 0x104 });
    let jump = draw(Parameters::textbook(), &[to(0x40, step(0, Kind::Jump))]);
    assert_eq!(jump.notes[0].what, What::Goes { to: 0x40 });
    // Two were fetched behind it, and are drawn though nothing came after.
    assert_eq!(jump.rows.len(), 3);
}

#[test]
fn an_empty_drawing_has_no_cycles() {
    let drawing = draw(Parameters::textbook(), &[]);
    assert_eq!(drawing.cycles(), 0..0);
    let trap = draw(Parameters::textbook(), &[ecall(0, 0x200)]);
    assert_eq!(trap.cycles(), 0..6);
}
