//! What a trap leaves behind, and one event cycle by cycle.

use super::programs::{Event, Plan, Written};
use super::run::{Caching, State, Way, run, state};
use isa::pipeline::{Cell, Code, Drawing, Fate, Row, Stage, Times, What};
use isa::{Cause, Kind, Step, csr};
use kit::{Result, Trial};

/// The interval of the treatments whose events are drawn.
const INTERVAL: u64 = 64;

/// Steps that are drawn before the event.
const BEFORE: usize = 2;

/// Shows a taken branch and a system call where they are usually resolved, and in the usual interval: the
/// others look alike.
pub(super) fn show(trial: &mut Trial<'_>, plan: &Plan, way: &Way) -> Result<()> {
    let usual = if plan.event.traps() > 0 { Stage::WriteBack } else { Stage::Execute };
    let is_usual = way.stage == usual && way.caching == Caching::None && way.latency == 0;
    if plan.interval != INTERVAL || !is_usual {
        return Ok(());
    }
    if matches!(plan.event, Event::Branch | Event::Call)
        && let Some(drawing) = drawing(plan, way)?
    {
        let title = "who is in which stage (F fetch, D decode, E execute, M memory, W write back, x flushed)";
        let from = format!("cycles from {}", drawing.cycles().start);
        let columns = ["address", "instruction", "what becomes of it", &from];
        trial.picture(title, &columns, rows(&drawing));
    }
    if let Some(cause) = plan.event.cause() {
        let state = state(plan, way)?;
        let code = f64::from(cause.code());
        trial.check("mcause of the first trap", f64::from(state.written[1]), code, code);
        let rows = left_behind(&state, cause, &plan.write());
        trial.exhibit("What the first trap writes", &["register", "holds", "which is"], rows);
    }
    Ok(())
}

/// The second event, and what execution goes on with.
pub(super) fn drawing(plan: &Plan, way: &Way) -> Result<Option<Drawing>> {
    let few = Plan { rounds: 3, ..*plan };
    let written = few.write();
    let parameters = way.parameters(plan.event);
    let mut steps: Vec<(Step, Times)> = Vec::new();
    run(&few, &written, way, parameters, |step, times| steps.push((*step, *times)))?;
    let Some((from, to)) = window(plan.event, &steps) else { return Ok(None) };
    let code = |address| Code { size: 4, text: written.text(address).to_owned() };
    let shown = steps.get(from..to).unwrap_or_default();
    Ok(Some(Drawing::new(&parameters, shown, code)))
}

/// From a little before the second event to the instruction that execution goes on with.
fn window(event: Event, steps: &[(Step, Times)]) -> Option<(usize, usize)> {
    let is_event = |step: &Step| match event {
        Event::Nothing => false,
        // The loop's own branch goes back; this one would go forth.
        Event::NotTaken => step.kind == Kind::Branch && !step.redirects(),
        Event::Branch => step.kind == Kind::Branch && step.next > step.pc,
        Event::Jump => step.kind == Kind::Jump,
        Event::JumpRegister => step.kind == Kind::JumpRegister,
        Event::Return => step.kind == Kind::Return,
        Event::Call | Event::CallAgain | Event::Illegal | Event::Timer => step.trap.is_some(),
    };
    let mut places = (0..steps.len()).filter(|place| is_event(&steps[*place].0));
    let first = places.nth(event.traps().max(1) as usize)?;
    let behind = steps[first + 1..].iter();
    // The first that retires behind the event and its handler, which ends in `mret`.
    let handler = match event.traps() {
        0 => 0,
        _ => behind.clone().position(|(step, _)| step.kind == Kind::Return)? + 1,
    };
    Some((first.saturating_sub(BEFORE), (first + handler + 2).min(steps.len())))
}

/// Returns a drawing as rows under a ruler of the cycles' last digits: one character per cycle.
fn rows(drawing: &Drawing) -> Vec<Vec<String>> {
    let ruler = drawing.cycles().map(|cycle| (cycle % 10).to_string()).collect();
    let ruler = vec!["cycle".to_owned(), String::new(), "its last digit".to_owned(), ruler];
    let row = |(number, row): (usize, &Row)| {
        let note = drawing.notes.iter().find(|note| note.row == number).map(|note| note.what);
        let becomes = match (row.fate, note) {
            (_, Some(What::Trap { mepc, handler, .. })) => {
                format!("traps: mepc = {mepc:#x}, pc = {handler:#x}")
            }
            (_, Some(What::Resumes { at })) => format!("retires, resumes at {at:#x}"),
            (_, Some(What::Goes { to })) => format!("retires, goes to {to:#x}"),
            (Fate::WrongPath, None) => "flushed".to_owned(),
            (Fate::Retires | Fate::Traps, None) => "retires".to_owned(),
        };
        let letter = |cycle| row.cell(cycle).map_or('·', Cell::letter);
        let cycles = drawing.cycles().map(letter).collect();
        vec![format!("{:#x}", row.pc), row.text.clone(), becomes, cycles]
    };
    std::iter::once(ruler).chain(drawing.rows.iter().enumerate().map(row)).collect()
}

/// The registers that a trap writes, as its handler reads them.
pub(super) fn left_behind(state: &State, cause: Cause, written: &Written) -> Vec<Vec<String>> {
    let [mepc, mcause, mtval, mstatus] = state.written;
    let bits = |value: u32| {
        let bit = |mask: u32| u8::from(value & mask != 0);
        format!("MIE {}, MPIE {}", bit(csr::MSTATUS_MIE), bit(csr::MSTATUS_MPIE))
    };
    let about = if mtval == 0 { "nothing" } else { "the word itself" };
    let rows = [
        ("mepc", mepc, format!("the address of: {}", written.text(mepc))),
        ("mcause", mcause, cause.to_string()),
        ("mtval", mtval, about.to_owned()),
        ("mstatus before", state.mstatus_before, bits(state.mstatus_before)),
        ("mstatus in the handler", mstatus, bits(mstatus)),
    ];
    let row = |(register, value, which): (&str, u32, String)| {
        vec![register.to_owned(), format!("{value:#010x}"), which]
    };
    rows.into_iter().map(row).collect()
}
