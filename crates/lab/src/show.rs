//! The commands that show what is known already.

use crate::cli::{Cli, ExplainArgs, ListArgs, ReportArgs};
use crate::exit::Exit;
use crate::{catalog, destination, input, session, ui};
use anyhow::{Context, bail};
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;

pub(crate) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let designs = catalog::designs();
    ui::show(args.json, &designs, |width| report::catalog::list(&designs, args.profile, width))?;
    Ok(Exit::Done)
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let design = catalog::find(&catalog::all(), &args.experiment)?;
    ui::show(args.shown.json, &design, |width| {
        report::catalog::explain(&design, args.shown.profile, width, args.all)
    })?;
    Ok(Exit::Done)
}

pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let stored = store::open(&args.session)?;
    session::say_what_is_odd(&stored);
    let summary = session::summarise(&stored.manifest, &stored.records, &stored.manifest.designs);
    let whole =
        report::Session { manifest: &stored.manifest, records: &stored.records, summary: &summary };
    if args.terminal || args.all || !args.experiments.is_empty() {
        return draw(&whole, args);
    }
    match &args.output {
        Some(path) => destination::write(path, &report::html_alone(&whole)).context("--output")?,
        None => session::rewrite(&args.session, &whole)?,
    }
    if args.output.as_deref().is_some_and(input::is_standard) {
        return Ok(Exit::Done);
    }
    if args.json {
        ui::data(&serde_json::to_string_pretty(&summary)?)?;
    } else {
        if let Some(scaling) = report::scaling(&stored.manifest, &stored.records, session::VERSION)
        {
            ui::people(&report::scaling_answer(&scaling).text(ui::width()))?;
        } else {
            ui::people(&report::terminal(&whole, ui::width(), ui::letters(), None))?;
        }
        if stored.manifest.options.selftest {
            let grade = report::grade(&analysis::selftest(&summary)).text(ui::width());
            ui::people(&format!("\n{grade}"))?;
        }
        if let Some(why) = report::why(&whole) {
            ui::people(&format!("\n{}", report::why_text(&why, ui::width())))?;
        }
        let beside = args.output.is_none();
        let path = args.output.clone().unwrap_or_else(|| args.session.join(report::REPORT_PAGE));
        session::say_where(&path, &summary, beside)?;
    }
    Ok(Exit::Done)
}

/// Draws experiments of a session, or all of them, and leaves its folder alone.
fn draw(session: &report::Session<'_>, args: &ReportArgs) -> anyhow::Result<Exit> {
    let experiments = &args.experiments;
    let known: Vec<&str> =
        session.summary.experiments.iter().map(|experiment| experiment.id.as_str()).collect();
    if let Some(unknown) = experiments.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("the session has no experiment named {unknown:?}; it has: {}", known.join(", "));
    }
    ui::result(&report::charts(session, experiments, ui::width(), ui::letters(), args.all))?;
    Ok(Exit::Done)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut with_experiments(), "scruple", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if shell == clap_complete::Shell::Fish {
        // clap's script for fish knows no values of positional arguments.
        let all = [names(experiments::CATALOG), names(experiments::PLANTED)].concat();
        for (command, names) in [
            ("run", names(experiments::CATALOG)),
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

/// Returns the command line with the catalogs' names as the values an experiment may have, so that a
/// shell completes them.
pub(crate) fn with_experiments() -> clap::Command {
    let known = |argument: &'static str, names: &[&'static str]| {
        let names = PossibleValuesParser::new(names.iter().copied());
        move |command: clap::Command| command.mut_arg(argument, |it| it.value_parser(names))
    };
    let (catalog, planted) = (names(experiments::CATALOG), names(experiments::PLANTED));
    let all = [&catalog[..], &planted].concat();
    let run = known("experiments", &catalog);
    Cli::command()
        .mut_subcommand("run", known("experiments", &catalog))
        .mut_subcommand("report", known("experiments", &all))
        .mut_subcommand("selftest", known("experiments", &planted))
        .mut_subcommand("fleet", |fleet| fleet.mut_subcommand("run", run))
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
