//! Which resource limits a program, from squeezes of one resource at a time.
//!
//! Of a program whose time is inversely proportional to what it is left of a resource, taking the
//! part s of it multiplies the time by 1/(1 − s). The *elasticity* is
//! `e = ln(T squeezed / T not) / −ln(1 − s)`: 1 for such a program, 0 for one to which the resource
//! does not matter. A program that spends the part p of its time on a resource has an elasticity
//! near p for small s; the elasticities to resources that are used one after the other sum to 1.
//!
//! Both parts are formed in each block and carry their scatter; e is the ratio of their centres
//! (Fieller's idea with the sign test, [`ratio_of_centres`]), so that the uncertainty of what
//! was taken is in the interval, and there is none where it may have been nothing.

mod answer;
mod next;
mod threads;
mod time;

#[cfg(test)]
mod tests;

pub use next::{PLAIN_BLOCKS, is_plain, next};

use crate::session::disturbance::disturbed;
use crate::session::effect::answered;
use crate::session::sample::{ByBlock, Table, less};
use crate::session::summary::trust;
use crate::stats::hommel::hommel;
use crate::stats::interval::{BLOCKS_FREE, Located, centre, median_located, ratio_of_centres};
use model::squeezed::{CO_RUNNER_CPU, CPU_LOST, TAKEN};
use model::{
    BESIDE, Cell, Design, Dose, Estimate, NOTHING, NOTHING_AGAIN, NotSqueezed, Outcome, Price,
    Quantity, QuantityResult, Record, Resource, Squeeze, SqueezeResult, Treatment, Why, WhyCount,
    measures,
};

/// What the kernel counts of a program that belongs to the answer, where it is recorded.
const COUNTED: [&str; 9] = [
    measures::CPU_SHARE,
    measures::QUEUE_WAIT,
    measures::BLOCKED,
    measures::VOLUNTARY,
    measures::INVOLUNTARY,
    measures::MINOR_FAULTS,
    measures::MAJOR_FAULTS,
    measures::STORAGE_READ,
    measures::STORAGE_WRITTEN,
];

/// The least elasticity, and the least part of its time, at which a resource limits a program.
const LIVES_ON: f64 = 0.2;

/// Less than this part taken, in a typical block, says nothing of what more would do.
const TAKEN_MIN: f64 = 0.03;

/// The part of a resource whose price is given.
const PART: f64 = 0.1;

/// Why no trial took a resource.
const NOT_TRIED: &str =
    "no trial took it: less than 20 % of the time can depend on it, or the time was up before";

/// How far beyond the measured strength a price is given.
const BEYOND: f64 = 1.5;

/// Returns which resource limits the program; `None` where the design squeezes nothing, or measures no
/// elapsed time. `scruple` is the version that analyses, and the session is `complete` if every planned
/// trial has a record.
pub fn why(
    scruple: &str,
    session: &str,
    complete: bool,
    design: &Design,
    records: &[Record],
) -> Option<Why> {
    let subject = design.subject.as_ref()?;
    let factor = design.factor(subject.squeeze.as_deref()?)?;
    let wall = design.findings.first()?.quantity.response();
    let table = Table::new(design, records);
    let trials = Trials { table: &table, factor: &factor.name, wall };
    let (mut squeezes, mut p_values) = (Vec::new(), Vec::new());
    let mut not_squeezed = Vec::new();
    for resource in Resource::ALL {
        let takes = |level: &&str| match Squeeze::of_level(level) {
            Some(Squeeze::Take(of, _)) => of == resource,
            _ => false,
        };
        let levels = factor.levels.iter().map(|level| level.name.as_str());
        let levels: Vec<&str> = levels.filter(takes).collect();
        if levels.is_empty() {
            continue;
        }
        let cpu = resource.takes_cpu_time().then(|| elasticity_to(Resource::Cpu, &squeezes));
        match trials.squeeze(resource, &levels, cpu.flatten().map(|e| e.point)) {
            Some((squeezed, p_value)) => {
                squeezes.push(squeezed);
                p_values.push(p_value);
            }
            None => not_squeezed
                .push(NotSqueezed { resource, reason: trials.why_not(resource, &levels) }),
        }
    }
    for (one, stands) in squeezes.iter_mut().zip(hommel(&p_values)) {
        one.stands = stands && one.elasticity.is_some_and(|e| e.point > 0.0);
    }
    let rank = |one: &SqueezeResult| one.elasticity.as_ref().map_or(f64::NEG_INFINITY, |e| e.point);
    squeezes.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let mut described = Why {
        scruple: scruple.into(),
        session: session.into(),
        folder: None,
        complete,
        command: subject.command.clone(),
        answer: String::new(),
        named: None,
        named_wait: None,
        named_kernel: false,
        open: Vec::new(),
        evidence: String::new(),
        time: time::time(&trials.plain(), &trials.unsqueezed(measures::CPU_SHARE)),
        wall_ns: median_located(&trials.unsqueezed(wall)).map(|it| it.estimate(|x| x)),
        counted: trials.counted(),
        residual: residual(&squeezes),
        squeezes,
        not_squeezed,
        again: trials.ratio(NOTHING_AGAIN),
        beside: trials.ratio(BESIDE),
        warnings: Vec::new(),
    };
    described.warnings = trials.warnings(&described);
    answer::answer(&mut described);
    Some(described)
}

fn elasticity_to(resource: Resource, squeezes: &[SqueezeResult]) -> Option<Estimate> {
    squeezes.iter().find(|one| one.resource == resource)?.elasticity
}

/// Returns 1 less the elasticities of what is used one after the other. The intervals are added as if they
/// were independent; they share the trials at which nothing was taken, so this is approximate.
fn residual(squeezes: &[SqueezeResult]) -> Option<Estimate> {
    let cpu = elasticity_to(Resource::Cpu, squeezes)?;
    let others = [Resource::Storage, Resource::Timer];
    let others = others.into_iter().filter_map(|resource| elasticity_to(resource, squeezes));
    let parts: Vec<Estimate> = [cpu].into_iter().chain(others).collect();
    let point = 1.0 - parts.iter().map(|part| part.point).sum::<f64>();
    let root =
        |of: fn(&Estimate) -> f64| parts.iter().map(|part| of(part).powi(2)).sum::<f64>().sqrt();
    Some(Estimate {
        point,
        low: point - root(|part| part.high - part.point),
        high: point + root(|part| part.point - part.low),
        standard_error: Some(root(|part| part.standard_error.unwrap_or_default())),
        level: cpu.level,
        samples: parts.iter().map(|part| part.samples).min().unwrap_or(0),
    })
}

/// The numbers of one strength, by block: ln of the ratio of times, and −ln(1 − part taken).
#[derive(Clone, Debug, Default, PartialEq)]
struct Pairs {
    slower: ByBlock,
    taken: ByBlock,
}

impl Pairs {
    /// Returns those of blocks that have both.
    fn both(&self) -> (Vec<f64>, Vec<f64>) {
        let pairs = self.slower.iter().filter_map(|(block, y)| Some((*y, *self.taken.get(block)?)));
        pairs.unzip()
    }

    /// Returns the sums of both over strengths, in blocks that have all of them.
    fn sum(all: &[Pairs]) -> Pairs {
        let mut sum = all.first().cloned().unwrap_or_default();
        for other in all.iter().skip(1) {
            for (into, of) in [(&mut sum.slower, &other.slower), (&mut sum.taken, &other.taken)] {
                into.retain(|block, _| of.contains_key(block));
                into.iter_mut().for_each(|(block, value)| *value += of[block]);
            }
        }
        sum
    }
}

struct Trials<'t> {
    table: &'t Table<'t>,
    factor: &'t str,
    wall: &'t str,
}

impl Trials<'_> {
    fn at(&self, level: &str) -> Treatment {
        Treatment(Cell::new([(self.factor, level)]).0.into())
    }

    fn logs(&self, level: &str) -> ByBlock {
        let blocks = self.table.blocks(self.wall, &self.at(level));
        blocks.into_iter().filter(|(_, ns)| *ns > 0.0).map(|(block, ns)| (block, ns.ln())).collect()
    }

    /// Returns what a resource's times are compared with: of the two at which nothing was taken the mean.
    fn base(&self, resource: Resource) -> ByBlock {
        if resource.compared_with() == BESIDE {
            return self.logs(BESIDE);
        }
        let (mut base, again) = (self.logs(NOTHING), self.logs(NOTHING_AGAIN));
        for (block, log) in again {
            base.entry(block).and_modify(|one| *one = (*one + log) / 2.0).or_insert(log);
        }
        base
    }

    fn pairs(&self, resource: Resource, level: &str, cpu: Option<f64>) -> Pairs {
        let base = self.base(resource);
        let part = |response: &str| -> ByBlock {
            let ppm = self.table.blocks(response, &self.at(level)).into_iter();
            ppm.map(|(block, ppm)| (block, -(1.0 - (ppm / 1e6).min(0.999_999)).ln())).collect()
        };
        let mut slower = less(&self.logs(level), &base);
        if let Some(elasticity) = cpu {
            // Earlier sessions know what the co-runners had, and not what they cost beside it.
            let of_cpu = Some(part(CPU_LOST)).filter(|lost| !lost.is_empty());
            let of_cpu = of_cpu.unwrap_or_else(|| part(CO_RUNNER_CPU));
            let less = |(block, log): (&u32, &mut f64)| {
                *log -= elasticity * of_cpu.get(block).copied().unwrap_or_default();
            };
            slower.iter_mut().for_each(less);
        }
        Pairs { slower, taken: part(TAKEN) }
    }

    /// Returns what squeezing a resource did, with its p-value; `None` without a number. `of_cpu` is the
    /// elasticity to CPU time, where that is taken as well.
    fn squeeze(
        &self,
        resource: Resource,
        levels: &[&str],
        of_cpu: Option<f64>,
    ) -> Option<(SqueezeResult, f64)> {
        let pairs = levels.iter().map(|level| self.pairs(resource, level, of_cpu));
        let pairs: Vec<Pairs> = pairs.filter(|pairs| !pairs.both().0.is_empty()).collect();
        let doses: Vec<Dose> =
            levels.iter().filter_map(|level| self.dose(resource, level, of_cpu)).collect();
        let (slower, taken) = Pairs::sum(&pairs).both();
        let whole = centre(&slower)?;
        let located = elasticity(&slower, &taken);
        let strongest = pairs.iter().filter_map(|pairs| centre(&pairs.both().1)).map(|it| it.point);
        let strongest = strongest.fold(0.0, f64::max);
        let remark = match (&located, centre(&taken)) {
            (Some(_), _) => String::new(),
            (None, Some(taken)) if taken.high.is_finite() => format!(
                "too little of it was taken to say more: {:.0} % at the strongest",
                100.0 * (1.0 - (-strongest).exp()).max(0.0)
            ),
            _ => "how much was taken is not known".into(),
        };
        let p_value = if located.is_some() { whole.p_value(0.0) } else { 1.0 };
        let located = located.as_ref();
        let estimate = located.map(|located| located.estimate(|x| x));
        let most = self.unreduced(resource, levels).map_or(f64::NEG_INFINITY, |e| e.high);
        let result = SqueezeResult {
            resource,
            doses,
            price: located.and_then(|located| price(located, strongest)),
            elasticity: estimate.map(|e| Estimate { high: e.high.max(most), ..e }),
            cpu_subtracted: of_cpu.is_some(),
            stands: false,
            linear: located.and_then(|_| linear(&pairs)),
            remark,
        };
        Some((result, p_value))
    }

    /// Returns the elasticity to memory or a cache with nothing subtracted: of what a program loses that needs nothing but
    /// its CPU, this one may lose less.
    fn unreduced(&self, resource: Resource, levels: &[&str]) -> Option<Estimate> {
        if resource.compared_with() != BESIDE {
            return None;
        }
        let pairs = levels.iter().map(|level| self.pairs(resource, level, None));
        let pairs: Vec<Pairs> = pairs.filter(|pairs| !pairs.both().0.is_empty()).collect();
        let (slower, taken) = Pairs::sum(&pairs).both();
        Some(elasticity(&slower, &taken)?.estimate(|x| x))
    }

    fn dose(&self, resource: Resource, level: &str, cpu: Option<f64>) -> Option<Dose> {
        let (slower, taken) = self.pairs(resource, level, cpu).both();
        // What was seen, with nothing subtracted.
        let seen = self.pairs(resource, level, None).both().0;
        Some(Dose {
            level: level.into(),
            slower: Some(centre(&seen)?.estimate(f64::exp)),
            taken: centre(&taken).map(|it| it.estimate(|x| 1.0 - (-x).exp())),
            elasticity: elasticity(&slower, &taken).map(|it| it.estimate(|x| x)),
        })
    }

    /// Returns why a resource has no number.
    fn why_not(&self, resource: Resource, levels: &[&str]) -> String {
        let with_base = levels.iter().copied().chain([resource.compared_with()]);
        let mut failed = None;
        for level in with_base {
            for record in self.table.records(&self.at(level)) {
                match &record.outcome {
                    Outcome::Unsupported { reason } => return reason.clone(),
                    Outcome::Completed { .. } => {}
                    other => failed = failed.or_else(|| Some(outcome(other))),
                }
            }
        }
        let is_tried = levels.iter().any(|level| !self.table.records(&self.at(level)).is_empty());
        failed.unwrap_or_else(|| match is_tried {
            true => "fewer than two blocks measured it".into(),
            false => NOT_TRIED.into(),
        })
    }

    /// Returns the trials at which nothing was taken.
    fn plain(&self) -> Vec<&Record> {
        let levels = [NOTHING, NOTHING_AGAIN];
        levels
            .iter()
            .flat_map(|level| self.table.records(&self.at(level)).iter().copied())
            .collect()
    }

    /// Returns one number per trial at which nothing was taken.
    fn unsqueezed(&self, response: &str) -> Vec<f64> {
        let levels = [NOTHING, NOTHING_AGAIN];
        levels.iter().flat_map(|level| self.table.trials(response, &self.at(level))).collect()
    }

    fn counted(&self) -> Vec<WhyCount> {
        let of = |name: &str| {
            let response = self.table.design.response(name)?;
            let located = median_located(&self.unsqueezed(name))?;
            Some(WhyCount {
                response: name.into(),
                label: response.label.clone(),
                unit: response.unit.clone(),
                estimate: located.estimate(|x| x),
            })
        };
        COUNTED.into_iter().filter_map(of).collect()
    }

    /// Returns the elapsed time at a level by that at `none`.
    fn ratio(&self, level: &str) -> Option<QuantityResult> {
        self.table.design.factor(self.factor)?.level(level)?;
        let quantity = Quantity::Ratio {
            response: self.wall.into(),
            of: Cell::new([(self.factor, level)]),
            to: Cell::new([(self.factor, NOTHING)]),
        };
        Some(answered(self.table, &quantity))
    }

    fn warnings(&self, described: &Why) -> Vec<String> {
        let mut warnings = Vec::new();
        if time::held_back(&described.time).is_none() && disturbed(&self.plain()) {
            warnings.push(
                "others disturbed the elapsed time of the trials at which nothing was taken: \
                 repeat it on a quieter machine, or measure longer (--time-budget)"
                    .into(),
            );
        }
        // The rule of the session's trust, so that no page says both.
        let controls = trust(std::slice::from_ref(self.table)).controls;
        if let Some(again) = controls.iter().find(|control| control.differs) {
            warnings.push(format!(
                "two identical treatments differ by a factor of {:.3} here: effects as small as \
                 that are not to be trusted",
                again.ratio.point
            ));
        }
        let blocks = described.wall_ns.as_ref().map_or(0, |wall| wall.samples as usize / 2);
        if blocks < BLOCKS_FREE {
            warnings.push(format!(
                "only {blocks} blocks: intervals assume a normal distribution, and few effects are \
                 distinguishable from none"
            ));
        }
        warnings
    }
}

fn outcome(outcome: &Outcome) -> String {
    match crate::session::outcomes::words(outcome) {
        (word, reason) if reason.is_empty() => word.into(),
        (word, reason) => format!("{word}: {reason}"),
    }
}

/// Returns the elasticity from the numbers of blocks; `None` where too little was taken.
fn elasticity(slower: &[f64], taken: &[f64]) -> Option<Located> {
    let centre_taken = centre(taken)?;
    if 1.0 - (-centre_taken.point).exp() < TAKEN_MIN || centre_taken.low <= 0.0 {
        return None;
    }
    ratio_of_centres(slower, taken)
}

/// Reports whether the stronger squeeze did what the weaker makes expect: in each block, what is left of
/// the one less this multiple of the other has its centre at 0.
fn linear(pairs: &[Pairs]) -> Option<bool> {
    let [weak, strong] = pairs else { return None };
    let times = centre(&strong.both().1)?.point / centre(&weak.both().1)?.point;
    if !times.is_finite() || times <= 0.0 {
        return None;
    }
    let expected: ByBlock = weak.slower.iter().map(|(block, it)| (*block, times * it)).collect();
    let left: Vec<f64> = less(&strong.slower, &expected).into_values().collect();
    let left = centre(&left)?;
    Some(left.low <= 0.0 && left.high >= 0.0)
}

/// Returns (1 − part)^−e − 1, for the part of 10 %, or for as much as 1.5 times the strongest squeeze
/// reaches. `strongest` is −ln(1 − part) of it. `None` where nothing was taken.
fn price(elasticity: &Located, strongest: f64) -> Option<Price> {
    let reach = 1.0 - (-BEYOND * strongest).exp();
    let part = PART.min(reach);
    if part.is_nan() || part <= 0.0 {
        return None;
    }
    let cost = |e: f64| (1.0 - part).powf(-e) - 1.0;
    Some(Price { part, cost: elasticity.estimate(cost) })
}
