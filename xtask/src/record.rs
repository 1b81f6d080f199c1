//! The sessions under `recorded/`, measured anew: the commands stand in their own manifests.

use crate::shell::{Run, command, remove};
use crate::steps;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The recorded sessions, in the order in which they are measured.
const SESSIONS: [&str; 6] = ["base", "later", "speedup", "servers", "core", "threads"];

/// What of a session cannot be computed again.
const KEPT: [&str; 2] = ["manifest.json", "trials.ndjson"];

/// The folder, beside the sessions, in which they are measured. A name of its own, so that what a
/// killed attempt has left can be removed without fear.
const SCRATCH: &str = ".record";

/// Measures all sessions by the release binary, or by another, and puts them into `into`, or in
/// place of those that are there. Not one file is touched before all are complete.
///
/// # Errors
/// If there is no binary, if a session cannot be measured to its end, or if a folder cannot be
/// written.
pub(crate) fn record(root: &Path, into: Option<&Path>, binary: Option<&Path>) -> Result<()> {
    let recorded = root.join("recorded");
    let binary = match binary {
        Some(binary) => std::path::absolute(binary)?,
        None => release_binary(root)?,
    };
    let into = into.map_or_else(|| recorded.clone(), Path::to_path_buf);
    let scratch = into.join(SCRATCH);
    remove(&scratch)?;
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("cannot make the folder {}", scratch.display()))?;
    let done = measure_all(&recorded, &scratch, &binary)
        .and_then(|()| SESSIONS.iter().try_for_each(|name| publish(&scratch, &into, name)));
    let removed = remove(&scratch);
    done?;
    removed?;
    println!("\nThe tests' snapshots show these numbers: cargo insta review");
    Ok(())
}

/// Builds the release binary and says where it lies.
pub(crate) fn release_binary(root: &Path) -> Result<PathBuf> {
    let built = command("cargo build --release --package lab").current_dir(root).run();
    built.context("the release binary cannot be built")?;
    let binary = steps::target(root).join("release/scruple");
    ensure!(binary.is_file(), "there is no {}; name it: --binary FILE", binary.display());
    Ok(binary)
}

fn measure_all(recorded: &Path, scratch: &Path, binary: &Path) -> Result<()> {
    for name in SESSIONS {
        let before = Session::read(&recorded.join(name))?;
        println!("== {name}: {}", before.command().join(" "));
        measure(&before, name, scratch, binary)
            .with_context(|| format!("recorded/{name} stays as it is"))?;
        let folder = scratch.join(name);
        let path = folder.join("manifest.json");
        std::fs::write(&path, without_neighbours(&read(&path)?)?)?;
        let after = Session::read(&folder)?;
        for line in changes(&before, &after) {
            println!("   {line}");
        }
    }
    Ok(())
}

/// Repeats a session's command in the scratch folder, under the name that it writes to.
fn measure(before: &Session, name: &str, scratch: &Path, binary: &Path) -> Result<()> {
    let command = before.command();
    let [program, "run", words @ ..] = command.as_slice() else {
        bail!("its command is no `scruple run`: {}", command.join(" "));
    };
    let written = words.windows(2).find(|pair| matches!(pair[0], "-o" | "--output"));
    ensure!(
        written.is_some_and(|pair| pair[1] == name),
        "its command does not write to {name}: it needs `-o {name}`"
    );
    // The name by which it is called is stored; a path of this machine has no place there.
    let status = Command::new(binary)
        .arg0(program)
        .arg("run")
        .args(words)
        .current_dir(scratch)
        .stdout(std::process::Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    ensure!(status.success(), "the session did not end well: {status}");
    let summary: Value = serde_json::from_str(&read(&scratch.join(name).join("summary.json"))?)
        .context("summary.json is no JSON")?;
    ensure!(summary["complete"] == true, "the session is not complete");
    let after = Session::read(&scratch.join(name))?;
    for design in after.designs().keys() {
        ensure!(after.trials.contains_key(*design), "{design} has no trial");
    }
    Ok(())
}

/// What is to be known of a stored session.
#[derive(Debug)]
struct Session {
    manifest: Value,
    /// Trials of each experiment.
    trials: BTreeMap<String, usize>,
    /// Trials that neither completed nor were refused.
    failed: usize,
    bytes: usize,
}

impl Session {
    fn read(folder: &Path) -> Result<Session> {
        let [manifest_path, trials_path] = KEPT.map(|file| folder.join(file));
        let manifest: Value = serde_json::from_str(&read(&manifest_path)?)
            .with_context(|| format!("{} is no JSON", manifest_path.display()))?;
        let text = read(&trials_path)?;
        ensure!(
            text.is_empty() || text.ends_with('\n'),
            "the last line of {} is torn",
            trials_path.display()
        );
        let (mut trials, mut failed) = (BTreeMap::new(), 0);
        for (index, line) in text.lines().enumerate() {
            let trial: Value = serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", trials_path.display(), index + 1))?;
            let experiment = trial["experiment"].as_str().unwrap_or_default();
            *trials.entry(experiment.to_string()).or_insert(0) += 1;
            let kind = trial["outcome"]["kind"].as_str().unwrap_or_default();
            failed += usize::from(!matches!(kind, "completed" | "unsupported"));
        }
        Ok(Session { manifest, trials, failed, bytes: text.len() })
    }

    /// The words of its command.
    fn command(&self) -> Vec<&str> {
        let words = self.manifest["command"].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).collect()
    }

    /// The version of each experiment's design.
    fn designs(&self) -> BTreeMap<&str, u64> {
        let designs = self.manifest["designs"].as_array().into_iter().flatten();
        designs.filter_map(|it| Some((it["id"].as_str()?, it["version"].as_u64()?))).collect()
    }

    /// The number of its trials, and how much they take.
    fn size(&self) -> String {
        let megabytes = self.bytes as f64 / 1e6;
        format!("{} trials in {megabytes:.1} MB", self.trials.values().sum::<usize>())
    }
}

/// What another recording changed, a line each.
fn changes(before: &Session, after: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    let (old, new) = (before.designs(), after.designs());
    for (id, version) in &new {
        match old.get(id) {
            None => lines.push(format!("new: {id}, version {version}")),
            Some(old) if old != version => {
                lines.push(format!("{id}: version {version}, was {old}"));
            }
            Some(_) => {}
        }
    }
    lines.extend(old.keys().filter(|id| !new.contains_key(*id)).map(|id| format!("gone: {id}")));
    for (what, place) in [("scruple", "/scruple"), ("Linux", "/environment/kernel")] {
        let [old, new] = [before, after].map(|session| {
            session.manifest.pointer(place).and_then(Value::as_str).unwrap_or_default()
        });
        if old != new {
            lines.push(format!("{what} {new}, was {old}"));
        }
    }
    lines.push(format!("{}, were {}", after.size(), before.size()));
    if after.failed > 0 {
        let failed = format!("trials that gave no number: {}", after.failed);
        lines.push(format!("{failed}, were {}; look at them before you keep it", before.failed));
    }
    lines
}

/// The manifest without the names of the processes that ran beside it, which are nobody's business;
/// every other byte stays.
fn without_neighbours(manifest: &str) -> Result<String> {
    let mut wanted: Value = serde_json::from_str(manifest).context("manifest.json is no JSON")?;
    let list = wanted.pointer_mut("/environment/neighbours");
    *list.context("manifest.json tells no neighbours")? = Value::Array(Vec::new());
    let environment = manifest.find("\n  \"environment\": {").context("no environment")?;
    let (head, rest) = manifest.split_at(environment);
    let begin = rest.find("\n    \"neighbours\": [").context("no list of neighbours")?;
    let open = begin + rest[begin..].find('[').unwrap_or_default();
    let close = match rest[open..].starts_with("[]") {
        true => open + 1,
        false => open + rest[open..].find("\n    ]").context("the list has no end")? + 5,
    };
    let emptied = format!("{head}{}[]{}", &rest[..open], &rest[close + 1..]);
    let found: Value =
        serde_json::from_str(&emptied).context("the list was not where it seemed")?;
    ensure!(found == wanted, "the list of neighbours was not where it seemed");
    Ok(emptied)
}

/// Puts a measured session in place of the earlier one, whole or not at all.
fn publish(scratch: &Path, into: &Path, name: &str) -> Result<()> {
    let ready = scratch.join(format!("{name}.ready"));
    std::fs::create_dir(&ready)?;
    for file in KEPT {
        std::fs::rename(scratch.join(name).join(file), ready.join(file))?;
    }
    let (place, old) = (into.join(name), scratch.join(format!("{name}.old")));
    let replaces = place.exists();
    if replaces {
        std::fs::rename(&place, &old)
            .with_context(|| format!("cannot move {}", place.display()))?;
    }
    if let Err(error) = std::fs::rename(&ready, &place) {
        if replaces {
            std::fs::rename(&old, &place)?;
        }
        return Err(error).with_context(|| format!("cannot write {}", place.display()));
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests;
