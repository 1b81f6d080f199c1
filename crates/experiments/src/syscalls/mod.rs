//! Which system calls make a thread, which make a process? A list, not a timing.
//!
//! A traced child makes one entity after the other, with a mark before each; the trial writes down
//! every call between two marks, from any task.

mod entity;
mod shown;
mod watch;

use entity::{ENTITIES, Entity};
use kit::model::Profile;
use kit::{Result, Stop, Trial};
use watch::{Operation, Watched};

experiment!("syscalls", "syscalls.toml");

/// Operations that are not yet steady: the first, which is looked at by itself, and one more.
const UNSTEADY: usize = 2;

/// The five flags that a lecture gives for a thread.
const THREAD_FLAGS: [&str; 5] =
    ["CLONE_VM", "CLONE_FS", "CLONE_FILES", "CLONE_SIGHAND", "CLONE_THREAD"];

/// The four calls that it gives for a thread.
const THREAD_CALLS: [&str; 4] = ["mmap", "mprotect", "rt_sigprocmask", "clone3"];

/// Calls that are counted by themselves, by maker and made, with their responses.
const COUNTED: [(&str, &str); 7] = [
    ("mmap", "mmap_count"),
    ("munmap", "munmap_count"),
    ("mprotect", "mprotect_count"),
    ("madvise", "madvise_count"),
    ("futex", "futex_count"),
    ("rt_sigprocmask", "rt_sigprocmask_count"),
    ("rt_sigaction", "rt_sigaction_count"),
];

/// How many operations are traced in all.
fn operations(profile: Profile) -> usize {
    UNSTEADY + profile.pick([5, 5, 20, 50])
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let entity = trial.pick("entity", &ENTITIES)?;
    trial.pin_to_one()?;
    let count = operations(trial.spec().profile);
    trial.observe("operations", count);
    let child = watch::fork(entity, count)?;
    trial.begin()?;
    let watched = watch::watch(&child, count)?;
    trial.end()?;
    check(trial, entity, count, &watched);
    let [first, _, steady @ ..] = watched.operations.as_slice() else {
        return Err(Stop::failed("the traced child made too few entities"));
    };
    record(trial, first, steady);
    shown::show(trial, first, steady);
    Ok(())
}

/// Holds what was seen against what the treatment is.
fn check(trial: &mut Trial<'_>, entity: Entity, count: usize, watched: &Watched) {
    trial.check("exit code of the child", f64::from(watched.exit_code), 0.0, 0.0);
    trial.check("operations", watched.operations.len() as f64, count as f64, count as f64);
    let made: usize = watched.operations.iter().map(|operation| operation.made.len()).sum();
    let expected = (entity.makes * count) as f64;
    trial.check("threads and processes made in them", made as f64, expected, expected);
    let before = entity.made_before as f64;
    trial.check("made before the first", watched.made_before as f64, before, before);
}

fn record(trial: &mut Trial<'_>, first: &Operation, steady: &[Operation]) {
    let mut each = |response: &str, of: &dyn Fn(&Operation) -> usize| {
        trial.record(response, 1, steady.iter().map(|operation| of(operation) as i64).collect());
    };
    each("calls_count", &Operation::len);
    each("maker_calls_count", &|operation| operation.by_maker().count());
    each("made_calls_count", &|operation| operation.len() - operation.by_maker().count());
    for (name, response) in COUNTED {
        each(response, &|operation| operation.count(name));
    }
    trial.record_one("first_calls_count", first.len() as i64);
    trial.record_one("first_recipe_count", recipe(first) as i64);
    // Of a hand-off nothing is made, and there is nothing to tell of it.
    if steady.iter().all(|operation| operation.made.is_empty()) {
        return;
    }
    let mut flags = |response: &str, of: &dyn Fn(&sys::calls::Cloned) -> usize| {
        let made = steady.iter().flat_map(|operation| &operation.made);
        trial.record(response, 1, made.map(|cloned| of(cloned) as i64).collect());
    };
    flags("shares_memory_count", &|cloned| usize::from(cloned.has("CLONE_VM")));
    flags("same_process_count", &|cloned| usize::from(cloned.has("CLONE_THREAD")));
    flags("signals_end_count", &|cloned| usize::from(cloned.exit_signal != 0));
    flags("thread_flags_count", &|cloned| {
        THREAD_FLAGS.iter().filter(|name| cloned.has(name)).count()
    });
}

/// How many of the calls that are said to make a thread its maker makes.
fn recipe(operation: &Operation) -> usize {
    let made = |name: &&&str| operation.by_maker().any(|line| line.name == **name);
    THREAD_CALLS.iter().filter(made).count()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
