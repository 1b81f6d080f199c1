//! Work on all CPUs whose results are taken one after the other, in order.

use anyhow::Context;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, MutexGuard};

/// The most threads: each holds what it works on.
const THREADS_MAX: usize = 4;

/// How many items a thread may run ahead of what was taken, where one result is late.
const AHEAD_MAX: usize = 16;

/// Does `work` on each item, and gives the results to `take` in the order of the items.
///
/// No two items are worked on at once that together weigh more than `weight_max`.
///
/// # Errors
/// The first, in the order of the items, of `work` and `take`; nothing is begun after it.
pub(crate) fn in_order<T: Sync, R: Send>(
    items: &[T],
    (weigh, weight_max): (impl Fn(&T) -> u64 + Sync, u64),
    work: impl Fn(&T) -> anyhow::Result<R> + Sync,
    mut take: impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let line = Line::default();
    let (results, arrived) = mpsc::channel();
    std::thread::scope(|scope| {
        // However this ends, the threads are to end with it.
        let _closing = Closing(&line);
        for _ in 0..cpus.min(THREADS_MAX).min(items.len()) {
            let (results, line, weigh, work) = (results.clone(), &line, &weigh, &work);
            scope.spawn(move || {
                let _closing = Closing(line);
                while let Some((at, weight)) = line.next(items, weigh, weight_max) {
                    let result = work(&items[at]);
                    line.put_down(weight);
                    if results.send((at, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        let mut early = BTreeMap::new();
        for (at, item) in items.iter().enumerate() {
            let result = loop {
                if let Some(result) = early.remove(&at) {
                    break result;
                }
                let (at, result) = arrived.recv().context("a thread ended early")?;
                early.insert(at, result);
            };
            take(item, result?)?;
            line.taken(at + 1);
        }
        Ok(())
    })
}

/// What the threads know of each other.
#[derive(Debug, Default)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next item to be worked on.
    next: usize,
    /// How many results were taken.
    taken: usize,
    /// What is being worked on weighs so much.
    weight: u64,
    closed: bool,
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panics ends the scope, so that what it left here is not used.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the next item, with its weight, as soon as there is room for it; none if there is none.
    fn next<T>(
        &self,
        items: &[T],
        weigh: impl Fn(&T) -> u64,
        weight_max: u64,
    ) -> Option<(usize, u64)> {
        let mut state = self.state();
        loop {
            let at = state.next;
            let item = items.get(at).filter(|_| !state.closed)?;
            let weight = weigh(item);
            let fits = state.weight == 0 || state.weight.saturating_add(weight) <= weight_max;
            if fits && at < state.taken + AHEAD_MAX {
                state.next += 1;
                state.weight = state.weight.saturating_add(weight);
                return Some((at, weight));
            }
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn put_down(&self, weight: u64) {
        self.state().weight -= weight;
        self.changed.notify_all();
    }

    fn taken(&self, count: usize) {
        self.state().taken = count;
        self.changed.notify_all();
    }
}

/// Lets the threads end that wait for their turn, and begin nothing more: at the end of the taking,
/// and where a thread panics. A thread that has nothing left to do closes nothing that is open.
struct Closing<'a>(&'a Line);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    const LIGHT: (fn(&u64) -> u64, u64) = (|_| 0, 1);

    #[test]
    fn results_come_in_order_whoever_is_late() {
        let items: Vec<u64> = (0..200).collect();
        let work = |item: &u64| {
            if item.is_multiple_of(7) {
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(item * 2)
        };
        let mut taken = Vec::new();
        in_order(&items, LIGHT, work, |item, double| {
            taken.push((*item, double));
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, items.iter().map(|item| (*item, 2 * item)).collect::<Vec<_>>());
        in_order(&[], LIGHT, |_: &u64| Ok(()), |_, ()| Ok(())).unwrap();
    }

    #[test]
    fn nobody_runs_far_ahead_of_one_who_is_late() {
        let items: Vec<u64> = (0..100).collect();
        let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_: &u64| {
            let ahead = 1 + begun.fetch_add(1, Ordering::SeqCst) - taken.load(Ordering::SeqCst);
            Ok(ahead)
        };
        in_order(&items, LIGHT, work, |_, ahead| {
            assert!(ahead <= AHEAD_MAX + THREADS_MAX, "{ahead}");
            std::thread::sleep(Duration::from_millis(1));
            taken.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn what_is_heavy_is_worked_on_alone() {
        let items = [3_u64, 3, 9, 3, 9, 9, 1, 1];
        let held = AtomicU64::new(0);
        let work = |item: &u64| {
            let together = held.fetch_add(*item, Ordering::SeqCst) + item;
            std::thread::sleep(Duration::from_millis(3));
            held.fetch_sub(*item, Ordering::SeqCst);
            Ok(together)
        };
        in_order(&items, (|item| *item, 6), work, |item, together| {
            assert!(together <= 6 || together == *item, "{together} beside {item}");
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn the_first_error_in_order_is_told_and_nothing_is_begun_after_it() {
        let items: Vec<u64> = (0..500).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &u64| {
            begun.fetch_add(1, Ordering::SeqCst);
            match item {
                3 => {
                    std::thread::sleep(Duration::from_millis(20));
                    anyhow::bail!("three")
                }
                5.. => anyhow::bail!("a later one"),
                _ => Ok(()),
            }
        };
        let mut taken = 0;
        let error = in_order(&items, LIGHT, work, |_, ()| {
            taken += 1;
            Ok(())
        });
        assert_eq!((error.unwrap_err().to_string().as_str(), taken), ("three", 3));
        assert!(begun.load(Ordering::SeqCst) < 3 + AHEAD_MAX + THREADS_MAX);
        let error = in_order(
            &items,
            LIGHT,
            |_| Ok(()),
            |item, ()| {
                if *item == 2 { anyhow::bail!("enough") } else { Ok(()) }
            },
        );
        assert_eq!(error.unwrap_err().to_string(), "enough");
    }
}
