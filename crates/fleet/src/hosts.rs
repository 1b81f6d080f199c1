//! GNU parallel over ssh, for those who have machines and no scheduler.
//!
//! One process of `parallel` starts the same command on all hosts at once and writes down, host by host,
//! how it ended. It is left running when scruple ends.

use crate::command::{answer, program};
use crate::engine::{Engine, Seen, words};
use crate::folder::LOG_FOLDER;
use crate::{Error, Folder};
use model::Fleet;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// No question is asked, and a host that does not answer is given up.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=15";

/// What ssh ends with where it could not reach the host.
const UNREACHED: &str = "255";

/// How long parallel may take to end what it has started.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Hosts reached by ssh.
pub(crate) struct Hosts;

impl Engine for Hosts {
    fn submit(&self, folder: &mut Folder, places: &[usize]) -> Result<(), Error> {
        let version = answer(program("parallel").arg("--version"))?;
        if !version.starts_with("GNU parallel") {
            let why = "it is another program of that name: --hosts needs GNU parallel";
            return Err(Error::of("parallel", why));
        }
        let job = next_job(&folder.fleet);
        // Before it is started: who forgets a process cannot end it.
        folder.accept(places, &job)?;
        start(folder, &job, places)
    }

    fn list(&self, folder: &Folder) -> Result<Vec<Seen>, Error> {
        let all = folder.fleet.nodes.iter().flat_map(|node| {
            node.attempts.iter().map(|attempt| seen(folder.path(), &attempt.job, &node.name))
        });
        Ok(all.collect())
    }

    fn cancel(&self, folder: &Folder, jobs: &[String]) -> Result<(), Error> {
        for job in jobs {
            let Some(witness) = Witness::read(folder.path(), job) else { continue };
            if !witness.is_alive().0 {
                continue;
            }
            if Some(&witness.host) != sys::machine::hostname().as_ref() {
                let why = format!("it runs on {}: cancel it there", witness.host);
                return Err(Error::of("parallel", why));
            }
            witness.end();
        }
        Ok(())
    }
}

/// Returns what the next job of a fleet is called: `h1`, `h2`…
fn next_job(fleet: &Fleet) -> String {
    let jobs = fleet.nodes.iter().flat_map(|node| &node.attempts).map(|it| &it.job);
    let numbers = jobs.filter_map(|job| job.strip_prefix('h')?.parse::<u32>().ok());
    format!("h{}", numbers.max().unwrap_or_default().saturating_add(1))
}

fn parallel(folder: &Folder, job: &str, places: &[usize]) -> Command {
    let fleet = &folder.fleet;
    let hosts: Vec<&str> = places.iter().map(|at| fleet.nodes[*at].name.as_str()).collect();
    let mut parallel = program("parallel");
    // Nothing of the user's configuration, no ask for a citation on the terminal.
    parallel.args(["--plain", "--nonall", "--tag", "--line-buffer", "--ssh", SSH]);
    parallel.args(["-j", &hosts.len().to_string()]);
    parallel.args(["--sshlogin", &hosts.join(",")]);
    parallel.arg("--joblog").arg(file(folder.path(), job, "joblog"));
    parallel.args(["--timeout", &fleet.request.time_limit_s.to_string()]);
    parallel.args(words(fleet, ["--host", job]));
    parallel
}

/// Starts it in a group of its own: Ctrl-C at the terminal is not for it.
fn start(folder: &Folder, job: &str, places: &[usize]) -> Result<(), Error> {
    let log = file(folder.path(), job, "txt");
    let out = File::create(&log).map_err(Error::io("create", &log))?;
    let both = out.try_clone().map_err(Error::io("open", &log))?;
    let mut parallel = parallel(folder, job, places);
    parallel.stdout(Stdio::from(out)).stderr(Stdio::from(both)).process_group(0);
    let child = parallel.spawn().map_err(|error| Error::of("parallel", error))?;
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let path = file(folder.path(), job, "pid");
    let witness = serde_json::to_vec(&Witness::of(pid)).unwrap_or_default();
    std::fs::write(&path, witness).map_err(Error::io("write", &path))
}

/// Returns what became of a host in a job.
fn seen(dir: &Path, job: &str, host: &str) -> Seen {
    let log = std::fs::read_to_string(file(dir, job, "joblog")).unwrap_or_default();
    let (state, reason) = ended(&log, host).unwrap_or_else(|| match Witness::read(dir, job) {
        Some(witness) => match witness.is_alive() {
            (true, why) => ("RUNNING", why),
            (false, why) => ("NODE_FAIL", why),
        },
        None => ("NODE_FAIL", "it is not written down which process it is".into()),
    });
    Seen { job: job.into(), state: state.into(), node: host.into(), reason }
}

fn file(dir: &Path, job: &str, ending: &str) -> PathBuf {
    dir.join(LOG_FOLDER).join(format!("{job}.{ending}"))
}

/// Returns how a host ended, as the log of parallel has it: `Seq Host Starttime JobRuntime Send Receive
/// Exitval Signal Command`, with tabs.
fn ended(log: &str, host: &str) -> Option<(&'static str, String)> {
    // The heading has words where the others have numbers.
    let numbered = |line: &str| line.starts_with(|c: char| c.is_ascii_digit());
    let of = |line: &&str| numbered(line) && line.split('\t').nth(1) == Some(host);
    let line = log.lines().rfind(of)?;
    let mut fields = line.split('\t').skip(6);
    let (exit, signal) = (fields.next()?.trim(), fields.next()?.trim());
    Some(match (exit, signal) {
        ("0", "0") => ("COMPLETED", String::new()),
        (UNREACHED, _) => ("NODE_FAIL", "ssh could not reach it, or lost it".into()),
        ("-1", _) => ("TIMEOUT", "it took longer than its time limit".into()),
        (exit, "0") => ("FAILED", format!("exit code {exit}")),
        (_, signal) => ("FAILED", format!("signal {signal}")),
    })
}

/// Who a process is, beyond its number, which is given again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Witness {
    pid: i32,
    start_ticks: u64,
    boot: String,
    host: String,
}

impl Witness {
    fn of(pid: i32) -> Option<Self> {
        let start_ticks = sys::proc::stat(pid)?.start_ticks;
        let (boot, host) = (sys::machine::boot_hash()?, sys::machine::hostname()?);
        Some(Witness { pid, start_ticks, boot, host })
    }

    fn read(dir: &Path, job: &str) -> Option<Self> {
        Witness::parse(&std::fs::read_to_string(file(dir, job, "pid")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // 0 and 1 are groups that are not ours.
        serde_json::from_str(text).ok().filter(|witness: &Witness| witness.pid > 1)
    }

    /// Ends it, and through it what it has started elsewhere: there is one process of parallel for each
    /// host beside the first. Asked once each starts nothing more, asked twice each ends its job, through
    /// the process that watches it on its host.
    fn end(&self) {
        // Each is in a group of its own, and has another parent once the first has ended.
        let mut all = sys::process::descendants(self.pid, &[]);
        all.push(self.pid);
        let is_parallel =
            |pid| sys::proc::stat(pid).is_some_and(|it| it.name == "parallel" && it.is_alive());
        let own = || all.iter().copied().filter(|pid| is_parallel(*pid)).collect::<Vec<i32>>();
        for patience in [ENDS_WITHIN / 10, ENDS_WITHIN] {
            for pid in own() {
                // One that has ended meanwhile is no error.
                let _ = sys::process::kill(pid, sys::signal::SIGTERM);
            }
            let end = Instant::now() + patience;
            while !own().is_empty() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        for pid in own() {
            let _ = sys::process::kill(pid, sys::signal::SIGKILL);
        }
    }

    /// Reports whether it runs, and why that is or is not believed.
    fn is_alive(&self) -> (bool, String) {
        if sys::machine::hostname().as_ref() != Some(&self.host) {
            return (true, format!("started from {}, and only that machine knows more", self.host));
        }
        // One that has ended is still in the list while its parent has not asked for it.
        let alive = sys::proc::stat(self.pid)
            .is_some_and(|it| it.start_ticks == self.start_ticks && it.is_alive())
            && sys::machine::boot_hash().as_ref() == Some(&self.boot);
        match alive {
            true => (true, String::new()),
            false => (false, "parallel ended before it had an answer".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n\
        1\ta\t1.0\t2.0\t0\t9\t0\t0\tx\n2\tb\t1.0\t2.0\t0\t9\t255\t0\tx\n\
        3\tc\t1.0\t2.0\t0\t9\t3\t0\tx\n4\td\t1.0\t2.0\t0\t9\t0\t9\tx\n5\te\t1.0\n";

    #[test]
    fn the_log_says_how_each_host_ended() {
        let state = |host| ended(LOG, host).map(|(state, _)| state);
        assert_eq!(state("a"), Some("COMPLETED"));
        assert_eq!(state("b"), Some("NODE_FAIL"));
        assert_eq!(ended(LOG, "c"), Some(("FAILED", "exit code 3".into())));
        assert_eq!(ended(LOG, "d"), Some(("FAILED", "signal 9".into())));
        // A line that is being written says nothing yet.
        assert_eq!((state("e"), state("Host"), ended("", "a")), (None, None, None));
    }

    #[test]
    fn a_process_is_known_by_more_than_its_number() {
        let own = Witness::of(sys::process::pid()).unwrap();
        assert_eq!(Witness::parse(&serde_json::to_string(&own).unwrap()), Some(own));
        let own = Witness::of(sys::process::pid()).unwrap();
        assert!(own.is_alive().0);
        let other = Witness { start_ticks: own.start_ticks + 1, ..own };
        assert!(!other.is_alive().0);
        let elsewhere = Witness { host: "elsewhere".into(), ..other };
        assert!(elsewhere.is_alive().1.contains("started from elsewhere"));
        let text = |pid: &str| {
            format!("{{\"pid\": {pid}, \"start_ticks\": 1, \"boot\": \"b\", \"host\": \"h\"}}")
        };
        assert!(Witness::parse(&text("7")).is_some());
        for pid in ["x", "1", "0", "-5"] {
            assert_eq!(Witness::parse(&text(pid)), None, "{pid}");
        }
        for text in ["", "null", "{\"pid\": 7, \"start_ticks\": 1, \"boot\": \"b\"}"] {
            assert_eq!(Witness::parse(text), None, "{text}");
        }
    }
}
