//! Is a thread's stack private?
//!
//! A worker is handed the address of a local variable of the main thread and writes to it. What the
//! main thread reads afterwards, which physical pages both see, and who is left when the worker
//! crashes, is recorded as it is seen.

mod crash;
mod design;
mod local;
mod worker;

use design::{ACTS, Act, FIRST_WRITERS};
use kit::{Experiment, Stop, Trial};
use local::Room;
use std::sync::atomic::{AtomicU64, Ordering};
use worker::{WORKERS, Worker, with_worker};

/// Is a thread's stack private?
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "isolation", design: design::design, trial };

/// What main's variable holds before anybody else writes.
const AT_FIRST: u64 = 0x5afe;

/// What the worker writes.
const BY_WORKER: u64 = 0xdead_beef;

/// What main writes.
const BY_MAIN: u64 = 0xc0ffee;

/// Who writes to the page first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    Worker,
    Main,
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let worker = trial.realise("worker", &WORKERS)?;
    let writer = trial.realise("first_writer", &FIRST_WRITERS)?;
    match trial.realise("act", &ACTS)? {
        Act::Write => write(trial, worker),
        Act::Pages => pages(trial, worker, writer),
        Act::Crash => crash::trial(trial, worker),
    }
}

/// The worker writes, and main reads.
fn write(trial: &mut Trial<'_>, worker: Worker) -> Result<(), Stop> {
    let (room, shared) = (Room::new(), sys::pages::shared(size_of::<u64>())?);
    let variable = local::variable(worker, &room, &shared);
    let address = prepare(trial, worker, variable)?;
    trial.begin()?;
    let (theirs, written, read, of_two) = with_worker(worker, variable, |worker| {
        let theirs = worker.look()?.address;
        let before = is_of_two(variable);
        let written = worker.write(BY_WORKER)?;
        let read = variable.load(Ordering::SeqCst);
        Ok((theirs, written, read, [before, is_of_two(variable)]))
    })?;
    trial.end()?;
    for (response, found) in ["of_two_before_count", "of_two_after_count"].iter().zip(of_two) {
        match found {
            Some(of_two) => trial.record_one(response, i64::from(of_two)),
            None => trial.observe(response, "the kernel does not tell"),
        }
    }
    let sees = read == BY_WORKER;
    let same_address = theirs == address as u64;
    trial.record_one("main_sees_count", i64::from(sees));
    trial.record_one("same_address_count", i64::from(same_address));
    if same_address {
        trial.record_one("address_tells_count", i64::from(sees));
    }
    // The worker read back what it had written, and main's variable holds one of two values.
    trial.check(
        "what the worker reads afterwards",
        written as f64,
        BY_WORKER as f64,
        BY_WORKER as f64,
    );
    let known = f64::from(u8::from(read == BY_WORKER || read == AT_FIRST));
    trial.check("what main reads is a value that somebody wrote", known, 1.0, 1.0);
    let hex = |value: u64| format!("{value:#x}");
    trial.exhibit(
        "the variable, seen from both sides after the worker's write",
        &["who", "address", "value"],
        vec![
            vec!["main".into(), hex(address as u64), hex(read)],
            vec!["worker".into(), hex(theirs), hex(written)],
        ],
    );
    Ok(())
}

/// What both sides see of the variable's page at one moment.
struct Moment {
    when: &'static str,
    main_frame: u64,
    worker_frame: u64,
    main_value: u64,
    worker_value: u64,
}

/// Both write, one after the other, and the physical pages are looked at in between.
fn pages(trial: &mut Trial<'_>, worker: Worker, writer: Writer) -> Result<(), Stop> {
    let (room, shared) = (Room::new(), sys::pages::shared(size_of::<u64>())?);
    let variable = local::variable(worker, &room, &shared);
    let address = prepare(trial, worker, variable)?;
    trial.observe("address", format!("{address:#x}"));
    frame_of_main(variable)?;
    trial.begin()?;
    let moments = with_worker(worker, variable, |worker| {
        let look = |when: &'static str| -> Result<Moment, Stop> {
            let theirs = worker.look()?;
            Ok(Moment {
                when,
                main_frame: frame_of_main(variable)?,
                worker_frame: theirs.frame,
                main_value: variable.load(Ordering::SeqCst),
                worker_value: theirs.value,
            })
        };
        let before = look("before anybody writes")?;
        let order = match writer {
            Writer::Worker => [Writer::Worker, Writer::Main],
            Writer::Main => [Writer::Main, Writer::Worker],
        };
        let mut moments = vec![before];
        for turn in order {
            match turn {
                Writer::Worker => {
                    worker.write(BY_WORKER)?;
                    moments.push(look("after the worker's write")?);
                }
                Writer::Main => {
                    variable.store(BY_MAIN, Ordering::SeqCst);
                    moments.push(look("after main's write")?);
                }
            }
        }
        Ok(moments)
    })?;
    trial.end()?;
    record_pages(trial, &moments);
    Ok(())
}

fn record_pages(trial: &mut Trial<'_>, moments: &[Moment]) {
    let [before, .., after] = moments else { return };
    let count = |yes: bool| i64::from(yes);
    trial.record_one("same_page_count", count(before.main_frame == before.worker_frame));
    trial.record_one("same_page_after_count", count(after.main_frame == after.worker_frame));
    let main_copied = after.main_frame != before.main_frame;
    let worker_copied = after.worker_frame != before.worker_frame;
    trial.record_one("main_copied_count", count(main_copied));
    trial.record_one("worker_copied_count", count(worker_copied));
    trial.record_one("worker_alone_copied_count", count(worker_copied && !main_copied));
    let frames = moments.iter().all(|moment| moment.main_frame != 0 && moment.worker_frame != 0);
    trial.check("all page frames were told", f64::from(u8::from(frames)), 1.0, 1.0);
    let row = |moment: &Moment| {
        vec![
            moment.when.to_string(),
            format!("{:#x}", moment.main_frame),
            format!("{:#x}", moment.worker_frame),
            format!("{:#x}", moment.main_value),
            format!("{:#x}", moment.worker_value),
        ]
    };
    trial.exhibit(
        "the page behind the variable, and its value, as both sides see them",
        &["when", "main's page frame", "worker's page frame", "main reads", "worker reads"],
        moments.iter().map(row).collect(),
    );
}

/// Whether the variable's page stands in two page tables, main's and another process's; `None`
/// where the kernel does not tell.
fn is_of_two(variable: &AtomicU64) -> Option<bool> {
    let found = local::backing(variable).ok().flatten();
    found.map(|backing| !backing.is_exclusive)
}

fn frame_of_main(variable: &AtomicU64) -> Result<u64, Stop> {
    let found = local::backing(variable)?.and_then(|backing| backing.frame);
    found.ok_or_else(|| {
        Stop::unsupported(
            "the kernel tells the numbers of physical pages to root only (CAP_SYS_ADMIN); run as \
             root to see who gets the copy",
        )
    })
}

/// Gives the variable its first value, and verifies where it lives; returns its address.
fn prepare(trial: &mut Trial<'_>, worker: Worker, variable: &AtomicU64) -> Result<usize, Stop> {
    variable.store(AT_FIRST, Ordering::SeqCst);
    let address = local::address(variable);
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|error| {
        Stop::unsupported(format!("the stack cannot be found in /proc/self/maps: {error}"))
    })?;
    let on_stack = f64::from(u8::from(local::is_on_stack(&maps, address as u64)));
    let wanted = f64::from(u8::from(worker != Worker::SharingProcess));
    trial.check("the variable lies on main's stack", on_stack, wanted, wanted);
    Ok(address)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
