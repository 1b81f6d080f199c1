//! Runs a build of riscv-tests (<https://github.com/riscv-software-src/riscv-tests>) on the simulated
//! core. docs/machine.md has the recipe, and what the tests say.

use anyhow::{Context, Result, ensure};
use isa::{Machine, Program, Setup};
use std::path::Path;

/// What the machine implements, as the names of the tests begin.
const GROUPS: [&str; 5] = ["rv32ui-p-", "rv32um-p-", "rv32ua-p-", "rv32uc-p-", "rv32mi-p-"];

/// Tests of what the machine does not have.
const WITHOUT: [(&str, &str); 2] = [
    ("rv32mi-p-breakpoint", "the machine has no debug triggers"),
    ("rv32mi-p-pmpaddr", "the machine has no physical memory protection"),
];

/// A test has some thousand instructions.
const STEPS_MAX: u64 = 1_000_000;

/// Runs all tests in a folder, and returns 3 if one fails that tests what the machine has.
pub(crate) fn run(folder: &Path) -> Result<u8> {
    let entries = folder.read_dir().with_context(|| format!("cannot read {}", folder.display()))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<String>>>()?;
    names.sort();
    let (mut all, mut passed, mut wrong) = (0, 0, 0);
    for group in GROUPS {
        let tests = names.iter().filter(|name| name.starts_with(group) && !name.contains('.'));
        let before = (all, passed);
        for name in tests {
            all += 1;
            let Some(why) = failure(&folder.join(name))? else {
                passed += 1;
                continue;
            };
            let without = WITHOUT.iter().find(|(test, _)| test == name);
            wrong += usize::from(without.is_none());
            println!("{name}: {}", without.map_or(why, |(_, reason)| format!("{reason} ({why})")));
        }
        println!("{group}*: {} of {} pass", passed - before.1, all - before.0);
    }
    ensure!(all > 0, "{} has no tests; build them first (docs/machine.md)", folder.display());
    println!("{passed} of {all} pass");
    Ok(if wrong == 0 { 0 } else { 3 })
}

/// Returns why a test fails; nothing if it passes.
fn failure(path: &Path) -> Result<Option<String>> {
    let file = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let setup = Setup { host: true, ..Setup::default() };
    let made = Program::from_elf(&file).and_then(|program| Machine::new(&program, &setup));
    let mut machine = match made {
        Ok(machine) => machine,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let stopped = machine.run(STEPS_MAX, |_| {});
    let why = machine.failure(stopped);
    // A test ends by its exit alone.
    let exited = matches!(stopped, isa::Stopped::Exited { .. });
    Ok(why.or_else(|| (!exited).then(|| stopped.to_string())))
}
