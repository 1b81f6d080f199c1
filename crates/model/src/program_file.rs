use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file of the user's that trials look at, known by its content: a trial that finds another
/// content fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramFile {
    /// The level that stands for it.
    pub level: String,
    /// Its absolute path when the session was begun.
    pub path: String,
    /// SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
    /// What was found in it when the session was begun, in one line.
    pub about: String,
    /// It is stopped after that number of instructions.
    pub instructions_max: u64,
    /// Bytes of the stack that it starts with; 64 KiB if none are stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u32>,
    /// Memory that it has beyond what its file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRange>,
    /// The caches that it runs before, the same for all programs of a session; none for those of the
    /// experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<Caches>,
}

/// A choice of caches: each size with each of the other numbers, as far as there is such a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caches {
    /// Sizes in bytes.
    pub bytes: Vec<u32>,
    /// Bytes of a line.
    pub line_bytes: Vec<u32>,
    /// Lines of a set; 0 for a set of all lines.
    pub ways: Vec<u32>,
    /// Which line of a set gives way.
    pub policies: Vec<Replacement>,
    /// Whether the cycles of a pipeline are also computed.
    pub cycles: bool,
}

/// Which line of a set of a cache gives way to another.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// The one accessed longest ago.
    #[default]
    Lru,
    /// The one fetched longest ago.
    Fifo,
    /// Any, at random.
    Random,
    /// The one to which a binary tree of bits points (tree pseudo-LRU).
    Plru,
}

impl Replacement {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Lru, Self::Fifo, Self::Random, Self::Plru];

    /// One word for it.
    pub fn name(self) -> &'static str {
        ["lru", "fifo", "random", "plru"][self as usize]
    }
}

impl Caches {
    /// The most caches of a choice.
    pub const MOST: usize = 4096;

    /// Whether it is bounded and names something.
    fn check(&self) -> Result<(), String> {
        let counts =
            [self.bytes.len(), self.line_bytes.len(), self.ways.len(), self.policies.len()];
        let caches = counts.into_iter().try_fold(1_usize, usize::checked_mul).unwrap_or(usize::MAX);
        let most = Self::MOST;
        crate::ensure!(
            (1..=most).contains(&caches),
            "{caches} caches are chosen: sizes times lines times ways times policies must be from 1 to \
             {most}"
        );
        Ok(())
    }
}

/// A range of memory of the simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRange {
    /// Its first address.
    pub address: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

impl fmt::Display for MemoryRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#x}:{}", self.address, self.bytes)
    }
}

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

impl ProgramFile {
    /// The most instructions that a program may carry out: minutes for each trial. A session may come
    /// from a stranger, and is resumed by name.
    pub const INSTRUCTIONS_MAX: u64 = 1_000_000_000;

    /// The largest stack, and the most memory beyond the file's, in bytes.
    pub const MEMORY_MAX_BYTES: u32 = 128 << 20;

    /// Whether it can be what it says.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let hexadecimal = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        crate::ensure!(
            self.sha256.len() == DIGITS && self.sha256.bytes().all(hexadecimal),
            "the SHA-256 of {} must have {DIGITS} digits",
            self.level
        );
        let most = Self::INSTRUCTIONS_MAX;
        if !(1..=most).contains(&self.instructions_max) {
            let found = self.instructions_max;
            return Err(format!("{found} instructions of {} are not from 1 to {most}", self.level));
        }
        self.caches.as_ref().map_or(Ok(()), Caches::check)?;
        let sizes = [self.stack_bytes, self.memory.map(|memory| memory.bytes)];
        let most = Self::MEMORY_MAX_BYTES;
        if let Some(found) = sizes.into_iter().flatten().find(|bytes| *bytes > most) {
            return Err(format!("{found} bytes of memory of {} are over {most}", self.level));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryRange, ProgramFile};

    #[test]
    fn what_a_stranger_wrote_is_bounded() {
        let file = ProgramFile {
            level: "a".into(),
            path: "/a".into(),
            sha256: "0".repeat(64),
            about: String::new(),
            instructions_max: ProgramFile::INSTRUCTIONS_MAX,
            ..ProgramFile::default()
        };
        assert_eq!(file.check(), Ok(()));
        for instructions_max in [0, ProgramFile::INSTRUCTIONS_MAX + 1, u64::MAX] {
            assert!(ProgramFile { instructions_max, ..file.clone() }.check().is_err());
        }
        for bytes in [ProgramFile::MEMORY_MAX_BYTES, ProgramFile::MEMORY_MAX_BYTES + 1] {
            let memory = Some(MemoryRange { address: 0, bytes });
            let is_right = bytes == ProgramFile::MEMORY_MAX_BYTES;
            for file in [
                ProgramFile { memory, ..file.clone() },
                ProgramFile { stack_bytes: Some(bytes), ..file.clone() },
            ] {
                assert_eq!(file.check().is_ok(), is_right, "{bytes}");
            }
        }
        for sha256 in ["0".repeat(63), "0".repeat(65), "G".repeat(64), "A".repeat(64)] {
            assert!(ProgramFile { sha256, ..file.clone() }.check().is_err());
        }
    }
}
