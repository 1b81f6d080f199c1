//! The kernel's figures of memory against memory that was really touched. In a
//! process of its own: other tests' forks would change what is shared.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use sys::pages::{Huge, Mapping, page_bytes};
use sys::{proc, process, task};

/// What must be found, in bytes.
const PLANTED_BYTES: usize = 64 << 20;

/// What the reading itself may need, in bytes.
const SLACK_BYTES: u64 = 1 << 20;

fn assert_near(name: &str, found: u64, expected: u64) {
    assert!(found.abs_diff(expected) < SLACK_BYTES, "{name}: {found} bytes, expected {expected}");
}

#[test]
fn touched_memory_is_found_by_every_figure_and_halved_when_shared() {
    let own = process::pid();
    let (before, before_status) = (proc::memory(own).unwrap(), proc::status(own).unwrap());
    let mut mapping = Mapping::new(PLANTED_BYTES, Huge::Never).unwrap();
    let untouched = proc::memory(own).unwrap();
    assert_near("rss of untouched memory", untouched.rss_bytes - before.rss_bytes, 0);

    mapping.touch(page_bytes());
    let (after, status) = (proc::memory(own).unwrap(), proc::status(own).unwrap());
    let planted = PLANTED_BYTES as u64;
    assert_near("rss", after.rss_bytes - before.rss_bytes, planted);
    assert_near("pss", after.pss_bytes - before.pss_bytes, planted);
    assert_near("uss", after.uss_bytes - before.uss_bytes, planted);
    assert_near("anonymous", after.anonymous_bytes - before.anonymous_bytes, planted);
    assert_near("status", status.rss_bytes.unwrap() - before_status.rss_bytes.unwrap(), planted);
    let tables = status.page_tables_bytes.unwrap() - before_status.page_tables_bytes.unwrap();
    assert!(tables >= planted / 512 / 2, "page tables grew by {tables}");
    assert_eq!(mapping.resident_bytes(), Ok(planted));
    assert_eq!(mapping.huge_bytes(), Ok(0));

    // A child shares every page: it halves the proportional figure and takes
    // all from what is ours alone.
    let child = task::fork_run(|| {
        sys::clock::sleep_ns(60_000_000_000);
        0
    })
    .unwrap();
    let shared = proc::memory(own).unwrap();
    process::kill(child, 9).unwrap();
    assert_eq!(task::wait(child).unwrap().signal, Some(9));
    assert_near("pss of shared memory", shared.pss_bytes, after.pss_bytes - planted / 2);
    assert!(shared.uss_bytes + planted < after.uss_bytes + SLACK_BYTES);
    assert_near("rss of shared memory", shared.rss_bytes, after.rss_bytes);

    drop(mapping);
    assert_near("rss afterwards", proc::memory(own).unwrap().rss_bytes, before.rss_bytes);
}
