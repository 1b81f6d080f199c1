use crate::{Error, Order, Other, Runner};
use model::{Design, Record, Treatment};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The most treatments that one run answers: the order that names them must fit into a socket's buffer.
const ANSWERED_MAX: usize = 512;

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
    /// When the time is up: no trial begins then, and one that runs is ended. None without a limit.
    pub until: Option<Instant>,
    /// How long a trial may take all the same: one whose like fitted into the time is not ended for a
    /// moment.
    pub patience: Duration,
}

/// What happens while a block is conducted.
#[derive(Debug)]
pub enum Event<'a> {
    /// The guard had been killed, and another one has taken its place.
    GuardReplaced,
    /// Another session measures on CPUs of this one.
    Joined(Other),
    /// A trial of this treatment is about to start.
    Begins(&'a Treatment),
    /// A trial has ended, one way or another: its record, and those of other treatments that the same run
    /// answered.
    Ended(Vec<Record>),
}

/// How a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All its trials were conducted.
    Complete,
    /// This process was asked to end.
    Interrupted,
    /// The time was up.
    OutOfTime,
}

/// Why a block could not go on.
#[derive(Debug)]
pub enum Halt<E> {
    /// The runner cannot go on.
    Runner(Error),
    /// The receiver of the events cannot go on: a full disk, say.
    Listener(E),
}

impl Runner {
    /// Conducts a block's trials in order and reports each to `listener`.
    ///
    /// # Errors
    /// If this runner can conduct no trial, or the listener cannot go on.
    pub fn conduct_block<E>(
        &mut self,
        work: &Work<'_>,
        listener: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<End, Halt<E>> {
        let Work { design, block, .. } = *work;
        let mut answered = BTreeSet::new();
        for (at, (position, treatment)) in work.treatments.iter().enumerate() {
            if answered.contains(treatment) {
                continue;
            }
            let until = work.until.map(|until| until.max(Instant::now() + work.patience));
            if let Some(end) = stopped(until) {
                return Ok(end);
            }
            if self.renew_guard().map_err(Halt::Runner)? {
                listener(Event::GuardReplaced).map_err(Halt::Listener)?;
            }
            for other in self.new_others() {
                listener(Event::Joined(other)).map_err(Halt::Listener)?;
            }
            listener(Event::Begins(treatment)).map_err(Halt::Listener)?;
            let also = answered_together(design, &work.treatments[at..]);
            let trial = work.first_trial + answered.len() as u64;
            let order = Order { design, treatment, trial, block, position: *position, until };
            let records = self.conduct_also(&order, &also).map_err(Halt::Runner)?;
            if records.is_empty() {
                return Ok(stopped(None).unwrap_or(End::OutOfTime));
            }
            answered.extend(records.iter().map(|record| record.treatment.clone()));
            listener(Event::Ended(records)).map_err(Halt::Listener)?;
        }
        Ok(End::Complete)
    }
}

/// Returns the treatments that the run of the first of some also answers.
fn answered_together(design: &Design, treatments: &[(u32, Treatment)]) -> Vec<(u32, Treatment)> {
    let Some(((_, first), rest)) = treatments.split_first() else { return Vec::new() };
    let Some(program) = design.program_of(first) else { return Vec::new() };
    let same = |(_, other): &&(u32, Treatment)| design.program_of(other) == Some(program);
    rest.iter().filter(same).take(ANSWERED_MAX - 1).cloned().collect()
}

/// Returns why no trial is to begin.
fn stopped(until: Option<Instant>) -> Option<End> {
    if sys::interrupt::requested().is_some() {
        return Some(End::Interrupted);
    }
    until.filter(|until| *until <= Instant::now()).map(|_| End::OutOfTime)
}
