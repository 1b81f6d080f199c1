//! A copy of a fleet without the names of its nodes.

use super::gather;
use crate::exit::Exit;
use crate::{destination, redaction, ui};
use ::fleet::{Folder, REPORT_FILE, RESULT_FILE};
use anyhow::ensure;
use model::NodeStanding;
use std::path::Path;

/// Writes the complete sessions, the result and the report into a new folder.
pub(super) fn copy(folder: &Folder, to: &Path, json: bool) -> anyhow::Result<Exit> {
    let is_free = std::fs::read_dir(to).map_or(true, |mut entries| entries.next().is_none());
    ensure!(is_free, "--redact {}: it is not empty; name a new folder", to.display());
    let result = gather::gather(folder, true)?;
    for (node, fate) in result.nodes.iter().zip(folder.look()?) {
        let taken = node.standing == NodeStanding::Complete;
        if let (Some(attempt), true) = (&fate.attempt, taken) {
            let stored = redaction::redacted(store::open(&folder.session(attempt))?)?;
            redaction::copy(&stored, &to.join(&node.name))?;
        }
    }
    std::fs::create_dir_all(to)?;
    let text = serde_json::to_string_pretty(&result)?;
    destination::write(&to.join(RESULT_FILE), &text)?;
    destination::write(&to.join(REPORT_FILE), &report::fleet_html(&result))?;
    match json {
        true => ui::result(&text)?,
        false => ui::people(&report::fleet_text(&result, ui::width(), Some(ui::height())))?,
    }
    ui::note(&format!("the redacted fleet: {}", to.display()));
    Ok(if result.complete { Exit::Done } else { Exit::Incomplete })
}
