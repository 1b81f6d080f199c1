//! Text as instructions, and instructions as text.
//!
//! [`assemble`] takes what courses with Ripes, Venus, RARS and small files for the GNU assembler have in common:
//! RV32IMA with csrs, labels, directives for data, and the pseudo-instructions of the RISC-V Assembly
//! Programmer's Manual. docs/core.md lists them. [`disassemble`] is its reverse.

mod data;
mod disassemble;
mod expression;
mod layout;
mod lex;
mod pseudo;
mod short;
mod table;

pub use disassemble::disassemble;

use crate::Program;

/// Returns the name of a register in the calling convention; the low five bits of its number identify it.
pub fn register_name(number: u8) -> &'static str {
    table::REGISTERS[usize::from(number & 31)]
}

/// Where instructions begin.
pub const TEXT_ADDRESS: u32 = 0x0001_0000;

/// Where data begin, as in Ripes and Venus; `gp` holds it.
pub const DATA_ADDRESS: u32 = 0x1000_0000;

/// Memory behind the data, for a heap, in bytes.
pub const HEAP_BYTES: u32 = 1 << 20;

/// The most mistakes that are listed.
const MISTAKES_MAX: usize = 100;

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// What is wrong in a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {what}", .place.line, .place.column)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What.
    pub what: String,
}

/// Returns the mistake of a text that needs floating point.
fn no_floats(place: Place) -> Mistake {
    Mistake { place, what: "the machine has no floating point (RV32IMA)".into() }
}

/// A program that was assembled.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The program.
    pub program: Program,
    /// The address of each instruction and the line that it comes from, ascending.
    pub lines: Vec<(u32, u32)>,
}

/// Assembles a text with some constants of other names; with `compressed`, into instructions of 16 bits where
/// there are such.
///
/// # Errors
/// All mistakes, by their places.
pub fn assemble(
    text: &str,
    constants: &[(String, i64)],
    compressed: bool,
) -> Result<Assembled, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let statements = lex::statements(text, &mut mistakes);
    let mut source = layout::Source::default();
    // What compilers' start-up code loads into gp.
    source.constant_of("__global_pointer$", DATA_ADDRESS.into());
    constants.iter().for_each(|(name, value)| source.constant_of(name, *value));
    for statement in &statements {
        if let Err(mistake) = source.read(statement) {
            mistakes.push(mistake);
        }
        if mistakes.len() > MISTAKES_MAX {
            break;
        }
    }
    let assembled = source.link(compressed, &mut mistakes);
    mistakes.sort_by_key(|mistake| mistake.place);
    // What stands for two instructions may be wrong in both.
    mistakes.dedup();
    mistakes.truncate(MISTAKES_MAX);
    if mistakes.is_empty() { Ok(assembled) } else { Err(mistakes) }
}

#[cfg(test)]
mod tests;
