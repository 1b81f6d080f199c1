//! Starts a cluster, and waits until all of its nodes are idle.

use super::{BRIDGE, NETWORK, RUN_FOLDER, conf, done, holder, owner, owner_file, program, provide};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
        fs::remove_dir_all(RUN_FOLDER)?;
        return Err(error);
    }
    let started = start(&dir, nodes).and_then(|()| wait_until_idle(&dir, nodes));
    if let Err(error) = started {
        let stopped = super::down(&dir);
        return Err(match stopped {
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
    fs::write(dir.join("cgroup.conf"), cgroup_configuration())?;
    start_munge(dir)?;
    for words in [
        vec!["link", "add", BRIDGE, "type", "bridge"],
        vec!["addr", "add", &format!("{NETWORK}.254/24"), "dev", BRIDGE],
        vec!["link", "set", BRIDGE, "up"],
    ] {
        done(program("ip", dir).args(words))?;
    }
    done(program("slurmctld", dir).arg("-f").arg(conf(dir)))?;
    for number in 1..=nodes {
        start_node(dir, number)?;
    }
    Ok(())
}

fn start_munge(dir: &Path) -> Result<()> {
    // All of it there: munge refuses a file below a folder that others may write to.
    let run = Path::new(RUN_FOLDER);
    let key = run.join("munge.key");
    let mut bytes = [0; 1024];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o400).open(&key)?;
    file.write_all(&bytes)?;
    let option = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
    done(program("munged", dir).args([
        option("key-file", key),
        option("socket", run.join("munge.sock")),
        option("pid-file", run.join("munged.pid")),
        option("log-file", run.join("munged.log")),
        option("seed-file", run.join("munge.seed")),
    ]))
    .map(|_| ())
}

/// A process that holds the node's network and host name, then the node's slurmd in both.
fn start_node(dir: &Path, number: u32) -> Result<()> {
    let name = format!("m{number}");
    let mark = dir.join("state").join(format!("node.{name}"));
    fs::write(&mark, "")?;
    let held = Command::new("unshare")
        .args(["--net", "--uts", "tail", "-f"])
        .arg(&mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot start unshare")?;
    let pid = held.id().to_string();
    fs::write(holder(dir, &name), &pid)?;
    // Its namespaces are its own once it has become `tail`.
    let becomes = Instant::now() + PATIENCE;
    let command = PathBuf::from("/proc").join(&pid).join("cmdline");
    while !fs::read_to_string(&command).unwrap_or_default().starts_with("tail") {
        ensure!(Instant::now() < becomes, "unshare did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let inside = |words: &[&str]| {
        let mut enter = program("nsenter", dir);
        enter.args(["-t", &pid, "--net", "--uts"]).args(words);
        done(&mut enter)
    };
    let outer = format!("scruple-v{number}");
    done(
        program("ip", dir)
            .args(["link", "add", &outer, "type", "veth", "peer", "name", "eth0", "netns", &pid]),
    )?;
    done(program("ip", dir).args(["link", "set", &outer, "master", BRIDGE, "up"]))?;
    inside(&["ip", "addr", "add", &format!("{NETWORK}.{number}/24"), "dev", "eth0"])?;
    inside(&["ip", "link", "set", "eth0", "up"])?;
    inside(&["ip", "link", "set", "lo", "up"])?;
    inside(&["hostname", &name])?;
    fs::create_dir(dir.join("spool").join(&name))?;
    // Not `ip netns exec`, which mounts /sys anew and hides the cgroups.
    inside(&["slurmd", "-N", &name, "-f", &conf(dir).display().to_string()])?;
    Ok(())
}

fn wait_until_idle(dir: &Path, nodes: u32) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    let mut said = String::new();
    while Instant::now() < until {
        match done(program("sinfo", dir).args(["-h", "-o", "%T %D"])) {
            Ok(states) if states.trim() == format!("idle {nodes}") => return Ok(()),
            Ok(states) => said = states.trim().replace('\n', ", "),
            Err(error) => said = error.to_string(),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("the nodes are not idle after {} s: {said}", PATIENCE.as_secs())
}

fn configuration(dir: &Path, nodes: u32) -> Result<String> {
    let host = done(&mut Command::new("hostname"))?;
    let cpus = std::thread::available_parallelism()?;
    let memory = fs::read_to_string("/proc/meminfo")?;
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total: u64 = total
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .context("/proc/meminfo does not say how much memory there is")?;
    let each = total / 1024 * 9 / 10 / u64::from(nodes);
    let (dir, host) = (dir.display(), host.trim());
    Ok(format!(
        "{HEADING}\
         ClusterName=scruple\n\
         SlurmctldHost={host}({NETWORK}.254)\n\
         SlurmUser=root\n\
         # A job that is queued again waits until its old credential has run out: 2 minutes by itself.\n\
         AuthInfo=socket={RUN_FOLDER}/munge.sock,cred_expire=5\n\
         SlurmctldPort=17917\n\
         SlurmdPort=17918\n\
         SlurmctldPidFile={dir}/state/slurmctld.pid\n\
         SlurmdPidFile={dir}/state/slurmd.%n.pid\n\
         SlurmctldLogFile={dir}/log/slurmctld.log\n\
         SlurmdLogFile={dir}/log/slurmd.%n.log\n\
         SlurmdSpoolDir={dir}/spool/%n\n\
         StateSaveLocation={dir}/state\n\
         ReturnToService=2\n\
         # A dead node is noticed within seconds.\n\
         SlurmdTimeout=6\n\
         MessageTimeout=5\n\
         KillWait=2\n\
         ProctrackType=proctrack/cgroup\n\
         TaskPlugin=task/affinity,task/cgroup\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core_Memory\n\
         SlurmdParameters=config_overrides\n\
         SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0\n\
         JobAcctGatherFrequency=0\n\
         MinJobAge=86400\n\
         MpiDefault=none\n\
         NodeName=m[1-{nodes}] NodeAddr={NETWORK}.[1-{nodes}] Sockets=1 CoresPerSocket={cpus} \
         ThreadsPerCore=1 RealMemory={each} State=UNKNOWN\n\
         PartitionName=bench Nodes=m[1-{nodes}] Default=YES MaxTime=08:00:00 State=UP \
         OverSubscribe=EXCLUSIVE\n"
    ))
}

fn cgroup_configuration() -> String {
    let second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let plugin = if second { "cgroup/v2" } else { "cgroup/v1" };
    format!(
        "CgroupPlugin={plugin}\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\n\
         ConstrainCores=yes\n"
    )
}
