//! What the tests of this room share.

/// Runs `work` in a child of its own, so that limits, groups and signal
/// handlers of the test process stay as they are; fails where `work` panics or
/// takes longer than 30 s.
pub(crate) fn in_child(work: impl FnOnce()) {
    SPEAKING_CHILDREN.call_once(let_children_speak);
    let child = crate::task::fork_run(|| {
        // SAFETY: an alarm ends the child should it ever stand still.
        unsafe { libc::alarm(30) };
        work();
        0
    })
    .unwrap();
    let ended = crate::task::wait(child).unwrap();
    assert_eq!((ended.code, ended.signal), (Some(0), None), "the work in the child failed");
}

static SPEAKING_CHILDREN: std::sync::Once = std::sync::Once::new();

/// The test harness keeps a panic's words in a buffer, which ends with a child:
/// children write theirs to the descriptor. The hook is set in the parent, once:
/// a child might wait for ever for the lock that another thread held at the fork.
fn let_children_speak() {
    let parent = crate::process::pid();
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        if crate::process::pid() == parent {
            earlier(what);
        } else {
            let _ = std::fs::write("/proc/self/fd/2", format!("in a child: {what}\n"));
        }
    }));
}

/// Waits until `condition` holds; fails after 20 s.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 20, "{what} did not happen");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
