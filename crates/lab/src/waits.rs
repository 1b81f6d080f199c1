//! `scruple waits`: what a program's threads wait for.

use crate::cli::waits::WaitsArgs;
use crate::destination::place;
use crate::exit::Exit;
use crate::progress::Line;
use crate::{input, session, spoken, ui};
use anyhow::{Context, anyhow, ensure};
use model::Watched;
use std::time::Duration;
use subject::{Watch, Watching};

/// How often the live line is drawn.
const SHOWN_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn waits(args: &WaitsArgs) -> anyhow::Result<Exit> {
    let to_stdout = args.html.as_deref().is_some_and(input::is_standard);
    ensure!(
        !(to_stdout && args.json),
        "--json and --html - each want standard output: give one of them a file"
    );
    let command = spoken::words(&args.command, &args.env)?;
    // Before the command runs: what cannot be watched again should have a place.
    let html = place(args.html.as_deref(), "--html")?;
    sys::needed::check()?;
    sys::interrupt::install()?;
    let what = match args.pid {
        Some(pid) => Watch::Process(pid),
        None => Watch::Command { words: &command, apart: args.json || to_stdout },
    };
    let limit = args.limit.map(Duration::from_millis);
    let mut line = Line::new(args.limit, "{wide_bar:.cyan/dim} {prefix}\n{msg}").waits();
    let mut show = |watched: &Watched| {
        let elapsed = Duration::from_nanos(watched.elapsed_ns);
        line.show(elapsed.as_millis() as u64, elapsed, report::waits_so_far(watched));
    };
    // A command's own output is not drawn over.
    let shows = args.pid.is_some();
    let show = shows.then_some((SHOWN_EVERY, &mut show as &mut dyn FnMut(&Watched)));
    let result = subject::watch(what, Watching { limit, show });
    drop(line);
    let mut watched = result.map_err(|stop| match stop {
        kit::Stop::Unsupported(why) | kit::Stop::Failed(why) => anyhow!(why),
    })?;
    watched.scruple = session::VERSION.into();
    // A process that runs already has inherited something else.
    if args.pid.is_none() {
        let mut settings = sys::inherited::facts();
        let nice = Some(sys::process::nice()).filter(|nice| *nice != 0);
        settings.extend(nice.map(|nice| ("nice".to_string(), nice.to_string())));
        watched.conditions = wording::conditions(&settings).collect();
    }
    watched.conditions.splice(0..0, report::quota(&watched));
    if !to_stdout {
        let words = |width| report::waits(&watched, ui::letters()).text(width);
        ui::show(args.json, &watched, words)?;
    }
    // Last: a full disk must not cost the result.
    if let Some(file) = html {
        let page = report::waits(&watched, report::Letters::Unicode).page();
        file.put(page.as_bytes()).context("--html")?;
    }
    Ok(Exit::Done)
}
