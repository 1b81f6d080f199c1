//! The little SQL that is written here. Names of sessions are never in it: they come to DuckDB in files,
//! as data.

use anyhow::Context;
use std::path::Path;

/// How every file of ours is to be read: nothing is guessed.
pub(super) const CSV: &str = "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', \
                              skip = 0, hive_partitioning = false";

/// Returns a path as a text of SQL.
///
/// # Errors
/// If it is no text.
pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| {
        format!("DuckDB reads paths in UTF-8 alone, and {} is not", path.display())
    })?;
    Ok(quoted(text))
}

/// Returns a path, as a text of SQL, that names this file alone: `*`, `?` and `[` stand for other letters
/// in what DuckDB reads.
///
/// # Errors
/// As [`text`].
pub(super) fn file(path: &Path) -> anyhow::Result<String> {
    let name = text(path)?;
    let mut exact = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '*' | '?' | '[' => exact.extend(['[', c, ']']),
            c => exact.push(c),
        }
    }
    Ok(exact)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{file, text};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn a_path_is_one_text_whatever_is_in_it() {
        let path = Path::new("/tmp/x'); COPY t TO 'y");
        assert_eq!(text(path).unwrap(), "'/tmp/x''); COPY t TO ''y'");
        assert_eq!(file(Path::new("/a*/[b]?")).unwrap(), "'/a[*]/[[]b][?]'");
        assert!(text(Path::new(OsStr::from_bytes(b"/\xff"))).is_err());
    }
}
