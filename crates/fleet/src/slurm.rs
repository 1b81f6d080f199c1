//! Slurm, by its command line: text with a format that is asked for, since its JSON changes between
//! versions and its accounting may not be there.

use crate::command::{answer, program};
use crate::folder::{LOG_FOLDER, SCRIPT_FILE};
use crate::{Error, Folder, names};
use model::{Fleet, FleetRequest};
use std::process::Command;

/// What Slurm says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its number.
    pub(crate) job: String,
    /// Its state: `PENDING`, `RUNNING`, `NODE_FAIL`…
    pub(crate) state: String,
    /// Where it is; empty while it is nowhere.
    pub(crate) node: String,
    /// Why it is in that state; may be empty.
    pub(crate) reason: String,
}

/// The states in which a node takes no job. What else a node may be (idle, allocated, asleep to save
/// power…), it comes back from.
const UNUSABLE: [&str; 10] =
    ["down", "drain", "drng", "fail", "error", "unk", "future", "inval", "maint", "no_respond"];

/// Returns the nodes that could be used, those with nothing to do first.
///
/// # Errors
/// What `sinfo` said.
pub fn usable(request: &FleetRequest) -> Result<Vec<String>, Error> {
    let mut sinfo = program("sinfo");
    sinfo.args(["-h", "-N", "-o", "%N|%T|%f"]);
    if let Some(partition) = &request.partition {
        sinfo.args(["-p", partition]);
    }
    usable_of(&answer(&mut sinfo)?, request.constraint.as_deref())
}

/// A job owns its node (`--exclusive`, all memory) and holds the whole session in its batch step: a
/// process that `srun` starts gets one CPU by default, and a job per trial would cost more than the
/// trial.
fn sbatch(fleet: &Fleet, node: &str) -> Command {
    let folder = &fleet.folder;
    let mut sbatch = program("sbatch");
    sbatch.args(["--parsable", "--exclusive", "--nodes=1", "--mem=0"]);
    // The log of the first attempt is what says why there is a second.
    sbatch.args(["--open-mode=append", "--requeue"]);
    // A user's shell must not change what is measured.
    sbatch.arg("--export=NIL");
    sbatch.arg(format!("--job-name={}", job_name(fleet)));
    sbatch.arg(format!("--nodelist={node}"));
    sbatch.arg(format!("--output={folder}/{LOG_FOLDER}/{node}.%j.txt"));
    sbatch.arg(format!("--chdir={folder}"));
    sbatch.arg(format!("--time={}", fleet.request.time_limit_s.div_ceil(60)));
    for (option, value, _) in names::options(&fleet.request) {
        sbatch.args(value.iter().map(|value| format!("--{option}={value}")));
    }
    sbatch.arg(format!("{folder}/{SCRIPT_FILE}"));
    sbatch.args([&*fleet.binary, "fleet", "node", &*fleet.folder, "--node", node]);
    sbatch
}

/// By this name jobs are found that were submitted but not written down.
fn job_name(fleet: &Fleet) -> String {
    format!("scruple-{}", fleet.fleet)
}

/// Submits a job for each node at these places of the fleet, and writes down each as soon as Slurm has it: none is
/// forgotten if a later one is refused.
///
/// # Errors
/// What `sbatch` said, or that the folder cannot be written.
pub(crate) fn submit(folder: &mut Folder, places: &[usize]) -> Result<(), Error> {
    for place in places {
        let node = &folder.fleet.nodes[*place].name;
        let job = job_of(&answer(&mut sbatch(&folder.fleet, node))?)?;
        folder.accept(*place, job)?;
    }
    Ok(())
}

/// Returns what is known of the fleet's jobs. A job that is not in the list is known no more.
///
/// # Errors
/// What `squeue` said.
pub(crate) fn list(fleet: &Fleet) -> Result<Vec<Seen>, Error> {
    let mut squeue = program("squeue");
    squeue.args(["-h", "-t", "all", "-o", "%i|%T|%N|%r", "-n", &job_name(fleet)]);
    Ok(answer(&mut squeue)?.lines().filter_map(seen).collect())
}

/// Ends jobs, whatever they do; those that have ended already are left alone.
///
/// # Errors
/// What `scancel` said.
pub(crate) fn cancel(jobs: &[String]) -> Result<(), Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    answer(program("scancel").arg("--quiet").args(jobs)).map(|_| ())
}

/// The job of `sbatch --parsable`: "12", or "12;cluster".
fn job_of(said: &str) -> Result<String, Error> {
    let job = said.trim().split(';').next().unwrap_or_default();
    let is_number = !job.is_empty() && job.len() <= 20 && job.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        let short: String = said.trim().chars().take(80).collect();
        let why = format!("expected the number of a job, and it said {short:?}");
        return Err(Error::of("sbatch", why));
    }
    Ok(job.to_string())
}

/// A line of `squeue -o '%i|%T|%N|%r'`; none for what is not of that form.
fn seen(line: &str) -> Option<Seen> {
    let mut fields = line.splitn(4, '|');
    let mut next = || Some(fields.next()?.trim().to_string());
    let (job, state, node, reason) = (next()?, next()?, next()?, next()?);
    let reason = if reason == "None" { String::new() } else { reason };
    (!job.is_empty() && !state.is_empty()).then_some(Seen { job, state, node, reason })
}

/// Returns the nodes of `sinfo -N -o '%N|%T|%f'`, each once (a node may be in several partitions), those
/// with nothing to do first.
fn usable_of(said: &str, constraint: Option<&str>) -> Result<Vec<String>, Error> {
    let (mut idle, mut others) = (Vec::new(), Vec::new());
    for line in said.lines() {
        let fields: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
        let [name, state, features] = fields[..] else { continue };
        names::node("a node of sinfo", name)?;
        let taken = UNUSABLE.iter().any(|word| state.starts_with(word));
        // A `*` says that the node does not answer.
        let answers = !state.ends_with('*');
        let fits = constraint.is_none_or(|wanted| has(features, wanted));
        let name = name.to_string();
        if !taken && answers && fits && !idle.contains(&name) && !others.contains(&name) {
            if state.starts_with("idle") { &mut idle } else { &mut others }.push(name);
        }
    }
    idle.append(&mut others);
    Ok(idle)
}

/// Whether a node's features (`a,b`; `(null)` for none) are what is wanted (`a&b`, `a|b`).
fn has(features: &str, wanted: &str) -> bool {
    let features: Vec<&str> = features.split(',').collect();
    match wanted.contains('|') {
        true => wanted.split('|').any(|one| features.contains(&one)),
        false => wanted.split('&').all(|one| features.contains(&one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read_by_their_fields() {
        let all: Vec<Seen> = [
            "7|RUNNING|m2|None",
            "8|PENDING||ReqNodeNotAvail, UnavailableNodes:m[2-3]",
            "9|NODE_FAIL|m1|a|b",
        ]
        .iter()
        .filter_map(|line| seen(line))
        .collect();
        assert_eq!(
            all[0],
            Seen {
                job: "7".into(),
                state: "RUNNING".into(),
                node: "m2".into(),
                reason: String::new()
            }
        );
        assert_eq!(all[1].reason, "ReqNodeNotAvail, UnavailableNodes:m[2-3]");
        assert_eq!(all[2].reason, "a|b");
        for line in ["", "7", "7|RUNNING", "JOBID PARTITION NAME", "|RUNNING|m|"] {
            assert_eq!(seen(line), None, "{line}");
        }
    }

    #[test]
    fn only_a_number_is_a_job() {
        assert_eq!(job_of("12\n").unwrap(), "12");
        assert_eq!(job_of("12;east\n").unwrap(), "12");
        for wrong in ["", "Submitted batch job 12", "12x", "-1", "999999999999999999999"] {
            assert!(
                job_of(wrong).unwrap_err().to_string().starts_with("sbatch: expected"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn nodes_that_take_no_job_or_lack_a_feature_are_left_out() {
        let said = "m1|idle|ssd,big\nm2|allocated|ssd\nm3|down*|ssd\nm4|drained|ssd\nm1|idle|ssd,big\n\
                    m5|idle*|ssd\nm6|idle~|(null)\nnonsense\n";
        let names = |constraint| usable_of(said, constraint).unwrap();
        assert_eq!(names(None), ["m1", "m6", "m2"], "idle ones first");
        assert_eq!(names(Some("ssd")), ["m1", "m2"]);
        assert_eq!(names(Some("ssd&big")), ["m1"]);
        assert_eq!(names(Some("big|other")), ["m1"]);
        assert!(usable_of("$(id)|idle|x\n", None).is_err());
    }
}
