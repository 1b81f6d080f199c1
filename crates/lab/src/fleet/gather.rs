//! What a fleet's nodes have left, checked and made into one report.

use super::live;
use crate::exit::Exit;
use crate::{session, sides, ui};
use ::fleet::{Folder, Published, REPORT_FILE, RESULT_FILE, Standing};
use analysis::{Answers, FleetMember, Head, Heads, Questions, SideHeads};
use anyhow::Context;
use model::{
    FLEET_FORMAT, Fleet, FleetEngine, FleetNode, FleetPlan, FleetResult, NodeFacts, NodeResult,
    NodeStanding,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most doubts of a node that are shown, and the most characters of each.
const DOUBTS_MAX: usize = 8;
const DOUBT_CHARACTERS_MAX: usize = 400;

/// Nodes whose session cannot be read, with the reason.
type Unread = BTreeMap<String, String>;

/// Checks what is there, prints what came of it, and writes the report into the fleet's folder.
pub(super) fn report(folder: &Folder, fleet: &Fleet, json: bool) -> anyhow::Result<Exit> {
    let result = gather(folder, fleet)?;
    let text = serde_json::to_string_pretty(&result)? + "\n";
    // First what is shown: a folder that is full, or somebody else's, costs the files alone.
    if json {
        ui::result(&text)?;
    } else {
        ui::people(&report::fleet_text(&result, ui::width(), Some(ui::height())))?;
    }
    folder.replace(RESULT_FILE, text.as_bytes())?;
    folder.replace(REPORT_FILE, report::fleet_html(&result).as_bytes())?;
    if !json {
        ui::result(&format!("\nReport: {}", folder.path().join(REPORT_FILE).display()))?;
    }
    Ok(if result.complete { Exit::Done } else { Exit::Incomplete })
}

/// Returns the nodes as [`report`] would show them.
pub(super) fn results(folder: &Folder, fleet: &Fleet) -> anyhow::Result<Vec<NodeResult>> {
    Ok(nodes(folder, fleet)?.0)
}

fn gather(folder: &Folder, fleet: &Fleet) -> anyhow::Result<FleetResult> {
    let (nodes, answers) = nodes(folder, fleet)?;
    let sides = answers.questions().sides().to_vec();
    let comparison = (sides.len() > 1).then(|| answers.end(session::VERSION, &[]));
    let heads = sides.iter().filter_map(|side| Some((&side.name, side.heads.first()?)));
    let members: Vec<FleetMember<'_>> =
        heads.map(|(name, head)| FleetMember { name, manifest: &head.manifest }).collect();
    let says = analysis::fleet(&members, comparison.as_ref());
    Ok(FleetResult {
        format: FLEET_FORMAT,
        scruple: session::VERSION.into(),
        fleet: fleet.fleet.clone(),
        plan: fleet.plan.clone(),
        complete: nodes.iter().all(|node| node.standing == NodeStanding::Complete),
        nodes,
        same_machine: says.same_machine,
        kinds: says.kinds,
        spreads: says.spreads,
        outliers: says.outliers,
        comparison,
    })
}

/// Returns what became of each node, and what the sessions answer that can stand beside each other.
fn nodes(folder: &Folder, fleet: &Fleet) -> anyhow::Result<(Vec<NodeResult>, Answers)> {
    let (standings, _) = ::fleet::look(folder, fleet)?;
    let mut unread = Unread::new();
    loop {
        let (mut nodes, sides, places) = members(folder, fleet, &standings, &unread)?;
        let questions = Arc::new(Questions::new(sides, &[]));
        let (answers, failed) = answers(folder, &questions, &places, &standings, &mut nodes)?;
        if failed.is_empty() {
            return Ok((nodes, answers));
        }
        // What was asked of the others may have come from one of these.
        unread.extend(failed);
    }
}

/// The nodes, with the heads of those whose session can stand beside the others, and their places.
type Members = (Vec<NodeResult>, Vec<SideHeads>, Vec<usize>);

fn members(
    folder: &Folder,
    fleet: &Fleet,
    standings: &[Standing],
    unread: &Unread,
) -> anyhow::Result<Members> {
    let partial = folder.partial(fleet)?;
    let (mut results, mut sides, mut places) = (Vec::new(), Vec::<SideHeads>::new(), Vec::new());
    let mut heads = Heads::default();
    for (place, (node, standing)) in fleet.nodes.iter().zip(standings).enumerate() {
        let Standing::Complete(published) = standing else {
            results.push(without(folder, fleet, node, standing, &partial));
            continue;
        };
        let mut result = bare(node, NodeStanding::Complete);
        result.job = Some(published.job.clone());
        result.restart = published.restart;
        result.session = Some(published.name.clone());
        let first = sides.first().and_then(|side| side.heads.first());
        let taken = match unread.get(&node.name) {
            Some(why) => Err(anyhow::anyhow!("{why}")),
            None => take(folder, fleet, published, &mut heads, first, &mut result),
        };
        match taken {
            Ok(head) => {
                sides.push(SideHeads { name: node.name.clone(), heads: vec![head] });
                places.push(place);
            }
            Err(why) => {
                result.standing = NodeStanding::Refused;
                result.reason = format!("{why:#}");
            }
        }
        results.push(result);
    }
    Ok((results, sides, places))
}

/// Reads the trials of the members, whose places among the nodes are given, and completes what is
/// said of these nodes. A session that cannot be read costs its own node alone.
fn answers(
    folder: &Folder,
    questions: &Arc<Questions>,
    places: &[usize],
    standings: &[Standing],
    nodes: &mut [NodeResult],
) -> anyhow::Result<(Answers, Unread)> {
    let dir = |side: usize, _| match &standings[places[side]] {
        Standing::Complete(published) => folder.session(published),
        _ => folder.path().to_path_buf(),
    };
    let mut answers = Answers::new(questions);
    let mut failed = Unread::new();
    sides::read(questions, dir, |(side, _), digest| {
        let node = &mut nodes[places[side]];
        match digest {
            Ok(digest) => {
                node.trials = digest.trials();
                if !digest.is_complete() {
                    let doubt = "its time budget ended before every experiment had all its blocks";
                    node.doubts.push(doubt.into());
                }
                if digest.is_distrusted() {
                    let doubt = "its own A/A control found a difference where there is none";
                    node.doubts.push(doubt.into());
                }
                answers.add(side, digest);
            }
            Err(why) => {
                failed.insert(node.name.clone(), format!("{why:#}"));
            }
        }
        Ok(())
    })?;
    Ok((answers, failed))
}

/// Returns the head of a session that has its place, if it can stand beside the others.
fn take(
    folder: &Folder,
    fleet: &Fleet,
    published: &Published,
    heads: &mut Heads,
    first: Option<&Head>,
    result: &mut NodeResult,
) -> anyhow::Result<Head> {
    let facts = folder.facts(published)?;
    must_be_its_own(&facts, fleet, published)?;
    let head = heads.head(store::read_manifest(&folder.session(published))?);
    must_be_as_planned(&head, fleet, first)?;
    result.host = head.manifest.environment.host.clone();
    result.kind = analysis::machine_kind(&head.manifest);
    result.owns_all_cpus = Some(facts.owns_all_cpus);
    // What a node says is shown: so much of it, and no more.
    let doubts = facts.doubts.iter().take(DOUBTS_MAX);
    result.doubts =
        doubts.map(|doubt| doubt.chars().take(DOUBT_CHARACTERS_MAX).collect()).collect();
    Ok(head)
}

/// Checks that a node's facts are its own: a host may send anything.
fn must_be_its_own(facts: &NodeFacts, fleet: &Fleet, of: &Published) -> anyhow::Result<()> {
    for (what, said, expected) in [
        ("fleet", &facts.fleet, &fleet.fleet),
        ("node", &facts.node, &of.node),
        ("job", &facts.job, &of.job),
        ("scruple", &facts.scruple, &fleet.scruple),
    ] {
        if said != expected {
            anyhow::bail!("it is of {what} {said}, not {expected}");
        }
    }
    Ok(())
}

/// Checks that a session measured the fleet's plan by the fleet's scruple.
fn must_be_as_planned(head: &Head, fleet: &Fleet, first: Option<&Head>) -> anyhow::Result<()> {
    let manifest = &head.manifest;
    if manifest.scruple != fleet.scruple {
        anyhow::bail!("scruple {} measured it, not {}", manifest.scruple, fleet.scruple);
    }
    let FleetPlan { profile, time_budget_s, blocks, seed, shield, .. } = &fleet.plan;
    let options = &manifest.options;
    for (what, same) in [
        ("profile", options.profile == *profile),
        ("time to measure in", options.time_budget_s == *time_budget_s),
        ("number of blocks", options.blocks == *blocks),
        ("seed", manifest.seed == *seed),
        ("wish for a shield", options.shield == *shield),
        ("inquiry", options.inquiry.is_none() && !options.selftest),
    ] {
        if !same {
            anyhow::bail!("it was measured with another {what} than the fleet's plan says");
        }
    }
    let asked = &fleet.plan.experiments;
    if let Some(name) = asked.iter().find(|name| !options.experiments.contains(name)) {
        anyhow::bail!("it lacks the experiment {name}");
    }
    if let Some(first) = first
        && first.designs != head.designs
    {
        anyhow::bail!("its experiments are defined differently from those of the nodes before it");
    }
    Ok(())
}

fn bare(node: &FleetNode, standing: NodeStanding) -> NodeResult {
    NodeResult {
        name: node.name.clone(),
        standing,
        reason: String::new(),
        job: node.attempts.last().map(|attempt| attempt.job.clone()),
        restart: 0,
        attempts: node.attempts.len() as u32,
        session: None,
        trials: 0,
        host: String::new(),
        kind: String::new(),
        owns_all_cpus: None,
        doubts: Vec::new(),
    }
}

/// Returns a node without a session, with the reason, and what its last attempt has left.
fn without(
    folder: &Folder,
    fleet: &Fleet,
    node: &FleetNode,
    standing: &Standing,
    partial: &[Published],
) -> NodeResult {
    let left = partial.iter().rfind(|it| it.node == node.name);
    let away = matches!(standing, Standing::Waiting { stuck: true, .. }) && left.is_some();
    let mut result = bare(
        node,
        match standing {
            Standing::Complete(_) => NodeStanding::Complete,
            Standing::Waiting { .. } if away => NodeStanding::Lost,
            Standing::Waiting { .. } => NodeStanding::Waiting,
            Standing::Running => NodeStanding::Running,
            Standing::Lost { .. } => NodeStanding::Lost,
            Standing::Failed { .. } | Standing::Ended => NodeStanding::Failed,
            Standing::NotSubmitted | Standing::Unknown => NodeStanding::Missing,
        },
    );
    result.reason = match standing {
        Standing::Running => String::new(),
        Standing::Waiting { reason, .. } if away => {
            format!("its node was lost, and its job is in line again ({reason})")
        }
        Standing::Waiting { reason, .. } => reason.clone(),
        ended => live::words(ended),
    };
    if let Some(left) = left {
        result.restart = left.restart;
        result.trials = trials(folder, left);
    }
    let said = result.job.as_ref().and_then(|job| match fleet.engine {
        FleetEngine::Slurm => folder.last_words(&node.name, job),
        FleetEngine::Hosts => folder.last_words_of_host(&node.name, job),
    });
    let ended = matches!(result.standing, NodeStanding::Lost | NodeStanding::Failed);
    if let Some(said) = said.filter(|_| ended) {
        let said: String = said.chars().take(200).collect();
        result.doubts.push(format!("its last message: {said}"));
    }
    result
}

/// Returns the trials that an attempt has stored by now.
pub(super) fn trials(folder: &Folder, attempt: &Published) -> u64 {
    let path = folder.workplace(attempt).join(store::TRIALS_FILE);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
    let count = || -> anyhow::Result<u64> {
        let mut reader = std::io::BufReader::new(std::fs::File::open(&path)?);
        let mut lines = 0;
        loop {
            let bytes = std::io::BufRead::fill_buf(&mut reader).context("reading")?;
            if bytes.is_empty() {
                return Ok(lines);
            }
            lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            let count = bytes.len();
            std::io::BufRead::consume(&mut reader, count);
        }
    };
    if is_file { count().unwrap_or_default() } else { 0 }
}
