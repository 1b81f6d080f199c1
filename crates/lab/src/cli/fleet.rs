//! The command line of `scruple fleet`.

use super::{MeasureArgs, PROFILES, profile};
use crate::quantity;
use clap::{ArgGroup, Args, Subcommand};
use model::Profile;
use std::path::PathBuf;

pub(crate) const EXIT_CODES: &str = "Exit codes: 0 every node has a session; 2 usage or environment \
error; 3 interrupted, or some node has no valid session yet (the report says which and why).";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Measure the same session on many machines and compare them
    ///
    /// Each node runs one job with the whole session. Slurm starts the jobs, each on a node that it
    /// shares with no other job. The shared folder records the jobs, so `fleet status`, `fleet collect` and `fleet cancel` work from any shell. A
    /// node that fails is tried again, --retries times. When all nodes are done or have finally
    /// failed, one report shows the machines side by side.
    ///
    /// Ctrl-C stops waiting and leaves the jobs running; `fleet cancel` cancels them. Slurm takes account,
    /// quality of service and reservation from SBATCH_ACCOUNT, SBATCH_QOS and SBATCH_RESERVATION.
    ///
    /// With --gather nothing is started: scruple writes the plan into the folder and prints what each
    /// machine has to run. The machines need share nothing. `fleet collect` takes their sessions in.
    #[command(after_help = EXIT_CODES)]
    Run(Box<FleetRunArgs>),
    /// Show the state of each node
    #[command(after_help = EXIT_CODES)]
    Status(FleetStatusArgs),
    /// Check the finished sessions and make one report of them
    ///
    /// For a fleet that was begun with --gather, name the session folders or archives (.tar, .tar.gz,
    /// .tar.zst, .tar.xz) that came back. Each is checked against the plan and copied into the fleet's
    /// folder. Nothing there is replaced, and what is there already is left alone.
    #[command(after_help = EXIT_CODES)]
    Collect(FleetCollectArgs),
    /// Cancel the jobs of a fleet; keep complete sessions
    Cancel(FleetFolderArgs),
    /// Measure on this machine for a fleet
    ///
    /// The jobs of a fleet start this. For a fleet that was begun with --gather, start it on each
    /// machine with a copy of the fleet's fleet.json. The session is written to a new folder, whose
    /// name holds the node and a number drawn for this run.
    Node(FleetNodeArgs),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).multiple(true).args(["nodes", "nodelist", "gather"])))]
pub(crate) struct FleetRunArgs {
    /// Run these experiments only (see `scruple list`) [default: all]
    ///
    /// The A/A control `null` is always measured.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// Use N nodes of Slurm, idle ones first; with --gather, expect N machines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=fleet::NODES_MAX as i64), conflicts_with = "nodelist")]
    pub(crate) nodes: Option<u32>,
    /// Use these nodes of Slurm, such as m[1-3],m7
    #[arg(long, value_name = "LIST")]
    pub(crate) nodelist: Option<String>,
    /// Start nothing; print what each machine has to run
    #[arg(long, conflicts_with_all = ["nodelist", "partition", "constraint", "time", "binary", "retries", "node_wait", "no_wait", "json"])]
    pub(crate) gather: bool,
    /// With --gather: let each machine store its session without host names, paths and commands, as
    /// `run --redact` does, and call itself `machine` unless it is given another name
    #[arg(long, requires = "gather")]
    pub(crate) redact: bool,
    /// Use this partition of Slurm
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Require these features of a node, such as skylake, a&b or a|b
    #[arg(long, value_name = "FEATURES")]
    pub(crate) constraint: Option<String>,
    /// End a job after this time, such as 30m [default: twice the measuring time, plus five minutes]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms)]
    pub(crate) time: Option<u64>,
    /// Write to this folder, which is new or empty, and which all nodes share except with --gather
    /// [default: scruple-fleets/<time>-<identifier>]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Start this scruple on the nodes [default: the path of this one]
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Option<PathBuf>,
    /// Set how much to measure
    #[arg(long, value_parser = profile(&PROFILES), default_value = "quick")]
    pub(crate) profile: Profile,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// Try a node again N times after a fault of the node
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(crate) retries: u32,
    #[command(flatten)]
    pub(crate) wait: FleetWaitArgs,
    /// Submit the jobs and do not wait for them
    #[arg(long, conflicts_with = "json")]
    pub(crate) no_wait: bool,
    /// Print the result as JSON (docs/fleet.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options for waiting.
#[derive(Debug, Args)]
pub(crate) struct FleetWaitArgs {
    /// Wait this long for a node that is away, after all others are done
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms, default_value = "10m")]
    pub(crate) node_wait: u64,
}

#[derive(Debug, Args)]
pub(crate) struct FleetFolderArgs {
    /// The fleet's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatusArgs {
    /// The fleet's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCollectArgs {
    /// The fleet's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Take these sessions in first: folders or archives
    #[arg(value_name = "SESSION", conflicts_with_all = ["complete", "wait"])]
    pub(crate) sessions: Vec<PathBuf>,
    /// Submit missing nodes again, wait for them, and complete the report
    #[arg(long)]
    pub(crate) complete: bool,
    /// Wait for the queued and running jobs
    #[arg(long)]
    pub(crate) wait: bool,
    /// Write a copy of the complete sessions and the report to this folder, which is new or empty, without
    /// the names of nodes, host names, paths and commands; leave the fleet's folder as it is
    #[arg(long, value_name = "DIR", conflicts_with_all = ["complete", "wait", "sessions"])]
    pub(crate) redact: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) waiting: FleetWaitArgs,
    /// Print the result as JSON (docs/fleet.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetNodeArgs {
    /// The fleet's folder, or a copy of its fleet.json
    #[arg(value_name = "FLEET")]
    pub(crate) fleet: PathBuf,
    /// Use this name for the machine [default: its host name, or `machine` in a redacted fleet]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// Write the session into this folder [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}
