//! The path that every command with a session takes: begin it or take it up again, measure, analyse, show
//! the answer, end. The commands differ in what they plan and in what they show.

use crate::cli::{PlanArgs, VerdictArgs};
use crate::conduct::{self, Ending, Session};
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{destination, dry_run, lookup, session, ui};
use anyhow::{Context, bail};
use model::{ExperimentSummary, Inquiry, Selftest, Summary, Verdict, Why};
use std::path::Path;

/// The outcome of a trial that measured.
const COMPLETED: &str = "completed";

/// Treatments of one outcome that are named.
const NAMED_MAX: usize = 6;

/// What a session says to the command that conducted it.
struct Answer {
    json: String,
    text: String,
    exit: Exit,
    /// A warning for those who read the JSON alone.
    warning: Option<String>,
}

/// Takes a stored session up again, or begins one.
///
/// # Errors
/// If this process cannot conduct trials, the stored session cannot be resumed, or `begin` fails.
pub(crate) fn open(
    args: &PlanArgs,
    purpose: Purpose,
    begin: impl FnOnce() -> anyhow::Result<Session>,
) -> anyhow::Result<Session> {
    conduct::prepare()?;
    match &args.resume {
        Some(dir) => conduct::resume(&lookup::named(dir)?, purpose),
        None => begin(),
    }
}

/// Takes a stored session up again or begins one, measures it and shows what it answers, or shows what it would
/// measure. Returns how the command ends.
///
/// # Errors
/// As [`open`] and [`conclude`].
pub(crate) fn perform(
    args: &PlanArgs,
    purpose: Purpose,
    json: bool,
    verdicts: Option<&VerdictArgs>,
    plan: impl FnOnce() -> anyhow::Result<Plan>,
) -> anyhow::Result<Exit> {
    if args.dry_run {
        return dry_run::show(&plan()?, json);
    }
    conclude(open(args, purpose, || conduct::begin(plan()?))?, json, verdicts)
}

/// Measures a session and shows what it answers. Returns how the command ends.
///
/// # Errors
/// If the session cannot be measured, stored or shown, or if no trial of the user's program completed.
pub(crate) fn conclude(
    mut session: Session,
    json: bool,
    verdicts: Option<&VerdictArgs>,
) -> anyhow::Result<Exit> {
    let ending = session.measure()?;
    let summary = session.conclude()?;
    session.must_have_trials()?;
    let stored = session.stored(&summary);
    let answer = answer(&stored, session.dir(), verdicts)?;
    if let Some(path) = verdicts.and_then(|verdicts| verdicts.export_json.as_deref()) {
        destination::write(path, &answer.json).context("--export-json")?;
    }
    if json {
        ui::data(&answer.json)?;
    } else {
        ui::people(&answer.text)?;
        session::say_where(&session.dir().join(report::REPORT_PAGE), &summary, true)?;
    }
    session.say_how_it_ended(ending);
    if let Some(warning) = answer.warning.filter(|_| json) {
        ui::warn(&warning);
    }
    if ending != Ending::Interrupted {
        programs_must_end(&stored)?;
    }
    if let Purpose::Ask(inquiry) = Purpose::of(&stored.manifest.options) {
        // The answer of `why` says what became of each squeeze.
        if inquiry != Inquiry::Why {
            say_what_failed(&stored);
            say_what_it_printed(&stored);
        }
        let outcomes = summary.experiments.iter().flat_map(|experiment| &experiment.outcomes);
        let none = !outcomes.into_iter().any(|outcome| outcome.outcome == COMPLETED);
        if none && ending != Ending::Interrupted {
            let dir = session.dir().display();
            let accept = how_to_accept(inquiry, &summary);
            bail!(
                "every trial failed; fix the command{accept} and run again (scruple report {dir} shows how)"
            );
        }
    }
    Ok(if ending == Ending::Interrupted { Exit::Incomplete } else { answer.exit })
}

/// Returns how to accept the exit code of a command whose trials failed by it alone.
fn how_to_accept(inquiry: Inquiry, summary: &Summary) -> &'static str {
    let outcomes = summary.experiments.iter().flat_map(|experiment| &experiment.outcomes);
    let by_code = |reason: &str| reason.contains("ended with exit code");
    match inquiry {
        _ if !outcomes.clone().all(|outcome| by_code(&outcome.reason)) => "",
        Inquiry::Study => ", or let the study accept its exit code (exit_codes = \"any\"),",
        Inquiry::Scale | Inquiry::Why => ", or accept its exit code (--ignore-failure)",
    }
}

/// Returns what a session says to those who asked.
fn answer(
    session: &report::Session<'_>,
    dir: &Path,
    verdicts: Option<&VerdictArgs>,
) -> anyhow::Result<Answer> {
    let width = ui::width();
    let mut exit = Exit::Done;
    let mut warning = None;
    let (json, text) = match Purpose::of(&session.manifest.options) {
        Purpose::Run | Purpose::Ask(Inquiry::Study) => {
            exit = verdicts.map_or(Exit::Done, |asked| verdict_exit(asked, session.summary));
            let json = serde_json::to_string_pretty(session.summary)?;
            (json, report::terminal(session, width, ui::letters(), Some(ui::height())))
        }
        Purpose::Ask(Inquiry::Scale) => {
            let scaling = report::scaling(session.manifest, session.records, session::VERSION);
            let Some(scaling) = scaling else {
                bail!("{} holds no program whose scaling was asked for", dir.display());
            };
            let json = serde_json::to_string_pretty(&scaling)?;
            (json, report::scaling_answer(&scaling, Some(session)).text(width))
        }
        Purpose::Ask(Inquiry::Why) => {
            let Some(why) = report::why(session) else {
                bail!("{} holds nothing that was squeezed", dir.display());
            };
            if why.wall_ns.is_none() {
                exit = Exit::Incomplete;
            }
            let why = Why { folder: folder(session, dir), ..why };
            (serde_json::to_string_pretty(&why)?, report::why_text(&why, Some(session), width))
        }
        Purpose::Selftest => {
            let folder = folder(session, dir);
            let grade = Selftest { folder, ..analysis::selftest(session.summary) };
            if !grade.trusted {
                exit = Exit::Incomplete;
                warning = Some(grade.sentence.clone());
            }
            let table = report::selftest_text(session, width);
            let text = format!("{table}\n{}", report::grade(&grade).text(width));
            (serde_json::to_string_pretty(&grade)?, text.trim_start().to_string())
        }
    };
    Ok(Answer { json, text, exit, warning })
}

/// Returns a session's folder, if what is said of the session may name it.
fn folder(session: &report::Session<'_>, dir: &Path) -> Option<String> {
    (!session.manifest.redacted).then(|| dir.display().to_string())
}

/// Returns how a command ends that was asked to fail on some verdicts.
fn verdict_exit(asked: &VerdictArgs, summary: &Summary) -> Exit {
    let claims = summary.experiments.iter().flat_map(|experiment| &experiment.claims);
    let verdicts: Vec<Verdict> = claims.map(|claim| claim.verdict).collect();
    if asked.fail_if_refuted && verdicts.contains(&Verdict::Refuted) {
        return Exit::Refuted;
    }
    if asked.fail_if_inconclusive && verdicts.contains(&Verdict::Inconclusive) {
        return Exit::Incomplete;
    }
    Exit::Done
}

/// Warns of the treatments at which a program failed, and says how.
fn say_what_failed(session: &report::Session<'_>) {
    for experiment in &session.summary.experiments {
        let trials: u64 = experiment.outcomes.iter().map(|outcome| outcome.trials).sum();
        for outcome in experiment.outcomes.iter().filter(|it| it.outcome != COMPLETED) {
            let how = outcome.outcome.replace('_', " ");
            let colon = if outcome.reason.is_empty() { "" } else { ": " };
            ui::warn(&format!(
                "{} of {trials} trials {how}{colon}{} (at: {})",
                outcome.trials,
                outcome.reason,
                treatments(session, experiment, &outcome.treatments)
            ));
        }
    }
}

/// Says how numbers that a program printed were read, and which are missing.
fn say_what_it_printed(session: &report::Session<'_>) {
    for design in &session.manifest.designs {
        for (label, text) in analysis::read_as(design, session.records) {
            ui::note(&format!("{label} was read {text}"));
        }
        let own: Vec<_> = session.records.iter().filter(|it| it.experiment == design.id).collect();
        analysis::missing_numbers(design, &own).iter().for_each(|warning| ui::warn(warning));
    }
}

/// Fails if a program of the user's failed: what was measured of others is stored and shown.
fn programs_must_end(session: &report::Session<'_>) -> anyhow::Result<()> {
    for experiment in &session.summary.experiments {
        let designs = &session.manifest.designs;
        let design = designs.iter().find(|design| design.id == experiment.id);
        if design.is_none_or(|design| design.programs.is_empty()) {
            continue;
        }
        let trials: u64 = experiment.outcomes.iter().map(|outcome| outcome.trials).sum();
        if let Some(failed) = experiment.outcomes.iter().find(|it| it.outcome != COMPLETED) {
            bail!("{} of {trials} trials failed: {}", failed.trials, failed.reason);
        }
    }
    Ok(())
}

/// Returns the first of some treatments of an experiment by name, and the number of the others.
fn treatments(
    session: &report::Session<'_>,
    experiment: &ExperimentSummary,
    treatments: &[model::Treatment],
) -> String {
    let designs = &session.manifest.designs;
    let design = designs.iter().find(|design| design.id == experiment.id);
    let names = treatments.iter().take(NAMED_MAX);
    let names: Vec<String> =
        names.filter_map(|treatment| Some(report::treatment(design?, treatment))).collect();
    match treatments.len().saturating_sub(NAMED_MAX) {
        0 => names.join("; "),
        more => format!("{} and {more} more", names.join("; ")),
    }
}
