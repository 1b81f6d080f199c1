//! What is stored of a session: all that is known of it, or a part.

use crate::{plan::Purpose, session};
use anyhow::bail;
use model::{Manifest, Record, Redaction};
use std::borrow::Cow;
use std::path::Path;
use store::{Stored, Writer};

/// The digits of the machine's hash in the name of a redacted session.
const HASH_DIGITS: usize = 8;

/// A session as it is stored.
pub(crate) struct Kept {
    manifest: Manifest,
    redaction: Option<Redaction>,
}

impl Kept {
    /// Returns what is stored of a session that begins: with the values of variables or without, redacted or not.
    ///
    /// # Errors
    /// If it cannot be redacted.
    pub(crate) fn begin(session: &Manifest, values: bool, redact: bool) -> anyhow::Result<Kept> {
        let mut manifest = session.clone();
        if !values {
            let name = manifest.session.clone();
            let subjects = manifest.designs.iter_mut().filter_map(|it| it.subject.as_mut());
            subjects.for_each(|subject| {
                subject.withhold(|variable, value| hash(&name, variable, value))
            });
        }
        Kept::of(manifest, redact)
    }

    /// Returns what is stored of a session that is resumed.
    ///
    /// # Errors
    /// If it is redacted and lacks what its trials start.
    pub(crate) fn resume(manifest: Manifest, dir: &Path) -> anyhow::Result<Kept> {
        if !can_be_resumed(&manifest) {
            let dir = dir.display();
            bail!("{dir} is redacted: it does not hold what its trials start; begin a new session");
        }
        let redact = manifest.redacted;
        Kept::of(manifest, redact)
    }

    fn of(manifest: Manifest, redact: bool) -> anyhow::Result<Kept> {
        if !redact {
            return Ok(Kept { manifest, redaction: None });
        }
        let redaction = of_session(&manifest)?;
        Ok(Kept { manifest: redaction.manifest().clone(), redaction: Some(redaction) })
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Takes over what is known of a session only once it has a runner: its shield and its settings.
    pub(crate) fn set_conditions(&mut self, session: &Manifest) {
        let nice = session.environment.settings.get_key_value("nice");
        let nice = nice.map(|(name, value)| (name.clone(), value.clone()));
        self.manifest.environment.settings.extend(nice);
        self.manifest.runs = match &self.redaction {
            Some(redaction) => redaction.runs(&session.runs),
            None => session.runs.clone(),
        };
        if self.redaction.is_none() {
            self.manifest.environment.files.clone_from(&session.environment.files);
        }
        self.manifest.shield = match &self.redaction {
            Some(redaction) => redaction.shield(&session.shield),
            None => session.shield.clone(),
        };
    }

    /// Returns what is stored of a trial.
    pub(crate) fn record<'r>(&mut self, record: &'r Record) -> Cow<'r, Record> {
        match &mut self.redaction {
            Some(redaction) => Cow::Owned(redaction.record(record)),
            None => Cow::Borrowed(record),
        }
    }
}

/// Reports whether a session holds what its trials start.
pub(crate) fn can_be_resumed(manifest: &Manifest) -> bool {
    let own = |design: &model::Design| design.subject.is_some() || !design.programs.is_empty();
    !(manifest.redacted && manifest.designs.iter().any(own))
}

/// Returns the hash of a variable's value by which a resumed session recognises it: one that nobody else can
/// make; an empty text where the machine cannot either.
pub(crate) fn hash(session: &str, variable: &str, value: &str) -> String {
    let text = [session, variable, value].join("\0");
    sys::machine::hash_of_this_machine(&text).unwrap_or_default()
}

/// Redacts a stored session.
///
/// # Errors
/// If it is about program files, and another version of scruple measured it.
pub(crate) fn redacted(mut stored: Stored) -> anyhow::Result<Stored> {
    let mut redaction = of_session(&stored.manifest)?;
    stored.records.iter_mut().for_each(|record| *record = redaction.record(record));
    stored.manifest = redaction.manifest().clone();
    Ok(stored)
}

/// Writes a session into a new folder, with its report.
///
/// # Errors
/// If the folder is not empty, or cannot be written.
pub(crate) fn copy(stored: &Stored, dir: &Path) -> anyhow::Result<()> {
    let Stored { manifest, records, .. } = stored;
    let summary = session::summary(stored);
    let mut writer = Writer::create(dir, manifest)?;
    writer.append_all(records)?;
    let whole = report::Session { manifest, records, summary: &summary };
    Ok(session::write(writer.pages(), &whole)?)
}

/// Returns what redacts a session.
///
/// # Errors
/// As [`redacted`].
pub(crate) fn of_session(manifest: &Manifest) -> anyhow::Result<Redaction> {
    let hash = manifest.environment.machine.chars().filter(char::is_ascii_hexdigit);
    let machine = match hash.take(HASH_DIGITS).collect::<String>() {
        none if none.is_empty() => model::REDACTED.into(),
        hash => hash,
    };
    let name = session::name(manifest.started_unix_ms, &machine, Purpose::of(&manifest.options));
    Redaction::new(manifest, name, experiments::design_of_programs).map_err(anyhow::Error::msg)
}
