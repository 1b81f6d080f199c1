//! Caches of both kinds, a second level behind them, and a pipeline: what one run of a program costs.
//!
//! ```
//! use isa::cache::Geometry;
//! use isa::encode::{A0, ZERO, addi, bne, ret};
//! use isa::pipeline::{Parameters, Prediction};
//! use isa::system::{Config, System};
//! use isa::{Machine, Program, Setup};
//!
//! let program = Program::from_words(0x1000, &[addi(A0, A0, -1), bne(A0, ZERO, -4), ret()]);
//! let mut machine = Machine::new(&program, &Setup::default())?;
//! machine.set_register(A0, 100);
//! let core = Parameters { miss: 10, prediction: Prediction::Backward, ..Parameters::textbook() };
//! let instruction = Geometry::direct_mapped(8, 16).ok().map(Into::into);
//! let mut system = System::new(&Config { core, instruction, ..Config::default() })?;
//! machine.run(1_000, |step| {
//!     system.step(step);
//! });
//! assert_eq!((system.cycles().retired, system.cycles().miss), (201, 10));
//! assert_eq!(system.predictor().mispredicted(), 1);
//! assert_eq!(system.instruction().map(|cache| cache.tally().misses()), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod profile;

pub use profile::{Profile, Spot};

use crate::cache::{self, Cache, Effect, Fetch, Fetcher, Outcome};
use crate::pipeline::{self, Cycles, Parameters, Pipeline, Predictor, Times, Waits};
use crate::{Access, Step, TIMER_ADDRESS, TIMER_BYTES};

/// What a system is built of. [`Parameters::miss`] is what a line costs that a first level lacks and the
/// next one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The pipeline.
    pub core: Parameters,
    /// The first level for instructions, if there is one; every line that an instruction touches is looked
    /// for.
    pub instruction: Option<cache::Config>,
    /// The first level for data, if there is one.
    pub data: Option<cache::Config>,
    /// The second level, for both: it is asked for what a first level lacks, or for everything where there
    /// is none, and it gets what that writes. Its lines are as long as those of the first, or longer.
    pub second: Option<cache::Config>,
    /// Cycles that a line costs beyond those if the second level also lacks it.
    pub second_miss: u16,
}

impl Default for Config {
    /// The textbook's pipeline without caches.
    fn default() -> Self {
        let core = Parameters::textbook();
        Config { core, instruction: None, data: None, second: None, second_miss: 0 }
    }
}

/// Why such a system cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pipeline cannot be.
    #[error(transparent)]
    Pipeline(#[from] pipeline::Error),
    /// The second level cannot hold a line of the first.
    #[error(
        "lines of {second} bytes in the second level and of {first} in the first; the second level's \
         must be as long or longer"
    )]
    Lines {
        /// Bytes of a line of the first level.
        first: u32,
        /// Bytes of a line of the second.
        second: u32,
    },
}

/// What a step cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When it was in which stage.
    pub times: Times,
    /// The cycles from the end of the step before in EX to its own. Those of all steps sum to all cycles
    /// without the filling of the pipeline, and the last step's wait in MEM.
    pub cycles: u64,
    /// Lines of instructions that the first level lacked.
    pub instruction_misses: u8,
    /// Lines of data that the first level lacked.
    pub data_misses: u8,
    /// Whether it is a branch that went otherwise than predicted.
    pub mispredicted: bool,
}

/// A pipeline with its caches, fed with the steps of one run. Memory does not grow with their number.
///
/// A line that is fetched holds up the instruction for which it is; written lines and stores that fetch
/// none wait in a buffer without an end, and hold up nobody. The timer's words are not cached.
#[derive(Clone, Debug)]
pub struct System {
    pipeline: Pipeline,
    fetcher: Option<Fetcher>,
    instruction: Option<Cache>,
    data: Option<Cache>,
    second: Option<Cache>,
    miss: u32,
    second_miss: u32,
    /// When the step before left EX.
    last_after: u64,
    mispredicted: u64,
}

impl System {
    /// An empty system.
    ///
    /// # Errors
    /// If such a pipeline cannot be, or the lines of the second level are shorter than the first's.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let bytes = |cache: Option<cache::Config>| cache.map(|cache| cache.geometry().line_bytes());
        for first in [config.instruction, config.data] {
            if let (Some(first), Some(second)) = (bytes(first), bytes(config.second))
                && second < first
            {
                return Err(Error::Lines { first, second });
            }
        }
        let fetched = config.instruction.or(config.second);
        Ok(System {
            pipeline: Pipeline::new(config.core)?,
            fetcher: fetched.map(|cache| Fetcher::new(Fetch::Lines, cache.geometry())),
            instruction: config.instruction.map(Cache::new),
            data: config.data.map(Cache::new),
            second: config.second.map(Cache::new),
            miss: u32::from(config.core.miss),
            second_miss: u32::from(config.second_miss),
            // When the pipeline's first step can come to EX.
            last_after: 2,
            mispredicted: 0,
        })
    }

    /// The step that comes next in the program.
    // Inlined into the machine's loop: a step in memory is read in other units than it is written in, for
    // which the processor waits.
    #[inline(always)]
    pub fn step(&mut self, step: &Step) -> Seen {
        let (mut waits, mut instruction_misses, mut data_misses) = (Waits::default(), 0, 0);
        let again = |cache: &mut Cache| cache.reads_again(step.pc, step.size);
        if let Some(fetcher) = &mut self.fetcher
            && !self.instruction.as_mut().is_some_and(again)
        {
            for address in fetcher.accesses(step.pc, step.size) {
                if let Some(cache) = &mut self.instruction {
                    if cache.access(address) == Outcome::Hit {
                        continue;
                    }
                    instruction_misses += 1;
                    waits.instruction += self.miss;
                }
                waits.instruction += self.beyond(address, false);
            }
        }
        if let (Some(access), None) = (step.access, step.trap)
            && (self.data.is_some() || self.second.is_some())
            && access.address.wrapping_sub(TIMER_ADDRESS) >= TIMER_BYTES
        {
            data_misses = self.access(&access, &mut waits);
        }
        let times = self.pipeline.step_waiting(step, waits);
        let cycles = times.after - self.last_after;
        self.last_after = times.after;
        let mispredicted = self.pipeline.predictor().mispredicted();
        let is_mispredicted = mispredicted != self.mispredicted;
        self.mispredicted = mispredicted;
        Seen { times, cycles, instruction_misses, data_misses, mispredicted: is_mispredicted }
    }

    /// Accesses data, line by line; returns how many of the first level's lines were missed.
    fn access(&mut self, access: &Access, waits: &mut Waits) -> u8 {
        let Some(any) = self.data.as_ref().or(self.second.as_ref()) else { return 0 };
        let shift = any.config().geometry().line_bytes().trailing_zeros();
        let last = access.address.wrapping_add(u32::from(access.bytes.max(1)) - 1);
        let second = (last >> shift != access.address >> shift).then_some(last);
        let mut misses = 0;
        for address in [Some(access.address), second].into_iter().flatten() {
            let Some(cache) = &mut self.data else {
                waits.data += self.beyond(address, access.write);
                continue;
            };
            let Effect { outcome, fetched, written_back } = cache.effect(address, access.write);
            let writes = cache.config().writes();
            misses += u8::from(outcome != Outcome::Hit);
            if fetched {
                waits.data += self.miss + self.beyond(address, false);
            }
            // Buffered: what it takes is nobody's wait.
            if access.write && (!writes.back || (outcome != Outcome::Hit && !fetched)) {
                self.beyond(address, true);
            }
            if let Some(line) = written_back {
                self.beyond(line, true);
            }
        }
        misses
    }

    /// Asks the second level; returns the cycles that it waits.
    fn beyond(&mut self, address: u32, is_store: bool) -> u32 {
        let Some(cache) = &mut self.second else { return 0 };
        if cache.effect(address, is_store).fetched { self.second_miss } else { 0 }
    }

    /// Cycles by cause so far.
    pub fn cycles(&self) -> &Cycles {
        self.pipeline.cycles()
    }

    /// The pipeline.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// How branches were predicted.
    pub fn predictor(&self) -> &Predictor {
        self.pipeline.predictor()
    }

    /// The first level for instructions.
    pub fn instruction(&self) -> Option<&Cache> {
        self.instruction.as_ref()
    }

    /// The first level for data.
    pub fn data(&self) -> Option<&Cache> {
        self.data.as_ref()
    }

    /// The second level.
    pub fn second(&self) -> Option<&Cache> {
        self.second.as_ref()
    }
}

#[cfg(test)]
mod tests;
