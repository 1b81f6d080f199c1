//! What visits come to, in constant memory.

use super::{End, Visit};
use crate::Error;
use hdrhistogram::Histogram;

/// Times in ns: their mean to the ns, their percentiles to a thousandth.
#[derive(Clone, Debug)]
pub struct Times {
    histogram: Histogram<u64>,
    sum_ns: u128,
}

impl Default for Times {
    fn default() -> Self {
        // Three digits are among the one to five that the library knows, and it grows by itself.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits"));
        Times { histogram, sum_ns: 0 }
    }
}

impl Times {
    /// One more.
    pub fn record(&mut self, ns: u64) {
        // It grows to whatever comes; only a platform without the memory for it could refuse.
        if self.histogram.record(ns).is_err() {
            self.histogram.saturating_record(ns);
        }
        self.sum_ns += u128::from(ns);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their mean in ns; `None` if there are none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The time that a share `probability` of them does not exceed, in ns, to 0.1 %; `None` if there
    /// are none.
    ///
    /// # Errors
    /// If the probability is not at least 0 and at most 1.
    pub fn quantile_ns(&self, probability: f64) -> Result<Option<u64>, Error> {
        let probability = crate::error::fraction("probability", probability)?;
        Ok((self.count() > 0).then(|| self.histogram.value_at_quantile(probability)))
    }
}

/// Visits, summed up.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// From coming to done, of those that were answered.
    pub response: Times,
    /// From coming to the worker that took them, of those that were answered.
    pub queued: Times,
    /// Those that were not answered.
    pub unanswered: u64,
}

impl Summary {
    /// One more.
    pub fn record(&mut self, visit: &Visit) {
        match visit.end {
            End::Answered { begun_ns, done_ns } => {
                self.response.record(done_ns - visit.came_ns);
                self.queued.record(begun_ns - visit.came_ns);
            }
            End::Unfinished { .. } => self.unanswered += 1,
        }
    }
}
