//! Finding a program: a trial's environment is empty, so there is no PATH.

use kit::{Result, Stop};
use std::path::{Path, PathBuf};

/// Where systems keep the programs that users run.
const FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// The program of that name, if it is installed in one of the usual folders.
fn find(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// The program `top`, or what is missing.
pub(crate) fn top() -> Result<PathBuf> {
    find("top").ok_or_else(|| {
        Stop::unsupported("needs the program top (Debian: package procps) to read its text")
    })
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_shell_is_found_and_nonsense_is_not() {
        assert!(find("sh").is_some());
        assert_eq!(find("no program has this name"), None);
    }
}
