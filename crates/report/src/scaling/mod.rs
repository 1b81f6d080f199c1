//! How a program scales: in the terminal, and as a part of the page.

mod chart;
mod page;
mod text;

pub(crate) use page::chapter;
pub(crate) use text::text;

use analysis::scaling::ScaleInput;
use model::{Inquiry, Manifest, Record, ScaleLoss, Scaling};

/// See [`crate::scaling`].
pub(crate) fn of(manifest: &Manifest, records: &[Record], scruple: &str) -> Option<Scaling> {
    if manifest.options.inquiry != Some(Inquiry::Scale) {
        return None;
    }
    let design = manifest.designs.iter().find(|design| design.subject.is_some())?;
    let own = records.iter().filter(|record| record.experiment == design.id);
    let cpus = match manifest.options.cpus.len() {
        0 => manifest.environment.cpus_allowed.len(),
        some => some,
    };
    let input = ScaleInput::of_session(scruple, &manifest.session, cpus, design, own);
    Some(analysis::scaling::scaling(&input))
}

/// The parts of accounts in the order in which they are laid end to end, with the letter that
/// stands for each in the terminal.
const PARTS: [(ScaleLoss, char); 7] = [
    (ScaleLoss::Useful, 'u'),
    (ScaleLoss::MoreCpu, 'c'),
    (ScaleLoss::Throttled, 'q'),
    (ScaleLoss::Waiting, 'w'),
    (ScaleLoss::Blocked, 'b'),
    (ScaleLoss::Absent, 'a'),
    (ScaleLoss::OffCpu, 'o'),
];

/// What a part means, for who sees its name for the first time.
fn meaning(into: ScaleLoss) -> &'static str {
    match into {
        ScaleLoss::Useful => "the CPU time that one worker needed for the same work",
        ScaleLoss::MoreCpu => "CPU time beyond that; below 0 where n workers need less",
        ScaleLoss::Throttled => "ready to run, and not let by a CPU quota",
        ScaleLoss::Waiting => "ready to run, and no CPU was free",
        ScaleLoss::Blocked => "a worker was there, and slept: for a lock, for I/O, for work",
        ScaleLoss::Absent => "fewer threads were there than n",
        ScaleLoss::OffCpu => "on no CPU; too short-lived to tell waiting from sleeping",
        ScaleLoss::Rest => "what the parts leave over",
    }
}
