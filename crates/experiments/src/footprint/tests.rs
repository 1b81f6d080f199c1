use super::{Added, EARLIER, Held, Workers, design, fill};
use kit::workers::{MODEL_LEVELS, Model, Refusal, Worker};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::cgroup::Cgroup;
use sys::pages::page_bytes;

const COUNT: usize = 64;

/// How far the private memory of a worker may be from what was planted, in bytes: a worker's own
/// pages are not always the same, and what other tests write meanwhile is no longer shared with them.
const SLACK_BYTES: i64 = 32 << 10;

/// What workers add, in bytes per worker: of their own, and with all that the kernel keeps for them,
/// if it is shown. They are made by a child, since other tests make threads and use memory here.
fn added<Kept>(
    model: Model,
    count: usize,
    group: Option<&Cgroup>,
    work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
) -> (i64, Option<i64>) {
    let shared = sys::pages::shared(16).unwrap();
    let [user, kernel] = &shared.words()[..2] else { unreachable!() };
    let cpu = sys::affinity::allowed().unwrap()[0];
    let child = sys::task::fork_run(|| {
        if group.is_some_and(|group| group.add(sys::process::pid()).is_err()) {
            return 1;
        }
        let Ok(added) = (Workers { model, count, cpu }).added(0, work) else { return 2 };
        user.store(added.user as u64, Ordering::Release);
        kernel.store(added.kernel().unwrap_or(i64::MIN) as u64, Ordering::Release);
        0
    });
    assert_eq!(sys::task::wait(child.unwrap()).unwrap().code, Some(0));
    let [user, kernel] = [user, kernel].map(|word| word.load(Ordering::Acquire) as i64);
    let whole = (kernel != i64::MIN).then_some((user + kernel) / count as i64);
    (user / count as i64, whole)
}

/// What one worker that does `work` has of its own, in bytes.
fn private_bytes<Kept>(
    model: Model,
    work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
) -> i64 {
    added(model, COUNT, None, work).0
}

/// Writes to 256 KiB of the caller's stack, which stay its own after the return.
#[inline(never)]
fn touch_stack() -> u8 {
    let mut frame = [0_u8; 256 << 10];
    for byte in frame.iter_mut().step_by(page_bytes()) {
        *byte = 1;
    }
    black_box(&frame)[1]
}

#[test]
fn a_stack_that_was_used_is_found_in_either_model() {
    for (name, model) in MODEL_LEVELS {
        let idle = private_bytes(model, |_| Ok(()));
        let deep = private_bytes(model, |_| {
            black_box(touch_stack());
            Ok(())
        });
        let planted = 256 << 10;
        assert!((deep - idle - planted).abs() < SLACK_BYTES, "{name}: {idle}, then {deep}");
    }
}

/// A page that a process inherits becomes its own when it writes to it; one that threads write to is
/// of them all.
#[test]
fn written_pages_of_the_parent_are_a_process_s_own() {
    let words: Vec<AtomicU64> = (0..64 * page_bytes() / 8).map(|_| AtomicU64::new(1)).collect();
    let write = |_: &Worker<'_>| {
        words.iter().for_each(|word| word.store(2, Ordering::Relaxed));
        Ok(())
    };
    let planted = 64 * page_bytes() as i64;
    let own = private_bytes(Model::Process, write) - private_bytes(Model::Process, |_| Ok(()));
    assert!((own - planted).abs() < SLACK_BYTES, "{own} of {planted}");
    let own = private_bytes(Model::Thread, write) - private_bytes(Model::Thread, |_| Ok(()));
    assert!(own.abs() < SLACK_BYTES, "{own}");
}

#[test]
fn a_buffer_is_a_worker_s_own() {
    for (name, model) in MODEL_LEVELS {
        let own = private_bytes(model, |_| fill(256 << 10)) - private_bytes(model, |_| fill(0));
        assert!((own - (256 << 10)).abs() < SLACK_BYTES, "{name}: {own}");
    }
}

/// What a memory cgroup is charged for `COUNT` workers, in bytes per worker, and what the experiment
/// finds. The kernel charges a group for each page and object when it is made, by other counters than
/// those that the experiment reads. `None` where it cannot be asked.
fn charged_and_found(model: Model) -> Option<(i64, i64)> {
    let mut least_bytes = None;
    for count in [1, COUNT] {
        let name = format!("scruple-test-footprint-{}", sys::process::pid());
        let group = Cgroup::create("memory", &name).map(Cgroup::guarded).ok()?;
        let (_, found) = added(model, count, Some(group.group()), |_| Ok(()));
        let (found, most_bytes) = (found?, group.group().memory_peak()?);
        if let Some(least_bytes) = least_bytes {
            let charged_bytes = most_bytes.saturating_sub(least_bytes) as usize;
            return Some(((charged_bytes / ((1 + EARLIER) * (COUNT - 1))) as i64, found));
        }
        least_bytes = Some(most_bytes);
    }
    None
}

#[test]
fn the_parts_are_all_that_a_memory_cgroup_is_charged_for() {
    for (name, model) in MODEL_LEVELS {
        let mut seen = Vec::new();
        // Other tests and programs make and end processes meanwhile, but not always.
        while seen.last().is_none_or(|(charged, found): &(i64, i64)| {
            (found - charged).abs() > charged / 4 + 4096
        }) {
            assert!(seen.len() < 30, "{name}, charged and found: {seen:?}");
            let Some(both) = charged_and_found(model) else {
                println!("skipped: no memory cgroup, or a kernel that does not show its memory");
                return;
            };
            seen.push(both);
        }
    }
}

#[test]
fn what_the_kernel_does_not_show_is_not_known() {
    let before = Held {
        private_bytes: 1 << 20,
        page_tables_bytes: Some(40 << 10),
        kernel_stacks_bytes: Some(1 << 20),
        objects_bytes: Some(9 << 20),
    };
    let after = Held {
        private_bytes: 5 << 20,
        page_tables_bytes: Some(50 << 10),
        kernel_stacks_bytes: Some(2 << 20),
        objects_bytes: Some(8 << 20),
    };
    let shown = Added::between(&before, &after, 3 << 20);
    let all = [shown.user, shown.page_tables.unwrap(), shown.kernel_stacks.unwrap()];
    assert_eq!(all, [1 << 20, 10 << 10, 1 << 20]);
    assert_eq!(shown.objects, Some(-1 << 20), "it is not clamped");
    // Stacks that do not grow are no stacks of this machine's kernel.
    let fixed = Held { kernel_stacks_bytes: before.kernel_stacks_bytes, ..after };
    let hidden = Held { kernel_stacks_bytes: None, objects_bytes: None, ..after };
    for seen in [fixed, hidden] {
        let added = Added::between(&before, &seen, 0);
        assert_eq!((added.kernel_stacks, added.objects, added.kernel()), (None, None, None));
        assert_eq!((added.user, added.page_tables), (4 << 20, Some(10 << 10)));
    }
}

#[test]
fn every_level_has_its_code() {
    crate::check_levels(&design(), "model", &MODEL_LEVELS);
}
