//! Machine code as the few steps that a loop of increments can be made of.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind,
};
use object::Architecture;

/// A function's machine code.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
}

/// What one instruction does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Load,
    LoadExclusive,
    Store,
    StoreExclusive,
    /// To a register.
    Add,
    AddToMemory,
    /// To memory, in one indivisible step.
    LockedAdd,
    /// Subtracts one from a register and sets the flags.
    CountDown,
    Compare,
    CompareMemory,
    Call,
    /// A conditional jump backwards.
    Again,
    /// A conditional jump forwards.
    Leave,
    /// Anything else that touches memory, and so must not be there.
    OtherMemory,
    Other,
}

/// The loops of a function: for every jump backwards what lies from its target to the jump.
pub(crate) fn loops(architecture: Architecture, code: &Code) -> Vec<Vec<Step>> {
    let steps = decoded(architecture, code);
    let mut loops = Vec::new();
    for (index, (_, step, target)) in steps.iter().enumerate() {
        if *step == Step::Again {
            let from = steps.iter().position(|(at, ..)| Some(*at) == *target);
            assert!(from.is_some(), "a jump leads out of the function or into an instruction");
            loops.push(steps[from.unwrap()..=index].iter().map(|(_, step, _)| *step).collect());
        }
    }
    loops
}

/// Whether a function without a loop loads, adds the register that holds its second argument,
/// and stores.
pub(crate) fn adds_its_argument(architecture: Architecture, code: &Code) -> bool {
    if architecture == Architecture::Aarch64 {
        // add Xd, Xn, x1
        return words(code).any(|word| word & 0xffff_fc00 == 0x8b01_0000);
    }
    let decoder = Decoder::with_ip(64, &code.bytes, code.address, DecoderOptions::NONE);
    decoder.into_iter().any(|instruction| {
        instruction.mnemonic() == Mnemonic::Add
            && instruction.op0_kind() == OpKind::Memory
            && instruction.op1_kind() == OpKind::Register
            && instruction.op1_register() == iced_x86::Register::RSI
            && !instruction.has_lock_prefix()
    })
}

/// Address, step and (for jumps) target of every instruction.
fn decoded(architecture: Architecture, code: &Code) -> Vec<(u64, Step, Option<u64>)> {
    match architecture {
        Architecture::X86_64 => {
            let mut facts = InstructionInfoFactory::new();
            Decoder::with_ip(64, &code.bytes, code.address, DecoderOptions::NONE)
                .into_iter()
                .map(|instruction| {
                    let target = instruction.near_branch_target();
                    (instruction.ip(), x86_step(&instruction, &mut facts), Some(target))
                })
                .collect()
        }
        Architecture::Aarch64 => (code.address..)
            .step_by(4)
            .zip(words(code))
            .map(|(at, word)| {
                let (step, target) = arm_step(at, word);
                (at, step, target)
            })
            .collect(),
        other => panic!("{other:?} has no loops of its own"),
    }
}

fn x86_step(instruction: &Instruction, facts: &mut InstructionInfoFactory) -> Step {
    match instruction.flow_control() {
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
            let backwards = instruction.near_branch_target() <= instruction.ip();
            return if backwards { Step::Again } else { Step::Leave };
        }
        FlowControl::Call | FlowControl::IndirectCall => return Step::Call,
        _ => {}
    }
    let used: Vec<OpAccess> =
        facts.info(instruction).used_memory().iter().map(|memory| memory.access()).collect();
    let added = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Inc);
    match (instruction.mnemonic(), used.as_slice()) {
        (Mnemonic::Mov, [OpAccess::Read]) => Step::Load,
        (Mnemonic::Mov, [OpAccess::Write]) => Step::Store,
        (_, [OpAccess::ReadWrite]) if added && instruction.has_lock_prefix() => Step::LockedAdd,
        (_, [OpAccess::ReadWrite]) if added => Step::AddToMemory,
        (_, []) if added => Step::Add,
        (Mnemonic::Dec, []) => Step::CountDown,
        (Mnemonic::Cmp, []) => Step::Compare,
        (Mnemonic::Cmp, [OpAccess::Read]) => Step::CompareMemory,
        (_, []) => Step::Other,
        _ => Step::OtherMemory,
    }
}

fn words(code: &Code) -> impl Iterator<Item = u32> {
    code.bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()))
}

/// By the encodings of the Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1.
fn arm_step(at: u64, word: u32) -> (Step, Option<u64>) {
    const TABLE: [(u32, u32, Step); 11] = [
        (0xffc0_0000, 0xf940_0000, Step::Load),      // LDR (immediate)
        (0xffc0_0000, 0xf900_0000, Step::Store),     // STR (immediate)
        (0xff80_0000, 0x9100_0000, Step::Add),       // ADD (immediate)
        (0xff80_001f, 0xf100_001f, Step::Compare),   // CMP (immediate)
        (0xff80_0000, 0xf100_0000, Step::CountDown), // SUBS (immediate)
        (0xffe0_fc1f, 0xeb00_001f, Step::Compare),   // CMP (shifted register)
        (0xffe0_fc00, 0xf820_0000, Step::LockedAdd), // LDADD
        (0xffff_fc00, 0xc85f_7c00, Step::LoadExclusive), // LDXR
        (0xffe0_fc00, 0xc800_7c00, Step::StoreExclusive), // STXR
        (0xfc00_0000, 0x9400_0000, Step::Call),      // BL
        (0x0a00_0000, 0x0800_0000, Step::OtherMemory), // loads and stores
    ];
    let field = |low: u32, bits: u32| i64::from((word >> low) & ((1 << bits) - 1));
    let signed = |low: u32, bits: u32| (field(low, bits) << (64 - bits)) >> (64 - bits);
    let offset = match word {
        _ if word & 0xff00_0010 == 0x5400_0000 => Some(signed(5, 19)), // B.cond
        _ if word & 0x7e00_0000 == 0x3400_0000 => Some(signed(5, 19)), // CBZ, CBNZ
        _ if word & 0x7e00_0000 == 0x3600_0000 => Some(signed(5, 14)), // TBZ, TBNZ
        _ if word & 0xfc00_0000 == 0x1400_0000 => Some(signed(0, 26)), // B
        _ => None,
    };
    if let Some(offset) = offset {
        let step = if offset <= 0 { Step::Again } else { Step::Leave };
        return (step, Some(at.wrapping_add_signed(4 * offset)));
    }
    let known = TABLE.iter().find(|(mask, value, _)| word & mask == *value);
    (known.map_or(Step::Other, |(.., step)| *step), None)
}
