//! Work on all CPUs whose results are taken one after the other, in order.

use anyhow::anyhow;
use std::thread::ScopedJoinHandle;

/// The most threads: each holds what it works on.
const THREADS_MAX: usize = 4;

/// The most results of a thread that wait to be taken, while it works on one more.
const AHEAD_MAX: usize = 3;

/// Does `work` on each item, and gives the results to `take` in the order of the items.
///
/// No two items are worked on at once that together weigh more than `weight_max`.
///
/// # Errors
/// The first, in the order of the items, of `work` and `take`; nothing is begun
/// after the items that are worked on by then.
pub(crate) fn in_order<T: Sync, R: Send>(
    items: &[T],
    (weigh, weight_max): (impl Fn(&T) -> u64, u64),
    work: impl Fn(&T) -> anyhow::Result<R> + Sync,
    mut take: impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cpus.min(THREADS_MAX);
    let mut rest = items;
    while !rest.is_empty() {
        let mut weight = 0_u64;
        let fits = |item: &&T| {
            weight = weight.saturating_add(weigh(item));
            weight <= weight_max
        };
        // One alone is worked on whatever it weighs.
        let batch = rest.iter().take(threads * (AHEAD_MAX + 1)).take_while(fits).count().max(1);
        let (now, later) = rest.split_at(batch);
        rest = later;
        let each = |part: &[T]| part.iter().map(&work).collect::<Vec<_>>();
        let results = std::thread::scope(|scope| {
            let parts = now.chunks(batch.div_ceil(threads));
            let threads: Vec<_> = parts.map(|part| scope.spawn(move || each(part))).collect();
            threads.into_iter().map(ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
        });
        let results = results.map_err(|_| anyhow!("a thread ended early"))?;
        for (item, result) in now.iter().zip(results.into_iter().flatten()) {
            take(item, result?)?;
        }
    }
    Ok(())
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
            assert!(ahead <= 1 + THREADS_MAX * (AHEAD_MAX + 1), "{ahead}");
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
    fn the_first_error_in_order_is_reported_and_ends_the_work() {
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
        assert!(begun.load(Ordering::SeqCst) <= 4 + THREADS_MAX * (AHEAD_MAX + 1));
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
