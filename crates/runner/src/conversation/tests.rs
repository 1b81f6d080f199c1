#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::*;
use damage::damaged;
use model::{Measured, Series};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[path = "../../../model/tests/damage/mod.rs"]
mod damage;

#[path = "../../../model/tests/scale/mod.rs"]
mod scale;

fn answers() -> Vec<Vec<u8>> {
    let observed = BTreeMap::from([("cpu".to_string(), "3".to_string())]);
    let series = Series { response: "create_ns".into(), per: 1, values: vec![1, -2, 3] };
    let measured = Box::new(Measured { series: vec![series], ..Measured::default() });
    [
        FromTrial::Ready { observed: observed.clone(), set_up_ns: 17 },
        FromTrial::Measured { measured, observed, others: Vec::new() },
        FromTrial::Failed { reason: "caf\u{e9} \"".into() },
    ]
    .iter()
    .map(|message| [serde_json::to_vec(message).unwrap(), b"\n".to_vec()].concat())
    .collect()
}

/// What the runner hears of a trial that says and prints these bytes and hangs up, though its
/// process (this one) lives on.
fn heard(said: &[u8], printed: &[u8]) -> (Vec<FromTrial>, Cut, String) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (log, mut printer) = std::io::pipe().unwrap();
    let process = sys::pidfd::open(sys::process::pid()).unwrap();
    let pauses = Pauses::new(sys::process::pid(), false, sys::cgroup::Freezers::default());
    let mut talk = Conversation::new(ours, log, process, pauses).unwrap();
    printer.write_all(printed).unwrap();
    drop(printer);
    let begun = Instant::now();
    let mut deadline = begun;
    std::thread::scope(|scope| {
        // What fits the socket's buffer is there at once: nothing is waited for.
        if said.len() < 1 << 14 {
            theirs.write_all(said).unwrap();
            drop(theirs);
        } else {
            deadline += Duration::from_secs(20);
            scope.spawn(move || theirs.write_all(said));
        }
        let mut messages = Vec::new();
        loop {
            match talk.hear(deadline, Phase::Measuring) {
                Ok(message) => messages.push(message),
                Err(last) => {
                    assert!(begun.elapsed() < Duration::from_secs(20), "heard too late");
                    assert!(talk.inbox.len() <= MESSAGE_BYTES_MAX + 16 * 1024);
                    let log = talk.log_text();
                    assert!(talk.log_tail.len() <= LOG_BYTES_KEPT);
                    // A writer whose reader is gone is not stuck.
                    drop(talk);
                    return (messages, last, log);
                }
            }
        }
    })
}

fn violation(said: &[u8]) -> String {
    match heard(said, b"").1 {
        Cut::Kill(Outcome::ProtocolViolated { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(scale::at_scale(128))]

    #[test]
    fn damaged_answers_are_violations_or_understood(
        said in damaged(answers()),
        printed in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (messages, last, _log) = heard(&said, &printed);
        let mut lines = said.split(|byte| *byte == b'\n');
        for message in messages {
            let line: FromTrial = serde_json::from_slice(lines.next().unwrap()).unwrap();
            prop_assert_eq!(message, line);
        }
        match last {
            Cut::Kill(Outcome::ProtocolViolated { reason }) => {
                prop_assert!(reason.len() < 1000, "{reason}");
                prop_assert!(!reason.contains(char::is_control), "{reason:?}");
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn whole_answers_are_heard_one_after_the_other() {
    let (messages, last, log) = heard(&answers().concat(), b"a\xffb\n");
    let [
        FromTrial::Ready { set_up_ns: 17, .. },
        FromTrial::Measured { .. },
        FromTrial::Failed { .. },
    ] = &messages[..]
    else {
        panic!("{messages:?}")
    };
    assert!(
        matches!(last, Cut::Kill(Outcome::ProtocolViolated { reason }) if reason.contains("kept running"))
    );
    assert_eq!(log, "a\u{fffd}b");
}

#[test]
fn an_answer_without_an_end_or_beyond_the_limit_is_a_violation() {
    let endless = vec![b' '; MESSAGE_BYTES_MAX + 100_000];
    assert!(violation(&endless).starts_with("a message of more than"));
    let mut late = vec![b' '; MESSAGE_BYTES_MAX];
    late.extend(&answers()[0]);
    assert!(violation(&late).starts_with("a message of more than"));
    let mut longest = vec![b' '; MESSAGE_BYTES_MAX - answers()[0].len()];
    longest.extend(&answers()[0]);
    longest.extend(b"x\n");
    assert!(matches!(heard(&longest, b"").0[..], [FromTrial::Ready { .. }]));
}

#[test]
fn of_a_reason_without_an_end_a_sentence_is_kept() {
    let reason = "\u{e9}".repeat(1 << 20);
    for message in [FromTrial::Failed { reason: reason.clone() }, FromTrial::Unsupported { reason }]
    {
        // The end is rubbish, so that nobody waits for more.
        let said = [serde_json::to_vec(&message).unwrap(), b"\nx\n".to_vec()].concat();
        let (messages, ..) = heard(&said, b"");
        let [FromTrial::Failed { reason } | FromTrial::Unsupported { reason }] = &messages[..]
        else {
            panic!("{messages:?}")
        };
        assert!(reason.len() <= REASON_BYTES_KEPT + 3 && reason.ends_with('\u{2026}'));
    }
}

#[test]
fn what_a_parser_repeats_of_a_message_is_short_and_harmless() {
    let word = format!("\\u001b]0;owned\\u0007{}", "x".repeat(1 << 20));
    let reason = violation(format!("{{\"say\":\"{word}\"}}\n").as_bytes());
    assert!(reason.starts_with("not a message") && reason.len() < 1000, "{}", reason.len());
    assert!(!reason.contains(char::is_control), "{reason:?}");
}

#[test]
fn a_deeply_nested_answer_is_a_violation() {
    for opening in ["[", "{\"say\":", "{\"say\":\"ready\",\"x\":["] {
        let deep = opening.repeat(1 << 16) + "\n";
        assert!(violation(deep.as_bytes()).starts_with("not a message"), "{opening}");
    }
}
