//! One number of one side, session by session, in as little memory as a comparison needs.

use super::contrast::Arm;
use crate::session::evidence::{Evidence, Scale};
use crate::stats::estimate::median_estimate;
use crate::stats::interval::{centre, student};
use model::Estimate;
use std::sync::LazyLock;

/// What the sessions of one side say of one number, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    sessions: usize,
    /// What the one session says; none as soon as there are two.
    alone: Option<Estimate>,
    no_logarithm: bool,
    log: Arms,
    linear: Arms,
}

impl Column {
    /// Returns what the trials of one session say, each by one number: the median over them.
    pub(crate) fn of_trials(trials: &[f64], computed: bool) -> Self {
        let arm = |values: &[f64]| match values {
            [one] => Some(Arm::single(*one, computed)),
            _ => Some(Arm::of(centre(values)?, computed)),
        };
        let positive = trials.iter().all(|value| *value > 0.0);
        let logs: Vec<f64> = trials.iter().map(|value| value.ln()).collect();
        Column {
            sessions: usize::from(!trials.is_empty()),
            alone: median_estimate(trials),
            no_logarithm: !positive,
            log: Arms::of(arm(&logs).filter(|_| positive)),
            linear: Arms::of(arm(trials)),
        }
    }

    /// Returns what one session says of a quantity.
    pub(crate) fn of_evidence(evidence: &Evidence) -> Self {
        let (log, linear) = match evidence {
            Evidence::None => return Column::default(),
            Evidence::Blocks { located, scale, computed } => {
                let arm = Arm::of(located.clone(), *computed);
                if let Scale::Log = scale { (Some(arm.clone()), arm.exp()) } else { (None, arm) }
            }
            Evidence::Events(frequency) => {
                (None, Arm::given(&frequency.estimate(), frequency.trials))
            }
        };
        Column {
            sessions: 1,
            alone: evidence.estimate(),
            no_logarithm: log.is_none(),
            log: Arms::of(log),
            linear: Arms::of(Some(linear)),
        }
    }

    /// Returns one of several columns; an empty one where there is none.
    pub(crate) fn at(columns: &[Column], place: usize) -> &Column {
        static NONE: LazyLock<Column> = LazyLock::new(Column::default);
        columns.get(place).unwrap_or(&NONE)
    }

    /// Adds what later sessions say.
    pub(crate) fn add(&mut self, later: Column) {
        self.sessions += later.sessions;
        self.alone = self.alone.or(later.alone).filter(|_| self.sessions == 1);
        self.no_logarithm |= later.no_logarithm;
        match self.no_logarithm {
            true => self.log = Arms::default(),
            false => self.log.add(later.log),
        }
        self.linear.add(later.linear);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sessions == 0
    }

    /// Reports whether all numbers of all sessions are above 0.
    pub(crate) fn is_positive(&self) -> bool {
        !self.no_logarithm
    }

    /// Returns one arm per session that has an interval or a single number.
    pub(crate) fn arms(&self, logarithms: bool) -> &Arms {
        if logarithms { &self.log } else { &self.linear }
    }

    /// Returns what is shown: what its one session says, or the centre of its sessions.
    pub(crate) fn shown(&self) -> Option<Estimate> {
        if self.sessions == 1 {
            return self.alone;
        }
        let arms = self.arms(self.is_positive());
        let arm = if arms.are_many() { arms.over() } else { arms.whole.first().cloned() };
        let from = if self.is_positive() { f64::exp } else { |x| x };
        arm.filter(|arm| arm.freedom > 0.0).map(|arm| arm.estimate(from))
    }

    /// Drops all but what is shown of one session.
    pub(crate) fn keep_shown(&mut self) {
        (self.log, self.linear) = (Arms::default(), Arms::default());
    }

    /// Drops all but the points: two sessions or more on a side, and two or more on each that it is
    /// held against, are one number each.
    pub(crate) fn settle(&mut self, against: &[&Column]) {
        for logarithms in [true, false] {
            let all = against.iter().all(|it| it.arms(logarithms).are_many());
            let own = if logarithms { &mut self.log } else { &mut self.linear };
            if all && own.are_many() {
                (own.whole, own.settled) = (Vec::new(), true);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.log.whole.len(), self.linear.whole.len())
    }
}

/// What the sessions of one side say of one number, on one scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arms {
    /// One per session.
    points: Vec<f64>,
    /// Some session has more than one number without noise.
    noisy: bool,
    /// One per session; none at all where only their points matter. One that alone has an interval
    /// keeps its trials.
    pub(crate) whole: Vec<Arm>,
    settled: bool,
}

impl Arms {
    fn of(arm: Option<Arm>) -> Self {
        let noisy = arm.as_ref().is_some_and(|arm| !arm.is_exact());
        let points = arm.iter().map(|arm| arm.point).collect();
        Arms { points, noisy, whole: arm.into_iter().collect(), settled: false }
    }

    fn add(&mut self, later: Arms) {
        self.noisy |= later.noisy;
        grow(&mut self.points);
        self.points.extend(later.points);
        if self.settled {
            return;
        }
        for mut arm in later.whole {
            let first = self.whole.iter_mut().find(|it| it.freedom > 0.0);
            if let Some(first) = first.filter(|_| arm.freedom > 0.0) {
                first.drop_trials();
                arm.drop_trials();
            }
            grow(&mut self.whole);
            self.whole.push(arm);
        }
    }

    /// Reports whether there are several sessions, so that each can be one number.
    pub(crate) fn are_many(&self) -> bool {
        self.points.len() >= 2
    }

    /// Returns the centre of several sessions, each of which is one number: Student's t over them.
    pub(crate) fn over(&self) -> Option<Arm> {
        Some(Arm::over_sessions(student(&self.points)?, !self.noisy))
    }
}

/// Makes room by an eighth, not by the whole again: there are thousands of columns.
fn grow<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 8).max(4));
    }
}
