//! The nodes of a fleet whose machines share nothing: those whose sessions are there.
//!
//! A session is known by its node and by the number that its run drew (its job), so that machines of one name
//! stay apart.

use super::Published;
use model::{FleetAttempt, FleetNode};

/// Returns one node for each session, in the order of the sessions. Those of one name bear their job in
/// their name.
pub(super) fn nodes(published: &[Published]) -> Vec<FleetNode> {
    let node = |of: &Published| {
        let is_alone = published.iter().filter(|it| it.node == of.node).count() == 1;
        let attempt =
            FleetAttempt { job: of.job.clone(), submitted_unix_ms: 0, state: String::new() };
        let name = if is_alone { of.node.clone() } else { of.numbered() };
        FleetNode { name, attempts: vec![attempt] }
    };
    published.iter().map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_several_nodes() {
        let of = |node, job| Published::new(node, job, 0);
        let published = [of("m1", "aa"), of("m2", "aa"), of("m2", "bb"), of("m10", "cc")];
        let nodes = nodes(&published);
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["m1", "m2.aa", "m2.bb", "m10"]);
        for (node, at) in nodes.iter().zip(0..) {
            let own: Vec<usize> = (0..4).filter(|of| published[*of].is_of(node)).collect();
            assert_eq!(own, [at]);
        }
    }
}
