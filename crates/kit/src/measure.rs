use crate::{Result, Trial};
use std::hint::black_box;

/// A batch lasts at least this many times the clock's measured step, so that the clock's grain is
/// at most 1 % of an observation.
pub const BATCH_PRECISION: u64 = 100;

/// The most observations one trial keeps of one response. A trial is one number in the end; more
/// would fatten the session's folder and not the evidence.
pub const OBSERVATIONS_MAX: usize = 256;

/// The shortest batch: long against the cost of reading the clock twice (about 50 ns), so that
/// this cost is below 0.5 % of an observation even before it is subtracted.
const BATCH_NS_MIN: u64 = 10_000;

/// A part of a whole in parts per million; of nothing as of one.
pub fn ppm(part: u64, whole: u64) -> i64 {
    (u128::from(part) * 1_000_000 / u128::from(whole.max(1))) as i64
}

/// How many there were in a second of that time.
pub fn per_second(count: u64, time_ns: u64) -> i64 {
    (u128::from(count) * 1_000_000_000 / u128::from(time_ns.max(1))) as i64
}

impl Trial<'_> {
    /// Times a short operation in batches: `operation(n)` must do it `n` times.
    ///
    /// The batch is made long enough for the clock before the timed region opens; in the region
    /// nothing is allocated. Returns the number of operations in a batch and of batches.
    pub fn batches(
        &mut self,
        response: &str,
        mut operation: impl FnMut(u64),
    ) -> Result<(u64, u64)> {
        let batch = calibrate(&mut operation);
        let mut values: Vec<i64> = Vec::with_capacity(OBSERVATIONS_MAX);
        let limit_ns = self.spec().timed_ns;
        self.begin()?;
        let begun = sys::clock::now_ns();
        while values.len() < OBSERVATIONS_MAX {
            let start = sys::clock::now_ns();
            operation(black_box(batch));
            let end = sys::clock::now_ns();
            values.push((end - start) as i64);
            if end - begun >= limit_ns {
                break;
            }
        }
        self.end()?;
        let batches = values.len() as u64;
        self.record(response, batch, values);
        Ok((batch, batches))
    }

    /// Repeats an operation that times its own parts: each call fills one duration per response.
    ///
    /// `warm_up` calls are made before the timed region opens. Returns how often the operation
    /// was done in the timed region.
    pub fn repeat<const PARTS: usize>(
        &mut self,
        responses: [&str; PARTS],
        warm_up: u32,
        mut operation: impl FnMut(&mut [u64; PARTS]) -> Result<()>,
    ) -> Result<u64> {
        let mut parts = [0; PARTS];
        for _ in 0..warm_up {
            operation(&mut parts)?;
        }
        let mut kept: [Vec<i64>; PARTS] =
            std::array::from_fn(|_| Vec::with_capacity(OBSERVATIONS_MAX));
        let limit_ns = self.spec().timed_ns;
        self.begin()?;
        let begun = sys::clock::now_ns();
        let mut done = 0;
        while done < OBSERVATIONS_MAX as u64 {
            operation(&mut parts)?;
            for (values, part) in kept.iter_mut().zip(parts) {
                values.push(part as i64);
            }
            done += 1;
            if sys::clock::now_ns() - begun >= limit_ns {
                break;
            }
        }
        self.end()?;
        for (response, values) in responses.into_iter().zip(kept) {
            self.record(response, 1, values);
        }
        Ok(done)
    }
}

/// Returns the number of operations that last long enough for the clock. The search also warms up.
fn calibrate(operation: &mut impl FnMut(u64)) -> u64 {
    let goal_ns = BATCH_NS_MIN.max(BATCH_PRECISION * sys::clock::step_ns());
    let mut batch = 1;
    loop {
        // The best of three: one preemption must not make the batch too short.
        let best_ns = (0..3)
            .map(|_| {
                let start = sys::clock::now_ns();
                operation(black_box(batch));
                sys::clock::now_ns() - start
            })
            .min()
            .unwrap_or(0);
        if best_ns >= goal_ns || batch >= 1 << 40 {
            return batch;
        }
        batch =
            if best_ns * 10 < goal_ns { batch * 8 } else { batch * goal_ns / best_ns.max(1) + 1 };
    }
}
