//! What one side says of one number against the base.

use super::column::Column;
use super::contrast::{Contrast, averaged};
use crate::stats::interval::BLOCKS_FREE;
use model::{Replication, SessionEffect};

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

/// The readings of all sides but the base; none where there is nothing to be read.
pub(crate) type Readings = Vec<Option<Reading>>;

impl Reading {
    /// Returns a reading without a number, for that reason.
    pub(crate) fn none(remark: String) -> Self {
        let effect = SessionEffect { remark, ..SessionEffect::default() };
        Reading { effect, contrast: None, scale: Scale::Ratio }
    }

    /// Forms a reading of a side against the base: as logarithms where all numbers are above 0, if the
    /// number may be read as a multiple.
    pub(crate) fn of(side: &Column, base: &Column, is_multiple: bool) -> Self {
        let scale = match (is_multiple, side.is_positive() && base.is_positive()) {
            (false, _) => Scale::Difference,
            (true, true) => Scale::Log,
            (true, false) => Scale::Ratio,
        };
        let (side, base) = (side.arms(scale == Scale::Log), base.arms(scale == Scale::Log));
        let sessions = side.are_many() && base.are_many();
        let arms = match sessions {
            true => side.over().zip(base.over()),
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
        let n = contrast.samples();
        effect.remark = if contrast.is_exact() && contrast.point == 0.0 {
            "the same in all trials of both sides".into()
        } else if contrast.is_exact() {
            "the same in all trials of each side, but different between the sides".into()
        } else if self.scale == Scale::Ratio && effect.ratio.is_none() {
            match contrast.base_is_above_0() {
                true => "the base is too uncertain for a ratio".into(),
                false => "the base is indistinguishable from 0: there is no ratio".into(),
            }
        } else if n < BLOCKS_FREE && !sessions {
            format!("only {n} numbers on a side: the interval assumes normal scatter")
        } else {
            String::new()
        };
        effect.p_value = Some(contrast.p_value(0.0));
        self.contrast = Some(contrast);
        self.effect.floor = self.floor(1);
    }

    /// Adds what changes from session to session, as a standard deviation of logarithms; to numbers that are
    /// no multiples of anything it adds nothing.
    pub(crate) fn widen(&mut self, between: f64) {
        let is_multiple = self.scale != Scale::Difference && self.has_noise();
        if !is_multiple || self.effect.unit_of_replication != Replication::Trials {
            return;
        }
        let is_share = self.scale == Scale::Ratio;
        let wider = self.contrast.clone().and_then(|it| it.widened(between, is_share));
        let Some(contrast) = wider else { return };
        let remark = std::mem::take(&mut self.effect.remark);
        self.fill(contrast, false);
        self.effect.remark = remark;
        self.effect.between = Some(between);
    }

    /// Returns the floor if that number of comparisons stay open, in the effect's own terms.
    pub(crate) fn floor(&self, open: usize) -> Option<f64> {
        let contrast = self.contrast.as_ref()?;
        let floor = contrast.floor(open)?;
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
