use crate::quantity;
use crate::ui::Color;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use model::Profile;
use std::ffi::OsString;
use std::path::PathBuf;

/// Weighs what concurrency costs on this Linux machine, and says why.
///
/// scruple runs controlled experiments on processes, threads, memory and the kernel, judges the
/// claims people make about them, and shows the evidence.
#[derive(Debug, Parser)]
#[command(name = "scruple", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Set when to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

pub(crate) use moved::moved;

impl Cli {
    /// Reads the words of this process's command line.
    pub(crate) fn read() -> clap::error::Result<Self> {
        Self::from_arg_matches(&groups::grouped().try_get_matches()?)
    }
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a claim was refuted (with --fail-if-refuted) or a \
number is beyond a limit (compare --fail-if, load --expect); 2 usage or environment error; 3 interrupted, \
inconclusive (with --fail-if-inconclusive, --fail-if or --expect), machine not trustworthy (selftest), or no \
answer (plan, load --find-knee).";

const COMPARE_EXIT_CODES: &str = "Exit codes: 0 no condition was given, or every interval ends before \
its limit; 1 regression: a number lies beyond a condition's limit, after Hommel's correction over all \
comparisons of that condition; 2 usage or environment error, such as a condition whose names no \
session has; 3 undecided: an interval contains a limit, or there is nothing to compare (refused, or \
not measured on a side). With several conditions the worst decides: 1 before 3 before 0.";

const SELFTEST_EXIT_CODES: &str = "Exit codes: 0 this machine can be trusted (grade A); 2 usage or \
environment error; 3 interrupted, or a lower grade: the result says from which effect size on the \
machine can be trusted.";

const SYSCALLS_EXIT_CODES: &str = "Exit codes: 0 the command was traced to its end, however it \
ended (the result says how); 2 it could not be run or traced; 3 tracing was stopped before all \
processes had ended.";

const PLAN_EXIT_CODES: &str = "Exit codes: 0 the answer names a model; 2 usage or environment \
error; 3 no model sustains the load, or the session cannot answer (the result says why, and what to \
measure).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure experiments, judge claims, write a report
    Run(RunArgs),
    /// Measure your own programs as a study file describes
    ///
    /// The file is TOML: a command with placeholders, factors with their levels, and claims.
    /// docs/studies.md describes every key; --init writes a file to start from.
    ///
    /// The first blocks have all treatments in random order; only --time-budget limits their time.
    /// Further blocks follow where intervals are wide. Each block measures the baseline twice: this
    /// A/A control shows how small a difference the session can find for your command.
    ///
    /// If a treatment's command fails, the report gives the reason and the others continue.
    Study(StudyArgs),
    /// Measure how your program scales with its workers
    ///
    /// scruple runs the command with different numbers of workers, in random order within blocks. It
    /// fits laws (Amdahl, Gustafson, the universal scalability law, a kink) to the throughput,
    /// divides the workers' time into useful and lost time, and names the bottleneck with its
    /// evidence. After the first complete blocks it measures next the number of workers whose trial
    /// narrows the curve most. docs/scaling.md explains how to read the answer.
    ///
    /// With --fit, it analyses throughput measured elsewhere in the same way.
    Scale(scale::ScaleArgs),
    /// List the experiments
    List(ListArgs),
    /// Explain an experiment: question, factors, responses, claims
    Explain(ExplainArgs),
    /// Check what this machine lets scruple observe and resolve
    ///
    /// It lists what can be observed, what is missing and how to enable it. It measures two identical
    /// treatments for about three seconds and predicts from their scatter how small a difference a
    /// session can find. It leaves no session behind.
    Doctor(DoctorArgs),
    /// Measure planted answers and grade this machine
    ///
    /// scruple plants delays of a known length, known numbers of system calls, switches and faults,
    /// and known causes, and measures them like anything else. It also measures identical treatments,
    /// between which it must find no difference. The grade says for which effect sizes this machine
    /// can be trusted. A: all planted sizes, counts and causes; B: 5 % and more; C: 20 % and more;
    /// D: not even 20 %; F: a result contradicts a planted answer, so scruple itself is wrong here.
    ///
    /// It measures for one minute by default, and leaves a session like any other.
    #[command(after_help = SELFTEST_EXIT_CODES)]
    Selftest(SelftestArgs),
    /// Find the resource that limits a command
    ///
    /// Co-runners take one resource at a time away from the command: CPU time, memory access,
    /// shared cache, storage, prompt wake-ups or punctual timers. They take it at two strengths, and
    /// scruple measures how much. It reports how much the command's time depends on each resource,
    /// with an interval, and which one limits it. It needs no hardware counters and does not change
    /// the command.
    ///
    /// Each trial starts the command once. scruple first runs it six times as it is, and says how long
    /// two blocks of trials take. The command may use all CPUs; where memory or cache is taken, a quarter
    /// of them, and at least one of two, is reserved for co-runners.
    Why(WhyArgs),
    Waits(waits::WaitsArgs),
    /// Trace a command's threads, processes and system calls
    ///
    /// scruple traces the command and every thread and process that it creates, by ptrace, which an
    /// ordinary user may apply to their own programs. Input, output and environment pass through
    /// unchanged. When all of them have ended, it prints the result on standard output, after the
    /// command's own output; --output writes it to a file instead.
    ///
    /// Tracing stops the command twice at every system call and slows it down a lot. The counts are
    /// right, but times would be wrong, so none are given. A setuid program runs without the other
    /// user's rights, unless root traces it.
    ///
    /// Ctrl-C reaches the command as if it were not traced; scruple forwards SIGTERM and SIGHUP to it.
    /// If the command has ended but processes that it left behind have not, these signals stop the
    /// tracing and the processes continue. If scruple is killed, all traced processes are killed.
    #[command(after_help = SYSCALLS_EXIT_CODES)]
    Syscalls(SyscallsArgs),
    /// Analyse a stored session again
    ///
    /// It writes summary.json and report.html into the session's folder and prints the summary. With
    /// the names of experiments, or --terminal, it prints answers, figures and claims instead
    /// and writes nothing, so the folder may be read-only.
    ///
    /// It takes the latest session in scruple-sessions/ if no session is named, and says so on standard
    /// error. In `scruple report create` the only word is an experiment, so it draws the latest one's.
    ///
    /// Charts are as wide as the terminal. They are drawn in ASCII if the locale (LC_ALL, LC_CTYPE or
    /// LANG) is not UTF-8.
    Report(ReportArgs),
    Ask(ask::AskArgs),
    /// Compare sessions of different machines, kernels or settings
    ///
    /// Without names it compares the two latest sessions that ask the same; with one name, that session
    /// and the latest other one that asks the same. The earlier of the two is the base, and standard
    /// error says which they are.
    ///
    /// The first is the base. Every effect is another side divided by the base, with its 95 %
    /// confidence interval. A side is a session's folder, or a folder of several sessions of one
    /// setting. With two or more sessions on every side, intervals are computed over sessions and
    /// include the variation from one session to the next. With one session per side, intervals are
    /// computed over trials and exclude that variation; the output says so.
    ///
    /// Facts that differ (machine, kernel, settings, shield, build) are listed. An experiment whose
    /// definition differs between sides is refused. Only --html writes a file, so a base may be kept
    /// in a repository as manifest.json and trials.ndjson alone.
    ///
    /// A condition for --fail-if is EXPERIMENT[.RESPONSE][{FACTOR=LEVEL,…}] > +N% or < -N%. The default
    /// is the response of the experiment's first finding, at every treatment.
    ///
    /// Files that `load --json` wrote are compared as loads. A condition then names p50, p95, p99, p99.9,
    /// mean, errors or rate, such as 'p99 > +5%'.
    #[command(after_help = COMPARE_EXIT_CODES)]
    Compare(CompareArgs),
    /// Export a stored session for other tools
    ///
    /// The session is not changed. CSV and Parquet have one row per trial and response. The layouts
    /// of hyperfine, google/benchmark and Bencher have no place for some of the data; standard error
    /// lists what was left out. docs/exports.md describes every column and field.
    Export(ExportArgs),
    Figure(figure::FigureArgs),
    Query(query::QueryArgs),
    /// Plan the model of concurrency and the number of workers
    ///
    /// scruple reads measured costs from a session of the experiments create, switch and footprint: a
    /// thread, a process, a hand-off to a pool, a switch, the memory of a worker. A queue that
    /// is simulated request by request gives the rest. The answer is computed from the worst ends of
    /// the measured intervals, and shows these numbers and its margin.
    ///
    /// A load is a rate of requests, or a number of connections; each connection waits for its answer
    /// before it sends the next request. Numbers need their units. If connections are spread over
    /// several machines, the plan is that of one of them.
    #[command(name = "plan", after_help = PLAN_EXIT_CODES)]
    Advise(advise::AdviseArgs),
    Core(Box<core::CoreArgs>),
    Load(Box<load::LoadArgs>),
    /// Measure the same session on many machines
    ///
    /// Slurm starts the jobs, or you start one program on each machine. docs/fleet.md describes how, what each
    /// node leaves, and what the report can and cannot say.
    Fleet(fleet::FleetArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff)
    Man,
}

/// The profiles, and what the help says of each.
const PROFILES: [(Profile, &str); 4] = [
    (Profile::Smoke, "Few and very short trials, for tests; a whole catalog takes seconds"),
    (Profile::Quick, "Short trials; a whole catalog takes at most three minutes on two cores"),
    (Profile::Standard, "More and longer trials; a whole catalog takes a quarter of an hour"),
    (Profile::Thorough, "All treatments and the longest trials; a whole catalog takes hours"),
];

/// The same of the self-test, which plants nothing for the longest trials.
const SELFTEST_PROFILES: [(Profile, &str); 3] = [
    (Profile::Smoke, "Seconds; for tests, too few for a meaningful grade"),
    (Profile::Quick, "Short trials"),
    (Profile::Standard, "More and longer trials; give it some minutes (--time-budget 5m)"),
];

/// Returns what parses one of some profiles.
fn profile(known: &'static [(Profile, &str)]) -> impl TypedValueParser<Value = Profile> {
    let value = |(it, help): &(Profile, &'static str)| PossibleValue::new(it.name()).help(*help);
    let of_name = |name: String| known.iter().find(|(it, _)| it.name() == name);
    PossibleValuesParser::new(known.iter().map(value))
        .map(move |name| of_name(name).map_or_else(Profile::default, |(it, _)| *it))
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Run these experiments only, or a preset (see `scruple list`) [default: all]
    ///
    /// The A/A control `null` is always measured, except next to experiments that compute all their numbers.
    /// A preset answers one question with the treatments of
    /// several experiments that it needs: `scruple run threads-vs-processes` takes two minutes at most.
    #[arg(value_name = "EXPERIMENT", conflicts_with = "resume")]
    pub(crate) experiments: Vec<String>,
    /// Set how much to measure
    #[arg(long, value_parser = profile(&PROFILES), default_value = "quick", conflicts_with = "resume")]
    pub(crate) profile: Profile,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Print summary.json on standard output instead of the text summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) verdicts: VerdictArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The study file
    #[arg(value_name = "FILE", required_unless_present_any = ["resume", "from"], conflicts_with = "resume")]
    pub(crate) file: Option<PathBuf>,
    /// With --init: compare these commands, two or more, each as one argument
    #[arg(value_name = "COMMAND", requires = "init")]
    pub(crate) commands: Vec<String>,
    /// Write a commented study of the commands to FILE, which must not exist
    #[arg(long, requires = "commands", conflicts_with_all = ["dry_run", "from", "resume"])]
    pub(crate) init: bool,
    /// With --init: call each program with a kind of work (cpu, mem, io) and a number of workers (1 to 8)
    #[arg(long, requires = "init")]
    pub(crate) compare: bool,
    /// Measure the study of a stored session again in a new session, without its file
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["file", "resume"])]
    pub(crate) from: Option<PathBuf>,
    /// Set how much to measure
    #[arg(long, value_parser = profile(&PROFILES), default_value = "quick", conflicts_with = "resume")]
    pub(crate) profile: Profile,
    /// Measure until a difference of this size can be found, such as 2%
    ///
    /// It replaces the study's `precision` as the width at which measuring stops. The session stops on
    /// width, never on significance, so repeated looks cannot produce a finding. The time budget still
    /// ends it.
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["runs", "resume"])]
    pub(crate) detect: Option<String>,
    /// Store the values of the study's `env` in the session; without this, only their names
    #[arg(long, conflicts_with_all = ["resume", "redact"])]
    pub(crate) keep_env_values: bool,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Print summary.json on standard output instead of the text summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) verdicts: VerdictArgs,
}

/// Options for what a session's verdicts do besides being shown.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// Write summary.json to this file also; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Exit with code 1 if a claim is refuted
    #[arg(long)]
    pub(crate) fail_if_refuted: bool,
    /// Exit with code 3 if a claim is inconclusive
    #[arg(long)]
    pub(crate) fail_if_inconclusive: bool,
}

/// Options for how any session is measured, and its folder.
#[derive(Debug, Default, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// Write the session to this folder [default: scruple-sessions/<time>-<host>]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Store the session without host name, paths, commands, names and output of programs, and variables
    ///
    /// It can be compared like any other session. docs/security.md lists what is left out and what stays. A
    /// redacted session of your own programs cannot be resumed.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) redact: bool,
    /// Finish an interrupted session with the options that it was started with
    #[arg(long, value_name = "DIR", conflicts_with_all = ["MeasureArgs", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Show the planned trials and how long they take, and run none; with --json, the trials as JSON
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
}

/// Options for how any session is measured.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MeasureArgs {
    /// Measure exactly this number of blocks of each experiment instead of stopping on precision
    #[arg(short, long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::schedule::BLOCKS_MAX)))]
    pub(crate) runs: Option<u32>,
    /// Begin no block of trials after this time, such as 30s, 1.5m or 2m30s, and end a trial that goes on
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms)]
    pub(crate) time_budget: Option<u64>,
    /// Seed the random order; the same seed repeats the same order
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Run trials on these CPUs only, such as 0,2-3
    #[arg(long, value_name = "CPUS")]
    pub(crate) affinity: Option<String>,
    /// Do not shield the trials from the rest of the machine
    #[arg(long)]
    pub(crate) no_shield: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Run these experiments with planted answers only [default: all]
    ///
    /// The A/A control `null` is always measured.
    #[arg(value_name = "EXPERIMENT", conflicts_with = "resume")]
    pub(crate) experiments: Vec<String>,
    /// Set how much to measure
    #[arg(long, value_parser = profile(&SELFTEST_PROFILES), default_value = "quick", conflicts_with = "resume")]
    pub(crate) profile: Profile,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Print the grade and its evidence as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Set this variable in the command's environment; NAME=VALUE before the command does the same
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::spoken::variable, conflicts_with = "resume")]
    pub(crate) env: Vec<String>,
    /// Take only these resources: cpu, memory, cache, storage, queue, timer [default: all]
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',', conflicts_with = "resume")]
    pub(crate) squeeze: Vec<String>,
    /// Accept any exit code of the command; a signal still fails a trial
    #[arg(short, long, conflicts_with = "resume")]
    pub(crate) ignore_failure: bool,
    /// Kill a trial after this time, such as 30s [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms, conflicts_with = "resume")]
    pub(crate) time_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Print the answer and its evidence as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
    /// The command with its arguments
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "resume",
        conflicts_with = "resume",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Do not measure; leave out how small a difference can be found
    #[arg(long)]
    pub(crate) no_measure: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SyscallsArgs {
    /// Set this variable in the command's environment; NAME=VALUE before the command does the same
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::spoken::variable)]
    pub(crate) env: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result to this file, not to standard output (`-`), where the command also writes
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The command with its arguments
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Count the treatments of this profile
    #[arg(long, value_parser = profile(&PROFILES), default_value = "quick")]
    pub(crate) profile: Profile,
    /// Print what the designs declare, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The experiment to explain
    pub(crate) experiment: String,
    /// Print everything: every level, definition, finding, claim with its condition, and limit
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) shown: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The session: a folder, its name or the beginning of it [default: the latest]
    pub(crate) session: Option<PathBuf>,
    /// Draw these experiments of the session in the terminal
    #[arg(value_name = "EXPERIMENT", conflicts_with_all = ["output", "json"])]
    pub(crate) experiments: Vec<String>,
    /// Print answer, figure and claims of each experiment in the terminal
    #[arg(long, conflicts_with_all = ["output", "json"])]
    pub(crate) terminal: bool,
    /// Print everything in the terminal: also definitions, tables of estimates and outcomes
    #[arg(long, conflicts_with_all = ["output", "json"])]
    pub(crate) all: bool,
    /// Write report.html to this file instead of the session's folder; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print summary.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out host name, paths, commands, names and output of programs, and variables; write nothing
    /// into the session's folder
    #[arg(long)]
    pub(crate) redact: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The session, the folder of sessions, or the file of `load --json` that the sides are compared with
    #[arg(value_name = "BASE")]
    pub(crate) base: Option<PathBuf>,
    /// The sessions, folders of sessions, or files of `load --json` to compare with the base
    #[arg(value_name = "SIDE")]
    pub(crate) sides: Vec<PathBuf>,
    /// Compare these experiments only; may be repeated
    #[arg(short, long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) experiment: Vec<String>,
    /// Exit with code 1 if this change is found, and with 3 if the data cannot decide, such as
    /// 'create > +5%'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<analysis::Condition>,
    /// Print the comparison as JSON (docs/comparison.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the comparison as one HTML file also, which works offline; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print every comparison, not only the differences
    #[arg(short, long)]
    pub(crate) all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A tidy table with one row per trial and response
    Csv,
    /// The same table with types (needs a build with the feature `parquet`)
    Parquet,
    /// A Markdown table of the estimates: a row per treatment, a column per factor and response
    Table,
    /// The layout of hyperfine --export-json; times only, in seconds
    Hyperfine,
    /// The JSON layout of google/benchmark; times only, in nanoseconds
    GoogleBenchmark,
    /// Bencher Metric Format: medians with their 95 % intervals
    Bencher,
    /// The session itself in a new folder
    Session,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session: a folder, its name or the beginning of it [default: the latest]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<PathBuf>,
    /// Write this format [default: by the extension of FILE, else csv]
    #[arg(short, long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Write to this file; `-`, the default, is standard output; with --format session to this folder, which
    /// is new or empty
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Leave out host name, paths, commands, names and output of programs, and variables
    ///
    /// docs/security.md lists what is left out and what stays.
    #[arg(long)]
    pub(crate) redact: bool,
    /// Export these experiments only; may be repeated
    #[arg(short, long = "experiment", value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) experiments: Vec<String>,
    /// Export these responses only; may be repeated
    #[arg(long = "response", value_name = "RESPONSE", value_delimiter = ',')]
    pub(crate) responses: Vec<String>,
    /// Write one row per observation instead of one per trial (csv and parquet)
    #[arg(long)]
    pub(crate) observations: bool,
}

pub(crate) mod advise;
pub(crate) mod ask;
pub(crate) mod core;
pub(crate) mod figure;
pub(crate) mod fleet;
pub(crate) mod groups;
pub(crate) mod load;
mod moved;
pub(crate) mod query;
pub(crate) mod scale;
pub(crate) mod waits;

#[cfg(test)]
mod docs_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
