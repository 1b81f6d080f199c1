//! The values of variables that a stored study does not hold.

use crate::{redaction, study_file, ui};
use anyhow::Context;
use model::{Manifest, Subject};
use std::path::Path;

/// Which value a variable may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The one that it had: the session goes on.
    TheSame,
    /// Any: a new session begins.
    Any,
}

/// Puts values back that a session does not hold: from its study file, or from the environment.
///
/// # Errors
/// Names the variable that neither gives, or neither with the value that it had.
pub(crate) fn restore(manifest: &mut Manifest, wanted: Wanted) -> anyhow::Result<()> {
    let (session, file) = (manifest.session.clone(), manifest.options.study.clone());
    let subjects = manifest.designs.iter_mut().filter_map(|design| design.subject.as_mut());
    for subject in subjects.filter(|subject| !subject.withheld.is_empty()) {
        let now = file.as_deref().and_then(|file| study_file::subject(Path::new(file)).ok());
        for (name, stored) in std::mem::take(&mut subject.withheld) {
            let fits = |value: &String| {
                let any = wanted == Wanted::Any || stored.is_empty();
                any || redaction::hash(&session, &name, value) == stored
            };
            let of_file = now.as_ref().and_then(|now| now.environment.get(&name));
            let value = match of_file.filter(|value| fits(value)) {
                Some(value) => value.clone(),
                None => of_process(&name, fits).with_context(|| {
                    let file = file.as_deref().unwrap_or("its study file");
                    let what = if of_file.is_some() { "gives another one" } else { "does not give it" };
                    format!("the session does not hold the value of {name}, and {file} {what}; set it in the environment as it was")
                })?,
            };
            subject.environment.insert(name, value);
        }
    }
    Ok(())
}

/// Returns the value of a variable of this process, if it fits.
fn of_process(name: &str, fits: impl Fn(&String) -> bool) -> Option<String> {
    let value = Subject::literal(&std::env::var(name).ok()?);
    let value = Some(value).filter(fits)?;
    ui::note(&format!("the value of {name} comes from the environment"));
    Some(value)
}
