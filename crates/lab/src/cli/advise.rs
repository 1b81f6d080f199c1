//! The arguments of `scruple plan`.

use crate::quantity;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("load").required(true).args(["rate", "connections"]))]
pub(crate) struct AdviseArgs {
    /// The sessions of this machine that have the measured costs [default: the latest of `scruple run`]
    ///
    /// An experiment that several of them hold is taken from the first.
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<PathBuf>,
    /// Plan for this rate of requests, such as 500/s or 90/min
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) rate: Option<f64>,
    /// Plan for N connections; each sends its next request after the answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::CONNECTIONS_SPREAD_MAX)))]
    pub(crate) connections: Option<u32>,
    /// Spread the connections evenly over M machines of --cpus each, and plan for one of them
    /// [default: one machine, with at most 10,000 connections]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::MACHINES_MAX)), conflicts_with_all = ["rate", "target_p95"])]
    pub(crate) machines: Option<u32>,
    /// Let a connection wait this long between an answer and its next request [default: 0]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, conflicts_with = "rate")]
    pub(crate) think: Option<f64>,
    /// Mean service time of a request on an idle server, such as 20ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(crate) service: f64,
    /// Time within which 95 % of the service times are, such as 50ms [default: unknown]
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(crate) service_p95: Option<f64>,
    /// Fraction of the service time that needs a CPU, such as 0.3; the worker waits for the rest
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    pub(crate) cpu_share: f64,
    /// Require 95 % of the requests to be answered within this time, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(crate) target_p95: Option<f64>,
    /// Limit the memory of all workers together, such as 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::memory)]
    pub(crate) memory: Option<f64>,
    /// Add the memory that each worker allocates itself, such as 8MiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::memory)]
    pub(crate) worker_memory: Option<f64>,
    /// Judge a pool of N workers instead of finding the number needed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::WORKERS_MAX)))]
    pub(crate) workers: Option<u32>,
    /// Require that the load may grow by this fraction, such as 30% or 0.3
    #[arg(long, value_name = "SHARE", value_parser = quantity::share, default_value = "30%", conflicts_with = "workers")]
    pub(crate) headroom: f64,
    /// Serve with N CPUs [default: the number that the session could use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(analysis::CPUS_MAX)))]
    pub(crate) cpus: Option<u32>,
    /// Write the answer as one HTML file also, with response time against load; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Print the answer as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
}
