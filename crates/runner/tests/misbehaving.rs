//! Every outcome of a trial, provoked by a trial that misbehaves in just that way; and after each
//! of them nothing of the trial is left: no process, file, cgroup or shared memory.
//!
//! This test has no harness of libtest's, since the runner starts `/proc/self/exe` and that must
//! be a binary whose first statement serves trials.
#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use kit::{Experiment, Stop, Trial};
use libtest_mimic::{Arguments, Failed, Trial as Test};
use model::{
    Card, Cell, Design, Factor, Level, Outcome, Phase, Profile, Record, Response, Treatment, Unit,
};
use runner::{Order, Runner, Settings};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const EXPERIMENT: Experiment = Experiment { id: "misbehaving", design, trial };

/// The limit of a trial that hangs: its test waits as long.
const HANGING_LIMIT_MS: u64 = 1500;

/// The limit of all other trials, which no machine is slow enough to reach.
const TIME_LIMIT_MS: u64 = 120_000;

fn design() -> Design {
    let level = |name| Level::new(name, "see the test of that name");
    let how = Factor {
        name: "how".into(),
        about: "what goes wrong".into(),
        levels: MANNERS.map(level).into(),
        baseline: "nothing".into(),
        ..Factor::default()
    };
    Design {
        id: "misbehaving".into(),
        factors: vec![how],
        responses: vec![Response::new("none_count", "nothing", Unit::Count, Card::default())],
        time_limit_ms: TIME_LIMIT_MS,
        ..Design::default()
    }
}

/// Reports whether a trial lives until its limit.
fn hangs(manner: &str) -> bool {
    manner.starts_with("hang_") || manner == "close_socket_and_live"
}

/// What comes of a trial that did not get ready in time.
const SLOW: Outcome = Outcome::TimedOut { phase: Phase::SettingUp };

const MANNERS: [&str; 25] = [
    "nothing",
    "hang_before_ready",
    "hang_after_go",
    "abort",
    "abort_before_ready",
    "segfault",
    "panic",
    "leak_grandchild",
    "leak_escaped_grandchild",
    "garbage",
    "flood_stdout",
    "flood_socket",
    "out_of_memory",
    "refuse",
    "fail",
    "exit_silently",
    "answer_twice",
    "answer_before_go",
    "close_socket_and_live",
    "never_close_region",
    "leave_files",
    "begin_anew",
    "work_under_a_quota",
    "be_stopped",
    "be_frozen",
];

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let manner = trial.level("how")?.to_string();
    match manner.as_str() {
        "hang_before_ready" => sleep_for_ever(),
        "abort_before_ready" => std::process::abort(),
        "refuse" => return Err(Stop::unsupported("needs a unicorn")),
        "answer_before_go" => say(
            "{\"say\":\"measured\",\"measured\":{\"series\":[],\"counters\":{},\"checks\":[]},\"observed\":{}}\n",
        ),
        "close_socket_and_live" => close_socket_and_live(),
        "begin_anew" => begin_anew(trial)?,
        _ => {}
    }
    trial.observe("manner", &manner);
    trial.begin()?;
    misbehave(trial, &manner)?;
    if manner == "never_close_region" {
        return Ok(());
    }
    trial.end()?;
    trial.record_one("none_count", 42);
    if manner == "answer_twice" {
        say("{\"say\":\"failed\",\"reason\":\"first\"}\n");
    }
    Ok(())
}

fn misbehave(trial: &Trial<'_>, manner: &str) -> Result<(), Stop> {
    match manner {
        "hang_after_go" => sleep_for_ever(),
        "abort" => std::process::abort(),
        "segfault" => {
            // The first meets Rust's handler for stack overflows, which restores the default and
            // waits for the fault to come again; the second is that.
            sys::process::kill(sys::process::pid(), sys::signal::SIGSEGV)?;
            sys::process::kill(sys::process::pid(), sys::signal::SIGSEGV)?;
        }
        "panic" => panic!("a planted panic"),
        "leak_grandchild" => drop(Command::new("sleep").arg("3600").spawn()?),
        "leak_escaped_grandchild" => {
            drop(Command::new("setsid").args(["sleep", "3600"]).spawn()?);
            // Until it has left the group, it would not be the case under test.
            while sys::process::group_members(sys::process::pid()).len() > 1 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        "garbage" => say("this is not JSON\n"),
        "flood_stdout" => flood(&mut std::io::stdout()),
        "flood_socket" => say(&"x".repeat(model::MESSAGE_BYTES_MAX + 2)),
        "out_of_memory" => out_of_memory(trial)?,
        "fail" => return Err(Stop::failed("a planted failure")),
        "exit_silently" => sys::task::exit_now(3),
        "work_under_a_quota" => {
            // Many times what the quota allows in one of its periods.
            let begun_ns = sys::clock::thread_cpu_ns();
            while sys::clock::thread_cpu_ns() - begun_ns < 10_000_000 {
                std::hint::spin_loop();
            }
        }
        "be_stopped" => be_paused(|trial, still| {
            let signal = if still { sys::signal::SIGSTOP } else { sys::signal::SIGCONT };
            sys::process::kill(trial, signal)
        })?,
        "be_frozen" => be_frozen()?,
        "leave_files" => {
            std::fs::create_dir("folder")?;
            std::fs::write("folder/file", "left behind")?;
        }
        _ => {}
    }
    Ok(())
}

fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn say(text: &str) {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("fd 0");
    let _ = std::fs::File::from(socket).write_all(text.as_bytes());
}

fn close_socket_and_live() {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("fd 0");
    UnixStream::from(socket).shutdown(std::net::Shutdown::Both).expect("a shutdown");
    sleep_for_ever();
}

/// What a variable says is there although the runner started this process without it, and what the
/// runner gave is there still.
fn begin_anew(trial: &mut Trial<'_>) -> Result<(), Stop> {
    trial.need_environment(&[("PLANTED", "a value = with signs"), ("ANOTHER", "")])?;
    let found = std::env::var("PLANTED").map_err(|_| Stop::failed("no PLANTED"))?;
    let kept = std::env::var_os("SCRUPLE_PADDING").is_some();
    if found != "a value = with signs" || !kept {
        return Err(Stop::failed(format!("PLANTED is {found:?}, the padding was kept: {kept}")));
    }
    // A variable that cannot come about must not lead round and round.
    match trial.need_environment(&[("PLANTED", "another value")]) {
        Err(Stop::Unsupported(_)) => Ok(()),
        other => Err(Stop::failed(format!("a second time gave {other:?}"))),
    }
}

fn flood(out: &mut impl Write) {
    let line = [b'x'; 4096];
    while out.write_all(&line).is_ok() {}
}

fn out_of_memory(trial: &Trial<'_>) -> Result<(), Stop> {
    let Some(parent) = &trial.spec().memory_cgroup else {
        return Err(Stop::unsupported("no memory cgroup"));
    };
    let group = sys::cgroup::Cgroup::at(Path::new(parent)).child("limited")?;
    group.set_memory_limit(32 << 20)?;
    group.add(sys::process::pid())?;
    let mut hoard = sys::pages::Mapping::new(256 << 20, sys::pages::Huge::Never)?;
    hoard.touch(4096);
    Ok(())
}

/// How long a trial is paused: several looks of the runner.
const PAUSE_NS: u64 = 350_000_000;

/// Has a process of its own stop this trial and let it go on.
fn be_paused(set_still: impl Fn(sys::Pid, bool) -> sys::Result<()>) -> Result<(), Stop> {
    let trial = sys::process::pid();
    let helper = sys::task::fork_run(|| {
        let stopped = set_still(trial, true);
        sys::clock::sleep_ns(PAUSE_NS);
        i32::from(stopped.and_then(|()| set_still(trial, false)).is_err())
    })?;
    match sys::task::wait(helper)?.code {
        Some(0) => Ok(()),
        code => Err(Stop::failed(format!("the helper ended with {code:?}"))),
    }
}

fn be_frozen() -> Result<(), Stop> {
    let name = format!("scruple-test-frozen-{}", sys::process::pid());
    let own = sys::cgroup::Cgroup::own("freezer");
    let (own, group) = own
        .and_then(|own| Ok((own, sys::cgroup::Cgroup::create("freezer", &name)?.guarded())))
        .map_err(|error| Stop::unsupported(error.to_string()))?;
    be_paused(|trial, still| {
        if still {
            group.group().add(trial)?;
        }
        group.group().set_frozen(still)
    })?;
    own.add(sys::process::pid())?;
    group.end()?;
    Ok(())
}

struct Bench {
    runner: Runner,
    scratch: PathBuf,
    trial: u64,
}

fn settings(folder: &Path) -> Settings {
    Settings {
        seed: 1,
        profile: Profile::Smoke,
        cpus: sys::affinity::allowed().expect("affinity"),
        topology: kit::topology(),
        memory_bytes: 1 << 30,
        disk_bytes: 1 << 30,
        scratch: folder.join("scratch"),
        shield: false,
    }
}

impl Bench {
    fn new(folder: &Path) -> Self {
        let runner = Runner::start(settings(folder)).expect("a runner");
        let scratch = runner.settings().scratch.clone();
        Bench { runner, scratch, trial: 0 }
    }

    fn conduct(&mut self, manner: &str) -> Record {
        self.conduct_within(manner, if hangs(manner) { HANGING_LIMIT_MS } else { TIME_LIMIT_MS })
    }

    fn conduct_within(&mut self, manner: &str, time_limit_ms: u64) -> Record {
        let design = Design { time_limit_ms, ..design() };
        let treatment: Treatment = design.complete(&Cell::new([("how", manner)]));
        let order = Order {
            design: &design,
            treatment: &treatment,
            trial: self.trial,
            block: 0,
            position: 0,
            until: None,
        };
        self.trial += 1;
        let record =
            self.runner.conduct(&order).expect("the runner goes on").expect("no interrupt");
        assert_nothing_is_left(&self.scratch);
        record
    }
}

fn assert_nothing_is_left(scratch: &Path) {
    let left: Vec<_> = std::fs::read_dir(scratch)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    assert!(left.is_empty(), "files left: {left:?}");
    let trials = processes_named(kit::TRIAL);
    assert!(trials.is_empty(), "processes left: {trials:?}");
}

/// Processes with an argument of that name that are ours or our orphans': all of this test.
fn processes_named(argument: &str) -> Vec<String> {
    let mine = std::fs::read_link("/proc/self/exe").expect("our own binary");
    std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter(|entry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == mine))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .filter(|line| line.split('\0').any(|word| word == argument))
        .collect()
}

fn shared_memory() -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir("/dev/shm")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    all.sort();
    all
}

fn outcome_of(manner: &'static str) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let shared_before = shared_memory();
    let outcome = {
        let mut bench = Bench::new(folder.path());
        let mut limit_ms = HANGING_LIMIT_MS;
        let mut record = bench.conduct(manner);
        // A busy machine may need the whole limit before the trial has begun to hang.
        let begins = hangs(manner) && manner != "hang_before_ready";
        while begins && record.outcome == SLOW && limit_ms < TIME_LIMIT_MS {
            limit_ms *= 2;
            record = bench.conduct_within(manner, limit_ms);
        }
        assert_eq!(
            record.measured.is_some(),
            matches!(record.outcome, Outcome::Completed { .. }),
            "only what is complete has a measurement"
        );
        if let Some(measured) = &record.measured {
            let calibration = measured.calibration.expect("the clock beside the region");
            assert!(calibration.before_ns > 0 && calibration.after_ns > 0, "{calibration:?}");
        }
        // Whatever happened, the next trial is sound.
        assert_eq!(bench.conduct("nothing").outcome, Outcome::Completed { leaked: 0 });
        record.outcome
    };
    assert!(!folder.path().join("scratch").exists(), "the scratch folder is left");
    assert_eq!(shared_memory(), shared_before, "shared memory is left");
    assert!(cgroups().is_empty(), "cgroups are left: {:?}", cgroups());
    assert!(processes_named(runner::GUARD).is_empty(), "the guard is left");
    outcome
}

fn cgroups() -> Vec<PathBuf> {
    let own = ["cpu", "memory"].iter().filter_map(|one| sys::cgroup::Cgroup::own(one).ok());
    let all = own.flat_map(|own| own.descendants());
    let ours = format!("-{}", sys::process::pid());
    let mine = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("scruple-") && name.ends_with(&ours)
    };
    all.map(|group| group.path().to_path_buf()).filter(mine).collect()
}

fn expect(manner: &'static str, fits: fn(&Outcome) -> bool) -> Test {
    Test::test(manner, move || {
        let outcome = outcome_of(manner);
        if fits(&outcome) { Ok(()) } else { Err(Failed::from(format!("{outcome:?}"))) }
    })
}

fn violated(outcome: &Outcome, words: &str) -> bool {
    matches!(outcome, Outcome::ProtocolViolated { reason } if reason.contains(words))
}

fn died(outcome: &Outcome, expected: i32, at: Phase) -> bool {
    matches!(outcome, Outcome::Died { signal, phase } if *signal == expected && *phase == at)
}

/// A session whose CPU went offline stores no refusal in the place of each trial to come: it halts, and
/// says which.
fn a_cpu_is_taken_away() -> Result<(), Failed> {
    const GONE: u32 = 60_000;
    let folder = tempfile::tempdir()?;
    let mut cpus = sys::affinity::allowed()?;
    cpus.push(GONE);
    let runner = Runner::start(Settings { cpus, ..settings(folder.path()) })?;
    let mut bench = Bench { scratch: runner.settings().scratch.clone(), runner, trial: 0 };
    let design = design();
    let treatment = design.complete(&Cell::new([("how", "nothing")]));
    let order = Order {
        design: &design,
        treatment: &treatment,
        trial: 0,
        block: 0,
        position: 0,
        until: None,
    };
    let told = match bench.runner.conduct(&order) {
        Err(error) => error.to_string(),
        Ok(record) => return Err(Failed::from(format!("a trial was conducted: {record:?}"))),
    };
    assert_nothing_is_left(&bench.scratch);
    match told.contains("CPU 60000") && told.contains("offline") {
        true => Ok(()),
        false => Err(Failed::from(told)),
    }
}

/// A trial that runs when the time is up is ended, and has no record; the next one has its own time.
fn the_time_is_up() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut bench = Bench::new(folder.path());
    let design = design();
    let treatment = design.complete(&Cell::new([("how", "hang_before_ready")]));
    let until = Some(Instant::now() + Duration::from_millis(50));
    let order =
        Order { design: &design, treatment: &treatment, trial: 7, block: 0, position: 0, until };
    if let Some(record) = bench.runner.conduct(&order)? {
        return Err(Failed::from(format!("it has a record: {record:?}")));
    }
    assert_nothing_is_left(&bench.scratch);
    assert_eq!(bench.conduct("nothing").outcome, Outcome::Completed { leaked: 0 });
    Ok(())
}

/// A quota of a tenth of a CPU, planted around runner and trial, is seen to hold the trial back.
fn work_under_a_quota() -> Result<(), Failed> {
    let name = format!("scruple-test-quota-{}", sys::process::pid());
    let own = sys::cgroup::Cgroup::own("cpu");
    let limited = own.and_then(|own| {
        let group = sys::cgroup::Cgroup::create("cpu", &name)?.guarded();
        group.group().set_cpu_quota(0.1)?;
        group.group().add(sys::process::pid())?;
        Ok((own, group))
    });
    let (own, group) = match limited {
        Ok(limited) => limited,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let folder = tempfile::tempdir()?;
    let record = Bench::new(folder.path()).conduct("work_under_a_quota");
    own.add(sys::process::pid())?;
    group.end()?;
    match record.machine.throttled_ns {
        Some(1..) => Ok(()),
        told => Err(Failed::from(format!("the quota held nothing back: {told:?}"))),
    }
}

/// A trial that stood still completes, and says that it did.
fn paused(manner: &'static str) -> Test {
    Test::test(manner, move || {
        let folder = tempfile::tempdir()?;
        let record = Bench::new(folder.path()).conduct(manner);
        match (&record.outcome, record.machine.trial_pauses) {
            (Outcome::Completed { leaked: 0 }, 1..) => Ok(()),
            (Outcome::Unsupported { reason }, _) if manner == "be_frozen" => {
                println!("skipped: {reason}");
                Ok(())
            }
            seen => Err(Failed::from(format!("{seen:?}"))),
        }
    })
}

/// The first argument of a process that begins a runner and is killed when its scratch folder stands.
const KILLED_EARLY: &str = "__killed_early";

fn be_killed_early(folder: &Path) -> ! {
    let scratch = folder.join("scratch");
    let _ = Runner::start_with(settings(folder), || {
        std::fs::create_dir(&scratch)?;
        sys::process::kill(sys::process::pid(), sys::signal::SIGKILL).map_err(std::io::Error::other)
    });
    sys::task::exit_now(1);
}

/// Whatever a runner has made when it is killed its guard knows of.
fn killed_early() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut child = Command::new(std::env::current_exe()?);
    let mut child = child.arg(KILLED_EARLY).arg(folder.path()).spawn()?;
    let status = child.wait()?;
    if std::os::unix::process::ExitStatusExt::signal(&status) != Some(sys::signal::SIGKILL) {
        return Err(Failed::from(format!("it was not killed: {status}")));
    }
    // The guard may be anywhere between its exec and its end: what counts is what it leaves.
    for _ in 0..3000 {
        if std::fs::read_dir(folder.path())?.count() == 0 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failed::from("the scratch folder is still there after thirty seconds"))
}

fn tests() -> Vec<Test> {
    vec![
        expect("nothing", |o| *o == Outcome::Completed { leaked: 0 }),
        expect("hang_before_ready", |o| *o == Outcome::TimedOut { phase: Phase::SettingUp }),
        expect("hang_after_go", |o| *o == Outcome::TimedOut { phase: Phase::Measuring }),
        expect("abort", |o| died(o, sys::signal::SIGABRT, Phase::Measuring)),
        expect("abort_before_ready", |o| died(o, sys::signal::SIGABRT, Phase::SettingUp)),
        expect("segfault", |o| died(o, sys::signal::SIGSEGV, Phase::Measuring)),
        expect(
            "panic",
            |o| matches!(o, Outcome::Failed { reason } if reason == "panicked: a planted panic"),
        ),
        expect("leak_grandchild", |o| *o == Outcome::Completed { leaked: 1 }),
        expect("leak_escaped_grandchild", |o| *o == Outcome::Completed { leaked: 1 }),
        expect("garbage", |o| violated(o, "this is not JSON")),
        expect("flood_stdout", |o| violated(o, "measures in silence")),
        expect("flood_socket", |o| violated(o, "a message of more than")),
        expect("out_of_memory", |o| {
            *o == Outcome::OutOfMemory { phase: Phase::Measuring }
                || matches!(o, Outcome::Unsupported { reason } if reason == "no memory cgroup")
        }),
        expect(
            "refuse",
            |o| matches!(o, Outcome::Unsupported { reason } if reason == "needs a unicorn"),
        ),
        expect(
            "fail",
            |o| matches!(o, Outcome::Failed { reason } if reason == "a planted failure"),
        ),
        expect("exit_silently", |o| violated(o, "exit code 3 and no answer")),
        expect("answer_twice", |o| violated(o, "said more after its answer")),
        expect("answer_before_go", |o| violated(o, "before the runner said go")),
        expect("close_socket_and_live", |o| violated(o, "closed its socket and kept running")),
        expect(
            "never_close_region",
            |o| matches!(o, Outcome::Failed { reason } if reason.contains("timed region")),
        ),
        expect("leave_files", |o| *o == Outcome::Completed { leaked: 0 }),
        expect("begin_anew", |o| *o == Outcome::Completed { leaked: 0 }),
        Test::test("work_under_a_quota", work_under_a_quota),
        paused("be_stopped"),
        paused("be_frozen"),
        Test::test("killed_early", killed_early),
        Test::test("a_cpu_is_taken_away", a_cpu_is_taken_away),
        Test::test("the_time_is_up", the_time_is_up),
        Test::test("every_manner_has_its_test", || {
            let tested: Vec<String> = tests().iter().map(|test| test.name().to_string()).collect();
            let untested: Vec<_> =
                MANNERS.iter().filter(|manner| !tested.contains(&manner.to_string())).collect();
            if untested.is_empty() { Ok(()) } else { Err(Failed::from(format!("{untested:?}"))) }
        }),
    ]
}

fn main() {
    kit::serve_if_asked(&[&[EXPERIMENT]], None);
    runner::serve_if_asked();
    let words: Vec<_> = std::env::args_os().collect();
    if let [_, role, folder] = &words[..]
        && role == KILLED_EARLY
    {
        be_killed_early(Path::new(folder));
    }
    let mut arguments = Arguments::from_args();
    // The runner adopts all orphans of this process, so its tests cannot stand side by side.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, tests()).exit();
}
