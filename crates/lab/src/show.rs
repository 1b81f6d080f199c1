//! The commands that show what is known already.

use crate::cli::{Cli, ExplainArgs, ListArgs, ReportArgs};
use crate::exit::Exit;
use crate::{catalog, destination, input, lookup, redaction, session, session_folders, ui};
use anyhow::{Context, bail};
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use model::{Design, Manifest};
use session_folders::SESSIONS_MAX;
use std::path::PathBuf;

/// Lists the experiments, and for people the presets.
pub(crate) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let designs = catalog::designs();
    ui::show(args.json, &designs, |width| report::catalog::list(&designs, args.profile, width))?;
    if !args.json {
        let presets: Vec<_> = experiments::presets().into_iter().map(|it| it.about).collect();
        ui::people(&report::catalog::presets(&presets, ui::width()))?;
    }
    Ok(Exit::Done)
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let designs = catalog::all();
    let name = &args.experiment;
    if !args.shown.json && !designs.iter().any(|design| design.id == *name) {
        let presets: Vec<_> = experiments::presets().into_iter().map(|it| it.about).collect();
        let is_preset = presets.iter().any(|preset| preset.name == *name);
        let listed = catalog::designs();
        let about = report::catalog::about(name, &listed, &presets, &commands(), ui::width());
        if let Some(about) = about.filter(|_| !is_preset) {
            ui::people(&about)?;
            return Ok(Exit::Done);
        }
    }
    let design = catalog::find(&designs, name)?;
    ui::show(args.shown.json, &design, |width| {
        report::catalog::explain(&design, args.shown.profile, width, args.all)
    })?;
    Ok(Exit::Done)
}

/// Returns the names of the commands, each with what it is for.
fn commands() -> Vec<(String, String)> {
    let cli = Cli::command();
    let shown = cli.get_subcommands().filter(|it| !it.is_hide_set());
    let about = |it: &clap::Command| it.get_about().map(ToString::to_string).unwrap_or_default();
    shown.map(|it| (it.get_name().to_string(), about(it))).collect()
}

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let ids = |manifest: &Manifest| manifest.designs.iter().map(|it| it.id.clone()).collect();
    let (dir, first) = lookup::session_or_part(args.session.as_deref(), ids)?;
    let experiments: Vec<String> =
        first.map(String::from).into_iter().chain(args.experiments.clone()).collect();
    if first.is_some() && (args.output.is_some() || args.json) {
        bail!("an experiment is drawn in the terminal, which --output and --json do not do");
    }
    if !destination::is_session(&dir) && dir.is_dir() {
        return each(&session_folders::of_path(&dir, SESSIONS_MAX, "report takes")?, args);
    }
    let mut stored = store::open(&dir)?;
    session::say_what_is_odd(&stored);
    if args.redact {
        stored = redaction::redacted(stored)?;
    }
    let summary = session::summary(&stored);
    let whole =
        report::Session { manifest: &stored.manifest, records: &stored.records, summary: &summary };
    if args.terminal || args.all || !experiments.is_empty() {
        return draw(&whole, &experiments, args.all);
    }
    match &args.output {
        Some(path) => destination::write(path, &report::html_alone(&whole)).context("--output")?,
        // What stays in the folder is not redacted.
        None if args.redact => {}
        None => session::rewrite(&dir, &whole)?,
    }
    if args.output.as_deref().is_some_and(input::is_standard) {
        return Ok(Exit::Done);
    }
    if args.json {
        ui::data(&serde_json::to_string_pretty(&summary)?)?;
    } else {
        if let Some(scaling) = report::scaling(&stored.manifest, &stored.records, session::VERSION)
        {
            ui::people(&report::scaling_answer(&scaling, Some(&whole)).text(ui::width()))?;
        } else {
            ui::people(&report::terminal(&whole, ui::width(), ui::letters(), None))?;
        }
        if stored.manifest.options.selftest {
            let grade = report::grade(&analysis::selftest(&summary)).text(ui::width());
            ui::people(&format!("\n{grade}"))?;
        }
        if let Some(why) = report::why(&whole) {
            ui::people(&format!("\n{}", report::why_text(&why, None, ui::width())))?;
        }
        let beside = args.output.is_none();
        if beside && args.redact {
            return Ok(Exit::Done);
        }
        let path = args.output.clone().unwrap_or_else(|| dir.join(report::REPORT_PAGE));
        session::say_where(&path, &summary, beside)?;
    }
    Ok(Exit::Done)
}

/// Analyses each of some sessions again, writes its pages, and says in a line what it decided; or draws the
/// experiments that were named, of each session that has them.
fn each(folders: &[PathBuf], args: &ReportArgs) -> anyhow::Result<Exit> {
    if args.output.is_some() || args.json || args.redact {
        bail!("--output, --json and --redact take one session, not a folder of them");
    }
    let mut exit = Exit::Done;
    for dir in folders {
        let stored = session_folders::or_left_out(dir, folders.len(), store::open(dir))?;
        let Some(stored) = stored else {
            exit = Exit::Incomplete;
            continue;
        };
        session::say_what_is_odd(&stored);
        let summary = session::summary(&stored);
        let whole = report::Session {
            manifest: &stored.manifest,
            records: &stored.records,
            summary: &summary,
        };
        if !args.terminal && !args.all && args.experiments.is_empty() {
            session::rewrite(dir, &whole)?;
            let page = dir.join(report::REPORT_PAGE);
            ui::people(&format!("{}\n  {}", page.display(), report::in_a_line(&whole)))?;
            continue;
        }
        let has = |name: &&String| summary.experiments.iter().any(|one| one.id == **name);
        let (named, absent): (Vec<&String>, Vec<&String>) = args.experiments.iter().partition(has);
        for name in &absent {
            ui::note(&format!("{} is left out: it has no experiment {name}", dir.display()));
            exit = Exit::Incomplete;
        }
        if named.is_empty() && !args.experiments.is_empty() {
            continue;
        }
        let named: Vec<String> = named.into_iter().cloned().collect();
        ui::result(&format!("{}:", dir.display()))?;
        draw(&whole, &named, args.all)?;
    }
    Ok(exit)
}

/// Draws experiments of a session, or all of them, and leaves its folder alone.
fn draw(session: &report::Session<'_>, experiments: &[String], all: bool) -> anyhow::Result<Exit> {
    let known: Vec<&str> =
        session.summary.experiments.iter().map(|experiment| experiment.id.as_str()).collect();
    for name in experiments {
        catalog::known("the session has no experiment named", name, &known)?;
    }
    ui::result(&report::charts(session, experiments, ui::width(), ui::letters(), all))?;
    Ok(Exit::Done)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    let quantities = quantities();
    let responses: Vec<&str> =
        quantities.iter().filter_map(|it| Some(it.split_once('.')?.1)).collect();
    let mut cli = with_experiments()
        .mut_subcommand("ask", known("quantity", &quantities))
        .mut_subcommand("export", known("responses", &responses));
    clap_complete::generate(shell, &mut cli, "scruple", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if shell == clap_complete::Shell::Fish {
        // clap's script for fish knows no values of positional arguments.
        let all = [names(experiments::CATALOG), names(experiments::PLANTED)].concat();
        for (command, names) in [
            ("ask", quantities),
            ("run", runnable()),
            ("explain", all),
            ("selftest", names(experiments::PLANTED)),
        ] {
            text.push_str(&format!(
                "complete -c scruple -n \"__fish_seen_subcommand_from {command}\" -f -a \"{}\"\n",
                names.join(" ")
            ));
        }
    }
    ui::result(&text)?;
    Ok(Exit::Done)
}

fn names(catalog: &[kit::Experiment]) -> Vec<&'static str> {
    catalog.iter().map(|known| known.id).collect()
}

/// Returns what `scruple run` takes: the catalog's names and those of the presets, which live as long as the process.
fn runnable() -> Vec<&'static str> {
    let presets = experiments::presets().into_iter().map(|it| &*it.about.name.leak());
    names(experiments::CATALOG).into_iter().chain(presets).collect()
}

/// Returns every response of the catalog as a quantity, such as `create.whole_ns`, for as long as the process lives.
fn quantities() -> Vec<&'static str> {
    let of = |design: &Design| -> Vec<&'static str> {
        let names = design.responses.iter().map(|it| format!("{}.{}", design.id, it.name));
        names.map(|name| &*name.leak()).collect()
    };
    catalog::designs().iter().flat_map(of).collect()
}

/// Returns what gives an argument of a command the values that a shell completes.
fn known(
    argument: &'static str,
    names: &[&'static str],
) -> impl FnOnce(clap::Command) -> clap::Command {
    let names = PossibleValuesParser::new(names.iter().copied());
    move |command| command.mut_arg(argument, |it| it.value_parser(names))
}

/// Returns the command line with the catalogs' names as the values an experiment may have, so that a
/// shell completes them.
pub(crate) fn with_experiments() -> clap::Command {
    let (catalog, planted) = (names(experiments::CATALOG), names(experiments::PLANTED));
    let all = [&catalog[..], &planted].concat();
    let run = runnable();
    Cli::command()
        .mut_subcommand("run", known("experiments", &run))
        .mut_subcommand("report", known("experiments", &all))
        .mut_subcommand("selftest", known("experiments", &planted))
        .mut_subcommand("fleet", |fleet| fleet.mut_subcommand("run", known("experiments", &run)))
        .mut_subcommand("export", known("experiments", &all))
        .mut_subcommand("compare", known("experiment", &all))
        .mut_subcommand("explain", known("experiment", &all))
}

pub(crate) fn man() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    sections(&Cli::command(), "scruple", &mut page)?;
    ui::result(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}

/// Writes the sections of the commands below one, and of those below them.
fn sections(above: &clap::Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
    for command in above.get_subcommands().filter(shown) {
        let name = format!("{name} {}", command.get_name());
        let man = clap_mangen::Man::new(command.clone().bin_name(&name));
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        sections(command, &name, page)?;
    }
    Ok(())
}
