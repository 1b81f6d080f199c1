//! How throughput follows n, by the points themselves, where nothing but throughput is known.
//!
//! Several causes have the same shape. So the sentence words the shape, and the evidence names them.

use super::case::{Case, last};
use super::level::{chosen, ratio};
use super::paired::by_level;
use super::rows::ROWS;
use super::trials::ScaleTrial;
use super::without_blocks;
use super::words::{figure, percent, with_interval};
use crate::stats::order;
use laws::tail::student_quantile;
use model::{Bottleneck, Founding, ScaleCause, ScaleFit};

/// The relative scatter that is assumed of trials of one n before any is known, and the degrees of
/// freedom that this assumption counts. The trials' own scatter is added to it as G. K. Smyth does
/// (*Linear models and empirical Bayes methods*, Statistical Applications in Genetics and Molecular
/// Biology 3, 2004). Two n of one row each then differ if they differ by 15 %: 3.3 standard errors
/// of rows that scatter by 3 %.
const ASSUMED: (f64, f64) = (0.022, 4.0);

/// The probability of a difference, of n that do not differ, that is taken for one.
const ERRS: f64 = 0.01;

/// The least share of n times one worker that is in proportion, as a logarithm: 0.95.
const NOTABLE: f64 = 0.051_293;

/// Throughput is flat if it rises or falls by less than a tenth of what would be in proportion.
const FLAT: f64 = 0.1;

/// From this number of rows on that no law describes, all that they differ by counts as scatter.
const ROWS_WITHOUT_LAW: usize = 6;

/// The probability of a trend in rows without one below which they have one.
const TREND: f64 = 0.02;

/// How throughput follows n. Places are those of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Fewer than two n.
    None,
    /// In proportion to n.
    Proportional,
    /// More than in proportion.
    Superlinear,
    /// More than in proportion up to a level, and less beyond.
    Bends(usize),
    /// Less than in proportion.
    Less,
    /// In proportion or less.
    Unsure,
    /// The same from a level on.
    Flat(usize),
    /// The same from a level on, or falling.
    NoRise(usize),
    /// Less beyond a level than there.
    Falls(usize),
    /// Neither more nor less than the rows scatter, of which no law describes any.
    Scattered,
}

/// The levels of n as they are compared.
#[derive(Debug)]
pub(super) struct Points {
    levels: Vec<(f64, Vec<f64>)>,
    /// The logarithm of the mean throughput of each.
    heights: Vec<f64>,
    /// The relative standard deviation of a trial.
    noise: f64,
    /// The quantile of Student's t for a difference.
    t: f64,
    /// What is known of their noise, in words.
    scatter: String,
    /// Whether rows that no law describes show no trend.
    is_scattered: bool,
}

impl Points {
    /// Returns the levels of some trials, each with its n and throughput. Where no n has two, what
    /// the chosen law leaves is their scatter.
    pub(super) fn new(trials: &[(f64, f64)], law: Option<&ScaleFit>) -> Self {
        let levels = by_level(trials);
        let means: Vec<f64> =
            levels.iter().map(|(_, values)| order::mean(values).unwrap_or(f64::NAN)).collect();
        let scatter = |((_, values), mean): (&(f64, Vec<f64>), &f64)| {
            values.iter().map(|x| (x / mean - 1.0).powi(2)).sum::<f64>()
        };
        let mut squares: f64 = levels.iter().zip(&means).map(scatter).sum();
        let mut freedom = trials.len() - levels.len();
        let mut source = "trials of the same n scatter by";
        let mut is_scattered = false;
        if let (0, Some(law)) = (freedom, law) {
            squares = law.residuals.iter().map(|it| it.share.powi(2)).sum();
            freedom = levels.len().saturating_sub(law.coefficients.len());
            source = "trials scatter about the law by";
        } else if freedom == 0 && levels.len() >= ROWS_WITHOUT_LAW {
            let mean = order::mean(&means).unwrap_or(f64::NAN);
            squares = means.iter().map(|x| (x / mean - 1.0).powi(2)).sum();
            freedom = levels.len() - 1;
            source = "no law describes the rows, which scatter about their mean by";
            let is_noisy = (squares / freedom as f64).sqrt() > NOTABLE;
            let has_order = order::trend(&means) < TREND || !order::is_without_order(&means);
            is_scattered = is_noisy && !has_order;
        }
        let scatter = match freedom {
            0 => "each n has one trial, which shows no scatter".into(),
            _ => format!("{source} {}", percent((squares / freedom as f64).sqrt())),
        };
        let (assumed, counts) = ASSUMED;
        let freedom = counts + freedom as f64;
        let noise = ((squares + counts * assumed * assumed) / freedom).sqrt();
        let heights = means.into_iter().map(f64::ln).collect();
        let t = student_quantile(freedom, ERRS);
        Points { levels, heights, noise, t, scatter, is_scattered }
    }

    /// Returns by how much the logarithm of throughput changes from one level to another.
    fn change(&self, from: usize, to: usize) -> f64 {
        self.heights[to] - self.heights[from]
    }

    /// Returns the least change between two levels that is no noise.
    fn reach(&self, from: usize, to: usize) -> f64 {
        let share = |place: usize| 1.0 / self.levels[place].1.len() as f64;
        self.t * self.noise * (share(from) + share(to)).sqrt()
    }

    /// Returns the least change between two levels that counts.
    fn notable(&self, from: usize, to: usize) -> f64 {
        self.reach(from, to).max(NOTABLE)
    }

    /// Returns what would change in proportion to n.
    fn proportional(&self, from: usize, to: usize) -> f64 {
        (self.levels[to].0 / self.levels[from].0).ln()
    }

    /// Returns by how much a level is above what is in proportion to the first one.
    fn excess(&self, place: usize) -> f64 {
        self.change(0, place) - self.proportional(0, place)
    }

    fn is_above(&self, place: usize) -> bool {
        self.excess(place) > self.notable(0, place)
    }

    fn is_below(&self, place: usize) -> bool {
        self.excess(place) < -self.notable(0, place)
    }

    /// Returns the shape. What happens up to the largest n comes first: a fall, then no rise.
    pub(super) fn shape(&self) -> Shape {
        let last = self.levels.len().saturating_sub(1);
        if last == 0 {
            return Shape::None;
        }
        if self.is_scattered {
            return Shape::Scattered;
        }
        let best = (0..=last).rev().max_by(|a, b| self.heights[*a].total_cmp(&self.heights[*b]));
        let best = best.unwrap_or(last);
        let falls = |from: &usize| self.change(*from, last) < -self.notable(*from, last);
        let as_high = |place: &usize| self.change(best, *place) >= -self.reach(best, *place);
        if let Some(place) = (best..last).rev().find(|it| falls(it) && as_high(it)) {
            return Shape::Falls(place);
        }
        if let Some(place) = (0..last).find(|place| self.is_flat_from(*place)) {
            return Shape::Flat(place);
        }
        if self.proportional(best, last) > self.reach(best, last) {
            return Shape::NoRise(best);
        }
        let bends = |place: &usize| {
            let beyond = self.excess(*place) - self.excess(last);
            self.is_above(*place) && beyond > self.notable(*place, last)
        };
        match (1..last).rev().find(bends) {
            _ if self.is_above(last) => Shape::Superlinear,
            Some(place) => Shape::Bends(place),
            None if self.is_below(last) => Shape::Less,
            None if self.excess(last) < -NOTABLE => Shape::Unsure,
            None if (1..last).any(|place| self.is_below(place)) => Shape::Unsure,
            None => Shape::Proportional,
        }
    }

    /// Reports whether no level from `place` on differs from the last, and the rise is both near 0 and
    /// distinguishable from one in proportion.
    fn is_flat_from(&self, place: usize) -> bool {
        let last = self.levels.len() - 1;
        let (rise, proportional) = (self.change(place, last), self.proportional(place, last));
        let is_same = |at: usize| self.change(at, last).abs() <= self.notable(at, last);
        rise.abs() <= FLAT * proportional
            && proportional - rise > self.reach(place, last)
            && (place..last).all(is_same)
    }

    /// Returns the numbers behind a shape: two n compared, and what is taken for noise.
    fn evidence(&self, from: usize) -> Vec<String> {
        let last = self.levels.len() - 1;
        let ((n, values), (most, at_most)) = (&self.levels[from], &self.levels[last]);
        let times = ratio(at_most, values).map_or_else(String::new, |it| with_interval(&it));
        vec![
            format!(
                "n = {} has {times} times the throughput of n = {}; {} would be in proportion",
                figure(*most),
                figure(*n),
                figure(most / n)
            ),
            format!(
                "between these two, a difference below {} is taken for noise: {}",
                percent(self.reach(from, last).exp_m1()),
                self.scatter
            ),
        ]
    }
}

/// Returns what the throughputs show where nothing else is known.
pub(super) fn by_shape(case: &Case<'_>) -> ScaleCause {
    let rows = &ROWS.shape;
    let trials = without_blocks(case.levels, ScaleTrial::throughput).points;
    let law = chosen(case.curve);
    let points = Points::new(&trials, law);
    let shape = points.shape();
    let (row, place) = match shape {
        Shape::None => (&rows.none, None),
        Shape::Proportional => (&rows.proportional, None),
        Shape::Superlinear => (&rows.superlinear, None),
        Shape::Bends(place) => (&rows.bends, Some(place)),
        Shape::Less => (&rows.less, None),
        Shape::Unsure => (&rows.unsure, None),
        Shape::Scattered => (&rows.scattered, None),
        Shape::Flat(place) => (&rows.flat, Some(place)),
        Shape::NoRise(place) => (&rows.no_rise, Some(place)),
        Shape::Falls(place) => (&rows.falls, Some(place)),
    };
    let (at, lost) = last(case);
    let is_relative = case.one().is_none() && place.is_none() && shape != Shape::None;
    let scales = matches!(shape, Shape::Proportional | Shape::Superlinear);
    let number = match place.map_or(at, |place| points.levels[place].0) {
        1.0 if matches!(shape, Shape::Flat(_)) => "one worker".into(),
        n => format!("n = {}", figure(n)),
    };
    let mut sentence = row.sentence.replace("{}", &number);
    if is_relative {
        sentence += &rows.no_speedup;
    }
    let mut evidence = Vec::new();
    if shape != Shape::None {
        // What bends is above proportion to the first n.
        let from = place.filter(|_| !matches!(shape, Shape::Bends(_)));
        evidence = points.evidence(from.unwrap_or(0));
    }
    evidence.extend([&row.explained].into_iter().filter(|text| !text.is_empty()).cloned());
    let is_above = |place: &usize| points.is_above(*place);
    if let (true, Some(place)) = (row.remedy.is_empty(), (1..points.levels.len()).find(is_above)) {
        let n = figure(points.levels[place].0);
        evidence.push(format!("n = {n} is above proportion: {}", rows.superlinear.explained));
    }
    let law = if law.is_some() { "the law: " } else { "" };
    evidence.push(format!("{law}{}", case.curve.reason));
    let remedy = if row.remedy.is_empty() { &rows.remedy } else { &row.remedy };
    ScaleCause {
        cause: if scales && !is_relative { Bottleneck::Nothing } else { Bottleneck::Unknown },
        at,
        lost,
        standing: Founding::Suspected,
        sentence,
        evidence,
        remedy: remedy.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ScaleInput, figures, scaling};
    use super::*;
    use crate::simulation::Draws;
    use model::Scaling;

    fn fitted(text: &str) -> Scaling {
        let (scruple, source, unit) = ("test", "figures.csv".into(), Some("work".into()));
        let trials = figures(text).unwrap().trials;
        scaling(&ScaleInput::of_figures(scruple, source, unit, trials))
    }

    fn points(rows: &[(f64, f64)]) -> Points {
        Points::new(rows, None)
    }

    /// Small tables of each kind, as a file has them with `;` for a new line.
    const TABLES: [(&str, Bottleneck, &str); 32] = [
        ("1,100;2,200;4,400", Bottleneck::Nothing, "in proportion to n, up to n = 4"),
        ("1,50;2,101;3,149;4,198;6,303", Bottleneck::Nothing, "in proportion to n, up to n = 6"),
        ("1,100;2,193;4,402;8,781", Bottleneck::Nothing, "in proportion to n, up to n = 8"),
        (
            "1,98;1,104;2,205;2,196;4,391;4,401",
            Bottleneck::Nothing,
            "in proportion to n, up to n = 4",
        ),
        ("1,100;2,170;4,330;8,640;16,1530", Bottleneck::Unknown, "do not show whether"),
        ("1,100;2,190;4,370;8,728", Bottleneck::Unknown, "do not show whether"),
        ("1,90;1,110;2,150;2,190;4,310;4,390", Bottleneck::Unknown, "do not show whether"),
        ("1,100;2,200;4,100;8,800", Bottleneck::Unknown, "do not show whether"),
        (
            "1,1;2,1.82;4,3.08;8,4.71",
            Bottleneck::Unknown,
            "less than in proportion to n, up to n = 8",
        ),
        ("1,100;2,150", Bottleneck::Unknown, "less than in proportion to n, up to n = 2"),
        ("1,100;2,60;4,110", Bottleneck::Unknown, "less than in proportion to n, up to n = 4"),
        ("1,100;1,101;2,186;2,187;4,359;4,360", Bottleneck::Unknown, "less than in proportion"),
        ("1,100;2,101;4,99;8,100", Bottleneck::Unknown, "flat from one worker on"),
        ("1,97;2,103;4,105;8,102", Bottleneck::Unknown, "flat from one worker on"),
        ("1,100;2,100", Bottleneck::Unknown, "flat from one worker on"),
        ("1,99;1,101;2,102;2,98;4,97;4,103", Bottleneck::Unknown, "flat from one worker on"),
        ("1,100;2,200;4,400;8,400;16,400", Bottleneck::Unknown, "flat from n = 4 on"),
        ("1,100;2,200;3,203;4,201", Bottleneck::Unknown, "flat from n = 2 on"),
        ("1,10;1,11;3,31;3,30;6,32;6,31;12,31;12,30", Bottleneck::Unknown, "flat from n = 3 on"),
        ("2,100;4,102;8,99", Bottleneck::Unknown, "flat from n = 2 on"),
        (
            "1,30736144;2,15861716;4,23160878;8,22856860;16,22334734",
            Bottleneck::Unknown,
            "falls beyond n = 1",
        ),
        ("1,100;2,143;4,143;8,100", Bottleneck::Unknown, "falls beyond n = 4"),
        ("1,100;4,310;8,300;16,220;32,120", Bottleneck::Unknown, "falls beyond n = 8"),
        ("1,100;2,80;4,60", Bottleneck::Unknown, "falls beyond n = 1"),
        ("1,100;1,100.4;2,190;2,190.6;4,178;4,178.8", Bottleneck::Unknown, "falls beyond n = 2"),
        ("1,100;2,190;4,300;8,268", Bottleneck::Unknown, "does not rise beyond n = 4"),
        (
            "1,100;2,230;4,520;8,1200",
            Bottleneck::Nothing,
            "more than in proportion to n (superlinear), up to n = 8",
        ),
        ("1,100;1,101;3,330;3,329;6,690;6,680", Bottleneck::Nothing, "(superlinear), up to n = 6"),
        (
            "1,100;2,290;4,600;8,810",
            Bottleneck::Unknown,
            "more than in proportion to n up to n = 4, and less beyond",
        ),
        (
            "2,100;4,200;8,400",
            Bottleneck::Unknown,
            "in proportion to n, up to n = 8, the most workers measured; one worker was not measured, so no speedup is known",
        ),
        ("1,20", Bottleneck::Unknown, "One number of workers shows no shape"),
        ("4,20;4,21", Bottleneck::Unknown, "One number of workers shows no shape"),
    ];

    #[test]
    fn small_tables_are_worded_as_they_are() {
        for (table, cause, words) in TABLES {
            let found = fitted(&table.replace(';', "\n"));
            let first = &found.causes[0];
            assert_eq!((first.cause, found.causes.len()), (cause, 1), "{table}: {first:?}");
            assert!(first.sentence.contains(words), "{table}: {}", first.sentence);
        }
    }

    /// A lock, a quota and too few CPUs have the same shape: they are evidence, never the answer.
    #[test]
    fn an_answer_by_throughput_alone_names_no_cause() {
        for (table, ..) in TABLES {
            let answer = fitted(&table.replace(';', "\n")).answer.join(" ");
            let causes = ["lock", "serial", "CPU", "cache", "quota", "pair"];
            assert!(causes.iter().all(|cause| !answer.contains(cause)), "{table}: {answer}");
        }
    }

    const LAWS: [&str; 4] = ["linear law", "Amdahl", "kink", "universal"];

    #[test]
    fn rows_too_few_for_a_choice_name_no_law() {
        for (table, ..) in TABLES {
            let found = fitted(&table.replace(';', "\n"));
            let is_single = found.levels.iter().all(|level| level.trials == 1);
            if is_single && found.levels.len() < 6 {
                assert_eq!(found.throughput.chosen, None, "{table}");
                assert!(found.throughput.curve.is_empty());
                assert!(found.levels.len() < 2 || found.answer[2].contains("too few to choose"));
            }
            if found.throughput.chosen.is_none() {
                let answer = found.answer.join(" ");
                assert!(LAWS.iter().all(|law| !answer.contains(law)), "{table}: {answer}");
            }
        }
    }

    /// CPU times of a file say nothing of who waited for what.
    #[test]
    fn cpu_times_without_a_number_of_cpus_do_not_hide_the_shape() {
        let found = fitted("n,throughput,cpu_s\n1,100,0.01\n2,101,0.01\n4,99,0.01\n");
        assert!(found.causes[0].sentence.contains("flat from one worker on"), "{:?}", found.causes);
        assert!(found.cpu_throughput.is_some());
    }

    #[test]
    fn what_exceeds_proportion_before_it_ends_is_hinted_at() {
        let found = fitted("1,100\n2,290\n4,600\n8,610");
        assert!(found.causes[0].sentence.contains("flat from n = 4 on"));
        let hints = found.causes[0].evidence.join(" ");
        assert!(hints.contains("n = 2 is above proportion") && hints.contains("caches"), "{hints}");
    }

    /// The throughput of n workers, and the shapes that are true of it.
    type Truth = (&'static str, fn(f64) -> f64, fn(Shape) -> bool, fn(Shape) -> bool);

    const UNSURE: fn(Shape) -> bool = |shape| matches!(shape, Shape::Unsure | Shape::NoRise(_));

    const TRUTHS: [Truth; 6] = [
        ("linear", |n| n, |it| it == Shape::Proportional, UNSURE),
        ("flat", |_| 1.0, |it| it == Shape::Flat(0), UNSURE),
        ("Amdahl", |n| n / (1.0 + 0.1 * (n - 1.0)), |it| it == Shape::Less, UNSURE),
        // 1, 1.43, 1.43, 1.
        (
            "retrograde",
            |n| n / (1.0 + 0.2 * (n - 1.0) + 0.1 * n * (n - 1.0)),
            |it| matches!(it, Shape::Falls(1 | 2)),
            UNSURE,
        ),
        // Its throughput rises less than in proportion, whatever it does from 4 to 8.
        ("kink", |n| n.min(4.0), |it| it == Shape::Flat(2), |it| UNSURE(it) || it == Shape::Less),
        (
            "superlinear",
            |n| n.powf(1.15),
            |it| it == Shape::Superlinear,
            |it| UNSURE(it) || it == Shape::Proportional,
        ),
    ];

    /// Of tables with 3 % of noise, how many are worded wrongly, and how many rightly.
    fn worded((name, truth, right, unsure): Truth, trials: u32, seed: u64) -> (usize, usize) {
        let mut draws = Draws::new(seed);
        let (mut wrong, mut rights) = (0, 0);
        for _ in 0..SESSIONS {
            let mut rows = Vec::new();
            for n in [1.0, 2.0, 4.0, 8.0] {
                rows.extend((0..trials).map(|_| (n, truth(n) * (1.0 + 0.03 * draws.normal()))));
            }
            let shape = points(&rows).shape();
            rights += usize::from(right(shape));
            wrong += usize::from(!right(shape) && !unsure(shape));
        }
        println!("{name}, {trials} trials per n: {rights} right, {wrong} wrong of {SESSIONS}");
        (wrong, rights)
    }

    const SESSIONS: usize = 200;

    #[test]
    fn noisy_tables_are_seldom_worded_wrongly() {
        for (place, truth) in TRUTHS.into_iter().enumerate() {
            for trials in [1, 3] {
                let (wrong, right) = worded(truth, trials, 40 + place as u64);
                assert!(wrong <= SESSIONS * 3 / 100, "{}, {trials}: {wrong} wrong", truth.0);
                assert!(right * 100 >= SESSIONS * 80, "{}, {trials}: {right} right", truth.0);
            }
        }
    }

    /// Published tables cut short: what is said of n beyond the rows would be wrong for all.
    #[test]
    fn nothing_is_said_of_n_beyond_the_rows() {
        for text in [
            include_str!("../../../../laws/tests/data/raytracer.csv"),
            include_str!("../../../../laws/tests/data/specsdm91.csv"),
            include_str!("../../../../laws/tests/data/synthetic.csv"),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            for end in 2..=lines.len() {
                let found = fitted(&lines[..end].join("\n"));
                let most = found.levels.last().unwrap().n;
                let curve = &found.throughput;
                let ends = [curve.peak.n, curve.peak.low, curve.peak.high];
                assert!(ends.iter().flatten().all(|n| *n <= most), "{end}: {:?}", curve.peak);
                assert!(curve.curve.iter().all(|at| at.n <= most));
                let said = found.answer.iter().chain(&found.advice.sentences);
                for part in said.flat_map(|text| text.split("n = ").skip(1)) {
                    let digits: String =
                        part.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                    let n: f64 = digits.trim_end_matches('.').parse().unwrap();
                    assert!(n <= most, "{end}: {:?}", found.answer);
                }
            }
        }
    }

    /// Neither noise that happens to end low nor a hump is said to rise.
    #[test]
    fn rows_without_order_neither_rise_nor_fall() {
        let noise = "1,70\n2,22\n3,19\n4,41\n5,128\n6,64\n7,101\n8,158\n9,177\n10,17\n";
        let found = fitted(noise);
        assert!(found.answer.concat().contains("neither rises nor falls"), "{:?}", found.answer);
        let hump = "1,10\n2,21\n3,40\n4,60\n5,79\n6,81\n7,60\n8,41\n9,22\n10,11\n";
        let found = fitted(hump);
        assert!(!found.answer.concat().contains("neither rises nor falls"), "{:?}", found.answer);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::with_cases(200)
        })]

        #[test]
        fn nothing_limits_only_what_reaches_95_percent_of_n(
            rows in proptest::collection::vec((1..20_u32, 0.5..1.5_f64), 1..9),
            power in -0.5..1.5_f64,
        ) {
            let row = |(n, noise): &(u32, f64)| {
                format!("{n},{}\n", f64::from(*n).powf(power) * noise)
            };
            let found = fitted(&rows.iter().map(row).collect::<String>());
            if found.causes[0].cause == Bottleneck::Nothing {
                let last = found.levels.last().unwrap();
                let speedup = last.speedup.unwrap().point;
                proptest::prop_assert!(speedup >= 0.95 * last.n, "{speedup} at {}", last.n);
            }
        }
    }
}
