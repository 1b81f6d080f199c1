//! What a program of the user's did on the simulated core.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `scruple core` saw of one program. Everything is computed, and the same on every machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreRun {
    /// The version of scruple.
    pub scruple: String,
    /// The file, as it was named.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Why the program failed; empty where it did not.
    pub failure: String,
    /// Whether it was stopped at the limit of instructions: all numbers are of those.
    pub limited: bool,
    /// How it ended, such as "the program exited with 0".
    pub ended: String,
    /// The status that it asked to exit with; null where it ended in another way.
    pub status: Option<i64>,
    /// What it wrote, the first 64 KiB; what is not UTF-8 is replaced.
    pub output: String,
    /// Bytes of its instructions in memory.
    pub text_bytes: u32,
    /// Instructions that retired.
    pub instructions: u64,
    /// Of them, those of 16 bits.
    pub short_instructions: u64,
    /// Traps that were taken.
    pub traps: u64,
    /// Steps outside of its text: in its data, or where it copied instructions.
    pub outside: u64,
    /// Cycles on the pipeline.
    pub cycles: u64,
    /// The same by their causes, which sum to them.
    pub causes: Vec<CoreCause>,
    /// The pipeline.
    pub pipeline: Vec<CoreParameter>,
    /// The caches.
    pub caches: Vec<CoreCache>,
    /// Misses over the size of the instruction cache, where that was asked for.
    pub curves: Vec<CoreCurve>,
    /// Conditional branches.
    pub branches: u64,
    /// Of them, those that went elsewhere than was predicted.
    pub mispredicted: u64,
    /// The instructions that took most cycles, those first.
    pub lines: Vec<CoreLine>,
    /// The functions that took most cycles, those first. Without symbols there are none.
    pub functions: Vec<CoreFunction>,
}

/// A cause of cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreCause {
    /// In a few words.
    pub name: String,
    /// Cycles.
    pub cycles: u64,
}

/// A parameter of the pipeline, as `--set` takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreParameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A cache and what it adds up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreCache {
    /// What it holds: `instructions`, `data`, or `both (second level)`.
    pub name: String,
    /// Sets.
    pub sets: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Which line gives way: `lru`, `fifo`, `random` or `plru`.
    pub policy: String,
    /// Accesses: one for each line that an instruction, a load or a store touches.
    pub accesses: u64,
    /// Misses of lines that nothing accessed before.
    pub cold: u64,
    /// Misses that a fully associative LRU cache of the same size would not have.
    pub conflict: u64,
    /// Misses that it would also have.
    pub capacity: u64,
    /// Bytes that misses fetched.
    pub fetched_bytes: u64,
    /// Lines that were written back when they gave way.
    pub written_back: u64,
    /// Stores that were written at once to what is behind the cache.
    #[serde(default)]
    pub written_through: u64,
}

impl CoreCache {
    /// Returns the misses of all classes.
    pub fn misses(&self) -> u64 {
        self.cold + self.conflict + self.capacity
    }

    /// Returns hits per access; none without accesses.
    pub fn hit_rate(&self) -> Option<f64> {
        let hits = self.accesses.checked_sub(self.misses())?;
        (self.accesses > 0).then(|| hits as f64 / self.accesses as f64)
    }
}

/// Misses of a program over the size of its instruction cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreCurve {
    /// What kind of instructions it has.
    pub name: String,
    /// Bytes of its instructions in memory.
    pub text_bytes: u32,
    /// Instructions that retired.
    pub instructions: u64,
    /// Lines of a set of the caches; 0 where all lines are one set.
    #[serde(default)]
    pub ways: u32,
    /// Bytes of a line of the caches.
    #[serde(default)]
    pub line_bytes: u32,
    /// The sizes, ascending.
    pub points: Vec<CorePoint>,
}

/// A size of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorePoint {
    /// Bytes that it holds.
    pub bytes: u64,
    /// Misses.
    pub misses: u64,
}

impl CoreCurve {
    /// Returns the misses per 1,000 instructions in a cache of a size.
    pub fn per_thousand(&self, bytes: u64) -> Option<f64> {
        let point = self.points.iter().find(|point| point.bytes == bytes)?;
        Some(1000.0 * point.misses as f64 / self.instructions.max(1) as f64)
    }
}

/// An instruction of the program, and what it took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreLine {
    /// Its address.
    pub address: u32,
    /// The instruction.
    pub text: String,
    /// The symbol that it belongs to and the bytes behind it, such as `sum+0x8`; empty without symbols.
    pub place: String,
    /// Its line in the file; null for an ELF file.
    pub line: Option<u32>,
    /// How often it was executed.
    pub executions: u64,
    /// Cycles: its own, those that it waited for operands and for its fetch, and those that others lost behind it
    /// (a redirect, data that it waited for).
    pub cycles: u64,
}

/// A function of the program, and what its instructions took, without those of functions that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreFunction {
    /// Its name.
    pub name: String,
    /// Instructions that were executed.
    pub executions: u64,
    /// Cycles, as in [`CoreLine::cycles`].
    pub cycles: u64,
}
