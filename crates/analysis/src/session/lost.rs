//! Trials that one side of a comparison lost. A trial that failed, timed out or printed no number that can be read may
//! be one of its treatment's slow ones, so that the number flatters the side that lost it.

use crate::session::sample::Table;
use model::{Cell, Lost, Outcome, Quantity, Record, measures};

/// The error at which more lost trials on one side are no chance.
const LOST_BY_CHANCE: f64 = 0.05;

/// Returns the treatment that lost the largest share of its trials, if it timed out where another
/// treatment of the comparison did less often, or if it lost more than chance explains (Fisher's exact
/// test, one-sided: *Statistical Methods for Research Workers*, 1934, 21.02).
pub(crate) fn lost(table: &Table<'_>, quantity: &Quantity) -> Option<Lost> {
    let exact = table.design.response(quantity.response()).is_some_and(|it| it.exact);
    let sides = if exact { Vec::new() } else { sides(quantity) };
    let counts = sides.into_iter().filter_map(|(at, response)| count(table, at, response));
    let mut counts: Vec<Count> = counts.collect();
    counts.sort_by(|a, b| a.share().total_cmp(&b.share()));
    let (least, most) = (counts.first()?, counts.last()?);
    let timed_out = most.part(most.timed_out) > least.part(least.timed_out);
    let is_more =
        most.share() > least.share() && (timed_out || by_chance(most, least) <= LOST_BY_CHANCE);
    is_more.then(|| Lost {
        at: most.at.clone(),
        trials: most.lost,
        timed_out: most.timed_out,
        of: most.of,
        other_trials: least.lost,
        other_of: least.of,
    })
}

/// Returns how many trials the one side lost beyond the other's share.
pub(crate) fn excess(lost: &Lost) -> u32 {
    let share = f64::from(lost.other_trials) / f64::from(lost.other_of.max(1));
    (f64::from(lost.trials) - share * f64::from(lost.of)).round().max(0.0) as u32
}

/// A side with what became of its trials.
struct Count {
    at: Cell,
    lost: u32,
    timed_out: u32,
    of: u32,
}

impl Count {
    fn part(&self, trials: u32) -> f64 {
        f64::from(trials) / f64::from(self.of)
    }

    fn share(&self) -> f64 {
        self.part(self.lost)
    }
}

/// Returns the sides of a comparison with the response of each; none of another quantity.
fn sides(quantity: &Quantity) -> Vec<(Cell, &str)> {
    let cells = match quantity {
        Quantity::Ratio { of, to, .. } | Quantity::Difference { of, to, .. } => {
            vec![of.clone(), to.clone()]
        }
        Quantity::Share { whole, without, base, .. } => {
            vec![whole.clone(), without.clone(), base.clone()]
        }
        Quantity::Proportion { over, lower, upper, at, .. } => {
            [lower, upper].map(|level| at.with(over, level)).to_vec()
        }
        Quantity::Quotient { response, by, at } => {
            return [response, by].map(|one| (at.clone(), one.as_str())).to_vec();
        }
        _ => Vec::new(),
    };
    cells.into_iter().map(|at| (at, quantity.response())).collect()
}

/// Counts the trials of a side, without those that the machine refused; `None` where there are none.
fn count(table: &Table<'_>, at: Cell, response: &str) -> Option<Count> {
    let all = table.records(&table.design.complete(&at)).iter();
    let trials: Vec<&&Record> =
        all.filter(|it| !matches!(it.outcome, Outcome::Unsupported { .. })).collect();
    let unreadable = measures::no_number(response);
    let has_number = |it: &Record| {
        matches!(it.outcome, Outcome::Completed { .. })
            && it.observed.get(unreadable.as_str()).is_none()
    };
    let number = |of: &dyn Fn(&Record) -> bool| {
        u32::try_from(trials.iter().filter(|it| of(it)).count()).unwrap_or(u32::MAX)
    };
    let of = number(&|_| true);
    let lost = number(&|it| !has_number(it));
    let timed_out = number(&|it| matches!(it.outcome, Outcome::TimedOut { .. }));
    (of > 0).then_some(Count { at, lost, timed_out, of })
}

/// Returns the probability that chance alone gives the one side as many of the lost trials, or more.
fn by_chance(most: &Count, least: &Count) -> f64 {
    let lost = most.lost + least.lost;
    // The probability of each number of lost trials on the one side, by that of one less.
    let (own, other) = (f64::from(most.of), f64::from(least.of));
    let first = lost.saturating_sub(least.of);
    let last = lost.min(most.of);
    let mut weights = vec![1.0_f64];
    for trials in first..last {
        let (x, n) = (f64::from(trials), f64::from(lost));
        let next = (own - x) * (n - x) / ((x + 1.0) * (other - n + x + 1.0));
        weights.push(weights.last().copied().unwrap_or(1.0) * next);
    }
    let whole: f64 = weights.iter().sum();
    let index = most.lost.saturating_sub(first) as usize;
    weights[index.min(weights.len())..].iter().sum::<f64>() / whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{design, task};
    use model::{Phase, Record};

    fn side(lost: u32, of: u32) -> Count {
        Count { at: Cell::default(), lost, timed_out: 0, of }
    }

    #[test]
    fn chance_is_that_of_fisher() {
        // The lady who tastes tea: 4 of 4 by chance in 1 of 70.
        assert!((by_chance(&side(4, 4), &side(0, 4)) - 1.0 / 70.0).abs() < 1e-12);
        assert!((by_chance(&side(3, 4), &side(1, 4)) - 17.0 / 70.0).abs() < 1e-12);
        assert!((by_chance(&side(0, 4), &side(0, 4)) - 1.0).abs() < 1e-12);
        assert!((by_chance(&side(4, 4), &side(4, 4)) - 1.0).abs() < 1e-12);
        // 3 of 20 against none: 20·19·18 of 40·39·38.
        let expected = 20.0 * 19.0 * 18.0 / (40.0 * 39.0 * 38.0);
        assert!((by_chance(&side(3, 20), &side(0, 20)) - expected).abs() < 1e-12);
    }

    /// Returns blocks of two treatments of which one lost some trials.
    fn records(lost: u32, outcome: &Outcome) -> Vec<Record> {
        let block = |block| ["1", "2"].map(|n| task(block, "thread", n, 7).record());
        let mut records: Vec<Record> = (0..12).flat_map(block).collect();
        let of_two = records.iter_mut().filter(|it| it.treatment.level("n") == Some("2"));
        for record in of_two.take(lost as usize) {
            record.outcome = outcome.clone();
            record.measured = None;
        }
        records
    }

    #[test]
    fn one_side_lost_what_the_other_did_not() {
        let design = design();
        let at = |n| Cell::new([("n", n)]);
        let ratio = Quantity::Ratio { response: "task_ns".into(), of: at("1"), to: at("2") };
        let found = |lost: u32, outcome: Outcome| {
            let records = records(lost, &outcome);
            super::lost(&Table::new(&design, records.iter()), &ratio)
        };
        let failed = || Outcome::Failed { reason: "no".into() };
        assert_eq!(found(0, failed()), None);
        assert_eq!(found(2, failed()), None, "chance gives as much");
        let much = found(5, failed()).unwrap();
        assert_eq!((much.at, much.trials, much.of, much.other_trials), (at("2"), 5, 12, 0));
        let mut unread = records(0, &failed());
        for record in unread.iter_mut().filter(|it| it.treatment.level("n") == Some("1")).take(5) {
            record.observed.insert("no_task_ns", "it is “1,024 us”");
        }
        let found_unread = super::lost(&Table::new(&design, unread.iter()), &ratio).unwrap();
        assert_eq!((found_unread.at, found_unread.trials), (at("1"), 5));
        let slow = found(1, Outcome::TimedOut { phase: Phase::Measuring }).unwrap();
        assert_eq!((slow.trials, slow.timed_out), (1, 1));
        assert_eq!(found(6, Outcome::Unsupported { reason: "no".into() }), None);
    }
}
