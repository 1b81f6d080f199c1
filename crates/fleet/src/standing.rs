//! What became of a node, from what the engine says and what lies in the folder.

use crate::{Published, Seen};
use model::FleetNode;

/// What became of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A session has its place.
    Complete(Published),
    /// Nothing was submitted.
    NotSubmitted,
    /// The job waits.
    Waiting {
        /// Why, as the engine says it.
        reason: String,
        /// Whether it can wait for ever: the node is away, the job is held or can never run.
        stuck: bool,
    },
    /// The job is at work.
    Running,
    /// The engine says that the node failed.
    Lost {
        /// What it says.
        reason: String,
    },
    /// The job ended badly, and not by a fault of the node.
    Failed {
        /// What the engine says.
        reason: String,
    },
    /// The job ended well, and no session is to be seen (yet: a network file system may show it late).
    Ended,
    /// The engine no longer knows the job, and no session is to be seen.
    Unknown,
}

/// States of a job that is at work, or in the midst of ending.
const AT_WORK: [&str; 8] = [
    "RUNNING",
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "CONFIGURING",
];

/// States of a job that waits for its turn, the first or another.
const IN_LINE: [&str; 6] =
    ["PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"];

/// States that are the fault of a node or of the scheduler, never of what the job did.
const NODE_AT_FAULT: [&str; 4] = ["NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"];

/// Parts of reasons for which a job waits until somebody does something. Slurm's job_reason_codes.
const STUCK: [&str; 14] = [
    "NodeNotAvail",
    "NodeDown",
    "DOWN",
    "DRAINED",
    "held",
    "Held",
    "BadConstraints",
    "InvalidAccount",
    "InvalidQOS",
    "NotAllowed",
    "PartitionDown",
    "PartitionInactive",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
];

/// What became of a node. The last attempt counts, unless an earlier one has left a session; of several
/// sessions the last attempt's, after the last restart.
pub fn standing(
    node: &FleetNode,
    seen: &[Seen],
    published: &[Published],
    partial: &[Published],
) -> Standing {
    let place = |of: &Published| node.attempts.iter().position(|it| it.job == of.job);
    let own = published.iter().filter(|it| it.node == node.name);
    // A job that was submitted but not written down comes before those that were.
    if let Some(best) = own.max_by_key(|it| (place(it).map_or(0, |place| place + 1), it.restart)) {
        return Standing::Complete(best.clone());
    }
    let Some(last) = node.attempts.last() else {
        return Standing::NotSubmitted;
    };
    // A job of hosts is one for all of them; one of a scheduler is nowhere while it waits.
    let here = |it: &&Seen| it.node.is_empty() || it.node == node.name;
    let Some(job) = seen.iter().filter(here).find(|it| it.job == last.job) else {
        return Standing::Unknown;
    };
    let state = job.state.as_str();
    let reason = match job.reason.as_str() {
        "" => state.to_string(),
        reason => format!("{state}: {reason}"),
    };
    if IN_LINE.contains(&state) {
        let begun = partial.iter().any(|it| it.node == node.name && it.job == last.job);
        let stuck = begun || STUCK.iter().any(|part| job.reason.contains(part));
        Standing::Waiting { reason: job.reason.clone(), stuck }
    } else if AT_WORK.contains(&state) {
        Standing::Running
    } else if NODE_AT_FAULT.contains(&state) {
        Standing::Lost { reason }
    } else if state == "COMPLETED" {
        Standing::Ended
    } else {
        Standing::Failed { reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FleetAttempt;

    fn node(jobs: &[&str]) -> FleetNode {
        let attempt = |job: &&str| FleetAttempt {
            job: job.to_string(),
            submitted_unix_ms: 0,
            state: String::new(),
        };
        FleetNode { name: "m2".into(), attempts: jobs.iter().map(attempt).collect() }
    }

    fn says(state: &str, reason: &str) -> Vec<Seen> {
        let (job, node) = ("4".to_string(), String::new());
        vec![Seen { job, state: state.into(), node, reason: reason.into() }]
    }

    fn of(state: &str, reason: &str) -> Standing {
        standing(&node(&["4"]), &says(state, reason), &[], &[])
    }

    #[test]
    fn every_state_of_the_scheduler_means_one_thing() {
        assert_eq!(of("RUNNING", ""), Standing::Running);
        assert_eq!(of("COMPLETING", ""), Standing::Running);
        assert_eq!(of("COMPLETED", ""), Standing::Ended);
        assert_eq!(of("NODE_FAIL", "None"), Standing::Lost { reason: "NODE_FAIL: None".into() });
        for state in ["FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE", "A_NEW_ONE"] {
            assert_eq!(of(state, ""), Standing::Failed { reason: state.into() });
        }
        assert_eq!(standing(&node(&[]), &[], &[], &[]), Standing::NotSubmitted);
        assert_eq!(standing(&node(&["5"]), &says("RUNNING", ""), &[], &[]), Standing::Unknown);
    }

    #[test]
    fn a_job_in_line_is_stuck_where_only_somebody_could_help() {
        let stuck = |reason| match of("PENDING", reason) {
            Standing::Waiting { stuck, .. } => stuck,
            other => panic!("{other:?}"),
        };
        for reason in
            ["Resources", "Priority", "BeginTime", "Dependency", "QOSMaxJobsPerUserLimit", "None"]
        {
            assert!(!stuck(reason), "{reason}");
        }
        for reason in [
            "ReqNodeNotAvail, UnavailableNodes:m2",
            "JobHeldAdmin",
            "launch failed requeued held",
            "BadConstraints",
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
        ] {
            assert!(stuck(reason), "{reason}");
        }
        // It had begun already: its node was lost.
        let partial = [Published::new("m2", "4", 0)];
        let lost = standing(&node(&["4"]), &says("PENDING", "BeginTime"), &[], &partial);
        assert_eq!(lost, Standing::Waiting { reason: "BeginTime".into(), stuck: true });
    }

    #[test]
    fn a_session_that_has_its_place_counts_and_the_last_one_most() {
        let all = [
            Published::new("m2", "4", 0),
            Published::new("m2", "4", 1),
            Published::new("m2", "99", 7),
            Published::new("m1", "5", 0),
        ];
        let complete = |node: &FleetNode, of: &[Published]| {
            standing(node, &says("PENDING", "Resources"), of, &[])
        };
        assert_eq!(complete(&node(&["4"]), &all), Standing::Complete(all[1].clone()));
        assert_eq!(complete(&node(&["4", "99"]), &all), Standing::Complete(all[2].clone()));
        // Submitted, and killed before it was written down.
        assert_eq!(complete(&node(&["4"]), &all[2..3]), Standing::Complete(all[2].clone()));
        assert_eq!(complete(&node(&[]), &all[3..]), Standing::NotSubmitted);
    }
}
