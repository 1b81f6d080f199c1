//! Directives: sections, data, constants, alignment.

use super::expression::{Expression, Operand, Parser};
use super::layout::{Section, Source, What};
use super::lex::Token;
use super::names::Definition;
use super::{Mistake, Place};

/// Directives that change nothing here: the file's name, attributes for a linker or a debugger.
const IGNORED: &str = ".file .option .attribute .type .size .ident .local .weak .hidden .extern \
    .loc .addrsig .internal .protected .variant_cc .title .list .nolist .purgem .warning .print";

/// What begins the names of directives for a debugger.
const DEBUGGERS: &str = ".cfi_";

/// The number from which on what follows `.text` is an address.
const SUBSECTIONS: i64 = 256;

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
            ".text" | ".ktext" | ".data" | ".kdata" | ".rodata" | ".bss" | ".sdata" | ".sbss" => {
                self.section = if name.ends_with("text") { Section::Text } else { Section::Data };
                // Simulators take an address here; the GNU assembler takes the number of a subsection.
                if parser.peek().is_some() {
                    let address = self.number(parser, place, 0..=u32::MAX.into(), "an address")?;
                    if address >= SUBSECTIONS {
                        self.push(What::Origin(address as u32), place);
                    }
                }
            }
            ".org" => {
                let address = self.number(parser, place, 0..=u32::MAX.into(), "an address")?;
                self.push(What::Origin(address as u32), place);
            }
            ".section" | ".pushsection" => {
                if name == ".pushsection" {
                    self.sections.push(self.section);
                }
                self.section = section(parser);
            }
            ".popsection" | ".previous" => {
                self.section = self.sections.pop().unwrap_or_default();
            }
            ".globl" | ".global" => {
                while let Some(token) = parser.next() {
                    if let Token::Name(name) = token {
                        self.names.export(name, place);
                    }
                }
            }
            ".equ" | ".set" | ".eqv" | ".equiv" => {
                let Some(Token::Name(name)) = parser.next() else {
                    return Err(Mistake { place, what: format!("expected {name} NAME, VALUE") });
                };
                if parser.is_sign(',') {
                    parser.next();
                }
                self.constant(name, parser, place)?;
            }
            ".word" | ".long" | ".4byte" | ".int" => self.values(4, parser, place)?,
            ".half" | ".short" | ".hword" | ".2byte" => self.values(2, parser, place)?,
            ".byte" | ".1byte" => self.values(1, parser, place)?,
            ".dword" | ".quad" | ".8byte" => self.values(8, parser, place)?,
            ".octa" => self.values(16, parser, place)?,
            ".uleb128" | ".sleb128" => self.leb128(name == ".sleb128", parser, place)?,
            ".asciz" | ".string" | ".asciiz" => self.text(true, parser, place)?,
            ".ascii" => self.text(false, parser, place)?,
            ".float" | ".single" => self.reals(4, parser, place)?,
            ".double" => self.reals(8, parser, place)?,
            ".space" | ".zero" | ".skip" | ".fill" | ".align" | ".p2align" | ".balign" => {
                self.room(name, parser, place)?;
            }
            ".comm" | ".lcomm" => self.common(parser, place)?,
            // RARS gives bytes to a name that it says is elsewhere.
            ".extern" if parser.second().is_some() => self.common(parser, place)?,
            _ if IGNORED.split(' ').any(|known| known == name) || name.starts_with(DEBUGGERS) => {}
            _ => return Err(Mistake { place, what: format!("{name} is unknown (docs/core.md)") }),
        }
        Ok(())
    }

    /// Leaves room or repeats values, up to a size or an alignment.
    fn room(&mut self, name: &str, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        match name {
            ".space" | ".zero" | ".skip" => {
                let count = self.number(parser, place, 0..=BYTES_MAX, "a number of bytes")?;
                let value = self.optional(parser, place, 0)?;
                self.push(What::Space(count as u32, value as u8), place);
            }
            ".fill" => {
                let count = self.number(parser, place, 0..=BYTES_MAX, "how often to repeat")?;
                let size = self.optional(parser, place, 1)?.clamp(0, 8) as u32;
                let value = Expression::Number(self.optional(parser, place, 0)?);
                // Values that are repeated are as many as a list could have.
                let most = BYTES_MAX as usize / 8;
                let values = vec![(value, place); (count as usize).min(most)];
                self.push(What::Values(size, values), place);
            }
            ".align" | ".p2align" => {
                let power = self.number(parser, place, 0..=16, "a power of two from 0 to 16")?;
                self.align(1 << power, parser, place)?;
            }
            _ => {
                let bytes = self.number(parser, place, 1..=4096, "a number of bytes up to 4096")?;
                if bytes.count_ones() != 1 {
                    let what = format!("{bytes} is no power of two, which .balign needs");
                    return Err(Mistake { place, what });
                }
                self.align(bytes as u32, parser, place)?;
            }
        }
        Ok(())
    }

    /// Leaves room up to a multiple; what fills it may follow, and the most bytes that it may have.
    fn align(&mut self, bytes: u32, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let has_fill = parser.peek().is_some() && !parser.is_sign(',');
        let fill = has_fill.then(|| self.optional(parser, place, 0)).transpose()?;
        if parser.is_sign(',') {
            parser.next();
        }
        // Without a number, or with 0, there may be all of them.
        let most = self.optional(parser, place, 0)?;
        let most = u32::try_from(most).ok().filter(|most| *most > 0).unwrap_or(bytes);
        self.push(What::Align(bytes, most, fill.map(|fill| fill as u8)), place);
        Ok(())
    }

    /// Reads numbers that are written seven bits at a time, with or without a sign.
    fn leb128(
        &mut self,
        has_sign: bool,
        parser: &mut Parser<'_>,
        place: Place,
    ) -> Result<(), Mistake> {
        let mut all = Vec::new();
        while parser.peek().is_some() {
            let mut value = self.number(parser, place, i64::MIN..=i64::MAX, "a number")?;
            loop {
                let byte = value as u8 & 0x7f;
                let next = if has_sign { value >> 7 } else { (value as u64 >> 7) as i64 };
                let is_last = next == if has_sign && byte & 0x40 != 0 { -1 } else { 0 };
                all.push(if is_last { byte } else { byte | 0x80 });
                if is_last {
                    break;
                }
                value = next;
            }
        }
        self.push(What::Bytes(all), place);
        Ok(())
    }

    /// Defines a name as the rest of a statement.
    pub(super) fn constant(
        &mut self,
        name: &str,
        parser: &mut Parser<'_>,
        place: Place,
    ) -> Result<(), Mistake> {
        let mut value = parser.expression(0, 0)?;
        if parser.peek().is_some() {
            return parser.mistake("expected the end of the line");
        }
        self.fold(&mut value);
        let value = self.known(&value).map_or(value, Expression::Number);
        let item = self.push(What::Label, place);
        self.names.define(name, Definition::Constant(value), item, place)
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
        let what = match value.and_then(|value| self.known(&value)) {
            Some(known) if right.contains(&known) => return Ok(known),
            Some(known) => {
                format!("{known} is not from {} to {}: {wanted}", right.start(), right.end())
            }
            None => format!("expected {wanted}"),
        };
        Err(Mistake { place, what })
    }

    fn values(&mut self, bytes: u32, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let mut values = Vec::new();
        for (mut value, count, at) in parser.list()? {
            let count = self.known(&count).filter(|count| (0..=BYTES_MAX / 8).contains(count));
            let Some(count) = count else {
                return Err(Mistake { place: at, what: "expected how often to repeat it".into() });
            };
            self.fold(&mut value);
            values.extend(std::iter::repeat_n((value, at), count as usize));
        }
        // Each `.` is where its own value lies.
        let is_here = |part: &Expression| matches!(part, Expression::Here);
        if values.iter().any(|(value, _)| value.any(&is_here)) {
            for value in values {
                self.push(What::Values(bytes, vec![value]), place);
            }
            return Ok(());
        }
        // The values may stand in the lines that follow.
        self.push(What::Values(bytes, values), place);
        Ok(())
    }

    /// Reads numbers with a point, as bits of 32 or 64.
    fn reals(&mut self, bytes: u32, parser: &mut Parser<'_>, place: Place) -> Result<(), Mistake> {
        let mut all = Vec::new();
        while parser.peek().is_some() {
            let is_negative = parser.is_sign('-') || parser.is_sign('u');
            if is_negative || parser.is_sign('+') {
                parser.next();
            }
            let value = match parser.peek() {
                Some(Token::Real(value)) => *value,
                Some(Token::Number(value) | Token::Bits(value)) => *value as f64,
                _ => return parser.mistake("expected a number, such as 1.5"),
            };
            parser.next();
            let value = if is_negative { -value } else { value };
            match bytes {
                4 => all.extend((value as f32).to_le_bytes()),
                _ => all.extend(value.to_le_bytes()),
            }
            if parser.is_sign(',') {
                parser.next();
            }
        }
        self.push(What::Bytes(all), place);
        Ok(())
    }

    /// Reads a further number that must be known here, if there is one.
    fn optional(&self, parser: &mut Parser<'_>, place: Place, usual: i64) -> Result<i64, Mistake> {
        match parser.peek() {
            Some(_) => self.number(parser, place, i64::MIN..=i64::MAX, "a number"),
            None => Ok(usual),
        }
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
        self.push(What::Align(align as u32, align as u32, None), place);
        let item = self.push(What::Label, place);
        self.push(What::Space(bytes as u32, 0), place);
        self.section = before;
        self.names.define(&name, Definition::Label, item, place)
    }
}

/// Returns the kind of a section that is named: of instructions by its name or its flags.
fn section(parser: &mut Parser<'_>) -> Section {
    let name = parser.next();
    let begins = |start: &str| matches!(name, Some(Token::Name(name)) if name.starts_with(start));
    let mut is_text = [".text", ".init", ".fini"].into_iter().any(begins) && !begins(".init_array");
    while let Some(token) = parser.next() {
        is_text |= matches!(token, Token::Text(flags) if flags.contains(&b'x'));
    }
    if is_text { Section::Text } else { Section::Data }
}
