//! The slices of a load's time, with the times of all its requests or of those that succeeded.

use analysis::TimeSlice;
use web::load::{Counts, Slice};

/// The slices of a load.
pub(super) struct Slices<'a> {
    slices: &'a [Slice],
    /// The times of the answers that succeeded, by slice.
    succeeded: Vec<Counts>,
    /// Answers that succeeded after the end of the time.
    late: u64,
}

impl<'a> Slices<'a> {
    pub(super) fn of(slices: &'a [Slice], late: u64) -> Self {
        Self { slices, succeeded: slices.iter().map(Slice::succeeded).collect(), late }
    }

    /// Returns them with all requests.
    pub(super) fn all(&self) -> Vec<TimeSlice<'_>> {
        let last = self.slices.len().saturating_sub(1);
        let of = |(index, slice): (usize, &'a Slice)| TimeSlice {
            seconds: (slice.seen.until_ns - slice.seen.from_ns) as f64 / 1e9,
            known: &slice.response.known,
            censored: &slice.response.censored,
            succeeded: slice.seen.succeeded,
            late: if index == last { self.late } else { 0 },
            failed: slice.seen.failed,
        };
        self.slices.iter().enumerate().map(of).collect()
    }

    /// Returns them with the answers that succeeded alone.
    pub(super) fn succeeded(&self) -> Vec<TimeSlice<'_>> {
        let all = self.all().into_iter().zip(&self.succeeded);
        all.map(|(slice, known)| TimeSlice { known, censored: &[], ..slice }).collect()
    }
}
