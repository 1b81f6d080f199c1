//! What became of each node so far; nothing is written.

use super::{gather, watch};
use crate::cli::fleet::FleetStatusArgs;
use crate::exit::Exit;
use crate::ui;
use ::fleet::Folder;
use model::NodeStanding;
use serde_json::json;

/// The most nodes of which each has a row.
const ROWS_MAX: usize = 64;

pub(crate) fn status(args: &FleetStatusArgs) -> anyhow::Result<Exit> {
    let folder = Folder::open(&args.folder)?;
    let fleet = &folder.fleet;
    let (mut rows, mut nodes, mut complete) = (Vec::new(), Vec::new(), 0);
    for (node, fate) in fleet.nodes.iter().zip(folder.look()?) {
        let (name, words) = (&node.name, fate.words());
        let is_complete = fate.standing == NodeStanding::Complete;
        complete += usize::from(is_complete);
        let left = fate.attempt.filter(|_| !is_complete);
        let trials = left.map(|left| gather::trials(&folder, &left));
        let so_far = trials.map_or_else(String::new, |trials| format!(", {trials} trials so far"));
        let job = node.attempts.last().map(|attempt| attempt.job.as_str());
        let jobs = match (job, node.attempts.len()) {
            (None, _) => "no job".to_string(),
            (Some(job), 1) => format!("job {job}"),
            (Some(job), many) => format!("job {job}, attempt {many}"),
        };
        // Of many nodes those that are complete are a number.
        if !is_complete || fleet.nodes.len() <= ROWS_MAX {
            rows.push(format!("{name}  {words}  ({jobs}{so_far})"));
        }
        nodes.push(json!({
            "name": name, "words": words, "state": fate.state, "job": job,
            "attempts": node.attempts.len(), "trials": trials, "complete": is_complete,
        }));
    }
    let expected = nodes.len().max(fleet.expected.unwrap_or(1) as usize);
    let all = complete == expected;
    if args.json {
        let whole = json!({
            "format": model::FLEET_FORMAT, "scruple": crate::session::VERSION, "fleet": fleet.fleet,
            "folder": folder.path(), "complete": all, "expected": expected, "nodes": nodes,
        });
        ui::result(&serde_json::to_string_pretty(&whole)?)?;
    } else {
        let head = format!("{complete} of {expected} nodes are complete");
        ui::people(&format!("{head}\n{}", rows.join("\n")))?;
        if !all {
            ui::note(&watch::how_to_go_on(&folder).replacen("the jobs are left alone; ", "", 1));
        }
    }
    Ok(if all { Exit::Done } else { Exit::Incomplete })
}
