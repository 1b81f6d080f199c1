//! The method cannot be gamed: sessions of the product's own designs, in the product's own order
//! and with its own analysis, on a made-up machine that does all that machines do. Their intervals
//! hold the truth and their verdicts seldom err; and once one part of the method is taken away, the
//! pairing, the shuffling or the padding, the same check fails. (Observations taken for trials are
//! noticed: neighbouring ones are alike.)
//!
//! All is seeded: a failure is a change of the method, never bad luck.

use crate::method_machine::{Machine, Random, record};
use analysis::{FAMILY_ERROR, Input, summarise};
use model::{
    Cell, Claim, Design, Environment, Profile, Quantity, Record, Region, Treatment, Verdict,
};

/// Blocks of a session: more than are needed for intervals without assumptions, and not many.
const BLOCKS: u32 = 16;

/// By which factor the second name is slower where something was planted.
const PLANTED: f64 = 1.05;

const KINDS_OF_WORK: [&str; 3] = ["cpu", "kernel", "memory"];

/// How a session is conducted and read. Each field is a part of the method.
#[derive(Clone, Copy)]
struct Method {
    /// Which treatments are conducted in one pass over all blocks.
    passes: fn(&[Treatment]) -> Vec<Vec<Treatment>>,
    /// The order within a block.
    order: fn(u64, &str, u32, &[Treatment]) -> Vec<Treatment>,
    /// The padding of a trial's environment, from the trial's seed.
    padding: fn(u64) -> u32,
    /// What becomes of the records before they are read.
    reading: fn(Vec<Record>, &mut Random) -> Vec<Record>,
}

/// As the product does it.
const SCRUPLE: Method = Method {
    passes: |all| vec![all.to_vec()],
    order: |seed, id, block, all| runner::order(seed, id, block, all, &[]),
    padding: runner::padding_bytes,
    reading: |records, _| records,
};

/// The A/A control as it is in the catalog, and the same with an effect planted into it; each says
/// of each kind of work that the ratio is at least what it is in truth.
fn designs() -> [Design; 2] {
    let null = experiments::CATALOG.iter().find(|experiment| experiment.id == "null").unwrap();
    [("null", 1.0), ("planted", PLANTED)].map(|(id, truth)| {
        let mut design = (null.design)();
        design.id = id.into();
        design.claims = KINDS_OF_WORK.map(|work| at_the_edge(work, truth)).into();
        if id == "planted" {
            design.controls.clear();
        }
        design.check().unwrap();
        design
    })
}

fn ratio(work: &str) -> Quantity {
    let at = |order: &str| Cell::new([("work", work), ("order", order)]);
    Quantity::Ratio { response: "pass_ns".into(), of: at("b"), to: at("a") }
}

/// A claim whose number lies on the border of its region: whichever verdict is given is wrong.
fn at_the_edge(work: &str, truth: f64) -> Claim {
    Claim {
        id: work.into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity: ratio(work),
        holds_if: Region::above(truth),
        note: String::new(),
        shown: String::new(),
    }
}

/// One session: its trials in the order of the plan, one after the other on one machine.
fn conduct(method: &Method, designs: &[Design; 2], seed: u64) -> Vec<Record> {
    let mut machine = Machine::new(seed);
    let mut records = Vec::new();
    let passes = designs.each_ref().map(|it| (method.passes)(&it.treatments(Profile::Quick)));
    let [null, planted] = passes;
    for pass in null.iter().zip(&planted).map(|(null, planted)| [null, planted]) {
        for block in 0..BLOCKS {
            for index in runner::round_order(seed, block, designs.len()) {
                let id = &designs[index].id;
                let order = (method.order)(seed, id, block, pass[index]);
                for (position, treatment) in order.iter().enumerate() {
                    let own_seed = runner::trial_seed(seed, id, block, treatment);
                    let slower = id == "planted" && treatment.level("order") == Some("b");
                    let effect = if slower { PLANTED } else { 1.0 };
                    let padding = (method.padding)(own_seed);
                    let values = machine.measure(treatment, position, padding, effect);
                    records.push(record(id, block, position, treatment, values));
                }
            }
        }
    }
    (method.reading)(records, &mut Random::new(seed ^ 0x5eed))
}

/// What many sessions came to.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sessions: usize,
    /// Intervals, and those that held the truth.
    intervals: usize,
    held: usize,
    /// Sessions with a verdict on a claim that has none.
    wrong: usize,
    /// Sessions that told identical treatments apart.
    distrusted: usize,
    /// The sum of the intervals' logarithmic half-widths.
    widths: f64,
}

impl Score {
    fn coverage(&self) -> f64 {
        self.held as f64 / self.intervals as f64
    }

    fn width(&self) -> f64 {
        self.widths / self.intervals as f64
    }

    /// Whether the coverage is between 93 and 97 %, but for the error of so few intervals.
    fn covers(&self) -> bool {
        let error = |share: f64| 3.0 * (share * (1.0 - share) / self.intervals as f64).sqrt();
        (0.93 - error(0.93)..=0.97 + error(0.97)).contains(&self.coverage())
    }

    /// Whether so few sessions erred that 5 % may be the truth.
    fn seldom(&self, sessions: usize) -> bool {
        let expected = FAMILY_ERROR * self.sessions as f64;
        sessions as f64 <= expected + 3.0 * (expected * (1.0 - FAMILY_ERROR)).sqrt()
    }

    fn seldom_errs(&self) -> bool {
        self.seldom(self.wrong) && self.seldom(self.distrusted)
    }
}

fn score(method: &Method, sessions: usize) -> Score {
    let designs = designs();
    let mut score = Score { sessions, ..Score::default() };
    for seed in 0..sessions as u64 {
        let records = conduct(method, &designs, seed);
        let environment = &Environment::default();
        let summary = summarise(&Input {
            scruple: "0.1.0",
            session: "s",
            complete: true,
            environment,
            shield: &model::ShieldReport::default(),
            designs: &designs,
            records: &records,
        });
        for (experiment, truth) in summary.experiments.iter().zip([1.0, PLANTED]) {
            for finding in &experiment.findings {
                let interval = finding.result.estimate.unwrap();
                score.intervals += 1;
                score.held += usize::from(interval.low <= truth && truth <= interval.high);
                score.widths += (interval.high / interval.low).ln() / 2.0;
            }
        }
        let mut claims = summary.experiments.iter().flat_map(|experiment| &experiment.claims);
        score.wrong += usize::from(claims.any(|claim| claim.verdict != Verdict::Inconclusive));
        score.distrusted += usize::from(!summary.trust.holds);
    }
    println!("coverage {:.3}, half-width {:.3}: {score:?}", score.coverage(), score.width());
    score
}

#[test]
fn sessions_hold_the_truth_and_seldom_err() {
    let score = score(&SCRUPLE, 500);
    assert_eq!(score.intervals, 500 * 6);
    assert!(score.covers(), "{} {score:?}", score.coverage());
    assert!(score.seldom_errs(), "{score:?}");
}

#[test]
fn without_blocks_there_is_nothing_to_pair() {
    // All trials of the first name, then all of the second: the drift between is taken for an
    // effect, except where it shows as dependence between blocks.
    let by_name = |all: &[Treatment]| {
        let of = |name| all.iter().filter(move |t| t.level("order") == Some(name)).cloned();
        vec![of("a").collect(), of("b").collect()]
    };
    let broken = score(&Method { passes: by_name, ..SCRUPLE }, 100);
    assert!(broken.coverage() < 0.75, "{} {broken:?}", broken.coverage());
    assert!(broken.wrong > 10 && broken.distrusted > 10, "{broken:?}");
    assert!(!broken.covers() && !broken.seldom_errs());
}

#[test]
fn pairs_across_blocks_are_no_pairs() {
    // The trials are as they were, but those of the second name are told to be of other blocks:
    // what a block shares no longer cancels, and the intervals say nothing any more.
    fn permuted(mut records: Vec<Record>, random: &mut Random) -> Vec<Record> {
        let permutation = random.permutation(BLOCKS);
        for record in records.iter_mut().filter(|it| it.treatment.level("order") == Some("b")) {
            record.block = permutation[record.block as usize];
        }
        records
    }
    let (right, broken) =
        (score(&SCRUPLE, 100), score(&Method { reading: permuted, ..SCRUPLE }, 200));
    assert!(broken.coverage() > 0.95, "{} {broken:?}", broken.coverage());
    assert!(broken.width() > 2.0 * right.width(), "{} {}", broken.width(), right.width());
}

#[test]
fn without_shuffling_the_place_in_the_block_is_an_effect() {
    let fixed = |_: u64, _: &str, _: u32, all: &[Treatment]| all.to_vec();
    let broken = score(&Method { order: fixed, ..SCRUPLE }, 100);
    assert!(broken.coverage() < 0.75, "{} {broken:?}", broken.coverage());
    assert!(broken.wrong > 10 && broken.distrusted > 10, "{broken:?}");
    assert!(!broken.covers() && !broken.seldom_errs());
}

#[test]
fn without_padding_where_things_lie_is_an_effect() {
    // One size of the environment in all trials: how each treatment fares with just that layout is
    // taken for the treatment's own.
    let broken = score(&Method { padding: |_| 0, ..SCRUPLE }, 100);
    assert!(broken.coverage() < 0.75, "{} {broken:?}", broken.coverage());
    assert!(broken.wrong > 10 && broken.distrusted > 10, "{broken:?}");
    assert!(!broken.covers() && !broken.seldom_errs());
}
