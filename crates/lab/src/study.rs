//! Programs of the user's, as a study's file describes them.

use crate::cli::StudyArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{
    conduct, destination, dry_run, environment, input, inquiry, lookup, plan, redaction, spoken,
    study_file, ui, variables,
};
use anyhow::{Context, bail};
use model::{Design, Inquiry, Manifest, Profile};
use std::path::{Path, PathBuf};

const PURPOSE: Purpose = Purpose::Ask(Inquiry::Study);

/// How long a quick study measures at most, without --time-budget, in seconds: it compares a few
/// programs, not a catalog.
const QUICK_BUDGET_S: u64 = 30;

pub(crate) fn study(args: &StudyArgs) -> anyhow::Result<Exit> {
    if let (true, Some(file)) = (args.init, &args.file) {
        return init(file, &args.commands, args.compare);
    }
    if let Some(more) = args.commands.first() {
        bail!("{more:?}: a study is one file; with --init, what follows it are commands");
    }
    let plan = || {
        let (designs, file) = designs(args)?;
        plan(args, designs, file)
    };
    if args.plan.dry_run {
        return dry_run::show(&plan()?, args.json);
    }
    let session = inquiry::open(&args.plan, PURPOSE, || conduct::begin(plan()?))?;
    say_what_counts_twice(&session.manifest);
    if args.plan.resume.is_some() {
        say_what_has_changed(&session.manifest);
    }
    inquiry::conclude(session, args.json, Some(&args.verdicts))
}

/// Says where bytes that programs write may be counted twice, if the study measures them.
fn say_what_counts_twice(manifest: &Manifest) {
    let measures = |design: &Design| design.response(model::measures::WRITTEN).is_some();
    let measured = manifest.designs.iter().any(measures);
    if let Some(dir) = environment::on_overlay().filter(|_| measured) {
        ui::note(&format!(
            "bytes written may be too many: {} is on an overlay file system, where {}",
            dir.display(),
            environment::COPIES_COUNT_TWICE
        ));
    }
}

fn plan(args: &StudyArgs, designs: Vec<Design>, file: Option<String>) -> anyhow::Result<Plan> {
    let profile = args.profile;
    let mut designs = designs;
    if let Some(share) = &args.detect {
        let detect = |design| study::detect(design, share);
        let set = designs.iter_mut().try_for_each(detect);
        set.map_err(|what| anyhow::anyhow!("--detect: {what}"))?;
    }
    let budget_s = if profile == Profile::Quick { QUICK_BUDGET_S } else { profile.budget_s() };
    let mut plan = Plan::new(PURPOSE, designs, profile, &args.plan, budget_s)?;
    plan.options.study = file;
    plan.keep_values = args.keep_env_values;
    Ok(plan)
}

/// Returns what is to be measured, and the file that says so, as an absolute path.
fn designs(args: &StudyArgs) -> anyhow::Result<(Vec<Design>, Option<String>)> {
    if let Some(dir) = &args.from {
        let dir = &lookup::named(dir)?;
        let mut manifest = store::open(dir)?.manifest;
        if Purpose::of(&manifest.options) != PURPOSE {
            let command = Purpose::of(&manifest.options).command();
            bail!("{} holds no study: it was begun by scruple {command}", dir.display());
        }
        if !redaction::can_be_resumed(&manifest) {
            bail!("--from {}: it is redacted and holds no commands", dir.display());
        }
        variables::restore(&mut manifest, variables::Wanted::Any)
            .with_context(|| format!("--from {}", dir.display()))?;
        for design in &manifest.designs {
            plan::must_be_there(design).with_context(|| format!("--from {}", dir.display()))?;
        }
        return Ok((manifest.designs, manifest.options.study));
    }
    let Some(file) = &args.file else {
        bail!("which study? scruple study FILE (scruple study --init writes one to begin from)");
    };
    let design = study_file::read(file, missing)?;
    let path = std::path::absolute(file)?.display().to_string();
    Ok((vec![design], Some(path)))
}

/// Returns the first thing that a study names and that is not there, with its key.
fn missing(design: &Design) -> Option<(&'static str, String)> {
    subject::missing(design).map(|it| (it.key, it.what))
}

/// Says if the file is not what it was when the session was begun. The session goes on as it was.
fn say_what_has_changed(manifest: &Manifest) {
    let Some(file) = manifest.options.study.as_ref().map(PathBuf::from) else {
        return;
    };
    let (mut now, then) = (study_file::read(&file, |_| None).ok(), manifest.designs.first());
    // What was asked on the command line is no change of the file.
    if let (Some(now), Some(then), true) = (&mut now, then, asks_for_a_width(&manifest.command)) {
        now.precision = then.precision;
    }
    if now.as_ref() != then {
        ui::warn(&format!(
            "{} is not as it was when the session was begun; the session goes on as it was",
            file.display()
        ));
    }
}

/// Reports whether a command line sets how narrow the intervals are to be, or takes it from a session.
fn asks_for_a_width(command: &[String]) -> bool {
    let option = |word: &String| word.split('=').next().unwrap_or_default().to_string();
    command.iter().map(option).any(|option| ["--detect", "--from"].contains(&option.as_str()))
}

/// Writes a study to begin from.
fn init(file: &Path, commands: &[String], compares: bool) -> anyhow::Result<Exit> {
    let name = file.display();
    if std::fs::symlink_metadata(file).is_ok() {
        bail!("{name} is there already, and nothing is overwritten; name another file");
    }
    // The path of a program that is there is one word, whatever is in it.
    let is_path = |line: &str| line.contains([' ', '\'', '"']) && Path::new(line).is_file();
    let line = |text: &String| match is_path(text) {
        true => wording::command_line(std::slice::from_ref(text)),
        false => text.clone(),
    };
    let read = |text: &String| study::spoken(&line(text), &spoken::variable_of_process);
    let commands = commands.iter().map(read).collect::<Result<Vec<_>, _>>();
    let text = commands.and_then(|commands| {
        commands.iter().for_each(spoken::say_if_timed);
        let write = if compares { study::course } else { study::example };
        write(&commands, elsewhere(file).as_deref())
    });
    let text = text.map_err(|what| anyhow::anyhow!("--init: {what}"))?;
    destination::write(file, &text)?;
    let name = name.to_string();
    // A name that begins with a dash would be an option.
    let typed = if name.starts_with('-') { format!("./{name}") } else { name.clone() };
    let (name, typed) = (wording::cleaned(&name), wording::command_line(&[typed]));
    ui::result(&format!(
        "{name} is written. Look at its trials:  scruple study {typed} --dry-run\n\
         Then measure:  scruple study {typed}"
    ))?;
    if let Err(error) = study_file::read(file, missing)
        && !input::is_standard(file)
    {
        ui::warn(&format!("it cannot measure yet: {error:#}"));
    }
    Ok(Exit::Done)
}

/// Returns the working folder, in which the commands of a new study run, if the file lies in another.
fn elsewhere(file: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let lies_in = std::path::absolute(file).ok()?.parent()?.canonicalize().ok()?;
    (lies_in != here.canonicalize().ok()?).then(|| here.display().to_string())
}
