//! What one side says of one number against the base.

use super::column::{Arms, Column};
use super::contrast::{Arm, Contrast, averaged};
use crate::stats::interval::{BLOCKS_FREE, student};
use model::{Estimate, Replication, Response, SessionEffect};

/// How the two are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As logarithms, and shown as a ratio.
    Log,
    /// As they are, and shown as a ratio, or where there is none as a difference.
    Ratio,
    /// As they are, and shown as a difference.
    Difference,
}

/// An effect with what is needed to judge it later.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) effect: SessionEffect,
    pub(crate) contrast: Option<Contrast>,
    pub(crate) scale: Scale,
}

impl Reading {
    /// Returns a reading without a number, for that reason.
    pub(crate) fn none(remark: String) -> Self {
        let effect = SessionEffect {
            ratio: None,
            difference: None,
            unit_of_replication: Replication::Trials,
            floor: None,
            floor_of_verdict: None,
            p_value: None,
            differs: false,
            remark,
        };
        Reading { effect, contrast: None, scale: Scale::Ratio }
    }

    /// Forms a reading from the arms of the sessions of either side, the base last.
    pub(crate) fn of(side: &Arms, base: &Arms, scale: Scale) -> Self {
        let sessions = side.points.len() >= 2 && base.points.len() >= 2;
        let arms = match sessions {
            true => over(side).zip(over(base)),
            false => averaged(&side.whole).zip(averaged(&base.whole)),
        };
        let contrast = arms.and_then(|(of, to)| Contrast::new(of, to));
        let Some(contrast) = contrast else {
            return Reading::none("fewer than 2 numbers on one side: there is no interval".into());
        };
        let mut reading = Reading::none(String::new());
        if sessions {
            reading.effect.unit_of_replication = Replication::Sessions;
        }
        reading.scale = scale;
        reading.fill(contrast, sessions);
        reading
    }

    fn fill(&mut self, contrast: Contrast, sessions: bool) {
        let effect = &mut self.effect;
        let mut remarks = Vec::new();
        match self.scale {
            Scale::Log => effect.ratio = Some(contrast.estimate(f64::exp)),
            Scale::Ratio => {
                effect.ratio = contrast.ratio();
                // A difference needs no base that differs from 0. Of counts without noise, and of 0
                // against 0, the values themselves say it.
                let says_more = !contrast.is_exact() && contrast.low() < contrast.high();
                if effect.ratio.is_none() && says_more {
                    effect.difference = Some(contrast.estimate(|x| x));
                }
            }
            Scale::Difference => effect.difference = Some(contrast.estimate(|x| x)),
        }
        if contrast.is_exact() {
            remarks.push(match contrast.point {
                0.0 => "the same in all trials of both sides".to_string(),
                _ => "the same in all trials of a side, and another on the other".to_string(),
            });
        } else if self.scale == Scale::Ratio && effect.ratio.is_none() {
            remarks.push(match contrast.base_is_above_0() {
                true => "the base is known too loosely for a ratio".into(),
                false => "the base is indistinguishable from 0: there is no ratio".into(),
            });
        } else if contrast.samples() < BLOCKS_FREE && !sessions {
            let n = contrast.samples();
            remarks
                .push(format!("only {n} numbers on a side: the interval assumes normal scatter"));
        }
        effect.p_value = Some(contrast.p_value(0.0));
        effect.remark = remarks.join("; ");
        self.contrast = Some(contrast);
        self.effect.floor = self.floor(1);
    }

    /// Returns the floor of one of this number of comparisons, in the effect's own terms.
    pub(crate) fn floor(&self, among: usize) -> Option<f64> {
        let contrast = self.contrast.as_ref()?;
        let floor = contrast.floor(among)?;
        let floor = match self.scale {
            Scale::Log => floor.exp_m1(),
            Scale::Ratio if self.effect.ratio.is_some() => floor / contrast.base(),
            Scale::Ratio | Scale::Difference => floor,
        };
        floor.is_finite().then_some(floor)
    }

    /// Reports whether chance could have made it: counts without noise share no error with others.
    pub(crate) fn has_noise(&self) -> bool {
        self.contrast.as_ref().is_some_and(|contrast| !contrast.is_exact())
    }

    pub(crate) fn add_remark(&mut self, remark: &str) {
        let sep = if self.effect.remark.is_empty() { "" } else { "; " };
        self.effect.remark = format!("{remark}{sep}{}", self.effect.remark);
    }
}

/// Returns the centre of several sessions, each of which is one number: Student's t over them.
fn over(arms: &Arms) -> Option<Arm> {
    Some(Arm::over_sessions(student(&arms.points)?, arms.exact))
}

/// Returns what is shown of a side: its one session's own interval, or that over its sessions.
pub(crate) fn shown(arms: &Arms, from: fn(f64) -> f64) -> Option<Estimate> {
    let arm = if arms.points.len() >= 2 { over(arms) } else { arms.whole.first().cloned() };
    arm.filter(|arm| arm.freedom > 0.0).map(|arm| arm.estimate(from))
}

/// Returns the trials of a side against those of the base: as logarithms where all numbers are above 0.
pub(crate) fn of_columns(side: &Column, base: &Column, response: &Response) -> Reading {
    let computed = response.exact;
    let positive = side.is_positive() && base.is_positive();
    let scale = if positive { Scale::Log } else { Scale::Ratio };
    Reading::of(&side.arms(positive, computed), &base.arms(positive, computed), scale)
}
