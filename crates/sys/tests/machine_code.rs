//! The loops of `sys::increment` are the machine code that they claim to be.
//!
//! They are read back from built programs: from this test's own, and from the release binary
//! where one has been built since the loops were last changed. A loop is what lies between a
//! backward jump and its target; it must consist of exactly the steps that are expected of it.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod steps;

use object::{Architecture, Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use steps::{Code, Step};

/// Every loop's symbol begins with this.
const PREFIX: &str = "scruple_increment_";

/// The steps of each function's loops; no loop at all for what the compiler folds.
fn expected(architecture: Architecture, name: &str) -> Vec<Vec<Step>> {
    use Step::*;
    let counted = |mut steps: Vec<Step>| {
        steps.extend([CountDown, Again]);
        vec![steps]
    };
    match (architecture, name) {
        (_, "plain") => vec![],
        (Architecture::X86_64, "unoptimised") => {
            vec![vec![Load, Add, Store, AddToMemory, Load, CompareMemory, Again]]
        }
        (_, "unoptimised") => {
            vec![vec![Load, Add, Store, Load, Add, Store, Load, Load, Compare, Again]]
        }
        (_, "volatile") => counted(vec![Load, Add, Store]),
        (Architecture::X86_64, "relaxed") => counted(vec![AddToMemory]),
        (_, "relaxed") => counted(vec![Load, Add, Store]),
        (_, "atomic") => counted(vec![LockedAdd]),
        (_, "exclusive") => {
            let attempt = vec![LoadExclusive, Add, StoreExclusive, Again];
            let mut both = counted(attempt.clone());
            both.push(attempt);
            both
        }
        (_, "register") => counted(vec![Add]),
        _ => panic!("nobody has said what {name} must be"),
    }
}

/// What is wrong with the function of that name, if anything is.
fn fault(architecture: Architecture, name: &str, code: &Code) -> Option<String> {
    let mut loops = steps::loops(architecture, code);
    if name == "locked" {
        let passes = matches!(loops.as_slice(), [only] if locks_around_a_write(only));
        return (!passes).then(|| format!("its loops are {loops:?}"));
    }
    let mut expected = expected(architecture, name);
    loops.sort();
    expected.sort();
    if loops != expected {
        return Some(format!("its loops are {loops:?}, expected {expected:?}"));
    }
    (name == "plain" && !steps::adds_its_argument(architecture, code))
        .then(|| "it does not add its count to memory at once".into())
}

/// Whether a turn of a loop calls two functions (lock and unlock) and changes memory in between.
/// The rest of it is the compiler's own business.
fn locks_around_a_write(steps: &[Step]) -> bool {
    let calls: Vec<usize> = (0..steps.len()).filter(|index| steps[*index] == Step::Call).collect();
    let &[lock, unlock] = calls.as_slice() else {
        return false;
    };
    let changes = |step: &Step| matches!(step, Step::AddToMemory | Step::Store);
    steps[lock..unlock].iter().any(changes)
}

/// The functions that matter in a program, by their names without the prefix.
fn functions(program: &Path) -> (Architecture, BTreeMap<String, Code>) {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let mut found = BTreeMap::new();
    for symbol in file.symbols() {
        let Some(name) = symbol.name().ok().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
        let code = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
        let code = Code { address: symbol.address(), bytes: code.to_vec() };
        found.insert(name.to_string(), code);
    }
    (file.architecture(), found)
}

/// Uses every loop, so that the linker keeps them all in this program.
fn own_program() -> PathBuf {
    let counter = AtomicU64::new(0);
    sys::increment::plain(&counter, 1);
    sys::increment::unoptimised(&counter, 1);
    sys::increment::volatile(&counter, 1);
    sys::increment::relaxed(&counter, 1);
    sys::increment::atomic(&counter, 1);
    sys::increment::register(&counter, 1);
    assert_eq!(counter.into_inner(), 6);
    sys::increment::Locked::new().increment(1).unwrap();
    std::env::current_exe().unwrap()
}

/// The release binary, if it is younger than the loops.
fn release_binary() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workloads/increment.rs");
    let own = std::env::current_exe().unwrap();
    // …/target/debug/deps/machine_code-…
    let binary = own.parent()?.parent()?.parent()?.join("release/scruple");
    let built = std::fs::metadata(&binary).ok()?.modified().ok()?;
    (built > std::fs::metadata(source).ok()?.modified().ok()?).then_some(binary)
}

fn all_are_what_they_claim(program: &Path, wanted: &[&str]) {
    let (architecture, found) = functions(program);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, wanted, "the loops in {}", program.display());
    for (name, code) in &found {
        if let Some(fault) = fault(architecture, name, code) {
            panic!("{name} in {}: {fault}", program.display());
        }
    }
}

/// The loops of a program of this architecture.
fn all() -> Vec<&'static str> {
    let mut names =
        vec!["atomic", "locked", "plain", "register", "relaxed", "unoptimised", "volatile"];
    if cfg!(target_arch = "aarch64") {
        names.insert(1, "exclusive");
    }
    names
}

#[test]
fn the_loops_of_this_program_are_what_they_claim() {
    if sys::increment::EXACT {
        all_are_what_they_claim(&own_program(), &all());
    }
}

#[test]
fn the_loops_of_the_release_binary_are_what_they_claim() {
    match release_binary() {
        Some(binary) => all_are_what_they_claim(&binary, &all()),
        None => println!("skipped: no release binary younger than src/workloads/increment.rs"),
    }
}

#[test]
fn one_loop_does_not_pass_for_another() {
    if !sys::increment::EXACT {
        return;
    }
    let (architecture, found) = functions(&own_program());
    for name in found.keys() {
        for (other, code) in found.iter().filter(|(other, _)| *other != name) {
            let same_code = architecture == Architecture::Aarch64
                && [name.as_str(), other.as_str()]
                    .iter()
                    .all(|n| ["relaxed", "volatile"].contains(n));
            let passes = fault(architecture, name, code).is_none();
            assert_eq!(passes, same_code, "the code of {other} as {name}");
        }
    }
}
