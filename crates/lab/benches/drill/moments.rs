//! Random moments that are the same in every drill of one seed.

use std::time::Duration;

/// xorshift64*.
pub(crate) struct Moments(pub(crate) u64);

impl Moments {
    /// A number below another.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % most.max(1)
    }

    /// A length of time below another.
    pub(crate) fn within(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(most.as_micros() as u64))
    }
}
