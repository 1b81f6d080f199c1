//! The trials in which something is taken from a command: how long they take, and whether the time suffices.

use crate::progress::Progress;
use crate::schedule::Course;
use anyhow::bail;
use model::{Manifest, Record, Treatment};
use std::time::Duration;
use wording::number::{self, duration_s};

/// What a trial takes in which something is taken, in multiples of one in which nothing is, and in seconds beyond
/// that: how much is taken is measured before the command starts.
const SQUEEZED_TIMES: f64 = 1.5;
const SQUEEZED_S: f64 = 0.25;

/// The blocks of squeezes that are measured at the least, and those that a verdict takes at the least.
pub(crate) const LEAST: u32 = 2;
const VERDICT: u32 = 9;

/// How much more time is advised than the trials are likely to take.
const ADVISED: f64 = 1.2;

/// Returns the treatments of a block of squeezes; before anything is known of the command, all that are asked for.
pub(crate) fn of_block(course: &Course) -> Vec<Treatment> {
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
        let treatments = of_block(course);
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
        let (plain, block) = (2 * analysis::why::PLAIN_BLOCKS, of_block(course).len());
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

/// Reports whether the time does not suffice for two blocks of squeezes, so that what the command does with nothing
/// taken is all that is known.
///
/// # Errors
/// If the time does not suffice for that.
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
    if rest == 0 {
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
