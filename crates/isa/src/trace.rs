//! Each step as a line of text, for people and for awk: as many fields in every line, `-` where there
//! is nothing to say.
//!
//! ```
//! use isa::encode::{A0, ZERO, addi, ret};
//! use isa::{Machine, Program, Setup, trace};
//!
//! let program = Program::from_words(0x1000, &[addi(A0, ZERO, 1), ret()]);
//! let mut machine = Machine::new(&program, &Setup::default())?;
//! let line = trace::step(&mut machine, &program).map(|line| line.to_string());
//! let line = line.unwrap_or_default();
//! assert_eq!(line.split_whitespace().collect::<Vec<_>>(), [
//!     "1", "0x00001000", "4", "00100513", "-", "-", "-", "-",
//! ]);
//! # Ok::<(), isa::Error>(())
//! ```

use crate::{Machine, Program, Step, Stopped, Symbol};
use std::fmt;

/// The names of the fields.
pub const FIELDS: [&str; 8] =
    ["step", "address", "bytes", "word", "next", "access", "trap", "place"];

/// What the fields mean, each on a line that begins with `#`.
pub const LEGEND: &str = "\
# step     its number, from 1
# address  of the instruction
# bytes    2 or 4; 0 where nothing could be fetched
# word     the instruction, in hexadecimal, as it lay in memory before the step
# next     where the pc goes, if not to the following instruction
# access   r or w, the bytes, @ and the address: data that was loaded or stored, or was to be
# trap     the trap taken in its place: its cause, : and what mtval holds
# place    the symbol that the address belongs to, and how many bytes behind it
";

/// A step with what is shown of it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'p> {
    number: u64,
    step: Step,
    word: Option<u32>,
    symbol: Option<&'p Symbol>,
}

impl Line<'_> {
    /// The step.
    pub fn step(&self) -> &Step {
        &self.step
    }
}

/// Carries out one step of a program and keeps what is shown of it.
///
/// # Errors
/// Why there is no further step.
pub fn step<'p>(machine: &mut Machine, program: &'p Program) -> Result<Line<'p>, Stopped> {
    let pc = machine.pc();
    // Before the step: a store may change what was carried out.
    let half = |address| {
        let bytes = machine.bytes(address, 2)?.first_chunk().copied()?;
        Some(u32::from(u16::from_le_bytes(bytes)))
    };
    let (low, high) = (half(pc), half(pc.wrapping_add(2)));
    let step = machine.step()?;
    let word = match step.size {
        2 => low,
        4 => low.zip(high).map(|(low, high)| low | high << 16),
        _ => None,
    };
    Ok(Line { number: machine.steps(), step, word, symbol: program.symbol_at(pc) })
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { pc, next, size, .. } = self.step;
        let nothing = || "-".to_string();
        let digits = 2 * usize::from(size);
        let word = self.word.map_or_else(nothing, |word| format!("{word:0digits$x}"));
        let next = if self.step.redirects() { format!("{next:#010x}") } else { nothing() };
        let access = self.step.access.map_or_else(nothing, |access| {
            let kind = if access.write { 'w' } else { 'r' };
            format!("{kind}{}@{:#010x}", access.bytes, access.address)
        });
        let trap = self.step.trap.map_or_else(nothing, |trap| {
            format!("{}:{:#x}", trap.cause.to_string().replace(' ', "-"), trap.value)
        });
        let place = self.symbol.map_or_else(nothing, |symbol| {
            // A name comes from a file and may hold anything.
            let name: String =
                symbol.name.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect();
            match pc.wrapping_sub(symbol.address) {
                0 => name,
                behind => format!("{name}+{behind:#x}"),
            }
        });
        let number = self.number;
        write!(
            out,
            "{number:>8} {pc:#010x} {size} {word:>8} {next:<10} {access:<13} {trap} {place}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, step};
    use crate::encode::{A0, A1, ZERO, add, ecall, jal, lui, sw};
    use crate::{Machine, Program, Setup, Symbol};

    fn lines(program: &Program, count: usize) -> Vec<String> {
        let mut machine = Machine::new(program, &Setup::default()).unwrap();
        (0..count).map(|_| step(&mut machine, program).unwrap().to_string()).collect()
    }

    #[test]
    fn every_line_has_all_fields() {
        let name = "a b\n\u{1b}é".to_string();
        let code = [lui(A0, 1), sw(A1, 8, A0), jal(ZERO, 8), ecall(), add(A0, A0, A1)];
        let mut program = Program::from_words(0x1000, &code);
        program.symbols = vec![Symbol { name, address: 0x1000, size: 8 }];
        let lines = lines(&program, 4);
        for line in &lines {
            assert_eq!(line.split_whitespace().count(), FIELDS.len(), "{line}");
        }
        let fields: Vec<Vec<&str>> =
            lines.iter().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(fields[0][7], "a?b???");
        assert_eq!((fields[1][5], fields[1][7]), ("w4@0x00001008", "a?b???+0x4"));
        assert_eq!((fields[2][4], fields[2][7]), ("0x00001010", "-"));
        assert_eq!((fields[3][0], fields[3][1], fields[3][4]), ("4", "0x00001010", "-"));
    }

    #[test]
    fn a_trap_is_named_with_its_value() {
        // mtvec is 0x1000; the ecall goes there.
        let code = [lui(A0, 1), crate::encode::csrrw(ZERO, crate::csr::MTVEC, A0), ecall()];
        let lines = lines(&Program::from_words(0x1000, &code), 3);
        let fields: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(fields[6], "environment-call-from-machine-mode:0x0");
        assert_eq!(fields[4], "0x00001000");
    }
}
