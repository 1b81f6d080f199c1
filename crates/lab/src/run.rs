//! The main job: plan, measure, judge, report.

use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::plan::Purpose;
use crate::{inquiry, programs};

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let session = inquiry::open(&args.plan, Purpose::Run, || programs::begin(args))?;
    inquiry::conclude(session, args.json, Some(&args.verdicts))
}
