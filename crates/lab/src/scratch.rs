//! A folder for what is needed while a command works, and not a moment longer.

use anyhow::Context;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder of this process's own, which nobody else may enter and which is gone afterwards.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes it where the machine has its temporary files; `what` it is for stands in its name.
    pub(crate) fn create(what: &str) -> anyhow::Result<Self> {
        let parent = std::env::temp_dir();
        Self::within(&parent, &format!("scruple-{what}")).with_context(|| {
            format!(
                "cannot make a folder in {}; name one that can be written in TMPDIR, or give a container --tmpfs /tmp",
                parent.display()
            )
        })
    }

    /// Makes it in a folder; its name begins as said.
    pub(crate) fn within(parent: &Path, name: &str) -> std::io::Result<Self> {
        let name = format!("{name}-{}-{}", sys::process::pid(), sys::clock::now_ns());
        let path = std::path::absolute(parent.join(name))?;
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, nothing else depends on it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
