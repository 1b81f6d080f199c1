//! The main job: plan, measure, judge, report.

use crate::cli::{RunArgs, VerdictArgs};
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::plan::Purpose;
use crate::{destination, programs, session, ui};
use anyhow::Context;
use model::{Summary, Verdict};

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    conduct::prepare()?;
    let mut session = match &args.resume {
        Some(dir) => conduct::resume(dir, Purpose::Run)?,
        None => programs::begin(args)?,
    };
    let ending = session.measure()?;
    let summary = session.conclude()?;
    let json = serde_json::to_string_pretty(&summary)?;
    export(&args.verdicts, &json)?;
    if args.json {
        ui::data(&json)?;
    } else {
        let stored = session.stored(&summary);
        ui::people(&report::terminal(&stored, ui::width(), Some(ui::height())))?;
        session::say_where(&session.dir().join(report::REPORT_PAGE), &summary, true)?;
    }
    session.say_how_it_ended(ending);
    match ending {
        Ending::Interrupted => Ok(Exit::Incomplete),
        Ending::Complete | Ending::OutOfTime => Ok(verdict_exit(&args.verdicts, &summary)),
    }
}

/// How a session ends whose claims may be asked for.
pub(crate) fn verdict_exit(asked: &VerdictArgs, summary: &Summary) -> Exit {
    let any = |wanted: Verdict| {
        let mut claims = summary.experiments.iter().flat_map(|experiment| &experiment.claims);
        claims.any(|claim| claim.verdict == wanted)
    };
    if asked.fail_if_refuted && any(Verdict::Refuted) {
        return Exit::Refuted;
    }
    if asked.fail_if_inconclusive && any(Verdict::Inconclusive) {
        return Exit::Incomplete;
    }
    Exit::Done
}

/// Writes the summary where `--export-json` says.
pub(crate) fn export(asked: &VerdictArgs, json: &str) -> anyhow::Result<()> {
    match &asked.export_json {
        Some(path) if path.as_os_str() == "-" => ui::data(json),
        Some(path) => destination::write(path, json).context("--export-json"),
        None => Ok(()),
    }
}
