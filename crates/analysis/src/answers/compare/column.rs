//! One number of one side, session by session, in as little memory as a comparison needs.

use super::contrast::Arm;
use crate::stats::estimate::median_estimate;
use crate::stats::interval::centre;
use model::Estimate;

/// What the trials of one session say of one number.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    /// The median over them, with its interval.
    alone: Option<Estimate>,
    /// Of their logarithms; `Err` where one of them is not above 0.
    log: Result<Option<Arm>, NotAbove0>,
    /// Of the numbers as they are.
    linear: Option<Arm>,
}

/// There is no logarithm.
#[derive(Clone, Copy, Debug)]
struct NotAbove0;

impl Number {
    /// Begins with no trial.
    pub(crate) fn of(trials: &[f64]) -> Option<Self> {
        if trials.is_empty() {
            return None;
        }
        let log = if trials.iter().all(|value| *value > 0.0) {
            Ok(arm(&trials.iter().map(|value| value.ln()).collect::<Vec<f64>>()))
        } else {
            Err(NotAbove0)
        };
        Some(Number { alone: median_estimate(trials), log, linear: arm(trials) })
    }
}

fn arm(values: &[f64]) -> Option<Arm> {
    match values {
        [one] => Some(Arm::single(*one, true)),
        _ => Some(Arm::of(centre(values)?, true)),
    }
}

/// One number of one side: what its sessions say of it, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    sessions: usize,
    /// What the one session says; none as soon as there are two.
    alone: Option<Estimate>,
    no_logarithm: bool,
    log: Scaled,
    linear: Scaled,
}

impl Column {
    pub(crate) fn push(&mut self, number: &Number) {
        self.sessions += 1;
        self.alone = number.alone.filter(|_| self.sessions == 1);
        match &number.log {
            Ok(arm) if !self.no_logarithm => self.log.extend(arm.as_ref()),
            Ok(_) => {}
            Err(NotAbove0) => {
                self.no_logarithm = true;
                self.log = Scaled::default();
            }
        }
        self.linear.extend(number.linear.as_ref());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sessions == 0
    }

    /// Reports whether all trials of all sessions are above 0.
    pub(crate) fn is_positive(&self) -> bool {
        !self.no_logarithm
    }

    /// Returns the session's own median, where there is one session.
    pub(crate) fn alone(&self) -> Option<Option<Estimate>> {
        (self.sessions == 1).then_some(self.alone)
    }

    /// Returns one arm per session that has an interval or a single number; `computed`: see
    /// [`Arm::computed`].
    pub(crate) fn arms(&self, logarithms: bool, computed: bool) -> Arms {
        let scaled = if logarithms { &self.log } else { &self.linear };
        scaled.arms(computed)
    }

    /// Drops all but the points: two sessions or more on a side, and two or more on each that it is
    /// held against, are one number each.
    pub(crate) fn settle(&mut self, against: &[&Column]) {
        let many = |it: &Scaled| it.points.len() >= 2;
        if many(&self.log) && against.iter().all(|it| many(&it.log)) {
            self.log.settle();
        }
        if many(&self.linear) && against.iter().all(|it| many(&it.linear)) {
            self.linear.settle();
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.log.ends.len(), self.linear.ends.len())
    }
}

/// Arms on one scale.
#[derive(Clone, Debug, Default)]
struct Scaled {
    points: Vec<f64>,
    /// Some number differs from the others of its session, or stands alone.
    not_exact: bool,
    /// One per point, until it is settled.
    ends: Vec<Ends>,
    settled: bool,
    /// The first arm that has an interval, while it is the only one: it alone keeps its trials.
    only: Option<Box<Arm>>,
    with_interval: usize,
}

/// What an arm has beside its point.
#[derive(Clone, Copy, Debug)]
struct Ends {
    low: f64,
    high: f64,
    samples: u32,
    agrees: bool,
}

impl Scaled {
    fn extend(&mut self, arm: Option<&Arm>) {
        let Some(arm) = arm else { return };
        grow(&mut self.points);
        self.points.push(arm.point);
        self.not_exact |= !arm.is_exact();
        if self.settled {
            return;
        }
        let samples = u32::try_from(arm.samples).unwrap_or(u32::MAX);
        grow(&mut self.ends);
        self.ends.push(Ends { low: arm.low, high: arm.high, samples, agrees: arm.agrees });
        if arm.freedom > 0.0 {
            self.with_interval += 1;
            self.only = (self.with_interval == 1).then(|| Box::new(arm.clone()));
        }
    }

    fn settle(&mut self) {
        (self.ends, self.only, self.settled) = (Vec::new(), None, true);
    }

    fn arms(&self, computed: bool) -> Arms {
        let one = |(point, ends): (&f64, &Ends)| match &self.only {
            Some(only) if ends.samples > 1 => {
                let mut arm = Arm::clone(only);
                arm.computed = computed;
                arm
            }
            _ => {
                let Ends { low, high, samples, agrees } = *ends;
                Arm::bare(*point, (low, high), samples as usize, agrees, computed)
            }
        };
        Arms {
            whole: self.points.iter().zip(&self.ends).map(one).collect(),
            points: self.points.clone(),
            exact: computed && !self.not_exact,
        }
    }
}

/// Makes room by an eighth, not by the whole again: there are thousands of columns.
fn grow<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 8).max(4));
    }
}

/// What the sessions of one side say of one number, on one scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arms {
    /// One per session.
    pub(crate) points: Vec<f64>,
    /// Whether each session has one number without noise.
    pub(crate) exact: bool,
    /// One per session; none at all where only their points matter.
    pub(crate) whole: Vec<Arm>,
}

impl FromIterator<Arm> for Arms {
    fn from_iter<T: IntoIterator<Item = Arm>>(arms: T) -> Self {
        let whole: Vec<Arm> = arms.into_iter().collect();
        let points = whole.iter().map(|arm| arm.point).collect();
        Arms { points, exact: whole.iter().all(Arm::is_exact), whole }
    }
}
