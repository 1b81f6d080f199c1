//! Why a program is not taken.

/// Why a file is no program of this machine, or a program does not fit it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number is not what it must be.
    #[error("{what} is {value:#x}; it must be {right}")]
    Wrong {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: u64,
        /// What would be right.
        right: &'static str,
    },
    /// The file is no ELF file, or contradicts itself.
    #[error("{what} of the ELF file cannot be read: {why}")]
    Elf {
        /// Which part of the file.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A segment does not fit into the file or into 32 bits of address.
    #[error("the segment at {address:#010x} {why}")]
    Segment {
        /// Where it was to lie.
        address: u32,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// Two pieces of memory lie over each other.
    #[error("{first} and {second} lie over each other at {at:#010x}; each needs its own addresses")]
    Overlap {
        /// What lies there.
        first: String,
        /// What also lies there.
        second: String,
        /// The first address that both have.
        at: u32,
    },
    /// The program wants more memory than the machine has.
    #[error("the program wants {bytes} bytes of {what}; the machine has at most {most}")]
    TooLarge {
        /// What kind of memory.
        what: &'static str,
        /// How many bytes it wants.
        bytes: u64,
        /// How many there are.
        most: u64,
    },
    /// Nothing of the program can be executed.
    #[error(
        "the program has no instructions; a section or segment marked executable must hold some"
    )]
    NoText,
}
