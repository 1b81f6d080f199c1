//! Waiting for a fleet: what failed for a node's fault is submitted again, what cannot come is not
//! waited for.

use super::gather;
use super::live::{self, Live};
use crate::cli::fleet::FleetWaitArgs;
use crate::exit::Exit;
use crate::ui;
use ::fleet::{Folder, Standing, engine, look, open_jobs, submit};
use anyhow::Context;
use model::Fleet;
use std::time::{Duration, Instant};

/// How often the engine is asked: soon at first, then less, since a scheduler has other users.
const ASK_FIRST: Duration = Duration::from_millis(300);
const ASK_LAST: Duration = Duration::from_secs(10);

/// How long a session may be on its way through a network file system when its job has ended.
const VISIBLE_WITHIN: Duration = Duration::from_secs(10);

/// How long an engine may refuse to answer before the waiting ends. A scheduler that is restarted is
/// away for minutes, and its jobs go on.
const SILENT_AT_MOST: Duration = Duration::from_secs(600);

/// Why the waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing more is to come.
    Settled,
    /// What is left waits for a node that is away.
    Stuck,
    /// Somebody pressed Ctrl-C, and the jobs go on.
    Interrupted,
    /// Somebody pressed Ctrl-C, and wanted the jobs to end then.
    Cancelled,
}

/// A fleet that is waited for.
pub(super) struct Watch<'a> {
    folder: &'a Folder,
    fleet: &'a mut Fleet,
    args: &'a FleetWaitArgs,
    live: Live,
    /// Since when each node's job has ended without a session.
    gone_since: Vec<Option<Instant>>,
    /// Since when all that is left is stuck.
    stuck_since: Option<Instant>,
    silent_since: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        fleet: &'a mut Fleet,
        args: &'a FleetWaitArgs,
    ) -> anyhow::Result<Self> {
        let nodes = fleet.nodes.len();
        let (gone_since, live) = (vec![None; nodes], Live::new(nodes));
        let (stuck_since, silent_since) = (None, None);
        Ok(Watch { folder, fleet, args, live, gone_since, stuck_since, silent_since })
    }

    /// Waits until nothing more is to come, or somebody asks to stop.
    pub(super) fn watch(mut self) -> anyhow::Result<End> {
        let ended = self.rounds();
        self.live.end();
        let end = ended.with_context(|| how_to_go_on(self.fleet))?;
        if end == End::Interrupted && self.args.cancel_on_interrupt {
            let jobs = open_jobs(self.folder, self.fleet)?;
            engine(self.fleet).cancel(self.fleet, &jobs)?;
            ui::warn(&format!("interrupted; cancelled: {}", jobs.join(", ")));
            return Ok(End::Cancelled);
        }
        Ok(end)
    }

    fn rounds(&mut self) -> anyhow::Result<End> {
        let mut ask_every = ASK_FIRST;
        loop {
            if let Some(standings) = self.look()? {
                self.live.show(self.fleet, &standings);
                if self.try_again(&standings)? {
                    continue;
                }
                if let Some(end) = self.end(&standings) {
                    return Ok(end);
                }
            }
            if is_interrupted(ask_every)? {
                return Ok(End::Interrupted);
            }
            ask_every = ask_every.mul_f64(1.3).min(ASK_LAST);
        }
    }

    /// Returns what became of the nodes; none where the engine does not answer just now.
    fn look(&mut self) -> anyhow::Result<Option<Vec<Standing>>> {
        match look(self.folder, self.fleet) {
            Ok((standings, states)) => {
                self.silent_since = None;
                self.note(&states)?;
                Ok(Some(standings))
            }
            Err(error) => {
                let first = self.silent_since.is_none();
                let since = *self.silent_since.get_or_insert_with(Instant::now);
                if since.elapsed() > SILENT_AT_MOST {
                    return Err(error).context("the engine does not answer");
                }
                if first {
                    self.live.say(&format!("{error}; the jobs go on, and I ask again"));
                }
                Ok(None)
            }
        }
    }

    /// Writes down what the engine says, where it is news.
    fn note(&mut self, states: &[Option<String>]) -> anyhow::Result<()> {
        let mut news = false;
        for (node, state) in self.fleet.nodes.iter_mut().zip(states) {
            if let (Some(last), Some(state)) = (node.attempts.last_mut(), state)
                && last.state != *state
            {
                last.state.clone_from(state);
                news = true;
            }
        }
        if news {
            self.folder.write(self.fleet)?;
        }
        Ok(())
    }

    /// Submits again what failed for a node's fault; whether anything was.
    fn try_again(&mut self, standings: &[Standing]) -> anyhow::Result<bool> {
        let allowed = self.fleet.retries as usize;
        let again = |at: &usize| {
            let attempts = self.fleet.nodes[*at].attempts.len();
            matches!(standings[*at], Standing::Lost { .. }) && attempts <= allowed
        };
        let places: Vec<usize> = (0..standings.len()).filter(again).collect();
        for at in &places {
            let node = &self.fleet.nodes[*at];
            self.live.say(&format!(
                "{}: {}; submitted again, {} of {allowed}",
                node.name,
                live::words(&standings[*at]),
                node.attempts.len()
            ));
        }
        if !places.is_empty() {
            submit(self.folder, self.fleet, &places)?;
        }
        Ok(!places.is_empty())
    }

    /// Returns why nothing more is waited for, if so.
    fn end(&mut self, standings: &[Standing]) -> Option<End> {
        let now = Instant::now();
        let (mut open, mut stuck) = (0, 0);
        for (standing, gone) in standings.iter().zip(&mut self.gone_since) {
            let waits = match standing {
                Standing::Ended | Standing::Unknown => {
                    let since = *gone.get_or_insert(now);
                    now.duration_since(since) < VISIBLE_WITHIN
                }
                Standing::Waiting { .. } | Standing::Running => {
                    *gone = None;
                    true
                }
                _ => false,
            };
            open += usize::from(waits);
            stuck += usize::from(matches!(standing, Standing::Waiting { stuck: true, .. }));
        }
        if open == 0 {
            return Some(End::Settled);
        }
        if stuck < open {
            self.stuck_since = None;
            return None;
        }
        let since = *self.stuck_since.get_or_insert(now);
        let enough = now.duration_since(since) >= Duration::from_secs(self.args.node_wait);
        enough.then_some(End::Stuck)
    }
}

/// Reports whether somebody asks to stop within that time.
fn is_interrupted(within: Duration) -> anyhow::Result<bool> {
    match sys::interrupt::descriptor() {
        Some(waker) => Ok(sys::poll::readable(waker, within)?),
        None => {
            std::thread::sleep(within);
            Ok(false)
        }
    }
}

/// Returns what can be typed to see to a fleet later.
pub(super) fn how_to_go_on(fleet: &Fleet) -> String {
    let folder = &fleet.folder;
    format!(
        "the jobs are left alone; to look: scruple fleet status {folder}, to wait for them and report: \
         scruple fleet collect {folder} --wait, to end them: scruple fleet cancel {folder}"
    )
}

/// Ends the waiting: writes the report, and says what is left.
pub(super) fn finish(folder: &Folder, fleet: &Fleet, end: End, json: bool) -> anyhow::Result<Exit> {
    match end {
        End::Settled | End::Stuck => {}
        End::Cancelled => return Ok(Exit::Incomplete),
        End::Interrupted => {
            ui::warn(&format!("interrupted; {}", how_to_go_on(fleet)));
            return Ok(Exit::Incomplete);
        }
    }
    let done = ::fleet::cancel_done(folder, fleet)?;
    if !done.is_empty() {
        ui::note(&format!("queued again, though complete already; cancelled: {}", done.join(", ")));
    }
    let exit = gather::report(folder, fleet, json)?;
    if exit != Exit::Done {
        ui::warn(&format!(
            "not every node has a session; to submit what is missing and complete the report: scruple \
             fleet collect {} --complete",
            fleet.folder
        ));
    }
    Ok(exit)
}
