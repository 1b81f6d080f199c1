//! Files that the command line names, read whole within a limit.

use anyhow::{Context, bail, ensure};
use std::io::Read;
use std::path::Path;

/// Returns the name of a file in errors; `-` is standard input.
pub(crate) fn name(file: &Path) -> String {
    if is_standard(file) { "standard input".into() } else { file.display().to_string() }
}

/// Reports whether a file that was named is standard input, or standard output.
pub(crate) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// If it cannot be read, is a folder, or has more than `bytes_max` bytes: a device or a pipe has no length
/// beforehand, and may have no end.
pub(crate) fn bytes(file: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let name = name(file);
    ensure!(!file.is_dir(), "{name} is a folder, and a file is expected");
    let mut bytes = Vec::new();
    let read = if is_standard(file) {
        std::io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(file);
        file.and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > bytes_max {
        bail!("{name} has more than {bytes_max} bytes, the most that is read");
    }
    Ok(bytes)
}

/// Reads a file of text, or standard input for `-`.
///
/// # Errors
/// As [`bytes`], or if it is not UTF-8; the error names the line.
pub(crate) fn text(file: &Path, bytes_max: u64) -> anyhow::Result<String> {
    String::from_utf8(bytes(file, bytes_max)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        anyhow::anyhow!("{}:{line}: not in UTF-8", name(file))
    })
}
