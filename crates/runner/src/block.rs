use crate::{Error, Order, Runner};
use model::{Design, Record, Treatment};

/// Trials of one block, in the order in which they are to be conducted.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The experiment.
    pub design: &'a Design,
    /// The block.
    pub block: u32,
    /// The treatments in their random order, each with its place in the whole block.
    pub treatments: &'a [(u32, Treatment)],
    /// The number of the first trial.
    pub first_trial: u64,
}

/// What happens while a block is conducted.
#[derive(Debug)]
pub enum Event<'a> {
    /// A trial of this treatment is about to start.
    Begins(&'a Treatment),
    /// A trial has ended, one way or another.
    Ended(Box<Record>),
}

/// Why a block ended early.
#[derive(Debug)]
pub enum Halt<E> {
    /// The runner cannot go on.
    Runner(Error),
    /// The receiver of the events cannot go on: a full disk, say.
    Listener(E),
}

impl Runner {
    /// Conducts a block's trials in order and reports each to `listener`. Returns whether all were
    /// conducted, or this process was asked to end.
    pub fn conduct_block<E>(
        &mut self,
        work: &Work<'_>,
        listener: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<bool, Halt<E>> {
        let Work { design, block, .. } = *work;
        for (trial, (position, treatment)) in (work.first_trial..).zip(work.treatments) {
            if sys::interrupt::requested().is_some() {
                return Ok(false);
            }
            listener(Event::Begins(treatment)).map_err(Halt::Listener)?;
            let order = Order { design, treatment, trial, block, position: *position };
            let Some(record) = self.conduct(&order).map_err(Halt::Runner)? else {
                return Ok(false);
            };
            listener(Event::Ended(Box::new(record))).map_err(Halt::Listener)?;
        }
        Ok(true)
    }
}
