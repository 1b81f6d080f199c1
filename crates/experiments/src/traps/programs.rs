//! Programs that do one thing N times and nothing else that could be lost.
//!
//! A round is a loop of `interval` instructions: fillers with a slot among them, and the two that end
//! it. The event stands in the slot, `nop` in the same program without it; the timer's interrupt
//! comes from outside, once per round, and always in place of the same filler.

use isa::encode::{
    A1, A2, Register, S0, S1, S2, S3, S4, S5, S6, T0, T1, ZERO, add, addi, beq, bne, csrrs, csrrw,
    ecall, jal, jalr, li, lw, mret, nop, sw, xori,
};
use isa::{Cause, Exception, Interrupt, MTIMECMP_ADDRESS, Program, csr};

/// What happens N times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Nothing: the program that the others are compared with.
    Nothing,
    /// A branch that is not taken.
    NotTaken,
    /// A branch that is taken.
    Branch,
    /// `jal`.
    Jump,
    /// `jalr`.
    JumpRegister,
    /// `mret` without a trap before it.
    Return,
    /// `ecall`, whose handler returns behind it.
    Call,
    /// `ecall`, whose handler leaves mepc alone the first time.
    CallAgain,
    /// An instruction that is none, whose handler returns behind it.
    Illegal,
    /// An interrupt of the timer.
    Timer,
}

/// The levels of the factor `event`.
pub(super) const EVENTS: [(&str, Event); 9] = [
    ("not_taken", Event::NotTaken),
    ("branch", Event::Branch),
    ("jump", Event::Jump),
    ("jump_register", Event::JumpRegister),
    ("mret", Event::Return),
    ("ecall", Event::Call),
    ("ecall_again", Event::CallAgain),
    ("illegal", Event::Illegal),
    ("timer", Event::Timer),
];

impl Event {
    /// The cause of its trap, if it is one.
    pub(super) fn cause(self) -> Option<Cause> {
        match self {
            Self::Call | Self::CallAgain => Some(Cause::Exception(Exception::MachineCall)),
            Self::Illegal => Some(Cause::Exception(Exception::Illegal)),
            Self::Timer => Some(Cause::Interrupt(Interrupt::Timer)),
            _ => None,
        }
    }

    /// Traps for each event.
    pub(super) fn traps(self) -> u64 {
        if self == Self::CallAgain { 2 } else { u64::from(self.cause().is_some()) }
    }

    /// Whether it takes the place of the slot's instruction, and retires none itself.
    fn empties_slot(self) -> bool {
        matches!(self, Self::Call | Self::CallAgain | Self::Illegal)
    }

    /// The slot: the event, and what it steps over.
    fn slot(self) -> Vec<Line> {
        let over = line(nop(), "nop (stepped over)");
        match self {
            Self::Nothing | Self::Timer => vec![line(nop(), "nop")],
            Self::NotTaken => vec![line(bne(ZERO, ZERO, 8), "bne zero, zero, +8")],
            Self::Branch => vec![line(beq(ZERO, ZERO, 8), "beq zero, zero, +8"), over],
            Self::Jump => vec![line(jal(ZERO, 8), "jal zero, +8"), over],
            Self::JumpRegister => vec![line(jalr(ZERO, 0, T1), "jalr zero, 0(t1)"), over],
            Self::Return => vec![line(mret(), "mret"), over],
            Self::Call | Self::CallAgain => vec![line(ecall(), "ecall")],
            Self::Illegal => vec![line(NO_INSTRUCTION, "no instruction")],
        }
    }

    /// What its traps go to.
    fn handler(self) -> Vec<Line> {
        let mepc = line(csrrs(T0, csr::MEPC, ZERO), "csrr t0, mepc");
        let back = line(csrrw(ZERO, csr::MEPC, T0), "csrw mepc, t0");
        let end = line(mret(), "mret");
        match self {
            Self::Timer => vec![
                line(lw(T0, 0, A1), "lw t0, 0(a1)"),
                line(add(T0, T0, A2), "add t0, t0, a2"),
                line(sw(T0, 0, A1), "sw t0, 0(a1)"),
                end,
            ],
            // s1 is 4 before the first time, 0 in it, 4 again in the second.
            Self::CallAgain => vec![
                mepc,
                line(xori(S1, S1, 4), "xori s1, s1, 4"),
                line(add(T0, T0, S1), "add t0, t0, s1"),
                back,
                end,
            ],
            _ => vec![mepc, line(addi(T0, T0, 4), "addi t0, t0, 4"), back, end],
        }
    }
}

/// All ones are no instruction of any RISC-V machine (volume I, "Expanded Instruction-Length
/// Encoding").
pub(super) const NO_INSTRUCTION: u32 = u32::MAX;

/// An instruction word with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    word: u32,
    text: String,
}

fn line(word: u32, text: &str) -> Line {
    Line { word, text: text.to_owned() }
}

/// Where the loop begins, at a multiple of the cache.
const LOOP: u32 = 0x1000;

/// Fillers before the slot, so that the loop's own branch is out of its way.
const BEFORE_SLOT: u32 = 2;

/// Where the handler lies: so far behind the loop that a cache of [`super::run::CACHE_BYTES`] puts
/// them on the same lines…
const HANDLER_NEAR: u32 = 0x4000;

/// …or on others, as long as the loop takes no more than half of the cache.
const HANDLER_APART: u32 = HANDLER_NEAR + 512;

/// Where the program begins.
const START: u32 = 0x6000;

/// Instructions before the loop: nine values of two each, and eight others.
pub(super) const START_INSTRUCTIONS: u32 = 26;

/// Lengths of a round that the loop's branch reaches, in instructions.
pub(super) const INTERVALS: std::ops::RangeInclusive<u64> = 8..=1000;

/// What a program is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) event: Event,
    /// Instructions of a round, one of [`INTERVALS`].
    pub(super) interval: u64,
    /// How many rounds.
    pub(super) rounds: u64,
    /// Whether the handler lies on other lines of the cache than the loop.
    pub(super) handler_apart: bool,
    /// Whether the handler reads what a trap left, and ends the program.
    pub(super) shows_state: bool,
}

/// A program with the names of its instructions.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) program: Program,
    /// Instructions that retire in all, as planned.
    pub(super) retires: u64,
    lines: Vec<(u32, Vec<Line>)>,
}

impl Plan {
    /// The program.
    pub(super) fn write(&self) -> Written {
        let round = self.round();
        let handler = if self.shows_state { witness() } else { self.event.handler() };
        let handler_at = if self.handler_apart { HANDLER_APART } else { HANDLER_NEAR };
        let start = self.start(handler_at, handler.len());
        let in_handler = self.event.traps() * self.rounds * handler.len() as u64;
        let in_round = self.interval - u64::from(self.event.empties_slot());
        let retires = start.len() as u64 + self.rounds * in_round + in_handler + 1;
        let lines = vec![(LOOP, round), (handler_at, handler), (START, start)];
        let end = START + 4 * lines[2].1.len() as u32;
        let mut words = vec![NO_INSTRUCTION; ((end - LOOP) / 4) as usize];
        for (address, lines) in &lines {
            let first = ((address - LOOP) / 4) as usize;
            for (word, line) in words.iter_mut().skip(first).zip(lines) {
                *word = line.word;
            }
        }
        let program = Program { entry: START, ..Program::from_words(LOOP, &words) };
        Written { program, retires, lines }
    }

    /// The loop, and the jump to nowhere that ends the program.
    fn round(&self) -> Vec<Line> {
        let filler = || line(addi(T0, T0, 1), "addi t0, t0, 1");
        let mut lines = vec![filler(); BEFORE_SLOT as usize];
        lines.extend(self.event.slot());
        let behind = self.interval.saturating_sub(u64::from(BEFORE_SLOT) + 3);
        lines.extend((0..behind).map(|_| filler()));
        lines.push(line(addi(S0, S0, -1), "addi s0, s0, -1"));
        let back = -4 * lines.len() as i32;
        lines.push(line(bne(S0, ZERO, back), "bne s0, zero, loop"));
        lines.push(line(jalr(ZERO, 0, ZERO), "jalr zero, 0(zero)"));
        lines
    }

    /// What is set before the loop: as many instructions for every event.
    fn start(&self, handler_at: u32, handler: usize) -> Vec<Line> {
        // Enabled in mie for nobody else: an `mret` sets MIE to what MPIE holds.
        let timer = u32::from(self.event == Event::Timer);
        // Time goes on by one with each instruction; the first interrupt comes in the middle of the
        // first round.
        let first = START_INSTRUCTIONS + self.interval as u32 / 2;
        let values = [
            (T0, handler_at),
            (S0, self.rounds as u32),
            (S1, 4),
            // Where `jalr` and `mret` go to: behind the slot.
            (T1, LOOP + 4 * (BEFORE_SLOT + 2)),
            (A1, MTIMECMP_ADDRESS),
            // From one interrupt to the next: the trap, its handler, and a round.
            (A2, self.interval as u32 + 1 + handler as u32),
            (S2, first),
            (S3, timer << Interrupt::Timer as u32),
            (S4, timer * csr::MSTATUS_MIE),
        ];
        let words = values.into_iter().flat_map(|(register, value)| li(register, value));
        let mut lines: Vec<Line> = words.map(|word| line(word, "li")).collect();
        lines.extend([
            line(csrrw(ZERO, csr::MTVEC, T0), "csrw mtvec, t0"),
            line(csrrw(ZERO, csr::MEPC, T1), "csrw mepc, t1"),
            line(sw(S2, 0, A1), "sw s2, 0(a1)"),
            line(sw(ZERO, 4, A1), "sw zero, 4(a1)"),
            line(csrrs(ZERO, csr::MIE, S3), "csrs mie, s3"),
            line(csrrs(ZERO, csr::MSTATUS, S4), "csrs mstatus, s4"),
            line(csrrs(S6, csr::MSTATUS, ZERO), "csrr s6, mstatus"),
        ]);
        let here = START + 4 * lines.len() as u32;
        lines.push(line(jal(ZERO, LOOP.wrapping_sub(here) as i32), "jal zero, loop"));
        lines
    }
}

/// Registers into which the witness reads mepc, mcause, mtval and mstatus.
pub(super) const STATE: [Register; 4] = [S2, S3, S4, S5];

/// The register that holds mstatus as it was before the loop.
pub(super) const MSTATUS_BEFORE: Register = S6;

/// A handler that reads what the trap left, and ends the program.
fn witness() -> Vec<Line> {
    let read = [csr::MEPC, csr::MCAUSE, csr::MTVAL, csr::MSTATUS];
    let mut lines: Vec<Line> =
        read.into_iter().zip(STATE).map(|(csr, to)| line(csrrs(to, csr, ZERO), "csrr")).collect();
    lines.push(line(jalr(ZERO, 0, ZERO), "jalr zero, 0(zero)"));
    lines
}

impl Written {
    /// What lies at an address.
    pub(super) fn text(&self, address: u32) -> &str {
        let found = self.lines.iter().find_map(|(first, lines)| {
            let place = address.checked_sub(*first)? / 4;
            lines.get(place as usize)
        });
        found.map_or("no instruction", |line| line.text.as_str())
    }
}
