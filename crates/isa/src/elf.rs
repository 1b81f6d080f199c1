//! Reads executables of 32 bits for RISC-V.
//!
//! The layout is that of the System V ABI, "ELF Object Files" and "Program Loading", with the numbers
//! of the RISC-V ELF psABI. It is read by hand: four tables of whole numbers are needed, from any
//! address in memory and any offset of the file, and each error is to say what would be right.

use crate::Error;
use crate::machine::{MEMORY_MAX_BYTES, SEGMENTS_MAX};
use crate::program::{Program, Segment, Symbol};
use std::ops::Range;

/// The most symbols that are read.
const SYMBOLS_MAX: usize = 1 << 16;

/// The most bytes of a symbol's name; the rest is cut.
const NAME_MAX_BYTES: usize = 256;

const EXECUTABLE: u16 = 2;
const RISC_V: u16 = 243;
const LOAD: u32 = 1;
const INTERPRETER: u32 = 3;
const MAY_EXECUTE: u32 = 1;
const MAY_WRITE: u32 = 2;
const SYMBOL_TABLE: u32 = 2;
/// `SHF_ALLOC` and `SHF_EXECINSTR`.
const INSTRUCTIONS: u32 = 2 | 4;
/// `SHF_WRITE` and `SHF_ALLOC`.
const VARIABLES: u32 = 1 | 2;
const UNDEFINED: u16 = 0;
/// `STT_FUNC`; those before it are data and what has no type, those after it sections and files.
const FUNCTION: u8 = 2;

/// Where Spike has memory, which it gives to every program.
const SIMULATORS_MEMORY: u32 = 0x8000_0000;

/// A file, read at any offset.
#[derive(Clone, Copy)]
struct File<'a>(&'a [u8]);

impl<'a> File<'a> {
    fn slice(self, what: &'static str, offset: u32, size: u64) -> Result<&'a [u8], Error> {
        let end = usize::try_from(u64::from(offset) + size).ok();
        end.and_then(|end| self.0.get(offset as usize..end)).ok_or_else(|| {
            let length = self.0.len();
            let why = format!("it has {size} bytes from {offset} on, and the file only {length}");
            Error::Elf { what, why }
        })
    }

    /// A table, as its entries.
    fn table(
        self,
        what: &'static str,
        offset: u32,
        count: usize,
        size: u64,
    ) -> Result<impl Iterator<Item = Entry<'a>>, Error> {
        let bytes = self.slice(what, offset, count as u64 * size)?;
        Ok(bytes.chunks_exact(size as usize).map(Entry))
    }
}

/// An entry of a table, or the header. What lies outside it reads 0; each is cut to its size before.
#[derive(Clone, Copy)]
struct Entry<'a>(&'a [u8]);

impl Entry<'_> {
    fn byte(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    fn half(self, at: usize) -> u16 {
        u16::from_le_bytes([self.byte(at), self.byte(at + 1)])
    }

    fn word(self, at: usize) -> u32 {
        u32::from(self.half(at)) | u32::from(self.half(at + 2)) << 16
    }
}

const HEADER_BYTES: u64 = 52;
const PROGRAM_HEADER_BYTES: u16 = 32;
const SECTION_HEADER_BYTES: u16 = 40;
const SYMBOL_BYTES: u64 = 16;

impl Program {
    /// The program in an ELF file: a static executable of 32 bits for RISC-V, linked to fixed
    /// addresses. Its instructions lie from the first to the last section marked executable, or,
    /// where it has no sections, segment.
    ///
    /// The bytes of a segment lie at its virtual address, and again at its physical one where that is
    /// another, from which start-up code copies them. A segment may be written if it or a section in
    /// it says so, or if it says nothing; all may be if there is a symbol `tohost`, since such programs
    /// are made for simulators without protected memory; they also have memory from 0x80000000 on, as in Spike. It
    /// also has the memory up to the stack that a symbol names.
    ///
    /// Symbols are those of functions, of data and without a type; names are cut after 256 bytes.
    ///
    /// # Errors
    /// If it is another file, contradicts itself, or wants more memory than
    /// [`MEMORY_MAX_BYTES`].
    pub fn from_elf(bytes: &[u8]) -> Result<Self, Error> {
        let file = File(bytes);
        let header = header(file)?;
        let sections = sections(file, header)?;
        let Loaded { mut segments, executable } = segments(file, header, &sections)?;
        let in_sections = sections.iter().filter(|section| section.holds_instructions());
        let in_sections = in_sections.map(|section| section.address..section.end());
        let mut ranges: Vec<Range<u64>> = in_sections.collect();
        if ranges.is_empty() {
            ranges = executable;
        }
        let text_bytes = ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let text = span(ranges.into_iter()).ok_or(Error::NoText)?;
        let last = u32::try_from(text.end).map_err(|_| Error::Segment {
            address: text.start as u32,
            why: "ends behind the last address; instructions must end at 0xfffffffe or before",
        })?;
        let symbols = symbols(file, &sections)?;
        let has_host = symbols.iter().any(|symbol| symbol.name == "tohost");
        if has_host {
            segments.iter_mut().for_each(|segment| segment.writable = true);
        }
        let mut program = Self {
            entry: header.word(24),
            segments,
            text: text.start as u32..last,
            text_bytes: u32::try_from(text_bytes).unwrap_or(u32::MAX),
            symbols,
            sparse_from: has_host.then_some(SIMULATORS_MEMORY),
        };
        program.add_own_stack();
        Ok(program)
    }
}

/// The ELF header, if it is that of a program for this machine.
fn header(file: File<'_>) -> Result<Entry<'_>, Error> {
    let header = Entry(file.slice("the header", 0, HEADER_BYTES)?);
    let must = |what, value: u32, wanted: u32, right| {
        let wrong = Error::Wrong { what, value: value.into(), right };
        if value == wanted { Ok(()) } else { Err(wrong) }
    };
    let magic =
        u32::from_be_bytes([header.byte(0), header.byte(1), header.byte(2), header.byte(3)]);
    must("the start of the file", magic, 0x7f45_4c46, "0x7f454c46, which begins an ELF file")?;
    let right = "1, for RV32; RV64 is not supported (build with -march=rv32imac -mabi=ilp32)";
    must("the file's class", header.byte(4).into(), 1, right)?;
    must("the file's byte order", header.byte(5).into(), 1, "1, the little end first")?;
    must("the file's version", header.byte(6).into(), 1, "1")?;
    must("the file's machine", header.half(18).into(), RISC_V.into(), "0xf3, RISC-V")?;
    let right = "2, an executable at fixed addresses (link with -static and -no-pie)";
    must("the file's type", header.half(16).into(), EXECUTABLE.into(), right)?;
    Ok(header)
}

/// What is loaded.
#[derive(Default)]
struct Loaded {
    segments: Vec<Segment>,
    /// Where those lie that may be executed.
    executable: Vec<Range<u64>>,
}

fn segments(file: File<'_>, header: Entry<'_>, sections: &[Section]) -> Result<Loaded, Error> {
    let (offset, size, count) = (header.word(28), header.half(42), header.half(44));
    if count > 0 && size != PROGRAM_HEADER_BYTES {
        let (what, right) = ("the size of a program header", "0x20");
        return Err(Error::Wrong { what, value: size.into(), right });
    }
    let what = "the table of program headers";
    let entries = file.table(what, offset, count.into(), PROGRAM_HEADER_BYTES.into())?;
    let (mut loaded, mut images, mut total) = (Loaded::default(), Vec::new(), 0);
    for entry in entries {
        if entry.word(0) == INTERPRETER {
            let why = "it asks for a dynamic linker; link it with -static".to_string();
            return Err(Error::Elf { what: "a program header", why });
        }
        let (address, size, flags) = (entry.word(8), entry.word(20), entry.word(24));
        if entry.word(0) != LOAD || size == 0 {
            continue;
        }
        // Before anything is copied: headers may name the same bytes again and again.
        total += u64::from(size);
        if total > MEMORY_MAX_BYTES {
            return Err(Error::TooLarge { what: "memory", bytes: total, most: MEMORY_MAX_BYTES });
        }
        if loaded.segments.len() == SEGMENTS_MAX {
            let (what, value) = ("the number of segments", SEGMENTS_MAX as u64 + 1);
            return Err(Error::Wrong { what, value, right: "at most 64" });
        }
        let in_file = entry.word(16);
        if in_file > size {
            let why = "has more bytes in the file than in memory; it must have at most as many";
            return Err(Error::Segment { address, why });
        }
        let bytes = file.slice("a segment", entry.word(4), in_file.into())?.to_vec();
        let range = u64::from(address)..u64::from(address) + u64::from(size);
        let holds_variables = sections.iter().any(|section| {
            section.flags & VARIABLES == VARIABLES && range.contains(&section.address)
        });
        let writable = flags & MAY_WRITE != 0 || flags == 0 || holds_variables;
        if flags & MAY_EXECUTE != 0 || flags == 0 {
            loaded.executable.push(range);
        }
        let physical = entry.word(12);
        // Linkers that know of none write 0.
        if physical != address && physical != 0 && in_file > 0 {
            let image = Segment { address: physical, size: in_file, writable: false, bytes };
            images.push(image.clone());
            loaded.segments.push(Segment { address, size, writable, ..image });
        } else {
            loaded.segments.push(Segment { address, bytes, size, writable });
        }
    }
    add_images(&mut loaded.segments, images, total);
    end_at_words(&mut loaded.segments);
    Ok(loaded)
}

/// Ends every segment with a whole word, since functions on strings read words.
fn end_at_words(segments: &mut [Segment]) {
    let starts: Vec<u64> = segments.iter().map(|segment| segment.place().0).collect();
    for segment in segments {
        let (_, end) = segment.place();
        let rest = end..end.next_multiple_of(4);
        if rest.end <= 1 << 32 && !starts.iter().any(|start| rest.contains(start)) {
            segment.size += (rest.end - rest.start) as u32;
        }
    }
}

/// Adds what lies at physical addresses, as far as there is room.
fn add_images(segments: &mut Vec<Segment>, images: Vec<Segment>, mut total: u64) {
    for image in images {
        let (start, end) = image.place();
        let meets = |other: &Segment| other.place().0 < end && start < other.place().1;
        total += u64::from(image.size);
        if end <= 1 << 32
            && total <= MEMORY_MAX_BYTES
            && segments.len() < SEGMENTS_MAX
            && !segments.iter().any(meets)
        {
            segments.push(image);
        }
    }
}

/// What is needed of a section header.
struct Section {
    kind: u32,
    flags: u32,
    address: u64,
    offset: u32,
    size: u32,
    link: u32,
}

impl Section {
    fn end(&self) -> u64 {
        self.address + u64::from(self.size)
    }

    fn holds_instructions(&self) -> bool {
        self.flags & INSTRUCTIONS == INSTRUCTIONS && self.size > 0
    }
}

fn sections(file: File<'_>, header: Entry<'_>) -> Result<Vec<Section>, Error> {
    let (offset, size, count) = (header.word(32), header.half(46), header.half(48));
    if count > 0 && size != SECTION_HEADER_BYTES {
        let (what, right) = ("the size of a section header", "0x28");
        return Err(Error::Wrong { what, value: size.into(), right });
    }
    let what = "the table of section headers";
    let entries = file.table(what, offset, count.into(), SECTION_HEADER_BYTES.into())?;
    let section = |entry: Entry<'_>| Section {
        kind: entry.word(4),
        flags: entry.word(8),
        address: entry.word(12).into(),
        offset: entry.word(16),
        size: entry.word(20),
        link: entry.word(24),
    };
    Ok(entries.map(section).collect())
}

/// From where the first begins to where the last ends.
fn span(ranges: impl Iterator<Item = Range<u64>>) -> Option<Range<u64>> {
    ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
}

fn symbols(file: File<'_>, sections: &[Section]) -> Result<Vec<Symbol>, Error> {
    let Some(table) = sections.iter().find(|section| section.kind == SYMBOL_TABLE) else {
        return Ok(Vec::new());
    };
    let Some(names) = sections.get(table.link as usize) else {
        let why = format!("its names are to be in section {}, which is not there", table.link);
        return Err(Error::Elf { what: "the table of symbols", why });
    };
    let names = file.slice("the names of symbols", names.offset, names.size.into())?;
    let count = table.size as usize / SYMBOL_BYTES as usize;
    if count > SYMBOLS_MAX {
        let (what, right) = ("the number of symbols", "at most 0x10000 (strip it)");
        return Err(Error::Wrong { what, value: count as u64, right });
    }
    let entries = file.table("the table of symbols", table.offset, count, SYMBOL_BYTES)?;
    let symbol = |entry: Entry<'_>| {
        let kind = entry.byte(12) & 15;
        let name = name(names, entry.word(0))?;
        // Those of `$x` and the like tell instructions from data, and name nothing.
        let names_a_place = kind <= FUNCTION && entry.half(14) != UNDEFINED;
        (names_a_place && !name.starts_with('$')).then(|| Symbol {
            name,
            address: entry.word(4),
            size: entry.word(8),
        })
    };
    let mut symbols: Vec<Symbol> = entries.filter_map(symbol).collect();
    symbols.sort_by_key(|symbol| symbol.address);
    Ok(symbols)
}

/// The name that begins at an offset; `None` if it is empty or there is none.
fn name(names: &[u8], offset: u32) -> Option<String> {
    let bytes = names.get(offset as usize..)?;
    let bytes = bytes.get(..NAME_MAX_BYTES).unwrap_or(bytes);
    let bytes = bytes.split(|&byte| byte == 0).next()?;
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}
