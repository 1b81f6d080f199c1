//! Instructions as they are written, and the ones that they stand for.

use super::expression::{Expression, Operand};
use super::table::{Form, csr_number, form, long_name, ordered};
use crate::csr;
use crate::encode::{self, RA, Register, SP, ZERO};

/// What becomes of an expression before it stands in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is the constant.
    Exact,
    /// An address, of which the distance from here is wanted; a bare number is the distance.
    Target,
    /// The high part for `lui` and the low part for what follows.
    High,
    Low,
    /// The same of the distance from here, for `auipc`, and from the instruction before.
    DistanceHigh,
    DistanceLow,
}

/// An instruction of the machine that is not encoded yet. Registers that it lacks are `zero`.
#[derive(Clone, Debug)]
pub(super) struct Real {
    pub(super) form: Form,
    pub(super) rd: Register,
    pub(super) rs1: Register,
    pub(super) rs2: Register,
    pub(super) value: Expression,
    pub(super) how: Use,
    /// Whether it must have 16 bits.
    pub(super) short: bool,
    /// The bits aq and rl of an atomic instruction.
    pub(super) order: u32,
}

/// Pseudo-instructions by their operands.
const PSEUDO: &[(&str, &str)] = &[
    ("", "nop ret unimp pause halt sbreak scall fence.tso"),
    ("no operands, or two of i, o, r and w, such as fence rw, w", "fence"),
    ("rd, constant", "li"),
    ("rd, label", "la lla"),
    ("rd, rs", "mv not neg seqz snez sltz sgtz zext.b zext.h sext.b sext.h move"),
    ("rd, rs1, rs2", "sgt sgtu"),
    ("rs, label", "beqz bnez blez bgez bltz bgtz"),
    ("rs1, rs2, label", "bgt ble bgtu bleu"),
    ("label", "j call tail b"),
    ("rs", "jr"),
    ("rd, csr", "csrr"),
    ("csr, rs", "csrw csrs csrc"),
    ("csr, constant", "csrwi csrsi csrci"),
    ("rd", "rdcycle rdcycleh rdtime rdinstret rdtimeh rdinstreth"),
];

impl Real {
    /// Reports whether its constant is 12 bits that are written without their sign, as in Ripes.
    pub(super) fn extends_sign(&self) -> bool {
        let takes = matches!(
            self.form,
            Form::Constant(_) | Form::Load(_) | Form::Store(_) | Form::JumpRegister(_)
        );
        takes && self.how == Use::Exact && matches!(self.value, Expression::Bits(_))
    }
}

fn real(form: Form, [rd, rs1, rs2]: [Register; 3], value: Expression, how: Use) -> Real {
    Real { form, rd, rs1, rs2, value, how, short: false, order: 0 }
}

/// An instruction of registers alone.
fn registers(form: Form, rd: Register, rs1: Register, rs2: Register) -> Vec<Real> {
    vec![real(form, [rd, rs1, rs2], Expression::Number(0), Use::Exact)]
}

fn constant(form: Form, rd: Register, rs1: Register, value: Expression) -> Vec<Real> {
    vec![real(form, [rd, rs1, ZERO], value, Use::Exact)]
}

fn branch(form: Form, rs1: Register, rs2: Register, target: &Expression) -> Vec<Real> {
    vec![real(form, [ZERO, rs1, rs2], target.clone(), Use::Target)]
}

fn jump(rd: Register, target: &Expression) -> Vec<Real> {
    vec![real(Form::Jump(encode::jal), [rd, ZERO, ZERO], target.clone(), Use::Target)]
}

/// `auipc` and what uses it, which come to a label from anywhere.
fn far(high: Register, form: Form, rd: Register, rs2: Register, label: &Expression) -> Vec<Real> {
    let auipc = Form::Upper(encode::auipc);
    vec![
        real(auipc, [high, ZERO, ZERO], label.clone(), Use::DistanceHigh),
        real(form, [rd, high, rs2], label.clone(), Use::DistanceLow),
    ]
}

fn number(value: u16) -> Expression {
    Expression::Number(value.into())
}

/// Returns the instructions for what is written; `known` says the values of constants that are known
/// already. None if the operands are not those of the name.
pub(super) fn expand(
    name: &str,
    operands: &[Operand],
    known: &dyn Fn(&Expression) -> Option<i64>,
) -> Option<Vec<Real>> {
    let (name, order) = ordered(name);
    // What is written with two registers and a constant, as the GNU assembler takes it.
    let with_constant = if name == "sltu" { "sltiu".into() } else { format!("{name}i") };
    let other = || form(&with_constant).and_then(|form| plain(form, operands, known));
    let mut reals = written(name, operands, known).or_else(other)?;
    reals.iter_mut().for_each(|real| real.order = order);
    Some(reals)
}

fn written(
    name: &str,
    operands: &[Operand],
    known: &dyn Fn(&Expression) -> Option<i64>,
) -> Option<Vec<Real>> {
    use Operand::{Expression as E, Memory as M, Register as R};
    if let Some(form) = form(name) {
        return plain(form, operands, known);
    }
    let of = |name: &str| form(name);
    if let Some(short) = name.strip_prefix("c.") {
        return shortened(short, operands, known);
    }
    Some(match (name, operands) {
        ("unimp", []) => {
            vec![real(of("csrrw")?, [ZERO; 3], number(csr::CYCLE), Use::Exact)]
        }
        ("halt" | "sbreak", []) => return plain(of("ebreak")?, operands, known),
        ("scall", []) => return plain(of("ecall")?, operands, known),
        // A hint, which does nothing here.
        ("pause", []) => registers(Form::Word(PAUSE), ZERO, ZERO, ZERO),
        ("fence.tso", []) => registers(Form::Word(FENCE_TSO), ZERO, ZERO, ZERO),
        ("zext.h", [R(d), R(s)]) => extended("srli", *d, *s, 16)?,
        ("sext.h", [R(d), R(s)]) => extended("srai", *d, *s, 16)?,
        ("sext.b", [R(d), R(s)]) => extended("srai", *d, *s, 24)?,
        ("nop", []) => constant(of("addi")?, ZERO, ZERO, number(0)),
        ("li", [R(d), E(value)]) => load_constant(*d, value, known(value)),
        ("la" | "lla", [R(d), E(label)]) => far(*d, of("addi")?, *d, ZERO, label),
        ("mv" | "move", [R(d), R(s)]) => constant(of("addi")?, *d, *s, number(0)),
        ("not", [R(d), R(s)]) => constant(of("xori")?, *d, *s, Expression::Number(-1)),
        ("zext.b", [R(d), R(s)]) => constant(of("andi")?, *d, *s, number(255)),
        ("neg", [R(d), R(s)]) => registers(of("sub")?, *d, ZERO, *s),
        ("seqz", [R(d), R(s)]) => constant(of("sltiu")?, *d, *s, number(1)),
        ("snez", [R(d), R(s)]) => registers(of("sltu")?, *d, ZERO, *s),
        ("sltz", [R(d), R(s)]) => registers(of("slt")?, *d, *s, ZERO),
        ("sgtz", [R(d), R(s)]) => registers(of("slt")?, *d, ZERO, *s),
        ("sgt" | "sgtu", [R(d), R(s), R(t)]) => registers(of(&turned(name))?, *d, *t, *s),
        ("beqz" | "bnez" | "bgez" | "bltz", [R(s), E(to)]) => branch(of(&name[..3])?, *s, ZERO, to),
        ("blez" | "bgtz", [R(s), E(to)]) => branch(of(&turned(&name[..3]))?, ZERO, *s, to),
        ("bgt" | "ble" | "bgtu" | "bleu", [R(s), R(t), E(to)]) => {
            branch(of(&turned(name))?, *t, *s, to)
        }
        ("j" | "b" | "tail", [E(to)]) => jump(ZERO, to),
        ("call", [E(to)]) => jump(RA, to),
        ("jr", [R(s), E(offset)]) => constant(of("jalr")?, ZERO, *s, offset.clone()),
        ("jr", [R(s)]) => constant(of("jalr")?, ZERO, *s, number(0)),
        ("jr", [M(offset, s)]) => constant(of("jalr")?, ZERO, *s, offset.clone()),
        ("ret", []) => constant(of("jalr")?, ZERO, RA, number(0)),
        ("csrr", [R(d), E(csr)]) => constant(of("csrrs")?, *d, ZERO, csr.clone()),
        // RARS has the register first.
        ("csrw" | "csrs" | "csrc", [E(csr), R(s)] | [R(s), E(csr)]) => {
            constant(of(&format!("csrr{}", &name[3..]))?, ZERO, *s, csr.clone())
        }
        ("csrw" | "csrwi" | "csrs" | "csrsi" | "csrc" | "csrci", [E(csr), E(value)]) => {
            with_bits(&format!("csrr{}i", &name[3..4]), ZERO, csr, known(value)?)?
        }
        (_, [R(d)]) => {
            let counter = name.strip_prefix("rd").and_then(csr_number)?;
            constant(of("csrrs")?, *d, ZERO, number(counter))
        }
        _ => return None,
    })
}

/// Returns the name of a comparison whose operands are exchanged.
fn turned(name: &str) -> String {
    name.replace("gt", "lt").replace("le", "ge")
}

/// An instruction of 16 bits, by its name without `c.`.
fn shortened(
    name: &str,
    operands: &[Operand],
    known: &dyn Fn(&Expression) -> Option<i64>,
) -> Option<Vec<Real>> {
    let full = long_name(name)?;
    let mut all = operands.to_vec();
    // What is computed with is also where the result goes, or it is the stack pointer.
    if name == "addi16sp" && all.len() == 1 {
        all.insert(0, Operand::Register(SP));
    }
    if form(full).is_some_and(Form::has_three) && all.len() == 2 {
        let on_stack = name == "addi4spn";
        let first = if on_stack { Operand::Register(SP) } else { all[0].clone() };
        all.insert(on_stack.into(), first);
    }
    let mut reals = written(full, &all, known)?;
    reals.iter_mut().for_each(|real| real.short = true);
    Some(reals).filter(|reals| reals.len() == 1)
}

/// Two shifts that leave the low bits of a register, with zeros or its sign above.
fn extended(right: &str, rd: Register, rs: Register, bits: u16) -> Option<Vec<Real>> {
    let mut both = constant(form("slli")?, rd, rs, number(bits));
    both.extend(constant(form(right)?, rd, rd, number(bits)));
    Some(both)
}

/// An instruction of the machine under its own name.
fn plain(
    form: Form,
    operands: &[Operand],
    known: &dyn Fn(&Expression) -> Option<i64>,
) -> Option<Vec<Real>> {
    use Operand::{Expression as E, Memory as M, Register as R};
    Some(match (form, operands) {
        (Form::Registers(_), [R(d), R(s), R(t)]) => registers(form, *d, *s, *t),
        (Form::Constant(_) | Form::Shift(_), [R(d), R(s), E(value)]) => {
            constant(form, *d, *s, value.clone())
        }
        (Form::Load(_) | Form::JumpRegister(_), [R(d), M(offset, s)])
        | (Form::Load(_), [R(d), E(offset), R(s)] | [R(d), R(s), E(offset)])
        | (Form::JumpRegister(_), [R(d), R(s), E(offset)]) => {
            constant(form, *d, *s, offset.clone())
        }
        (Form::Load(_), [R(d), E(label)]) => far(*d, form, *d, ZERO, label),
        (Form::JumpRegister(_), [R(s)]) => constant(form, RA, *s, number(0)),
        (Form::JumpRegister(_), [M(offset, s)] | [R(s), E(offset)]) => {
            constant(form, RA, *s, offset.clone())
        }
        (Form::JumpRegister(_), [R(d), R(s)]) => constant(form, *d, *s, number(0)),
        (Form::Store(_), [R(t), E(label), R(high)]) if known(label).is_none() => {
            far(*high, form, ZERO, *t, label)
        }
        // The address of a device, which no offset can be.
        (Form::Store(_), [R(t), E(address), R(high)])
            if known(address).is_some_and(|known| !(-2048..2048).contains(&known)) =>
        {
            let high_part = Form::Upper(encode::lui);
            vec![
                real(high_part, [*high, ZERO, ZERO], address.clone(), Use::High),
                real(form, [ZERO, *high, *t], address.clone(), Use::Low),
            ]
        }
        (Form::Store(_), [R(t), E(offset)]) => {
            known(offset)?;
            vec![real(form, [ZERO, ZERO, *t], offset.clone(), Use::Exact)]
        }
        // Ripes takes a register behind the address, which nothing needs.
        (
            Form::Store(_),
            [R(t), M(offset, s)]
            | [R(t), M(offset, s), R(_)]
            | [R(t), E(offset), R(s)]
            | [R(t), R(s), E(offset)],
        ) => {
            vec![real(form, [ZERO, *s, *t], offset.clone(), Use::Exact)]
        }
        (Form::Branch(_), [R(s), R(t), E(to)]) => branch(form, *s, *t, to),
        (Form::Upper(_), [R(d), E(value)]) => constant(form, *d, ZERO, value.clone()),
        (Form::Jump(_), [E(to)]) => jump(RA, to),
        (Form::Jump(_), [R(d), E(to)]) => jump(*d, to),
        (Form::Csr(_), [R(d), E(csr), R(s)]) => constant(form, *d, *s, csr.clone()),
        (Form::CsrConstant(_), [R(d), E(csr), E(value)]) => {
            let bits = u8::try_from(known(value)?).ok().filter(|bits| *bits < 32)?;
            constant(form, *d, encode::x(bits), csr.clone())
        }
        (Form::Atomic(_), [R(d), R(t), M(Expression::Number(0), s)]) => registers(form, *d, *s, *t),
        (Form::Reserve(_), [R(d), M(Expression::Number(0), s)]) => registers(form, *d, *s, ZERO),
        (Form::Plain(of), [E(before), E(after)]) if of() == encode::fence() => {
            let word = of() & 0xfffff | accesses(before)? << 24 | accesses(after)? << 20;
            registers(Form::Word(word), ZERO, ZERO, ZERO)
        }
        (Form::Plain(_), []) => registers(form, ZERO, ZERO, ZERO),
        _ => return None,
    })
}

/// An access to a csr with a constant, which stands where another has a register.
fn with_bits(name: &str, rd: Register, csr: &Expression, bits: i64) -> Option<Vec<Real>> {
    let bits = u8::try_from(bits).ok().filter(|bits| *bits < 32)?;
    Some(constant(form(name)?, rd, encode::x(bits), csr.clone()))
}

/// `li`: one instruction where the value is known and one is enough.
fn load_constant(rd: Register, value: &Expression, known: Option<i64>) -> Vec<Real> {
    let (lui, addi) = (Form::Upper(encode::lui), Form::Constant(encode::addi));
    let part = |form, rs1, how| real(form, [rd, rs1, ZERO], value.clone(), how);
    match known {
        Some(-2048..=2047) => vec![part(addi, ZERO, Use::Exact)],
        // A word that is written without its sign, such as 0xffffffff.
        Some(known) if (-2048..=2047).contains(&(known as i32)) => vec![part(addi, ZERO, Use::Low)],
        Some(known) if known & 0xfff == 0 => vec![part(lui, ZERO, Use::High)],
        _ => vec![part(lui, ZERO, Use::High), part(addi, rd, Use::Low)],
    }
}

/// The two kinds of `fence` that have names.
const PAUSE: u32 = 0x0100_000f;
pub(super) const FENCE_TSO: u32 = 0x8330_000f;

/// The accesses that `fence` orders: input, output, reads and writes, the highest bit first.
pub(super) const ACCESSES: &str = "iorw";

/// Returns the bits of accesses that are named, or that RARS gives as a number.
fn accesses(names: &Expression) -> Option<u32> {
    match names {
        Expression::Name(names, _) => names.chars().try_fold(0, |bits, c| {
            let at = ACCESSES.find(c)?;
            Some(bits | 8 >> at)
        }),
        Expression::Number(bits) => u32::try_from(*bits).ok().filter(|bits| *bits < 16),
        _ => None,
    }
}

/// Returns how a name is used; none if it is no instruction.
pub(super) fn usage(name: &str) -> Option<&'static str> {
    let name = ordered(name).0;
    let name = match name.strip_prefix("c.") {
        Some(short) => long_name(short)?,
        None => name,
    };
    let pseudo = PSEUDO.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
    pseudo.map(|(usage, _)| *usage).or_else(|| form(name).map(Form::usage))
}
