//! The program headers, symbols and unwinding tables of a program's files.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EhFrameOffset, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::read::{Relocation, RelocationTarget};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable};
use object::{SegmentFlags, SymbolKind, elf};
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use sys::proc::wait::Mapping;

/// The largest file whose symbols are read, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// The number of symbols before an address among which one is looked for that covers it.
const NESTED_MAX: usize = 16;

/// The number of functions that jump to the next one instead of calling it.
const JUMPS_MAX: u32 = 2;

/// The bytes at the beginning of a function among which it takes its part of the stack.
const PROLOGUE_BYTES: usize = 64;

/// The stack pointer, the frame pointer and the return address, as unwinding tables number them.
const STACK_POINTER: Register = Register(if cfg!(target_arch = "aarch64") { 31 } else { 7 });
const FRAME_POINTER: Register = Register(if cfg!(target_arch = "aarch64") { 29 } else { 6 });
const RETURN_ADDRESS: Register = Register(if cfg!(target_arch = "aarch64") { 30 } else { 16 });

/// A function or a variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) name: String,
    /// The source file of a local symbol; empty where it is not known.
    pub(super) source: String,
}

/// What a call instruction calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// What lies at an address of the same file.
    Own(u64),
    /// A function of any file, by its name.
    Named(String),
    /// What a register or a word of memory holds.
    Indirect,
}

/// Where a function's caller is, by distances from the function's stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// The return address.
    pub(super) returns_at: i64,
    /// The caller's stack pointer.
    pub(super) stack: i64,
}

/// What an unwinding table says of a function's caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Known(Caller),
    /// By the frame pointer, which is not known. The stack pointer is below the registers that the function saved,
    /// in `saved` bytes, by what it takes at its beginning.
    ByFrame {
        begin: u64,
        saved: i64,
    },
}

/// What is read of one file.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    functions: Vec<Symbol>,
    variables: Vec<Symbol>,
    loads: Vec<Load>,
    /// What the words point to that the loader fills in, by their addresses.
    words: HashMap<u64, Callee>,
    unwinding: Unwinding,
    /// Go made it.
    is_of_go: bool,
}

/// A part of a file that is loaded (`PT_LOAD`).
#[derive(Debug)]
struct Load {
    offset: u64,
    address: u64,
    size: u64,
    /// Its bytes if it holds code.
    code: Vec<u8>,
}

impl Load {
    fn holds(&self, address: u64) -> bool {
        self.address <= address && address - self.address < self.size
    }
}

/// The table `.eh_frame`.
#[derive(Debug, Default)]
struct Unwinding {
    bytes: Vec<u8>,
    bases: BaseAddresses,
    /// Where each function begins, its length, and the place of its entry.
    entries: Vec<(u64, u64, usize)>,
}

/// Returns the bytes of a program's file. Memory that processes share is mapped from /dev/zero, which never ends, and
/// data can be much longer than programs are.
fn program(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let mut bytes = vec![0; elf::ELFMAG.len()];
    file.read_exact(&mut bytes).ok().filter(|()| bytes == elf::ELFMAG)?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Symbols {
    /// Reads what a file says of itself; `None` where it cannot be read or is no program.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let bytes = program(path)?;
        let file = object::File::parse(&*bytes).ok()?;
        let mut symbols = Symbols {
            loads: file.segments().map(|segment| load(&segment)).collect(),
            words: words(&file).unwrap_or_default(),
            unwinding: Unwinding::read(&file).unwrap_or_default(),
            is_of_go: file.section_by_name(".go.buildinfo").is_some(),
            ..Symbols::default()
        };
        let mut source = String::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            let into = match symbol.kind() {
                SymbolKind::Text => &mut symbols.functions,
                SymbolKind::Data => &mut symbols.variables,
                SymbolKind::File => {
                    source = name.to_string();
                    continue;
                }
                _ => continue,
            };
            if symbol.address() > 0 && !name.is_empty() {
                let name = name.split('@').next().unwrap_or(name).to_string();
                let source = if symbol.is_local() { source.clone() } else { String::new() };
                into.push(Symbol { address: symbol.address(), size: symbol.size(), name, source });
            }
        }
        for list in [&mut symbols.functions, &mut symbols.variables] {
            // Of several names of one address, that with the fewest underscores in front is the public one.
            list.sort_by_key(|one| (one.address, one.name.len()));
        }
        Some(symbols)
    }

    /// Returns the address, as the file counts it, of an address of a process that has mapped the file: by the program
    /// headers, whose addresses all have the same distance from those of the process. `None` where the file's mappings
    /// contradict that.
    pub(super) fn address(&self, address: u64, file: &str, mappings: &[Mapping]) -> Option<u64> {
        let first = self.loads.first()?;
        let own = mappings.iter().filter(|one| one.file == file && one.start <= address);
        let holding = own.clone().find(|one| address < one.end);
        let is_first = |one: &&Mapping| {
            one.offset <= first.offset && first.offset - one.offset < one.end - one.start
        };
        let begins = own.filter(is_first).map(|one| one.start + (first.offset - one.offset));
        let addresses = begins.filter_map(|begin| (address - begin).checked_add(first.address));
        let mut agreeing = addresses.filter(|own| {
            let Some(load) = self.loads.iter().find(|load| load.holds(*own)) else { return false };
            let offset = load.offset + (own - load.address);
            holding.is_none_or(|one| one.offset + (address - one.start) == offset)
        });
        agreeing.next()
    }

    /// Reports whether Go made the file, also where it has no symbols.
    pub(super) fn is_of_go(&self) -> bool {
        self.is_of_go
    }

    /// Returns the function that holds an address.
    pub(super) fn function(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|one| one.address <= address);
        let start = self.functions[..after].last()?.address;
        let first = self.functions.partition_point(|one| one.address < start);
        let one = &self.functions[first];
        (one.size == 0 || address - one.address < one.size).then_some(one.name.as_str())
    }

    /// Returns the smallest variable that has all bytes from `address` to `address + bytes`.
    pub(super) fn variable(&self, address: u64, bytes: u64) -> Option<&Symbol> {
        let after = self.variables.partition_point(|one| one.address <= address);
        let end = address + bytes;
        let nested = self.variables[..after].iter().rev().take(NESTED_MAX);
        nested
            .filter(|one| end <= one.address + one.size)
            .min_by_key(|one| (one.size, one.name.len()))
    }

    /// Returns all variables.
    pub(super) fn variables(&self) -> &[Symbol] {
        &self.variables
    }

    /// Returns where the function that holds an address begins and ends.
    fn range(&self, address: u64) -> Option<Range<u64>> {
        let after = self.functions.partition_point(|one| one.address <= address);
        let symbol = self.functions[..after].iter().rev().take(NESTED_MAX);
        let mut symbol = symbol.filter(|one| address - one.address < one.size);
        if let Some(one) = symbol.next() {
            return Some(one.address..one.address + one.size);
        }
        let (begin, length, _) = self.unwinding.entry(address)?;
        Some(begin..begin + length)
    }

    fn code(&self, address: u64) -> Option<(&[u8], usize)> {
        let load = self.loads.iter().find(|load| load.holds(address))?;
        Some((&load.code, (address - load.address) as usize))
    }

    /// Returns where the caller of the function at an address is: in one of these places. None where the tables do
    /// not say, or say it by a register that is not known.
    pub(super) fn callers(&self, address: u64) -> Vec<Caller> {
        let at = |bytes: i64| Caller { returns_at: bytes - 8, stack: bytes };
        match self.unwinding.rule(address) {
            Some(Rule::Known(caller)) => vec![caller],
            Some(Rule::ByFrame { begin, saved }) => match self.reserved(begin) {
                Some(bytes) => vec![at(saved + bytes)],
                // A register is pushed to align the stack where a function needs no more of it.
                None => vec![at(saved), at(saved + 8)],
            },
            None => Vec::new(),
        }
    }

    /// Returns how much of the stack the function that begins at an address takes for its variables.
    fn reserved(&self, begin: u64) -> Option<i64> {
        let (code, place) = self.code(begin)?;
        let prologue = code.get(place..(place + PROLOGUE_BYTES).min(code.len()))?;
        prologue.windows(7).find_map(|bytes| match *bytes {
            [0x48, 0x83, 0xec, bytes, ..] => Some(i64::from(bytes)),
            [0x48, 0x81, 0xec, a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
            _ => None,
        })
    }

    /// Returns what the instruction before an address calls; `None` where it is no call, so that the address is not
    /// one to which a function returns.
    pub(super) fn called_before(&self, address: u64) -> Option<Callee> {
        let (code, place) = self.code(address)?;
        let before = |back: usize| code.get(place.checked_sub(back)?).copied();
        let distance = |place: usize| {
            let bytes = code.get(place..place + 4)?;
            Some(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)))
        };
        if cfg!(target_arch = "x86_64") {
            // E8 and a distance, or FF /2 with an operand of 0 to 5 bytes.
            if before(5) == Some(0xe8) {
                let target = address.checked_add_signed(distance(place - 4)?)?;
                if self.code(target).is_some_and(|(code, _)| !code.is_empty()) {
                    return Some(self.callee(target));
                }
            }
            if before(6) == Some(0xff) && before(5) == Some(0x15) {
                let word = address.checked_add_signed(distance(place - 4)?)?;
                return Some(self.words.get(&word).cloned().unwrap_or(Callee::Indirect));
            }
            let indirect = |back: usize| {
                before(back) == Some(0xff)
                    && before(back - 1).is_some_and(|modrm| modrm >> 3 & 7 == 2)
            };
            (2..=7).any(indirect).then_some(Callee::Indirect)
        } else if cfg!(target_arch = "aarch64") {
            let word = distance(place.checked_sub(4)?)? as u32;
            if word >> 26 == 0x25 {
                let words = i64::from((word << 6) as i32 >> 6);
                return Some(Callee::Own(address.checked_add_signed(4 * words - 4)?));
            }
            (word & 0xffff_fc1f == 0xd63f_0000).then_some(Callee::Indirect)
        } else {
            None
        }
    }

    /// Returns what a call of an address calls: an import where a jump by a word of imports lies there.
    fn callee(&self, target: u64) -> Callee {
        let Some((code, place)) = self.code(target) else { return Callee::Own(target) };
        let rest = code.get(place..).unwrap_or_default();
        let (marks, rest) = match rest.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]) {
            Some(rest) => (4, rest),
            None => (0, rest),
        };
        let (prefix, rest) = match rest.strip_prefix(&[0xf2]) {
            Some(rest) => (1, rest),
            None => (0, rest),
        };
        if let [0xff, 0x25, a, b, c, d, ..] = *rest {
            let distance = i64::from(i32::from_le_bytes([a, b, c, d]));
            let word = (target + marks + prefix + 6).checked_add_signed(distance);
            if let Some(callee) = word.and_then(|word| self.words.get(&word)) {
                return callee.clone();
            }
        }
        Callee::Own(target)
    }

    /// Returns the names of the function that begins at an address.
    pub(super) fn named(&self, callee: &Callee) -> Option<String> {
        match callee {
            Callee::Named(name) => Some(name.clone()),
            Callee::Own(address) => self.function(*address).map(String::from),
            Callee::Indirect => None,
        }
    }

    /// Reports whether a call leads into the function that holds `address`, directly or by jumps from one function to
    /// the next. `is_own` says that the call is in the same file.
    pub(super) fn is_led_to(&self, address: u64, callee: &Callee, is_own: bool) -> bool {
        let entry = match callee {
            Callee::Own(entry) => is_own.then_some(*entry),
            Callee::Named(name) => {
                self.functions.iter().find(|one| one.name == *name).map(|one| one.address)
            }
            Callee::Indirect => None,
        };
        let reaches = |entry| Some(self.reaches(entry, self.range(address)?, JUMPS_MAX));
        entry.and_then(reaches).unwrap_or(false)
    }

    fn reaches(&self, entry: u64, function: Range<u64>, jumps: u32) -> bool {
        if function.contains(&entry) {
            return true;
        }
        let Some(range) = self.range(entry).filter(|_| jumps > 0) else { return false };
        self.jumps(&range).into_iter().any(|to| self.reaches(to, function.clone(), jumps - 1))
    }

    /// Returns where the jumps of a function lead that leave it.
    fn jumps(&self, range: &Range<u64>) -> Vec<u64> {
        let Some((code, place)) = self.code(range.start) else { return Vec::new() };
        let length = (range.end - range.start) as usize;
        let bytes = code.get(place..(place + length).min(code.len())).unwrap_or_default();
        let jump = |(at, window): (usize, &[u8])| {
            // E9, or 0F 8x, and a distance.
            let is_jump =
                window[0] == 0xe9 || at > 0 && bytes[at - 1] == 0x0f && window[0] >> 4 == 8;
            let distance = i32::from_le_bytes(window[1..5].try_into().ok()?);
            let next = range.start + at as u64 + 5;
            let target = next.checked_add_signed(distance.into()).filter(|_| is_jump)?;
            (!range.contains(&target)).then_some(target)
        };
        if cfg!(target_arch = "x86_64") {
            bytes.windows(5).enumerate().filter_map(jump).collect()
        } else {
            Vec::new()
        }
    }
}

fn load<'d>(segment: &impl ObjectSegment<'d>) -> Load {
    let (offset, _) = segment.file_range();
    let is_code = matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.0 & elf::PF_X.0 != 0);
    let code = if is_code { segment.data().unwrap_or_default().to_vec() } else { Vec::new() };
    Load { offset, address: segment.address(), size: segment.size(), code }
}

fn words(file: &object::File<'_>) -> Option<HashMap<u64, Callee>> {
    let names = file.dynamic_symbol_table();
    let callee = |(place, relocation): (u64, Relocation)| {
        let callee = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let name = names.as_ref()?.symbol_by_index(index).ok()?.name().ok()?;
                Callee::Named(name.to_string())
            }
            RelocationTarget::Absolute => Callee::Own(u64::try_from(relocation.addend()).ok()?),
            _ => return None,
        };
        Some((place, callee))
    };
    Some(file.dynamic_relocations()?.filter_map(callee).collect())
}

impl Unwinding {
    fn read(file: &object::File<'_>) -> Option<Self> {
        let section = file.section_by_name(".eh_frame")?;
        let bytes = section.data().ok()?.to_vec();
        let bases = BaseAddresses::default().set_eh_frame(section.address());
        let bases = match file.section_by_name(".text") {
            Some(text) => bases.set_text(text.address()),
            None => bases,
        };
        let table = EhFrame::new(&bytes, NativeEndian);
        let mut entries = Vec::new();
        let mut all = table.entries(&bases);
        while let Ok(Some(entry)) = all.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let entry = partial.parse(EhFrame::cie_from_offset);
            entries.extend(entry.map(|one| (one.initial_address(), one.len(), one.offset())));
        }
        entries.sort_unstable();
        Some(Unwinding { bytes, bases, entries })
    }

    fn entry(&self, address: u64) -> Option<(u64, u64, usize)> {
        let after = self.entries.partition_point(|(begin, ..)| *begin <= address);
        self.entries[..after].last().copied().filter(|(begin, length, _)| address - begin < *length)
    }

    fn rule(&self, address: u64) -> Option<Rule> {
        let (begin, _, place) = self.entry(address)?;
        let table = EhFrame::new(&self.bytes, NativeEndian);
        let place = EhFrameOffset(place);
        let entry = table.fde_from_offset(&self.bases, place, EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(&table, &self.bases, &mut context, address).ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        match (register, row.register(RETURN_ADDRESS)) {
            (STACK_POINTER, Some(RegisterRule::Offset(from))) => {
                Some(Rule::Known(Caller { returns_at: offset + from, stack: offset }))
            }
            (FRAME_POINTER, _) if cfg!(target_arch = "x86_64") => {
                let saved = row.registers().filter_map(|(_, rule)| match rule {
                    RegisterRule::Offset(from) => Some(-from),
                    _ => None,
                });
                Some(Rule::ByFrame { begin, saved: saved.max()? })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::proc::wait::mappings;

    #[test]
    fn this_test_finds_its_own_function_and_variable() {
        static MARK: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(7);
        let own = std::env::current_exe().unwrap();
        let symbols = Symbols::read(&own).unwrap();
        let mapped = mappings(sys::process::pid());
        let address = |at: u64| symbols.address(at, own.to_str().unwrap(), &mapped);
        let variable = address(std::ptr::from_ref(&MARK) as u64).unwrap();
        assert!(symbols.variable(variable, 8).unwrap().name.contains("MARK"));
        assert!(symbols.variable(variable, 4096).is_none_or(|one| !one.name.contains("MARK")));
        let function = address(program as *const () as u64).unwrap();
        assert!(symbols.function(function).unwrap().contains("program"));
        let on_the_heap = Box::new(7);
        assert_eq!(address(std::ptr::from_ref(&*on_the_heap) as u64), None);
        for no_program in ["/etc/passwd", "/dev/zero"] {
            assert!(Symbols::read(Path::new(no_program)).is_none());
        }
    }

    #[test]
    fn a_segment_that_begins_in_the_page_in_which_another_ends_is_not_mistaken_for_it() {
        let load =
            |offset: u64, address: u64, size: u64| Load { offset, address, size, code: Vec::new() };
        // As lld lays them out: the file has no gap, the addresses have one page.
        let loads = vec![load(0, 0, 0x1800), load(0x1800, 0x2800, 0x900)];
        let symbols = Symbols { loads, ..Symbols::default() };
        let mapping = |start: u64, end: u64, offset: u64, file: &str| Mapping {
            start,
            end,
            offset,
            is_code: false,
            is_writable: true,
            identity: Default::default(),
            file: file.into(),
        };
        let mappings = [
            mapping(0x7000_0000, 0x7000_2000, 0, "/p"),
            mapping(0x7000_2000, 0x7000_3000, 0x1000, "/p"),
        ];
        let address = |at| symbols.address(at, "/p", &mappings);
        assert_eq!(address(0x7000_2810), Some(0x2810));
        // What has no bytes in the file lies behind its mapping.
        assert_eq!(address(0x7000_3010), Some(0x3010));
        assert_eq!(address(0x7000_3200), None);
        assert_eq!(address(0x6fff_ffff), None);
    }
}
