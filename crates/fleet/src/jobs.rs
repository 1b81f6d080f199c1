//! The jobs of a fleet: submitted, looked at, and those that are open.

use crate::fate::{Fate, fate, is_at_work, is_in_line};
use crate::slurm::{self, Seen};
use crate::{Error, Folder};
use model::{FleetAttempt, FleetEngine, FleetNode};

impl Folder {
    /// Submits one job for each of the nodes at these places, and writes down each as soon as Slurm has it.
    ///
    /// # Errors
    /// What Slurm said, that the folder cannot be written, or that the fleet's machines share nothing.
    pub fn submit(&mut self, places: &[usize]) -> Result<(), Error> {
        if self.fleet.engine == FleetEngine::Gather {
            let why = "nothing is submitted for it: start `scruple fleet node` on its machines";
            return Err(Error::of(self.path().display(), why));
        }
        slurm::submit(self, places)
    }

    /// Writes down the job of the node at this place.
    pub(crate) fn accept(&mut self, place: usize, job: String) -> Result<(), Error> {
        let submitted_unix_ms = sys::clock::unix_ms();
        let attempt = FleetAttempt { job, submitted_unix_ms, state: String::new() };
        self.fleet.nodes[place].attempts.push(attempt);
        self.write()
    }

    /// Returns what is known of the jobs; nobody starts those of machines that share nothing.
    fn seen(&self) -> Result<Vec<Seen>, Error> {
        match self.fleet.engine {
            FleetEngine::Slurm => slurm::list(&self.fleet),
            FleetEngine::Gather => Ok(Vec::new()),
        }
    }

    /// Returns what became of each node.
    ///
    /// # Errors
    /// What Slurm said, or that the folder cannot be read.
    pub fn look(&self) -> Result<Vec<Fate>, Error> {
        let nodes = || self.fleet.nodes.iter();
        let published = self.published()?;
        let is_there = |node: &FleetNode| published.iter().any(|of| of.is_of(node));
        // A folder that is complete says so wherever it was copied to.
        if nodes().all(is_there) {
            return Ok(nodes().map(|node| fate(node, &[], &published, &[])).collect());
        }
        // Slurm first: what it says has ended has left its session before.
        let seen = self.seen()?;
        let (published, partial) = (self.published()?, self.partial()?);
        Ok(nodes().map(|node| fate(node, &seen, &published, &partial)).collect())
    }

    /// Returns the jobs that are in line or at work.
    ///
    /// # Errors
    /// What Slurm said, or that the folder cannot be read.
    pub fn open_jobs(&self) -> Result<Vec<String>, Error> {
        self.jobs(|state, is_done| is_in_line(state) || is_at_work(state) && !is_done)
    }

    /// Returns the jobs that were queued again although their session is complete: an orphaned attempt may
    /// have published it.
    ///
    /// # Errors
    /// What Slurm said, or that the folder cannot be read.
    pub fn needless_jobs(&self) -> Result<Vec<String>, Error> {
        self.jobs(|state, is_done| state == "PENDING" && is_done)
    }

    /// Returns the jobs for which `which` says yes, by their state and whether they have left a session.
    fn jobs(&self, which: impl Fn(&str, bool) -> bool) -> Result<Vec<String>, Error> {
        let published = self.published()?;
        let mut jobs: Vec<String> = Vec::new();
        for Seen { job, state, node, .. } in self.seen()? {
            // A job in line is on no node.
            let is_here = |of: &str| node.is_empty() || node == of;
            let is_done = published.iter().any(|it| it.job == job && is_here(&it.node));
            if which(&state, is_done) && !jobs.contains(&job) {
                jobs.push(job);
            }
        }
        Ok(jobs)
    }

    /// Ends jobs, whatever they do.
    ///
    /// # Errors
    /// What Slurm said.
    pub fn cancel(&self, jobs: &[String]) -> Result<(), Error> {
        slurm::cancel(jobs)
    }
}
