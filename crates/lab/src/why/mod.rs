//! One resource at a time is taken from a command: which of them limits it?

mod design;

use crate::cli::WhyArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::study::programs;
use crate::{conduct, inquiry};
use model::{Inquiry, Profile};

/// The time to measure in, in seconds.
const BUDGET_S: u64 = 180;

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Why);

pub(crate) fn why(args: &WhyArgs) -> anyhow::Result<Exit> {
    let session = inquiry::open(args.resume.as_deref(), PURPOSE, || {
        let design = design::design(args)?;
        programs::look_for(&design)?;
        let (designs, profile) = (vec![design], Profile::Quick);
        conduct::begin(Plan::of_designs(PURPOSE, designs, profile, &args.plan, BUDGET_S)?)
    })?;
    inquiry::conclude(session, args.json, None)
}
