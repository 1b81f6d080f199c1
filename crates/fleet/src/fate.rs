//! What became of a node, from what the engine says and what lies in the folder.

use crate::Published;
use crate::slurm::Seen;
use model::{FleetNode, NodeStanding};

/// What became of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The outcome.
    pub standing: NodeStanding,
    /// Why, in words; may be empty.
    pub reason: String,
    /// Whether its job can wait for ever: the node is away, the job is held or can never run.
    pub stuck: bool,
    /// Whether its job has ended without a word of a failure, so that a session may still be seen: a
    /// network file system may show it late.
    pub late: bool,
    /// The session that has its place, or without one what the last attempt has left.
    pub attempt: Option<Published>,
    /// The state of its last job, as the engine says it.
    pub state: Option<String>,
}

impl Fate {
    /// Returns what became of it, in a few words.
    pub fn words(&self) -> String {
        match self.standing {
            NodeStanding::Complete => "complete".into(),
            NodeStanding::Running => "measures".into(),
            NodeStanding::Waiting if self.reason.is_empty() => "waits".into(),
            NodeStanding::Waiting => format!("waits ({})", self.reason),
            _ => self.reason.clone(),
        }
    }
}

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

/// Reports whether a job of this state is at work, or in the midst of ending.
pub(crate) fn is_at_work(state: &str) -> bool {
    let begun = matches!(state, "CONFIGURING" | "RUNNING" | "SUSPENDED" | "STOPPED" | "RESIZING");
    begun || matches!(state, "SIGNALING" | "COMPLETING" | "STAGE_OUT")
}

/// Reports whether a job of this state waits for its turn, the first or another.
pub(crate) fn is_in_line(state: &str) -> bool {
    let again = state.starts_with("REQUEUE");
    again || matches!(state, "PENDING" | "SPECIAL_EXIT" | "RESV_DEL_HOLD")
}

/// States that are the fault of a node or of the scheduler, never of what the job did.
const NODE_AT_FAULT: [&str; 4] = ["NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"];

/// Returns what became of a node. The last attempt counts, unless an earlier one has left a session; of
/// several sessions the last attempt's, after the last restart.
pub(crate) fn fate(
    node: &FleetNode,
    seen: &[Seen],
    published: &[Published],
    partial: &[Published],
) -> Fate {
    let own = |of: &&Published| of.is_of(node);
    // A job that was submitted but not written down comes before those that were.
    let place = |of: &&Published| {
        let place = node.attempts.iter().position(|it| it.job == of.job);
        (place.map_or(0, |place| place + 1), of.restart)
    };
    let session = published.iter().filter(own).max_by_key(place);
    let left = partial.iter().rfind(own);
    // A job of hosts is one for all of them; one of a scheduler is nowhere while it waits.
    let here = |it: &&Seen| it.node.is_empty() || it.node == node.name;
    let last = node.attempts.last();
    let job = last.and_then(|last| seen.iter().filter(here).find(|it| it.job == last.job));
    let mut fate = Fate {
        standing: NodeStanding::Complete,
        reason: String::new(),
        stuck: false,
        late: false,
        attempt: session.or(left).cloned(),
        state: job.map(|job| job.state.clone()),
    };
    if session.is_some() {
        return fate;
    }
    let Some(Seen { job, state, reason, .. }) = job else {
        fate.standing = NodeStanding::Missing;
        fate.late = last.is_some();
        fate.reason = match last {
            None => "not submitted".into(),
            Some(_) => "not known to the engine any more, and without a session".into(),
        };
        return fate;
    };
    let says = if reason.is_empty() { state.clone() } else { format!("{state}: {reason}") };
    (fate.standing, fate.reason) = if is_in_line(state) {
        let has_begun = partial.iter().filter(own).any(|it| it.job == *job);
        fate.stuck = has_begun || STUCK.iter().any(|part| reason.contains(part));
        match fate.stuck && left.is_some() {
            true => (
                NodeStanding::Lost,
                format!("its node was lost, and its job is in line again ({reason})"),
            ),
            false => (NodeStanding::Waiting, reason.clone()),
        }
    } else if is_at_work(state) {
        (NodeStanding::Running, String::new())
    } else if state == "COMPLETED" {
        fate.late = true;
        (NodeStanding::Failed, "ended without a session".into())
    } else if NODE_AT_FAULT.contains(&state.as_str()) {
        (NodeStanding::Lost, format!("lost ({says})"))
    } else {
        (NodeStanding::Failed, format!("failed ({says})"))
    };
    fate
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

    fn of(state: &str, reason: &str) -> Fate {
        fate(&node(&["4"]), &says(state, reason), &[], &[])
    }

    #[test]
    fn every_state_of_the_scheduler_means_one_thing() {
        let means = |state: &str, reason: &str| {
            let it = of(state, reason);
            assert_eq!((it.state.as_deref(), it.stuck, &it.attempt), (Some(state), false, &None));
            (it.standing, it.words(), it.late)
        };
        for state in ["RUNNING", "COMPLETING"] {
            assert_eq!(means(state, ""), (NodeStanding::Running, "measures".into(), false));
        }
        let ended = "ended without a session".to_string();
        assert_eq!(means("COMPLETED", ""), (NodeStanding::Failed, ended, true));
        let lost = "lost (NODE_FAIL: None)".to_string();
        assert_eq!(means("NODE_FAIL", "None"), (NodeStanding::Lost, lost, false));
        for state in ["FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE", "A_NEW_ONE"] {
            let failed = format!("failed ({state})");
            assert_eq!(means(state, ""), (NodeStanding::Failed, failed, false));
        }
        let none = fate(&node(&[]), &[], &[], &[]);
        assert_eq!((none.standing, none.late), (NodeStanding::Missing, false));
        assert_eq!(none.words(), "not submitted");
        let unknown = fate(&node(&["5"]), &says("RUNNING", ""), &[], &[]);
        assert_eq!((unknown.standing, unknown.late), (NodeStanding::Missing, true));
        assert!(unknown.words().starts_with("not known to the engine"), "{unknown:?}");
    }

    #[test]
    fn a_job_in_line_is_stuck_where_only_somebody_could_help() {
        let stuck = |reason| {
            let it = of("PENDING", reason);
            assert_eq!(it.standing, NodeStanding::Waiting);
            assert_eq!(it.words(), format!("waits ({reason})"));
            it.stuck
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
        assert_eq!(of("PENDING", "").words(), "waits");
        // It had begun already: its node was lost.
        let partial = [Published::new("m2", "4", 0)];
        let lost = fate(&node(&["4"]), &says("PENDING", "BeginTime"), &[], &partial);
        assert_eq!((lost.standing, lost.stuck), (NodeStanding::Lost, true));
        assert_eq!(lost.reason, "its node was lost, and its job is in line again (BeginTime)");
        assert_eq!(lost.attempt.as_ref(), Some(&partial[0]));
        // What an earlier job has left says nothing of this one.
        let again = fate(
            &node(&["3", "4"]),
            &says("PENDING", "Resources"),
            &[],
            &[Published::new("m2", "3", 0)],
        );
        assert_eq!((again.standing, again.stuck), (NodeStanding::Waiting, false));
    }

    #[test]
    fn a_session_that_has_its_place_counts_and_the_last_one_most() {
        let all = [
            Published::new("m2", "4", 0),
            Published::new("m2", "4", 1),
            Published::new("m2", "99", 7),
            Published::new("m1", "5", 0),
        ];
        let session = |node: &FleetNode, of: &[Published]| {
            let it = fate(node, &says("PENDING", "Resources"), of, &[]);
            assert_eq!(it.attempt.is_some(), it.standing == NodeStanding::Complete);
            it.attempt
        };
        assert_eq!(session(&node(&["4"]), &all), Some(all[1].clone()));
        assert_eq!(session(&node(&["4", "99"]), &all), Some(all[2].clone()));
        // Submitted, and killed before it was written down.
        assert_eq!(session(&node(&["4"]), &all[2..3]), Some(all[2].clone()));
        assert_eq!(session(&node(&[]), &all[3..]), None);
        assert_eq!(fate(&node(&[]), &[], &all[3..], &[]).words(), "not submitted");
    }
}
