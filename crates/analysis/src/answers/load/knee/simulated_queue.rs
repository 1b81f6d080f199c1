//! A queue that had the same arrivals as a server: how fast it must be for as many of its requests to be
//! late says how fast the server is.
//!
//! A share of late requests by itself says little of a rate: it hangs on the arrivals that happened to
//! come, and on the queue that was empty at first. Both do the same to the twin, so they cancel where the
//! two are compared, and the twin's capacity in its steady state is known by a formula. The twin need not
//! be like the server: near the capacity, where both have 5 % late, its shape hardly matters, and what it
//! does not explain is in the scatter of the trials.

use crate::stats::interval::student;
use laws::roots::bisect;
use model::{Estimate, KneeRules};
use std::ops::Range;

/// The requests of one trial.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// Requests per second that were to come.
    pub(super) per_s: f64,
    /// When each came, in ns, ascending.
    pub(super) due_ns: Vec<u64>,
    /// When each was answered, in ns.
    pub(super) done_ns: Vec<Option<u64>>,
    /// Those that count.
    pub(super) counted: Range<usize>,
    /// How many of these were late.
    pub(super) late: u64,
}

/// One worker that serves each request for the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedQueue {
    /// A request of a server whose services take equally long is late if it waits longer than this, in ns.
    pub(super) patience_ns: f64,
    /// Whether requests come at constant intervals, not at random ones.
    pub(super) constant: bool,
    /// The mean service time by the throughput of a saturated server, in ns.
    pub(super) saturated_ns: Option<f64>,
}

/// How long a twin serves a request, and how long one waits until it is late, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fit {
    service_ns: f64,
    patience_ns: f64,
}

/// The service times that are tried around the one that fits, as factors: how far trials may differ.
const SPREAD: f64 = 1.4;
const STEPS: usize = 48;

/// An interval is never narrower than this part of the capacity on either side: the generator's own
/// delays, and what the formula leaves out.
pub(super) const HALF_WIDTH_LEAST: f64 = 0.02;

/// Late requests come in bunches, so their numbers are skewed, and Student's t held the truth in 92 % of the
/// searches of the battery; so much wider, as a factor, in 95 %.
pub(super) const SKEWED: f64 = 1.15;

/// With fewer late requests nothing is known of a rate.
pub(super) const LATE_LEAST: u64 = 5;

impl SimulatedQueue {
    /// Passes the wait of each request that counts to `each`, by Lindley's recursion (*The theory of queues
    /// with a single server*, Mathematical Proceedings of the Cambridge Philosophical Society 48, 1952).
    fn waits(trace: &Trace, service_ns: f64, mut each: impl FnMut(f64)) {
        let (mut wait_ns, mut before_ns) = (0.0_f64, None);
        for (number, due_ns) in trace.due_ns.iter().enumerate() {
            if let Some(before_ns) = before_ns.replace(*due_ns) {
                wait_ns = (wait_ns + service_ns - (due_ns - before_ns) as f64).max(0.0);
            }
            if trace.counted.contains(&number) {
                each(wait_ns);
            }
        }
    }

    /// Returns how many requests are late with this service time.
    fn late(&self, trace: &Trace, service_ns: f64) -> u64 {
        let mut late = 0;
        Self::waits(trace, service_ns, |wait_ns| late += u64::from(wait_ns > self.patience_ns));
        late
    }

    /// Returns the rate per second at which 5 % are late in the steady state.
    ///
    /// For random arrivals that is M/D/1.
    fn capacity(&self, fit: Fit) -> f64 {
        const SECOND: f64 = 1e9;
        if self.constant {
            return SECOND / fit.service_ns;
        }
        let patience = fit.patience_ns / fit.service_ns;
        let late = 1.0 - KneeRules::WITHIN_LEAST;
        let busy = bisect(1e-6, 1.0 - 1e-9, |busy| waits_longer(busy, patience) <= late);
        busy * SECOND / fit.service_ns
    }

    /// Returns the service time with which as many are late as were, if all services take equally long;
    /// `None` where too few were to say.
    fn equal_ns(&self, traces: &[&Trace]) -> Option<f64> {
        let was: u64 = traces.iter().map(|trace| trace.late).sum();
        if was < LATE_LEAST {
            return None;
        }
        let is = |service_ns: f64| traces.iter().map(|it| self.late(it, service_ns)).sum::<u64>();
        // Halvings to a ten-thousandth: counts turn in steps anyway.
        let mean_ns = 1e9 / traces.iter().map(|trace| trace.per_s).fold(f64::INFINITY, f64::min);
        let (mut low, mut high) = ((mean_ns * 1e-3).ln(), (mean_ns * 20.0).ln());
        while high - low > 1e-4 {
            let middle = f64::midpoint(low, high);
            *(if is(middle.exp()) < was { &mut low } else { &mut high }) = middle;
        }
        Some(f64::midpoint(low, high).exp())
    }

    /// Returns the capacity that all trials together have; `None` where too few requests were late.
    pub(super) fn fit(&self, traces: &[&Trace]) -> Option<f64> {
        let equal_ns = self.equal_ns(traces)?;
        let uneven = self.uneven(traces, equal_ns).and_then(|uneven| uneven.fit(None));
        let equal = Fit { service_ns: equal_ns, patience_ns: self.patience_ns };
        Some(self.capacity(uneven.unwrap_or(equal)))
    }

    /// Returns about the capacity of a server that does this number per second where it is saturated.
    pub(super) fn saturated(&self, per_s: f64) -> f64 {
        let service_ns = 1e9 / per_s.max(1e-9);
        self.capacity(Fit { service_ns, patience_ns: self.patience_ns })
    }

    /// Returns the capacity of all trials with its 95 % interval: the fit is repeated without each trial in turn (the
    /// jackknife of Tukey 1958), and Student's t taken of the logarithms. `None` of fewer than 3 trials, or
    /// if one of them has nearly all that were late.
    pub(super) fn estimate(&self, traces: &[&Trace]) -> Option<Estimate> {
        let count = traces.len();
        let equal_ns = self.equal_ns(traces).filter(|_| count >= 3)?;
        let uneven = self.uneven(traces, equal_ns);
        let equal = Equal::new(self, traces, equal_ns);
        let without = |left: Option<usize>| {
            let fit = uneven.as_ref().map_or_else(|| Some(equal.fit(left)), |it| it.fit(left));
            fit.map(|fit| self.capacity(fit).ln())
        };
        let (whole, n) = (without(None)?, count as f64);
        let apart: Option<Vec<f64>> =
            (0..count).map(|left| Some(n * whole - (n - 1.0) * without(Some(left))?)).collect();
        let located = student(&apart?)?;
        let half = (SKEWED * (located.high - located.low) / 2.0).hypot(HALF_WIDTH_LEAST);
        let point = whole.exp();
        Some(Estimate {
            point,
            low: point * (-half).exp(),
            high: point * half.exp(),
            standard_error: None,
            level: 0.95,
            samples: count as u32,
        })
    }

    /// Returns the fit of a server whose services scatter: the twin's take the mean time, by the throughput
    /// of the saturated server, and its requests lose patience sooner. `None` for a server that is no more
    /// uneven than one whose services all take equally long.
    fn uneven(&self, traces: &[&Trace], equal_ns: f64) -> Option<Uneven> {
        let service_ns = self.saturated_ns.filter(|mean_ns| *mean_ns < equal_ns)?;
        let mut waits: Vec<(f64, usize)> = Vec::new();
        for (number, trace) in traces.iter().enumerate() {
            Self::waits(trace, service_ns, |wait_ns| waits.push((wait_ns, number)));
        }
        waits.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let late = traces.iter().map(|trace| trace.late).collect();
        let uneven = Uneven { service_ns, waits, late };
        uneven.fit(None).map(|_| uneven)
    }
}

/// Returns the part of the requests that wait for longer than some service times in an M/D/1 queue of this
/// utilisation: for a few of them exactly (A. K. Erlang 1909), else by the asymptotic tail (Cramér and
/// Lundberg; S. Asmussen, *Applied Probability and Queues*, 2nd edition 2003, XIII.5), P(W > t) ≈ C e^(−θt)
/// with ρ (e^θ − 1) = θ and C = (1 − ρ) / (ρ e^θ − 1).
fn waits_longer(busy: f64, services: f64) -> f64 {
    // Further on, the terms of the exact sum cancel.
    const EXACT_BELOW: f64 = 6.0;
    if services >= EXACT_BELOW {
        // θ lies between 0 and where the exponential has long won.
        let most = 2.0 * (1.0 / busy).ln() / busy + 2.0;
        let power = bisect(1e-12, most, |power| busy * power.exp_m1() < power);
        return (1.0 - busy) / (busy * power.exp() - 1.0) * (-power * services).exp();
    }
    let (mut sum, mut factorial) = (0.0, 1.0);
    for i in 0..=services as u32 {
        factorial *= f64::from(i.max(1));
        let rest = busy * (services - f64::from(i));
        sum += (-rest).powi(i as i32) / factorial * rest.exp();
    }
    1.0 - (1.0 - busy) * sum
}

/// The waits of a twin with known services, the longest first, each with the number of its trial.
struct Uneven {
    service_ns: f64,
    waits: Vec<(f64, usize)>,
    late: Vec<u64>,
}

impl Uneven {
    /// Returns the patience with which as many are late as were, leaving a trial out; `None` if not as many
    /// wait at all.
    fn fit(&self, left: Option<usize>) -> Option<Fit> {
        let of = |number: &usize| Some(*number) != left;
        let was: u64 = (0..self.late.len()).filter(of).map(|number| self.late[number]).sum();
        let mut waits =
            self.waits.iter().filter(|(_, number)| of(number)).map(|(wait_ns, _)| *wait_ns);
        let patience_ns = waits.nth(was as usize).filter(|wait_ns| *wait_ns > 0.0)?;
        Some(Fit { service_ns: self.service_ns, patience_ns })
    }
}

/// How many of each trial are late with service times around the one that fits all.
struct Equal {
    patience_ns: f64,
    services_ns: Vec<f64>,
    late: Vec<Vec<f64>>,
    was: Vec<f64>,
}

impl Equal {
    fn new(twin: &SimulatedQueue, traces: &[&Trace], service_ns: f64) -> Self {
        let at = |step: usize| {
            let place = 2.0 * step as f64 / STEPS as f64 - 1.0;
            service_ns * SPREAD.powf(place.powi(3))
        };
        let services_ns: Vec<f64> = (0..=STEPS).map(at).collect();
        let late = |trace: &&Trace| {
            services_ns.iter().map(|service_ns| twin.late(trace, *service_ns) as f64).collect()
        };
        let late = traces.iter().map(late).collect();
        let was = traces.iter().map(|trace| trace.late as f64).collect();
        Equal { patience_ns: twin.patience_ns, services_ns, late, was }
    }

    /// Returns the service time with which as many are late as were, leaving a trial out, on a straight
    /// line between those that were tried.
    fn fit(&self, left: Option<usize>) -> Fit {
        let of = |number: &usize| Some(*number) != left;
        let all = || (0..self.was.len()).filter(of);
        let was: f64 = all().map(|number| self.was[number]).sum();
        let more = |step: usize| all().map(|number| self.late[number][step]).sum::<f64>() - was;
        let above = (0..=STEPS).find(|step| more(*step) >= 0.0).unwrap_or(STEPS).max(1);
        let (low, high) = (more(above - 1), more(above));
        let part = if high > low { (-low / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        let [below, above] = [above - 1, above].map(|step| self.services_ns[step].ln());
        let service_ns = (below + part * (above - below)).exp();
        Fit { service_ns, patience_ns: self.patience_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_of_equal_services_is_that_of_the_queue() {
        let twin =
            |patience_ns, constant| SimulatedQueue { patience_ns, constant, saturated_ns: None };
        let fit = |service_ns, patience_ns| Fit { service_ns, patience_ns };
        // P(W > 0) = ρ.
        let at = |patience_ns| twin(patience_ns, false).capacity(fit(1e9, patience_ns));
        assert!((at(0.0) - 0.05).abs() < 1e-6, "{}", at(0.0));
        // Both formulas meet, to a thousandth.
        assert!((at(5.999e9) / at(6e9) - 1.0).abs() < 1e-3, "{} {}", at(5.999e9), at(6e9));
        // Close to saturation: 1 − ρ = 3 / (2 t).
        assert!(((1.0 - at(300e9)) * 200.0 - 1.0).abs() < 0.03, "{}", at(300e9));
        assert_eq!(twin(9.0, true).capacity(fit(2e9, 9.0)), 0.5);
    }

    #[test]
    fn a_twin_of_itself_is_found_to_its_last_digits() {
        let twin = SimulatedQueue { patience_ns: 2e6, constant: false, saturated_ns: None };
        let due_ns: Vec<u64> = (0..20_000_u64).map(|n| n * 1_000_000 + n * n % 3_000_017).collect();
        let mut due_ns = due_ns;
        due_ns.sort_unstable();
        let mut trace =
            Trace { per_s: 1_000.0, counted: 1_000..19_000, done_ns: Vec::new(), due_ns, late: 0 };
        trace.late = twin.late(&trace, 0.998e6);
        assert!(trace.late > 100);
        let found = twin.equal_ns(&[&trace]).unwrap();
        assert!((found / 0.998e6 - 1.0).abs() < 2e-4, "{found}");
        let traces = [&trace, &trace, &trace];
        let estimate = twin.estimate(&traces).unwrap();
        assert!(estimate.low <= estimate.point && estimate.point <= estimate.high);
        let width = estimate.high / estimate.low - 1.0;
        assert!(width < 2.1 * HALF_WIDTH_LEAST, "{estimate:?}");
        assert_eq!(twin.estimate(&traces[..2]), None);
        trace.late = 4;
        assert_eq!(twin.fit(&[&trace]), None, "four late requests say nothing");
    }
}
