//! What a session says before and while it measures of the verdicts that its time can give.

use crate::conduct::Session;
use crate::progress::Progress;
use crate::schedule::{self, Course, Forecast};
use model::{Inquiry, Options};
use wording::number::duration_s;

/// By how much the time that is advised exceeds the estimate, so that it also suffices on a busy machine.
const SPARE: f64 = 1.15;

/// What was said so far.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    was_begun: bool,
    has_said_costs: bool,
}

impl Foresight {
    /// Says what the time suffices for: at the beginning, and once trials have shown what they take where nobody
    /// knew.
    pub(crate) fn look(&mut self, session: &Session, limit_ns: Option<u64>, progress: &Progress) {
        let options = &session.manifest.options;
        let is_of_its_own = matches!(options.inquiry, Some(Inquiry::Scale | Inquiry::Why));
        if is_of_its_own || self.has_said_costs {
            return;
        }
        let has_trials = session.courses().iter().all(|course| course.next_block() > 0);
        if self.was_begun && !has_trials {
            return;
        }
        let forecast = schedule::forecast(session.courses(), limit_ns.unwrap_or(u64::MAX));
        if let Some(text) = sentence(session.courses(), options, forecast, limit_ns) {
            progress.note(&text);
        }
        self.was_begun = true;
        self.has_said_costs = forecast.is_some() || options.blocks.is_some();
    }
}

/// Returns what a session can decide in its time, in a sentence; `None` where it judges nothing.
pub(crate) fn sentence(
    courses: &[Course],
    options: &Options,
    forecast: Option<Forecast>,
    limit_ns: Option<u64>,
) -> Option<String> {
    let claims: usize = courses.iter().map(|course| course.design.claims.len()).sum();
    let planned = options.blocks.or(options.first_blocks);
    let planned = planned.unwrap_or_else(|| options.profile.blocks_min());
    let measures = courses.iter().any(|course| !course.design.is_exact());
    let least = analysis::blocks_for(claims.min(1));
    let takes = analysis::fewest_blocks_for(claims);
    if planned < takes && measures && claims > 0 && options.first_blocks.is_none() {
        let decide = if planned < least { "decide no claim" } else { "hardly decide a claim" };
        return Some(format!("{planned} blocks {decide}: a verdict takes {takes} that agree"));
    }
    let blocks = options.first_blocks?;
    let whose = match schedule::measured_claims(courses) {
        0 => "the verdicts".to_string(),
        1 => "the verdict on 1 claim".into(),
        many => format!("the verdicts on up to {many} claims"),
    };
    let Some(forecast) = forecast else {
        let in_time = limit_ns.map(|limit_ns| {
            format!(" as far as {} suffice", duration_s(limit_ns.div_ceil(1_000_000_000)))
        });
        return Some(format!(
            "{blocks} blocks come first{}, enough for {whose} if the blocks agree; the first block \
             shows how long they take",
            in_time.unwrap_or_default()
        ));
    };
    let about = |ns: u64| duration_s(ns.div_ceil(1_000_000_000));
    let all = about(forecast.all_ns);
    let Some(limit_ns) = limit_ns.filter(|limit_ns| forecast.all_ns > *limit_ns) else {
        return Some(format!(
            "{blocks} blocks come first, enough for {whose} if the blocks agree: about {all}"
        ));
    };
    let advised = |ns: u64| format!("--time-budget {}s", (SPARE * ns as f64 / 1e9).ceil());
    let ((headlines, of), (fits, _)) = (forecast.headlines, forecast.claims);
    let limit = about(limit_ns);
    let blocks = blocks - forecast.less.min(blocks);
    if headlines + fits == 0 {
        return Some(format!(
            "{limit} are not likely to suffice for the {blocks} blocks that a verdict takes: these take about {all} \
             ({})",
            advised(forecast.all_ns)
        ));
    }
    if headlines < of {
        let needed_ns = forecast.headlines_ns;
        return Some(format!(
            "{limit} are likely to suffice for {blocks} blocks, which a verdict takes, of {headlines} of \
             {of} main answers; all main answers take about {} ({}), everything about {all} ({})",
            about(needed_ns),
            advised(needed_ns),
            advised(forecast.all_ns)
        ));
    }
    Some(format!(
        "{limit} are likely to suffice for {blocks} blocks, which a verdict takes, of the main answers \
         and of {fits} of {} claims; everything takes about {all} ({})",
        forecast.claims.1,
        advised(forecast.all_ns)
    ))
}
