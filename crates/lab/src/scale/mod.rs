//! How a program of the user's scales: a session of trials over n, or figures from elsewhere.

mod design;
mod figures;

use crate::cli::scale::ScaleArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::study::programs;
use crate::{conduct, inquiry, ui};
use model::{Inquiry, Profile};

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Scale);

pub(crate) fn scale(args: &ScaleArgs) -> anyhow::Result<Exit> {
    if let Some(file) = &args.fit {
        let scaling = figures::fit(file)?;
        if args.json {
            ui::data(&serde_json::to_string_pretty(&scaling)?)?;
        } else {
            ui::people(&report::scaling_text(&scaling, ui::width()))?;
        }
        return Ok(Exit::Done);
    }
    let session = inquiry::open(args.resume.as_deref(), PURPOSE, || conduct::begin(plan(args)?))?;
    inquiry::conclude(session, args.json, None)
}

fn plan(args: &ScaleArgs) -> anyhow::Result<Plan> {
    let profile = Profile::from(args.profile);
    let cpus = crate::plan::cpus(args.plan.measure.affinity.as_deref())?;
    let design = design::design(args, cpus.len())?;
    programs::look_for(&design)?;
    Plan::of_designs(PURPOSE, vec![design], profile, &args.plan, profile.budget_s())
}
