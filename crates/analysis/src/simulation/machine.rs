//! A made-up machine on which whole sessions are measured, well or badly planned.

use super::*;
use crate::fixture::{Trial, factor, response};
use crate::{Input, summarise};
use model::{
    Cell, Claim, Control, Design, Finding, Quantity, Record, Region, Summary, Treatment, Unit,
};
use rand::seq::SliceRandom;

/// A random walk of 10 % from block to block, far more than the noise of a trial.
const DRIFT: f64 = 0.1;

/// From the first trial of a block to its last everything gets 10 % slower, in every block.
const WARMING: f64 = 0.1;

/// A neighbour slows all by 20 % while it is there; it comes before one trial in 20 and leaves
/// before one in 5, so that it stays for several trials.
const SLOWED: f64 = 0.2;
const COMES: f64 = 0.05;
const LEAVES: f64 = 0.2;

/// Observations of a trial differ by 2 % about the trial's own level.
const WITHIN: f64 = 0.02;

/// How many observations a trial makes.
pub(super) const OBSERVATIONS: usize = 5;

/// What trials of one treatment differ by, and whether somebody else is on the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) noise: Noise,
    pub(super) neighbour: bool,
}

/// Quiet or skewed, alone or with a neighbour; all drift and warm up.
pub(super) const MACHINES: [Machine; 4] = [
    Machine { noise: Noise::Normal(0.03), neighbour: false },
    Machine { noise: Noise::Skewed(0.05), neighbour: false },
    Machine { noise: Noise::Normal(0.03), neighbour: true },
    Machine { noise: Noise::Skewed(0.05), neighbour: true },
];

/// The order of a session's trials.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plan {
    /// All treatments in every block, each time shuffled anew: what scruple does.
    Shuffled,
    /// All treatments in every block, but those of the second name always last.
    SecondLast,
    /// All blocks of the first name, then all of the second.
    OneAfterTheOther,
}

/// A session of several kinds of work, each under two names, as in the experiment `null`.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) machine: Machine,
    pub(super) plan: Plan,
    pub(super) blocks: u32,
    /// By which factor the second name of each work is slower: 1 for the same treatment.
    pub(super) effects: Vec<f64>,
}

const NAMES: [&str; 2] = ["a", "b"];

fn at(name: &str, work: usize) -> Cell {
    Cell::new([("name", name), ("work", work.to_string().as_str())])
}

impl Session {
    /// One ratio a work as finding, control and claim, and the difference as a claim.
    pub(super) fn design(&self) -> Design {
        let works: Vec<String> = (0..self.effects.len()).map(|work| work.to_string()).collect();
        let levels: Vec<(&str, Option<f64>)> = works.iter().map(|work| (&**work, None)).collect();
        let mut design = Design {
            id: "made_up".into(),
            factors: vec![factor("name", &[("a", None), ("b", None)]), factor("work", &levels)],
            responses: vec![response("task_ns", Unit::Ns)],
            ..Design::default()
        };
        for work in 0..works.len() {
            let (response, a, b) = (String::from("task_ns"), at("a", work), at("b", work));
            let (of, to) = (b.clone(), a.clone());
            let ratio = Quantity::Ratio { response: response.clone(), of, to };
            let (of, to) = (b.clone(), a.clone());
            let difference = Quantity::Difference { response: response.clone(), of, to };
            design.claims.push(claim(ratio.clone(), 1.0));
            design.claims.push(claim(difference, 0.0));
            let sentence = String::from("The second name is {} times slower.");
            let id = work.to_string();
            design.findings.push(Finding { id, sentence, quantity: ratio, drives: true });
            design.controls.push(Control { response, a, b });
        }
        design
    }

    /// The trials in the order in which the plan has them.
    pub(super) fn records(&self, draws: &mut Draws) -> Vec<Record> {
        let of = |name: usize| (0..self.effects.len()).map(move |work| (name, work));
        let passes: Vec<Vec<(usize, usize)>> = match self.plan {
            Plan::OneAfterTheOther => vec![of(0).collect(), of(1).collect()],
            Plan::Shuffled | Plan::SecondLast => vec![of(0).chain(of(1)).collect()],
        };
        let mut records = Vec::new();
        let (mut drift, mut slowed) = (0.0, false);
        for mut order in passes {
            for block in 0..self.blocks {
                drift += DRIFT * draws.normal();
                if matches!(self.plan, Plan::Shuffled) {
                    order.shuffle(&mut draws.bits);
                }
                for (position, &(name, work)) in order.iter().enumerate() {
                    slowed = self.machine.neighbour
                        && if slowed { !draws.chance(LEAVES) } else { draws.chance(COMES) };
                    let level = drift
                        + WARMING * position as f64 / (order.len() - 1) as f64
                        + if slowed { SLOWED } else { 0.0 }
                        + if name == 1 { self.effects[work].ln() } else { 0.0 }
                        + self.machine.noise.draw(draws);
                    let values = [(); OBSERVATIONS]
                        .map(|()| (1e6 * (level + WITHIN * draws.normal()).exp()).round() as i64);
                    let mut record = Trial::new(block).series("task_ns", 1, &values).record();
                    record.treatment = Treatment(at(NAMES[name], work).0.into());
                    record.position = position as u32;
                    records.push(record);
                }
            }
        }
        records
    }

    /// What scruple says of such a session.
    pub(super) fn summary(&self, draws: &mut Draws) -> Summary {
        summary(&self.design(), &self.records(draws))
    }
}

fn claim(quantity: Quantity, edge: f64) -> Claim {
    Claim {
        id: String::new(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity,
        holds_if: Region::above(edge),
        note: String::new(),
        shown: String::new(),
    }
}

pub(super) fn summary(design: &Design, records: &[Record]) -> Summary {
    let designs = std::slice::from_ref(design);
    let environment = &model::Environment::default();
    summarise(&Input {
        scruple: "0.1.0",
        session: "s",
        complete: true,
        environment,
        shield: &model::ShieldReport::default(),
        designs,
        records,
    })
}
