//! The main job: plan, measure, judge, report.

use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::schedule::{self, Course, Next};
use crate::{environment, session, show, ui};
use anyhow::{Context, bail};
use model::{Design, Manifest, Options, Record, SESSION_FORMAT, Summary, Verdict};
use runner::{Event, Halt, Runner, Settings, Work};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Writer;

/// The A/A control that every session measures.
const CONTROL: &str = "null";

/// The part of the available memory that trials may use.
const MEMORY_SHARE: f64 = 0.5;

/// The part of the free disk that trials may use.
const DISK_SHARE: f64 = 0.25;

/// Everything a session in progress needs.
struct Session {
    manifest: Manifest,
    writer: Writer,
    runner: Runner,
    records: Vec<Record>,
    courses: Vec<Course>,
    /// What each course's intervals still need, as far as it is known since its last trial.
    needs: Vec<Option<analysis::Need>>,
    /// Whether it was begun earlier. Who resumes a session wants it complete: the time limits
    /// what comes after that only.
    resumed: bool,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The base is complete and the intervals are narrow enough, or the time is up.
    Complete,
    /// The time was up before the base was complete.
    OutOfTime,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    sys::interrupt::install()?;
    // A limit on file sizes is an error to report then, not a signal to die of.
    sys::signal::ignore_file_size_signal()?;
    let mut session = match &args.resume {
        Some(dir) => resume(dir)?,
        None => begin(args)?,
    };
    let ending = measure(&mut session)?;
    let (summary, text) = conclude(&mut session)?;
    let dir = session.writer.dir().to_path_buf();
    let json = serde_json::to_string_pretty(&summary)?;
    export(args, &json)?;
    if args.json {
        ui::result(&json)?;
    } else {
        ui::result(&text)?;
        ui::result(&format!("\nReport: {}", dir.join("report.html").display()))?;
    }
    match ending {
        Ending::Complete => {}
        Ending::OutOfTime => ui::warn(&format!(
            "the time was up before every experiment had its blocks; to go on without a limit: \
             scruple run --resume {}",
            dir.display()
        )),
        Ending::Interrupted => {
            ui::warn(&format!(
                "interrupted; {} trials are kept. To finish: scruple run --resume {}",
                session.records.len(),
                dir.display()
            ));
            return Ok(Exit::Incomplete);
        }
    }
    Ok(verdict_exit(args, &summary))
}

fn verdict_exit(args: &RunArgs, summary: &Summary) -> Exit {
    let any = |wanted: Verdict| {
        let mut claims = summary.experiments.iter().flat_map(|experiment| &experiment.claims);
        claims.any(|claim| claim.verdict == wanted)
    };
    if args.fail_if_refuted && any(Verdict::Refuted) {
        return Exit::Refuted;
    }
    if args.fail_if_inconclusive && any(Verdict::Inconclusive) {
        return Exit::Incomplete;
    }
    Exit::Done
}

fn export(args: &RunArgs, json: &str) -> anyhow::Result<()> {
    match &args.export_json {
        Some(path) if path.as_os_str() == "-" => ui::result(json),
        Some(path) => std::fs::write(path, json)
            .with_context(|| format!("--export-json: cannot write {}", path.display())),
        None => Ok(()),
    }
}

fn begin(args: &RunArgs) -> anyhow::Result<Session> {
    let designs = choose(&args.experiments)?;
    let options = options(args, &designs)?;
    let started_unix_ms = sys::clock::unix_ms();
    let environment = environment::look();
    let name = store::session_name(started_unix_ms, &environment.host);
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        None => PathBuf::from("scruple-sessions").join(&name),
    };
    // The clock is seed enough where the user gives none; 32 bits are short enough to type again.
    let seed =
        args.seed.unwrap_or_else(|| (sys::clock::now_ns() ^ started_unix_ms << 20) & 0xffff_ffff);
    let mut manifest = Manifest {
        format: SESSION_FORMAT,
        scruple: session::VERSION.into(),
        session: name,
        started_unix_ms,
        seed,
        command: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        options,
        environment,
        shield: model::ShieldReport::default(),
        designs,
    };
    // The folder first: it must be ours before anything is put into it or removed from it.
    let writer = Writer::create(&dir, &manifest)?;
    let runner = Runner::start(settings(&manifest, &writer)?)?;
    manifest.shield = runner.shield().report().clone();
    writer.write_manifest(&manifest)?;
    ui::note(&format!("seed {}, session {}", manifest.seed, dir.display()));
    let courses = courses(&manifest);
    let needs = vec![None; courses.len()];
    Ok(Session { courses, needs, manifest, writer, runner, records: Vec::new(), resumed: false })
}

fn resume(dir: &Path) -> anyhow::Result<Session> {
    let (writer, stored) = Writer::resume(dir)?;
    session::say_what_is_odd(&stored);
    writer.remove_scratch()?;
    let mut manifest = stored.manifest;
    let here = environment::look();
    let then = &manifest.environment;
    for (what, now, before) in [
        ("kernel", &here.kernel, &then.kernel),
        ("build of scruple", &here.build, &then.build),
        ("compiler of scruple", &here.rustc, &then.rustc),
        ("scruple", &session::VERSION.to_string(), &manifest.scruple),
    ] {
        if now != before {
            bail!(
                "{} was begun with another {what} ({before}, now {now}); its trials and new ones \
                 cannot stand in one session",
                dir.display()
            );
        }
    }
    if (&here.boot, &here.rights) != (&then.boot, &then.rights) {
        ui::warn(
            "the machine was restarted, or the rights are others, since the session was begun",
        );
    }
    if here.machine != manifest.environment.machine {
        bail!(
            "{} was begun on another machine ({}); a session cannot go on elsewhere",
            dir.display(),
            manifest.environment.host
        );
    }
    let catalog = show::designs();
    for design in &manifest.designs {
        let now = show::find(&catalog, &design.id)?;
        if now != *design {
            bail!(
                "experiment {} has changed since {} was begun by scruple {}; \
                 use that version, or begin a new session",
                design.id,
                dir.display(),
                manifest.scruple
            );
        }
    }
    let runner = Runner::start(settings(&manifest, &writer)?)?;
    let shield = runner.shield().report();
    if manifest.shield == model::ShieldReport::default() {
        manifest.shield = shield.clone();
        writer.write_manifest(&manifest)?;
    } else if manifest.shield.means != shield.means {
        ui::warn("the trials are not shielded as they were when the session was begun");
    }
    let mut courses = courses(&manifest);
    for record in &stored.records {
        if let Some(course) = courses.iter_mut().find(|c| c.design.id == record.experiment) {
            course.note(record);
        }
    }
    ui::note(&format!("{}: {} trials are there already", dir.display(), stored.records.len()));
    let needs = vec![None; courses.len()];
    Ok(Session { manifest, writer, runner, records: stored.records, courses, needs, resumed: true })
}

/// The designs asked for, in the catalog's order, with the control.
fn choose(names: &[String]) -> anyhow::Result<Vec<Design>> {
    let catalog = show::designs();
    for name in names {
        show::find(&catalog, name)?;
    }
    let wanted =
        |design: &Design| names.is_empty() || design.id == CONTROL || names.contains(&design.id);
    Ok(catalog.into_iter().filter(wanted).collect())
}

fn options(args: &RunArgs, designs: &[Design]) -> anyhow::Result<Options> {
    let profile: model::Profile = args.profile.into();
    let allowed = sys::affinity::allowed()?;
    let cpus = match &args.affinity {
        None => allowed,
        Some(text) => {
            let wanted = sys::affinity::parse_list(text)
                .map_err(|error| anyhow::anyhow!("--affinity {text}: {error}"))?;
            if let Some(cpu) = wanted.iter().find(|cpu| !allowed.contains(cpu)) {
                bail!(
                    "--affinity {text}: CPU {cpu} is not among those this process may use ({})",
                    sys::affinity::format_list(&allowed)
                );
            }
            wanted
        }
    };
    Ok(Options {
        profile,
        experiments: designs.iter().map(|design| design.id.clone()).collect(),
        time_budget_s: match (args.time_budget, args.runs) {
            (Some(asked), _) => Some(asked),
            (None, Some(_)) => None,
            (None, None) => Some(profile.budget_s()),
        },
        blocks: args.runs,
        cpus,
        shield: !args.no_shield,
    })
}

fn settings(manifest: &Manifest, writer: &Writer) -> anyhow::Result<Settings> {
    sys::affinity::pin(&manifest.options.cpus)?;
    let available = sys::proc::meminfo()?.available_bytes as f64;
    // Trials change to their own folders, so the scratch folder's path must not depend on ours.
    let scratch = writer.scratch()?;
    let scratch = std::path::absolute(&scratch)
        .with_context(|| format!("cannot make sense of the path {}", scratch.display()))?;
    // The scratch folder does not exist yet; the session's does.
    let free = sys::files::free_bytes(writer.dir())? as f64;
    Ok(Settings {
        seed: manifest.seed,
        profile: manifest.options.profile,
        cpus: manifest.options.cpus.clone(),
        memory_bytes: (available * MEMORY_SHARE) as u64,
        disk_bytes: (free * DISK_SHARE) as u64,
        scratch,
        shield: manifest.options.shield,
    })
}

fn courses(manifest: &Manifest) -> Vec<Course> {
    let profile = manifest.options.profile;
    manifest.designs.iter().map(|design| Course::new(design.clone(), profile)).collect()
}

fn measure(session: &mut Session) -> anyhow::Result<Ending> {
    let budget = budget(session);
    let mut progress = Progress::new(budget);
    let ended = rounds(session, budget, &mut progress);
    progress.end();
    ended
}

/// The time that is left to measure in; none without a limit.
fn budget(session: &Session) -> Option<Duration> {
    let used_ns: u64 = session.records.iter().map(|record| record.total_ns).sum();
    let all = Duration::from_secs(session.manifest.options.time_budget_s?);
    Some(all.saturating_sub(Duration::from_nanos(used_ns)))
}

fn rounds(
    session: &mut Session,
    budget: Option<Duration>,
    progress: &mut Progress,
) -> anyhow::Result<Ending> {
    loop {
        if sys::interrupt::requested().is_some() {
            return Ok(Ending::Interrupted);
        }
        let left = budget.map(|budget| budget.saturating_sub(progress.elapsed()));
        let options = &session.manifest.options;
        let seed = session.manifest.seed;
        let base = schedule::base_blocks(options);
        let next = match schedule::next_of_base(&session.courses, options, seed) {
            Some(_) if !session.resumed && left.is_some_and(|left| left.is_zero()) => {
                return Ok(Ending::OutOfTime);
            }
            Some(next) => next,
            None => match by_width(session, left.unwrap_or_default()) {
                Some(next) => next,
                None => return Ok(Ending::Complete),
            },
        };
        let of = if next.block < base { format!(" of {base}") } else { String::new() };
        let id = session.courses[next.course].design.id.clone();
        progress.block(&id, next.block, &of, left);
        if !conduct(session, &next, progress)? {
            return Ok(Ending::Interrupted);
        }
    }
}

/// The block that narrows the widest interval.
fn by_width(session: &mut Session, left: Duration) -> Option<Next> {
    let Session { courses, needs, records, .. } = session;
    let known = courses.iter().zip(needs);
    let needs: Vec<&analysis::Need> =
        known.map(|(course, known)| &*known.get_or_insert_with(|| need(course, records))).collect();
    schedule::next_by_width(
        &session.courses,
        &needs,
        &session.manifest.options,
        session.manifest.seed,
        left.as_nanos() as u64,
    )
}

/// What an experiment's intervals still need.
fn need(course: &Course, records: &[Record]) -> analysis::Need {
    let own = records.iter().filter(|record| record.experiment == course.design.id);
    analysis::need(&course.design, &own.collect::<Vec<_>>(), &course.treatments)
}

/// Conducts a block. False if it was interrupted.
fn conduct(session: &mut Session, next: &Next, progress: &mut Progress) -> anyhow::Result<bool> {
    let Session { writer, runner, records, courses, needs, .. } = session;
    let design = courses[next.course].design.clone();
    let work = Work {
        design: &design,
        block: next.block,
        treatments: &next.treatments,
        first_trial: records.last().map_or(0, |record| record.trial + 1),
    };
    let course = &mut courses[next.course];
    let mut listener = |event: Event<'_>| -> Result<(), store::Error> {
        match event {
            Event::Begins { treatment, .. } => progress.trial(treatment),
            Event::Ended(record) => {
                writer.append(&record)?;
                course.note(&record);
                records.push(*record);
            }
        }
        Ok(())
    };
    let mut stop = || sys::interrupt::requested().is_some();
    match runner.conduct_block(&work, &mut stop, &mut listener) {
        Ok(complete) => {
            // Once a block has added to it the answer so far is told anew.
            let need = need(course, records);
            if let Some(finding) = &need.headline {
                progress.answer(finding);
            }
            needs[next.course] = Some(need);
            Ok(complete)
        }
        Err(Halt::Runner(error)) => bail!("{error}; {}", kept(writer, records.len())),
        Err(Halt::Listener(error)) => bail!("{error}; {}", kept(writer, records.len())),
    }
}

fn kept(writer: &Writer, trials: usize) -> String {
    let dir = writer.dir().display();
    format!("{trials} trials are kept, to finish: scruple run --resume {dir}")
}

/// Analyses, stores the analysis and the report, and returns them with the text for the screen.
fn conclude(session: &mut Session) -> anyhow::Result<(Summary, String)> {
    let Session { manifest, writer, records, .. } = session;
    let summary = session::summarise(manifest, records, &manifest.designs);
    let whole = report::Session { manifest, records, summary: &summary };
    writer.write_summary(&summary)?;
    writer.write_report(&report::html(&whole))?;
    writer.write_claims(&report::claims_html(&whole))?;
    Ok((summary.clone(), report::terminal(&whole, ui::width(), Some(ui::height()))))
}
