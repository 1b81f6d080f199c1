use crate::{Error, Folder};
use model::Fleet;

/// What an engine says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The engine's name of the job.
    pub(crate) job: String,
    /// Its state in the words of Slurm: `PENDING`, `RUNNING`, `NODE_FAIL`…
    pub(crate) state: String,
    /// Where it is; empty while it is nowhere.
    pub(crate) node: String,
    /// Why it is in that state; may be empty.
    pub(crate) reason: String,
}

/// Returns the words of the process that measures on the node that `which` tells.
pub(crate) fn words<'a>(fleet: &'a Fleet, which: [&'a str; 2]) -> [&'a str; 6] {
    [&fleet.binary, "fleet", "node", &fleet.folder, which[0], which[1]]
}

/// Something that starts processes on other machines.
pub(crate) trait Engine {
    /// Starts a session on each node at these places of the fleet. Calls [`Folder::accept`] as soon as it
    /// has a job, so that none is forgotten if a later one is refused.
    ///
    /// # Errors
    /// What the engine said.
    fn submit(&self, folder: &mut Folder, places: &[usize]) -> Result<(), Error>;

    /// What is known of the fleet's jobs. A job that is not in the list is known no more.
    ///
    /// # Errors
    /// What the engine said.
    fn list(&self, folder: &Folder) -> Result<Vec<Seen>, Error>;

    /// Ends jobs, whatever they do; those that have ended already are left alone.
    ///
    /// # Errors
    /// What the engine said.
    fn cancel(&self, folder: &Folder, jobs: &[String]) -> Result<(), Error>;
}
