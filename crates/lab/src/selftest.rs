//! Known answers are planted: does the laboratory, on this machine, find them?

use crate::cli::SelftestArgs;
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{session, ui};
use model::Selftest;

/// The time to measure in, in seconds: several planted effects of 2 % are found in it on a quiet
/// machine.
const BUDGET_S: u64 = 60;

pub(crate) fn selftest(args: &SelftestArgs) -> anyhow::Result<Exit> {
    conduct::prepare()?;
    let mut session = match &args.resume {
        Some(dir) => conduct::resume(dir, Purpose::Selftest)?,
        None => {
            let (names, profile) = (&args.experiments, args.profile.into());
            conduct::begin(Plan::new(Purpose::Selftest, names, profile, &args.plan, BUDGET_S)?)?
        }
    };
    let ending = session.measure()?;
    let summary = session.conclude()?;
    let folder = Some(session.dir().display().to_string());
    let told = Selftest { folder, ..analysis::selftest(&summary) };
    if args.json {
        ui::data(&serde_json::to_string_pretty(&told)?)?;
    } else {
        let stored = session.stored(&summary);
        let table = report::selftest_text(&stored, ui::width());
        let grade = report::grade_text(&told, ui::width());
        ui::people(format!("{table}\n{grade}").trim_start())?;
        session::say_where(&session.dir().join(report::REPORT_PAGE), &summary, true)?;
    }
    session.say_how_it_ended(ending);
    if !told.trusted && args.json {
        // Whoever reads the exit code alone is told for which size of effect, too.
        ui::warn(&told.sentence);
    }
    Ok(match ending {
        Ending::Complete | Ending::OutOfTime if told.trusted => Exit::Done,
        _ => Exit::Incomplete,
    })
}
