//! How a program of the user's scales: a session of trials over n, or figures from elsewhere.

mod design;
mod figures;

use crate::cli::scale::ScaleArgs;
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{session, ui};
use anyhow::bail;
use model::{Inquiry, Manifest, Profile, Record, Scaling};

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Scale);

pub(crate) fn scale(args: &ScaleArgs) -> anyhow::Result<Exit> {
    if let Some(file) = &args.fit {
        tell(&figures::fit(file)?, args.json)?;
        return Ok(Exit::Done);
    }
    conduct::prepare()?;
    let mut session = match &args.resume {
        Some(dir) => conduct::resume(dir, PURPOSE)?,
        None => conduct::begin(plan(args)?)?,
    };
    let ending = session.measure()?;
    let summary = session.conclude()?;
    let stored = session.stored(&summary);
    let Some(scaling) = answer(stored.manifest, stored.records) else {
        bail!("{} holds no program whose scaling was asked for", session.dir().display());
    };
    tell(&scaling, args.json)?;
    if !args.json {
        session::say_where(&session.dir().join(report::REPORT_PAGE), &summary, true)?;
    }
    session.say_how_it_ended(ending);
    let succeeded = session.say_what_failed(&summary);
    match ending {
        Ending::Interrupted => Ok(Exit::Incomplete),
        _ if !succeeded => {
            bail!("no trial succeeded, so nothing is known of the command; mend what failed first")
        }
        Ending::Complete | Ending::OutOfTime => Ok(Exit::Done),
    }
}

/// What a session says of how its program scales; none if nobody asked that.
pub(crate) fn answer(manifest: &Manifest, records: &[Record]) -> Option<Scaling> {
    report::scaling(manifest, records, session::VERSION)
}

fn tell(scaling: &Scaling, json: bool) -> anyhow::Result<()> {
    if json {
        ui::data(&serde_json::to_string_pretty(scaling)?)
    } else {
        ui::people(&report::scaling_text(scaling, ui::width()))
    }
}

fn plan(args: &ScaleArgs) -> anyhow::Result<Plan> {
    let profile = Profile::from(args.profile);
    let cpus = crate::plan::cpus(args.plan.measure.affinity.as_deref())?;
    let design = design::design(args, cpus.len())?;
    crate::study::programs::look_for(&design)?;
    Plan::of_designs(PURPOSE, vec![design], profile, &args.plan, profile.budget_s())
}
