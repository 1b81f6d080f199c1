//! Machines that share nothing: somebody starts the same line on each and brings its session back.

use crate::engine::{Engine, Seen};
use crate::{Error, Folder};

/// Machines that nothing here starts.
pub(crate) struct Gather;

impl Engine for Gather {
    fn submit(&self, folder: &mut Folder, _: &[usize]) -> Result<(), Error> {
        let why = "nothing is submitted for it: start `scruple fleet node` on its machines";
        Err(Error::of(folder.path().display(), why))
    }

    fn list(&self, _: &Folder) -> Result<Vec<Seen>, Error> {
        Ok(Vec::new())
    }

    fn cancel(&self, _: &Folder, _: &[String]) -> Result<(), Error> {
        Ok(())
    }
}
