use super::*;
use damage::damaged;
use model::{PROTOCOL_VERSION, Spec};
use proptest::prelude::*;
use std::time::Duration;

#[path = "../../../model/tests/damage/mod.rs"]
mod damage;

#[path = "../../../model/tests/scale/mod.rs"]
mod scale;

fn orders() -> Vec<Vec<u8>> {
    let spec = Spec { experiment: "create".into(), cpus: vec![0, 3], ..Spec::default() };
    [ToTrial::Run { version: PROTOCOL_VERSION, spec: Box::new(spec) }, ToTrial::Go]
        .iter()
        .map(|order| [serde_json::to_vec(order).unwrap(), b"\n".to_vec()].concat())
        .collect()
}

/// What a trial hears that is sent these bytes, until the runner hangs up.
fn heard(bytes: &[u8]) -> (Vec<ToTrial>, ChannelError) {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut channel = Channel { stream: theirs, unread: Vec::new() };
    std::thread::scope(|scope| {
        scope.spawn(move || ours.write_all(bytes));
        let mut messages = Vec::new();
        loop {
            match channel.hear() {
                Ok(message) => messages.push(message),
                Err(error) => {
                    assert!(channel.unread.len() <= MESSAGE_BYTES_MAX + 4096);
                    // A writer whose reader is gone is not stuck.
                    drop(channel);
                    return (messages, error);
                }
            }
        }
    })
}

proptest! {
    #![proptest_config(scale::at_scale(256))]

    #[test]
    fn damaged_orders_are_refused_or_understood(bytes in damaged(orders())) {
        let (messages, error) = heard(&bytes);
        let mut lines = bytes.split(|byte| *byte == b'\n');
        for message in messages {
            let line: ToTrial = serde_json::from_slice(lines.next().unwrap()).unwrap();
            prop_assert_eq!(message, line);
        }
        // Not a socket's error: nothing was waited for that could not come.
        prop_assert!(
            matches!(error, ChannelError::HungUp | ChannelError::Malformed(_)),
            "{}", error
        );
    }
}

#[test]
fn whole_orders_are_heard_one_after_the_other() {
    let (messages, error) = heard(&orders().concat());
    assert!(matches!(messages[..], [ToTrial::Run { .. }, ToTrial::Go]));
    assert!(matches!(error, ChannelError::HungUp));
}

#[test]
fn an_order_without_an_end_or_beyond_the_limit_is_too_long() {
    let endless = vec![b' '; MESSAGE_BYTES_MAX + 5000];
    assert!(matches!(heard(&endless).1, ChannelError::TooLong));
    let mut late = vec![b' '; MESSAGE_BYTES_MAX + 1];
    late.extend(b"{\"say\":\"go\"}\n");
    assert!(matches!(heard(&late).1, ChannelError::TooLong), "too long, though its end has come");
}

#[test]
fn a_deeply_nested_order_is_refused() {
    let deep = "[".repeat(1 << 20) + "\n";
    assert!(matches!(heard(deep.as_bytes()).1, ChannelError::Malformed(_)));
}
