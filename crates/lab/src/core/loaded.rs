//! A program with what it starts from: its files, its input and its arguments.

use super::label;
use isa::assembly::{Place, disassemble};
use isa::encode::{A0, A1, SP};
use isa::{Folder, Machine, Program};
use model::ProgramFile;

/// A program, ready to run.
pub(super) struct Loaded {
    pub(super) program: Program,
    /// The places in the texts that it comes from, by addresses.
    pub(super) lines: Vec<(u32, Place)>,
    /// The names of the texts.
    pub(super) files: Vec<String>,
    /// What was decided where they can be read in two ways.
    pub(super) notes: Vec<String>,
    pub(super) file: ProgramFile,
    /// What it can read.
    pub(super) input: Vec<u8>,
    /// The folder whose files it can read, if any.
    pub(super) folder: Option<Folder>,
    /// Its name and its arguments; empty without arguments.
    pub(super) arguments: Vec<String>,
    /// Whether it goes on behind an `ebreak`.
    pub(super) skips_ebreak: bool,
}

impl Loaded {
    pub(super) fn start(&self) -> anyhow::Result<Machine> {
        let mut machine =
            experiments::start(&self.program, &self.file).map_err(anyhow::Error::msg)?;
        machine.set_input(self.input.clone());
        machine.skip_breakpoints(self.skips_ebreak);
        if let Some(folder) = &self.folder {
            machine.set_folder(folder.clone());
        }
        self.push_arguments(&mut machine);
        Ok(machine)
    }

    /// Puts the program's name and arguments above the stack pointer, where start-up code for Linux finds them, and
    /// into `a0` and `a1`, where `main` does. Without arguments there are 16 bytes of zeros.
    fn push_arguments(&self, machine: &mut Machine) {
        let mut at = machine.register(SP);
        let mut words = Vec::new();
        for text in &self.arguments {
            let bytes = [text.as_bytes(), &[0]].concat();
            at = at.saturating_sub(bytes.len() as u32);
            machine.store_bytes(at, bytes);
            words.push(at);
        }
        let count = words.len() as u32;
        words.insert(0, count);
        words.push(0);
        let sp = at.saturating_sub(4 * words.len() as u32) & !15;
        machine.store_bytes(sp, words.into_iter().flat_map(u32::to_le_bytes).collect());
        machine.set_register(SP, sp);
        if count > 0 {
            machine.set_register(A0, count);
            machine.set_register(A1, sp + 4);
        }
    }

    /// Returns the line of the text that an instruction comes from.
    pub(super) fn line(&self, address: u32) -> Option<u32> {
        let found = self.lines.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        self.lines.get(found).map(|(_, place)| place.line)
    }

    /// Returns the line of an instruction in words, with its file where there are several.
    pub(super) fn line_said(&self, address: u32) -> Option<String> {
        let found = self.lines.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        let (_, place) = self.lines.get(found)?;
        let file = self.files.get(place.file as usize).filter(|_| self.files.len() > 1);
        let file = file.map_or_else(String::new, |file| format!(" of {file}"));
        Some(format!("line {}{file}", place.line))
    }

    /// Returns an instruction and its bytes as memory has it.
    pub(super) fn code(&self, machine: &Machine, address: u32) -> (String, u8) {
        let half = |address| Some(u16::from_le_bytes(*machine.bytes(address, 2)?.first_chunk()?));
        let Some(low) = half(address) else { return ("(no memory)".into(), 4) };
        let (word, size) = match half(address.wrapping_add(2)).filter(|_| low & 3 == 3) {
            Some(high) => (u32::from(low) | u32::from(high) << 16, 4),
            None => (low.into(), 2),
        };
        (disassemble(word, address, |to| label(&self.program, to)), size)
    }

    /// Returns the symbol of an address and the bytes behind it; empty without one.
    pub(super) fn place(&self, address: u32) -> String {
        let Some(symbol) = self.program.symbol_at(address) else { return String::new() };
        let name = wording::short(&symbol.name, 60);
        match address - symbol.address {
            0 => name,
            behind => format!("{name}+{behind:#x}"),
        }
    }
}
