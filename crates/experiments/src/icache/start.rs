//! What a program finds when it begins: what a loader, a board or a debugger would have put there.

use isa::encode::GP;
use isa::{Machine, Program, Segment, Setup};

/// What linker scripts call the address above the stack of a board (picolibc's, newlib's).
const STACK: &str = "__stack";

/// What start-up code loads into `gp`. A linker makes accesses relative to it; a program without
/// start-up code would access memory that is not there.
const GLOBAL_POINTER: &str = "__global_pointer$";

/// The most memory between a program's data and its own stack, in bytes.
const RAM_MAX_BYTES: u32 = 16 << 20;

/// What a stack gets of which nothing tells where it ends, in bytes.
const STACK_BYTES: u32 = 1 << 16;

/// The program in an ELF file. Where it names a stack of its own, the memory from its data up to
/// there is added, which a board would have and a file does not say.
///
/// # Errors
/// A sentence that says why it is no program for this machine.
pub fn load(file: &[u8]) -> Result<Program, String> {
    let mut program = Program::from_elf(file).map_err(|error| error.to_string())?;
    if let Some(stack) = program.address_of(STACK)
        && let Some(address) = free_below(&program, stack)
    {
        let size = stack - address;
        program.segments.push(Segment { address, bytes: Vec::new(), size, writable: true });
    }
    Ok(program)
}

/// Where memory begins that ends at an address and at no other piece of memory; none if there is
/// none.
fn free_below(program: &Program, end: u32) -> Option<u32> {
    let ends = program.segments.iter().map(|it| (it.address, it.address.checked_add(it.size)));
    let mut start = end.saturating_sub(RAM_MAX_BYTES);
    let mut found = false;
    for (from, to) in ends {
        let to = to?;
        if from < end && to >= end {
            return None;
        }
        if to <= end && to > start {
            (start, found) = (to, true);
        }
    }
    let start = if found { start } else { end.checked_sub(STACK_BYTES)? };
    (start < end).then_some(start)
}

/// A machine at the first instruction of a program: with 64 KiB of stack, the calls of Linux by
/// which a program ends, and `gp` where the linker wants it.
///
/// # Errors
/// A sentence that says why the program does not fit.
pub fn start(program: &Program) -> Result<Machine, String> {
    let setup = Setup { host_calls: true, ..Setup::default() };
    let mut machine = Machine::new(program, &setup).map_err(|error| error.to_string())?;
    if let Some(address) = program.address_of(GLOBAL_POINTER) {
        machine.set_register(GP, address);
    }
    Ok(machine)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{GLOBAL_POINTER, free_below, start};
    use isa::encode::{A0, GP, addi};
    use isa::{Program, Segment, Symbol};

    fn with(segments: &[(u32, u32)]) -> Program {
        let mut program = Program::from_words(0x1000, &[addi(A0, A0, 1)]);
        program.segments.extend(segments.iter().map(|(address, size)| Segment {
            address: *address,
            bytes: Vec::new(),
            size: *size,
            writable: true,
        }));
        program
    }

    #[test]
    fn a_stack_of_its_own_lies_above_the_data() {
        assert_eq!(free_below(&with(&[(0x8010_0000, 0x800)]), 0x8020_0000), Some(0x8010_0800));
        // Nothing near: as much as a stack mostly needs.
        assert_eq!(free_below(&with(&[]), 0x8020_0000), Some(0x801f_0000));
        // It is in a segment already, or there is no room.
        assert_eq!(free_below(&with(&[(0x8010_0000, 0x10_0000)]), 0x8020_0000), None);
        assert_eq!(free_below(&with(&[(0x8010_0000, 0x20_0000)]), 0x8020_0000), None);
        assert_eq!(free_below(&with(&[]), 0), None);
        assert_eq!(free_below(&with(&[(0xffff_0000, 0x1_0000)]), 0x8020_0000), None);
    }

    #[test]
    fn gp_is_where_the_linker_wants_it() {
        let mut program = with(&[]);
        assert_eq!(start(&program).unwrap().register(GP), 0);
        program.symbols = vec![Symbol { name: GLOBAL_POINTER.into(), address: 0x1_1934, size: 0 }];
        assert_eq!(start(&program).unwrap().register(GP), 0x1_1934);
    }
}
