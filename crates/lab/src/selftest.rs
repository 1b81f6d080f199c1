//! Known answers are planted: does the laboratory, on this machine, find them?

use crate::cli::SelftestArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{conduct, inquiry, plan};

/// The time to measure in, in seconds: several planted effects of 2 % are found in it on a quiet
/// machine.
const BUDGET_S: u64 = 60;

pub(crate) fn selftest(args: &SelftestArgs) -> anyhow::Result<Exit> {
    let session = inquiry::open(&args.plan, Purpose::Selftest, || {
        let designs = plan::choose(Purpose::Selftest, &args.experiments)?;
        conduct::begin(Plan::new(Purpose::Selftest, designs, args.profile, &args.plan, BUDGET_S)?)
    })?;
    inquiry::conclude(session, args.json, None)
}
