//! The command line of `scruple fleet`.

use super::{MeasureArgs, ProfileName, parse_time};
use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;

pub(crate) const EXIT_CODES: &str = "Exit codes: 0 every node has a session; 2 usage or environment \
error; 3 some node has none yet, or none that could be taken (the report says which and why), or \
interrupted.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Measure the same session on many machines, and hold the machines against each other
    ///
    /// One job per node holds the whole session. Slurm starts the jobs, each on a node of its own that
    /// it has for itself; with --hosts, GNU parallel over ssh does. What is submitted is written down in
    /// the shared folder, so that `fleet status`, `fleet collect` and `fleet cancel` find it from any
    /// shell. A node that fails is tried again, --retries times. When all are done, or nothing more is
    /// to be had, one report shows the machines side by side.
    ///
    /// Ctrl-C ends the waiting and leaves the jobs alone, unless --cancel-on-interrupt is given.
    #[command(after_help = EXIT_CODES)]
    Run(Box<FleetRunArgs>),
    /// What became of each node so far
    #[command(after_help = EXIT_CODES)]
    Status(FleetStatusArgs),
    /// Check the sessions that are there, and make one report of them
    #[command(after_help = EXIT_CODES)]
    Collect(FleetCollectArgs),
    /// End the jobs of a fleet; sessions that are complete are kept
    Cancel(FleetFolderArgs),
    /// Measure on this node for a fleet; its jobs start it
    #[command(hide = true)]
    Node(FleetNodeArgs),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["nodes", "nodelist", "hosts"])))]
pub(crate) struct FleetRunArgs {
    /// The experiments to run, by name (see `scruple list`); none means all
    ///
    /// The A/A control `null` is always measured with them.
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// So many nodes of Slurm, those that are idle first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=fleet::NODES_MAX as i64), conflicts_with_all = ["nodelist", "hosts"])]
    pub(crate) nodes: Option<u32>,
    /// These nodes of Slurm, such as m[1-3],m7
    #[arg(long, value_name = "LIST", conflicts_with = "hosts")]
    pub(crate) nodelist: Option<String>,
    /// These hosts, reached by ssh and without a scheduler, such as a,b,ann@c
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', conflicts_with_all = ["partition", "constraint", "account", "qos", "reservation"])]
    pub(crate) hosts: Vec<String>,
    /// The partition
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Features that a node must have, such as skylake, a&b or a|b
    #[arg(long, value_name = "FEATURES")]
    pub(crate) constraint: Option<String>,
    /// The account that is charged
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// The quality of service
    #[arg(long, value_name = "NAME")]
    pub(crate) qos: Option<String>,
    /// The reservation
    #[arg(long, value_name = "NAME")]
    pub(crate) reservation: Option<String>,
    /// The time after which a job is ended, such as 30m [default: twice the time to measure in, and
    /// five minutes]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) time: Option<u64>,
    /// The fleet's folder, which all nodes must share; new or empty [default:
    /// scruple-fleets/<time>-<identifier>]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The scruple that the nodes start, where it is not this one's path
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Option<PathBuf>,
    /// How much to measure
    #[arg(long, value_enum, default_value_t = ProfileName::Quick)]
    pub(crate) profile: ProfileName,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// How often a node is tried again after a fault that was the node's
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(crate) retries: u32,
    #[command(flatten)]
    pub(crate) wait: FleetWaitArgs,
    /// Submit, and do not wait
    #[arg(long, conflicts_with_all = ["cancel_on_interrupt", "json"])]
    pub(crate) no_wait: bool,
    /// Print what came of it as JSON (docs/fleet.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}

/// How long is waited, and for what.
#[derive(Debug, Args)]
pub(crate) struct FleetWaitArgs {
    /// When nothing else is left to wait for, how long to wait for a node that is away
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10m")]
    pub(crate) node_wait: u64,
    /// At Ctrl-C, cancel the jobs
    #[arg(long)]
    pub(crate) cancel_on_interrupt: bool,
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
    /// Submit again what is missing, wait for it, and complete the report
    #[arg(long)]
    pub(crate) complete: bool,
    /// Wait for the jobs that are in line or at work
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) waiting: FleetWaitArgs,
    /// Print what came of it as JSON (docs/fleet.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetNodeArgs {
    /// The fleet's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The node's name; with --host it comes from the environment
    #[arg(long, value_name = "NAME", required_unless_present = "host")]
    pub(crate) node: Option<String>,
    /// The job of a host without a scheduler
    #[arg(long, value_name = "JOB", conflicts_with = "node")]
    pub(crate) host: Option<String>,
}
