//! How far a fleet is: a live line on a terminal, a line per change elsewhere.

use crate::ui;
use ::fleet::Standing;
use indicatif::ProgressBar;
use model::Fleet;
use std::time::Instant;

/// Shows what becomes of the nodes.
#[derive(Debug)]
pub(super) struct Live {
    bar: Option<ProgressBar>,
    begun: Instant,
    shown: Vec<String>,
}

impl Live {
    pub(super) fn new(nodes: usize) -> Self {
        let bar = ui::bar(Some(nodes as u64), "{wide_bar:.cyan/dim} {pos}/{len}\n{msg}");
        Live { bar, begun: Instant::now(), shown: vec![String::new(); nodes] }
    }

    /// Shows what became of the nodes by now.
    pub(super) fn show(&mut self, fleet: &Fleet, standings: &[Standing]) {
        let so_far = ui::seconds(self.begun.elapsed().as_secs());
        let mut parts = Vec::new();
        for ((node, standing), shown) in fleet.nodes.iter().zip(standings).zip(&mut self.shown) {
            let words = words(standing);
            let job = node.attempts.last().map_or("", |attempt| attempt.job.as_str());
            let line = format!("{} (job {job}): {words}", node.name);
            if *shown != line {
                if self.bar.is_none() {
                    ui::note(&format!("[{so_far}] {line}"));
                }
                shown.clone_from(&line);
            }
            parts.push(format!("{} {words}", node.name));
        }
        if let Some(bar) = &self.bar {
            let complete = standings.iter().filter(|it| matches!(it, Standing::Complete(_)));
            bar.set_position(complete.count() as u64);
            let text = format!("[{so_far}] {}", parts.join(" · "));
            let room = ui::width().saturating_mul(2);
            bar.set_message(report::harmless(&text).chars().take(room).collect::<String>());
            bar.tick();
        }
    }

    /// Warns without disturbing the live line.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| ui::warn(text)),
            None => ui::warn(text),
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns what became of a node, in a few words.
pub(super) fn words(standing: &Standing) -> String {
    match standing {
        Standing::Complete(_) => "complete".into(),
        Standing::NotSubmitted => "not submitted".into(),
        Standing::Waiting { reason, .. } if reason.is_empty() => "waits".into(),
        Standing::Waiting { reason, .. } => format!("waits ({reason})"),
        Standing::Running => "measures".into(),
        Standing::Lost { reason } => format!("lost ({reason})"),
        Standing::Failed { reason } => format!("failed ({reason})"),
        Standing::Ended => "ended without a session".into(),
        Standing::Unknown => "not known to the engine any more, and without a session".into(),
    }
}
