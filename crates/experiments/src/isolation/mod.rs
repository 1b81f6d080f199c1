//! Is a thread's stack private?
//!
//! A worker is handed the address of a local variable of the main thread and writes to it. What the
//! main thread reads afterwards, which physical pages both see, and who is left when the worker
//! crashes, is recorded as it is seen.

mod crash;
mod local;
mod worker;

use kit::{Result, Stop, Trial};
use local::Room;
use std::sync::atomic::{AtomicU64, Ordering};
use worker::{MainEnd, WORKERS, Worker, with_worker};

experiment!("isolation", "isolation.toml");

/// What main's variable holds before anybody else writes.
const AT_FIRST: u64 = 0x5afe;

/// What the worker writes.
const BY_WORKER: u64 = 0xdead_beef;

/// What main writes.
const BY_MAIN: u64 = 0xc0ffee;

/// Workers of a trial, one after the other, each with a variable that is as new.
const WRITERS: u64 = 40;

/// The same where pages are looked up, which takes longer.
const WATCHED: u64 = 10;

/// Whether the worker writes to the page first, and main after it.
const FIRST_WRITERS: [(&str, bool); 2] = [("worker", true), ("main", false)];

/// What happens.
type Act = fn(&mut Trial<'_>, Worker) -> Result<()>;

/// What the levels of the factor `act` stand for.
const ACTS: [(&str, Act); 3] = [("write", write), ("pages", pages), ("crash", crash::trial)];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    // Both sides take turns: a hand-over to another CPU would only take longer.
    trial.pin_to_one()?;
    let worker = trial.pick("worker", &WORKERS)?;
    trial.pick("act", &ACTS)?(trial, worker)
}

/// What one worker's write has shown.
struct Written {
    /// The variable's address, as the worker has it.
    address: u64,
    /// What the worker reads after its write.
    written: u64,
    /// What main reads after it.
    read: u64,
    /// Whether main's page belonged to two processes before the write, and after.
    of_two: [Option<bool>; 2],
}

impl Written {
    fn is_seen(&self) -> bool {
        self.read == BY_WORKER
    }
}

/// Workers write, and main reads.
fn write(trial: &mut Trial<'_>, worker: Worker) -> Result<()> {
    let (address, all) = watched(
        trial,
        worker,
        WRITERS,
        |_| Ok(()),
        |worker, variable| {
            let address = worker.look()?.address;
            let before = is_of_two(variable);
            let written = worker.write(BY_WORKER)?;
            let read = variable.load(Ordering::SeqCst);
            Ok(Written { address, written, read, of_two: [before, is_of_two(variable)] })
        },
    )?;
    record_writes(trial, address, &all);
    Ok(())
}

/// Watches workers, one after the other, with a variable that is as new, which must be `ready` before
/// the first. Returns its address and what was seen.
fn watched<T>(
    trial: &mut Trial<'_>,
    worker: Worker,
    workers: u64,
    ready: impl FnOnce(&AtomicU64) -> Result<()>,
    watch: impl Fn(&MainEnd<'_>, &AtomicU64) -> Result<T>,
) -> Result<(u64, Vec<T>)> {
    let (room, shared) = (Room::new(), sys::pages::shared(size_of::<u64>())?);
    let variable = local::variable(worker, &room, &shared);
    let address = verify(trial, worker, variable)?;
    ready(variable)?;
    trial.begin()?;
    let one = |_| {
        variable.store(AT_FIRST, Ordering::SeqCst);
        with_worker(worker, variable, |worker| watch(worker, variable))
    };
    let all = (0..workers).map(one).collect::<Result<_, _>>()?;
    trial.end()?;
    Ok((address, all))
}

fn record_writes(trial: &mut Trial<'_>, address: u64, all: &[Written]) {
    share(trial, "main_sees_count", all.iter().map(Written::is_seen));
    share(trial, "same_address_count", all.iter().map(|one| one.address == address));
    let same = all.iter().filter(|one| one.address == address);
    share(trial, "address_tells_count", same.map(Written::is_seen));
    share(trial, "of_two_before_count", all.iter().filter_map(|one| one.of_two[0]));
    share(trial, "of_two_after_count", all.iter().filter_map(|one| one.of_two[1]));
    // The worker read back what it had written, and main's variable held one of two values.
    let (theirs, own) = (
        all.iter().filter(|one| one.written == BY_WORKER).count() as f64,
        all.iter().filter(|one| one.is_seen() || one.read == AT_FIRST).count() as f64,
    );
    let count = all.len() as f64;
    trial.check("workers that read what they wrote", theirs, count, count);
    trial.check("values main read that somebody wrote", own, count, count);
    let Some(first) = all.first() else { return };
    let same = if first.address == address { "the same" } else { "another" };
    trial.exhibit(
        "the variable, seen from both sides after the first worker's write",
        &["who", "address", "value"],
        vec![
            vec!["main".into(), "its own".into(), format!("{:#x}", first.read)],
            vec!["worker".into(), same.into(), format!("{:#x}", first.written)],
        ],
    );
}

/// Records how many of the answers are yes; nothing where there is none.
fn share(trial: &mut Trial<'_>, response: &str, answers: impl Iterator<Item = bool>) {
    let (mut events, mut chances) = (0, 0);
    for yes in answers {
        events += i64::from(yes);
        chances += 1;
    }
    if chances > 0 {
        trial.record(response, chances, vec![events]);
    }
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
fn pages(trial: &mut Trial<'_>, worker: Worker) -> Result<()> {
    let worker_first = trial.pick("first_writer", &FIRST_WRITERS)?;
    let ready = |variable: &AtomicU64| frame_of_main(variable).map(drop);
    let watch =
        |worker: &MainEnd<'_>, variable: &AtomicU64| moments(worker, variable, worker_first);
    let (_, all) = watched(trial, worker, WATCHED, ready, watch)?;
    record_pages(trial, &all);
    Ok(())
}

/// Before the first write, after it, and after the second.
fn moments(worker: &MainEnd<'_>, variable: &AtomicU64, worker_first: bool) -> Result<[Moment; 3]> {
    let look = |when: &'static str| -> Result<Moment> {
        let theirs = worker.look()?;
        Ok(Moment {
            when,
            main_frame: frame_of_main(variable)?,
            worker_frame: theirs.frame,
            main_value: variable.load(Ordering::SeqCst),
            worker_value: theirs.value,
        })
    };
    let turn = |of_worker: bool| {
        if of_worker {
            worker.write(BY_WORKER)?;
            return look("after the worker's write");
        }
        variable.store(BY_MAIN, Ordering::SeqCst);
        look("after main's write")
    };
    Ok([look("before anybody writes")?, turn(worker_first)?, turn(!worker_first)?])
}

fn record_pages(trial: &mut Trial<'_>, all: &[[Moment; 3]]) {
    let ends = || all.iter().map(|[before, _, after]| (before, after));
    let main_copied = |(b, a): (&Moment, &Moment)| b.main_frame != a.main_frame;
    let worker_copied = |(b, a): (&Moment, &Moment)| b.worker_frame != a.worker_frame;
    let same = |moment: &Moment| moment.main_frame == moment.worker_frame;
    share(trial, "same_page_count", ends().map(|(before, _)| same(before)));
    share(trial, "same_page_after_count", ends().map(|(_, after)| same(after)));
    share(trial, "main_copied_count", ends().map(main_copied));
    share(trial, "worker_copied_count", ends().map(worker_copied));
    let alone = ends().map(|ends| worker_copied(ends) && !main_copied(ends));
    share(trial, "worker_alone_copied_count", alone);
    let frames = all.iter().flatten().flat_map(|moment| [moment.main_frame, moment.worker_frame]);
    let hidden = frames.filter(|frame| *frame == 0).count();
    trial.check("page frames that were not told", hidden as f64, 0.0, 0.0);
    let Some(first) = all.first() else { return };
    trial.exhibit(
        "the page behind the variable, and its value, as both sides see them (first worker)",
        &["when", "main's page", "worker's page", "main reads", "worker reads"],
        page_rows(first),
    );
}

/// Pages by letters, in the order in which they were first seen: their numbers are other ones each
/// time.
fn page_rows(moments: &[Moment]) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    let mut letter = |frame: u64| {
        let known = seen.iter().position(|one| *one == frame).unwrap_or_else(|| {
            seen.push(frame);
            seen.len() - 1
        });
        char::from(b'A' + known as u8).to_string()
    };
    let row = |moment: &Moment| {
        vec![
            moment.when.to_string(),
            letter(moment.main_frame),
            letter(moment.worker_frame),
            format!("{:#x}", moment.main_value),
            format!("{:#x}", moment.worker_value),
        ]
    };
    moments.iter().map(row).collect()
}

/// Whether the variable's page stands in two page tables, main's and another process's; `None`
/// where the kernel does not tell.
fn is_of_two(variable: &AtomicU64) -> Option<bool> {
    let found = local::backing(variable).ok().flatten();
    found.map(|backing| !backing.is_exclusive)
}

fn frame_of_main(variable: &AtomicU64) -> Result<u64> {
    let found = local::backing(variable)?.and_then(|backing| backing.frame);
    found.ok_or_else(|| {
        Stop::unsupported(
            "the kernel tells the numbers of physical pages to root only (CAP_SYS_ADMIN); run as \
             root to see who gets the copy",
        )
    })
}

/// Verifies where the variable lives; returns its address.
fn verify(trial: &mut Trial<'_>, worker: Worker, variable: &AtomicU64) -> Result<u64> {
    variable.store(AT_FIRST, Ordering::SeqCst);
    let address = local::address(variable) as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|error| {
        Stop::unsupported(format!("the stack cannot be found in /proc/self/maps: {error}"))
    })?;
    let on_stack = f64::from(u8::from(local::is_on_stack(&maps, address)));
    let wanted = f64::from(u8::from(worker != Worker::SharingProcess));
    trial.check("the variable lies on main's stack", on_stack, wanted, wanted);
    Ok(address)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
