//! The arguments of `scruple plan`.

use crate::quantity;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("load").required(true).args(["rate", "connections"]))]
pub(crate) struct AdviseArgs {
    /// The session's folder
    #[arg(value_name = "SESSION")]
    pub(crate) session: PathBuf,
    /// Requests that come, such as 500/s or 90/min
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) rate: Option<f64>,
    /// Connections of which each asks again when it has its answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::CONNECTIONS_SPREAD_MAX)))]
    pub(crate) connections: Option<u32>,
    /// Spread the connections evenly over so many machines, each with so many CPUs, of which one is
    /// simulated [default: one, by formulas, of at most 10,000 connections]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::MACHINES_MAX)), conflicts_with_all = ["rate", "target_p95"])]
    pub(crate) machines: Option<u32>,
    /// How long a connection waits after its answer before it asks again [default: not at all]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, conflicts_with = "rate")]
    pub(crate) think: Option<f64>,
    /// How long a request keeps a worker busy where nobody else is served, on average, such as 20ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(crate) service: f64,
    /// The part of the service in which a CPU is needed, such as 0.3; in the rest the worker waits
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    pub(crate) cpu_share: f64,
    /// The time within which 95 % of the requests are to be answered, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(crate) target_p95: Option<f64>,
    /// Memory that all workers together may take, such as 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::memory)]
    pub(crate) memory: Option<f64>,
    /// What a worker allocates itself, beyond what the session measured, such as 8MiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::memory)]
    pub(crate) worker_memory: Option<f64>,
    /// Judge a pool of so many workers instead of finding how many are needed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::WORKERS_MAX)))]
    pub(crate) workers: Option<u32>,
    /// CPUs that serve [default: as many as the session could use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::CPUS_MAX)))]
    pub(crate) cpus: Option<u32>,
    /// Print the answer as JSON (docs/plan.schema.json)
    #[arg(long)]
    pub(crate) json: bool,
}
