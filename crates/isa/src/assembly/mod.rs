//! Text as instructions, and instructions as text.
//!
//! [`assemble`] takes what courses with Ripes, Venus, RARS, QtRvSim and small files for the GNU assembler have in
//! common: RV32IMAC with csrs, labels, directives for data, macros, and the pseudo-instructions of the RISC-V
//! Assembly Programmer's Manual. docs/core.md lists them. [`disassemble`] is its reverse.

mod data;
mod disassemble;
mod expand;
mod expression;
mod image;
mod layout;
mod lex;
mod lines;
mod macros;
mod names;
mod preprocess;
mod pseudo;
mod short;
mod table;
mod text;

pub use disassemble::disassemble;
pub use text::Text;

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

/// A place in a text; lines and columns are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the file, in the order in which they were read.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Place {
    const START: Place = Place { file: 0, line: 1, column: 1 };
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

/// All that is wrong in some texts.
#[derive(Clone, Debug)]
pub struct Mistakes {
    /// The first, by their places.
    pub listed: Vec<Mistake>,
    /// How many there are.
    pub count: usize,
    /// The names of the files.
    pub files: Vec<String>,
    /// What was decided where a text can be read in two ways.
    pub notes: Vec<Mistake>,
}

/// Returns no text: what is assembled stands alone.
///
/// # Errors
/// Always: the name of what is not there.
pub fn alone(name: &str, _: &str) -> Result<Text, String> {
    Err(format!("{name} cannot be read here"))
}

/// Returns the file that another one names: the name, and that of the file that has it. Without the latter, the name
/// is that of a function which no file defines.
pub type Reader<'a> = &'a dyn Fn(&str, &str) -> Result<Text, String>;

/// A program that was assembled.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The program.
    pub program: Program,
    /// The address of each instruction and the place that it comes from, ascending.
    pub lines: Vec<(u32, Place)>,
    /// The names of the files.
    pub files: Vec<String>,
    /// What was decided where a text can be read in two ways.
    pub notes: Vec<Mistake>,
}

/// Assembles texts into one program, with some constants of other names; with `compressed`, into instructions of 16
/// bits where there are such. `read` finds the texts that they include or import.
///
/// # Errors
/// All mistakes, by their places.
pub fn assemble(
    texts: &[Text],
    constants: &[(String, i64)],
    compressed: bool,
    read: Reader<'_>,
) -> Result<Assembled, Mistakes> {
    let mut source = layout::Source::default();
    // What compilers' start-up code loads into gp.
    source.names.give("__global_pointer$", DATA_ADDRESS.into());
    table::devices().for_each(|(name, value)| source.names.give(name, value));
    constants.iter().for_each(|(name, value)| source.names.give(name, *value));
    let expander = macros::Expander::new(source, constants, read);
    let (source, files, mut mistakes) = expander.read_all(texts);
    let assembled = source.link(compressed, &mut mistakes);
    mistakes.iter_mut().for_each(|one| one.what = text::shown(&one.what));
    mistakes.sort_by_key(|mistake| mistake.place);
    // What stands for two instructions may be wrong in both.
    mistakes.dedup();
    if mistakes.is_empty() {
        return Ok(Assembled { files, ..assembled });
    }
    let count = mistakes.len();
    mistakes.truncate(MISTAKES_MAX);
    Err(Mistakes { listed: mistakes, count, files, notes: assembled.notes })
}

#[cfg(test)]
pub(crate) mod tests;
