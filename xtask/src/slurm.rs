//! A cluster of virtual nodes on this one machine, for the tests of the fleet: Slurm as Debian has it,
//! with a host name, a network address and a network of its own for each node.
//!
//! The nodes share CPUs and memory: they show that the machinery works, and give no figures.

mod down;
mod up;

use crate::machine;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use down::down;
pub(crate) use up::up;

/// Nodes where nobody says how many, and the most: each is a slurmd.
pub(crate) const NODES: u32 = 3;
const NODES_MAX: u32 = 16;

/// Where munge's socket lies. munge wants no folder above it that others may write to.
const RUN_FOLDER: &str = "/run/scruple-slurm";

/// What joins the nodes' networks.
const BRIDGE: &str = "scruple-slurm";

/// The first three parts of every address; the controller is 254, nodes count from 1.
const NETWORK: &str = "10.77.0";

/// What is asked of `cargo xtask slurm`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Up { dir: PathBuf, nodes: u32, install: bool },
    Down { dir: PathBuf },
    Test { install: bool },
}

/// Reads the words after `slurm`.
pub(crate) fn parse(words: &[&str]) -> Result<Asked, String> {
    let install = !words.contains(&"--no-install");
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "--no-install").collect();
    match words.as_slice() {
        ["up", dir] => Ok(Asked::Up { dir: dir.into(), nodes: NODES, install }),
        ["up", dir, nodes] => match nodes.parse() {
            Ok(nodes) if (1..=NODES_MAX).contains(&nodes) => {
                Ok(Asked::Up { dir: dir.into(), nodes, install })
            }
            _ => Err(format!("{nodes}: a number of nodes from 1 to {NODES_MAX}")),
        },
        ["down", dir] => Ok(Asked::Down { dir: dir.into() }),
        ["test"] => Ok(Asked::Test { install }),
        _ => Err("slurm wants up DIR [NODES], down DIR, or test".into()),
    }
}

pub(crate) fn slurm(root: &Path, asked: &Asked) -> Result<()> {
    match asked {
        Asked::Up { dir, nodes, install } => up(dir, *nodes, *install),
        Asked::Down { dir } => down(dir),
        Asked::Test { install } => crate::steps::fleet(root, *install),
    }
}

/// What a cluster is made of.
const PROGRAMS: [&str; 9] =
    ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "ip", "nsenter", "unshare", "hostname"];

/// Their packages, as Debian has them.
const PACKAGES: [&str; 5] =
    ["slurm-wlm", "slurm-wlm-basic-plugins", "munge", "iproute2", "util-linux"];

/// Why no cluster can be had here; none where one can.
pub(crate) fn obstacle(install: bool) -> Option<String> {
    if !machine::is_root() {
        return Some("only root can make network namespaces and cgroups".into());
    }
    let missing = missing();
    if missing.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let told = format!("there is no {}", missing.join(", "));
    match (install, machine::on_path("apt-get", &path)) {
        (false, _) => Some(format!("{told}, and nothing is to be installed; type: {}", by_hand())),
        (true, None) => Some(format!("{told}, and only Debian's packages are known")),
        (true, Some(_)) => None,
    }
}

/// Daemons of the system lie where the PATH of a user need not lead.
fn path() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/sbin:/sbin");
    path
}

fn missing() -> Vec<&'static str> {
    let path = path();
    PROGRAMS.into_iter().filter(|name| machine::on_path(name, &path).is_none()).collect()
}

fn by_hand() -> String {
    format!("apt-get update && apt-get install -y --no-install-recommends {}", PACKAGES.join(" "))
}

/// Sees to it that the programs are there.
fn provide(install: bool) -> Result<()> {
    if let Some(obstacle) = obstacle(install) {
        bail!("{obstacle}");
    }
    if missing().is_empty() {
        return Ok(());
    }
    println!("-- no {} yet: {}", missing().join(", "), by_hand());
    for words in [["update"].as_slice(), &["install", "-y", "--no-install-recommends"]] {
        let packages: &[&str] = if words[0] == "install" { &PACKAGES } else { &[] };
        // A mirror that is down is no reason to stop: the look for the programs decides.
        let _ = Command::new("apt-get")
            .args(words)
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .status()
            .context("cannot start apt-get")?;
    }
    let missing = missing();
    ensure!(
        missing.is_empty(),
        "no {} could be installed; type: {}",
        missing.join(", "),
        by_hand()
    );
    Ok(())
}

/// A program of the cluster, told where its configuration lies.
fn program(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", path()).env("SLURM_CONF", conf(dir)).stdin(Stdio::null());
    for variable in ["SQUEUE_FORMAT", "SINFO_FORMAT"] {
        command.env_remove(variable);
    }
    command
}

/// Runs it, and says what it said if it failed.
fn done(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {shown}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {}: {}", output.status, complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Says whose cluster is up.
fn owner_file() -> PathBuf {
    Path::new(RUN_FOLDER).join("of")
}

/// The folder of the cluster that is up, or was when it was cut off; none where there is none.
pub(crate) fn owner() -> Option<PathBuf> {
    Some(std::fs::read_to_string(owner_file()).ok()?.into())
}

fn conf(dir: &Path) -> PathBuf {
    dir.join("slurm.conf")
}

/// A process whose network and host name are a node's.
fn holder(dir: &Path, node: &str) -> PathBuf {
    dir.join("state").join(format!("holder.{node}.pid"))
}

#[cfg(test)]
mod tests {
    use super::{Asked, parse};

    #[test]
    fn the_words_are_understood() {
        let up = |nodes, install| Ok(Asked::Up { dir: "d".into(), nodes, install });
        assert_eq!(parse(&["up", "d"]), up(3, true));
        assert_eq!(parse(&["up", "d", "5", "--no-install"]), up(5, false));
        assert_eq!(parse(&["down", "d"]), Ok(Asked::Down { dir: "d".into() }));
        assert_eq!(parse(&["test", "--no-install"]), Ok(Asked::Test { install: false }));
        for wrong in [["up", "d", "0"], ["up", "d", "17"], ["up", "d", "x"]] {
            assert!(parse(&wrong).unwrap_err().contains("from 1 to 16"));
        }
        for wrong in [[].as_slice(), &["up"], &["down"], &["restart", "d"], &["down", "d", "3"]] {
            assert!(parse(wrong).unwrap_err().contains("up DIR"), "{wrong:?}");
        }
    }
}
