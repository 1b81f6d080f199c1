//! Where the cycles went.

/// Cycles by cause. Every cycle has one, so that they sum to [`total`](Self::total) exactly.
///
/// Seen from the end of EX: in each cycle one instruction leaves it, or none does. If none does, the
/// cause is that of the gap: why EX was not done, or why nobody came to it. Where two causes hold up
/// the same instruction at once, the one that was over last has the cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// One for each instruction that retired.
    pub retired: u64,
    /// One for each instruction that went down the pipeline and trapped.
    pub trapped: u64,
    /// Waits for an operand; with forwarding, for a load above all.
    pub data: u64,
    /// Lost behind taken branches and jumps, and behind mispredicted branches.
    pub control: u64,
    /// Lost behind instructions that trapped, beside their own.
    pub trap: u64,
    /// Lost behind `mret`.
    pub trap_return: u64,
    /// Cycles beyond the first in EX: multiplication, division, control and status registers.
    pub execution: u64,
    /// Second fetches for an instruction that lies in two fetch words.
    pub fetch: u64,
    /// Misses of the instruction cache.
    pub miss: u64,
    /// Data accesses that wait for memory.
    pub memory: u64,
    /// The first instruction on its way through the stages: their number less one.
    pub fill: u64,
}

/// One cause of [`Cycles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByCause {
    /// In a few words.
    pub name: &'static str,
    /// How many cycles.
    pub cycles: u64,
}

impl Cycles {
    /// The causes, in the order in which people read them.
    pub fn by_cause(&self) -> [ByCause; 11] {
        let by = |name, cycles| ByCause { name, cycles };
        [
            by("retired instructions", self.retired),
            by("trapped instructions", self.trapped),
            by("wait for an operand", self.data),
            by("branches and jumps", self.control),
            by("traps", self.trap),
            by("mret", self.trap_return),
            by("long in EX", self.execution),
            by("second fetch", self.fetch),
            by("instruction misses", self.miss),
            by("data misses", self.memory),
            by("filling the pipeline", self.fill),
        ]
    }

    /// All cycles, from the first fetch to the last write-back.
    pub fn total(&self) -> u64 {
        self.by_cause().iter().map(|part| part.cycles).sum()
    }
}
