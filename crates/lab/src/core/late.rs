//! Values that come too late: what a pipeline computes that does not wait for its operands.

use super::loaded::Loaded;
use isa::encode::{Register, x};
use isa::pipeline::{Parameters, Stage};
use isa::system::Seen;
use isa::{Kind, Machine, Step};

/// An environment call, which simulators answer when everything before it is done.
const ECALL: [u8; 4] = [0x73, 0, 0, 0];

/// The opcodes of conditional branches and of `jalr`, which may need their operands in ID.
const EARLY: [(u8, Kind); 2] = [(0x63, Kind::Branch), (0x67, Kind::JumpRegister)];

/// A value on its way to a register.
#[derive(Clone, Copy)]
struct Coming {
    /// The cycle from which on an instruction in EX has it.
    from: u64,
    register: Register,
    value: u32,
    /// The instruction that makes it.
    maker: u32,
}

/// A read of a register that had an old value.
struct Stale {
    reader: u32,
    coming: Coming,
    old: u32,
}

/// The values on their way in a pipeline that does not wait for them.
pub(super) struct Late {
    core: Parameters,
    coming: Vec<Coming>,
    /// The cycle in which the next instruction is in EX.
    next: u64,
    /// The registers before it.
    before: [u32; 32],
    first: Option<Stale>,
    count: u64,
}

impl Late {
    /// Returns none for a pipeline that waits.
    pub(super) fn of(core: &Parameters) -> Option<Self> {
        let (coming, before) = (Vec::new(), [0; 32]);
        let late = Self { core: *core, coming, next: 0, before, first: None, count: 0 };
        (!core.hazards).then_some(late)
    }

    /// Lets the registers have what the next instruction finds there.
    pub(super) fn before(&mut self, machine: &mut Machine) {
        let code = machine.bytes(machine.pc(), 4).unwrap_or_default();
        let is_early = EARLY.iter().any(|(opcode, kind)| {
            let stage =
                if *kind == Kind::Branch { self.core.branch } else { self.core.jump_register };
            code.first().is_some_and(|byte| byte & 0x7f == *opcode) && stage == Stage::Decode
        });
        let now =
            if code == ECALL { u64::MAX } else { self.next - u64::from(is_early).min(self.next) };
        self.coming.retain(|coming| {
            let is_there = coming.from <= now;
            if is_there {
                machine.set_register(coming.register, coming.value);
            }
            !is_there
        });
        self.before = *machine.registers();
    }

    /// Takes back what an instruction wrote, until it can be read.
    pub(super) fn after(&mut self, machine: &mut Machine, step: &Step, seen: &Seen) {
        for register in step.reads.map(|register| x(register & 31)) {
            let found = self.coming.iter().rfind(|coming| coming.register == register);
            let Some(coming) = found.filter(|_| register.number() != 0) else { continue };
            let old = self.before[usize::from(register.number())];
            self.count += u64::from(old != coming.value);
            if old != coming.value && self.first.is_none() {
                self.first = Some(Stale { reader: step.pc, coming: *coming, old });
            }
        }
        let (times, depth) = (&seen.times, self.core.depth);
        let resumes = times.turns.map_or(0, |stage| times.leaves(stage, depth) + 2);
        self.next = resumes.max(times.after);
        if step.trap.is_some() || step.writes & 31 == 0 {
            return;
        }
        let register = x(step.writes & 31);
        let from = match step.kind {
            _ if !self.core.forwarding => times.enters(Stage::WriteBack, depth) + 1,
            Kind::Load => times.leaves(self.core.loaded, depth),
            Kind::Multiply => times.leaves(self.core.multiplied, depth),
            _ => times.after,
        };
        let value = machine.register(register);
        self.coming.push(Coming { from, register, value, maker: step.pc });
        machine.set_register(register, self.before[usize::from(register.number())]);
    }

    /// Returns what was read too early, in words; none if nothing was.
    pub(super) fn said(&self, loaded: &Loaded, machine: &Machine) -> Option<String> {
        let Stale { reader, coming, old } = self.first.as_ref()?;
        let place = |pc: u32| {
            let line = loaded.line_said(pc);
            let line = line.map_or_else(String::new, |line| format!(" in {line}"));
            format!("`{}`{line}", loaded.code(machine, pc).0)
        };
        let times = wording::counted(self.count, "old value");
        let name = isa::assembly::register_name(coming.register.number());
        Some(format!(
            "instructions read {times}, because nothing waits for operands (hazards=none): first {} reads {name} = {}, \
             before {} has written {}",
            place(*reader),
            *old as i32,
            place(coming.maker),
            coming.value as i32
        ))
    }
}
