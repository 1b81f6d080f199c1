//! What became of each node so far; nothing is written.

use super::{gather, live, watch};
use crate::cli::fleet::FleetStatusArgs;
use crate::exit::Exit;
use crate::ui;
use ::fleet::{Folder, Standing};
use serde_json::json;

pub(crate) fn status(args: &FleetStatusArgs) -> anyhow::Result<Exit> {
    let (folder, fleet) = Folder::open(&args.folder)?;
    let (standings, states) = ::fleet::look(&folder, &fleet)?;
    let partial = folder.partial(&fleet)?;
    let mut rows = Vec::new();
    let mut nodes = Vec::new();
    for ((node, standing), state) in fleet.nodes.iter().zip(&standings).zip(&states) {
        let words = live::words(standing);
        let trials = partial
            .iter()
            .rfind(|it| it.node == node.name)
            .filter(|_| !matches!(standing, Standing::Complete(_)))
            .map(|left| gather::trials(&folder, left));
        let job = node.attempts.last().map(|attempt| attempt.job.clone());
        let so_far = trials.map_or_else(String::new, |trials| format!(", {trials} trials so far"));
        let jobs = match node.attempts.len() {
            0 => "no job".to_string(),
            1 => format!("job {}", job.as_deref().unwrap_or_default()),
            many => format!("job {}, attempt {many}", job.as_deref().unwrap_or_default()),
        };
        rows.push(format!("{}  {words}  ({jobs}{so_far})", node.name));
        nodes.push(json!({
            "name": node.name, "words": words, "state": state, "job": job,
            "attempts": node.attempts.len(), "trials": trials,
            "complete": matches!(standing, Standing::Complete(_)),
        }));
    }
    let complete = standings.iter().filter(|it| matches!(it, Standing::Complete(_))).count();
    let all = complete == standings.len();
    if args.json {
        let whole = json!({
            "format": model::FLEET_FORMAT, "scruple": crate::session::VERSION, "fleet": fleet.fleet,
            "folder": fleet.folder, "complete": all, "nodes": nodes,
        });
        ui::result(&serde_json::to_string_pretty(&whole)?)?;
    } else {
        let head = format!("{complete} of {} nodes are complete", standings.len());
        ui::people(&format!("{head}\n{}", rows.join("\n")))?;
        if !all {
            ui::note(&watch::how_to_go_on(&fleet).replacen("the jobs are left alone; ", "", 1));
        }
    }
    Ok(if all { Exit::Done } else { Exit::Incomplete })
}
