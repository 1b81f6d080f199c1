//! The results of the matrix in docs/machines.md.

use super::boot::folder;
use super::judge::{End, SESSIONS, end, judge, read, records};
use super::list::Machine;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = "docs/machines.md";

/// What follows this line is written.
const WRITTEN: &str = "<!-- From here on by `cargo xtask vm --matrix --write`. -->\n";

/// Writes the last answers of all machines.
///
/// # Errors
/// If the answers of a machine cannot be read; if the page cannot be written.
pub(crate) fn write(root: &Path, machines: &[Machine]) -> Result<()> {
    let file = root.join(PAGE);
    let old = std::fs::read_to_string(&file).with_context(|| format!("cannot read {PAGE}"))?;
    let (head, _) = old.split_once(WRITTEN).with_context(|| format!("{PAGE} lacks {WRITTEN}"))?;
    let mut table =
        "| machine | run by | found | not there | completed | unsupported | starved | wrong |\n\
                     |---|---|---|---|---|---|---|---|\n"
            .to_string();
    let mut refused = String::new();
    for machine in machines {
        let folder = folder(root, machine);
        if !folder.join("host.txt").is_file() {
            let _ = writeln!(table, "| {} | not run | | | | | | |", title(machine));
            continue;
        }
        let wrong = judge(machine, &folder).with_context(|| machine.name)?;
        table.push_str(&about(machine, &folder, wrong.len())?);
        let _ = write!(refused, "### {}\n\n{}", machine.name, reasons(&folder)?);
        for wrong in wrong {
            let _ = writeln!(refused, "* **Wrong**: {}", shortened(&wrong));
        }
        refused.push('\n');
    }
    let text =
        format!("{head}{WRITTEN}\n{table}\n## What was refused, and why\n\n{}\n", refused.trim());
    std::fs::write(&file, text).with_context(|| format!("cannot write {PAGE}"))?;
    println!("-- written: {PAGE}");
    Ok(())
}

/// Returns the beginning of a long text.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 300;
    let text = text.replace(['<', '>', '*', '_', '`'], " ");
    let mut short: String = text.chars().take(CHARACTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn title(machine: &Machine) -> String {
    format!("`{}`: {}", machine.name, machine.about)
}

/// Returns a machine's row.
fn about(machine: &Machine, folder: &Path, wrong: usize) -> Result<String> {
    let host = read(folder, "host.txt")?;
    let host: BTreeMap<&str, &str> =
        host.lines().filter_map(|line| line.split_once(": ")).collect();
    let host = |key| host.get(key).copied().unwrap_or_default();
    let kernel = read(folder, "kernel-says.txt")?;
    let kernel: Vec<&str> = kernel.lines().collect();
    let doctor = read(folder, "doctor.txt")?;
    let doctor_json: Value = serde_json::from_str(&read(folder, "doctor-json.txt")?)?;
    let missing = doctor_json["channels"].as_array().into_iter().flatten();
    let missing = missing.filter(|channel| channel["there"] == false);
    let missing: Vec<String> = missing
        .map(|channel| format!("{}: {}", word(&channel["name"]), word(&channel["why"])))
        .collect();
    let mut ends = Vec::new();
    for session in SESSIONS {
        ends.extend(records(folder, session)?.iter().map(end));
    }
    let count = |end| ends.iter().filter(|one| **one == end).count();
    let cells = [
        title(machine),
        format!("{}, Linux {}, {} min", host("accelerator"), host("kernel"), host("minutes")),
        format!("the kernel: {}; doctor: {}", kernel.join(", "), this_machine(&doctor).join("; ")),
        missing.join("; "),
        count(End::Completed).to_string(),
        count(End::Unsupported).to_string(),
        count(End::Starved).to_string(),
        wrong.to_string(),
    ];
    Ok(format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns what doctor found of the machine itself: the lines of its first part, and the limits that it
/// names. The kernel, the processor and the C library are the emulator's or stand elsewhere.
fn this_machine(doctor: &str) -> Vec<String> {
    const ELSEWHERE: [&str; 5] = ["kernel", "processor", "hypervisor", "C library", "rights"];
    let lines = doctor.lines().skip_while(|line| !line.starts_with("This machine")).skip(1);
    let lines = lines.take_while(|line| !line.trim().is_empty());
    // A line without a name goes on with the one above it; the drawing stands below "rights".
    let mut named = Vec::<String>::new();
    for line in lines {
        match named.last_mut() {
            Some(above) if line.starts_with("   ") => *above += line,
            _ => named.push(line.trim().into()),
        }
    }
    let named = named.iter().map(String::as_str);
    let facts = named.filter(|line| !ELSEWHERE.iter().any(|name| line.starts_with(name)));
    let limits = doctor.lines().filter_map(|line| line.trim().strip_prefix("! "));
    let limits = limits.filter(|line| line.contains(" limits "));
    facts.chain(limits).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Returns why trials were unsupported, with the experiments that have them.
fn reasons(folder: &Path) -> Result<String> {
    let mut reasons = BTreeMap::<String, BTreeSet<String>>::new();
    for session in SESSIONS {
        for record in records(folder, session)? {
            if record["outcome"]["kind"] == "unsupported" {
                let reason = word(&record["outcome"]["reason"]).to_string();
                let experiment = word(&record["experiment"]).to_string();
                reasons.entry(reason).or_default().insert(experiment);
            }
        }
    }
    let mut text = String::new();
    for (reason, experiments) in &reasons {
        let experiments: Vec<&str> = experiments.iter().map(String::as_str).collect();
        let _ = writeln!(text, "* {reason} ({})", experiments.join(", "));
    }
    Ok(if text.is_empty() { "Nothing.\n".into() } else { text })
}
