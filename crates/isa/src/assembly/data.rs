//! Directives: sections, data, constants, alignment.

use super::expression::{Expression, Operand, Parser};
use super::layout::{Definition, Section, Source, What};
use super::lex::Token;
use super::{Mistake, Place, no_floats};

/// Directives that change nothing here: the file's name, attributes for a linker or a debugger.
const IGNORED: [&str; 18] = [
    ".file",
    ".option",
    ".attribute",
    ".type",
    ".size",
    ".ident",
    ".local",
    ".weak",
    ".hidden",
    ".extern",
    ".loc",
    ".cfi_startproc",
    ".cfi_endproc",
    ".cfi_offset",
    ".cfi_def_cfa_offset",
    ".cfi_restore",
    ".cfi_def_cfa",
    ".addrsig",
];

/// The most bytes that a directive may ask for; what is too much in all, the layout says.
const BYTES_MAX: i64 = 64 << 20;

impl Source {
    pub(super) fn directive(
        &mut self,
        name: &str,
        parser: &mut Parser<'_>,
        place: Place,
    ) -> Result<(), Mistake> {
        match name {
            ".text" => self.section = Section::Text,
            ".data" | ".rodata" | ".bss" | ".sdata" | ".sbss" => self.section = Section::Data,
            ".section" => {
                let text =
                    matches!(parser.peek(), Some(Token::Name(name)) if name.starts_with(".text"));
                self.section = if text { Section::Text } else { Section::Data };
            }
            ".globl" | ".global" => {
                while let Some(token) = parser.next() {
                    if let Token::Name(name) = token {
                        self.global.insert(name.clone());
                    }
                }
            }
            ".equ" | ".set" | ".eqv" => {
                let Some(Token::Name(name)) = parser.next() else {
                    return Err(Mistake { place, what: format!("expected {name} NAME, VALUE") });
                };
                if parser.is_sign(',') {
                    parser.next();
                }
                self.constant(name, parser, place)?;
            }
            ".word" | ".long" | ".4byte" => self.values(4, parser, place)?,
            ".half" | ".short" | ".2byte" => self.values(2, parser, place)?,
            ".byte" => self.values(1, parser, place)?,
            ".dword" | ".quad" | ".8byte" => self.values(8, parser, place)?,
            ".asciz" | ".string" | ".asciiz" => self.text(true, parser, place)?,
            ".ascii" => self.text(false, parser, place)?,
            ".space" | ".zero" | ".skip" => {
                let count = self.number(parser, place, 0..=BYTES_MAX, "a number of bytes")?;
                if parser.peek().is_some() {
                    return parser.mistake(format!("{name} fills with zeros; give one number"));
                }
                self.push(What::Space(count as u32), place);
            }
            ".align" | ".p2align" => {
                let power = self.number(parser, place, 0..=12, "a power of two from 0 to 12")?;
                self.push(What::Align(1 << power), place);
            }
            ".balign" => {
                let bytes = self.number(parser, place, 1..=4096, "a number of bytes up to 4096")?;
                if bytes.count_ones() != 1 {
                    let what = format!("{bytes} is no power of two, which .balign needs");
                    return Err(Mistake { place, what });
                }
                self.push(What::Align(bytes as u32), place);
            }
            ".comm" => self.common(parser, place)?,
            _ if IGNORED.contains(&name) || name == ".end" => {}
            ".float" | ".double" => return Err(no_floats(place)),
            ".macro" | ".endm" | ".end_macro" | ".include" | ".rept" | ".endr" | ".if"
            | ".else" | ".endif" | ".incbin" => {
                let what = format!("{name} is not supported; write the lines out");
                return Err(Mistake { place, what });
            }
            _ => return Err(Mistake { place, what: format!("unknown directive {name}") }),
        }
        Ok(())
    }

    /// Defines a name as the rest of a statement.
    pub(super) fn constant(
        &mut self,
        name: &str,
        parser: &mut Parser<'_>,
        place: Place,
    ) -> Result<(), Mistake> {
        let value = parser.expression(0, 0)?;
        if parser.peek().is_some() {
            return parser.mistake("expected the end of the line");
        }
        let item = self.push(What::Label, place);
        // A constant may be given another value, which holds from there on in the GNU assembler; a value that
        // changes is refused here.
        let what = Definition::Constant(value);
        self.define(name, what, item, place)
    }

    /// Reads a number that must be known here.
    fn number(
        &self,
        parser: &mut Parser<'_>,
        place: Place,
        right: std::ops::RangeInclusive<i64>,
        wanted: &str,
    ) -> Result<i64, Mistake> {
        let value = if parser.peek().is_some() { Some(parser.expression(0, 0)?) } else { None };
        if parser.is_sign(',') {
            parser.next();
        }
        let value =
            value.and_then(|value| self.known(&value)).filter(|value| right.contains(value));
        value.ok_or_else(|| Mistake { place, what: format!("expected {wanted}") })
    }

    fn values(&mut self, bytes: u32, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let mut values = Vec::new();
        for (operand, at) in parser.operands()? {
            match operand {
                Operand::Expression(value) => values.push((value, at)),
                _ => {
                    return Err(Mistake { place: at, what: "expected a number or a label".into() });
                }
            }
        }
        if values.is_empty() {
            return Err(Mistake { place, what: "expected numbers or labels".into() });
        }
        self.push(What::Values(bytes, values), place);
        Ok(())
    }

    fn text(&mut self, ends: bool, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let mut all = Vec::new();
        let operands = parser.operands()?;
        for (operand, at) in &operands {
            let Operand::Text(bytes) = operand else {
                return Err(Mistake {
                    place: *at,
                    what: "expected a string between double quotes".into(),
                });
            };
            all.extend(bytes);
            all.extend(ends.then_some(0));
        }
        if operands.is_empty() {
            return Err(Mistake { place, what: "expected a string between double quotes".into() });
        }
        self.push(What::Bytes(all), place);
        Ok(())
    }

    /// `.comm name, bytes, alignment`: zeros among the data.
    fn common(&mut self, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let wrong = || Mistake { place, what: "expected .comm NAME, BYTES, ALIGNMENT".into() };
        let operands = parser.operands()?;
        let mut operands = operands.into_iter().map(|(operand, _)| match operand {
            Operand::Expression(value) => Ok(value),
            _ => Err(wrong()),
        });
        let Some(Expression::Name(name, _)) = operands.next().transpose()? else {
            return Err(wrong());
        };
        let mut numbers = [0, 4];
        for (number, value) in numbers.iter_mut().zip(operands) {
            let known = self.known(&value?).filter(|known| (0..=BYTES_MAX).contains(known));
            *number = known.ok_or_else(wrong)?;
        }
        let [bytes, align] = numbers;
        if align.count_ones() != 1 || align > 4096 {
            return Err(wrong());
        }
        let before = std::mem::replace(&mut self.section, Section::Data);
        self.push(What::Align(align as u32), place);
        let item = self.push(What::Label, place);
        self.push(What::Space(bytes as u32), place);
        self.section = before;
        self.define(&name, Definition::Label, item, place)
    }
}
