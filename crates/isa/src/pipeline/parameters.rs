//! What is built: how many stages, and where what is decided.

use super::Prediction;

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// IF: instruction fetch.
    Fetch,
    /// ID: decode, and the registers are read.
    Decode,
    /// EX: arithmetic, addresses, conditions.
    Execute,
    /// MEM: access to data memory; a pipeline of four stages has none of its own.
    Memory,
    /// WB: write-back.
    WriteBack,
}

impl Stage {
    /// All five, in their order.
    pub const ALL: [Self; 5] =
        [Self::Fetch, Self::Decode, Self::Execute, Self::Memory, Self::WriteBack];

    /// The name of the textbooks: `IF`, `ID`, `EX`, `MEM`, `WB`.
    pub fn name(self) -> &'static str {
        ["IF", "ID", "EX", "MEM", "WB"][self as usize]
    }

    /// One letter for a drawing: `F`, `D`, `E`, `M`, `W`.
    pub fn letter(self) -> char {
        ['F', 'D', 'E', 'M', 'W'][self as usize]
    }
}

/// How many stages there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// IF, ID, EX, WB: data memory answers in WB.
    Four,
    /// IF, ID, EX, MEM, WB.
    Five,
}

impl Depth {
    /// The number of stages.
    pub fn stages(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Five => 5,
        }
    }

    /// The place of a stage, IF = 0; none if this pipeline lacks it.
    pub fn index(self, stage: Stage) -> Option<u8> {
        match (self, stage) {
            (_, Stage::Fetch) => Some(0),
            (_, Stage::Decode) => Some(1),
            (_, Stage::Execute) => Some(2),
            (Self::Five, Stage::Memory) => Some(3),
            (Self::Four, Stage::Memory) => None,
            (_, Stage::WriteBack) => Some(self.stages() - 1),
        }
    }
}

/// Cycles in which nothing is fetched between a redirect and the first fetch from its target, by what
/// redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Latency {
    /// A taken branch.
    pub branch: u16,
    /// `jal`.
    pub jump: u16,
    /// `jalr`.
    pub jump_register: u16,
    /// An exception.
    pub trap: u16,
    /// An interrupt.
    pub interrupt: u16,
    /// `mret`.
    pub trap_return: u16,
}

impl Latency {
    /// Returns the same latency for every kind of redirect.
    pub const fn all(cycles: u16) -> Self {
        Self {
            branch: cycles,
            jump: cycles,
            jump_register: cycles,
            trap: cycles,
            interrupt: cycles,
            trap_return: cycles,
        }
    }
}

/// What is built. [`Pipeline::new`](super::Pipeline::new) checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// How many stages.
    pub depth: Depth,
    /// Whether instructions wait for operands that are not there; if not, they take the registers' old values.
    pub hazards: bool,
    /// Whether results reach those who wait before they are written back.
    pub forwarding: bool,
    /// The stage at whose end a loaded value can be forwarded: EX or later. Each stage behind EX
    /// is a cycle that the next instruction waits if it uses the value.
    pub loaded: Stage,
    /// The same stage for a product: EX in most cores, MEM where the multiplier is pipelined.
    pub multiplied: Stage,
    /// The stage in which a conditional branch is resolved: ID or later.
    pub branch: Stage,
    /// How conditional branches are predicted until then.
    pub prediction: Prediction,
    /// The stage at whose end fetch goes to the target of a branch that is predicted taken, before it is
    /// resolved: IF if a buffer holds targets, where nothing is lost; ID if the target is computed.
    pub predicted: Stage,
    /// The stage from which `jal` jumps.
    pub jump: Stage,
    /// The stage from which `jalr` jumps: ID or later.
    pub jump_register: Stage,
    /// The stage in which a trap commits (mepc, mcause, mtval and mstatus are written, and the pc
    /// becomes the handler's): ID or later.
    pub trap: Stage,
    /// The stage from which `mret` goes back: ID or later.
    pub trap_return: Stage,
    /// Cycles in which nothing is fetched between a redirect and the first fetch from its target.
    pub latency: Latency,
    /// Cycles that a multiplication spends in EX beyond the first.
    pub multiply: u16,
    /// Cycles that a division spends in EX beyond the first.
    pub divide: u16,
    /// Cycles that an access to a control and status register spends in EX beyond the first.
    pub csr: u16,
    /// Cycles by which a multiplication, a division, or an instruction for the csr unit (`ecall`,
    /// `mret`, an illegal one) waits to follow a load or a store into EX.
    pub behind_memory: u16,
    /// Bytes of a fetch word, a power of two from 2 to 64. One aligned word is fetched per cycle,
    /// and the last one is kept until a redirect: two 16-bit instructions of one word come with one
    /// fetch, and a 32-bit instruction in two words costs a second one if neither is there.
    pub fetch_bytes: u8,
    /// Cycles that each missed line of the instruction cache costs its instruction.
    pub miss: u16,
}

impl Parameters {
    /// The pipeline of the textbooks, predicting not taken and without a redirect latency.
    ///
    /// Stages, forwarding and the one cycle between a load and its use are those of Patterson and
    /// Hennessy, Computer Organization and Design, RISC-V Edition, chapter 4 ("Data Hazards:
    /// Forwarding versus Stalling"). Branches and jumps are resolved in EX, as in Harris and Harris,
    /// Digital Design and Computer Architecture, RISC-V Edition, section 7.5; Patterson and Hennessy
    /// resolve branches in MEM first and in ID then ("Control Hazards"). Traps and `mret` commit at
    /// WB, where all that came before has retired, which makes them precise for any cause; Patterson
    /// and Hennessy's only exception is one of arithmetic, taken in EX.
    pub fn textbook() -> Self {
        Self {
            depth: Depth::Five,
            hazards: true,
            forwarding: true,
            loaded: Stage::Memory,
            multiplied: Stage::Execute,
            branch: Stage::Execute,
            prediction: Prediction::NotTaken,
            predicted: Stage::Decode,
            jump: Stage::Execute,
            jump_register: Stage::Execute,
            trap: Stage::WriteBack,
            trap_return: Stage::WriteBack,
            latency: Latency::all(0),
            multiply: 0,
            divide: 0,
            csr: 0,
            behind_memory: 0,
            fetch_bytes: 4,
            miss: 0,
        }
    }

    /// The four stages of `CV32E40P`, after its user manual v1.8.3, chapter "Pipeline Details", table
    /// "Cycle counts per instruction type": arithmetic 1, `mul` 1, load and store 1, not taken
    /// branch 1, jump 2, taken branch 3, division 3 to 35, access to mstatus, mepc, mtvec, mcause and
    /// the counters 4; one cycle more for a jump or taken branch to a 32-bit instruction that is not
    /// aligned to a word; a stall of 1 for the use of a loaded value, and for `jalr` behind the
    /// instruction that computes its register.
    ///
    /// A constant per kind of instruction cannot say all of it:
    ///
    /// * Every division takes 35 cycles, the most of the table; the core's depend on the divisor.
    /// * `mulh`, `mulhsu` and `mulhu` take 1 cycle, as `mul` does; 5 in the core.
    /// * Every access to a control and status register takes 4 cycles; in the core those outside the
    ///   list take 1 (mie, mip, mtval, mscratch).
    /// * Loads and stores across a word take 1 cycle; 2 in the core.
    /// * `fence.i` takes 1 cycle; 2 or 3 in the core.
    /// * The table is silent on traps and `mret`, which commit at WB here. In the core's controller
    ///   (rtl/cv32e40p_controller.sv, v1.8.3) exceptions do, two cycles after ID; `mret` goes one
    ///   cycle later, and an interrupt already in ID.
    pub fn cv32e40p() -> Self {
        Self {
            depth: Depth::Four,
            loaded: Stage::WriteBack,
            jump: Stage::Decode,
            jump_register: Stage::Decode,
            divide: 34,
            csr: 3,
            ..Self::textbook()
        }
    }

    /// The open RTL core ultraembedded/riscv (commit 7ae6f80, its default configuration) with memory
    /// that answers in the next cycle. Its cycles were compared with those of this pipeline
    /// (docs/machine.md).
    ///
    /// The core issues and executes in one stage, EX here, and resolves branches and jumps there.
    /// Products come as late as loaded values. Traps and `mret` go to the csr unit's registers
    /// first, which takes two cycles. Not modelled:
    ///
    /// * The core compares the fields of registers of every instruction with what a load or
    ///   multiplication before it writes, also where the field is a part of a constant, and where it
    ///   is the register that is written. It waits one cycle if they are equal.
    /// * `fence` takes 4 cycles in the core, as a csr does; `fence.i` flushes as a trap does.
    /// * An interrupt waits for the operands of the instruction that it displaces.
    pub fn ultraembedded() -> Self {
        Self {
            multiplied: Stage::Memory,
            latency: Latency { trap: 2, interrupt: 2, trap_return: 2, ..Latency::all(0) },
            divide: 34,
            csr: 3,
            behind_memory: 1,
            ..Self::textbook()
        }
    }

    /// Whether such a pipeline can be.
    ///
    /// # Errors
    /// If a stage is missing or too early for what it is to do, or the fetch word has no possible
    /// width.
    pub fn check(&self) -> Result<(), Error> {
        let stages = [
            ("the stage of loaded values", self.loaded, Stage::Execute),
            ("the stage of products", self.multiplied, Stage::Execute),
            ("the stage of branches", self.branch, Stage::Decode),
            ("the stage of jal", self.jump, Stage::Fetch),
            ("the stage of jalr", self.jump_register, Stage::Decode),
            ("the stage of traps", self.trap, Stage::Decode),
            ("the stage of mret", self.trap_return, Stage::Decode),
        ];
        for (what, stage, earliest) in stages {
            if self.depth.index(stage).is_none() {
                return Err(Error::Missing { what, stage });
            }
            if stage < earliest {
                return Err(Error::Early { what, stage, earliest });
            }
        }
        self.prediction.check()?;
        if self.prediction != Prediction::NotTaken && self.predicted >= self.branch {
            return Err(Error::Late { stage: self.predicted, branch: self.branch });
        }
        let bytes = self.fetch_bytes;
        if !bytes.is_power_of_two() || !(2..=64).contains(&bytes) {
            return Err(Error::FetchBytes { bytes });
        }
        Ok(())
    }
}

/// Why a pipeline cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It lacks the stage.
    #[error("{what} is {}, and a pipeline of four stages has no such stage", .stage.name())]
    Missing {
        /// What was to happen there.
        what: &'static str,
        /// The stage that it lacks.
        stage: Stage,
    },
    /// The stage comes before what it needs.
    #[error("{what} is {}; {} or a later one would be right", .stage.name(), .earliest.name())]
    Early {
        /// What was to happen there.
        what: &'static str,
        /// The stage.
        stage: Stage,
        /// The earliest that is possible.
        earliest: Stage,
    },
    /// A branch is resolved before the prediction has any effect.
    #[error(
        "branches are predicted in {} and resolved in {}; an earlier stage than that would be right",
        .stage.name(),
        .branch.name()
    )]
    Late {
        /// Where they are predicted.
        stage: Stage,
        /// Where they are resolved.
        branch: Stage,
    },
    /// No table of a predictor.
    #[error(
        "a table of {entries} entries predicts branches; a power of two up to 1048576 would be right"
    )]
    Entries {
        /// The entries that were asked for.
        entries: u32,
    },
    /// No width of a fetch word.
    #[error("a fetch word has {bytes} bytes; 2, 4, 8, 16, 32 or 64 would be right")]
    FetchBytes {
        /// The width that was asked for.
        bytes: u8,
    },
}
