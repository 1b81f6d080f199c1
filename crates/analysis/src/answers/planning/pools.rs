//! Pools of workers on the CPUs of one machine: the chain of births and deaths that open and closed loads
//! share.

use super::case::{Case, Done, Steady};
use laws::Error;

/// How requests come to the workers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// At a rate per ns, whatever becomes of those before them.
    Open(f64),
    /// From this number of connections, each of which thinks and waits for its answer.
    Closed(u32),
}

/// The pools of all numbers of workers up to some.
pub(super) struct Pools<'a> {
    pub(super) case: &'a Case<'a>,
    /// What each number of busy workers does, per ns.
    rates: Vec<f64>,
}

impl<'a> Pools<'a> {
    pub(super) fn new(case: &'a Case<'a>, most: u32) -> Self {
        Pools { case, rates: rates(case.cpus, case.cpu_ns, case.idle_ns, most) }
    }

    /// Returns what this number of busy workers does, per ns.
    pub(super) fn does(&self, workers: u32) -> f64 {
        self.rates[(workers as usize).min(self.rates.len() - 1)]
    }

    /// Returns the steady state of a pool of this number of workers.
    ///
    /// Requests are born as they arrive and die at what the busy workers do (the flow-equivalent server
    /// of Chandy, Herzog and Woo, "Parametric analysis of queuing networks", IBM Journal of Research and
    /// Development 19, 1975).
    /// # Errors
    /// If its queue never settles.
    pub(super) fn steady(&self, arrivals: Arrivals, workers: u32) -> Result<Steady, Error> {
        let does = |present: u32| self.does(present.min(workers));
        let think_ns = self.case.load.think_ns;
        match arrivals {
            // Nobody thinks: all are there all the time.
            Arrivals::Closed(connections) if think_ns <= 0.0 => Ok(Steady {
                throughput: does(connections),
                present: f64::from(connections),
                busy: f64::from(workers.min(connections)),
            }),
            Arrivals::Closed(connections) => {
                let come = |present: u32| f64::from(connections - present) / think_ns;
                Ok(settled(connections, workers, come, does, 0.0))
            }
            Arrivals::Open(rate) => {
                let capacity = does(workers);
                if rate >= capacity {
                    return Err(Error::Unstable { arrivals: rate, capacity });
                }
                let steady = settled(workers, workers, |_| rate, does, rate / capacity);
                Ok(Steady { throughput: rate, ..steady })
            }
        }
    }

    /// Returns what this number of workers does.
    ///
    /// # Errors
    /// If their queue never settles.
    pub(super) fn done(&self, arrivals: Arrivals, workers: u32) -> Result<Done, Error> {
        self.steady(arrivals, workers)?.done(self.case, workers)
    }
}

/// Returns the steady state of requests of which up to `most` are there, each number of them born at
/// `come` and dying at `does`; or more, each as likely as the number before it times `beyond`.
fn settled(
    most: u32,
    workers: u32,
    come: impl Fn(u32) -> f64,
    does: impl Fn(u32) -> f64,
    beyond: f64,
) -> Steady {
    // ln p(k) − ln p(0)
    let mut logs = vec![0.0];
    for present in 1..=most {
        let before = logs[present as usize - 1];
        logs.push(before + (come(present - 1) / does(present)).ln());
    }
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    let mut steady = Steady { throughput: 0.0, present: 0.0, busy: 0.0 };
    for (present, log) in (0..).zip(&logs) {
        let chance = (log - highest).exp();
        sum += chance;
        steady.throughput += chance * does(present);
        steady.present += chance * f64::from(present);
        steady.busy += chance * f64::from(present.min(workers));
    }
    let (chance, most) = ((logs[most as usize] - highest).exp(), f64::from(most));
    let more = chance * beyond / (1.0 - beyond);
    sum += more;
    Steady {
        throughput: steady.throughput / sum,
        present: (steady.present + more * (most + 1.0 / (1.0 - beyond))) / sum,
        busy: (steady.busy + more * f64::from(workers)) / sum,
    }
}

/// Returns the requests done per ns by 1, 2, … `most` busy workers that need a CPU for `cpu_ns` and then
/// none for `idle_ns`, with this number of CPUs; the first number is for none.
///
/// By Buzen's convolution of a delay with a station of c servers: X(j) = G(j − 1) / G(j), where
/// G(j) = Σ Wⁱ/i! · b(j − i) and b(m) = b(m − 1) C / min(m, c). From m = c on b is geometric, so
/// that each G takes c terms; in logarithms, which neither overflow nor vanish.
pub(super) fn rates(cpus: u32, cpu_ns: f64, idle_ns: f64, most: u32) -> Vec<f64> {
    let served = |busy: u32| f64::from(busy.min(cpus)) / cpu_ns;
    if idle_ns <= 0.0 {
        return (0..=most).map(served).collect();
    }
    let (servers, most) = (cpus as usize, most as usize);
    // ln Wⁱ/i!
    let mut delay = Vec::with_capacity(most + 1);
    delay.push(0.0);
    for i in 1..=most {
        delay.push(delay[i - 1] + idle_ns.ln() - (i as f64).ln());
    }
    // ln b(m) for m < c.
    let mut busy = vec![0.0];
    for m in 1..servers {
        busy.push(busy[m - 1] + cpu_ns.ln() - (m as f64).ln());
    }
    let each = cpu_ns.ln() - (cpus as f64).ln();
    let (mut rates, mut before, mut tail) = (vec![0.0], 0.0, f64::NEG_INFINITY);
    for j in 1..=most {
        tail = match j.checked_sub(servers) {
            Some(i) => each + log_sum(&[tail, delay[i] + busy[servers - 1]]),
            None => f64::NEG_INFINITY,
        };
        let mut terms: Vec<f64> = (0..servers.min(j + 1)).map(|m| delay[j - m] + busy[m]).collect();
        terms.push(tail);
        let whole = log_sum(&terms);
        rates.push((before - whole).exp());
        before = whole;
    }
    rates
}

fn log_sum(logs: &[f64]) -> f64 {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + logs.iter().map(|log| (log - highest).exp()).sum::<f64>().ln()
}
