//! What a session measures next: first the program as it is, then what can limit it.

use super::{LIVES_ON, TAKEN_MIN, Trials, time};
use crate::session::need::{Need, need};
use crate::session::sample::Table;
use model::squeezed::TAKEN;
use model::{Cell, Design, Quantity, Record, Resource, Squeeze, Treatment, measures};

/// The blocks of the trials at which nothing is taken, two in each: with six trials there is an interval
/// that assumes no distribution.
pub const PLAIN_BLOCKS: u32 = 3;

/// Reports whether nothing is taken at a treatment.
pub fn is_plain(treatment: &Treatment) -> bool {
    treatment.0.values().all(|level| Squeeze::of_level(level) == Some(Squeeze::Nothing))
}

/// Returns what the next block should take from the program: each resource at its stronger strength, without
/// those that cannot limit it, by what it did with nothing taken, and those of which too little was taken
/// twice. It looks at the trials with nothing taken, at what was taken, and at widths, never at what that
/// did to the program.
pub fn next(design: &Design, records: &[&Record], treatments: &[Treatment]) -> Need {
    let table = Table::new(design, records.iter().copied());
    let factor = design.subject.as_ref().and_then(|subject| subject.squeeze.as_deref());
    let trials = Trials { table: &table, factor: factor.unwrap_or_default(), wall: measures::WALL };
    let plain = time::time(&trials.plain(), &trials.unsqueezed(measures::CPU_SHARE));
    let is_open = |id: &str, quantity: &Quantity| {
        Resource::of_name(id).is_none_or(|resource| {
            let taken = quantity.cells().into_iter().flat_map(|cell| trials.taken(cell));
            let taken: Vec<f64> = taken.collect();
            let too_little = taken.len() > 1 && taken.iter().all(|part| *part < TAKEN_MIN);
            time::most(&plain, resource) >= LIVES_ON && !too_little
        })
    };
    let mut open = design.clone();
    open.findings.retain(|finding| is_open(&finding.id, &finding.quantity));
    need(&open, records, treatments, 1)
}

impl Trials<'_> {
    /// Returns the part that was taken in each trial of a cell.
    fn taken(&self, cell: &Cell) -> Vec<f64> {
        let ppm = self.table.trials(TAKEN, &self.table.design.complete(cell));
        ppm.into_iter().map(|ppm| ppm / 1e6).collect()
    }
}
