//! What the steps of a program cost on an in-order pipeline: cycles by cause, and a drawing of who
//! was where.
//!
//! [`Pipeline`] is fed one [`Step`](crate::Step) after the other and keeps the [`Cycles`] whose
//! parts sum to the cycles; [`Drawing`] shows a window of them, with what was fetched in vain.
//! [`Parameters`] say what is built. Nothing here knows how an instruction is carried out.
//!
//! # Rules
//!
//! * At most one instruction enters a stage per cycle, and none overtakes another. An instruction
//!   goes on as soon as its work in the stage is done and the next stage is free; a gap between two
//!   instructions closes while the first one is held up.
//! * Fetch goes on with the following address. A branch that is predicted taken ([`Prediction`]) goes to
//!   its target earlier than the stage that resolves it, and back from there if that was wrong. What
//!   goes elsewhere (a taken branch, a jump, a trap, `mret`) says so in the last cycle that it
//!   spends in its resolving stage; what was fetched behind it is flushed, and the fetch from the
//!   target begins 1 + latency cycles later. So it loses as many cycles as the index of that stage
//!   (IF = 0) plus the latency of its kind, wherever it stands: a branch in EX 2, a trap at WB 4.
//!   (What waits for data before it hides a part of that: it holds up who has left ID.)
//! * An instruction that enters EX can use a result after its producer left EX, or, if it was loaded
//!   or multiplied, after the producer left the stage at whose end the value is there. An instruction that resolves
//!   in ID needs its operands one cycle earlier. Without forwarding, operands are read in ID in the
//!   cycle in which the producer is in WB, or later.
//! * A data access that waits ([`Waits`]) stays in MEM, and EX with all behind it is held up. The value
//!   that it loads comes at the end of its wait.
//! * A trapped instruction goes down to the stage where traps commit, and retires nothing: its own
//!   slot is also lost. One that an interrupt displaced waits for no operand.
//!
//! # What is not modelled
//!
//! Write buffers, predicted jumps to registers, fetching ahead of IF, dependences through control and
//! status registers, jumps and predictions on the wrong path (they would be flushed as well), cache
//! misses on the wrong path, and the sleep of `wfi`.

mod cycles;
mod drawing;
mod engine;
mod operands;
mod parameters;
mod prediction;
#[cfg(test)]
mod tests;
mod text;

pub use cycles::{ByCause, Cycles};
pub use drawing::{Cell, Code, Drawing, Fate, Note, Row, What};
pub use engine::{Pipeline, Times, Waits};
pub use operands::{Operand, operands};
pub use parameters::{Depth, Error, Latency, Parameters, Stage};
pub use prediction::{Prediction, Predictor};
pub use text::{Ink, Look};
