//! The symbols of a program's files.

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::io::Read;
use std::path::Path;

/// The largest file whose symbols are read, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// A variable that says nothing of its size is taken to have no more than this, in bytes.
const UNSIZED_BYTES: u64 = 64;

#[derive(Debug, PartialEq, Eq)]
struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

/// The symbols of one file.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    functions: Vec<Symbol>,
    variables: Vec<Symbol>,
    segments: Vec<Segment>,
}

/// A part of a file that is mapped: its place in the file, its length there, its address, and its bytes if it holds code.
#[derive(Debug)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
    bytes: Vec<u8>,
}

/// Returns the bytes of a program's file. Memory that processes share is mapped from /dev/zero, which never ends, and
/// data can be much longer than programs are.
fn program(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let mut bytes = vec![0; object::elf::ELFMAG.len()];
    file.read_exact(&mut bytes).ok().filter(|()| bytes == object::elf::ELFMAG)?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Symbols {
    /// Reads the symbols of a file; `None` where it cannot be read or is no program.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let bytes = program(path)?;
        let file = object::File::parse(&*bytes).ok()?;
        let mut symbols = Symbols::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let into = match symbol.kind() {
                SymbolKind::Text => &mut symbols.functions,
                SymbolKind::Data => &mut symbols.variables,
                _ => continue,
            };
            let Ok(name) = symbol.name() else { continue };
            if symbol.address() > 0 && !name.is_empty() {
                let name = name.split('@').next().unwrap_or(name).to_string();
                into.push(Symbol { address: symbol.address(), size: symbol.size(), name });
            }
        }
        for list in [&mut symbols.functions, &mut symbols.variables] {
            // Of several names of one address, that with the fewest underscores in front is the public one.
            list.sort_by_key(|one| (one.address, one.name.len()));
            list.dedup_by_key(|one| one.address);
        }
        symbols.segments = file
            .segments()
            .map(|segment| {
                let (offset, size) = segment.file_range();
                let bytes = segment.data().unwrap_or_default().to_vec();
                Segment { offset, size, address: segment.address(), bytes }
            })
            .collect();
        Some(symbols)
    }

    /// Returns the address, as the file counts it, of what lies at `offset` in it.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let within = |one: &&Segment| one.offset <= offset && offset < one.offset + one.size;
        self.segments.iter().find(within).map(|one| one.address + (offset - one.offset))
    }

    /// Returns the function that holds an address.
    pub(super) fn function(&self, address: u64) -> Option<&str> {
        holding(&self.functions, address, 0)
    }

    /// Returns the variable that holds an address.
    pub(super) fn variable(&self, address: u64) -> Option<&str> {
        holding(&self.variables, address, UNSIZED_BYTES)
    }

    /// Reports whether the instruction before an address is a call, so that the address may be one to which a
    /// function returns. On an unknown CPU, every address may be.
    pub(super) fn follows_a_call(&self, address: u64) -> bool {
        let within = |one: &&Segment| one.address <= address && address < one.address + one.size;
        let Some(segment) = self.segments.iter().find(within) else { return false };
        let place = (address - segment.address) as usize;
        let before = |back: usize| segment.bytes.get(place.checked_sub(back)?).copied();
        if cfg!(target_arch = "x86_64") {
            // E8 and a distance, or FF /2 with an operand of 0 to 5 bytes.
            let indirect = |back: usize| {
                before(back) == Some(0xff)
                    && before(back - 1).is_some_and(|modrm| modrm >> 3 & 7 == 2)
            };
            before(5) == Some(0xe8) || (2..=7).any(indirect)
        } else if cfg!(target_arch = "aarch64") {
            let word: Option<Vec<u8>> = (1..=4).rev().map(before).collect();
            let word = word.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
            word.is_some_and(|word| word >> 26 == 0x25 || word & 0xffff_fc1f == 0xd63f_0000)
        } else {
            true
        }
    }
}

/// Returns the name of the symbol that holds an address; one without a size reaches `unsized_bytes`, or, if
/// that is 0, up to the next.
fn holding(symbols: &[Symbol], address: u64, unsized_bytes: u64) -> Option<&str> {
    let after = symbols.partition_point(|one| one.address <= address);
    let one = symbols[..after].last()?;
    let reaches = match (one.size, unsized_bytes) {
        (0, 0) => u64::MAX,
        (0, bytes) => bytes,
        (size, _) => size,
    };
    (address - one.address < reaches).then_some(one.name.as_str())
}

/// Returns a mangled name of C++ or Rust without its types and hash: the nested names that it begins with.
/// What is not mangled in that way stays as it is.
pub(super) fn demangled(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN").or_else(|| symbol.strip_prefix("_Z")) else {
        return symbol.to_string();
    };
    rest = rest.trim_start_matches(['K', 'V']);
    let mut names: Vec<&str> = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(name) = rest.get(digits..digits + length) else { break };
        let is_hash = name.len() == 17 && name.starts_with('h');
        names.extend((!is_hash).then_some(name));
        rest = &rest[digits + length..];
    }
    if names.is_empty() { symbol.to_string() } else { names.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_as_far_as_they_nest() {
        for (symbol, name) in [
            ("_ZN4pool6worker17h0123456789abcdefE", "pool::worker"),
            ("_ZN13ObjectMonitor5enterEP10JavaThread", "ObjectMonitor::enter"),
            ("_Z5drainv", "drain"),
            ("main.worker", "main.worker"),
            ("_Z", "_Z"),
            ("_ZN99short", "_ZN99short"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    #[test]
    fn this_test_finds_its_own_function_and_variable() {
        static MARK: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(7);
        let own = std::env::current_exe().unwrap();
        let symbols = Symbols::read(&own).unwrap();
        let code = sys::proc::wait::mappings(sys::process::pid());
        let address = |at: u64| {
            let mapping = code.iter().find(|one| one.start <= at && at < one.end).unwrap();
            symbols.address(mapping.offset + at - mapping.start)
        };
        let variable = address(std::ptr::from_ref(&MARK) as u64).unwrap();
        assert!(symbols.variable(variable).unwrap().contains("MARK"));
        let function = address(demangled as *const () as u64).unwrap();
        assert!(symbols.function(function).unwrap().contains("demangled"));
        for no_program in ["/etc/passwd", "/dev/zero"] {
            assert_eq!(Symbols::read(std::path::Path::new(no_program)).map(|_| ()), None);
        }
    }
}
