//! Where everything lies, and what it is then.

use super::expression::{Expression, Operand, Parser, Part};
use super::lex::{Placed, Token};
use super::names::{Definition, Names};
use super::pseudo::{self, Real, Use};
use super::short::short;
use super::table::{self, Form, form};
use super::{DATA_ADDRESS, Mistake, Place, TEXT_ADDRESS, register_name};
use crate::encode::nop;
use std::collections::BTreeSet;

/// The most bytes of instructions: as far as `jal` reaches.
const TEXT_MAX_BYTES: u64 = 1 << 20;

/// The most bytes of data.
const DATA_MAX_BYTES: u64 = 64 << 20;

/// Where the stack usually ends.
const STACK_TOP: i64 = 0x7fff_f000;

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
    /// Bytes, all with the same value.
    Space(u32, u8),
    /// Room up to a multiple of a number, at most so much; and what fills it, where that is chosen.
    Align(u32, u32, Option<u8>),
    /// What follows in the section lies from this address on.
    Origin(u32),
}

/// A piece of a section.
pub(super) struct Item {
    pub(super) section: Section,
    pub(super) place: Place,
    pub(super) what: What,
    pub(super) address: u32,
    pub(super) size: u32,
}

/// Texts that were read.
#[derive(Default)]
pub(super) struct Source {
    pub(super) section: Section,
    /// Sections to go back to, the last on top.
    pub(super) sections: Vec<Section>,
    /// The directive of the statement before, if that lists data.
    listing: Option<String>,
    pub(super) items: Vec<Item>,
    pub(super) names: Names,
    /// What was decided where a text can be read in two ways.
    pub(super) notes: Vec<Mistake>,
    /// Labels that are numbers, in their order.
    locals: Vec<(u32, usize)>,
}

/// Returns what two numbers and a sign between them are; none beyond 64 bits.
fn both(sign: char, left: i64, right: i64) -> Option<i64> {
    match sign {
        '+' => left.checked_add(right),
        '-' => left.checked_sub(right),
        '*' => left.checked_mul(right),
        '/' => left.checked_div(right),
        '%' => left.checked_rem(right),
        // What holds is -1, as in the GNU assembler.
        'e' => Some(-i64::from(left == right)),
        'n' => Some(-i64::from(left != right)),
        '<' => Some(-i64::from(left < right)),
        '>' => Some(-i64::from(left > right)),
        'm' => Some(-i64::from(left <= right)),
        'g' => Some(-i64::from(left >= right)),
        'a' => Some(i64::from(left != 0 && right != 0)),
        'o' => Some(i64::from(left != 0 || right != 0)),
        'l' => (0..64).contains(&right).then(|| left << right),
        // With its sign, so that what has 32 bits still has; the GNU assembler takes 64 without one.
        'r' => (0..64).contains(&right).then(|| left >> right),
        '&' => Some(left & right),
        '|' => Some(left | right),
        '!' => Some(left | !right),
        _ => Some(left ^ right),
    }
}

impl Source {
    /// Reads a statement.
    pub(super) fn read(&mut self, statement: &[Placed]) -> Result<(), Mistake> {
        let mut parser = Parser::new(statement);
        while parser.second() == Some(&Token::Sign(':')) {
            let place = parser.place();
            let item = self.push(What::Label, place);
            match parser.next() {
                Some(Token::Name(name)) => {
                    self.names.define(name, Definition::Label, item, place)?
                }
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
        let listing = parser.peek().and_then(|_| self.listing.take());
        let goes_on = match parser.peek() {
            Some(Token::Sign(sign)) => matches!(sign, '-' | 'u'),
            other => !matches!(other, None | Some(Token::Name(_) | Token::Local(..))),
        };
        if let Some(name) = listing.filter(|_| goes_on) {
            // The lines of a table, of which the first has the directive.
            self.directive(&name, &mut parser, place)?;
            self.listing = Some(name);
            return Ok(());
        }
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
            let name = name.to_ascii_lowercase();
            self.directive(&name, &mut parser, place)?;
            let lists = matches!(
                self.items.last(),
                Some(Item { what: What::Values(..) | What::Bytes(_), .. })
            );
            self.listing = lists.then_some(name);
            return Ok(());
        }
        self.instruction(&name.to_ascii_lowercase(), &mut parser, place)
    }

    /// Returns the names that instructions use and no text defines.
    pub(super) fn missing(&self) -> BTreeSet<&String> {
        let names = self.items.iter().filter_map(|item| match &item.what {
            What::Code(Real { value: Expression::Name(name, place), .. }) => {
                self.names.get(name, *place).is_none().then_some(name)
            }
            _ => None,
        });
        names.collect()
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
        for operand in &mut operands {
            if let Operand::Expression(value) | Operand::Memory(value, _) = operand {
                self.fold(value);
            }
        }
        // A label may have the name of a register, as in some exercises for Venus.
        let takes_label = matches!(name, "la" | "lla" | "call" | "j")
            || matches!(form(name), Some(Form::Load(_))) && operands.len() == 2;
        if let Some(last @ Operand::Register(_)) = operands.last_mut()
            && let Operand::Register(register) = *last
            && takes_label
        {
            *last = Operand::Expression(Expression::Name(
                register_name(register.number()).into(),
                place,
            ));
        }
        if self.section != Section::Text {
            let what = format!("{name} stands among the data: from here on .text, as in Venus");
            self.notes.push(Mistake { place, what });
            self.section = Section::Text;
            let is_label = |item: &&mut Item| matches!(item.what, What::Label);
            for label in self.items.iter_mut().rev().take_while(is_label) {
                label.section = Section::Text;
            }
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

    /// Puts numbers in the place of constants that are known here, since they may change.
    pub(super) fn fold(&self, value: &mut Expression) {
        value.fold(&|name, place| match self.names.get(name, place) {
            Some((Definition::Constant(value), ..)) => self.known(value),
            _ => None,
        });
    }

    /// Returns the value of an expression that depends on no address.
    pub(super) fn known(&self, value: &Expression) -> Option<i64> {
        if self.is_address(value, 0) { None } else { self.value(value, 0, 0).ok() }
    }

    /// Reports whether a value depends on an address, or on a name that is not defined.
    fn is_address(&self, value: &Expression, depth: u32) -> bool {
        value.any(&|part| match part {
            Expression::Here | Expression::Local(..) => true,
            Expression::Part(Part::DistanceHigh | Part::DistanceLow, _) => true,
            Expression::Name(name, place) => match self.names.get(name, *place) {
                Some((Definition::Constant(value), ..)) => {
                    depth > DEPTH_MAX || self.is_address(value, depth + 1)
                }
                Some(_) => true,
                None => table::csr_number(name).is_none(),
            },
            _ => false,
        })
    }

    /// Returns the value of an expression that stands at an item.
    fn value(&self, value: &Expression, at: usize, depth: u32) -> Result<i64, Mistake> {
        let address = |item: usize| self.items.get(item).map_or(0, |item| i64::from(item.address));
        let inner = |value: &Expression| self.value(value, at, depth);
        Ok(match value {
            Expression::Number(value) | Expression::Bits(value) => *value,
            Expression::Here => address(at),
            Expression::Name(name, place) => match self.names.get(name, *place) {
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
                None => match table::csr_number(name).map(i64::from).or(self.of_linker(name)) {
                    Some(value) => value,
                    None => return Err(Mistake { place: *place, what: table::undefined(name) }),
                },
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
            Expression::Negative(value) => inner(value)?.wrapping_neg(),
            Expression::Inverted(value) => !inner(value)?,
            Expression::Part(Part::High, value) => high(inner(value)?),
            Expression::Part(Part::Low, value) => low(inner(value)?),
            Expression::Part(Part::DistanceHigh, value) => {
                high(inner(value)?.wrapping_sub(address(at)))
            }
            Expression::Part(Part::DistanceLow, label) => {
                let (value, item) = self.high_part(label)?;
                low(self.value(value, item, depth)?.wrapping_sub(address(item)))
            }
            Expression::Both(sign, left, right, place) => {
                let (left, right) = (inner(left)?, inner(right)?);
                let what = || "the expression has no value of 64 bits".into();
                both(*sign, left, right).ok_or_else(|| Mistake { place: *place, what: what() })?
            }
        })
    }

    /// Returns the value of a name that linkers or their scripts usually define: where instructions and data begin
    /// and end, and the top of the stack.
    fn of_linker(&self, name: &str) -> Option<i64> {
        let (section, is_end) = match name {
            "_ftext" | "_stext" | "_text" => (Section::Text, false),
            "_etext" | "__etext" => (Section::Text, true),
            "_sdata" | "_sidata" | "_data" | "__data_start" => (Section::Data, false),
            "_edata" | "__bss_start" | "__bss_end" | "_sbss" | "_ebss" | "__BSS_END__" | "_end" => {
                (Section::Data, true)
            }
            "_stack_top" | "__stack_top" | "_estack" | "__stack" | "_sp" => return Some(STACK_TOP),
            _ => return None,
        };
        let items = self.items.iter().filter(|item| item.section == section && item.size > 0);
        let usual = if section == Section::Text { TEXT_ADDRESS } else { DATA_ADDRESS };
        let place = match is_end {
            true => items.map(|item| item.address + item.size).max(),
            false => items.map(|item| item.address).min(),
        };
        let place = place.unwrap_or(usual);
        Some(if is_end { place.next_multiple_of(16) } else { place }.into())
    }

    /// Returns the value, and the instruction, whose high part the instruction at a label has.
    fn high_part(&self, label: &Expression) -> Result<(&Expression, usize), Mistake> {
        let (name, place) = match label {
            Expression::Name(name, place) => (name.as_str(), *place),
            _ => ("it", Place::START),
        };
        let from = self.names.get(name, place).map(|(_, item, _)| *item);
        let from = from.or_else(|| match label {
            Expression::Local(number, true, _) => {
                self.locals.iter().rfind(|(known, _)| known == number).map(|(_, item)| *item)
            }
            _ => None,
        });
        let items = from.and_then(|from| self.items.get(from..)).unwrap_or_default();
        let found = (from.unwrap_or(0)..).zip(items).find_map(|(at, item)| match &item.what {
            What::Code(Real { value: Expression::Part(Part::DistanceHigh, value), .. }) => {
                Some((&**value, at))
            }
            _ => None,
        });
        found.ok_or_else(|| {
            let what = format!("{name} is no label of an instruction with %pcrel_hi");
            Mistake { place, what }
        })
    }

    /// Gives every item its address.
    pub(super) fn lay_out(&mut self) -> Result<(), Mistake> {
        let (mut text, mut data) = (0, 0);
        let (mut next_text, mut next_data) = (u64::from(TEXT_ADDRESS), u64::from(DATA_ADDRESS));
        for item in &mut self.items {
            let (offset, next, most, what) = match item.section {
                Section::Text => {
                    (&mut text, &mut next_text, TEXT_MAX_BYTES, "1 MiB of instructions")
                }
                Section::Data => (&mut data, &mut next_data, DATA_MAX_BYTES, "64 MiB of data"),
            };
            if let What::Origin(address) = item.what {
                *next = address.into();
            }
            item.address = *next as u32;
            item.size = match &item.what {
                What::Label | What::Origin(_) => 0,
                What::Code(_) => item.size.max(2),
                What::Values(bytes, values) => bytes * values.len() as u32,
                What::Bytes(bytes) => bytes.len() as u32,
                What::Space(bytes, _) => *bytes,
                What::Align(bytes, most, _) => {
                    let room = (*next).next_multiple_of(u64::from(*bytes)) as u32 - item.address;
                    if room > *most { 0 } else { room }
                }
            };
            *offset += u64::from(item.size);
            *next += u64::from(item.size);
            if *offset > most || *next > 1 << 32 {
                return Err(Mistake {
                    place: item.place,
                    what: format!("the program has more than {what}"),
                });
            }
        }
        Ok(())
    }

    /// Decides which instructions have 16 bits: all that can while the others lie where they do.
    pub(super) fn shorten(&mut self) -> Result<(), Mistake> {
        for round in 0.. {
            self.lay_out()?;
            let is_long = |(at, item): (usize, &Item)| match &item.what {
                What::Code(real) if item.size == 2 && !real.short => {
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

    /// Writes the bytes of an item.
    pub(super) fn bytes(&self, at: usize, item: &Item, bytes: &mut Vec<u8>) -> Result<(), Mistake> {
        match &item.what {
            What::Label | What::Origin(_) => {}
            What::Code(_) if !item.address.is_multiple_of(2) => {
                let what = "the instruction has an odd address; put .align 2 before it".into();
                return Err(Mistake { place: item.place, what });
            }
            What::Code(real) => {
                let word = self.word(at, real)?;
                match short(word).filter(|_| item.size == 2) {
                    Some(half) => bytes.extend(half.to_le_bytes()),
                    None if real.short => {
                        let what = "no instruction of 16 bits has these operands".into();
                        return Err(Mistake { place: item.place, what });
                    }
                    None => bytes.extend(word.to_le_bytes()),
                }
            }
            What::Values(size, values) => {
                for (value, place) in values {
                    let number = self.value(value, at, 0)?;
                    let bits = 8 * size;
                    let sign = if number < 0 { 0xff } else { 0 };
                    if bits < 64 && !(-(1 << (bits - 1))..1 << bits).contains(&number) {
                        let what = format!("{number} does not fit into {bits} bits");
                        return Err(Mistake { place: *place, what });
                    }
                    let all = number.to_le_bytes().into_iter().chain([sign; 8]);
                    bytes.extend(all.take(*size as usize));
                }
            }
            What::Bytes(known) => bytes.extend(known),
            What::Space(count, value) => bytes.resize(bytes.len() + *count as usize, *value),
            // Between instructions, `nop` fills what can be run through.
            What::Align(.., None) if item.section == Section::Text => {
                let odd = item.size % 4;
                bytes.resize(bytes.len() + odd as usize % 2, 0);
                if let Some(half) = short(nop()).filter(|_| odd >= 2) {
                    bytes.extend(half.to_le_bytes());
                }
                (0..item.size / 4).for_each(|_| bytes.extend(nop().to_le_bytes()));
            }
            What::Align(.., fill) => {
                bytes.resize(bytes.len() + item.size as usize, fill.unwrap_or_default());
            }
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
        let distance = given.wrapping_sub(from.into());
        let value = match real.how {
            // A word that is written without its sign, such as 0xffffff00.
            Use::Exact if matches!(real.form, Form::Constant(_)) && given >> 11 == 0x1f_ffff => {
                given - (1 << 32)
            }
            Use::Exact if real.extends_sign() => given - (1 << 12),
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
        let word = match real.form {
            Form::Registers(of) => of(rd, rs1, rs2),
            Form::Constant(of) => of(rd, rs1, within(-2048, 2047, "; li loads any constant")?),
            Form::Shift(of) => {
                of(rd, rs1, within(0, 31, ", by which a register can be shifted")? as u32)
            }
            Form::Load(of) | Form::JumpRegister(of) => of(rd, within(-2048, 2047, FAR)?, rs1),
            Form::Store(of) => of(rs2, within(-2048, 2047, FAR)?, rs1),
            Form::Branch(of) => of(rs1, rs2, near(4096, too_far)?),
            Form::Upper(of) => {
                let bits = within(-0x8_0000, 0xf_ffff, ", the high 20 bits")?;
                of(rd, bits as u32 & 0xf_ffff)
            }
            Form::Jump(of) => of(rd, near(1 << 20, " bytes, as far as a jump reaches")?),
            Form::Csr(of) => of(rd, within(0, 0xfff, ", the number of a csr")? as u16, rs1),
            Form::CsrConstant(of) => {
                let csr = within(0, 0xfff, ", the number of a csr")? as u16;
                of(rd, csr, rs1.number().into())
            }
            Form::Atomic(of) => of(rd, rs2, rs1),
            Form::Reserve(of) => of(rd, rs1),
            Form::Plain(of) => of(),
            Form::Word(word) => word,
        };
        Ok(word | real.order << 25)
    }
}

/// What helps where an offset is too large.
const FAR: &str = "; la or li puts an address into a register first";

/// The part of a number for `lui`, which with [`low`] gives it.
fn high(value: i64) -> i64 {
    value.wrapping_add(0x800) >> 12 & 0xf_ffff
}

fn low(value: i64) -> i64 {
    i64::from(((value as u32) << 20) as i32 >> 20)
}

/// Returns the mistake of a name that is no instruction.
fn unknown(name: &str, place: Place) -> Mistake {
    Mistake { place, what: format!("there is no instruction {}", table::without(name)) }
}
