//! The names of the instructions, each with the form of its operands.

use crate::csr;
use crate::encode::{self, Register, ZERO};

/// The operands of an instruction, in the order in which they are written, and its encoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Registers(fn(Register, Register, Register) -> u32),
    Constant(fn(Register, Register, i32) -> u32),
    Shift(fn(Register, Register, u32) -> u32),
    Load(fn(Register, i32, Register) -> u32),
    Store(fn(Register, i32, Register) -> u32),
    Branch(fn(Register, Register, i32) -> u32),
    Upper(fn(Register, u32) -> u32),
    Jump(fn(Register, i32) -> u32),
    JumpRegister(fn(Register, i32, Register) -> u32),
    Csr(fn(Register, u16, Register) -> u32),
    CsrConstant(fn(Register, u16, u32) -> u32),
    Atomic(fn(Register, Register, Register) -> u32),
    Reserve(fn(Register, Register) -> u32),
    Plain(fn() -> u32),
    /// A whole word.
    Word(u32),
}

impl Form {
    /// Returns the instruction with all operands 0, whose fixed bits are its own.
    pub(super) fn example(self) -> u32 {
        match self {
            Form::Registers(of) | Form::Atomic(of) => of(ZERO, ZERO, ZERO),
            Form::Constant(of) | Form::Branch(of) => of(ZERO, ZERO, 0),
            Form::Shift(of) => of(ZERO, ZERO, 0),
            Form::Load(of) | Form::Store(of) | Form::JumpRegister(of) => of(ZERO, 0, ZERO),
            Form::Upper(of) => of(ZERO, 0),
            Form::Jump(of) => of(ZERO, 0),
            Form::Csr(of) => of(ZERO, 0, ZERO),
            Form::CsrConstant(of) => of(ZERO, 0, 0),
            Form::Reserve(of) => of(ZERO, ZERO),
            Form::Plain(of) => of(),
            Form::Word(word) => word,
        }
    }

    /// Reports whether a result and two values are named.
    pub(super) fn has_three(self) -> bool {
        matches!(self, Form::Registers(_) | Form::Constant(_) | Form::Shift(_))
    }

    /// Returns the operands as a manual writes them.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Form::Registers(_) => "rd, rs1, rs2",
            Form::Constant(_) => "rd, rs1, constant",
            Form::Shift(_) => "rd, rs1, amount",
            Form::Load(_) => "rd, offset(rs1)",
            Form::Store(_) => "rs2, offset(rs1)",
            Form::Branch(_) => "rs1, rs2, label",
            Form::Upper(_) => "rd, constant",
            Form::Jump(_) => "rd, label",
            Form::JumpRegister(_) => "rd, offset(rs1)",
            Form::Csr(_) => "rd, csr, rs1",
            Form::CsrConstant(_) => "rd, csr, constant",
            Form::Atomic(_) => "rd, rs2, (rs1)",
            Form::Reserve(_) => "rd, (rs1)",
            Form::Plain(_) | Form::Word(_) => "",
        }
    }
}

macro_rules! names {
    ($($form:ident: $($name:ident)*;)*) => {
        &[$($((stringify!($name), Form::$form(encode::$name))),*),*]
    };
}

/// The instructions of RV32IMA with csrs and traps; a dot of a name is `_` here.
pub(super) const NAMES: &[(&str, Form)] = names! {
    Registers: add sub sll slt sltu xor srl sra or and mul mulh mulhsu mulhu div divu rem remu;
    Constant: addi slti sltiu xori ori andi;
    Shift: slli srli srai;
    Load: lb lh lw lbu lhu;
    Store: sb sh sw;
    Branch: beq bne blt bge bltu bgeu;
    Upper: lui auipc;
    Jump: jal;
    JumpRegister: jalr;
    Csr: csrrw csrrs csrrc;
    CsrConstant: csrrwi csrrsi csrrci;
    Atomic: sc_w amoswap_w amoadd_w amoxor_w amoand_w amoor_w amomin_w amomax_w amominu_w amomaxu_w;
    Reserve: lr_w;
    Plain: ecall ebreak mret wfi fence fence_i;
};

/// How atomic instructions order others, by their bits aq and rl.
pub(super) const ORDERS: [&str; 4] = ["", ".rl", ".aq", ".aqrl"];

/// Returns the name of an instruction without how it orders others, and the bits of that.
pub(super) fn ordered(name: &str) -> (&str, u32) {
    let found = (1..).zip(&ORDERS[1..]).find_map(|(bits, order)| {
        let plain = name.strip_suffix(order)?;
        plain.ends_with(".w").then_some((plain, bits))
    });
    found.unwrap_or((name, 0))
}

/// Returns the form of an instruction.
pub(super) fn form(name: &str) -> Option<Form> {
    let name = name.replace('.', "_");
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
}

/// Names of registers of the calling convention, by their numbers.
pub(super) const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Instructions of 16 bits by their names without `c.`.
const SHORT_NAMES: &str = "nop addi li lui addi16sp addi4spn mv add sub xor or and andi slli srli srai lw sw lwsp \
    swsp j jal jr jalr beqz bnez ebreak";

/// Returns the instruction that one of 16 bits is, by its name without `c.`.
pub(super) fn long_name(short: &str) -> Option<&str> {
    let known = SHORT_NAMES.split(' ').find(|known| *known == short)?;
    let long = known.strip_suffix("16sp").or(known.strip_suffix("4spn"));
    Some(long.or(known.strip_suffix("sp")).unwrap_or(known))
}

/// What is data of the assembler: lines of a kind and its fields, between bars.
const DATA: &str = include_str!("names.txt");

/// Returns the fields of the lines of a kind.
fn data(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    DATA.lines().filter_map(move |line| line.strip_prefix(kind)?.rsplit_once('|'))
}

/// Returns what is said of a name that is no instruction, behind the name.
pub(super) fn without(name: &str) -> String {
    let plain = name.strip_prefix("c.").unwrap_or(name);
    let first = plain.split('.').next().unwrap_or_default();
    let is_long =
        (plain.starts_with("amo") || plain.starts_with("lr.") || plain.starts_with("sc."))
            && plain.contains(".d");
    let first = if is_long { "ld" } else { first };
    let knows =
        |names: &str| names.split_whitespace().any(|known| known == first || known == plain);
    let found = data("other|").find(|(_, names)| knows(names));
    shown(name) + found.map_or("; docs/core.md lists all", |(what, _)| what)
}

/// Returns what is said of a name that nothing defines.
pub(super) fn undefined(name: &str) -> String {
    let name = shown(name);
    let lower = name.to_ascii_lowercase();
    let own = lower.strip_prefix(['u', 's']).map(|rest| format!("m{rest}"));
    if let Some(own) = own.filter(|own| csr_number(own).is_some()) {
        return format!("{name} is a csr of another mode; core has machine mode alone: use {own}");
    }
    let is_csr = |known: &str| {
        lower.strip_prefix(known).is_some_and(|rest| rest.parse::<u8>().is_ok() || rest.is_empty())
    };
    if data("csr|").any(|(_, names)| names.split_whitespace().any(is_csr)) {
        return format!(
            "{name} is a csr that core has not; leave it out (docs/machine.md lists those that it has)"
        );
    }
    // As constants are written, such as the address of a device, and what scripts of linkers define.
    let hint = match !name.contains(char::is_lowercase) || name.starts_with('_') {
        true => {
            format!("--define {name}=VALUE gives it a value, also where a linker's script would")
        }
        false => "name the file that defines it too: scruple core A.s B.s".into(),
    };
    format!("{name} is not defined: no label, constant, register or csr; {hint}")
}

/// Returns the number of a control and status register.
pub(super) fn csr_number(name: &str) -> Option<u16> {
    let known = csr::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, number)| *number).or_else(|| {
        // Counters of other events, by their numbers.
        let name = name.to_ascii_lowercase();
        let (first, digits) = match name.strip_prefix("mhpmevent") {
            Some(digits) => (0x320, digits),
            None => match name.strip_prefix("mhpmcounter")? {
                digits if digits.ends_with('h') => (0xb80, digits.trim_end_matches('h')),
                digits => (0xb00, digits),
            },
        };
        digits
            .parse()
            .ok()
            .filter(|number| (3..32).contains(number))
            .map(|number: u16| first + number)
    })
}

/// Returns a name that may be long.
fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}

/// Returns names of devices that Ripes gives to programs, and what they are in its usual arrangement.
pub(super) fn devices() -> impl Iterator<Item = (&'static str, i64)> {
    data("device|").filter_map(|(name, value)| Some((name, i64::from_str_radix(value, 16).ok()?)))
}

/// Returns the register of a name: `x5`, `t0`, `fp`.
pub(super) fn register(name: &str) -> Option<Register> {
    let by_number = |digits: &str| {
        let plain = digits == "0" || !digits.starts_with('0');
        digits.parse::<u8>().ok().filter(|number| *number < 32 && plain && !digits.starts_with('+'))
    };
    let number = match name {
        "fp" => Some(8),
        _ => name.strip_prefix('x').and_then(by_number),
    };
    let named = || REGISTERS.iter().position(|known| *known == name).map(|at| at as u8);
    number.or_else(named).map(encode::x)
}
