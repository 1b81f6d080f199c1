//! Sessions, or stored loads, against each other. Nothing is written into any of them.

use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::{catalog, destination, load, lookup, session, session_folders, ui};
use analysis::{Answers, Condition, Questions};
use anyhow::{Context, Result, bail, ensure};
use model::{Comparison, Design, GateOutcome};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit> {
    if let Some(loads) = load::versus::compare(args) {
        return loads;
    }
    let paths = paths(args)?;
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let session_folders::Found { sides, folders, left_out } = session_folders::heads(&paths)?;
    // Before a thousand sessions are read.
    let designs = sides.iter().flat_map(|side| &side.heads).flat_map(|head| &head.designs);
    known(&args.experiment, &args.fail_if, &different(designs))?;
    let questions = Arc::new(Questions::new(sides, &args.experiment));
    let mut answers = Answers::new(&questions);
    let dir = |side: usize, at: usize| folders[side][at].clone();
    session_folders::read(&questions, dir, |(side, _), digest| {
        answers.add(side, digest?);
        Ok(())
    })?;
    let comparison = answers.end(session::VERSION, &args.fail_if);
    let exit = match exit(&comparison) {
        Exit::Done if left_out => Exit::Incomplete,
        exit => exit,
    };
    if page(args, &comparison)? {
        return Ok(exit);
    }
    if args.json {
        ui::data(&serde_json::to_string_pretty(&comparison)?)?;
    } else {
        let height = (!args.all).then(ui::height);
        ui::people(&report::comparison_text(&comparison, ui::width(), height))?;
    }
    Ok(exit)
}

/// Returns the sides: those that were named, or two sessions that ask the same, the earlier one first.
fn paths(args: &CompareArgs) -> Result<Vec<PathBuf>> {
    if !args.sides.is_empty() {
        return Ok(args.base.iter().chain(&args.sides).cloned().collect());
    }
    let (own, (dir, manifest)) = match &args.base {
        None => (Vec::new(), lookup::latest(|_, _| true)?),
        Some(base) => {
            let dir = lookup::named(base)?;
            let own = session_folders::of_path(&dir, session_folders::SESSIONS_MAX, "a side has")?;
            let manifest = store::read_manifest(&own[0])?;
            (own, (dir, manifest))
        }
    };
    let itself = |dir: &Path| std::fs::canonicalize(dir).ok();
    let is_own = |other: &Path| own.iter().chain([&dir]).any(|one| itself(one) == itself(other));
    let other = lookup::latest(|path, it| !is_own(path) && lookup::alike(&manifest, it));
    let other = other.context("name a SIDE: no other session asks the same")?;
    let mut both = [(dir, manifest), other];
    both.sort_by_key(|(_, manifest)| manifest.started_unix_ms);
    let [before, after] = both;
    Ok(vec![lookup::say("before:", before), lookup::say("after: ", after)])
}

/// Writes the page where it was asked for; whether it took standard output.
fn page(args: &CompareArgs, comparison: &Comparison) -> Result<bool> {
    let Some(path) = &args.html else { return Ok(false) };
    if path.as_os_str() == "-" {
        ensure!(!args.json, "--html - and --json both want standard output: give --html a file");
        ui::data(&report::comparison_html(comparison))?;
        return Ok(true);
    }
    destination::write(path, &report::comparison_html(comparison)).context("--html")?;
    Ok(false)
}

/// Returns each design once, however many sessions share it.
fn different<'a>(designs: impl Iterator<Item = &'a Arc<Design>>) -> Vec<&'a Design> {
    let mut seen = HashSet::new();
    designs.filter(|design| seen.insert(Arc::as_ptr(design))).map(Arc::as_ref).collect()
}

/// Reports whether what was named is there to be compared.
fn known(experiments: &[String], conditions: &[Condition], designs: &[&Design]) -> Result<()> {
    let ids: BTreeSet<&str> = designs.iter().map(|design| design.id.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    for name in experiments {
        catalog::known("--experiment: no session has", name, &ids)?;
    }
    for condition in conditions {
        let what = format!("--fail-if '{}': no session has an experiment", condition.text);
        catalog::known(&what, &condition.experiment, &ids)?;
        if let Err(why) = condition.check(designs) {
            bail!("--fail-if '{}': {why}", condition.text);
        }
        ensure!(
            experiments.is_empty() || experiments.contains(&condition.experiment),
            "--fail-if '{}': {} is not among what --experiment asks for",
            condition.text,
            condition.experiment
        );
    }
    Ok(())
}

/// Returns of several conditions the worst decides.
fn exit(comparison: &Comparison) -> Exit {
    match comparison.gates.iter().map(|gate| gate.outcome).max() {
        None | Some(GateOutcome::Fine) => Exit::Done,
        Some(GateOutcome::CannotTell) => Exit::Incomplete,
        Some(GateOutcome::Regression) => Exit::Refuted,
    }
}
