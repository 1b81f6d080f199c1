use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Weighs what concurrency costs on this Linux machine, and says why.
///
/// scruple runs controlled experiments on processes, threads, memory and the kernel, judges the
/// claims people make about them, and shows the evidence.
#[derive(Debug, Parser)]
#[command(name = "scruple", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a claim was refuted (with --fail-if-refuted) or a \
number changed as it must not (compare --fail-if); 2 usage or environment error; 3 interrupted, \
inconclusive (with --fail-if-inconclusive or --fail-if), not to be trusted (selftest), or without \
an answer (plan, load --find-knee, load --predict).";

const COMPARE_EXIT_CODES: &str = "Exit codes: 0 no condition was given, or every interval ends before \
its edge; 1 regression: a number lies beyond the edge of a condition, after Holm's correction over \
all that the condition looks at; 2 usage or environment error, such as a condition that names what \
no session has; 3 cannot tell: an interval reaches over an edge, or there is nothing to compare \
(refused, not measured on a side). Of several conditions the worst decides: 1 before 3 before 0.";

const SELFTEST_EXIT_CODES: &str = "Exit codes: 0 this machine can be trusted (grade A); 2 usage or \
environment error; 3 it cannot be trusted, and the result says for which size of effect; or \
interrupted.";

const SYSCALLS_EXIT_CODES: &str = "Exit codes: 0 the command was followed to its end, however it \
ended (the result says how); 2 it could not be run or not be traced; 3 the watching was ended \
before all processes had ended.";

const PLAN_EXIT_CODES: &str = "Exit codes: 0 the answer says what to take; 2 usage or environment \
error; 3 no model bears the load, or the session cannot answer (the result says why, and what to \
measure).";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure, judge, and write a report (the main job)
    Run(RunArgs),
    /// Measure programs of your own, as a study's file describes them
    ///
    /// The file is TOML: a command with placeholders, factors with their levels, what is claimed.
    /// docs/studies.md describes every key; --init writes one to begin from. Blocks of all treatments
    /// in random order come first, however long they take unless --time-budget says how long they may;
    /// then more where intervals are wide. The baseline is measured twice in each block, so that
    /// the session says how far this very command can be trusted here.
    ///
    /// A treatment whose command fails is told with its reason, and the others go on.
    Study(StudyArgs),
    /// How a program of your own scales with its workers, where the rest goes, and what to do
    ///
    /// The command is run with different numbers of workers, in random order within blocks. Laws
    /// (Amdahl, Gustafson, the universal scalability law, a kink) are fitted to its throughput; the
    /// time of its workers is divided into what was useful and what was lost, and what stops it is
    /// named with its evidence. When the base is measured, the n whose trial narrows the curve most
    /// is next. docs/scaling.md says how to read the answer.
    ///
    /// With --fit, figures that were measured elsewhere are analysed in the same way, as far as
    /// throughput alone goes.
    Scale(scale::ScaleArgs),
    /// List the experiments
    List(ListArgs),
    /// Explain an experiment: its question, factors, responses and claims
    Explain(ExplainArgs),
    /// What can be observed on this machine, how small a difference can be found, what is missing
    ///
    /// Two identical treatments are measured for some three seconds in a folder that is removed
    /// again; from their scatter it is predicted how small a difference a session can find. Nothing
    /// else is measured, and no session is left.
    Doctor(DoctorArgs),
    /// Plant known answers, see whether they are found, and grade this machine
    ///
    /// Delays of a known length, known numbers of system calls, switches and faults, and known
    /// causes are planted and measured like anything else, beside identical treatments in which
    /// nothing may be found. The grade says for which size of effect this machine can be trusted:
    /// A: for all sizes that were planted, and for counts and causes; B: for 5 % and more; C: for
    /// 20 % and more; D: not even that; F: something known was contradicted, so that the laboratory
    /// itself errs here.
    ///
    /// It measures for a minute unless told otherwise, and leaves a session like any other.
    #[command(after_help = SELFTEST_EXIT_CODES)]
    Selftest(SelftestArgs),
    /// Say which resource a command lives on, by taking one at a time
    ///
    /// CPU time, memory bandwidth, shared cache, storage, prompt wake-ups and punctual timers are
    /// taken from the command by co-runners, one at a time and at two strengths, in an interleaved
    /// plan. How much was taken is measured. Of each resource it says by how much the command's time
    /// depends on it, with an interval, and which it lives on: without hardware counters, and
    /// without touching the command.
    ///
    /// The command is started once per trial, some hundred times. A quarter of the CPUs, at least
    /// one of two, is kept for co-runners; the command has the others at every level.
    Why(WhyArgs),
    /// Show how a command makes its threads and processes, and count its system calls
    ///
    /// The command is traced with all threads and processes that it makes, by ptrace, as an
    /// ordinary user may trace their own programs. Its input, output and environment are passed
    /// through untouched. What was seen is printed on standard output, after whatever the command
    /// wrote there, when all of them have ended; --output keeps the two apart.
    ///
    /// Tracing stops the command twice at every system call and slows it much: the counts are
    /// right, its times would not be, and none are given. A program that would run with the
    /// rights of another user (setuid) runs without them, unless root traces it.
    ///
    /// Ctrl-C goes to the command, as if it were not traced; SIGTERM and SIGHUP are handed on to
    /// it. When the command itself has ended but processes that it left behind have not, the same
    /// ends the watching, and they go on. If scruple is killed, all that it traces is killed.
    #[command(after_help = SYSCALLS_EXIT_CODES)]
    Syscalls(SyscallsArgs),
    /// Analyse a stored session again: summary.json, report.html and the summary on screen
    ///
    /// With the names of experiments, or --terminal, the charts of the report are drawn in the
    /// terminal instead, and nothing is written: the folder may be read-only.
    ///
    /// They are as wide as the terminal. Where the locale (LC_ALL, LC_CTYPE or LANG) is not UTF-8,
    /// they are drawn in ASCII.
    Report(ReportArgs),
    Ask(ask::AskArgs),
    /// Compare sessions: of different machines, kernels, versions, settings
    ///
    /// The first is the base; every effect is another side divided by it, with its 95 % interval. A
    /// side is a session's folder, or a folder that holds several sessions of one setting: with two
    /// or more on every side, the session is what the intervals are made of, and they hold what
    /// changes from one session to the next where nothing was changed. Of one session a side they
    /// are made of trials and do not hold that, which is said.
    ///
    /// Facts that differ (machine, kernel, settings, shield, build) are listed. An experiment whose
    /// definition is not the same on all sides is refused. Nothing is written but what --html asks
    /// for, so that a base may lie in a repository, with manifest.json and trials.ndjson alone.
    ///
    /// A condition for --fail-if is EXPERIMENT[.RESPONSE][{FACTOR=LEVEL,…}] > +N% or < -N%. Without
    /// a response it means that of the experiment's first finding; without levels, every treatment.
    #[command(after_help = COMPARE_EXIT_CODES)]
    Compare(CompareArgs),
    /// Export a stored session for other tools: CSV, Parquet, hyperfine, google/benchmark, Bencher
    ///
    /// The session is read and not changed. CSV and Parquet hold one row per trial and response;
    /// the layouts of other tools leave out what they have no place for, and standard error says
    /// what. docs/exports.md describes every column and field.
    Export(ExportArgs),
    Query(query::QueryArgs),
    /// Say which model of concurrency, and how many workers, a stated load needs
    ///
    /// What a thread, a process, a hand-off to a pool and a switch cost, and how much memory a worker
    /// takes, is read from a session that measured the experiments create, switch and workers; the
    /// rest are queueing formulas (M/M/c for workers and for CPUs). The answer names the measured
    /// numbers behind it and its margin, and is reckoned from the worst ends of their intervals.
    ///
    /// A load is a rate of requests, or a number of connections of which each waits for its answer
    /// before it asks again. Numbers need their units. Connections over several machines are simulated:
    /// one machine is played request by request, with the measured costs.
    #[command(name = "plan", after_help = PLAN_EXIT_CODES)]
    Advise(advise::AdviseArgs),
    Load(load::LoadArgs),
    /// The same session on many machines: through Slurm, or over ssh
    ///
    /// docs/fleet.md says how, with what each node leaves, and what the report can and cannot say.
    Fleet(fleet::FleetArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff)
    Man,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// For tests: seconds
    Smoke,
    /// The whole catalog within three minutes on two cores
    Quick,
    /// A quarter of an hour
    Standard,
    /// Hours
    Thorough,
}

impl From<ProfileName> for model::Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Smoke => model::Profile::Smoke,
            ProfileName::Quick => model::Profile::Quick,
            ProfileName::Standard => model::Profile::Standard,
            ProfileName::Thorough => model::Profile::Thorough,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The experiments to run, by name (see `scruple list`); none means all
    ///
    /// The A/A control `null` is always measured with them.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// How much to measure
    #[arg(long, value_enum, default_value_t = ProfileName::Quick)]
    pub(crate) profile: ProfileName,
    /// An ELF file for RV32IM or RV32IMC that icache runs in place of its own programs; may be repeated
    ///
    /// The first is the one that the others are compared with. A trial reads the file again and fails
    /// if it has changed; docs/icache.md says what a program may do.
    #[arg(long, value_name = "FILE")]
    pub(crate) elf: Vec<PathBuf>,
    /// Have the RISC-V compilers that are installed build icache's own program, at -O0 to -O3 and -Os
    /// with and without compressed instructions, and run what they make
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Stop a program of --elf or --rebuild after so many instructions [default: 10000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=model::ProgramFile::INSTRUCTIONS_MAX))]
    pub(crate) instructions: Option<u64>,
    /// Write what each program of --elf or --rebuild does, step by step, into traces/ of the session's
    /// folder, up to 200000 steps
    #[arg(long)]
    pub(crate) trace: bool,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Finish an interrupted session; everything else is as it was begun
    #[arg(long, value_name = "DIR", conflicts_with_all = ["elf", "rebuild", "instructions", "trace", "experiments", "profile", "runs", "time_budget", "seed", "affinity", "no_shield", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Print summary.json on standard output instead of the summary for people
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) verdicts: VerdictArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The study's file
    #[arg(value_name = "FILE", required_unless_present_any = ["resume", "from"])]
    pub(crate) file: Option<PathBuf>,
    /// With --init: two commands or more that the study is to compare, each one argument
    #[arg(value_name = "COMMAND", requires = "init")]
    pub(crate) commands: Vec<String>,
    /// Write a commented study that compares the commands into FILE, which must not exist
    #[arg(long, requires = "commands", conflicts_with_all = ["dry_run", "from", "resume"])]
    pub(crate) init: bool,
    /// Show the trials of one block as they would run, and measure nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Measure the study of a stored session again, in a new session, without its file
    #[arg(long, value_name = "SESSION", conflicts_with = "file")]
    pub(crate) from: Option<PathBuf>,
    /// How much to measure
    #[arg(long, value_enum, default_value_t = ProfileName::Quick)]
    pub(crate) profile: ProfileName,
    /// Measure until a difference of this share would be found, such as 2%
    ///
    /// It sets the width of the intervals in place of the study's `precision`. The session stops by
    /// width, never by what it finds, so that nothing is found by looking often. The time budget
    /// still ends it.
    #[arg(long, value_name = "SHARE", conflicts_with = "runs")]
    pub(crate) detect: Option<String>,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Finish an interrupted session; everything else is as it was begun
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "from", "detect", "profile", "runs", "time_budget", "seed", "affinity", "no_shield", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Print summary.json on standard output instead of the summary for people; with --dry-run,
    /// the trials as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) verdicts: VerdictArgs,
}

/// What becomes of a session's verdicts besides being shown.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// Also write summary.json to a file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// End with exit code 1 if a claim is refuted
    #[arg(long)]
    pub(crate) fail_if_refuted: bool,
    /// End with exit code 3 if a claim stays inconclusive
    #[arg(long)]
    pub(crate) fail_if_inconclusive: bool,
}

/// How a session is measured, whatever it is for, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// The session's folder [default: scruple-sessions/<time>-<host>]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// How a session is measured, whatever it is for.
#[derive(Clone, Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Measure exactly so many blocks of each experiment, instead of stopping on precision
    #[arg(short, long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::schedule::BLOCKS_MAX)))]
    pub(crate) runs: Option<u32>,
    /// The time to measure in, such as 30s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) time_budget: Option<u64>,
    /// Where the random order comes from; the same seed repeats the same order
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The CPUs that trials may use, such as 0,2-3
    #[arg(long, value_name = "CPUS")]
    pub(crate) affinity: Option<String>,
    /// Do not shield the trials from the rest of the machine
    #[arg(long)]
    pub(crate) no_shield: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SelftestProfile {
    /// For tests: seconds, too few for a grade to mean much
    Smoke,
    /// Short trials
    Quick,
    /// Longer trials and more of them; give it some minutes (--time-budget 5m)
    Standard,
}

impl From<SelftestProfile> for model::Profile {
    fn from(name: SelftestProfile) -> Self {
        match name {
            SelftestProfile::Smoke => model::Profile::Smoke,
            SelftestProfile::Quick => model::Profile::Quick,
            SelftestProfile::Standard => model::Profile::Standard,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// The experiments with planted answers to run, by name; none means all
    ///
    /// The A/A control `null` is always measured with them.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// How much to measure
    #[arg(long, value_enum, default_value_t = SelftestProfile::Quick)]
    pub(crate) profile: SelftestProfile,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Finish an interrupted self-test; everything else is as it was begun
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiments", "profile", "runs", "time_budget", "seed", "affinity", "no_shield", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Print the grade and all that led to it as JSON (docs/selftest.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// What to take, by name: cpu, memory, cache, storage, queue, timer; none means all
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',')]
    pub(crate) squeeze: Vec<String>,
    /// The time after which a trial is killed, such as 30s [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) time_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Finish an interrupted session; everything else is as it was begun
    #[arg(long, value_name = "DIR", conflicts_with_all = ["command", "squeeze", "time_limit", "runs", "time_budget", "seed", "affinity", "no_shield", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Print the answer and all that led to it as JSON (docs/why.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
    /// The command with its arguments
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "resume",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Do not measure: leave out how small a difference can be found
    #[arg(long)]
    pub(crate) no_measure: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SyscallsArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Write what was seen to a file instead of to standard output (`-`), where the command writes,
    /// too
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
    /// The profile whose treatments are counted
    #[arg(long, value_enum, default_value_t = ProfileName::Quick)]
    pub(crate) profile: ProfileName,
    /// Print the designs as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The experiment
    pub(crate) experiment: String,
    /// The profile whose treatments are counted
    #[arg(long, value_enum, default_value_t = ProfileName::Quick)]
    pub(crate) profile: ProfileName,
    /// Print the design as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The session's folder
    pub(crate) session: PathBuf,
    /// Draw these experiments of the session in the terminal
    #[arg(value_name = "EXPERIMENT", conflicts_with_all = ["output", "json"])]
    pub(crate) experiments: Vec<String>,
    /// Draw all experiments of the session in the terminal
    #[arg(long, conflicts_with_all = ["output", "json"])]
    pub(crate) terminal: bool,
    /// Write report.html there instead of into the session's folder; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print summary.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The session, or the folder of sessions, that the others are held against
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// The sessions, or folders of sessions, that are held against it
    #[arg(value_name = "SIDE", required = true)]
    pub(crate) sides: Vec<PathBuf>,
    /// Compare these experiments alone, by name; may be repeated
    #[arg(short, long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) experiment: Vec<String>,
    /// End with exit code 1 if this change is found, and with 3 if it cannot be told; such as
    /// 'create > +5%'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<analysis::Condition>,
    /// Print the comparison as JSON (docs/comparison.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the comparison as a page, one file that works offline; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print all that was compared, not only what differs
    #[arg(short, long)]
    pub(crate) all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A tidy table, one row per trial and response
    Csv,
    /// The same with types (needs a build with the feature `parquet`)
    Parquet,
    /// What hyperfine --export-json writes; times alone, in seconds
    Hyperfine,
    /// What google/benchmark writes as JSON; times alone, in nanoseconds
    GoogleBenchmark,
    /// Bencher Metric Format: medians with their 95 % intervals
    Bencher,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session's folder
    #[arg(value_name = "SESSION")]
    pub(crate) session: PathBuf,
    /// The format [default: what the file's name ends in, else csv]
    #[arg(short, long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// The file to write; `-`, the default, is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only these experiments, by name; may be repeated
    #[arg(short, long = "experiment", value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) experiments: Vec<String>,
    /// Only these responses, by name; may be repeated
    #[arg(long = "response", value_name = "RESPONSE", value_delimiter = ',')]
    pub(crate) responses: Vec<String>,
    /// One row per observation instead of one per trial (csv and parquet)
    #[arg(long)]
    pub(crate) observations: bool,
}

/// A length of time: a whole number and s, m or h (seconds without a unit). In seconds.
pub(crate) fn parse_time(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        other => return Err(format!("{other} is no unit of time; use s, m or h")),
    };
    // Rust reads "+1" as a number, too.
    let count: Option<u64> = digits.parse().ok().filter(|_| !digits.starts_with('+'));
    let count = count.ok_or("expected a whole number and s, m or h, such as 30s")?;
    match count.checked_mul(factor) {
        Some(seconds) if (1..=7 * 24 * 3600).contains(&seconds) => Ok(seconds),
        _ => Err("expected a time from 1s to one week".into()),
    }
}

pub(crate) mod advise;
pub(crate) mod ask;
pub(crate) mod fleet;
pub(crate) mod load;
pub(crate) mod query;
pub(crate) mod scale;

#[cfg(test)]
mod papers;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(parse_time("30"), Ok(30));
        assert_eq!(parse_time("30s"), Ok(30));
        assert_eq!(parse_time("10m"), Ok(600));
        assert_eq!(parse_time("2h"), Ok(7200));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_time_is_within_a_week_or_refused_in_words(
            text in proptest::prop_oneof!["[+-]?[0-9]{0,21}[a-zé.]{0,3}", ".*"],
        ) {
            match parse_time(&text) {
                Ok(seconds) => {
                    proptest::prop_assert!((1..=7 * 24 * 3600).contains(&seconds));
                    proptest::prop_assert!(text.starts_with(|c: char| c.is_ascii_digit()), "{text}");
                }
                Err(why) => proptest::prop_assert!(!why.is_empty()),
            }
        }
    }

    #[test]
    fn times_that_mean_nothing_are_refused() {
        for text in ["", "s", "0", "-1", "1.5m", "1y", "99999999999999999999", "8761h", "3ß"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
