//! Known answers are planted: does the laboratory, on this machine, find them?

use crate::cli::SelftestArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{conduct, inquiry};

/// The time to measure in, in seconds: several planted effects of 2 % are found in it on a quiet
/// machine.
const BUDGET_S: u64 = 60;

pub(crate) fn selftest(args: &SelftestArgs) -> anyhow::Result<Exit> {
    let session = inquiry::open(&args.plan, Purpose::Selftest, || {
        let (names, profile) = (&args.experiments, args.profile.into());
        conduct::begin(Plan::new(Purpose::Selftest, names, profile, &args.plan, BUDGET_S)?)
    })?;
    inquiry::conclude(session, args.json, None)
}
