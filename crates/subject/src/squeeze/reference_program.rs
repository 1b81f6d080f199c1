//! A program that one resource alone limits: what it loses is what is taken.

use super::Place;
use super::corunner::CoRunner;
use kit::{Result, Stop};
use std::time::Duration;
use sys::clock::now_ns;

/// The turns, alone (false) and squeezed (true): in a row whose order cancels a drift.
const TURNS: [bool; 8] = [false, true, true, false, true, false, false, true];

/// How long a turn is, in nanoseconds.
const TURN_NS: u64 = 15_000_000;

/// What is left out at the beginning of a turn, until what was there before has ended.
const SETTLE: Duration = Duration::from_millis(1);

/// Returns the part of its rate that a reference loses to the co-runners, compared with its rate while those of
/// `instead` run. It is made, and works, on the program's CPU.
///
/// # Errors
/// What the reference says.
pub(super) fn lost<W>(
    (co_runners, instead): (&[CoRunner], &[CoRunner]),
    place: &Place,
    make: impl FnOnce() -> Result<W> + Send,
) -> Result<f64>
where
    W: FnMut() -> Result<u64>,
{
    between(place, make, |squeezed| {
        let (go, idle) = if squeezed { (co_runners, instead) } else { (instead, co_runners) };
        idle.iter().for_each(CoRunner::idle);
        go.iter().for_each(CoRunner::go);
        Ok(())
    })
}

/// The same, for what `squeeze` turns on and off.
pub(super) fn between<W>(
    place: &Place,
    make: impl FnOnce() -> Result<W> + Send,
    squeeze: impl Fn(bool) -> Result<()> + Sync,
) -> Result<f64>
where
    W: FnMut() -> Result<u64>,
{
    let cpu = place.reference()?;
    let measured = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            sys::affinity::pin(&[cpu]).map_err(|error| Stop::unsupported(error.to_string()))?;
            let mut work = make()?;
            let rates = in_turns(&mut work, &squeeze);
            squeeze(false)?;
            rates
        });
        thread.join()
    });
    let (alone, beside) = measured.map_err(|_| Stop::failed("the reference panicked"))??;
    Ok(part_lost(alone, beside))
}

/// The reference's units per second alone and squeezed.
fn in_turns<W>(work: &mut W, squeeze: &impl Fn(bool) -> Result<()>) -> Result<(f64, f64)>
where
    W: FnMut() -> Result<u64>,
{
    // What is done for the first time is slow for other reasons.
    turn(work)?;
    let mut units = [0.0; 2];
    let mut time_ns = [0.0; 2];
    for squeezed in TURNS {
        squeeze(squeezed)?;
        std::thread::sleep(SETTLE);
        let (did, took_ns) = turn(work)?;
        units[usize::from(squeezed)] += did as f64;
        time_ns[usize::from(squeezed)] += took_ns as f64;
    }
    Ok((units[0] / time_ns[0], units[1] / time_ns[1]))
}

fn turn<W>(work: &mut W) -> Result<(u64, u64)>
where
    W: FnMut() -> Result<u64>,
{
    let (began_ns, mut units) = (now_ns(), 0);
    loop {
        units += work()?;
        let took_ns = now_ns() - began_ns;
        if took_ns >= TURN_NS {
            return Ok((units, took_ns.max(1)));
        }
    }
}

/// The part of a rate that is lost; below 0 where it grew, and less than 1 however little is left:
/// a millionth is what is stored.
fn part_lost(alone: f64, squeezed: f64) -> f64 {
    (1.0 - squeezed / alone).clamp(-1.0, 0.999_999)
}

#[cfg(test)]
mod tests {
    use super::{TURNS, part_lost};

    #[test]
    fn the_part_that_is_lost_is_neither_hidden_nor_all() {
        assert_eq!(part_lost(4.0, 3.0), 0.25);
        assert_eq!(part_lost(4.0, 5.0), -0.25);
        assert_eq!(part_lost(4.0, 0.0), 0.999_999);
        assert_eq!(part_lost(1.0, 9.0), -1.0);
    }

    #[test]
    fn turns_are_balanced_against_a_drift() {
        let places = |squeezed| {
            let of = (0..).zip(TURNS).filter(move |(_, turn)| *turn == squeezed);
            of.map(|(place, _): (i32, bool)| place).sum::<i32>()
        };
        assert_eq!(places(true), places(false));
    }
}
