use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the catalog a session measures. Each profile holds the levels of the ones before.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// For tests: the fewest levels, a second or two per experiment.
    Smoke,
    /// The whole catalog within three minutes on two cores.
    #[default]
    Quick,
    /// A quarter of an hour.
    Standard,
    /// Hours.
    Thorough,
}

impl Profile {
    /// Returns that of four values, of smoke to thorough, which stands for this profile.
    pub fn pick<T: Copy>(self, values: [T; 4]) -> T {
        values[self as usize]
    }

    /// The time in which a session of this profile measures, in seconds.
    pub fn budget_s(self) -> u64 {
        self.pick([60, 177, 15 * 60, 3 * 3600])
    }

    /// The fewest blocks measured before the session may stop for precision.
    pub fn blocks_min(self) -> u32 {
        self.pick([2, 6, 10, 20])
    }

    /// The most blocks of one experiment: only `smoke` has a limit of its own. The others go on while
    /// time is left and an interval is too wide.
    pub fn blocks_max(self) -> u32 {
        if self == Profile::Smoke { 2 } else { crate::BLOCKS_MAX }
    }

    /// How long the timed region of a trial that repeats short operations lasts, in nanoseconds.
    pub fn timed_ns(self) -> u64 {
        self.pick([2_000_000, 6_000_000, 25_000_000, 50_000_000])
    }

    /// The word users type.
    pub fn name(self) -> &'static str {
        self.pick(["smoke", "quick", "standard", "thorough"])
    }
}
