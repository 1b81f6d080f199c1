//! How a program of the user's scales: a session of trials over n, or figures from elsewhere.

use crate::cli::scale::{ScaleArgs, WorkFrom};
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{input, inquiry, plan, session, spoken, ui};
use analysis::scaling::{ScaleInput, figures, scaling};
use anyhow::{Context, anyhow, bail};
use model::{Inquiry, Pick, Scaling, Stream};
use std::path::Path;
use study::{PrintedWork, ScaleRequest};

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Scale);

/// The largest file of figures that is read, in bytes.
const FIGURES_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn scale(args: &ScaleArgs) -> anyhow::Result<Exit> {
    if let Some(file) = &args.fit {
        let scaling = fit(file)?;
        ui::show(args.json, &scaling, |width| report::scaling_answer(&scaling, None).text(width))?;
        return Ok(Exit::Done);
    }
    inquiry::perform(&args.plan, PURPOSE, args.json, None, || session_plan(args))
}

fn session_plan(args: &ScaleArgs) -> anyhow::Result<Plan> {
    if let Some(regex) = &args.work {
        subject::check_pick(&Pick::Regex(regex.clone()))
            .map_err(|what| anyhow!("--work {regex:?}: {what}"))?;
    }
    if let Some(nobody) = args.with.iter().find(|with| subject::peers(with).is_empty()) {
        bail!("--with {nobody}: no process has this ID or name (as in /proc/PID/comm)");
    }
    let from = match args.work_from {
        WorkFrom::Stdout => Stream::Stdout,
        WorkFrom::Stderr => Stream::Stderr,
    };
    let unit = args.unit.as_deref();
    let command = spoken::texts(&args.command, &args.env)?;
    let asked = ScaleRequest {
        command: &command,
        folder: std::env::current_dir()?.to_string_lossy().into_owned(),
        cpus: plan::cpus(args.plan.measure.affinity.as_deref())?.len() as u64,
        levels: args.levels.as_ref().map(|levels| &levels.0[..]),
        work: args.work.as_deref().map(|regex| PrintedWork { regex, from, unit }),
        copies: args.copies,
        with: args.with.clone(),
        cpu_quota: args.cpu_quota,
        any_exit_code: args.ignore_failure,
        time_limit_ms: args.time_limit,
    };
    let design = study::scale(&asked).map_err(anyhow::Error::msg)?;
    Plan::new(PURPOSE, vec![design], args.profile, &args.plan, args.profile.budget_s())
}

/// Fits figures that were measured elsewhere; `-` is standard input.
fn fit(file: &Path) -> anyhow::Result<Scaling> {
    let text = input::text(file, FIGURES_BYTES_MAX).context("--fit")?;
    let source = input::name(file);
    let figures = figures(&text).map_err(|what| anyhow!("{source}:{what}"))?;
    let trials = figures.trials;
    let source = match figures.read_as.as_str() {
        "" => format!(
            "{source}: the first column is the number of workers, the second the throughput"
        ),
        read_as => format!("{source}: {read_as}"),
    };
    let (scruple, unit) = (session::VERSION, Some("work".into()));
    Ok(scaling(&ScaleInput::of_figures(scruple, source, unit, trials)))
}
