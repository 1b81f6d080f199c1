//! The command line of `scruple core`.

use crate::core::options::{Setting, Shape, Window};
use crate::quantity;
use crate::sweep::caches::Choice;
use clap::{Args, ValueEnum};
use model::{MemoryRange, Replacement};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 the program ended well; 2 it failed (its status is not 0, it jumped \
where no memory is, or a trap had no handler), or usage or environment error; 3 it was stopped at the limit of \
instructions, or interrupted.";

/// How a cache writes stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WritesName {
    /// A line is written when it gives way; a store that misses fetches its line
    Back,
    /// Each store is written at once; a store that misses fetches nothing
    Through,
}

/// A program that comes with scruple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// A system call, and the handler that answers it
    Trap,
    /// Insertion sort
    Sort,
}

/// Parses a name and its value.
fn constant(text: &str) -> Result<(String, i64), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let pair = pair.and_then(|(name, value)| {
        let value = match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?.into(),
            None => value.parse::<i32>().ok()?.into(),
        };
        Some((name.to_owned(), value))
    });
    pair.ok_or_else(|| "expected a name and a number of 32 bits, such as BASE=0x90000000".into())
}

/// A pipeline that is known by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Five stages, as in Patterson and Hennessy
    Textbook,
    /// Four stages, with the cycles of the CV32E40P's manual
    Cv32e40p,
    /// Five stages, with the cycles of the RTL core ultraembedded/riscv
    Ultraembedded,
}

/// Run a RISC-V program on the simulated core
///
/// FILE is an ELF file for RV32IMAC, or texts in assembly language (.s), which scruple assembles itself. It
/// prints what the program wrote, how it ended, and where its cycles went: useful work, data hazards, control,
/// traps, misses. All numbers are computed and the same on every machine. docs/core.md shows lessons with it.
///
/// --pipeline draws who was in which stage. --html writes a page with a slider over the cycles.
/// --sweep runs one or more ELF files before many caches and leaves a session.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CoreArgs {
    /// The program: an ELF file, or one or more files in assembly language; `-` is standard input
    #[arg(required_unless_present = "example", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print a program in assembly language to start from
    #[arg(long, value_enum, exclusive = true)]
    pub(crate) example: Option<Example>,
    /// Draw the pipeline in these cycles, such as 100..160, or around the first trap, stall, branch or miss
    #[arg(long, value_name = "CYCLES", value_parser = Window::parse)]
    pub(crate) pipeline: Option<Window>,
    /// Write a page with a slider over the cycles, which works offline; it holds up to 2000 instructions
    ///
    /// They are the first, or those from the first cycle of --pipeline on. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the result as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the pipeline of this name
    #[arg(long = "core", value_enum, default_value_t = Preset::Textbook)]
    pub(crate) preset: Preset,
    /// Change a parameter of the pipeline, such as branch=ID or forwarding=off; may be repeated
    ///
    /// docs/core.md lists them; an unknown name lists their names.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Setting::parse)]
    pub(crate) set: Vec<Setting>,
    /// Add a cache for instructions: its size, ways and bytes of a line, such as 1KiB,2,16
    #[arg(long, value_name = "SIZE,WAYS,LINE", value_parser = Shape::parse)]
    pub(crate) icache: Option<Shape>,
    /// Add a cache for data, such as 1KiB,2,16
    #[arg(long, value_name = "SIZE,WAYS,LINE", value_parser = Shape::parse)]
    pub(crate) dcache: Option<Shape>,
    /// Add a second level behind both, such as 16KiB,4,32
    #[arg(long, value_name = "SIZE,WAYS,LINE", value_parser = Shape::parse)]
    pub(crate) l2: Option<Shape>,
    /// Wait for N further cycles where the second level also lacks the line
    #[arg(long, value_name = "N", default_value_t = 0, requires = "l2")]
    pub(crate) l2_miss: u16,
    /// Choose how stores are written from the cache for data
    #[arg(long, value_enum, default_value_t = WritesName::Back)]
    pub(crate) writes: WritesName,
    /// Run ELF files before many instruction caches, and store a session with its report
    ///
    /// The other files are compared with the first. size=1KiB,4KiB, line=16,32, ways=1,2,full and
    /// policy=lru,fifo,random,plru choose the caches: each value with each, as far as there is such a cache. What
    /// is not chosen has a default: 64 B to 32 KiB, lines of 8 B, 1 way and full, lru. One run of a program answers
    /// for all. The cycles of a pipeline are computed for at most 64 caches; cycles=off leaves them out.
    /// docs/icache.md says what a program may do.
    #[arg(long, value_name = "NAME=VALUES", num_args(0..), value_parser = Choice::parse, conflicts_with_all = [
        "pipeline", "html", "trace", "preset", "set", "icache", "dcache", "l2", "writes", "sizes", "policy",
        "compressed", "define", "input", "strict",
    ])]
    pub(crate) sweep: Option<Vec<Choice>>,
    /// Write the session of --sweep to this folder [default: scruple-sessions/<time>-<host>]
    #[arg(short, long, value_name = "DIR", requires = "sweep")]
    pub(crate) output: Option<PathBuf>,
    /// Write what each step does to FILE, up to 200000 steps
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show the misses over the size of the instruction cache; for assembly language also with and without
    /// instructions of 16 bits
    #[arg(long)]
    pub(crate) sizes: bool,
    /// Choose which line gives way to a new one: the one accessed longest ago (lru), the one fetched longest ago
    /// (fifo), any with a fixed seed (random), or the one that a tree of bits points to (plru)
    #[arg(long, value_name = "POLICY", value_parser = quantity::policy, default_value = "lru")]
    pub(crate) policy: Replacement,
    /// Assemble into instructions of 16 bits where there are such (C)
    #[arg(long)]
    pub(crate) compressed: bool,
    /// Give a name of the assembly language a value, such as LED_MATRIX_0_BASE=0x90000000; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub(crate) define: Vec<(String, i64)>,
    /// Look for included files in this folder also; may be repeated
    #[arg(long, short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// Go on behind an ebreak, which else ends the program
    #[arg(long)]
    pub(crate) skip_ebreak: bool,
    /// Give the program arguments, such as "m0.bin m1.bin"
    ///
    /// a0 is their number with the program's name, and a1 is where their addresses lie.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Let the program read this file as its input
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Stop the program after N instructions
    #[arg(long, value_name = "N", default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..=model::ProgramFile::INSTRUCTIONS_MAX))]
    pub(crate) instructions: u64,
    /// Start the program with a stack of SIZE, such as 1MiB [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::stack)]
    pub(crate) stack: Option<u32>,
    /// Give the program no memory but its own segments, a heap and a stack, and do not let it write instructions
    ///
    /// Without it, a program in assembly language has memory wherever it loads or stores, as in simulators.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Give the program memory of SIZE from ADDRESS on, such as 0x80000000:16MiB
    #[arg(long, value_name = "ADDRESS:SIZE", value_parser = quantity::memory_range)]
    pub(crate) memory: Option<MemoryRange>,
}
