//! The file of a study.

use crate::input;
use model::{Design, Subject};
use std::path::Path;

/// The largest file that is taken for a study, in bytes; a disk image is none.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a study's file.
pub(crate) fn read(
    file: &Path,
    missing: impl FnOnce(&Design) -> Option<(&'static str, String)>,
) -> anyhow::Result<Design> {
    let name = input::name(file);
    let text = input::text(file, FILE_BYTES_MAX)?;
    let whole = std::path::absolute(file)?;
    let folder = whole.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let stem = whole.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let around = study::Around { file: &name, folder: &folder, stem: &stem };
    Ok(study::read(&text, &around, missing)?)
}

/// Returns the program of a study's file.
pub(crate) fn subject(file: &Path) -> anyhow::Result<Subject> {
    Ok(read(file, |_| None)?.subject.unwrap_or_default())
}
