//! Are things that happen a known number of times counted as that many?

use kit::model::{Design, Quantity};
use kit::{Experiment, Result, Trial};
use std::sync::atomic::Ordering;
use sys::gate::SharedGate;
use sys::pages::{Huge, Mapping, page_bytes};
use sys::tracer::StopCounter;
use sys::usage::Usage;

/// Are things that happen a known number of times counted as that many?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "planted_counts", design, trial };

/// Does something a number of times, with the instrument around it.
type Plant = fn(&mut Trial<'_>, u64) -> Result<()>;

/// The levels of the factor `what`.
const WHAT: [(&str, Plant); 4] =
    [("calls", calls), ("switches", switches), ("faults", faults), ("leak", leak)];

/// A system call stops a traced child at its entry and at its exit.
const STOPS_PER_CALL: u64 = 2;

/// The bytes of a page for which `leak` is declared.
const DECLARED_PAGE_BYTES: u64 = 4096;

/// Returns the declared design, its leaked bytes those of this machine's pages.
fn design() -> Design {
    let mut design = crate::declared("planted_counts", include_str!("counts.toml"));
    let larger = page() as f64 / DECLARED_PAGE_BYTES as f64;
    for planted in &mut design.planted {
        if let Quantity::Value { response, .. } | Quantity::Difference { response, .. } =
            &planted.quantity
            && response == "leak_bytes"
        {
            planted.truth.low = planted.truth.low.map(|bytes| bytes * larger);
            planted.truth.high = planted.truth.high.map(|bytes| bytes * larger);
        }
    }
    design
}

fn page() -> u64 {
    page_bytes() as u64
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let plant = trial.pick("what", &WHAT)?;
    let count = trial.number("count")?;
    trial.pin_to_one()?;
    plant(trial, count)
}

/// The child makes its calls while it is traced. It waits for that by looking, which is no call.
fn calls(trial: &mut Trial<'_>, count: u64) -> Result<()> {
    let gate = SharedGate::new()?;
    let child = sys::task::fork_run(|| {
        gate.arrived().store(1, Ordering::Release);
        while gate.released().load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
        for _ in 0..count {
            sys::syscall::getppid();
        }
        0
    })?;
    // What it calls on its way to the gate is none of its calls.
    while gate.arrived().load(Ordering::Acquire) == 0 {
        kit::ensure!(!sys::process::peek_exited(child)?, "the child died before it began");
        sys::syscall::yield_cpu();
    }
    trial.begin()?;
    let traced = match StopCounter::attach(child) {
        Ok(traced) => traced,
        Err(error) => {
            sys::process::kill(child, sys::signal::SIGKILL)?;
            sys::task::wait(child)?;
            return Err(error.into());
        }
    };
    gate.released().store(1, Ordering::Release);
    let followed = traced.follow()?;
    trial.end()?;
    trial.record("calls_count", STOPS_PER_CALL, vec![followed.stops as i64]);
    let code = followed.ended.code.unwrap_or(-1);
    trial.check("exit code of the child", f64::from(code), 0.0, 0.0);
    Ok(())
}

/// Long enough for the thread to have given its CPU up before the timer fires, also on an emulated machine.
const SLEEP_NS: u64 = 200_000;

fn switches(trial: &mut Trial<'_>, count: u64) -> Result<()> {
    sys::clock::sleep_ns(SLEEP_NS);
    trial.begin()?;
    let before = Usage::of_thread();
    for _ in 0..count {
        sys::clock::sleep_ns(SLEEP_NS);
    }
    let found = Usage::of_thread().since(before).voluntary_switches;
    let counters = trial.end()?;
    let whole = counters.voluntary_switches.unwrap_or(0);
    trial.record_one("switches_count", found as i64);
    trial.check("those among the trial's own counters", whole as f64, found as f64, f64::INFINITY);
    Ok(())
}

/// Fresh pages for as many writes, of which there may be none.
fn fresh(count: u64) -> Result<Mapping> {
    Ok(Mapping::new((count.max(1) * page()) as usize, Huge::Never)?)
}

fn write(memory: &mut Mapping, count: u64) {
    if count > 0 {
        memory.touch(page_bytes());
    }
}

fn faults(trial: &mut Trial<'_>, count: u64) -> Result<()> {
    let mut memory = fresh(count)?;
    // Once before, so that the code's own pages and the page tables are there.
    write(&mut memory, count);
    memory.discard()?;
    let _ = Usage::of_thread();
    trial.begin()?;
    let before = Usage::of_thread();
    write(&mut memory, count);
    let found = Usage::of_thread().since(before).minor_faults;
    let counters = trial.end()?;
    let whole = counters.minor_faults.unwrap_or(0);
    trial.record_one("faults_count", found as i64);
    trial.check("those among the trial's own counters", whole as f64, found as f64, f64::INFINITY);
    Ok(())
}

/// Room on the heap for what reads the files: less than allocators give back to the kernel at once.
const HEAP_BYTES: usize = 32 << 10;

fn leak(trial: &mut Trial<'_>, count: u64) -> Result<()> {
    let resident = || sys::proc::memory(sys::process::pid()).map(|memory| memory.rss_bytes);
    let mut memory = fresh(count)?;
    trial.begin()?;
    // Once before, so that reading the file needs no new page the next time; with some pages of
    // the heap that are there already, since the readers' buffers need not lie in the same place.
    drop(sys::black_box(vec![1_u8; HEAP_BYTES]));
    resident()?;
    let before = resident()?;
    write(&mut memory, count);
    let after = resident()?;
    trial.end()?;
    trial.record_one("leak_bytes", after as i64 - before as i64);
    let own = memory.resident_bytes()? as f64;
    let planted = (count * page()) as f64;
    trial.check("resident bytes of what was mapped", own, planted, planted);
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{WHAT, design, fresh, page, write};

    #[test]
    fn truths_are_what_the_code_plants() {
        let design = design();
        crate::check_levels(&design, "what", &WHAT);
        for (name, _) in &WHAT {
            let each = if *name == "leak" { page() } else { 1 };
            for (answer, count) in [("100", 100), ("more", 90)] {
                let id = format!("{name}_{answer}");
                let planted = design.planted.iter().find(|it| it.id == id).unwrap();
                assert!(planted.truth.contains((count * each) as f64), "{id}");
                for off in [(count - 1) * each, count * each + 1] {
                    assert!(!planted.truth.contains(off as f64), "{id} is exact");
                }
            }
            let id = format!("{name}_growth");
            let growth = design.planted.iter().find(|it| it.id == id).unwrap();
            assert!(growth.truth.contains(1.0) && !growth.truth.contains(1.001), "{id}");
        }
        assert_eq!(design.planted.len(), 3 * WHAT.len());
    }

    #[test]
    fn so_many_pages_are_written_as_asked_for() {
        for count in [0, 1, 10] {
            let mut memory = fresh(count).unwrap();
            write(&mut memory, count);
            assert_eq!(memory.resident_bytes().unwrap(), count * page());
        }
    }
}
