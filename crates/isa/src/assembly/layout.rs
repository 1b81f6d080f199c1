//! Where everything lies, and what it is then.

use super::expression::{Expression, Operand, Parser};
use super::lex::{Placed, Token};
use super::pseudo::{self, Real, Use};
use super::short::short;
use super::table::Form;
use super::{
    Assembled, DATA_ADDRESS, HEAP_BYTES, Mistake, Place, TEXT_ADDRESS, no_floats, register_name,
};
use crate::csr;
use crate::encode::{ZERO, nop};
use crate::program::{Program, Segment, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes of instructions: as far as `jal` reaches.
const TEXT_MAX_BYTES: u64 = 1 << 20;

/// The most bytes of data.
const DATA_MAX_BYTES: u64 = 64 << 20;

/// How deep constants may be defined by others.
const DEPTH_MAX: u32 = 64;

/// What is tried of shortening before branches stay long.
const ROUNDS_MAX: u32 = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    #[default]
    Text,
    Data,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// Nothing but a place.
    Label,
    Code(Real),
    /// Numbers, and how many bytes each has.
    Values(u32, Vec<(Expression, Place)>),
    Bytes(Vec<u8>),
    Space(u32),
    Align(u32),
}

struct Item {
    section: Section,
    place: Place,
    what: What,
    address: u32,
    size: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Definition {
    Label,
    Constant(Expression),
}

/// A text that was read.
#[derive(Default)]
pub(super) struct Source {
    pub(super) section: Section,
    items: Vec<Item>,
    /// Names, with the items before which they stand and where they are defined.
    names: BTreeMap<String, (Definition, usize, Place)>,
    /// Labels that are numbers, in their order.
    locals: Vec<(u32, usize)>,
    pub(super) global: BTreeSet<String>,
}

impl Source {
    /// Gives a name a value.
    pub(super) fn constant_of(&mut self, name: &str, value: i64) {
        let place = Place { line: 1, column: 1 };
        let definition = Definition::Constant(Expression::Number(value));
        self.names.insert(name.into(), (definition, 0, place));
    }

    /// Reads a statement.
    pub(super) fn read(&mut self, statement: &[Placed]) -> Result<(), Mistake> {
        let mut parser = Parser::new(statement);
        while parser.second() == Some(&Token::Sign(':')) {
            let place = parser.place();
            let item = self.push(What::Label, place);
            match parser.next() {
                Some(Token::Name(name)) => self.define(name, Definition::Label, item, place)?,
                Some(Token::Number(number)) => self.locals.push((*number as u32, item)),
                _ => {
                    return Err(Mistake {
                        place,
                        what: "expected a label before the colon".into(),
                    });
                }
            }
            parser.next();
        }
        let place = parser.place();
        let name = match parser.next() {
            None => return Ok(()),
            Some(Token::Name(name)) => name,
            Some(_) => {
                return Err(Mistake {
                    place,
                    what: "expected an instruction, a directive or a label".into(),
                });
            }
        };
        if parser.is_sign('=') {
            parser.next();
            return self.constant(name, &mut parser, place);
        }
        if name.starts_with('.') {
            return self.directive(&name.to_ascii_lowercase(), &mut parser, place);
        }
        self.instruction(&name.to_ascii_lowercase(), &mut parser, place)
    }

    fn instruction(
        &mut self,
        name: &str,
        parser: &mut Parser<'_>,
        place: Place,
    ) -> Result<(), Mistake> {
        let Some(usage) = pseudo::usage(name) else { return Err(unknown(name, place)) };
        let operands = parser.operands()?.into_iter();
        let mut operands: Vec<Operand> = operands.map(|(operand, _)| operand).collect();
        // A label may have the name of a register, as in some exercises for Venus.
        if let ("la" | "lla" | "call" | "j", Some(last @ Operand::Register(_))) =
            (name, operands.last_mut())
            && let Operand::Register(register) = *last
        {
            *last = Operand::Expression(Expression::Name(
                register_name(register.number()).into(),
                place,
            ));
        }
        if self.section != Section::Text {
            let what = format!("{name} stands among the data; put .text before it");
            return Err(Mistake { place, what });
        }
        let reals = pseudo::expand(name, &operands, &|value| self.known(value));
        let reals = reals.ok_or_else(|| {
            let usage = if usage.is_empty() { "no operands" } else { usage };
            Mistake { place, what: format!("{name} takes {usage}") }
        })?;
        for real in reals {
            self.push(What::Code(real), place);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, what: What, place: Place) -> usize {
        self.items.push(Item { section: self.section, place, what, address: 0, size: 0 });
        self.items.len() - 1
    }

    pub(super) fn define(
        &mut self,
        name: &str,
        what: Definition,
        item: usize,
        place: Place,
    ) -> Result<(), Mistake> {
        if let Some((_, _, before)) = self.names.get(name) {
            let what = format!("{name} is defined in line {} already", before.line);
            return Err(Mistake { place, what });
        }
        self.names.insert(name.into(), (what, item, place));
        Ok(())
    }

    /// Returns the value of an expression that depends on no address.
    pub(super) fn known(&self, value: &Expression) -> Option<i64> {
        if self.is_address(value, 0) { None } else { self.value(value, 0, 0).ok() }
    }

    /// Reports whether a value depends on an address, or on a name that is not defined.
    fn is_address(&self, value: &Expression, depth: u32) -> bool {
        value.any(&|part| match part {
            Expression::Here | Expression::Local(..) => true,
            Expression::Name(name, _) => match self.names.get(name) {
                Some((Definition::Constant(value), ..)) => {
                    depth > DEPTH_MAX || self.is_address(value, depth + 1)
                }
                Some(_) => true,
                None => csr_number(name).is_none(),
            },
            _ => false,
        })
    }

    /// Returns the value of an expression that stands at an item.
    fn value(&self, value: &Expression, at: usize, depth: u32) -> Result<i64, Mistake> {
        let address = |item: usize| self.items.get(item).map_or(0, |item| i64::from(item.address));
        let inner = |value: &Expression| self.value(value, at, depth);
        Ok(match value {
            Expression::Number(value) => *value,
            Expression::Here => address(at),
            Expression::Name(name, place) => match self.names.get(name) {
                Some((Definition::Label, item, _)) => address(*item),
                Some((Definition::Constant(_), ..)) if depth > DEPTH_MAX => {
                    return Err(Mistake {
                        place: *place,
                        what: format!("{name} is defined by itself"),
                    });
                }
                Some((Definition::Constant(value), item, _)) => {
                    self.value(value, *item, depth + 1)?
                }
                None => csr_number(name).map(i64::from).ok_or_else(|| {
                    let what =
                        format!("{name} is not defined: no label, constant, register or csr");
                    Mistake { place: *place, what }
                })?,
            },
            Expression::Local(number, back, place) => {
                let mut found = self.locals.iter().filter(|(known, _)| known == number);
                let found = match back {
                    true => found.rfind(|(_, item)| *item <= at),
                    false => found.find(|(_, item)| *item > at),
                };
                let (_, item) = found.ok_or_else(|| {
                    let side = if *back { "before" } else { "behind" };
                    Mistake {
                        place: *place,
                        what: format!("there is no label {number}: {side} this line"),
                    }
                })?;
                address(*item)
            }
            Expression::Negative(value) => -inner(value)?,
            Expression::Inverted(value) => !inner(value)?,
            Expression::High(value) => high(inner(value)?),
            Expression::Low(value) => low(inner(value)?),
            Expression::Both(sign, left, right, place) => {
                let (left, right) = (inner(left)?, inner(right)?);
                let result = match sign {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    'l' => u32::try_from(right)
                        .ok()
                        .filter(|by| *by < 32)
                        .and_then(|by| left.checked_mul(1 << by)),
                    'r' => u32::try_from(right).ok().filter(|by| *by < 64).map(|by| left >> by),
                    '&' => Some(left & right),
                    '|' => Some(left | right),
                    _ => Some(left ^ right),
                };
                let fits = |value: &i64| value.unsigned_abs() <= 1 << 40;
                let what = || "the expression has no value of 32 bits".into();
                result.filter(fits).ok_or_else(|| Mistake { place: *place, what: what() })?
            }
        })
    }

    /// Gives every item its address.
    fn lay_out(&mut self) -> Result<(), Mistake> {
        let (mut text, mut data) = (0, 0);
        for item in &mut self.items {
            let (offset, start, most, what) = match item.section {
                Section::Text => (&mut text, TEXT_ADDRESS, TEXT_MAX_BYTES, "1 MiB of instructions"),
                Section::Data => (&mut data, DATA_ADDRESS, DATA_MAX_BYTES, "64 MiB of data"),
            };
            item.address = start + *offset as u32;
            item.size = match &item.what {
                What::Label => 0,
                What::Code(_) => item.size.max(2),
                What::Values(bytes, values) => bytes * values.len() as u32,
                What::Bytes(bytes) => bytes.len() as u32,
                What::Space(bytes) => *bytes,
                What::Align(bytes) => item.address.next_multiple_of(*bytes) - item.address,
            };
            *offset += u64::from(item.size);
            if *offset > most {
                return Err(Mistake {
                    place: item.place,
                    what: format!("the program has more than {what}"),
                });
            }
        }
        Ok(())
    }

    /// Decides which instructions have 16 bits: all that can while the others lie where they do.
    fn shorten(&mut self) -> Result<(), Mistake> {
        for round in 0.. {
            self.lay_out()?;
            let is_long = |(at, item): (usize, &Item)| match &item.what {
                What::Code(real) if item.size == 2 => {
                    let moves = real.how != Use::Exact && round >= ROUNDS_MAX;
                    let fixed = matches!(real.how, Use::DistanceHigh | Use::DistanceLow);
                    (moves || fixed || self.word(at, real).ok().and_then(short).is_none())
                        .then_some(at)
                }
                _ => None,
            };
            let long: Vec<usize> = self.items.iter().enumerate().filter_map(is_long).collect();
            if long.is_empty() {
                break;
            }
            for at in long {
                self.items[at].size = 4;
            }
        }
        Ok(())
    }

    /// Makes the program.
    pub(super) fn link(mut self, compressed: bool, mistakes: &mut Vec<Mistake>) -> Assembled {
        if !compressed {
            for item in &mut self.items {
                item.size = 4;
            }
        }
        let laid_out = if compressed { self.shorten() } else { self.lay_out() };
        let (mut text, mut data, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        if let Err(mistake) = laid_out {
            mistakes.push(mistake);
            // Without addresses, all else would also be wrong.
            self.items.clear();
        }
        for (at, item) in self.items.iter().enumerate() {
            let bytes = match item.section {
                Section::Text => &mut text,
                Section::Data => &mut data,
            };
            if matches!(item.what, What::Code(_)) {
                lines.push((item.address, item.place.line));
            }
            if let Err(mistake) = self.bytes(at, item, bytes) {
                mistakes.push(mistake);
                bytes.resize(bytes.len().next_multiple_of(2), 0);
            }
        }
        if lines.is_empty() && mistakes.is_empty() {
            let place = Place { line: 1, column: 1 };
            mistakes.push(Mistake { place, what: "the file has no instructions".into() });
        }
        Assembled { program: self.program(text, data), lines }
    }

    /// Writes the bytes of an item.
    fn bytes(&self, at: usize, item: &Item, bytes: &mut Vec<u8>) -> Result<(), Mistake> {
        match &item.what {
            What::Label => {}
            What::Code(_) if !item.address.is_multiple_of(2) => {
                let what = "the instruction has an odd address; put .align 2 before it".into();
                return Err(Mistake { place: item.place, what });
            }
            What::Code(real) => {
                let word = self.word(at, real)?;
                match short(word).filter(|_| item.size == 2) {
                    Some(half) => bytes.extend(half.to_le_bytes()),
                    None => bytes.extend(word.to_le_bytes()),
                }
            }
            What::Values(size, values) => {
                for (value, place) in values {
                    let number = self.value(value, at, 0)?;
                    let bits = 8 * size;
                    if bits < 64 && !(-(1 << (bits - 1))..1 << bits).contains(&number) {
                        let what = format!("{number} does not fit into {bits} bits");
                        return Err(Mistake { place: *place, what });
                    }
                    bytes.extend(&number.to_le_bytes()[..*size as usize]);
                }
            }
            What::Bytes(known) => bytes.extend(known),
            What::Space(count) => bytes.resize(bytes.len() + *count as usize, 0),
            // Between instructions, `nop` fills what can be run through.
            What::Align(_) if item.section == Section::Text => {
                let odd = item.size % 4;
                bytes.resize(bytes.len() + odd as usize % 2, 0);
                if let Some(half) = short(nop()).filter(|_| odd >= 2) {
                    bytes.extend(half.to_le_bytes());
                }
                (0..item.size / 4).for_each(|_| bytes.extend(nop().to_le_bytes()));
            }
            What::Align(_) => bytes.resize(bytes.len() + item.size as usize, 0),
        }
        Ok(())
    }

    /// Encodes an instruction.
    fn word(&self, at: usize, real: &Real) -> Result<u32, Mistake> {
        let item = &self.items[at];
        let wrong = |what: String| Mistake { place: item.place, what };
        let given = self.value(&real.value, at, 0)?;
        let is_distance = real.how == Use::Target && !self.is_address(&real.value, 0);
        let from = match real.how {
            Use::DistanceLow => self.items[at - 1].address,
            _ => item.address,
        };
        let distance = given - i64::from(from);
        let value = match real.how {
            // A word that is written without its sign, such as 0xffffff00.
            Use::Exact if matches!(real.form, Form::Constant(_)) && given >> 11 == 0x1f_ffff => {
                given - (1 << 32)
            }
            Use::Exact => given,
            Use::Target if is_distance => given,
            Use::Target => distance,
            Use::High | Use::Low if !(-(1 << 31)..1 << 32).contains(&given) => {
                return Err(wrong(format!("{given} has more than 32 bits")));
            }
            Use::High => high(given),
            Use::Low => low(given),
            Use::DistanceHigh => high(distance),
            Use::DistanceLow => low(distance),
        };
        let within = |least: i64, most: i64, hint: &str| {
            let fits = (least..=most).contains(&value);
            let what = || wrong(format!("{value} is not from {least} to {most}{hint}"));
            if fits { Ok(value as i32) } else { Err(what()) }
        };
        let near = |most: i64, hint: &str| {
            if value % 2 != 0 {
                return Err(wrong(format!("the target is {value} bytes away, an odd number")));
            }
            within(-most, most - 2, hint)
        };
        let (rd, rs1, rs2) = (real.rd, real.rs1, real.rs2);
        let too_far = " bytes, as far as a branch reaches; branch around a jump (j)";
        Ok(match real.form {
            Form::Registers(of) => of(rd, rs1, rs2),
            Form::Constant(of) => of(rd, rs1, within(-2048, 2047, "; li loads any constant")?),
            Form::Shift(of) => {
                of(rd, rs1, within(0, 31, ", by which a register can be shifted")? as u32)
            }
            Form::Load(of) | Form::JumpRegister(of) => of(rd, within(-2048, 2047, "")?, rs1),
            Form::Store(of) => of(rs2, within(-2048, 2047, "")?, rs1),
            Form::Branch(of) => of(rs1, rs2, near(4096, too_far)?),
            Form::Upper(of) => of(rd, within(0, 0xf_ffff, ", the high 20 bits")? as u32),
            Form::Jump(of) => of(rd, near(1 << 20, " bytes, as far as a jump reaches")?),
            Form::Csr(of) => of(rd, within(0, 0xfff, ", the number of a csr")? as u16, rs1),
            Form::CsrConstant(of) => {
                let csr = within(0, 0xfff, ", the number of a csr")? as u16;
                of(rd, csr, rs1.number().into())
            }
            Form::Atomic(of) => of(rd, rs2, rs1),
            Form::Reserve(of) => of(rd, rs1),
            Form::Plain(of) => of(),
        })
    }

    fn program(&self, text: Vec<u8>, data: Vec<u8>) -> Program {
        let end = |start: u32, bytes: &[u8]| start + bytes.len() as u32;
        let (text_end, data_end) = (end(TEXT_ADDRESS, &text), end(DATA_ADDRESS, &data));
        let first = self.items.iter().find(|item| matches!(item.what, What::Code(_)));
        let label = |name: &str| {
            let (definition, item, _) = self.names.get(name)?;
            let is_label = matches!(definition, Definition::Label);
            is_label.then(|| self.items.get(*item)).flatten().map(|item| item.address)
        };
        let main = || label("main").filter(|_| self.global.contains("main"));
        let entry = label("_start").or_else(main).or(first.map(|item| item.address));
        let sizes = |item: &Item| if matches!(item.what, What::Code(_)) { item.size } else { 0 };
        let text_bytes = self.items.iter().map(sizes).sum();
        Program {
            entry: entry.unwrap_or(TEXT_ADDRESS),
            symbols: self.symbols(entry, text_end, data_end),
            text: TEXT_ADDRESS..text_end,
            text_bytes,
            segments: vec![
                Segment {
                    address: TEXT_ADDRESS,
                    size: text.len() as u32,
                    bytes: text,
                    writable: false,
                },
                Segment {
                    address: DATA_ADDRESS,
                    size: data.len() as u32 + HEAP_BYTES,
                    bytes: data,
                    writable: true,
                },
            ],
        }
    }

    /// Returns the labels. Those that are called, global, or the entry are functions, which end where the next
    /// begins; other labels of instructions have no size.
    fn symbols(&self, entry: Option<u32>, text_end: u32, data_end: u32) -> Vec<Symbol> {
        let calls = self.items.iter().filter_map(|item| match &item.what {
            What::Code(Real {
                form: Form::Jump(_), rd, value: Expression::Name(name, _), ..
            }) if *rd != ZERO => Some(name),
            _ => None,
        });
        let functions: BTreeSet<&String> = calls.chain(&self.global).collect();
        let labels = self.names.iter().filter(|(_, (what, ..))| matches!(what, Definition::Label));
        let mut symbols: Vec<(Symbol, bool)> = labels
            .filter_map(|(name, (_, item, _))| {
                let item = self.items.get(*item)?;
                let starts = functions.contains(name) || entry == Some(item.address);
                let starts = starts || item.section == Section::Data;
                Some((Symbol { name: name.clone(), address: item.address, size: 0 }, starts))
            })
            .collect();
        let of_loader =
            [("__global_pointer$", DATA_ADDRESS), ("_end", data_end.next_multiple_of(16))];
        let of_loader =
            of_loader.map(|(name, address)| Symbol { name: name.into(), address, size: 0 });
        symbols.extend(of_loader.map(|symbol| (symbol, false)));
        symbols.sort_by_key(|(symbol, _)| symbol.address);
        let starts: Vec<u32> = symbols
            .iter()
            .filter(|(_, starts)| *starts)
            .map(|(symbol, _)| symbol.address)
            .collect();
        let sized = symbols.into_iter().map(|(symbol, is_start)| {
            let Symbol { address, .. } = symbol;
            let end = if address < DATA_ADDRESS { text_end } else { data_end };
            let next = starts.get(starts.partition_point(|start| *start <= address));
            let next = next.map_or(end, |next| end.min(*next));
            Symbol { size: if is_start { next - address } else { 0 }, ..symbol }
        });
        sized.collect()
    }
}

/// The part of a number for `lui`, which with [`low`] gives it.
fn high(value: i64) -> i64 {
    (value + 0x800) >> 12 & 0xf_ffff
}

fn low(value: i64) -> i64 {
    i64::from(((value as u32) << 20) as i32 >> 20)
}

fn csr_number(name: &str) -> Option<u16> {
    csr::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, number)| *number)
}

fn unknown(name: &str, place: Place) -> Mistake {
    const LONG: [&str; 12] = [
        "ld", "sd", "lwu", "addw", "addiw", "subw", "sllw", "slliw", "srlw", "srliw", "sraw",
        "sraiw",
    ];
    if name.starts_with('f') && (name.contains('.') || ["flw", "fld", "fsw", "fsd"].contains(&name))
    {
        return no_floats(place);
    }
    let why = if LONG.contains(&name) { " on RV32; it is one of RV64" } else { "" };
    let hint = if name == "syscall" { "; RISC-V has ecall" } else { "" };
    Mistake { place, what: format!("there is no instruction {}{why}{hint}", shown(name)) }
}

/// Returns a name that may be long.
fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}
