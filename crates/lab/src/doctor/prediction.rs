//! How small a difference can be found here, before anything is measured in earnest.
//!
//! The A/A control is conducted for a few seconds: its treatments are identical, so that their
//! scatter, block by block, is what any comparison of the same kind of work has to see through.

use crate::progress::Progress;
use crate::scratch::Scratch;
use crate::{allotted, conduct};
use crate::{catalog, session};
use anyhow::{bail, ensure};
use model::{Design, Environment, FindingResult, Profile, Record, Summary};
use runner::{End, Event, Halt, Runner, Settings, Work};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;

/// How long is measured, and how long at the most where blocks take long.
const LOOK: Duration = Duration::from_secs(3);
const LOOK_MAX: Duration = Duration::from_secs(12);

/// The times for which a floor is predicted, in seconds.
const TIMES_S: [u64; 3] = [1, 10, 60];

/// What was measured, and what it promises.
#[derive(Serialize)]
pub(super) struct Prediction {
    /// Blocks that were measured, and the time that they took, in seconds.
    blocks: u64,
    measured_s: f64,
    /// One per kind of work, and one at least.
    pub(super) kinds: Vec<Kind>,
    /// The kinds of work in which identical treatments differ already.
    #[serde(skip)]
    pub(super) differ: Vec<String>,
    /// What the hypervisor took of this machine's CPUs meanwhile, as a share of one CPU.
    pub(super) steal_share: Option<f64>,
    assumes: &'static str,
}

/// What is predicted for a time to measure in.
#[derive(Clone, Serialize)]
pub(super) struct Floor {
    /// What the time is called: "in 10 s".
    pub(super) time: String,
    seconds: f64,
    /// How many blocks are measured in it.
    blocks: u64,
    /// The smallest relative difference that will be found; none where the time is too short for two
    /// blocks.
    pub(super) floor: Option<f64>,
}

/// A kind of work.
#[derive(Serialize)]
pub(super) struct Kind {
    /// What it is called: `cpu`, `kernel`, `memory`.
    pub(super) work: String,
    /// What is predicted for each time.
    pub(super) floors: Vec<Floor>,
    /// Whether identical treatments differ in it already.
    differs: bool,
    /// What is to be doubted about them; may be empty.
    pub(super) remark: String,
}

/// Measures, and predicts.
///
/// # Errors
/// Why nothing can be predicted.
pub(super) fn predict(environment: &Environment) -> anyhow::Result<Prediction> {
    let design = catalog::find(&catalog::designs(), crate::plan::CONTROL)?;
    conduct::prepare()?;
    let folder = Scratch::create("doctor")?;
    let (memory_bytes, disk_bytes) = allotted::room(folder.path())?;
    // In the way and with the shield of a session.
    let mut runner = Runner::start(Settings {
        seed: sys::clock::now_ns(),
        profile: Profile::Quick,
        cpus: environment.cpus_allowed.clone(),
        topology: environment.topology.clone(),
        memory_bytes,
        disk_bytes,
        scratch: folder.path().to_path_buf(),
        shield: true,
    })?;
    let mut progress = Progress::new(Some(LOOK));
    let records = blocks(&mut runner, &design, &mut progress)?;
    let elapsed = progress.elapsed();
    ensure!(sys::interrupt::requested().is_none(), "it was interrupted");
    let summary = analysis::summarise(&analysis::Input {
        scruple: session::VERSION,
        session: "",
        complete: true,
        environment,
        shield: runner.shield().report(),
        designs: std::slice::from_ref(&design),
        records: &records,
    });
    from_summary(&summary, &design, &records, elapsed)
}

/// Conducts blocks for a few seconds.
fn blocks(
    runner: &mut Runner,
    design: &Design,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Record>> {
    let (seed, profile) = (runner.settings().seed, runner.settings().profile);
    let treatments = design.treatments(profile);
    let mut records: Vec<Record> = Vec::new();
    for block in 0_u32.. {
        let enough = block as usize >= analysis::interval::BLOCKS_FREE;
        let elapsed = progress.elapsed();
        if elapsed >= LOOK && enough || elapsed >= LOOK_MAX {
            break;
        }
        let left = LOOK.saturating_sub(elapsed);
        progress.block(&design.id, block, None, Some(left));
        let order = runner::order(seed, &design.id, block, &treatments, &[]);
        let treatments: Vec<_> = (0..).zip(order).collect();
        let first_trial = records.len() as u64;
        let (until, patience) = (None, Duration::ZERO);
        let work = Work { design, block, treatments: &treatments, first_trial, until, patience };
        let mut listener = |event: Event<'_>| -> Result<(), Infallible> {
            match event {
                Event::Begins(treatment) => progress.trial(design, treatment),
                Event::Ended(ended) => records.extend(ended),
                Event::GuardReplaced | Event::Joined(_) => {}
            }
            Ok(())
        };
        match runner.conduct_block(&work, &mut listener) {
            Ok(End::Complete) => {}
            Ok(End::Interrupted | End::OutOfTime) => break,
            Err(Halt::Runner(error)) => return Err(error.into()),
            Err(Halt::Listener(never)) => match never {},
        }
    }
    Ok(records)
}

/// Returns what the blocks promise. The A/A control names its findings after its kinds of work.
fn from_summary(
    summary: &Summary,
    design: &Design,
    records: &[Record],
    elapsed: Duration,
) -> anyhow::Result<Prediction> {
    let [experiment] = &summary.experiments[..] else {
        bail!("the A/A control was not measured");
    };
    let blocks = u64::from(experiment.blocks);
    if blocks < 2 {
        let warnings = experiment.warnings.join("; ");
        bail!("fewer than two blocks could be measured: {warnings}");
    }
    let measured_s = elapsed.as_secs_f64();
    let (times, differ) = (times(measured_s / blocks as f64), differing(summary, design));
    let kind = |finding: &FindingResult| {
        let estimate = finding.result.estimate.as_ref();
        let mut floors = times.clone();
        for floor in &mut floors {
            floor.floor = estimate.and_then(|it| analysis::predict(it, floor.blocks));
        }
        let (work, remark) = (finding.id.clone(), finding.result.remark.clone());
        Kind { differs: differ.contains(&work), work, floors, remark }
    };
    let kinds: Vec<Kind> = experiment.findings.iter().map(kind).collect();
    if kinds.iter().flat_map(|kind| &kind.floors).all(|it| it.floor.is_none()) {
        let why = kinds.iter().map(|kind| kind.remark.as_str()).find(|remark| !remark.is_empty());
        bail!("{}", why.unwrap_or("no scatter was seen at all"));
    }
    Ok(Prediction {
        blocks,
        measured_s,
        kinds,
        differ,
        steal_share: steal_share(records),
        assumes: "the next minutes are like the seconds measured",
    })
}

/// Returns the kinds of work in which identical treatments differ; the experiment's name where it is
/// unknown in which.
fn differing(summary: &Summary, design: &Design) -> Vec<String> {
    let found = &summary.trust.controls;
    // A control without a number is not among those found.
    let all = design.controls.len() == found.len();
    let mut names: Vec<String> = design
        .controls
        .iter()
        .zip(found)
        .filter(|(_, found)| found.differs)
        .filter_map(|(control, _)| control.a.0.get("work").filter(|_| all).cloned())
        .collect();
    if names.is_empty() && found.iter().any(|control| control.differs) {
        names.push(design.id.clone());
    }
    names
}

/// Returns the times for which is predicted, the last of them what an experiment gets in `run`.
fn times(block_s: f64) -> Vec<Floor> {
    let of = |seconds: f64| (seconds / block_s) as u64;
    let time = |time: String, seconds, blocks| Floor { time, seconds, blocks, floor: None };
    let fixed = TIMES_S.map(|s| time(format!("in {s} s"), s as f64, of(s as f64)));
    let profile = Profile::Quick;
    let share_s = profile.budget_s() as f64 / catalog::designs().len() as f64;
    let blocks = of(share_s).min(u64::from(profile.blocks_max()));
    let quick = time("in quick".into(), blocks as f64 * block_s, blocks);
    fixed.into_iter().chain([quick]).collect()
}

/// Returns the time stolen during the trials, as a share of one CPU over their time.
fn steal_share(records: &[Record]) -> Option<f64> {
    let stolen: Option<u64> = records.iter().map(|record| record.machine.steal_ns).sum();
    let all: u64 = records.iter().map(|record| record.total_ns).sum();
    (all > 0).then(|| stolen.map(|stolen| stolen as f64 / all as f64)).flatten()
}

impl Prediction {
    /// Returns what it rests on, in lines.
    pub(super) fn basis(&self) -> Vec<String> {
        let quick = self.kinds[0].floors.last().map_or(0, |floor| floor.blocks);
        vec![
            format!(
                "the smallest relative difference between two treatments that is found in four of \
                 five cases,"
            ),
            format!(
                "from {} blocks of identical treatments in {:.1} s, on the assumption that the \
                 next minutes are like these seconds;",
                self.blocks, self.measured_s
            ),
            format!(
                "a time is that of one experiment with six treatments like these; in quick it is \
                 its share of a session of all, at most {quick} blocks here"
            ),
        ]
    }
}
