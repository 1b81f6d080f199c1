use crate::Error;
use model::Fleet;

/// What is to be started on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The node's name.
    pub node: String,
    /// The words of the process that measures: a program by its absolute path, and its arguments.
    pub words: Vec<String>,
}

/// What an engine says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The engine's name of the job.
    pub job: String,
    /// Its state in the words of Slurm: `PENDING`, `RUNNING`, `NODE_FAIL`…
    pub state: String,
    /// Where it is; empty while it is nowhere.
    pub node: String,
    /// Why it is in that state; may be empty.
    pub reason: String,
}

/// A node that an engine could use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usable {
    /// Its name.
    pub name: String,
    /// Whether it has nothing to do.
    pub idle: bool,
}

/// Something that starts processes on other machines.
pub trait Engine {
    /// Starts each order on its node. Calls `accepted` with the place of an order and its job as soon
    /// as the engine has it, so that no job is forgotten if a later one is refused.
    ///
    /// # Errors
    /// What the engine said.
    fn submit(
        &self,
        fleet: &Fleet,
        orders: &[Order],
        accepted: &mut dyn FnMut(usize, String) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// What is known of the fleet's jobs. A job that is not in the list is known no more.
    ///
    /// # Errors
    /// What the engine said.
    fn list(&self, fleet: &Fleet) -> Result<Vec<Seen>, Error>;

    /// Ends jobs, whatever they do; those that have ended already are left alone.
    ///
    /// # Errors
    /// What the engine said.
    fn cancel(&self, fleet: &Fleet, jobs: &[String]) -> Result<(), Error>;
}
