//! Expressions of numbers and labels.

use super::lex::{Placed, Token};
use super::table::register;
use super::{Mistake, Place};
use crate::encode::Register;

/// How deep parentheses may nest.
const DEPTH_MAX: u32 = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(i64),
    /// 12 bits of which the first is set, written as bits.
    Bits(i64),
    Name(String, Place),
    /// `.`, where the statement lies.
    Here,
    /// `1b` and `1f`.
    Local(u32, bool, Place),
    Negative(Box<Expression>),
    Inverted(Box<Expression>),
    Both(char, Box<Expression>, Box<Expression>, Place),
    /// `%hi`, `%lo` and others.
    Part(Part, Box<Expression>),
}

/// A part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    High,
    Low,
    /// Of the distance from here.
    DistanceHigh,
    /// Of the distance of the instruction that a label names, whose high part it has.
    DistanceLow,
}

/// The parts by the names that follow a `%`.
const PARTS: [(&str, Part); 4] = [
    ("hi", Part::High),
    ("lo", Part::Low),
    ("pcrel_hi", Part::DistanceHigh),
    ("pcrel_lo", Part::DistanceLow),
];

/// Operators ([`super::lex::Token::Sign`]) by how closely they bind, the loosest first.
const GNU_LEVELS: &[&str] = &["o", "a", "enmg<>", "+-u", "|&^!", "*/%lr"];
const C_LEVELS: &[&str] = &["o", "a", "|", "^", "&", "en", "mg<>", "lr", "+-u", "*/%"];

/// What stands behind a name that a linker for shared libraries reads.
const LINKERS_SUFFIX: &str = "@plt";

/// What stands between commas.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Register(Register),
    Expression(Expression),
    /// `offset(register)`.
    Memory(Expression, Register),
    Text(Vec<u8>),
}

/// Reads the tokens of a statement.
pub(super) struct Parser<'t> {
    tokens: &'t [Placed],
    /// Where the statement ends, for errors.
    end: Place,
    /// Whether spaces may separate the values of a list.
    is_list: bool,
    /// Whether operators bind and compare as in C, not as in the GNU assembler.
    pub(super) is_c: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(tokens: &'t [Placed]) -> Self {
        let end = tokens.last().map_or(Place::START, |(_, place)| *place);
        Self { tokens, end, is_list: false, is_c: false }
    }

    pub(super) fn place(&self) -> Place {
        self.tokens.first().map_or(self.end, |(_, place)| *place)
    }

    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.first().map(|(token, _)| token)
    }

    /// Returns the token behind the next.
    pub(super) fn second(&self) -> Option<&'t Token> {
        self.tokens.get(1).map(|(token, _)| token)
    }

    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek();
        self.tokens = self.tokens.get(1..).unwrap_or_default();
        token
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.peek() == Some(&Token::Sign(sign))
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_so = self.is_sign(sign);
        if is_so {
            self.next();
        }
        is_so
    }

    pub(super) fn mistake<T>(&self, what: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake { place: self.place(), what: what.into() })
    }

    /// Reads operands to the end of the statement. Commas separate them; spaces do where a comma is
    /// missing, as in Ripes and Venus.
    pub(super) fn operands(&mut self) -> Result<Vec<(Operand, Place)>, Mistake> {
        let mut operands = Vec::new();
        // As in Ripes and Venus, a comma is a space.
        self.takes(',');
        while self.peek().is_some() {
            let place = self.place();
            operands.push((self.operand()?, place));
            self.takes(',');
        }
        Ok(operands)
    }

    /// Reads the values of a list, each with how often it stands there (`value : count`); a comma may end the list.
    pub(super) fn list(&mut self) -> Result<Vec<(Expression, Expression, Place)>, Mistake> {
        let mut values = Vec::new();
        self.is_list = true;
        while self.peek().is_some() {
            let place = self.place();
            if let Some(Token::Text(_)) = self.peek() {
                return self.mistake("expected a number or a label");
            }
            let value = self.expression(0, 0)?;
            let is_repeated = self.takes(':');
            let count = if is_repeated { self.expression(0, 0)? } else { Expression::Number(1) };
            values.push((value, count, place));
            self.takes(',');
        }
        Ok(values)
    }

    /// Returns the register that a name is.
    fn register(token: Option<&Token>) -> Option<Register> {
        match token {
            Some(Token::Name(name)) => register(name),
            _ => None,
        }
    }

    fn operand(&mut self) -> Result<Operand, Mistake> {
        if let Some(Token::Text(bytes)) = self.peek() {
            self.next();
            return Ok(Operand::Text(bytes.clone()));
        }
        if let Some(register) = Self::register(self.peek()) {
            self.next();
            return Ok(Operand::Register(register));
        }
        let expression = match self.base() {
            Some(register) => return Ok(Operand::Memory(Expression::Number(0), register)),
            None => self.expression(0, 0)?,
        };
        Ok(match self.base() {
            Some(register) => Operand::Memory(expression, register),
            None => Operand::Expression(expression),
        })
    }

    /// Reads a register in parentheses, if one is next.
    fn base(&mut self) -> Option<Register> {
        let found = Self::register(self.second()).filter(|_| self.is_sign('('))?;
        let closes = matches!(self.tokens.get(2), Some((Token::Sign(')'), _)));
        for _ in 0..if closes { 3 } else { 0 } {
            self.next();
        }
        closes.then_some(found)
    }

    /// Reads an expression whose operators bind more closely than a level.
    pub(super) fn expression(&mut self, level: u32, depth: u32) -> Result<Expression, Mistake> {
        let number = match self.peek() {
            Some(Token::Sign('-' | 'u')) => self.second(),
            other => other,
        };
        let is_number = matches!(number, Some(Token::Number(_) | Token::Bits(_)));
        let mut left = self.term(depth)?;
        while let Some(Token::Sign(sign)) = self.peek() {
            let binds = match sign {
                // A part of an address may follow a register without a comma.
                '%' if matches!(self.second(), Some(Token::Name(_))) => break,
                // Two numbers of a list, such as `1 -2` of Venus.
                'u' if self.is_list && is_number => break,
                other => self.binds(*other),
            };
            if binds <= level {
                break;
            }
            let place = self.place();
            self.next();
            let right = self.expression(binds, depth)?;
            let sign = if *sign == 'u' { '-' } else { *sign };
            left = Expression::Both(sign, Box::new(left), Box::new(right), place);
            if self.is_c && "enmg<>".contains(sign) {
                left = Expression::Negative(Box::new(left));
            }
        }
        match level == 0 && self.takes('?') {
            true => self.chosen(&left, depth),
            false => Ok(left),
        }
    }

    /// Returns how closely an operator binds, 0 where there is none (GNU as, "Infix Operators"; C11, 6.5).
    fn binds(&self, sign: char) -> u32 {
        let levels = if self.is_c { C_LEVELS } else { GNU_LEVELS };
        let found = levels.iter().rposition(|signs| signs.contains(sign));
        found.map_or(0, |level| level as u32 + 1)
    }

    /// Reads what a condition of C chooses from: the one or the other, times 1 or 0.
    fn chosen(&mut self, condition: &Expression, depth: u32) -> Result<Expression, Mistake> {
        if depth > DEPTH_MAX {
            return self.mistake("the expression nests too deeply");
        }
        let place = self.place();
        let both = |sign, left: Expression, right| {
            Expression::Both(sign, Box::new(left), Box::new(right), place)
        };
        let one = self.expression(0, depth + 1)?;
        if !self.takes(':') {
            return self.mistake("expected a : behind the ?");
        }
        let other = self.expression(0, depth + 1)?;
        // What is compared is -1 or 0.
        let [is, is_not] =
            ['n', 'e'].map(|sign| both(sign, condition.clone(), Expression::Number(0)));
        Ok(both('-', Expression::Negative(Box::new(both('*', is, one))), both('*', is_not, other)))
    }

    fn term(&mut self, depth: u32) -> Result<Expression, Mistake> {
        if depth > DEPTH_MAX {
            return self.mistake("the expression nests too deeply");
        }
        let place = self.place();
        let inner = |parser: &mut Self| parser.term(depth + 1).map(Box::new);
        match self.next() {
            Some(Token::Bits(value @ 0x800..=0xfff)) => Ok(Expression::Bits(*value)),
            Some(Token::Number(value) | Token::Bits(value)) => Ok(Expression::Number(*value)),
            Some(Token::Local(number, back)) => Ok(Expression::Local(*number, *back, place)),
            Some(Token::Name(name)) if name == "." => Ok(Expression::Here),
            Some(Token::Name(name)) if name.starts_with('$') => {
                let plain = &name[1..];
                let plain =
                    if plain.parse::<u8>().is_ok() { format!("x{plain}") } else { plain.into() };
                let what = match register(&plain) {
                    Some(_) => format!("{name}: registers of RISC-V have no $; write {plain}"),
                    None => format!(
                        "{name} is a register of MIPS; results of RISC-V are in a0, numbers of calls in a7"
                    ),
                };
                Err(Mistake { place, what })
            }
            Some(Token::Name(name)) => {
                let name = name.strip_suffix(LINKERS_SUFFIX).unwrap_or(name);
                Ok(Expression::Name(name.into(), place))
            }
            Some(Token::Sign('-' | 'u')) => Ok(Expression::Negative(inner(self)?)),
            Some(Token::Sign('+')) => inner(self).map(|inner| *inner),
            Some(Token::Sign('~')) => Ok(Expression::Inverted(inner(self)?)),
            Some(Token::Sign('!')) => {
                let zero = Box::new(Expression::Number(0));
                let is_zero = Expression::Both('e', inner(self)?, zero, place);
                Ok(Expression::Negative(Box::new(is_zero)))
            }
            Some(Token::Sign('(')) => self.closed(depth),
            Some(Token::Sign('%')) => {
                let name = match self.next() {
                    Some(Token::Name(name)) if self.is_sign('(') => name.as_str(),
                    _ => "",
                };
                let known = PARTS.iter().find(|(known, _)| *known == name);
                let Some((_, part)) = known else {
                    let what =
                        "expected %hi(label), %lo(label), %pcrel_hi(label) or %pcrel_lo(label)";
                    return Err(Mistake { place, what: what.into() });
                };
                self.next();
                Ok(Expression::Part(*part, Box::new(self.closed(depth)?)))
            }
            None => Err(Mistake { place, what: "expected a number or a label".into() }),
            Some(_) => {
                Err(Mistake { place, what: "expected a register, a number or a label".into() })
            }
        }
    }

    /// Reads an expression and the parenthesis behind it.
    fn closed(&mut self, depth: u32) -> Result<Expression, Mistake> {
        let inner = self.expression(0, depth + 1)?;
        if self.takes(')') { Ok(inner) } else { self.mistake("expected a )") }
    }
}

impl Expression {
    /// Returns the name that it is, if it is one.
    pub(super) fn name(&self) -> Option<&String> {
        match self {
            Self::Name(name, _) => Some(name),
            _ => None,
        }
    }

    /// Reports whether a condition holds for a part of the expression.
    pub(super) fn any(&self, is_so: &dyn Fn(&Expression) -> bool) -> bool {
        is_so(self)
            || match self {
                Self::Negative(inner) | Self::Inverted(inner) | Self::Part(_, inner) => {
                    inner.any(is_so)
                }
                Self::Both(_, left, right, _) => left.any(is_so) || right.any(is_so),
                _ => false,
            }
    }

    /// Puts numbers in the place of names that have one.
    pub(super) fn fold(&mut self, number: &dyn Fn(&str, Place) -> Option<i64>) {
        match self {
            Self::Name(name, place) => {
                if let Some(number) = number(name, *place) {
                    *self = Self::Number(number);
                }
            }
            Self::Negative(inner) | Self::Inverted(inner) | Self::Part(_, inner) => {
                inner.fold(number);
            }
            Self::Both(_, left, right, _) => {
                left.fold(number);
                right.fold(number);
            }
            _ => {}
        }
    }
}
