//! One resource at a time is taken from a command: which does it live on?

mod design;

use crate::cli::WhyArgs;
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{session, ui};
use anyhow::bail;
use model::{Inquiry, Profile, Why};

/// The time to measure in, in seconds.
const BUDGET_S: u64 = 180;

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Why);

pub(crate) fn why(args: &WhyArgs) -> anyhow::Result<Exit> {
    conduct::prepare()?;
    let mut session = match &args.resume {
        Some(dir) => conduct::resume(dir, PURPOSE)?,
        None => {
            let design = design::design(args)?;
            crate::study::programs::look_for(&design)?;
            let (designs, profile) = (vec![design], Profile::Quick);
            conduct::begin(Plan::of_designs(PURPOSE, designs, profile, &args.plan, BUDGET_S)?)?
        }
    };
    let ending = session.measure()?;
    let summary = session.conclude()?;
    let stored = session.stored(&summary);
    let Some(told) = report::why(&stored) else {
        bail!("{} holds nothing that was squeezed", session.dir().display());
    };
    let told = Why { folder: Some(session.dir().display().to_string()), ..told };
    if args.json {
        ui::data(&serde_json::to_string_pretty(&told)?)?;
    } else {
        ui::people(&report::why_text(&told, ui::width()))?;
        session::say_where(&session.dir().join(report::REPORT_PAGE), &summary, true)?;
    }
    session.say_how_it_ended(ending);
    match ending {
        Ending::Interrupted => Ok(Exit::Incomplete),
        Ending::Complete | Ending::OutOfTime if told.wall_ns.is_none() => {
            bail!(
                "no trial of the command completed: scruple report {} says why",
                session.dir().display()
            )
        }
        Ending::Complete | Ending::OutOfTime => Ok(Exit::Done),
    }
}
