//! What does it cost to wake a sleeping thread?

use kit::model::Relation;
use kit::{OBSERVATIONS_MAX, Result, Stop, Trial};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sys::clock::{now_ns, sleep_ns};

experiment!("wake", "wake.toml");

/// How long the waker sleeps before each wake, so that the other thread is asleep.
const REST_NS: u64 = 50_000;

/// What a thread sleeps on: the number of the last wake, or a file that the waker writes to.
enum Bed {
    Futex(AtomicU32),
    Files(File, File),
}

type Make = fn() -> Result<Bed>;
const WAYS: [(&str, Make); 3] =
    [("futex", || Ok(Bed::Futex(AtomicU32::new(0)))), ("eventfd", eventfd), ("pipe", pipe)];

/// Where the two run: `None` for one CPU, or else what the two CPUs have in common, if that matters.
const PLACES: [(&str, Option<Option<Relation>>); 6] = [
    ("one", None),
    ("two", Some(None)),
    ("siblings", Some(Some(Relation::Siblings))),
    ("shared_cache", Some(Some(Relation::SharedCache))),
    ("package", Some(Some(Relation::Package))),
    ("packages", Some(Some(Relation::Packages))),
];

fn eventfd() -> Result<Bed> {
    let file = sys::eventfd::new()?;
    Ok(Bed::Files(file.try_clone()?, file))
}

fn pipe() -> Result<Bed> {
    let (from, to) = std::io::pipe()?;
    Ok(Bed::Files(OwnedFd::from(from).into(), OwnedFd::from(to).into()))
}

impl Bed {
    fn sleep(&self, wake: u32) -> Result<()> {
        match self {
            Bed::Futex(last) => {
                while last.load(Ordering::Acquire) < wake {
                    sys::futex::wait(last, wake - 1, None)?;
                }
            }
            Bed::Files(from, _) => Read::read_exact(&mut &*from, &mut [0; 8])?,
        }
        Ok(())
    }

    fn wake(&self, wake: u32) -> Result<()> {
        match self {
            Bed::Futex(last) => {
                last.store(wake, Ordering::Release);
                sys::futex::wake(last, 1)?;
            }
            Bed::Files(_, to) => Write::write_all(&mut &*to, &1_u64.to_ne_bytes())?,
        }
        Ok(())
    }
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let bed = trial.pick("way", &WAYS)?()?;
    let two = trial.pick("cpus", &PLACES)?;
    let [own, cpu] = match two {
        None => [trial.one_cpu()?; 2],
        Some(relation) => trial.pair(relation)?,
    };
    trial.pin(&[own])?;
    let (mut wakes, woken_ns) = (Vec::with_capacity(OBSERVATIONS_MAX), AtomicU64::new(0));
    trial.begin()?;
    let switches = std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| -> Result<u64> {
            sys::affinity::pin(&[cpu])?;
            let before = sys::usage::Usage::of_thread();
            for wake in 1..=OBSERVATIONS_MAX {
                bed.sleep(wake as u32)?;
                woken_ns.store(now_ns(), Ordering::Release);
            }
            Ok(sys::usage::Usage::of_thread().since(before).voluntary_switches)
        });
        for wake in 1..=OBSERVATIONS_MAX {
            sleep_ns(REST_NS);
            let from_ns = now_ns();
            bed.wake(wake as u32)?;
            while woken_ns.load(Ordering::Acquire) < from_ns && !sleeper.is_finished() {
                sleep_ns(REST_NS);
            }
            wakes.push(woken_ns.load(Ordering::Acquire).saturating_sub(from_ns) as i64);
        }
        sleeper.join().map_err(|_| Stop::failed("the sleeper panicked"))?
    })?;
    trial.end()?;
    trial.record("wake_ns", 1, wakes);
    // A sleeper that others kept from its CPU may be awake at the next wake.
    let per_wake = switches as f64 / OBSERVATIONS_MAX as f64;
    trial.check_cpus("voluntary switches of the sleeper per wake", per_wake, 0.9, 1.1);
    Ok(())
}

#[cfg(test)]
#[test]
fn every_level_has_its_code() {
    crate::check_levels(&design(), "way", &WAYS);
    crate::check_levels(&design(), "cpus", &PLACES);
}
