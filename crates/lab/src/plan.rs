//! What a session is to measure, from the command line.

use crate::catalog;
use crate::cli::PlanArgs;
use anyhow::bail;
use model::{Design, Inquiry, Options, Profile};
use std::path::PathBuf;
use std::time::Duration;
use subject::Missing;

/// The A/A control that every session measures.
pub(crate) const CONTROL: &str = "null";

/// The blocks of a study's first set: one of twelve may disagree, and a verdict stands (2 · 13/2¹² = 0.006).
/// Who compares a few programs expects an answer, and others use the machine now and then.
const STUDY_BLOCKS: u32 = 12;

/// The time after which a study that was given none begins no further block of its first set, in seconds:
/// twelve blocks of two commands of 25 seconds each.
const STUDY_BASE_S: u64 = 600;

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To answer questions.
    Run,
    /// To find known answers.
    Selftest,
    /// To ask something of a program of the user's.
    Ask(Inquiry),
}

impl Purpose {
    /// Returns what a stored session was begun for.
    pub(crate) fn of(options: &Options) -> Self {
        match options.inquiry {
            Some(inquiry) => Purpose::Ask(inquiry),
            None if options.selftest => Purpose::Selftest,
            None => Purpose::Run,
        }
    }

    /// Returns the command that begins such a session, and goes on with it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Purpose::Run => "run",
            Purpose::Selftest => "selftest",
            Purpose::Ask(inquiry) => inquiry.command(),
        }
    }

    /// Returns the experiments of such a session, the control among them. Those of a user's program are
    /// made for the session and stand in no catalog.
    fn catalog(self) -> Vec<Design> {
        match self {
            Purpose::Run => catalog::designs(),
            Purpose::Ask(_) => Vec::new(),
            Purpose::Selftest => {
                let control = catalog::designs().into_iter().filter(|it| it.id == CONTROL);
                catalog::planted().into_iter().chain(control).collect()
            }
        }
    }
}

/// What is to be measured, and how.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) purpose: Purpose,
    pub(crate) designs: Vec<Design>,
    pub(crate) options: Options,
    pub(crate) seed: Option<u64>,
    pub(crate) output: Option<PathBuf>,
    /// Whether the base is measured although it takes longer than the time budget.
    pub(crate) base_first: bool,
    /// The time after which no block of such a base begins; none without a limit.
    pub(crate) base_within: Option<Duration>,
    /// Whether the session is stored without who measured what where.
    pub(crate) redact: bool,
    /// Whether the session holds the values of variables.
    pub(crate) keep_values: bool,
}

impl Plan {
    /// Returns the plan for some designs with the options asked for. `budget_s` is the time to measure in
    /// where the command line names neither a time nor a number of blocks.
    ///
    /// # Errors
    /// If what a design names is not there, or a CPU cannot be used.
    pub(crate) fn new(
        purpose: Purpose,
        designs: Vec<Design>,
        profile: Profile,
        args: &PlanArgs,
        budget_s: u64,
    ) -> anyhow::Result<Plan> {
        designs.iter().try_for_each(must_be_there)?;
        let cpus = cpus(args.measure.affinity.as_deref())?;
        let topology = kit::topology();
        let designs: Vec<_> = designs.into_iter().map(|it| it.on(&cpus, &topology)).collect();
        let first_blocks = first_blocks(purpose, profile, &designs);
        let options = Options {
            profile,
            experiments: designs.iter().map(|design| design.id.clone()).collect(),
            time_budget_s: match (args.measure.time_budget, args.measure.runs) {
                (Some(asked_ms), _) => Some(asked_ms as f64 / 1e3),
                (None, Some(_)) => None,
                (None, None) => Some(budget_s as f64),
            },
            first_blocks: first_blocks.filter(|_| args.measure.runs.is_none()),
            blocks: args.measure.runs,
            cpus,
            shield: !args.measure.no_shield,
            selftest: purpose == Purpose::Selftest,
            inquiry: match purpose {
                Purpose::Ask(inquiry) => Some(inquiry),
                Purpose::Run | Purpose::Selftest => None,
            },
            study: None,
            preset: None,
        };
        let base_first = matches!(purpose, Purpose::Ask(_)) && args.measure.time_budget.is_none();
        let (seed, output, redact) = (args.measure.seed, args.output.clone(), args.redact);
        let base_within = (purpose == Purpose::Ask(Inquiry::Study))
            .then(|| Duration::from_secs(STUDY_BASE_S.max(budget_s)));
        Ok(Plan {
            purpose,
            designs,
            options,
            seed,
            output,
            base_first,
            base_within,
            redact,
            keep_values: false,
        })
    }
}

/// Returns the blocks that the verdicts of some experiments take; `None` where none is asked for, or where
/// what is measured first has its own rule.
fn first_blocks(purpose: Purpose, profile: Profile, designs: &[Design]) -> Option<u32> {
    let verdicts: usize = designs.iter().map(|it| it.claims.len() + it.planted.len()).sum();
    let has_own_rule = matches!(purpose, Purpose::Ask(Inquiry::Scale | Inquiry::Why));
    let decides = verdicts > 0 && !has_own_rule && profile != Profile::Smoke;
    let least = match purpose {
        Purpose::Ask(Inquiry::Study) => STUDY_BLOCKS,
        _ => profile.blocks_min(),
    };
    let blocks = match purpose {
        Purpose::Selftest => analysis::blocks_for_planted(verdicts),
        _ => analysis::blocks_for(verdicts),
    };
    decides.then(|| blocks.max(least))
}

/// Returns the plan of `scruple run`: for some experiments of the catalog (none means all), or for a preset.
pub(crate) fn of_catalog(
    names: &[String],
    profile: Profile,
    args: &PlanArgs,
) -> anyhow::Result<Plan> {
    let mut presets = experiments::presets().into_iter();
    let Some(preset) = presets.find(|preset| names.contains(&preset.about.name)) else {
        let designs = choose(Purpose::Run, names)?;
        return Plan::new(Purpose::Run, designs, profile, args, profile.budget_s());
    };
    if names.len() > 1 {
        let name = preset.about.name;
        bail!("{name} is a preset, which chooses its experiments itself: scruple run {name}");
    }
    let control = catalog::find(&catalog::designs(), CONTROL)?;
    let designs = preset.designs.into_iter().chain([control]).collect();
    // The budget is what the trials of the usual profile need.
    let usual = profile == Profile::default();
    let budget_s = if usual { preset.time_budget_s } else { profile.budget_s() };
    let mut plan = Plan::new(Purpose::Run, designs, profile, args, budget_s)?;
    plan.options.preset = Some(preset.about);
    Ok(plan)
}

/// Returns the designs asked for (none means all), in the catalog's order, with the control.
pub(crate) fn choose(purpose: Purpose, names: &[String]) -> anyhow::Result<Vec<Design>> {
    let catalog = purpose.catalog();
    for name in names {
        if let Err(error) = catalog::find(&catalog, name) {
            let other = match purpose {
                Purpose::Selftest => Purpose::Run,
                Purpose::Run | Purpose::Ask(_) => Purpose::Selftest,
            };
            if catalog::find(&other.catalog(), name).is_ok() {
                bail!("{name} belongs to another command: scruple {} {name}", other.command());
            }
            if purpose == Purpose::Run {
                let presets = experiments::presets();
                let ids = catalog.iter().map(|design| design.id.as_str());
                let names = presets.iter().map(|preset| preset.about.name.as_str());
                let all: Vec<&str> = ids.chain(names).collect();
                catalog::known("no experiment or preset is named", name, &all)?;
            }
            return Err(error);
        }
    }
    let is_named = |design: &Design| names.is_empty() || names.contains(&design.id);
    // Where nothing is measured, nothing of the machine needs a control.
    let measures = catalog.iter().any(|design| is_named(design) && !design.is_exact());
    let wanted = |design: &Design| is_named(design) || (measures && design.id == CONTROL);
    Ok(catalog.into_iter().filter(wanted).collect())
}

/// Checks that the programs and files that a design names are there.
pub(crate) fn must_be_there(design: &Design) -> anyhow::Result<()> {
    match subject::missing(design) {
        Some(Missing { key, what }) => bail!("{key}: {what}"),
        None => Ok(()),
    }
}

/// Returns the CPUs asked for, or all that this process may use.
pub(crate) fn cpus(affinity: Option<&str>) -> anyhow::Result<Vec<u32>> {
    let allowed = sys::affinity::allowed()?;
    let Some(text) = affinity else {
        return Ok(allowed);
    };
    let wanted = sys::affinity::parse_list(text)
        .map_err(|error| anyhow::anyhow!("--affinity {text}: {error}"))?;
    if let Some(cpu) = wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        bail!(
            "--affinity {text}: CPU {cpu} is not among those this process may use ({})",
            sys::affinity::format_list(&allowed)
        );
    }
    Ok(wanted)
}
