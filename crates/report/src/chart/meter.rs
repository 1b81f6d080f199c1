//! When the machine was disturbed: one lane per kind of disturbance over the time of the trials.

use super::scale::Scale;
use super::{percent, px};
use crate::format::{Terms, duration_s, rounded};
use crate::words::counted;
use maud::{Markup, html};
use model::{Record, Unit};
use std::fmt::Write as _;

/// Height of a lane, and the part of it that stays free above, in pixels.
const HEIGHT: f64 = 34.0;
const ABOVE: f64 = 3.0;

/// Stretches of time that are drawn at most; a trial of a short session has one for itself.
const BINS_MAX: usize = 96;

/// Stretches of time in the table behind the chart.
const ROWS_MAX: usize = 16;

/// The least that the full height of a lane means, as a share: less would show scatter as if it
/// were disturbance.
const SHARE_TOP_MIN: f64 = 0.1;
const CLOCK_TOP_MIN: f64 = 0.05;

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Foreign,
    Steal,
    CpuPressure,
    IoPressure,
    MemoryPressure,
    Throttled,
    Clock,
}

const KINDS: [Kind; 7] = [
    Kind::Foreign,
    Kind::Steal,
    Kind::CpuPressure,
    Kind::IoPressure,
    Kind::MemoryPressure,
    Kind::Throttled,
    Kind::Clock,
];

impl Kind {
    /// The lane's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Foreign => "CPU time of others",
            Kind::Steal => "stolen by the hypervisor",
            Kind::CpuPressure => "waiting for a CPU",
            Kind::IoPressure => "waiting for I/O",
            Kind::MemoryPressure => "waiting for memory",
            Kind::Throttled => "held back by a quota",
            Kind::Clock => "calibration loop",
        }
    }

    /// What is shown of one trial, as a share: of the trial's time, or of the calibration loop's
    /// median.
    fn of(self, record: &Record, calibration_ns: f64) -> Option<f64> {
        let machine = &record.machine;
        let time_ns = match self {
            Kind::Foreign => machine.foreign_cpu_ns,
            Kind::Steal => machine.steal_ns,
            Kind::CpuPressure => machine.cpu_pressure_ns,
            Kind::IoPressure => machine.io_pressure_ns,
            Kind::MemoryPressure => machine.memory_pressure_ns,
            Kind::Throttled => machine.throttled_ns,
            Kind::Clock => {
                let slower = calibration(record)?;
                return (calibration_ns > 0.0).then(|| slower / calibration_ns - 1.0);
            }
        };
        (record.total_ns > 0).then_some(time_ns? as f64 / record.total_ns as f64)
    }
}

/// The slower of a trial's two calibration loops, in nanoseconds.
fn calibration(record: &Record) -> Option<f64> {
    let loops = record.measured.as_ref()?.calibration?;
    Some(loops.before_ns.max(loops.after_ns) as f64)
}

/// A stretch of time.
#[derive(Clone, Debug)]
pub(crate) struct Bin {
    /// From when to when, in nanoseconds of the trials' time.
    pub(crate) from_ns: f64,
    pub(crate) to_ns: f64,
    pub(crate) trials: usize,
    /// By lane: the median of its trials and the most of any.
    pub(crate) lanes: Vec<Option<(f64, f64)>>,
}

/// The disturbance of a session.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) bins: Vec<Bin>,
    /// By lane: the median of all trials and the most of any.
    pub(crate) over_all: Vec<(f64, f64)>,
    /// The median of the calibration loops; 0 where there are none.
    calibration_ns: f64,
    total_ns: f64,
}

/// Reads the disturbance off the trials; `None` where none of them tells. The time is that of the
/// trials, one after the other: the pause before a resumed session is no part of it.
pub(crate) fn meter(records: &[Record]) -> Option<Meter> {
    let mut trials: Vec<&Record> = records.iter().collect();
    trials.sort_by_key(|record| record.trial);
    let mut loops: Vec<f64> = trials.iter().filter_map(|record| calibration(record)).collect();
    let calibration_ns = median(&mut loops).unwrap_or(0.0);
    let over = |kind: Kind| -> Vec<f64> {
        trials.iter().filter_map(|record| kind.of(record, calibration_ns)).collect()
    };
    let (mut kinds, mut over_all) = (Vec::new(), Vec::new());
    for kind in KINDS {
        let mut values = over(kind);
        let always = matches!(kind, Kind::Foreign | Kind::Clock);
        if let Some(found) = summary(&mut values).filter(|(_, most)| always || *most > 0.0) {
            kinds.push(kind);
            over_all.push(found);
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let bins = bins(&trials, &kinds, calibration_ns, BINS_MAX);
    let total_ns = bins.last().map_or(0.0, |bin| bin.to_ns);
    Some(Meter { kinds, bins, over_all, calibration_ns, total_ns })
}

/// Stretches of equal length, each with the trials that reach into it.
fn bins(trials: &[&Record], kinds: &[Kind], calibration_ns: f64, most: usize) -> Vec<Bin> {
    let lengths: Vec<f64> = trials.iter().map(|record| record.total_ns.max(1) as f64).collect();
    let total: f64 = lengths.iter().sum();
    let count = trials.len().clamp(1, most);
    let width = total / count as f64;
    let mut members: Vec<Vec<&Record>> = vec![Vec::new(); count];
    let mut at = 0.0;
    for (record, length) in trials.iter().zip(lengths) {
        let first = ((at / width) as usize).min(count - 1);
        at += length;
        // A trial that ends where a stretch begins has no part in it.
        let last = ((at / width - 1e-9).max(0.0) as usize).clamp(first, count - 1);
        members[first..=last].iter_mut().for_each(|bin| bin.push(record));
    }
    let bin = |(index, members): (usize, Vec<&Record>)| Bin {
        from_ns: index as f64 * width,
        to_ns: (index + 1) as f64 * width,
        trials: members.len(),
        lanes: kinds
            .iter()
            .map(|kind| {
                let values = members.iter().filter_map(|record| kind.of(record, calibration_ns));
                summary(&mut values.collect::<Vec<_>>())
            })
            .collect(),
    };
    members.into_iter().enumerate().map(bin).collect()
}

fn summary(values: &mut [f64]) -> Option<(f64, f64)> {
    let most = values.iter().copied().reduce(f64::max)?;
    Some((median(values)?, most))
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

impl Meter {
    /// The same in fewer stretches, for a table.
    pub(crate) fn coarse(&self, records: &[Record]) -> Vec<Bin> {
        let mut trials: Vec<&Record> = records.iter().collect();
        trials.sort_by_key(|record| record.trial);
        bins(&trials, &self.kinds, self.calibration_ns, ROWS_MAX)
    }
}

/// All lanes with their common axis of time.
pub(crate) fn draw(meter: &Meter) -> Markup {
    let lanes: Vec<&str> = meter.kinds.iter().map(|kind| kind.name()).collect();
    let about = format!(
        "Chart: {} over {} of trials, in {} stretches. Arrow keys step through them; the table \
         below holds the same in fewer.",
        lanes.join(", "),
        time(meter.total_ns),
        meter.bins.len()
    );
    let when: Vec<String> = meter.bins.iter().map(when).collect();
    html! {
        div.rows.meter role="img" tabindex="0" aria-label=(about) data-when=(when.join("\n")) {
            @for lane in 0..meter.kinds.len() { (draw_lane(meter, lane)) }
            (axis(meter))
        }
    }
}

/// What the bottom and the top of a lane mean.
fn range(meter: &Meter, lane: usize) -> (f64, f64) {
    let values = meter.bins.iter().filter_map(|bin| bin.lanes[lane]);
    let (least, most) = values.fold((0.0_f64, 0.0_f64), |(least, most), (middle, largest)| {
        (least.min(middle), most.max(largest))
    });
    let top_min = if meter.kinds[lane] == Kind::Clock { CLOCK_TOP_MIN } else { SHARE_TOP_MIN };
    (least, most.max(top_min))
}

fn draw_lane(meter: &Meter, lane: usize) -> Markup {
    let kind = meter.kinds[lane];
    let (low, high) = range(meter, lane);
    let down =
        |x: f64| ABOVE + (1.0 - ((x - low) / (high - low)).clamp(0.0, 1.0)) * (HEIGHT - ABOVE);
    let count = meter.bins.len();
    let (middle, most) = meter.over_all[lane];
    let style = if kind == Kind::Clock { "s0" } else { "s1" };
    // A line for each stretch, also for one of which nothing is known.
    let says =
        meter.bins.iter().map(|bin| bin.lanes[lane].map_or(String::new(), |p| says(kind, bin, p)));
    let says: Vec<String> = says.collect();
    html! {
        div.row {
            div.row-label { (kind.name()) }
            svg.strip width="100%" height=(px(HEIGHT)) data-lane=(says.join("\n")) {
                g class=(style) {
                    svg width="100%" height=(px(HEIGHT)) viewBox=(format!("0 0 {count} {HEIGHT}"))
                        preserveAspectRatio="none" {
                        path.most d=(steps(meter, lane, |pair| pair.1, down)) {}
                        path.middle d=(steps(meter, lane, |pair| pair.0, down)) {}
                    }
                    line.base x1="0" x2="100%" y1=(px(down(0.0))) y2=(px(down(0.0))) {}
                }
                @for (index, bin) in meter.bins.iter().enumerate() {
                    @if bin.lanes[lane].is_some() {
                        rect.mark.hit x=(percent(index as f64 / count as f64))
                            width=(percent(1.0 / count as f64)) height=(px(HEIGHT)) {}
                    }
                }
            }
            div.row-value {
                b { (amount(kind, middle)) } " "
                span.interval { "most " (amount(kind, most)) }
            }
        }
    }
}

/// The outline of a lane: a step per stretch, broken where nothing is known.
fn steps(
    meter: &Meter,
    lane: usize,
    value: impl Fn((f64, f64)) -> f64,
    down: impl Fn(f64) -> f64,
) -> String {
    let base = px(down(0.0));
    let mut path = String::new();
    let mut drawing = false;
    for (index, bin) in meter.bins.iter().enumerate() {
        let Some(pair) = bin.lanes[lane] else {
            if drawing {
                let _ = write!(path, "V{base}Z");
            }
            drawing = false;
            continue;
        };
        if !drawing {
            let _ = write!(path, "M{index} {base}");
        }
        let _ = write!(path, "V{}H{}", px(down(value(pair))), index + 1);
        drawing = true;
    }
    if drawing {
        let _ = write!(path, "V{base}Z");
    }
    path
}

/// A lane's number: the calibration loop's is what it lies above its median.
pub(crate) fn amount(kind: Kind, x: f64) -> String {
    // Two digits: three would be read as if disturbance were known that well.
    let digits = 10f64.powf(x.abs().max(1e-4).log10().floor() - 1.0);
    let text = rounded((x / digits).round() * digits, Terms::Share);
    if kind == Kind::Clock && x > 0.0 { format!("+{text}") } else { text }
}

/// What a stretch of time says of a lane when it is pointed at; the script puts the lane's name before
/// it and under it [`when`] it was.
fn says(kind: Kind, bin: &Bin, (middle, most): (f64, f64)) -> String {
    match bin.trials {
        1 => amount(kind, most),
        _ => format!("median {}, most {}", amount(kind, middle), amount(kind, most)),
    }
}

fn when(bin: &Bin) -> String {
    format!("{}, {} after the start", counted(bin.trials as u64, "trial"), time(bin.from_ns))
}

/// A length of time for people.
pub(crate) fn time(ns: f64) -> String {
    const SECOND_NS: f64 = 1e9;
    if ns >= 120.0 * SECOND_NS {
        duration_s((ns / SECOND_NS) as u64)
    } else {
        rounded(ns, Terms::In(&Unit::Ns))
    }
}

fn axis(meter: &Meter) -> Markup {
    const MINUTE_NS: f64 = 60e9;
    let total = meter.total_ns;
    // Round minutes are round for people, round hundreds of seconds are not.
    let unit = if total > 5.0 * MINUTE_NS { MINUTE_NS } else { 1.0 };
    let ticks = Scale::Linear { low: 0.0, high: total / unit }.ticks(5);
    html! {
        div.row.row-axis {
            div.row-label {}
            svg.strip width="100%" height="20" {
                @for value in ticks.into_iter().filter(|value| value * unit < 0.97 * total) {
                    @let first = value == 0.0;
                    text x=(percent(value * unit / total)) y="14"
                        text-anchor=(if first { "start" } else { "middle" }) {
                        @if first { "0" } @else { (time(value * unit)) }
                    }
                }
            }
            div.row-value.unit { "time of the trials" }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{Calibration, Surroundings};

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
        assert_eq!(meter.kinds, [Kind::Foreign]);
        let seen: Vec<f64> = meter.bins.iter().map(|bin| bin.lanes[0].unwrap().1).collect();
        assert_eq!(seen, [0.1, 0.2, 0.9]);
        assert_eq!(meter.over_all, [(0.2, 0.9)]);
    }

    #[test]
    fn a_long_trial_reaches_into_all_the_stretches_it_covers() {
        let mut records = records(&[0.0, 0.5]);
        records[1].total_ns = 3_000_000;
        records[1].machine.foreign_cpu_ns = Some(1_500_000);
        let bins = meter(&records).unwrap().bins;
        assert_eq!(bins.len(), 2);
        assert_eq!((bins[0].trials, bins[1].trials), (2, 1));
        assert_eq!(bins[1].lanes[0], Some((0.5, 0.5)));
    }

    #[test]
    fn many_trials_are_binned_and_keep_their_extremes() {
        let shares: Vec<f64> = (0..800).map(|i| if i == 500 { 2.0 } else { 0.01 }).collect();
        let meter = meter(&records(&shares)).unwrap();
        assert_eq!(meter.bins.len(), BINS_MAX);
        let most = meter.bins.iter().map(|bin| bin.lanes[0].unwrap().1).fold(0.0, f64::max);
        assert_eq!(most, 2.0);
        let counted: usize = meter.bins.iter().map(|bin| bin.trials).sum();
        assert!((800..=800 + BINS_MAX).contains(&counted), "{counted}");
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
        assert_eq!(meter.kinds, [Kind::Foreign, Kind::Clock]);
        let seen: Vec<bool> = meter.bins.iter().map(|bin| bin.lanes[1].is_some()).collect();
        assert_eq!(seen, [true, true, false, true]);
        assert!((meter.over_all[1].1 - 0.3).abs() < 1e-12);
        let path = steps(&meter, 1, |pair| pair.1, |x| x * 10.0);
        assert_eq!(path, "M0 0V0H1V0H2V0ZM3 0V3H4V0Z");
    }

    #[test]
    fn a_neighbour_of_one_third_of_the_session_is_seen_there() {
        let meter = meter(&fixture::doubted(12).records).unwrap();
        let busy = |lane: usize, least: f64| -> Vec<usize> {
            let bins = meter.bins.iter().enumerate();
            bins.filter(|(_, bin)| bin.lanes[lane].is_some_and(|(_, most)| most > least))
                .map(|(index, _)| index)
                .collect()
        };
        let clock = meter.kinds.iter().position(|kind| *kind == Kind::Clock).unwrap();
        for seen in [busy(0, 0.5), busy(clock, 0.03)] {
            let third = BINS_MAX / 3..=2 * BINS_MAX / 3;
            assert!(seen.len() >= BINS_MAX / 3 - 2, "{seen:?}");
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
