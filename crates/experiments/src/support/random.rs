//! Numbers drawn at random, the same for the same seed everywhere.

/// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"): one
/// word of state, no allocation, good enough to scatter writes over a file.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A stream of its own for each pair of seed and index.
    pub(crate) fn new(seed: u64, index: usize) -> Self {
        let mut random = Random(seed ^ (index as u64).wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit` − 1 (0 for a limit of 0), with a bias below limit / 2⁶⁴.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs for the state 1234567, as in the reference implementation.
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_below_their_limit_and_reach_all_of_it() {
        let mut random = Random::new(7, 3);
        let mut seen = [false; 16];
        for _ in 0..1000 {
            seen[random.below(16) as usize] = true;
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn workers_draw_different_numbers() {
        assert_ne!(Random::new(7, 0).next(), Random::new(7, 1).next());
    }
}
