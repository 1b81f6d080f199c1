//! What a program finds when it begins: what a loader, a board or a debugger would have put there.

use isa::encode::GP;
use isa::{Machine, Program, Setup};
use kit::model::ProgramFile;

/// What start-up code loads into `gp`. A linker makes accesses relative to it; a program without
/// start-up code would access memory that is not there.
const GLOBAL_POINTER: &str = "__global_pointer$";

/// Returns the program in an ELF file, with the memory that was asked for.
///
/// # Errors
/// A sentence that says why it is no program for this machine.
pub fn load(content: &[u8], file: &ProgramFile) -> Result<Program, String> {
    let mut program = Program::from_elf(content).map_err(|error| error.to_string())?;
    if let Some(memory) = file.memory {
        program.add_memory(memory.address, memory.bytes);
    }
    Ok(program)
}

/// Returns a machine at the first instruction of a program: with a stack, a host that answers its
/// calls, and `gp` where the linker wants it.
///
/// # Errors
/// A sentence that says why the program does not fit.
pub fn start(program: &Program, file: &ProgramFile) -> Result<Machine, String> {
    let usual = Setup { host: true, ..Setup::default() };
    let setup = Setup { stack_bytes: file.stack_bytes.unwrap_or(usual.stack_bytes), ..usual };
    let mut machine = Machine::new(program, &setup).map_err(|error| error.to_string())?;
    if let Some(address) = program.address_of(GLOBAL_POINTER) {
        machine.set_register(GP, address);
    }
    Ok(machine)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{GLOBAL_POINTER, start};
    use isa::encode::{A0, GP, addi};
    use isa::{Program, Symbol};
    use kit::model::ProgramFile;

    #[test]
    fn gp_is_where_the_linker_wants_it() {
        let mut program = Program::from_words(0x1000, &[addi(A0, A0, 1)]);
        let file = ProgramFile::default();
        assert_eq!(start(&program, &file).unwrap().register(GP), 0);
        program.symbols = vec![Symbol { name: GLOBAL_POINTER.into(), address: 0x1_1934, size: 0 }];
        assert_eq!(start(&program, &file).unwrap().register(GP), 0x1_1934);
    }
}
