//! Options that a command does not have, and what to type instead.

use clap::error::{ContextKind, ContextValue};

/// Options that a command no longer has, or that other tools have, and what takes their place.
const MOVED: [(&str, &[&str], &str); 16] = [
    (
        "run",
        &[
            "--elf",
            "--rebuild",
            "--instructions",
            "--stack",
            "--memory",
            "--cache-sizes",
            "--cache-lines",
            "--cache-ways",
            "--cache-policies",
            "--no-cycles",
            "--trace",
        ],
        "programs run on simulated caches by: scruple core FILE… --sweep",
    ),
    (
        "fleet",
        &["--hosts"],
        "begin the fleet with --gather, and start scruple fleet node on each host",
    ),
    (
        "fleet",
        &["--account", "--qos", "--reservation"],
        "Slurm takes it from SBATCH_ACCOUNT, SBATCH_QOS or SBATCH_RESERVATION",
    ),
    ("fleet", &["--cancel-on-interrupt"], "the jobs are cancelled by: scruple fleet cancel DIR"),
    (
        "load",
        &["--predict", "--expect-model", "--server-cpus"],
        "every load shows what follows for its server, and --find-knee what it sustains",
    ),
    ("load", &["--vus", "-u", "--workers", "--users"], "connections are -c N"),
    ("load", &["--iterations", "-i"], "requests are -n N"),
    ("load", &["-R"], "a rate is -q RATE"),
    ("load", &["-l", "--latency", "--latencies"], "response times are always shown"),
    ("load", &["-s", "--script"], "requests differ by --urls-from-file FILE and -Z FILE"),
    ("load", &["-T"], "a content type is -H 'Content-Type: TYPE'"),
    ("load", &["-A"], "accepted types are -H 'Accept: TYPE'"),
    (
        "load",
        &["-x", "--proxy"],
        "a proxy is not supported; another address is --connect-to HOST:PORT",
    ),
    ("load", &["-o", "--output", "--out"], "results are --json, --html FILE and --log FILE"),
    ("load", &["-b", "--cookie"], "a body is -d TEXT, and a cookie -H 'Cookie: NAME=VALUE'"),
    ("load", &["--host"], "a host is -H 'Host: NAME', or the URL's with --connect-to ADDRESS"),
];

/// Returns what to type in the place of an option that a command does not have; `None` if an error is about
/// another thing.
pub(crate) fn moved(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = std::env::args_os().nth(1)?;
    let (of, _, instead) = MOVED
        .into_iter()
        .find(|(of, options, _)| command == *of && options.contains(&option.as_str()))?;
    Some(format!("{of} has no {option}; {instead}"))
}
