//! Known answers are planted: does the laboratory, on this machine, find them?

use crate::cli::SelftestArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{inquiry, plan};

/// The time to measure in, in seconds: several planted effects of 2 % are found in it on a quiet
/// machine.
const BUDGET_S: u64 = 60;

pub(crate) fn selftest(args: &SelftestArgs) -> anyhow::Result<Exit> {
    inquiry::perform(&args.plan, Purpose::Selftest, args.json, None, || {
        let designs = plan::choose(Purpose::Selftest, &args.experiments)?;
        Plan::new(Purpose::Selftest, designs, args.profile, &args.plan, BUDGET_S)
    })
}
