//! What a fleet's nodes have left, checked and made into one report.

use super::hidden;
use crate::exit::Exit;
use crate::{redaction, session, session_folders, ui};
use ::fleet::{Fate, Folder, Published, REPORT_FILE, RESULT_FILE};
use analysis::{Answers, Digest, FleetMember, Head, Heads, Questions, SideHeads};
use anyhow::anyhow;
use model::{
    Comparison, FLEET_FORMAT, Fleet, FleetNode, FleetPlan, FleetResult, NodeFacts, NodeResult,
    NodeStanding,
};
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// The most doubts of a node that are shown, and the most characters of each.
const DOUBTS_MAX: usize = 8;
const DOUBT_CHARACTERS_MAX: usize = 400;

/// Checks what is there, prints what came of it, and writes the report into the fleet's folder.
pub(super) fn report(folder: &Folder, json: bool) -> anyhow::Result<Exit> {
    let result = gather(folder, false)?;
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

/// The most nodes that are all compared with the first.
const COMPARED_MAX: usize = 64;

/// The nodes that are compared with the first where there are more: a page of a thousand sides is none.
const COMPARED_OF_MANY: usize = 16;

/// Returns what came of a fleet; `redact` says whether without the names of its nodes.
pub(super) fn gather(folder: &Folder, redact: bool) -> anyhow::Result<FleetResult> {
    let (nodes, members, answers) = nodes(folder, redact)?;
    let sides = answers.questions().sides().to_vec();
    let comparison = (sides.len() > 1).then(|| answers.end(session::VERSION, &[]));
    let heads = sides.iter().filter_map(|side| Some((&side.name, side.heads.first()?)));
    let of_fleet: Vec<FleetMember<'_>> =
        heads.map(|(name, head)| FleetMember { name, manifest: &head.manifest }).collect();
    let says = analysis::fleet(&of_fleet, comparison.as_ref());
    let comparison = match sides.len() {
        ..=COMPARED_MAX => comparison,
        _ => Some(of_some(&members, &sides, &says.farthest)?),
    };
    Ok(FleetResult {
        format: FLEET_FORMAT,
        scruple: session::VERSION.into(),
        fleet: folder.fleet.fleet.clone(),
        plan: folder.fleet.plan.clone(),
        complete: nodes.len() >= folder.fleet.expected.unwrap_or(1) as usize
            && nodes.iter().all(|node| node.standing == NodeStanding::Complete),
        expected: folder.fleet.expected,
        nodes,
        same_machine: says.same_machine,
        kinds: says.kinds,
        spreads: says.spreads,
        outliers: says.outliers,
        comparison,
    })
}

/// Compares the first of many with those that lie farthest from the others.
fn of_some(
    members: &[Member],
    sides: &[SideHeads],
    farthest: &[usize],
) -> anyhow::Result<Comparison> {
    let mut places: Vec<usize> =
        farthest.iter().copied().filter(|place| *place > 0).take(COMPARED_OF_MANY).collect();
    places.sort_unstable();
    places.insert(0, 0);
    let chosen = places.iter().map(|place| sides[*place].clone()).collect();
    let questions = Arc::new(Questions::new(chosen, &[]));
    let mut answers = Answers::new(&questions);
    session_folders::read(
        &questions,
        |side, _| members[places[side]].1.clone(),
        |(side, _), digest| {
            answers.add(side, digest?);
            Ok(())
        },
    )?;
    Ok(answers.end(session::VERSION, &[]))
}

/// Returns the nodes as [`report`] would show them.
pub(super) fn results(folder: &Folder) -> anyhow::Result<Vec<NodeResult>> {
    Ok(nodes(folder, false)?.0)
}

/// A session that has its place and may stand beside the others: its node's place in the fleet, its
/// folder, and what was measured there.
type Member = (usize, PathBuf, Head);

/// Returns what became of each node, and the sessions that can stand beside each other with what they
/// answer; of many only the values of findings.
fn nodes(folder: &Folder, redact: bool) -> anyhow::Result<(Vec<NodeResult>, Vec<Member>, Answers)> {
    let mut heads = Heads::default();
    let (mut results, mut members) = (Vec::new(), Vec::<Member>::new());
    for (place, (node, fate)) in folder.fleet.nodes.iter().zip(folder.look()?).enumerate() {
        let mut result = result(folder, node, &fate);
        if let (NodeStanding::Complete, Some(session)) = (fate.standing, &fate.attempt) {
            match take(folder, session, &mut heads, &mut result, redact) {
                Ok(head) => members.push((place, folder.session(session), head)),
                Err(why) => refuse(&mut result, &why),
            }
        }
        if redact {
            hidden::hide(&mut result, place);
        }
        results.push(result);
    }
    let (members, answers) = answers(members, &mut results)?;
    if redact {
        results.iter_mut().for_each(hidden::hide_reason);
    }
    Ok((results, members, answers))
}

/// Reads the trials of the members and completes what is said of their nodes. A session that cannot be
/// read costs its own node alone.
fn answers(
    mut members: Vec<Member>,
    results: &mut [NodeResult],
) -> anyhow::Result<(Vec<Member>, Answers)> {
    loop {
        let first = members.first().map(|(.., head)| head.designs.clone()).unwrap_or_default();
        let (alike, others): (Vec<&Member>, Vec<_>) =
            members.iter().partition(|(.., head)| head.designs == first);
        let side = |(place, _, head): &&Member| SideHeads {
            name: results[*place].name.clone(),
            heads: vec![head.clone()],
        };
        let questions = Arc::new(Questions::new(alike.iter().map(side).collect(), &[]));
        let are_many = alike.len() > COMPARED_MAX;
        let (mut digests, mut unread) = (Vec::new(), Vec::new());
        session_folders::read(
            &questions,
            |side, _| alike[side].1.clone(),
            |(side, _), digest| {
                match digest {
                    Ok(digest) if are_many => digests.push((side, digest.values_of_findings())),
                    Ok(digest) => digests.push((side, digest)),
                    Err(why) => unread.push((alike[side].0, why)),
                }
                Ok(())
            },
        )?;
        if unread.is_empty() {
            let mut answers = Answers::new(&questions);
            for (side, digest) in digests {
                judge(&mut results[alike[side].0], &digest);
                answers.add(side, digest);
            }
            let why = "its experiments are defined differently from those of the nodes before it";
            others.iter().for_each(|other| refuse(&mut results[other.0], &anyhow!(why)));
            let alike = |(.., head): &Member| head.designs == first;
            members.retain(alike);
            return Ok((members, answers));
        }
        // What was asked of the others may have come from one of these.
        for (place, why) in unread {
            refuse(&mut results[place], &why);
            members.retain(|member| member.0 != place);
        }
    }
}

/// Marks a session that cannot stand beside the others.
fn refuse(result: &mut NodeResult, why: &anyhow::Error) {
    result.standing = NodeStanding::Refused;
    result.reason = format!("{why:#}");
}

/// Notes what the trials say of their own session.
fn judge(result: &mut NodeResult, digest: &Digest) {
    result.trials = digest.trials();
    if !digest.is_complete() {
        let doubt = "its time budget ended before every experiment had all its blocks";
        result.doubts.push(doubt.into());
    }
    if digest.is_distrusted() {
        result.doubts.push("its own A/A control found a difference where there is none".into());
    }
}

/// Returns the head of a session that has its place, if it is its node's own and as planned.
fn take(
    folder: &Folder,
    published: &Published,
    heads: &mut Heads,
    result: &mut NodeResult,
    redact: bool,
) -> anyhow::Result<Head> {
    let facts = folder.facts(published)?;
    must_be_its_own(&facts, &folder.fleet, published)?;
    let mut manifest = store::read_manifest(&folder.session(published))?;
    if redact {
        manifest = redaction::of_session(&manifest)?.manifest().clone();
    }
    let head = heads.head(manifest);
    must_be_as_planned(&head, &folder.fleet)?;
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
pub(super) fn must_be_its_own(
    facts: &NodeFacts,
    fleet: &Fleet,
    of: &Published,
) -> anyhow::Result<()> {
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
pub(super) fn must_be_as_planned(head: &Head, fleet: &Fleet) -> anyhow::Result<()> {
    let manifest = &head.manifest;
    if manifest.scruple != fleet.scruple {
        anyhow::bail!("scruple {} measured it, not {}", manifest.scruple, fleet.scruple);
    }
    let FleetPlan { profile, time_budget_s, blocks, seed, shield, redact, .. } = &fleet.plan;
    let options = &manifest.options;
    for (what, same) in [
        ("profile", options.profile == *profile),
        ("time to measure in", options.time_budget_s == *time_budget_s),
        ("number of blocks", options.blocks == *blocks),
        ("seed", manifest.seed == *seed),
        ("wish for a shield", options.shield == *shield),
        ("wish for redaction", manifest.redacted || !redact),
        ("inquiry", options.inquiry.is_none() && !options.selftest),
    ] {
        if !same {
            anyhow::bail!("it was measured with another {what} than the fleet's plan says");
        }
    }
    let measured = |name: &&String| {
        options.experiments.contains(name)
            || options.preset.as_ref().is_some_and(|preset| preset.name == **name)
    };
    if let Some(name) = fleet.plan.experiments.iter().find(|name| !measured(name)) {
        anyhow::bail!("it lacks the experiment {name}");
    }
    Ok(())
}

/// Returns what is known of a node before its session is read: of one without a session, what its last
/// attempt has left and the last that it said.
fn result(folder: &Folder, node: &FleetNode, fate: &Fate) -> NodeResult {
    let (session, left) = match fate.standing {
        NodeStanding::Complete => (fate.attempt.as_ref(), None),
        _ => (None, fate.attempt.as_ref()),
    };
    let last = node.attempts.last().map(|attempt| &attempt.job);
    let said = last.filter(|_| matches!(fate.standing, NodeStanding::Lost | NodeStanding::Failed));
    let said = said.and_then(|job| folder.last_words(&node.name, job));
    let said = said.map(|said| said.chars().take(200).collect::<String>());
    NodeResult {
        name: node.name.clone(),
        standing: fate.standing,
        reason: fate.reason.clone(),
        job: session.map(|it| &it.job).or(last).cloned(),
        restart: fate.attempt.as_ref().map_or(0, |it| it.restart),
        attempts: node.attempts.len() as u32,
        session: session.map(|it| it.name.clone()),
        trials: left.map_or(0, |left| trials(folder, left)),
        host: String::new(),
        kind: String::new(),
        owns_all_cpus: None,
        doubts: said.map(|said| format!("its last message: {said}")).into_iter().collect(),
    }
}

/// Returns the trials that an attempt has stored by now.
pub(super) fn trials(folder: &Folder, attempt: &Published) -> u64 {
    let Some(file) = folder.file(attempt, store::TRIALS_FILE) else { return 0 };
    let bytes = BufReader::new(file).bytes().map_while(Result::ok);
    bytes.filter(|byte| *byte == b'\n').count() as u64
}
