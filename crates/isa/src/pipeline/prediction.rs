//! Branch prediction: what fetch does behind a conditional branch before it is resolved.

use super::parameters::Error;
use crate::{Kind, Step};

/// The most entries of a table.
const ENTRIES_MAX: u32 = 1 << 20;

/// How conditional branches are predicted. A table has an entry for each of its places, without tags:
/// a branch at word address w has the place w modulo the entries, and branches at the same place share
/// it. It learns each outcome before the next branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prediction {
    /// Not taken.
    NotTaken,
    /// Taken if the target lies at or before the branch, as at the end of a loop (backward taken,
    /// forward not taken).
    Backward,
    /// As the last time; at first not taken. J. E. Smith, *A study of branch prediction strategies*,
    /// ISCA 1981.
    OneBit {
        /// Entries of the table, a power of two.
        entries: u32,
    },
    /// By a counter from 0 to 3, which a taken branch raises and another lowers: taken from 2 on; at
    /// first 1 (ibid.).
    TwoBit {
        /// Entries of the table, a power of two.
        entries: u32,
    },
    /// The same, at the place of the address XOR the outcomes of the last branches, one bit each, as
    /// many as the place has. S. McFarling, *Combining branch predictors*, DEC WRL TN-36, 1993.
    Gshare {
        /// Entries of the table, a power of two.
        entries: u32,
    },
}

impl Prediction {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotTaken => "not-taken",
            Self::Backward => "btfn",
            Self::OneBit { .. } => "1-bit",
            Self::TwoBit { .. } => "2-bit",
            Self::Gshare { .. } => "gshare",
        }
    }

    /// Entries of its table; 0 without one.
    pub fn entries(self) -> u32 {
        match self {
            Self::NotTaken | Self::Backward => 0,
            Self::OneBit { entries } | Self::TwoBit { entries } | Self::Gshare { entries } => {
                entries
            }
        }
    }

    /// Whether such a table can be.
    pub(super) fn check(self) -> Result<(), Error> {
        let entries = self.entries();
        let has_table = !matches!(self, Self::NotTaken | Self::Backward);
        if has_table && !(entries.is_power_of_two() && entries <= ENTRIES_MAX) {
            return Err(Error::Entries { entries });
        }
        Ok(())
    }
}

/// A predictor, and how often it was right so far.
#[derive(Clone, Debug)]
pub struct Predictor {
    prediction: Prediction,
    table: Vec<u8>,
    /// Outcomes of the last branches, the newest in the lowest bit.
    history: u32,
    branches: u64,
    mispredicted: u64,
}

impl Predictor {
    /// A predictor that has learnt nothing.
    ///
    /// # Errors
    /// If the entries are no power of two, or more than 2^20.
    pub fn new(prediction: Prediction) -> Result<Self, Error> {
        prediction.check()?;
        let first = u8::from(!matches!(prediction, Prediction::OneBit { .. }));
        let table = vec![first; prediction.entries() as usize];
        Ok(Self { prediction, table, history: 0, branches: 0, mispredicted: 0 })
    }

    /// What it predicts by.
    pub fn prediction(&self) -> Prediction {
        self.prediction
    }

    /// Conditional branches so far.
    pub fn branches(&self) -> u64 {
        self.branches
    }

    /// How many of them went otherwise than predicted.
    pub fn mispredicted(&self) -> u64 {
        self.mispredicted
    }

    /// Returns whether a step was predicted as taken, and learns what it did. Whatever is no
    /// conditional branch, or trapped, is not predicted.
    #[inline]
    pub fn step(&mut self, step: &Step) -> bool {
        if step.kind != Kind::Branch || step.trap.is_some() {
            return false;
        }
        let taken = step.redirects();
        let guess = match self.prediction {
            Prediction::NotTaken => false,
            Prediction::Backward => step.offset <= 0,
            Prediction::OneBit { .. } => {
                let entry = &mut self.table[self.prediction.place(step.pc, 0)];
                std::mem::replace(entry, u8::from(taken)) == 1
            }
            Prediction::TwoBit { .. } | Prediction::Gshare { .. } => {
                let entry = &mut self.table[self.prediction.place(step.pc, self.history)];
                let guess = *entry >= 2;
                *entry = if taken { (*entry + 1).min(3) } else { entry.saturating_sub(1) };
                guess
            }
        };
        self.history = self.history << 1 | u32::from(taken);
        self.branches += 1;
        self.mispredicted += u64::from(guess != taken);
        guess
    }
}

impl Prediction {
    /// The place of a branch in the table.
    fn place(self, pc: u32, history: u32) -> usize {
        let history = if matches!(self, Self::Gshare { .. }) { history } else { 0 };
        ((pc >> 2 ^ history) & (self.entries() - 1)) as usize
    }
}
