//! A queue in front of the CPU: threads on the program's CPUs that wake up often, at its priority,
//! and do next to nothing.

use super::Place;
use super::corunner::{CoRunner, Load};
use super::cpu::arithmetic;
use kit::{Result, Stop};
use std::sync::mpsc;

/// Threads for each CPU, at the full strength.
const THREADS: u32 = 4;

/// How long each sleeps, in nanoseconds.
const SLEEP_NS: u64 = 250_000;

/// What each does when it is awake: a tenth of a microsecond of arithmetic.
const STEPS: u64 = 100;

struct Waker;

impl Load for Waker {
    fn step(&mut self) -> Result<u64, String> {
        sys::clock::sleep_ns(SLEEP_NS);
        sys::black_box(arithmetic(1, STEPS));
        Ok(1)
    }
}

/// Starts `percent` of [`THREADS`] on each of the program's CPUs.
pub(super) fn wakers(place: &Place, percent: u32) -> Result<Vec<CoRunner>> {
    let each = (THREADS * percent / 100).max(1);
    let start = |cpu: &u32| {
        CoRunner::start(&[*cpu], move || Ok((Waker, format!("{each} wake up on each CPU"))))
    };
    let cpus = place.program.iter().flat_map(|cpu| (0..each).map(move |_| cpu));
    cpus.map(start).collect()
}

/// The reference that is limited by prompt wake-ups: two threads of one CPU that wake each other in turn.
pub(super) fn hand_over() -> Result<impl FnMut() -> Result<u64>, Stop> {
    let (to, from_us) = mpsc::sync_channel::<()>(0);
    let (to_us, from) = mpsc::sync_channel::<()>(0);
    // It ends when the other end of its channel does.
    std::thread::Builder::new()
        .name("reference".into())
        .spawn(move || while from_us.recv().is_ok() && to_us.send(()).is_ok() {})?;
    let gone = || Stop::failed("the reference's other thread ended");
    Ok(move || {
        to.send(()).map_err(|_| gone())?;
        from.recv().map_err(|_| gone())?;
        Ok(1)
    })
}
