//! A loop whose time is the CPU's clock and nothing else.

/// Takes `steps` steps of Marsaglia's xorshift generator from `state` on ("Xorshift RNGs", Journal
/// of Statistical Software 8, 2003, section 3: shifts by 13, 7 and 17).
///
/// Each step is six instructions of one cycle, and each needs the one before: no CPU does two at a
/// time, none waits for memory, and a neighbour on the same core finds most of its units idle. So
/// the loop takes 6 cycles a step on every CPU that issues in a cycle, and its time says how long
/// a cycle was. No compiler knows how to leap ahead in it, as it can in sums and products. State 0
/// stays 0.
#[inline(never)]
pub fn xorshift(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_numbers_are_the_published_generators() {
        // By an independent calculation, from the seed of the paper's example.
        let mut state = 88_172_645_463_325_252;
        let expected = [8_748_534_153_485_358_512, 3_040_900_993_826_735_515];
        for number in expected {
            state = xorshift(state, 1);
            assert_eq!(state, number);
        }
        assert_eq!(xorshift(0, 1_000), 0);
    }

    proptest! {
        #[test]
        fn no_step_is_left_out(state in 1_u64.., first in 0_u64..300, more in 0_u64..300) {
            prop_assert_eq!(xorshift(xorshift(state, first), more), xorshift(state, first + more));
            // A linear map of full period: no step stands still, and none can be skipped.
            prop_assert_ne!(xorshift(state, first + 1), xorshift(state, first));
        }
    }
}
