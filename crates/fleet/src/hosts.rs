//! GNU parallel over ssh, for those who have machines and no scheduler.
//!
//! One process of `parallel` starts the same command on all hosts at once and writes down, host by host,
//! how it ended. It is left running when scruple ends.

use crate::command::{answer, program};
use crate::folder::{Folder, LOG_FOLDER};
use crate::{Engine, Error, Order, Seen};
use model::Fleet;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What tells a process on a host under which name it was reached.
pub const HOST_VARIABLE: &str = "PARALLEL_SSHLOGIN";

/// No question is asked, and a host that does not answer is given up.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=15";

/// What ssh ends with where it could not reach the host.
const UNREACHED: &str = "255";

/// How long parallel may take to end what it has started.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Hosts reached by ssh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hosts;

/// Who a process is, beyond its number, which is given again.
#[derive(Debug, PartialEq, Eq)]
struct Witness {
    pid: i32,
    start_ticks: u64,
    boot: String,
    host: String,
}

impl Hosts {
    /// What the next job of a fleet is called: `h1`, `h2`…
    pub fn next_job(fleet: &Fleet) -> String {
        let number =
            |job: &String| job.strip_prefix('h').and_then(|digits| digits.parse::<u32>().ok());
        let last = jobs(fleet).iter().filter_map(number).max().unwrap_or_default();
        format!("h{}", last.saturating_add(1))
    }

    fn parallel(fleet: &Fleet, job: &str, orders: &[Order]) -> Command {
        let hosts: Vec<&str> = orders.iter().map(|order| order.node.as_str()).collect();
        let mut parallel = program("parallel");
        // Nothing of the user's configuration, no ask for a citation on the terminal.
        parallel.args(["--plain", "--nonall", "--tag", "--line-buffer", "--ssh", SSH]);
        parallel.args(["-j", &hosts.len().to_string()]);
        parallel.arg("--sshlogin").arg(hosts.join(","));
        parallel.arg("--joblog").arg(file(fleet, job, "joblog"));
        parallel.arg("--timeout").arg(fleet.request.time_limit_s.to_string());
        parallel.args(orders.iter().take(1).flat_map(|order| &order.words));
        parallel
    }

    /// Starts it in a group of its own: Ctrl-C at the terminal is not for it.
    fn start(fleet: &Fleet, job: &str, orders: &[Order]) -> Result<(), Error> {
        let log = file(fleet, job, "txt");
        let out = File::create(&log).map_err(Error::io("create", &log))?;
        let both = out.try_clone().map_err(Error::io("open", &log))?;
        let mut parallel = Self::parallel(fleet, job, orders);
        parallel.stdout(Stdio::from(out)).stderr(Stdio::from(both)).process_group(0);
        let child = parallel.spawn().map_err(|error| Error::Engine {
            program: "parallel".into(),
            why: match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such program on the PATH: --hosts \
                                                 needs GNU parallel"
                    .into(),
                _ => error.to_string(),
            },
        })?;
        let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
        let witness = Witness::of(pid).map_or_else(String::new, |it| it.text());
        let path = file(fleet, job, "pid");
        std::fs::write(&path, witness).map_err(Error::io("write", &path))
    }

    /// What became of each host of a job.
    fn seen(fleet: &Fleet, job: &str, hosts: &[&str]) -> Vec<Seen> {
        let log = std::fs::read_to_string(file(fleet, job, "joblog")).unwrap_or_default();
        let witness = std::fs::read_to_string(file(fleet, job, "pid")).unwrap_or_default();
        let (alive, why) = match Witness::read(&witness) {
            Some(witness) => witness.is_alive(),
            None => (false, "it is not written down which process it is".into()),
        };
        let of = |host: &&str| {
            let (state, reason) = match ended(&log, host) {
                Some(ended) => ended,
                None if alive => ("RUNNING", why.clone()),
                None => ("NODE_FAIL", why.clone()),
            };
            Seen { job: job.into(), state: state.into(), node: host.to_string(), reason }
        };
        hosts.iter().map(of).collect()
    }
}

impl Engine for Hosts {
    fn submit(
        &self,
        fleet: &Fleet,
        orders: &[Order],
        accepted: &mut dyn FnMut(usize, String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if orders.is_empty() {
            return Ok(());
        }
        let version = answer(program("parallel").arg("--version"))?;
        if !version.starts_with("GNU parallel") {
            let why = "it is another program of that name: --hosts needs GNU parallel".into();
            return Err(Error::Engine { program: "parallel".into(), why });
        }
        let job = Self::next_job(fleet);
        // Before it is started: who forgets a process cannot end it.
        for place in 0..orders.len() {
            accepted(place, job.clone())?;
        }
        Self::start(fleet, &job, orders)
    }

    fn list(&self, fleet: &Fleet) -> Result<Vec<Seen>, Error> {
        let mut all = Vec::new();
        for job in jobs(fleet) {
            let of = |node: &&model::FleetNode| node.attempts.iter().any(|it| it.job == job);
            let hosts: Vec<&str> =
                fleet.nodes.iter().filter(of).map(|node| node.name.as_str()).collect();
            all.extend(Self::seen(fleet, &job, &hosts));
        }
        Ok(all)
    }

    fn cancel(&self, fleet: &Fleet, jobs: &[String]) -> Result<(), Error> {
        for job in jobs {
            let witness = std::fs::read_to_string(file(fleet, job, "pid")).unwrap_or_default();
            let Some(witness) = Witness::read(&witness) else { continue };
            if !witness.is_alive().0 {
                continue;
            }
            if Some(&witness.host) != sys::machine::hostname().as_ref() {
                let why = format!("it runs on {}: cancel it there", witness.host);
                return Err(Error::Engine { program: "parallel".into(), why });
            }
            witness.end();
        }
        Ok(())
    }
}

/// Whether a process that runs is parallel itself, and not what it has started.
fn is_parallel(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    sys::proc::parse_stat(&stat).is_some_and(|it| it.name == "parallel" && it.state != 'Z')
}

/// The jobs of a fleet in their order, each once.
fn jobs(fleet: &Fleet) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for attempt in fleet.nodes.iter().flat_map(|node| &node.attempts) {
        if !all.contains(&attempt.job) {
            all.push(attempt.job.clone());
        }
    }
    all
}

fn file(fleet: &Fleet, job: &str, ending: &str) -> PathBuf {
    Path::new(&fleet.folder).join(LOG_FOLDER).join(format!("{job}.{ending}"))
}

/// How a host ended, as the log of parallel has it: `Seq Host Starttime JobRuntime Send Receive Exitval
/// Signal Command`, with tabs.
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

impl Witness {
    fn of(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let start_ticks = sys::proc::parse_stat(&stat)?.start_ticks;
        let (boot, host) = (sys::machine::boot_id()?, sys::machine::hostname()?);
        Some(Witness { pid, start_ticks, boot, host })
    }

    fn text(&self) -> String {
        format!("{} {} {} {}\n", self.pid, self.start_ticks, self.boot, self.host)
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (pid, start_ticks) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let (boot, host) = (words.next()?.to_string(), words.next()?.to_string());
        // 0 and 1 are groups that are not ours.
        (pid > 1).then_some(Witness { pid, start_ticks, boot, host })
    }

    /// Ends it, and through it what it has started elsewhere: there is one process of parallel for each
    /// host beside the first. Asked once each starts nothing more, asked twice each ends its job, through
    /// the process that watches it on its host.
    fn end(&self) {
        // Each is in a group of its own, and has another parent once the first has ended.
        let mut all = sys::process::descendants(self.pid, &[]);
        all.push(self.pid);
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

    /// Whether it runs, and why that is or is not believed.
    fn is_alive(&self) -> (bool, String) {
        if sys::machine::hostname().as_ref() != Some(&self.host) {
            return (true, format!("started from {}, and only that machine knows more", self.host));
        }
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid));
        let stat = stat.ok().and_then(|stat| sys::proc::parse_stat(&stat));
        // One that has ended is still in the list while its parent has not asked for it.
        let alive = stat.is_some_and(|it| it.start_ticks == self.start_ticks && it.state != 'Z')
            && sys::machine::boot_id().as_ref() == Some(&self.boot);
        match alive {
            true => (true, String::new()),
            false => (false, "parallel ended before it had an answer".into()),
        }
    }
}

impl Folder {
    /// The last line that a host said in a job of [`Hosts`], if it said anything.
    pub fn last_words_of_host(&self, host: &str, job: &str) -> Option<String> {
        let text = self.end_of_log(&format!("{job}.txt"))?;
        let line = text.lines().rfind(|line| line.split('\t').next() == Some(host))?;
        Some(line.split_once('\t')?.1.trim().to_string())
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
        assert_eq!(Witness::read(&own.text()), Some(own));
        let own = Witness::of(sys::process::pid()).unwrap();
        assert!(own.is_alive().0);
        let other = Witness { start_ticks: own.start_ticks + 1, ..own };
        assert!(!other.is_alive().0);
        let elsewhere = Witness { host: "elsewhere".into(), ..other };
        assert!(elsewhere.is_alive().1.contains("started from elsewhere"));
        for text in ["", "x 1 b h", "1 1 b h", "0 1 b h", "-5 1 b h", "7 1 b"] {
            assert_eq!(Witness::read(text), None, "{text}");
        }
    }
}
