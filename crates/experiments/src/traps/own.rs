//! The experiment on the user's own programs: how often they trap, and what that costs.

use super::run::STAGES;
use super::shares;
use crate::icache::{Code, FACTOR, code, time_limit_ms, which};
use isa::pipeline::{Cycles, Latency, Parameters, Pipeline, Stage};
use kit::model::{Cell, Design, Finding, Grid, Profile, ProgramFile, Quantity, Treatment};
use kit::{Result, Stop, Trial};

/// The responses that any program has; those behind a trap only one that traps.
const OF_PROGRAMS: [&str; 6] =
    ["trap_ppm", "cost_ppm", "redirect_ppm", "cycle_count", "lost_count", "return_count"];

/// Returns the design for some files.
pub(crate) fn design(programs: &[ProgramFile]) -> Design {
    let mut design = super::design();
    design.question = "What do traps cost your programs?".into();
    design.method = "A simulated RISC-V machine with machine-mode traps executes each program, and a \
                     pipeline of five stages that predicts every branch as not taken counts its cycles. \
                     Traps and mret are resolved in the stage that the treatment names, branches and jumps \
                     in EX. Nothing is measured. The programs are yours: each is one file, known by its \
                     SHA-256, and a trial that finds another content fails. One run of a program answers \
                     for all pipelines."
        .into();
    design.factors.retain(|factor| ["stage", "latency"].contains(&factor.name.as_str()));
    design.factors.insert(0, which(programs));
    for factor in design.factors.iter_mut().filter(|factor| factor.name == "stage") {
        factor.about = "the stage in which traps and mret are resolved".into();
        factor.baseline = "WB".into();
    }
    let all = |factor: &str| (factor.to_owned(), Vec::new());
    let grid = Grid { from: Profile::Smoke, vary: ["stage", "latency", FACTOR].map(all).into() };
    design.grids = vec![grid];
    design.responses.retain(|response| OF_PROGRAMS.contains(&response.name.as_str()));
    design.findings = programs.iter().enumerate().flat_map(findings).collect();
    design.claims = Vec::new();
    design.figures = Vec::new();
    design.headlines = Vec::new();
    design.programs = programs.to_vec();
    design.time_limit_ms = time_limit_ms(&design, programs);
    design
}

fn findings((number, program): (usize, &ProgramFile)) -> Vec<Finding> {
    let name = &program.level;
    let finding = |id: &str, response: &str, sentence: String| Finding {
        id: format!("{id}_{number}"),
        sentence,
        quantity: Quantity::Value {
            response: response.into(),
            at: Cell::new([(FACTOR, name.as_str())]),
        },
        drives: id == "cost",
    };
    vec![
        finding("traps", "trap_ppm", format!("{{}} of the steps of {name} are traps.")),
        finding(
            "cost",
            "cost_ppm",
            format!(
                "Traps at WB lose {{}} of the cycles of {name}, without those of their handlers."
            ),
        ),
        finding(
            "redirects",
            "redirect_ppm",
            format!("Branches and jumps in EX lose {{}} of the cycles of {name}."),
        ),
    ]
}

/// Conducts a trial of a user's program: one run for all pipelines.
pub(super) fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let (code, sha256): (Code, String) = code(trial, trial.level(FACTOR)?)?;
    let own = trial.spec().treatment.clone();
    let treatments = std::iter::once(&own).chain(&trial.spec().also);
    let mut pipelines = treatments.map(pipeline).collect::<Result<Vec<Pipeline>>>()?;
    let mut traps = 0;
    trial.begin()?;
    let ran = code.run(|step| {
        traps += u64::from(step.trap.is_some());
        for pipeline in &mut pipelines {
            pipeline.step(step, 0);
        }
    });
    let (_, stopped) = ran.map_err(Stop::Failed)?;
    trial.end()?;
    let mut pipelines = pipelines.iter();
    let mut keep = |trial: &mut Trial<'_>| {
        let pipeline =
            pipelines.next().ok_or_else(|| Stop::failed("a treatment has no pipeline"))?;
        trial.observe("ended", stopped);
        trial.observe("sha256", &sha256);
        record(trial, traps, pipeline.cycles());
        Ok(())
    };
    keep(trial)?;
    trial.answer_others(|trial, _| keep(trial))
}

fn pipeline(treatment: &Treatment) -> Result<Pipeline> {
    let level = |factor| treatment.level(factor).unwrap_or_default();
    let stage: Option<Stage> =
        STAGES.iter().find(|(name, _)| *name == level("stage")).map(|(_, stage)| *stage);
    let latency = level("latency").parse().ok().map(Latency::all);
    let (Some(trap), Some(latency)) = (stage, latency) else {
        return Err(Stop::failed(format!("no pipeline is named by {treatment}")));
    };
    let parameters = Parameters { trap, trap_return: trap, latency, ..Parameters::textbook() };
    Pipeline::new(parameters).map_err(|error| Stop::failed(error.to_string()))
}

fn record(trial: &mut Trial<'_>, traps: u64, cycles: &Cycles) {
    shares(trial, traps, cycles);
    if traps > 0 {
        trial.record("lost_count", traps, vec![cycles.trap as i64]);
        trial.record("return_count", traps, vec![cycles.trap_return as i64]);
    }
}
