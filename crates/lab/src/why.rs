//! One resource at a time is taken from a command: which of them limits it?

use crate::cli::WhyArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::progress::Progress;
use crate::schedule::Course;
use crate::{inquiry, plan, session, spoken};
use anyhow::bail;
use model::{Inquiry, Manifest, Profile, Record, Treatment};
use std::time::Duration;
use study::WhyRequest;
use wording::number::{self, duration_s};

/// The time to measure in, in seconds.
const BUDGET_S: u64 = 180;

/// The time after which a trial is killed unless --time-limit says otherwise, in milliseconds.
const TIME_LIMIT_MS: u64 = 120_000;

/// One of this number of CPUs is kept for co-runners; of fewer, one.
const KEPT_OF: usize = 4;

/// What a trial takes in which something is taken, in multiples of one in which nothing is, and in seconds beyond
/// that: how much is taken is measured before the command starts.
const SQUEEZED_TIMES: f64 = 1.5;
const SQUEEZED_S: f64 = 0.25;

/// The blocks of squeezes that are measured at the least, and those that a verdict takes at the least.
pub(crate) const LEAST: u32 = 2;
const VERDICT: u32 = 9;

/// How much more time is advised than the trials are likely to take.
const ADVISED: f64 = 1.2;

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Why);

pub(crate) fn why(args: &WhyArgs) -> anyhow::Result<Exit> {
    inquiry::perform(&args.plan, PURPOSE, args.json, || session_plan(args))
}

fn session_plan(args: &WhyArgs) -> anyhow::Result<Plan> {
    let cpus = plan::cpus(args.plan.measure.affinity.as_deref())?;
    let kept = kept(cpus.len());
    let command = spoken::texts(&args.command, &args.env)?;
    let asked = WhyRequest {
        command: &command,
        folder: std::env::current_dir()?.to_string_lossy().into_owned(),
        resources: &args.squeeze,
        // Interrupts gather on the first CPUs, which the co-runners get. The same at every level, so that
        // nothing but the squeeze differs.
        cpus: sys::affinity::format_list(&cpus[kept..]),
        kept,
        any_exit_code: args.ignore_failure,
        time_limit_ms: args.time_limit.unwrap_or(TIME_LIMIT_MS),
    };
    let design = study::why(&asked).map_err(anyhow::Error::msg)?;
    Plan::new(PURPOSE, vec![design], Profile::Quick, &args.plan, BUDGET_S)
}

/// Returns how many of this number of CPUs are kept for co-runners.
fn kept(cpus: usize) -> usize {
    if cpus > 1 { (cpus / KEPT_OF).max(1) } else { 0 }
}

/// Returns the treatments of a block of squeezes; before anything is known of the command, all that are asked for.
pub(crate) fn squeezes(course: &Course) -> Vec<Treatment> {
    match &course.need {
        Some(need) if course.next_block() >= analysis::why::PLAIN_BLOCKS => need.treatments.clone(),
        _ => analysis::why::next(&course.design, &[], &course.treatments).treatments,
    }
}

/// What the trials of a session take, by those with nothing taken.
struct Cost {
    run_s: f64,
    plain: u32,
    block: usize,
    block_s: f64,
}

impl Cost {
    /// Returns it as soon as there is a trial with nothing taken.
    fn of(course: &Course, records: &[Record]) -> Option<Cost> {
        let is_plain = |record: &&Record| analysis::why::is_plain(&record.treatment);
        let each_s = records.iter().filter(is_plain).map(|record| record.total_ns as f64 / 1e9);
        let run_s = analysis::mean(&each_s.collect::<Vec<_>>())?;
        let treatments = squeezes(course);
        let each_s = treatments.iter().map(|treatment| match analysis::why::is_plain(treatment) {
            true => run_s,
            false => SQUEEZED_TIMES * run_s + SQUEEZED_S,
        });
        let plain = 2 * analysis::why::PLAIN_BLOCKS;
        Some(Cost { run_s, plain, block: treatments.len(), block_s: each_s.sum() })
    }

    fn words(&self) -> String {
        let about = |s: f64| duration_s(s.ceil() as u64);
        format!(
            "a run takes about {}; {} runs with nothing taken take about {}, {LEAST} blocks of {} \
             runs {} more, and the {VERDICT} blocks of a verdict {}",
            number::value(self.run_s * 1e9, &model::Unit::Ns),
            self.plain,
            about(f64::from(self.plain) * self.run_s),
            self.block,
            about(f64::from(LEAST) * self.block_s),
            about(f64::from(VERDICT) * self.block_s)
        )
    }

    /// Returns a time budget in which the blocks of a verdict are likely to be measured.
    fn advised(&self) -> String {
        let seconds = f64::from(self.plain) * self.run_s + f64::from(VERDICT) * self.block_s;
        format!("--time-budget {}s", (ADVISED * seconds).ceil())
    }
}

/// Says before the first trial how often the command will run, and after the first block how long that takes.
pub(crate) fn say_how_long(
    course: &Course,
    manifest: &Manifest,
    records: &[Record],
    progress: &Progress,
) {
    if manifest.options.blocks.is_some() {
        return;
    }
    if records.is_empty() {
        let (plain, block) = (2 * analysis::why::PLAIN_BLOCKS, squeezes(course).len());
        progress.note(&format!(
            "the command runs {plain} times with nothing taken and {block} times in each of at least \
             {LEAST} blocks of squeezes, which take about {} more; the first runs show how long it \
             takes",
            duration_s((f64::from(LEAST) * SQUEEZED_S * block as f64).ceil() as u64)
        ));
    } else if course.next_block() == 1
        && let Some(cost) = Cost::of(course, records)
    {
        progress.note(&cost.words());
    }
}

/// Reports whether the time does not suffice for two blocks of squeezes, though what the command does with nothing
/// taken answers the question.
///
/// # Errors
/// If the time does not suffice and nothing answers the question.
pub(crate) fn nothing_fits(
    course: &Course,
    manifest: &Manifest,
    records: &[Record],
    left: Option<Duration>,
) -> anyhow::Result<bool> {
    let options = &manifest.options;
    let (Some(left), Some(cost)) = (left, Cost::of(course, records)) else { return Ok(false) };
    let rest = course.rest_of_base().0;
    let needed_s = match rest {
        0 if course.next_block() > course.base_blocks() => return Ok(false),
        0 if cost.block == 0 => return Ok(false),
        0 => f64::from(LEAST) * cost.block_s,
        rest => rest as f64 * cost.run_s,
    };
    if options.blocks.is_some() || needed_s <= left.as_secs_f64() {
        return Ok(false);
    }
    let version = session::VERSION;
    let why = analysis::why::why(version, &manifest.session, true, &course.design, records);
    if rest == 0 && why.is_some_and(|why| why.is_answered()) {
        return Ok(true);
    }
    let budget = options.time_budget_s.unwrap_or_default();
    bail!(
        "{} is too short a time for this command: {}; give it {}, a smaller input, or take less \
         (--squeeze)",
        duration_s(budget.ceil() as u64),
        cost.words(),
        cost.advised()
    )
}

/// Returns a warning that nothing was taken from the command, with the time that it takes.
pub(crate) fn how_to_squeeze(course: &Course, records: &[Record]) -> String {
    let cost = Cost::of(course, records);
    let (words, advised) = cost.map_or_else(Default::default, |it| (it.words(), it.advised()));
    format!("the time did not suffice to take anything from the command: {words} ({advised})")
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn a_cpu_is_kept_where_there_are_two() {
        assert_eq!([1, 2, 3, 4, 7, 8, 64].map(kept), [0, 1, 1, 1, 1, 2, 16]);
    }
}
