//! What does a page fault cost?
//!
//! A trial walks memory or a mapped file page by page, in an order laid down before, after it has
//! brought the pages into the state that the treatment asks for: never touched, shared with a
//! child, cached, cold. The same walk over pages that are mapped already meets no fault; it is
//! subtracted, so that what the fault adds is left.

mod kind;
mod subject;

use crate::support::memory::{HUGE_PART, Home, huge_as_asked};
use kind::{Faults, Hint, Limit, Plan};
use kit::{Result, Trial};
use subject::{Subject, Walk};
use sys::pages::{Advice, Huge, page_bytes};

experiment!("fault", "fault.toml");

/// The most walks of one trial.
const WALKS_MAX: usize = 64;

/// Faults per page that do not come from the walk's own pages: a page of the stack that a fork
/// has marked, say.
const STRAY: f64 = 0.01;

/// File systems whose reads the kernel charges to the process that waits for them.
const CHARGED: [&str; 5] = ["ext4", "xfs", "btrfs", "f2fs", "overlayfs"];

/// The kernel's block account counts in units of this many bytes.
const BLOCK_BYTES: u64 = 512;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let plan = Plan::of(trial)?;
    let cpu = trial.pin_to_one()?;
    let home = Home::of(trial, &[cpu])?;
    home.settle()?;
    let mut subject = Subject::prepare(trial, &plan)?;
    if !plan.kind.is_cold() {
        // The footprint is touched just before, so that its pages are recycled ones and not fresh
        // from a host; a file comes into the cache as the walk brings it. A cold walk needs no
        // rehearsal: what it waits for is the disk, and writing the file has used the same pages.
        subject.walk()?;
        need_huge_pages(trial, &plan, &subject)?;
    }
    let mut walks: Vec<Walk> = Vec::with_capacity(WALKS_MAX);
    let limit_ns = trial.spec().timed_ns;
    trial.begin()?;
    let begun_ns = sys::clock::now_ns();
    while walks.len() < WALKS_MAX {
        walks.push(subject.walk()?);
        if sys::clock::now_ns() - begun_ns >= limit_ns {
            break;
        }
    }
    trial.end()?;
    if let Some(elsewhere) = subject.memory().map(|it| home.elsewhere(it)).transpose()?.flatten() {
        trial.check("pages on another NUMA node, of those looked at", elsewhere as f64, 0.0, 0.0);
    }
    record(trial, &plan, &walks);
    check(trial, &plan, &walks);
    Ok(())
}

fn need_huge_pages(trial: &mut Trial<'_>, plan: &Plan, subject: &Subject<'_>) -> Result<()> {
    if plan.kind.is_file() {
        return Ok(());
    }
    let huge_bytes = subject.huge_bytes()?;
    trial.observe("huge_bytes", huge_bytes);
    huge_as_asked(plan.huge, plan.bytes, huge_bytes)
}

/// Keeps what was measured, per page touched.
fn record(trial: &mut Trial<'_>, plan: &Plan, walks: &[Walk]) {
    let pages = plan.touched();
    let each = |of: fn(&Walk) -> u64| walks.iter().map(of);
    let sum = |of: fn(&Walk) -> u64| walks.iter().map(of).sum::<u64>();
    trial.record_all("page_ns", pages, each(|walk| walk.walk_ns));
    trial.record_all("touch_ns", pages, each(|walk| walk.walk_ns));
    trial.record_all("whole_ns", pages, each(|walk| walk.set_up_ns + walk.walk_ns));
    trial.record_all("set_up_ns", pages, each(|walk| walk.set_up_ns));
    trial.record_all("page_cpu_ns", pages, each(|walk| walk.cpu_ns));
    trial.record_all("whole_cpu_ns", pages, each(|walk| walk.set_up_cpu_ns + walk.cpu_ns));
    if !plan.needs_disk() {
        trial.record_all("fault_ns", pages, each(|walk| walk.walk_ns));
    }
    let share = sum(|walk| walk.cpu_ns) as f64 / sum(|walk| walk.walk_ns).max(1) as f64;
    trial.record_one("cpu_share_ppm", (1e6 * share).round() as i64);
    let all = pages * walks.len() as u64;
    let counted = |of: fn(&Walk) -> u64| vec![sum(of) as i64];
    trial.record("minor_count", all, counted(|walk| walk.touching.minor_faults));
    trial.record("major_count", all, counted(|walk| walk.touching.major_faults));
    trial.record("switches_count", all, counted(|walk| walk.whole.voluntary_switches));
    if reads_are_charged() {
        trial.record("read_bytes", all, counted(|walk| BLOCK_BYTES * walk.whole.blocks_in));
    }
    trial.record_one("walked_count", pages as i64);
}

/// Whether the kernel counts the bytes that a process reads from a device.
fn reads_are_charged() -> bool {
    sys::proc::io(sys::process::pid()).is_some()
}

/// Holds what was seen against what the treatment must do.
fn check(trial: &mut Trial<'_>, plan: &Plan, walks: &[Walk]) {
    let all = (plan.touched() * walks.len() as u64) as f64;
    let per_page = |of: fn(&Walk) -> u64| walks.iter().map(of).sum::<u64>() as f64 / all;
    let unfinished = walks.iter().filter(|walk| !walk.adds_up).count();
    trial.check("walks whose pages do not add up", unfinished as f64, 0.0, 0.0);
    let faults = per_page(|walk| walk.touching.minor_faults + walk.touching.major_faults);
    let (low, high) = faults_expected(plan);
    trial.check("faults per page", faults, low, high);
    if plan.kind.is_cold() {
        let cached = walks.iter().map(|walk| walk.cached_bytes).max().unwrap_or(0);
        trial.check("bytes cached before a cold walk", cached as f64, 0.0, 0.0);
    }
    let majors = per_page(|walk| walk.touching.major_faults);
    if !plan.needs_disk() {
        trial.check("major faults per page without a disk", majors, 0.0, 0.0);
    } else if matches!(plan.hint, Hint::None | Hint::Advice(Advice::Random)) {
        // Nothing read ahead for touches far apart: each waits for the disk.
        let least =
            if plan.touches_stand_alone() { 0.9 } else { 1.0 / plan.touched().max(1) as f64 };
        trial.check("major faults per page of a disk's", majors, least, 1.0 + STRAY);
    }
    let charged = sys::files::filesystem(std::path::Path::new("."))
        .is_ok_and(|name| CHARGED.contains(&name.as_str()));
    if plan.kind.is_file() && charged && reads_are_charged() {
        let read = per_page(|walk| BLOCK_BYTES * walk.whole.blocks_in) / page_bytes() as f64;
        let (low, high) = reads_expected(plan);
        trial.check("pages read from the disk per page", read, low, high);
    }
}

/// The faults per page that a walk must meet, at least and at most.
fn faults_expected(plan: &Plan) -> (f64, f64) {
    if plan.hint == Hint::Populate {
        return (0.0, if plan.needs_disk() { 1.0 + STRAY } else { STRAY });
    }
    match (plan.kind.faults, plan.huge) {
        (Faults::None, _) => (0.0, STRAY),
        (Faults::One, Huge::Always) => {
            let huge = sys::pages::huge_page_bytes().unwrap_or(page_bytes());
            let per_page = page_bytes() as f64 / huge as f64;
            (per_page * HUGE_PART, per_page + STRAY)
        }
        (Faults::One, _) => (1.0, 1.0 + STRAY),
        (Faults::AtMostOne, _) if plan.touches_stand_alone() => (1.0 - STRAY, 1.0 + STRAY),
        (Faults::AtMostOne, _) => (1.0 / plan.touched() as f64, 1.0 + STRAY),
    }
}

/// The pages that must come from the disk per page touched, at least and at most.
fn reads_expected(plan: &Plan) -> (f64, f64) {
    let in_order = plan.hint == Hint::Advice(Advice::Sequential);
    match (plan.kind.is_cold(), plan.limit) {
        // Read-ahead may bring the whole file for a few touches.
        (true, _) => (1.0 - STRAY, f64::INFINITY),
        // More than once is a limit too tight for what is read ahead.
        (false, Limit::Below) if in_order => (0.4, 1.1),
        (false, Limit::Below) => (0.4, f64::INFINITY),
        (false, _) => (0.0, STRAY),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
