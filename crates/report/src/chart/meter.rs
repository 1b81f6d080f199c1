//! When the machine was disturbed: one lane per kind of disturbance over the time of the trials.

use super::rows::{foot, row};
use super::scale::Scale;
use super::{percent, px};
use crate::doc::{Column, Drawing, Table, Text};
use maud::{Markup, html};
use model::{Record, Surroundings, Unit};
use wording::counted;
use wording::number::{Terms, duration_s, rounded};

/// Height of a lane, and the part of it that stays free above, in pixels.
const HEIGHT: f64 = 34.0;
const ABOVE: f64 = 3.0;

/// Stretches of time that are drawn at most; a trial of a short session has one for itself.
const STRETCHES_MAX: usize = 48;

/// The least that the full height of a lane means, as a share: less would show scatter as if it
/// were disturbance.
const SHARE_TOP_MIN: f64 = 0.1;
const CLOCK_TOP_MIN: f64 = 0.05;

/// What the kernel counts of the machine during a trial, in ns.
type Waited = fn(&Surroundings) -> Option<u64>;

/// The lanes of what is a share of the trials' time. The first is always shown where it is known, the
/// others only where there was any.
const LANES: [(&str, Waited); 6] = [
    ("CPU time of others", |machine| machine.foreign_cpu_ns),
    ("stolen by the hypervisor", |machine| machine.steal_ns),
    ("waiting for a CPU", |machine| machine.cpu_pressure_ns),
    ("waiting for I/O", |machine| machine.io_pressure_ns),
    ("waiting for memory", |machine| machine.memory_pressure_ns),
    ("held back by a quota", |machine| machine.throttled_ns),
];

/// What one kind of disturbance did.
#[derive(Clone, Debug)]
struct Lane {
    name: &'static str,
    /// Whether it is the calibration loop, as what lies above its median.
    clock: bool,
    /// By stretch of time: the median of its trials and the most of any.
    stretches: Vec<Option<(f64, f64)>>,
    /// The same of all trials.
    over_all: (f64, f64),
}

/// The disturbance of a session.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    lanes: Vec<Lane>,
    /// The trials that reach into each stretch of time.
    stretches: Vec<Vec<usize>>,
    total_ns: f64,
}

/// Reads the disturbance off the trials; `None` where none of them tells. The time is that of the
/// trials, one after the other: the pause before a resumed session is no part of it.
pub(crate) fn meter(records: &[Record]) -> Option<Meter> {
    let mut trials: Vec<&Record> = records.iter().collect();
    trials.sort_by_key(|record| record.trial);
    let lengths: Vec<f64> = trials.iter().map(|record| record.total_ns.max(1) as f64).collect();
    let stretches = stretches(&lengths);
    let mut lanes = Vec::new();
    for (index, (name, waited)) in LANES.into_iter().enumerate() {
        let shares: Vec<Option<f64>> = trials.iter().map(|record| share(record, waited)).collect();
        let lane = Lane::new(name, false, &shares, &stretches);
        lanes.extend(lane.filter(|lane| index == 0 || lane.over_all.1 > 0.0));
    }
    lanes.extend(Lane::new("calibration loop", true, &slowing(&trials), &stretches));
    (!lanes.is_empty()).then(|| Meter { lanes, stretches, total_ns: lengths.iter().sum() })
}

fn share(record: &Record, waited: Waited) -> Option<f64> {
    (record.total_ns > 0).then_some(waited(&record.machine)? as f64 / record.total_ns as f64)
}

/// Returns by how much the slower of each trial's two calibration loops lies above their median.
fn slowing(trials: &[&Record]) -> Vec<Option<f64>> {
    let slower = |record: &&Record| {
        let loops = record.measured.as_ref()?.calibration?;
        Some(loops.before_ns.max(loops.after_ns) as f64)
    };
    let loops: Vec<Option<f64>> = trials.iter().map(slower).collect();
    let known: Vec<f64> = loops.iter().flatten().copied().collect();
    let middle = analysis::median(&known).filter(|middle| *middle > 0.0);
    loops.into_iter().map(|ns| Some(ns? / middle? - 1.0)).collect()
}

/// Returns stretches of equal length, each with the trials that reach into it.
fn stretches(lengths: &[f64]) -> Vec<Vec<usize>> {
    let count = lengths.len().clamp(1, STRETCHES_MAX);
    let width = lengths.iter().sum::<f64>() / count as f64;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut at = 0.0;
    for (trial, length) in lengths.iter().enumerate() {
        let first = ((at / width) as usize).min(count - 1);
        at += length;
        // A trial that ends where a stretch begins has no part in it.
        let last = ((at / width - 1e-9).max(0.0) as usize).clamp(first, count - 1);
        members[first..=last].iter_mut().for_each(|stretch| stretch.push(trial));
    }
    members
}

impl Lane {
    /// Returns a lane of numbers, one a trial; `None` where no number is known.
    fn new(
        name: &'static str,
        clock: bool,
        numbers: &[Option<f64>],
        stretches: &[Vec<usize>],
    ) -> Option<Lane> {
        let over_all = summary(numbers.iter().copied())?;
        let of = |trials: &Vec<usize>| summary(trials.iter().map(|trial| numbers[*trial]));
        Some(Lane { name, clock, stretches: stretches.iter().map(of).collect(), over_all })
    }

    /// Returns what the bottom and the top of the lane mean.
    fn range(&self) -> (f64, f64) {
        let known = self.stretches.iter().flatten();
        let top_min = if self.clock { CLOCK_TOP_MIN } else { SHARE_TOP_MIN };
        known.fold((0.0, top_min), |(low, high), (middle, most)| (middle.min(low), most.max(high)))
    }

    /// Returns one of its numbers with two digits: three would be read as if disturbance were known
    /// that well. The calibration loop's is what it lies above its median.
    fn amount(&self, x: f64) -> String {
        let digits = 10f64.powf(x.abs().max(1e-4).log10().floor() - 1.0);
        let text = rounded((x / digits).round() * digits, Terms::Share);
        if self.clock && x > 0.0 { format!("+{text}") } else { text }
    }
}

/// Returns the median and the most of what is known.
fn summary(numbers: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let known: Vec<f64> = numbers.flatten().collect();
    Some((analysis::median(&known)?, known.into_iter().reduce(f64::max)?))
}

impl Meter {
    /// Reports whether the calibration loop has a lane.
    pub(crate) fn has_clock(&self) -> bool {
        self.lanes.iter().any(|lane| lane.clock)
    }

    /// Returns when a stretch begins, in ns of the trials' time.
    fn begins_ns(&self, stretch: usize) -> f64 {
        self.total_ns * stretch as f64 / self.stretches.len() as f64
    }

    /// Returns the numbers behind the lanes: a row for each stretch of time.
    pub(crate) fn numbers(&self) -> Table {
        let mut table = Table::of(&["from"]).kind("wide", "disturbance over time");
        let heads = self.lanes.iter().map(|lane| format!("{} median, most", lane.name));
        let heads = heads.chain(["trials".to_string()]);
        table.columns.extend(heads.map(|head| Column { head, number: true }));
        for (index, trials) in self.stretches.iter().enumerate() {
            let cell = |lane: &Lane| match lane.stretches[index] {
                None => Text::from("–"),
                Some((middle, most)) => Text::from(format!("{} ", lane.amount(middle)))
                    .then(Text::quiet(lane.amount(most))),
            };
            let from = Text::from(time(self.begins_ns(index)));
            let trials = Text::from(trials.len().to_string());
            table.row([from].into_iter().chain(self.lanes.iter().map(cell)).chain([trials]));
        }
        table
    }

    /// Returns what a stretch of time says of a lane when it is pointed at.
    fn tip(&self, lane: &Lane, stretch: usize, (middle, most): (f64, f64)) -> String {
        let trials = self.stretches[stretch].len();
        let amount = match trials {
            1 => lane.amount(most),
            _ => format!("median {}, most {}", lane.amount(middle), lane.amount(most)),
        };
        let (trials, from) = (counted(trials as u64, "trial"), time(self.begins_ns(stretch)));
        format!("{}: {amount}\n{trials}, {from} after the start", lane.name)
    }

    fn lane(&self, lane: &Lane) -> Markup {
        let (low, high) = lane.range();
        let down = |x: f64| ABOVE + (high - x.clamp(low, high)) / (high - low) * (HEIGHT - ABOVE);
        let width = 1.0 / self.stretches.len() as f64;
        let known = lane.stretches.iter().enumerate();
        let known = known.filter_map(|(index, pair)| Some((index, (*pair)?)));
        let strip = html! {
            g class=(if lane.clock { "s0" } else { "s1" }) {
                @for (index, (middle, most)) in known {
                    @let x = percent(index as f64 * width);
                    @for (class, value) in [("most", most), ("middle", middle)] {
                        @let height = px((down(0.0) - down(value)).abs());
                        @if height != "0" {
                            rect class=(class) x=(x) width=(percent(width)) y=(px(down(value.max(0.0))))
                                height=(height) {}
                        }
                    }
                    rect.mark.hit x=(x) width=(percent(width)) height=(px(HEIGHT))
                        data-tip=(self.tip(lane, index, (middle, most))) {}
                }
                line.base x1="0" x2="100%" y1=(px(down(0.0))) y2=(px(down(0.0))) {}
            }
        };
        let (middle, most) = lane.over_all;
        let most = format!("most {}", lane.amount(most));
        row(lane.name, HEIGHT, &strip, [&lane.amount(middle), &most])
    }

    fn axis(&self) -> Markup {
        const MINUTE_NS: f64 = 60e9;
        let total = self.total_ns;
        // Round minutes are round for people, round hundreds of seconds are not.
        let unit = if total > 5.0 * MINUTE_NS { MINUTE_NS } else { 1.0 };
        let ticks = Scale::Linear { low: 0.0, high: total / unit }.ticks(5).into_iter();
        let ticks = ticks.map(|tick| tick * unit).filter(|ns| *ns < 0.97 * total);
        let word = |ns: f64| if ns == 0.0 { "0".into() } else { time(ns) };
        let words: Vec<(f64, String)> = ticks.map(|ns| (ns / total, word(ns))).collect();
        foot(words.iter().map(|(at, word)| (*at, word)), "time of the trials")
    }
}

impl Drawing for Meter {
    fn svg(&self) -> Markup {
        let lanes: Vec<&str> = self.lanes.iter().map(|lane| lane.name).collect();
        let about = format!(
            "Chart: {} over {} of trials, in {} stretches. Arrow keys step through them; the table \
             below holds the same numbers.",
            lanes.join(", "),
            time(self.total_ns),
            self.stretches.len()
        );
        html! {
            div.rows.meter role="img" tabindex="0" aria-label=(about) {
                @for lane in &self.lanes { (self.lane(lane)) }
                (self.axis())
            }
        }
    }
}

/// Returns a length of time for people.
fn time(ns: f64) -> String {
    const SECOND_NS: f64 = 1e9;
    if ns >= 120.0 * SECOND_NS {
        duration_s((ns / SECOND_NS) as u64)
    } else {
        rounded(ns, Terms::In(&Unit::Ns))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;
    use crate::fixture;
    use model::Calibration;

    fn names(meter: &Meter) -> Vec<&str> {
        meter.lanes.iter().map(|lane| lane.name).collect()
    }

    /// Trials of the fixture, each with this much CPU time of others.
    fn records(shares: &[f64]) -> Vec<Record> {
        let mut records = fixture::session(12).records;
        records.truncate(shares.len());
        for (record, share) in records.iter_mut().zip(shares) {
            record.total_ns = 1_000_000;
            record.machine = Surroundings {
                foreign_cpu_ns: Some((share * 1e6) as u64),
                steal_ns: Some(0),
                ..Surroundings::default()
            };
            record.measured = None;
        }
        records
    }

    #[test]
    fn each_trial_of_a_short_session_has_a_stretch_of_its_own() {
        let meter = meter(&records(&[0.1, 0.2, 0.9])).unwrap();
        assert_eq!(names(&meter), ["CPU time of others"]);
        let seen: Vec<f64> = meter.lanes[0].stretches.iter().map(|it| it.unwrap().1).collect();
        assert_eq!(seen, [0.1, 0.2, 0.9]);
        assert_eq!(meter.lanes[0].over_all, (0.2, 0.9));
    }

    #[test]
    fn a_long_trial_reaches_into_all_the_stretches_it_covers() {
        let mut records = records(&[0.0, 0.5]);
        records[1].total_ns = 3_000_000;
        records[1].machine.foreign_cpu_ns = Some(1_500_000);
        let meter = meter(&records).unwrap();
        assert_eq!(meter.stretches, [vec![0, 1], vec![1]]);
        assert_eq!(meter.lanes[0].stretches[1], Some((0.5, 0.5)));
    }

    #[test]
    fn many_trials_are_binned_and_keep_their_extremes() {
        let shares: Vec<f64> = (0..800).map(|i| if i == 500 { 2.0 } else { 0.01 }).collect();
        let meter = meter(&records(&shares)).unwrap();
        assert_eq!(meter.stretches.len(), STRETCHES_MAX);
        let all = meter.lanes[0].stretches.iter().flatten();
        let most = all.map(|(_, most)| *most).fold(0.0, f64::max);
        assert_eq!(most, 2.0);
        let counted: usize = meter.stretches.iter().map(Vec::len).sum();
        assert!((800..=800 + STRETCHES_MAX).contains(&counted), "{counted}");
    }

    #[test]
    fn the_clock_is_told_against_its_median_and_gaps_stay_gaps() {
        let mut records = records(&[0.0, 0.0, 0.0, 0.0]);
        for (index, loop_ns) in [(0, 100_000), (1, 100_000), (3, 130_000)] {
            let loops = Calibration { before_ns: 90_000, after_ns: loop_ns };
            records[index].measured =
                Some(model::Measured { calibration: Some(loops), ..Default::default() });
        }
        let meter = meter(&records).unwrap();
        assert_eq!(names(&meter), ["CPU time of others", "calibration loop"]);
        let clock = &meter.lanes[1];
        let seen: Vec<bool> = clock.stretches.iter().map(Option::is_some).collect();
        assert_eq!(seen, [true, true, false, true]);
        assert!((clock.over_all.1 - 0.3).abs() < 1e-12);
        let drawn = meter.lane(clock).into_string();
        assert_eq!(drawn.matches("mark hit").count(), 3);
        assert!(drawn.contains("calibration loop: +30 %"), "{drawn}");
    }

    #[test]
    fn a_neighbour_of_one_third_of_the_session_is_seen_there() {
        let meter = meter(&fixture::doubted(12).records).unwrap();
        let busy = |lane: usize, least: f64| -> Vec<usize> {
            let stretches = meter.lanes[lane].stretches.iter().enumerate();
            stretches
                .filter(|(_, pair)| pair.is_some_and(|(_, most)| most > least))
                .map(|(index, _)| index)
                .collect()
        };
        let clock = meter.lanes.iter().position(|lane| lane.clock).unwrap();
        for seen in [busy(0, 0.5), busy(clock, 0.03)] {
            let third = STRETCHES_MAX / 3..=2 * STRETCHES_MAX / 3;
            assert!(seen.len() >= STRETCHES_MAX / 3 - 2, "{seen:?}");
            assert!(seen.iter().all(|index| third.contains(index)), "{seen:?}");
        }
    }

    #[test]
    fn trials_that_tell_nothing_make_no_meter() {
        let mut records = records(&[0.0, 0.0]);
        records.iter_mut().for_each(|record| record.machine = Surroundings::default());
        assert!(meter(&records).is_none());
        assert!(meter(&[]).is_none());
    }
}
