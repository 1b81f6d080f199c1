//! Starts a cluster, and waits until all of its nodes are idle.

use super::down::until;
use super::{BRIDGE, NETWORK, RUN_FOLDER, conf, holder, owner, owner_file, program, provide};
use crate::shell::{Run, command, remove};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// How long the nodes may take to be idle.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first line of the configuration: by it a folder is known as one that may be removed.
pub(super) const HEADING: &str = "# A cluster of virtual nodes for the tests of scruple.\n";

/// Starts a cluster of N nodes in a new folder.
///
/// # Errors
/// If the rights or programs are missing, one is up already, or the nodes do not become idle; what was
/// started is stopped then.
pub(crate) fn up(dir: &Path, nodes: u32, install: bool) -> Result<()> {
    provide(install)?;
    let dir = std::path::absolute(dir).context("cannot make sense of the folder's path")?;
    take(&dir)?;
    if let Err(error) = make_folders(&dir) {
        // Nothing is started yet, and the folder may be somebody's.
        remove(Path::new(RUN_FOLDER))?;
        return Err(error);
    }
    let started = start(&dir, nodes).and_then(|()| wait_until_idle(&dir, nodes));
    if let Err(error) = started {
        return Err(match super::down(&dir) {
            Ok(()) => error,
            Err(more) => error.context(format!("and it could not be taken down: {more:#}")),
        });
    }
    println!("up: {nodes} nodes; export SLURM_CONF={}", conf(&dir).display());
    Ok(())
}

/// Takes what there is one of on a machine: a folder is made by one process alone.
fn take(dir: &Path) -> Result<()> {
    // Not by the umask: munge refuses what others may write to.
    match DirBuilder::new().mode(0o755).create(RUN_FOLDER) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match owner() {
            Some(other) => {
                let other = other.display();
                bail!("a cluster is up already, of {other}: cargo xtask slurm down {other}")
            }
            None => bail!("{RUN_FOLDER} is there, and says of no cluster: remove it"),
        },
        made => made.with_context(|| format!("cannot make {RUN_FOLDER}"))?,
    }
    fs::write(owner_file(), dir.display().to_string()).context("cannot say whose cluster it is")
}

fn make_folders(dir: &Path) -> Result<()> {
    if dir.exists() {
        let empty =
            fs::read_dir(dir).with_context(|| format!("{}", dir.display()))?.next().is_none();
        ensure!(empty, "{} is not empty: a cluster needs a new folder", dir.display());
    }
    for folder in ["state", "log", "spool"].map(|name| dir.join(name)) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Ok(())
}

fn start(dir: &Path, nodes: u32) -> Result<()> {
    // First what a folder is known by when it is taken down.
    fs::write(conf(dir), configuration(dir, nodes)?)?;
    let second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let cgroups = include_str!("cgroup.conf");
    fs::write(
        dir.join("cgroup.conf"),
        cgroups.replace("{version}", if second { "v2" } else { "v1" }),
    )?;
    start_munge(dir)?;
    for line in [
        format!("ip link add {BRIDGE} type bridge"),
        format!("ip addr add {NETWORK}.254/24 dev {BRIDGE}"),
        format!("ip link set {BRIDGE} up"),
    ] {
        program(&line, dir).read()?;
    }
    program("slurmctld -f", dir).arg(conf(dir)).read()?;
    (1..=nodes).try_for_each(|number| start_node(dir, number))
}

fn start_munge(dir: &Path) -> Result<()> {
    // All of it there: munge refuses a file below a folder that others may write to.
    let key = Path::new(RUN_FOLDER).join("munge.key");
    let mut bytes = [0; 1024];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o400).open(&key)?;
    file.write_all(&bytes)?;
    let run = RUN_FOLDER;
    let line = format!(
        "munged --key-file={run}/munge.key --socket={run}/munge.sock --pid-file={run}/munged.pid \
         --log-file={run}/munged.log --seed-file={run}/munge.seed"
    );
    program(&line, dir).read()?;
    Ok(())
}

/// A process that holds the node's network and host name, then the node's slurmd in both.
fn start_node(dir: &Path, number: u32) -> Result<()> {
    let name = format!("m{number}");
    let mark = dir.join("state").join(format!("node.{name}"));
    fs::write(&mark, "")?;
    let held = command("unshare --net --uts tail -f")
        .arg(&mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot start unshare")?;
    let pid = held.id();
    fs::write(holder(dir, &name), pid.to_string())?;
    // Its namespaces are its own once it has become `tail`.
    let path = format!("/proc/{pid}/cmdline");
    let begun = || fs::read_to_string(&path).unwrap_or_default().starts_with("tail");
    ensure!(until(PATIENCE, begun), "unshare did not begin");
    let outer = format!("scruple-v{number}");
    for line in [
        format!("ip link add {outer} type veth peer name eth0 netns {pid}"),
        format!("ip link set {outer} master {BRIDGE} up"),
    ] {
        program(&line, dir).read()?;
    }
    fs::create_dir(dir.join("spool").join(&name))?;
    let inside = |line: &str| program(&format!("nsenter -t {pid} --net --uts {line}"), dir);
    for line in [
        &format!("ip addr add {NETWORK}.{number}/24 dev eth0"),
        "ip link set eth0 up",
        "ip link set lo up",
        &format!("hostname {name}"),
    ] {
        inside(line).read()?;
    }
    // Not `ip netns exec`, which mounts /sys anew and hides the cgroups.
    inside(&format!("slurmd -N {name} -f")).arg(conf(dir)).read()?;
    Ok(())
}

fn wait_until_idle(dir: &Path, nodes: u32) -> Result<()> {
    let mut said = String::new();
    let idle = || {
        said = match program("sinfo -h -o", dir).arg("%T %D").read() {
            Ok(states) => states.trim().replace('\n', ", "),
            Err(error) => error.to_string(),
        };
        said == format!("idle {nodes}")
    };
    let idle = until(PATIENCE, idle);
    ensure!(idle, "the nodes are not idle after {} s: {said}", PATIENCE.as_secs());
    Ok(())
}

fn configuration(dir: &Path, nodes: u32) -> Result<String> {
    let memory = fs::read_to_string("/proc/meminfo")?;
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total: u64 = total
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .context("/proc/meminfo does not say how much memory there is")?;
    let values = [
        ("{host}", command("hostname").read()?.trim().to_string()),
        ("{network}", NETWORK.to_string()),
        ("{run}", RUN_FOLDER.to_string()),
        ("{dir}", dir.display().to_string()),
        ("{nodes}", nodes.to_string()),
        ("{cpus}", std::thread::available_parallelism()?.to_string()),
        ("{memory}", (total / 1024 * 9 / 10 / u64::from(nodes)).to_string()),
    ];
    let text = format!("{HEADING}{}", include_str!("slurm.conf"));
    Ok(values.iter().fold(text, |text, (name, value)| text.replace(name, value)))
}
