//! A cluster of virtual nodes on this one machine, for the tests of the fleet: Slurm as Debian has it,
//! with a host name, a network address and a network of its own for each node.
//!
//! The nodes share CPUs and memory: they show that the machinery works, and give no figures.

mod down;
mod up;

use crate::machine;
use crate::shell::{Run, command, find_in, on_path};
use anyhow::{Context, Result, bail, ensure};
use clap::{Subcommand, value_parser};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use down::down;
pub(crate) use up::up;

/// The nodes of the cluster for the tests.
pub(crate) const NODES: u32 = 3;

/// The most nodes: each is a slurmd.
const NODES_MAX: u32 = 16;

/// Where munge's socket lies. munge wants no folder above it that others may write to.
const RUN_FOLDER: &str = "/run/scruple-slurm";

/// What joins the nodes' networks.
const BRIDGE: &str = "scruple-slurm";

/// The first three parts of every address; the controller is 254, nodes count from 1.
const NETWORK: &str = "10.77.0";

/// What `cargo xtask slurm` is to do.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Asked {
    /// Start a cluster of virtual nodes on this machine
    Up {
        /// Keep its files in DIR
        dir: PathBuf,
        /// Start N nodes, 16 at most
        #[arg(value_name = "N", default_value_t = NODES, value_parser = value_parser!(u32).range(1..=i64::from(NODES_MAX)))]
        nodes: u32,
    },
    /// Stop the cluster and remove its files
    Down {
        /// The folder that was given to `up`
        dir: PathBuf,
    },
    /// Run the tests of the fleet on such a cluster
    Test,
}

pub(crate) fn slurm(root: &Path, asked: &Asked, install: bool) -> Result<()> {
    match asked {
        Asked::Up { dir, nodes } => up(dir, *nodes, install),
        Asked::Down { dir } => down(dir),
        Asked::Test => crate::steps::fleet(root, install),
    }
}

/// What a cluster is made of.
const PROGRAMS: [&str; 9] =
    ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "ip", "nsenter", "unshare", "hostname"];

/// Their packages, as Debian has them.
const PACKAGES: [&str; 5] =
    ["slurm-wlm", "slurm-wlm-basic-plugins", "munge", "iproute2", "util-linux"];

/// Returns why no cluster can be had here, as far as that is known before its programs are installed.
pub(crate) fn obstacle(install: bool) -> Option<String> {
    forbidden().or_else(|| {
        let missing = missing().join(", ");
        let is_lacking = !install && !missing.is_empty();
        let by_hand = by_hand();
        is_lacking.then(|| {
            format!("there is no {missing}, and nothing is to be installed; type: {by_hand}")
        })
    })
}

/// Returns why this machine can have no cluster, whatever is installed.
pub(crate) fn forbidden() -> Option<String> {
    if !machine::is_root() {
        return Some("only root can make network namespaces and cgroups".into());
    }
    let missing = missing();
    // A container's root is root, and may make neither.
    if !missing.contains(&"unshare") {
        let bridge = format!("ip link add name {BRIDGE} type bridge");
        let bridge = if missing.contains(&"ip") { "true" } else { &bridge };
        if !command(&format!("unshare --net {bridge}")).env("PATH", path()).works() {
            return Some("this root may not make a network, as in a container".into());
        }
    }
    let is_lacking = !missing.is_empty() && on_path("apt-get").is_none();
    is_lacking.then(|| {
        format!("there is no {}, and only Debian's packages are known", missing.join(", "))
    })
}

/// Daemons of the system lie where the PATH of a user need not lead.
fn path() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/sbin:/sbin");
    path
}

fn missing() -> Vec<&'static str> {
    let path = path();
    PROGRAMS.into_iter().filter(|name| find_in(&path, name).is_none()).collect()
}

fn by_hand() -> String {
    format!("apt-get update && apt-get install -y --no-install-recommends {}", PACKAGES.join(" "))
}

/// Sees to it that the programs are there.
pub(crate) fn provide(install: bool) -> Result<()> {
    if let Some(obstacle) = obstacle(install) {
        bail!("{obstacle}");
    }
    if missing().is_empty() {
        return Ok(());
    }
    println!("-- no {} yet: {}", missing().join(", "), by_hand());
    for line in by_hand().split(" && ") {
        // A mirror that is down is no reason to stop: the look for the programs decides.
        let _ = command(line)
            .env("DEBIAN_FRONTEND", "noninteractive")
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

/// Returns a command that reads the configuration of the cluster in `dir`.
fn program(line: &str, dir: &Path) -> Command {
    let mut command = command(line);
    command.env("PATH", path()).env("SLURM_CONF", conf(dir));
    for variable in ["SQUEUE_FORMAT", "SINFO_FORMAT"] {
        command.env_remove(variable);
    }
    command
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
