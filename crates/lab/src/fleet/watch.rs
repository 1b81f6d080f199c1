//! Waiting for a fleet: what failed for a node's fault is submitted again, what cannot come is not
//! waited for. How far it is stands in a live line on a terminal, and in a line per change elsewhere.

use super::gather;
use crate::cli::fleet::FleetWaitArgs;
use crate::exit::Exit;
use crate::progress::Line;
use crate::ui;
use ::fleet::{Fate, Folder};
use anyhow::Context;
use model::{FleetEngine, NodeStanding};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the engine is asked: soon at first, then less, since a scheduler has other users.
const ASK_FIRST: Duration = Duration::from_millis(300);
const ASK_LAST: Duration = Duration::from_secs(10);

/// How long a session may be on its way through a network file system when its job has ended.
const VISIBLE_WITHIN: Duration = Duration::from_secs(10);

/// How long an engine may refuse to answer before the waiting ends. A scheduler that is restarted is
/// away for minutes, and its jobs go on.
const SILENT_AT_MOST: Duration = Duration::from_secs(600);

/// Waits until nothing more is to come, writes the report, and says what is left. If somebody asks to stop
/// meanwhile, it says how to go on.
pub(super) fn watch(folder: &mut Folder, args: &FleetWaitArgs, json: bool) -> anyhow::Result<Exit> {
    let nodes = folder.fleet.nodes.len();
    let watch = Watch {
        folder: &mut *folder,
        node_wait: Duration::from_millis(args.node_wait),
        line: Line::new(Some(nodes as u64), "{wide_bar:.cyan/dim} {pos}/{len}\n{msg}"),
        shown: vec![String::new(); nodes],
        last: Vec::new(),
        since: Instant::now(),
    };
    let settled = watch.rounds().with_context(|| how_to_go_on(folder))?;
    if !settled {
        ui::warn(&format!("interrupted; {}", how_to_go_on(folder)));
        return Ok(Exit::Incomplete);
    }
    let needless = folder.needless_jobs()?;
    if !needless.is_empty() {
        folder.cancel(&needless)?;
        let jobs = needless.join(", ");
        ui::note(&format!("queued again, though complete already; cancelled: {jobs}"));
    }
    let exit = gather::report(folder, json)?;
    if exit != Exit::Done {
        ui::warn(&format!(
            "not every node has a session; to submit what is missing and complete the report: scruple \
             fleet collect {} --complete",
            shown(folder.path())
        ));
    }
    Ok(exit)
}

/// Returns what can be typed to see to a fleet later.
pub(super) fn how_to_go_on(folder: &Folder) -> String {
    let path = shown(folder.path());
    if folder.fleet.engine == FleetEngine::Gather {
        return format!("to take sessions in: scruple fleet collect {path} SESSION...");
    }
    format!(
        "the jobs are left alone; to look: scruple fleet status {path}, to wait for them and report: \
         scruple fleet collect {path} --wait, to end them: scruple fleet cancel {path}"
    )
}

/// Returns a path as it can be typed: the one that was given, which need not be the one that nodes know.
pub(super) fn shown(path: &Path) -> String {
    wording::quoted(&wording::cleaned(&path.display().to_string()))
}

/// A fleet that is waited for.
struct Watch<'a> {
    folder: &'a mut Folder,
    /// How long a node that is away is waited for.
    node_wait: Duration,
    line: Line,
    /// What was last said of each node.
    shown: Vec<String>,
    /// What became of the nodes when it was last looked at, and since when it is so.
    last: Vec<Outlook>,
    since: Instant,
}

/// What of a node's fate decides whether it is waited for.
type Outlook = (NodeStanding, bool, bool);

impl Watch<'_> {
    /// Asks again and again until nothing more is to come (true), or somebody asks to stop (false).
    fn rounds(mut self) -> anyhow::Result<bool> {
        let mut ask_every = ASK_FIRST;
        let mut silent_since = None;
        loop {
            match self.folder.look() {
                Ok(fates) => {
                    silent_since = None;
                    self.note(&fates)?;
                    self.show(&fates);
                    if self.try_again(&fates)? {
                        continue;
                    }
                    if self.is_settled(&fates) {
                        return Ok(true);
                    }
                }
                Err(error) if silent_since.is_none() => {
                    silent_since = Some(Instant::now());
                    self.say(&format!("{error}; the jobs go on, and I ask again"));
                }
                Err(error) if silent_since.is_some_and(|it| it.elapsed() > SILENT_AT_MOST) => {
                    return Err(error).context("the engine does not answer");
                }
                Err(_) => {}
            }
            let waker = sys::interrupt::descriptor();
            if sys::poll::readable_any(waker.as_slice(), ask_every)?.contains(&true) {
                return Ok(false);
            }
            ask_every = ask_every.mul_f64(1.3).min(ASK_LAST);
        }
    }

    /// Shows what became of the nodes by now.
    fn show(&mut self, fates: &[Fate]) {
        let so_far = wording::number::duration_s(self.line.begun.elapsed().as_secs());
        let mut parts = Vec::new();
        for ((node, fate), shown) in self.folder.fleet.nodes.iter().zip(fates).zip(&mut self.shown)
        {
            let words = fate.words();
            let job = node.attempts.last().map_or("", |attempt| attempt.job.as_str());
            let line = format!("{} (job {job}): {words}", node.name);
            if *shown != line && self.line.bar.is_none() {
                ui::note(&format!("[{so_far}] {line}"));
            }
            *shown = line;
            parts.push(format!("{} {words}", node.name));
        }
        if let Some(bar) = &self.line.bar {
            let complete = fates.iter().filter(|it| it.standing == NodeStanding::Complete);
            bar.set_position(complete.count() as u64);
            let text = format!("[{so_far}] {}", parts.join(" · "));
            let room = ui::width().saturating_mul(2);
            bar.set_message(wording::cleaned(&text).chars().take(room).collect::<String>());
            bar.tick();
        }
    }

    /// Warns without disturbing the live line.
    fn say(&self, text: &str) {
        if let Some(bar) = &self.line.bar { bar.suspend(|| ui::warn(text)) } else { ui::warn(text) }
    }

    /// Writes down what the engine says, where it is news.
    fn note(&mut self, fates: &[Fate]) -> anyhow::Result<()> {
        let mut news = false;
        for (node, fate) in self.folder.fleet.nodes.iter_mut().zip(fates) {
            if let (Some(last), Some(state)) = (node.attempts.last_mut(), &fate.state)
                && last.state != *state
            {
                last.state.clone_from(state);
                news = true;
            }
        }
        if news {
            self.folder.write()?;
        }
        Ok(())
    }

    /// Submits again what failed for a node's fault; whether anything was.
    fn try_again(&mut self, fates: &[Fate]) -> anyhow::Result<bool> {
        let allowed = self.folder.fleet.retries as usize;
        let mut places = Vec::new();
        for (at, (node, fate)) in self.folder.fleet.nodes.iter().zip(fates).enumerate() {
            let attempts = node.attempts.len();
            // One that is stuck is in line again by itself.
            if fate.standing == NodeStanding::Lost && !fate.stuck && attempts <= allowed {
                let (name, words) = (&node.name, fate.words());
                let text = format!("{name}: {words}; submitted again, {attempts} of {allowed}");
                self.say(&text);
                places.push(at);
            }
        }
        if !places.is_empty() {
            self.folder.submit(&places)?;
        }
        Ok(!places.is_empty())
    }

    /// Reports whether nothing more is waited for: nothing is to come, or only what is stuck for long.
    fn is_settled(&mut self, fates: &[Fate]) -> bool {
        let now: Vec<Outlook> = fates.iter().map(|it| (it.standing, it.stuck, it.late)).collect();
        if self.last != now {
            (self.last, self.since) = (now, Instant::now());
        }
        let unchanged = self.since.elapsed();
        let is_open = |fate: &&Fate| {
            let is_at_it = matches!(fate.standing, NodeStanding::Waiting | NodeStanding::Running);
            is_at_it || fate.stuck || fate.late && unchanged < VISIBLE_WITHIN
        };
        let open: Vec<&Fate> = fates.iter().filter(is_open).collect();
        open.is_empty() || unchanged >= self.node_wait && open.iter().all(|fate| fate.stuck)
    }
}
