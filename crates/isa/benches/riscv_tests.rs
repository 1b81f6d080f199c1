//! Runs a build of riscv-tests (<https://github.com/riscv-software-src/riscv-tests>) on the machine:
//! `cargo bench -p isa --bench riscv_tests -- FOLDER`. docs/machine.md says how they are built, and
//! what they say. It ends with code 3 if a test fails of what the machine has.

use isa::{Machine, Program, Setup, Stopped};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What the machine has, as the names of the tests begin.
const GROUPS: [&str; 5] = ["rv32ui-p-", "rv32um-p-", "rv32ua-p-", "rv32uc-p-", "rv32mi-p-"];

/// Tests of what it does not have.
const WITHOUT: [(&str, &str); 2] = [
    ("rv32mi-p-breakpoint", "the machine has no debug triggers"),
    ("rv32mi-p-pmpaddr", "the machine has no physical memory protection"),
];

/// A test has some thousand instructions.
const STEPS_MAX: u64 = 1_000_000;

fn main() -> io::Result<ExitCode> {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let Some(folder) = words.next() else {
        println!("no folder of riscv-tests is named; docs/machine.md says how");
        return Ok(ExitCode::SUCCESS);
    };
    let folder = Path::new(&folder);
    let names = folder.read_dir()?.map(|entry| Ok(entry?.file_name().to_string_lossy().into()));
    let mut names = names.collect::<io::Result<Vec<String>>>()?;
    names.sort();
    let (mut all, mut passed, mut wrong) = (0, 0, 0);
    for group in GROUPS {
        let before = (all, passed);
        // The others are listings of them.
        for name in names.iter().filter(|name| name.starts_with(group) && !name.contains('.')) {
            all += 1;
            let Some(why) = failure(&folder.join(name))? else {
                passed += 1;
                continue;
            };
            let without = WITHOUT.iter().find(|(test, _)| test == name);
            wrong += u32::from(without.is_none());
            println!("{name}: {}", without.map_or(why, |(_, reason)| (*reason).into()));
        }
        println!("{group}*: {} of {} pass", passed - before.1, all - before.0);
    }
    println!("{passed} of {all} pass");
    Ok(if all > 0 && wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// Returns why a test fails; nothing if it passes.
fn failure(path: &Path) -> io::Result<Option<String>> {
    let file = std::fs::read(path)?;
    let setup = Setup { host: true, ..Setup::default() };
    let made = Program::from_elf(&file).and_then(|program| Machine::new(&program, &setup));
    let mut machine = match made {
        Ok(machine) => machine,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let stopped = machine.run(STEPS_MAX, |_| {});
    // A test ends by its exit alone.
    let exited = matches!(stopped, Stopped::Exited { .. });
    Ok(machine.failure(stopped).or_else(|| (!exited).then(|| stopped.to_string())))
}
