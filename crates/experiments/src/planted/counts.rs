//! Are things that happen a known number of times counted as that many?

use super::CHAPTER;
use kit::declare::{Named, cell, difference, exponent, factor, finding, planted, response, value};
use kit::model::{Cell, Design, Finding, Needs, Planted, Profile, Region, Response, Unit};
use kit::{Experiment, Stop, Trial};
use std::sync::atomic::Ordering;
use sys::gate::SharedGate;
use sys::pages::{Huge, Mapping, page_bytes};
use sys::tracer::StopCounter;
use sys::usage::Usage;

/// Are things that happen a known number of times counted as that many?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "planted_counts", design, trial };

/// One kind of thing that can be counted.
#[derive(Clone, Copy)]
struct Kind {
    /// What it is called behind a number.
    noun: &'static str,
    /// In what it shows.
    response: &'static str,
    /// What one adds to the response.
    each: fn() -> u64,
    /// Does it so many times, with the instrument around it.
    plant: fn(&mut Trial<'_>, u64) -> Result<(), Stop>,
}

const fn one() -> u64 {
    1
}

fn page() -> u64 {
    page_bytes() as u64
}

/// The levels of the factor `what`.
const WHAT: [Named<Kind>; 4] = [
    Named::new(
        "calls",
        "a child calls getppid, and the trial traces it",
        Kind { noun: "system calls", response: "calls_count", each: one, plant: calls },
    ),
    Named::new(
        "switches",
        "the trial sleeps, for as short as the kernel can",
        Kind { noun: "voluntary switches", response: "switches_count", each: one, plant: switches },
    ),
    Named::new(
        "faults",
        "the trial writes to pages that it never had",
        Kind { noun: "page faults", response: "faults_count", each: one, plant: faults },
    ),
    Named::new(
        "leak",
        "the trial maps pages, writes to them, and keeps them",
        Kind { noun: "leaked pages", response: "leak_bytes", each: page, plant: leak },
    ),
];

/// How often it happens in profiles below `standard`, where all answers are judged.
const FEW: u64 = 10;
const MANY: u64 = 100;

/// A system call stops a traced child at its entry and at its exit.
const STOPS_PER_CALL: u64 = 2;

/// What logarithms may lose of an exponent that is 1.
const ROUNDING: f64 = 1e-9;

fn at(what: &str, count: u64) -> Cell {
    cell([("what", what), ("count", &count.to_string())])
}

fn design() -> Design {
    Design {
        id: "planted_counts".into(),
        version: 1,
        chapter: CHAPTER.into(),
        question: "Are things that happen a known number of times counted as that many?".into(),
        method: "The trial does something a known number of times and reads the kernel's counter \
                 just before and just after; system calls are counted from outside, by a tracer \
                 that stops the child at each. With the count 0 the same code does nothing. Every \
                 answer is exact: another number is an error of the instrument."
            .into(),
        factors: vec![
            factor("what", "what happens", "calls").named(&WHAT).build(),
            factor("count", "how often it happens", "0")
                .numbers(Profile::Smoke, "so many times", &[0, FEW, MANY])
                .numbers(Profile::Standard, "so many times", &[1000])
                .build(),
        ],
        responses: responses(),
        findings: findings(),
        planted: WHAT.iter().flat_map(answers).collect(),
        needs: Needs {
            cpus: 1,
            privileges: vec![
                "to trace its own child (ptrace): without, system calls are not counted".into(),
            ],
            ..Needs::default()
        },
        precision: 0.01,
        time_limit_ms: 5_000,
        ..Design::default()
    }
}

fn responses() -> Vec<Response> {
    vec![
        response("calls_count", "system calls", Unit::Count)
            .subtract(cell([("count", "0")]))
            .card(
                "when the tracer lets the child go",
                "the child's end",
                "stops divided by 2, less the same for a child that only ends",
                "ptrace(PTRACE_SYSCALL)",
            )
            .build(),
        response("switches_count", "voluntary switches", Unit::Count)
            .card("before the first sleep", "after the last", "", "getrusage(RUSAGE_THREAD)")
            .build(),
        response("faults_count", "page faults", Unit::Count)
            .card("before the first write", "after the last", "", "getrusage(RUSAGE_THREAD)")
            .build(),
        response("leak_bytes", "resident memory gained", Unit::Bytes)
            .card(
                "before the first write",
                "after the last, while all is kept",
                "resident memory after less before",
                "/proc/self/smaps_rollup",
            )
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let sentence = |kind: &Kind| format!("Of {MANY} planted {}, {{}} are seen.", kind.noun);
    WHAT.iter()
        .map(|what| {
            let seen = value(what.by.response, at(what.name, MANY));
            finding(what.name, &sentence(&what.by), seen)
        })
        .collect()
}

/// The answers of one kind: how many there are, how many more, and that they grow with the count.
fn answers(what: &Named<Kind>) -> Vec<Planted> {
    let Named { name, by: Kind { noun, response, each, .. }, .. } = what;
    let exactly = |count: u64| {
        let truth = (count * each()) as f64;
        Region::within(truth, truth)
    };
    let free = cell([("what", name)]);
    vec![
        planted(
            &format!("{name}_{MANY}"),
            &format!("{MANY} {noun}"),
            value(response, at(name, MANY)),
            0.0,
            exactly(MANY),
        ),
        planted(
            &format!("{name}_more"),
            &format!("{MANY} {noun} instead of {FEW}"),
            difference(response, at(name, MANY), at(name, FEW)),
            0.0,
            exactly(MANY - FEW),
        ),
        planted(
            &format!("{name}_growth"),
            &format!("as many {noun} as the level says"),
            exponent(response, "count", free),
            0.0,
            Region::within(1.0 - ROUNDING, 1.0 + ROUNDING),
        ),
    ]
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let kind = trial.realise("what", &WHAT)?;
    let count = trial.number("count")?;
    trial.pin_to_one()?;
    (kind.plant)(trial, count)
}

/// The child makes its calls while it is traced. It waits for that by looking, which is no call.
fn calls(trial: &mut Trial<'_>, count: u64) -> Result<(), Stop> {
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
        if sys::process::peek_exited(child)? {
            return Err(Stop::failed("the child died before it began"));
        }
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

/// The shortest sleep: the kernel arms a timer, and the thread gives its CPU up until it fires.
const SLEEP_NS: u64 = 1;

fn switches(trial: &mut Trial<'_>, count: u64) -> Result<(), Stop> {
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
fn fresh(count: u64) -> Result<Mapping, Stop> {
    Ok(Mapping::new((count.max(1) * page()) as usize, Huge::Never)?)
}

fn write(memory: &mut Mapping, count: u64) {
    if count > 0 {
        memory.touch(page_bytes());
    }
}

fn faults(trial: &mut Trial<'_>, count: u64) -> Result<(), Stop> {
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

fn leak(trial: &mut Trial<'_>, count: u64) -> Result<(), Stop> {
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
    use super::{MANY, WHAT, design, fresh, page, write};

    #[test]
    fn truths_are_what_the_code_plants() {
        let design = design();
        for what in &WHAT {
            let id = format!("{}_{MANY}", what.name);
            let planted = design.planted.iter().find(|it| it.id == id).unwrap();
            let each = if what.name == "leak" { page() } else { 1 };
            assert!(planted.truth.contains((100 * each) as f64));
            for off in [99 * each, 100 * each + 1] {
                assert!(!planted.truth.contains(off as f64), "{id} is exact");
            }
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
