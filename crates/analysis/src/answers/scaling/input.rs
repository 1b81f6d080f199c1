//! What an answer about scaling is made from.

use super::trials::{ScaleTrial, trials};
use model::{Design, Record, SCALE_WORK, Unit};

/// What is asked about a program, or about figures measured elsewhere.
#[derive(Clone, Debug)]
pub struct ScaleInput<'a> {
    /// Version of scruple.
    pub scruple: &'a str,
    /// The session's name.
    pub session: Option<&'a str>,
    /// The command, or the name of the file.
    pub source: String,
    /// How many CPUs the workers could use.
    pub cpus: Option<u32>,
    /// What throughput counts, with its unit; none where the whole command is the work.
    pub unit: Option<String>,
    /// The trials.
    pub trials: Vec<ScaleTrial>,
}

impl<'a> ScaleInput<'a> {
    /// Returns what a session of `scruple scale` asks. `cpus` is how many its trials could use.
    pub fn of_session(
        scruple: &'a str,
        session: &'a str,
        cpus: usize,
        design: &Design,
        records: impl IntoIterator<Item = &'a Record>,
    ) -> Self {
        let subject = design.subject.as_ref();
        let command = subject.map(|subject| subject.command.as_slice()).unwrap_or_default();
        let words: Vec<&str> =
            command.iter().map(String::as_str).filter(|word| *word != "{copies}").collect();
        let work = design.response(SCALE_WORK);
        ScaleInput {
            scruple,
            session: Some(session),
            source: words.join(" "),
            cpus: u32::try_from(cpus).ok().filter(|cpus| *cpus > 0),
            unit: work.map(|response| match &response.unit {
                Unit::Other(unit) => unit.clone(),
                _ => response.label.clone(),
            }),
            trials: trials(records, work.is_some()),
        }
    }
}
