//! `scruple run`: experiments of the catalog.

use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::inquiry;
use crate::plan::{self, Purpose};

/// The main job: plan, measure, judge, report.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    inquiry::perform(&args.plan, Purpose::Run, args.json, Some(&args.verdicts), || {
        plan::of_catalog(&args.experiments, args.profile, &args.plan)
    })
}
