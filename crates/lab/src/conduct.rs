//! The machinery of a session: begin it or resume it, conduct its blocks, store them.

use crate::foresight::Foresight;
use crate::named_files::{Changed, NamedFiles};
use crate::plan::{Plan, Purpose};
use crate::progress::{GUARD_REPLACED, Progress, cut, joined};
use crate::rescue::{displaced, how_to_resume, what_is_kept};
use crate::schedule::{self, Course, Next};
use crate::{
    allotted, catalog, environment, lookup, redaction::Kept, session, squeezes, ui, variables,
};
use anyhow::{Context, bail, ensure};
use model::{Design, Environment, Inquiry, Manifest, Record, SESSION_FORMAT, Summary};
use runner::{End, Event, Halt, Runner, Settings, Work};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::Writer;

/// The mode bits of a file's owner.
const OWNER_MODE: u32 = 0o700;

/// Everything a session in progress needs.
pub(crate) struct Session {
    /// What it measures, and how.
    pub(crate) manifest: Manifest,
    /// What writes into its folder.
    pub(crate) writer: Writer,
    /// What is stored of it.
    kept: Kept,
    runner: Runner,
    files: NamedFiles,
    records: Vec<Record>,
    /// What was odd about the stored session that is resumed.
    odd: Option<String>,
    courses: Vec<Course>,
    /// If true, the time budget applies only after the base: a resumed session is to be completed, and the
    /// duration of a user's program is unknown beforehand.
    base_first: bool,
    /// The time after which no block of the base begins, although it goes first; none without a limit.
    base_within: Option<Duration>,
    /// Which trial ran when the time was up, in words.
    cut: Option<String>,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The base is complete and the intervals are narrow enough, or the time is up.
    Complete,
    /// The time was up before the base was complete.
    OutOfTime,
    /// The time does not suffice for two blocks of squeezes, but the answer is known without.
    NothingTaken,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// Makes this process fit to conduct trials.
pub(crate) fn prepare() -> anyhow::Result<()> {
    sys::needed::check()?;
    let withheld = sys::inherited::umask() & OWNER_MODE;
    ensure!(
        withheld == 0 || sys::process::is_root(),
        "the umask withholds from this user the files of a session: umask 022, and try again"
    );
    sys::interrupt::install()?;
    sys::pauses::watch()?;
    // A limit on file sizes is an error to report then, not a signal to die of.
    sys::signal::ignore_file_size_signal()?;
    Ok(())
}

/// Begins a session in a folder of its own.
pub(crate) fn begin(plan: Plan) -> anyhow::Result<Session> {
    let started_unix_ms = sys::clock::unix_ms();
    inherit(&plan.designs);
    let files = NamedFiles::of(&plan.designs, plan.options.profile);
    let environment = Environment { files: files.stored(), ..environment::look() };
    let base_first = plan.base_first;
    let name = session::name(started_unix_ms, &environment.host, plan.purpose);
    // The clock is seed enough where the user gives none; 32 bits are short enough to type again.
    let seed =
        plan.seed.unwrap_or_else(|| (sys::clock::now_ns() ^ started_unix_ms << 20) & 0xffff_ffff);
    let mut manifest = Manifest {
        format: SESSION_FORMAT,
        scruple: session::VERSION.into(),
        session: name,
        started_unix_ms,
        seed,
        command: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        options: plan.options,
        environment,
        shield: model::ShieldReport::default(),
        designs: plan.designs,
        redacted: false,
        runs: Vec::new(),
    };
    let output = plan.output.as_deref();
    let (mut kept, mut writer) = created(&mut manifest, output, plan.keep_values, plan.redact)?;
    let dir = writer.dir().to_path_buf();
    let runner = start(&manifest, &writer, &[])?;
    manifest.shield = runner.shield().report().clone();
    environment::note_niceness(&mut manifest);
    kept.set_conditions(&manifest);
    let written = writer.write_manifest(kept.manifest());
    written.map_err(|error| displaced(&writer, kept.manifest(), &[]).unwrap_or(error.into()))?;
    ui::note(&format!("seed {}, session {}", manifest.seed, dir.display()));
    let session = Session::new(manifest, (writer, kept), (runner, files), Vec::new());
    Ok(Session { base_first, base_within: plan.base_within, ..session })
}

/// Sets the state in which trials of the catalog start. A user's program keeps what its user set.
fn inherit(designs: &[Design]) {
    if designs.iter().all(|design| design.subject.is_none()) {
        sys::inherited::set_usual();
    }
}

/// Makes a session's folder: the one that was asked for, or the usual one. Where others began in the same second, the
/// session's name and its usual folder have a number.
fn created(
    manifest: &mut Manifest,
    output: Option<&Path>,
    keep_values: bool,
    redact: bool,
) -> anyhow::Result<(Kept, Writer)> {
    let (name, mut number) = (manifest.session.clone(), 1);
    loop {
        let kept = Kept::begin(manifest, keep_values, redact)?;
        let usual = || PathBuf::from(lookup::SESSIONS).join(&kept.manifest().session);
        // The folder first: it must be ours before anything is put into it or removed from it.
        match Writer::create(&output.map_or_else(usual, Path::to_path_buf), kept.manifest()) {
            Ok(writer) => return Ok((kept, writer)),
            Err(store::Error::NotEmpty { .. } | store::Error::Busy { .. })
                if output.is_none() && number < 100 =>
            {
                number += 1;
                manifest.session = format!("{name}-{number}");
            }
            Err(error) => return Err(elsewhere(error)),
        }
    }
}

/// Returns an error of the file system with a way around it.
fn elsewhere(error: store::Error) -> anyhow::Error {
    match error {
        store::Error::Io { .. } => anyhow::anyhow!(
            "{error}; name a folder that can be written by --output DIR (in a container, of a volume)"
        ),
        _ => error.into(),
    }
}

/// Resumes a session that was begun by the same command, on the same machine, by the same
/// scruple.
pub(crate) fn resume(dir: &Path, purpose: Purpose) -> anyhow::Result<Session> {
    let (mut writer, stored) = Writer::resume(dir)?;
    session::say_what_is_odd(&stored);
    let odd = session::odd(&stored);
    let mut manifest = stored.manifest;
    must_be_for(purpose, &manifest, dir)?;
    writer.remove_scratch()?;
    inherit(&manifest.designs);
    let here = environment::look();
    must_be_of_here(&manifest, &here, dir)?;
    must_be_known(&manifest, dir)?;
    let (profile, before) = (manifest.options.profile, &manifest.environment.files);
    let files = NamedFiles::again(&manifest.designs, profile, before)?;
    let mut kept = Kept::resume(manifest.clone(), dir)?;
    variables::restore(&mut manifest, variables::Wanted::TheSame)?;
    let runner = start(&manifest, &writer, &stored.records)?;
    let records = stored.records;
    if manifest.shield == model::ShieldReport::default() {
        manifest.shield = runner.shield().report().clone();
        environment::note_niceness(&mut manifest);
    } else {
        manifest.runs.push(environment::run(
            &manifest,
            &here,
            runner.shield().report(),
            next_trial(&records),
        ));
    }
    kept.set_conditions(&manifest);
    writer.write_manifest(kept.manifest())?;
    ui::note(&format!("{}: {} trials are there already", dir.display(), records.len()));
    let session = Session::new(manifest, (writer, kept), (runner, files), records);
    Ok(Session { odd, ..session })
}

/// Returns the number of the next trial.
fn next_trial(records: &[Record]) -> u64 {
    records.last().map_or(0, |record| record.trial.saturating_add(1))
}

/// Checks that a session is resumed by the command that began it: another command shows something else.
fn must_be_for(purpose: Purpose, manifest: &Manifest, dir: &Path) -> anyhow::Result<()> {
    let (begun, dir) = (Purpose::of(&manifest.options), dir.display());
    if begun != purpose {
        let command = begun.command();
        bail!(
            "{dir} was begun by scruple {command}; to finish it: scruple {command} --resume {dir}"
        );
    }
    // A resumed session of the catalog must not start programs that somebody named in it.
    let named = manifest.designs.iter().find(|design| design.subject.is_some());
    if let (Purpose::Run | Purpose::Selftest, Some(design)) = (purpose, named) {
        bail!(
            "{dir} holds a program of its own in experiment {}, which scruple {} does not start",
            design.id,
            purpose.command()
        );
    }
    Ok(())
}

/// Checks that a session was begun here: trials of two machines, kernels or builds cannot stand in one
/// session.
fn must_be_of_here(manifest: &Manifest, here: &Environment, dir: &Path) -> anyhow::Result<()> {
    let then = &manifest.environment;
    for (what, now, before) in [
        ("kernel", &here.kernel, &then.kernel),
        ("build of scruple", &here.build, &then.build),
        ("compiler of scruple", &here.rustc, &then.rustc),
        ("scruple", &session::VERSION.to_string(), &manifest.scruple),
    ] {
        ensure!(
            now == before,
            "{} was begun with another {what} ({before}, now {now}); its trials and new ones \
                 cannot stand in one session",
            dir.display()
        );
    }
    ensure!(
        here.is_same_machine(then) != Some(false),
        "{} was begun on another machine{}; a session cannot go on elsewhere",
        dir.display(),
        wording::stated(&then.host).map_or(String::new(), |host| format!(" ({host})"))
    );
    Ok(())
}

/// Checks that the experiments of a session are those of this scruple.
fn must_be_known(manifest: &Manifest, dir: &Path) -> anyhow::Result<()> {
    // What was made for the session stands in its manifest alone.
    for design in manifest.designs.iter().filter(|design| design.subject.is_none()) {
        let now = catalog::again(design, manifest.options.preset.as_ref())?;
        let now = now.on(&manifest.options.cpus, &manifest.environment.topology);
        // What the report draws of it is no part of what it measures.
        ensure!(
            (Design { figures: design.figures.clone(), ..now }) == *design,
            "experiment {} has changed since {} was begun by scruple {}; \
                 use that version, or begin a new session",
            design.id,
            dir.display(),
            manifest.scruple
        );
    }
    Ok(())
}

/// Returns a runner whose trials have their files in the scratch folder of a session with these trials.
fn start(manifest: &Manifest, writer: &Writer, trials: &[Record]) -> anyhow::Result<Runner> {
    let make_scratch = || match writer.scratch() {
        Ok(_) => Ok(()),
        Err(store::Error::Io { source, .. }) => Err(source),
        Err(other) => Err(std::io::Error::other(other)),
    };
    let started = settings(manifest, writer)
        .and_then(|settings| Ok(Runner::start_with(settings, make_scratch)?));
    started.map_err(|error| displaced(writer, manifest, trials).unwrap_or(error))
}

fn settings(manifest: &Manifest, writer: &Writer) -> anyhow::Result<Settings> {
    allotted::pin(&manifest.options.cpus)?;
    // Trials change to their own folders, so the scratch folder's path must not depend on ours.
    let scratch = writer.scratch_path();
    let scratch = std::path::absolute(&scratch)
        .with_context(|| format!("cannot make sense of the path {}", scratch.display()))?;
    // The scratch folder does not exist yet; the session's does.
    let (memory_bytes, disk_bytes) = allotted::room(writer.dir())?;
    Ok(Settings {
        seed: manifest.seed,
        profile: manifest.options.profile,
        cpus: manifest.options.cpus.clone(),
        topology: manifest.environment.topology.clone(),
        memory_bytes,
        disk_bytes,
        scratch,
        shield: manifest.options.shield,
    })
}

impl Session {
    fn new(
        manifest: Manifest,
        (writer, kept): (Writer, Kept),
        (runner, files): (Runner, NamedFiles),
        records: Vec<Record>,
    ) -> Session {
        Session {
            courses: session::courses(&manifest, &records),
            manifest,
            writer,
            kept,
            runner,
            files,
            records,
            odd: None,
            base_first: true,
            base_within: None,
            cut: None,
        }
    }

    /// Returns how far each of its experiments is.
    pub(crate) fn courses(&self) -> &[Course] {
        &self.courses
    }

    /// Returns where it is stored.
    pub(crate) fn dir(&self) -> &Path {
        self.writer.dir()
    }

    /// Measures until all is precise enough, the time is up, or somebody asks to stop.
    pub(crate) fn measure(&mut self) -> anyhow::Result<Ending> {
        let budget = self.budget();
        let mut progress = Progress::new(budget);
        let mut foresight = Foresight::default();
        loop {
            if sys::interrupt::requested().is_some() {
                return Ok(Ending::Interrupted);
            }
            let left = budget.map(|budget| budget.saturating_sub(progress.elapsed()));
            let limit = match self.base_first {
                true => self.base_within.map(|within| within.saturating_sub(progress.elapsed())),
                false => left,
            };
            let limit_ns = limit.map(|limit| limit.as_nanos() as u64);
            foresight.look(self, limit_ns, &progress);
            let of_base = schedule::next_of_base(&self.courses, self.manifest.seed, limit_ns);
            if self.manifest.options.inquiry == Some(Inquiry::Why) {
                squeezes::say_how_long(&self.courses[0], &self.manifest, &self.records, &progress);
                if squeezes::nothing_fits(&self.courses[0], &self.manifest, &self.records, left)? {
                    return Ok(Ending::NothingTaken);
                }
            }
            let is_free = of_base.is_some() && self.base_first;
            let until = budget.filter(|_| !is_free).and_then(|budget| progress.end(budget));
            let confirming = self.confirming(left);
            let Some(next) = confirming.or(of_base).or_else(|| self.by_width(left)) else {
                return Ok(self.how_far());
            };
            let base = self.courses[next.course].base_blocks();
            let of = (next.block < base).then_some(base);
            let id = &self.courses[next.course].design.id;
            progress.block(id, next.block, of, self.left(left));
            match self.block(&next, until, &mut progress)? {
                End::Complete => {}
                End::Interrupted => return Ok(Ending::Interrupted),
                End::OutOfTime => return Ok(self.how_far()),
            }
        }
    }

    /// Returns how a session ends in which nothing more is measured.
    fn how_far(&self) -> Ending {
        if schedule::incomplete(&self.courses).next().is_some() {
            Ending::OutOfTime
        } else {
            Ending::Complete
        }
    }

    /// Analyses what there is, and stores the analysis and the report. From then on the session is what is
    /// stored of it, so that nothing else is shown.
    pub(crate) fn conclude(&mut self) -> anyhow::Result<Summary> {
        let Session { records, kept, .. } = self;
        records.iter_mut().for_each(|record| {
            if let Cow::Owned(stored) = kept.record(record) {
                *record = stored;
            }
        });
        self.manifest = self.kept.manifest().clone();
        let mut summary = session::summarise(&self.manifest, &self.records, &self.manifest.designs);
        summary.meter.conditions.splice(0..0, session::condition(self.odd.clone()));
        let whole = self.stored(&summary);
        let written = self
            .writer
            .must_be_whole()
            .and_then(|()| session::write(self.writer.pages(), &whole))
            .and_then(|()| self.writer.must_be_in_place());
        written.map_err(|error| {
            let (trials, dir) = (self.records.len(), self.dir().display());
            let again = format!(
                "{trials} trials are kept, but not their analysis (again: scruple report {dir})"
            );
            let displaced = displaced(&self.writer, &self.manifest, &self.records);
            displaced.unwrap_or_else(|| anyhow::Error::new(error).context(again))
        })?;
        Ok(summary)
    }

    /// Returns the session for those who make a page or a text of it.
    pub(crate) fn stored<'a>(&'a self, summary: &'a Summary) -> report::Session<'a> {
        report::Session { manifest: &self.manifest, records: &self.records, summary }
    }

    /// Checks that a trial ended, whichever way, before the time was up.
    pub(crate) fn must_have_trials(&self) -> anyhow::Result<()> {
        let Some(cut) = self.cut.as_ref().filter(|_| self.records.is_empty()) else {
            return Ok(());
        };
        let resume = how_to_resume(self.kept.manifest(), self.dir());
        bail!("nothing was measured: {cut}; give it more time (--time-budget), or none: {resume}")
    }

    /// Warns if it ended early, and says how to resume it.
    pub(crate) fn say_how_it_ended(&self, ending: Ending) {
        self.cut.iter().for_each(|cut| ui::note(cut));
        let resume = how_to_resume(self.kept.manifest(), self.dir());
        match ending {
            Ending::Complete => {}
            Ending::NothingTaken => {
                ui::warn(&squeezes::how_to_squeeze(&self.courses[0], &self.records))
            }
            Ending::OutOfTime => ui::warn(&format!(
                "the time was up before all blocks were complete. What claims and main answers need is complete in {}. \
                 To go on without a limit: {resume}",
                self.what_is_incomplete()
            )),
            Ending::Interrupted => ui::warn(&format!(
                "interrupted; {} trials are kept. To finish: {resume}",
                self.records.len()
            )),
        }
    }

    /// Returns the experiments whose base is not complete, and how far each is.
    fn what_is_incomplete(&self) -> String {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (course, has, of) in schedule::incomplete(&self.courses) {
            alike.entry(format!("{has} of {of} blocks")).or_default().push(&course.design.id);
        }
        let each = alike.iter().map(|(has, ids)| format!("{has} of {}", ids.join(", ")));
        each.collect::<Vec<_>>().join("; ")
    }

    /// Returns the time that is left to measure in; none without a limit.
    fn budget(&self) -> Option<Duration> {
        let each_ns = self.records.iter().map(|record| record.total_ns);
        let used_ns = each_ns.fold(0, u64::saturating_add);
        // What a stored session asks for may be any number.
        let all = Duration::try_from_secs_f64(self.manifest.options.time_budget_s?).ok()?;
        Some(all.saturating_sub(Duration::from_nanos(used_ns)))
    }

    /// Returns how long measuring takes yet, where `budget` is left of the time: as long as the base where that
    /// is not bound to the budget, as far as trials of each experiment say how long theirs take.
    fn left(&self, budget: Option<Duration>) -> Option<Duration> {
        if budget.is_some() && !self.base_first {
            return budget;
        }
        let base = schedule::rest_of_base_ns(&self.courses)?;
        budget.max(Some(Duration::from_nanos(base)))
    }

    /// Returns the block that confirms why a program does not scale: it goes before further blocks of the base, which
    /// a short session may not reach the end of.
    fn confirming(&mut self, left: Option<Duration>) -> Option<Next> {
        let is_scale = self.manifest.options.inquiry == Some(Inquiry::Scale);
        let confirms = |course: &Course| course.need.as_ref().is_some_and(|need| need.confirms);
        (is_scale && self.courses.iter().any(confirms)).then(|| self.by_width(left)).flatten()
    }

    /// Returns the block that narrows the widest interval, or confirms an answer.
    fn by_width(&mut self, left: Option<Duration>) -> Option<Next> {
        let Session { courses, records, manifest: Manifest { options, seed, .. }, .. } = self;
        let verdicts = verdicts(courses);
        for course in courses.iter_mut().filter(|course| course.need.is_none()) {
            course.need = Some(need(course, records, options.inquiry, verdicts));
        }
        let needs: Vec<_> = courses.iter().filter_map(|course| course.need.as_ref()).collect();
        let left_ns = left.map(|left| left.as_nanos() as u64);
        schedule::next_by_width(courses, &needs, options, *seed, left_ns)
    }

    /// Conducts a block, whose trials end when the time is up.
    fn block(
        &mut self,
        next: &Next,
        until: Option<Instant>,
        progress: &mut Progress,
    ) -> anyhow::Result<End> {
        let Session { writer, kept, runner, files, records, courses, manifest, .. } = self;
        let inquiry = manifest.options.inquiry;
        let verdicts = verdicts(courses);
        let design = courses[next.course].design.clone();
        let work = Work {
            design: &design,
            block: next.block,
            treatments: &next.treatments,
            first_trial: next_trial(records),
            until,
            patience: courses[next.course].patience(),
        };
        let course = &mut courses[next.course];
        let mut running = None;
        let mut listener = |event: Event<'_>| -> anyhow::Result<()> {
            match event {
                Event::GuardReplaced => progress.note(GUARD_REPLACED),
                Event::Joined(other) => progress.warn(&joined(&other)),
                Event::Begins(treatment) => {
                    // What is measured now is to find its place.
                    writer.must_be_in_place()?;
                    files.before_trial()?;
                    progress.trial(&design, treatment);
                    running = Some((treatment.clone(), Instant::now()));
                }
                Event::Ended(ended) => {
                    running = None;
                    let stored: Vec<Record> =
                        ended.iter().map(|record| kept.record(record).into_owned()).collect();
                    writer.must_be_in_place()?;
                    // A trial of a user's program answers for one treatment.
                    let [Record { treatment, .. }, ..] = &ended[..] else { return Ok(()) };
                    if files.after_trial(&design.id, treatment)? {
                        manifest.environment.files = files.stored();
                        kept.set_conditions(manifest);
                        writer.write_manifest(kept.manifest())?;
                    }
                    writer.append_all(&stored)?;
                    ended.iter().for_each(|record| course.note(record));
                    records.extend(ended);
                }
            }
            Ok(())
        };
        match runner.conduct_block(&work, &mut listener) {
            Ok(end) => {
                let running = running.filter(|_| end == End::OutOfTime);
                self.cut = running.map(|(treatment, begun)| cut(&design, &treatment, begun));
                // Each block changes the answer so far.
                let need = need(course, records, inquiry, verdicts);
                if let Some(finding) = &need.headline {
                    progress.answer(&course.design.id, finding);
                }
                course.need = Some(need);
                Ok(end)
            }
            Err(Halt::Runner(error)) => Err(self.with_what_is_kept(&error)),
            Err(Halt::Listener(error)) if error.is::<Changed>() => {
                let (trials, dir) = (records.len(), writer.dir().display());
                Err(error.context(format!("{trials} trials are kept (scruple report {dir})")))
            }
            Err(Halt::Listener(error)) => Err(self.with_what_is_kept(error.as_ref())),
        }
    }

    fn with_what_is_kept(&mut self, error: &dyn std::error::Error) -> anyhow::Error {
        let Session { records, kept, writer, .. } = self;
        let stored: Vec<Record> =
            records.iter().map(|record| kept.record(record).into_owned()).collect();
        let kept = kept.manifest();
        displaced(writer, kept, &stored).unwrap_or_else(|| {
            anyhow::anyhow!("{error}; {}", what_is_kept(kept, writer.dir(), stored.len()))
        })
    }
}

/// Returns the verdicts that share their error in this session: those on claims and planted answers.
fn verdicts(courses: &[Course]) -> usize {
    courses.iter().map(|course| course.design.claims.len() + course.design.planted.len()).sum()
}

/// Returns what an experiment's intervals still need.
fn need(
    course: &Course,
    records: &[Record],
    inquiry: Option<Inquiry>,
    verdicts: usize,
) -> analysis::Need {
    let own = records.iter().filter(|record| record.experiment == course.design.id);
    let own: Vec<&Record> = own.collect();
    match inquiry {
        Some(Inquiry::Scale) => analysis::scaling::next(&course.design, &own, &course.treatments),
        Some(Inquiry::Why) => analysis::why::next(&course.design, &own, &course.treatments),
        _ => analysis::need(&course.design, &own, &course.treatments, verdicts),
    }
}
