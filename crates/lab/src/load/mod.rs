//! `scruple load URL`: a load on an HTTP server, and what became of it.

mod files;
mod knee;
mod live;
mod plan;
mod predict;
mod sent;

use crate::cli::load::LoadArgs;
use crate::destination::place;
use crate::exit::Exit;
use crate::{input, session, ui};
use anyhow::{Context, bail, ensure};
use live::{Watch, interrupted, silence};
use plan::Asked;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use web::load::Outcome;

pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Exit> {
    let shown = |file: &Option<PathBuf>| file.as_deref().is_some_and(input::is_standard);
    let to_stdout = [shown(&args.html), shown(&args.hdr_log), args.json];
    ensure!(
        to_stdout.iter().filter(|it| **it).count() <= 1,
        "--json, --html - and --hdr-log - each want standard output: give two of them a file"
    );
    let asked = plan::plan(args)?;
    sys::interrupt::install()?;
    if args.find_knee {
        return knee::find(args, &asked);
    }
    if args.predict.is_some() {
        return predict::predict(args, &asked);
    }
    // Before the load: what cannot be measured again should have a place.
    let html = place(args.html.as_deref(), "--html")?;
    let hdr_log = place(args.hdr_log.as_deref(), "--hdr-log")?;
    let begun = SystemTime::now();
    let outcome = measure(&asked)?;
    let result = &outcome.result;
    if let Some(file) = hdr_log {
        let mut log = Vec::new();
        files::hdr_log(&outcome, begun, &mut log)
            .and_then(|()| file.put(&log))
            .context("--hdr-log")?;
    }
    let drawn = report::load(result, &files::curves(&outcome));
    let plain = report::load(result, &report::LoadCurves::default());
    files::show(args, html, result, &drawn, &plain)?;
    if interrupted() {
        ui::note("interrupted: this is what was measured until then");
        return Ok(Exit::Incomplete);
    }
    if let Some(why) = silence(result) { bail!("{why}") } else { Ok(Exit::Done) }
}

fn measure(asked: &Asked) -> anyhow::Result<Outcome> {
    let mut watch = Watch::new(asked.plan.duration_ms.map(Duration::from_millis));
    let (mut outcome, _) = watch.run(String::new(), &asked.plan, &asked.body, false)?;
    outcome.result.scruple = session::VERSION.into();
    Ok(outcome)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
pub(crate) mod tests {
    use super::*;
    use model::{Arrivals, LoadCounts, LoadError, LoadPlan, LoadResult, LoadTimes, Network};

    /// Returns a result in which nothing happened.
    pub(crate) fn result() -> LoadResult {
        let plan = LoadPlan {
            url: "http://127.0.0.1:1/".into(),
            method: "GET".into(),
            headers: Vec::new(),
            body_bytes: 0,
            arrivals: Arrivals::Closed,
            connections: 50,
            keep_alive: true,
            threads: 1,
            duration_ms: Some(10_000),
            requests: None,
            timeout_ms: 20_000,
            options: model::LoadOptions::default(),
        };
        LoadResult {
            format: model::LOAD_FORMAT,
            scruple: "test".into(),
            plan,
            elapsed_ns: 10_000_000_000,
            counts: LoadCounts::default(),
            throughput_per_s: 0.0,
            read_bytes: 0,
            written_bytes: 0,
            response: LoadTimes::default(),
            service: LoadTimes::default(),
            lateness: LoadTimes::default(),
            punctual: LoadTimes::default(),
            fairness: None,
            network: Network::default(),
            syn_backoff: Vec::new(),
            audit: Vec::new(),
            generator_cpu_ns: 0,
            foreign_cpu_ns: None,
            doubts: Vec::new(),
        }
    }

    #[test]
    fn silence_has_a_reason() {
        let with = |errors: &[(LoadError, u64)], answered| {
            let errors = errors.iter().copied().collect();
            let counts = LoadCounts { errors, answered, ..LoadCounts::default() };
            silence(&LoadResult { counts, ..result() })
        };
        let refused = with(&[(LoadError::Refused, 12)], 0).unwrap();
        assert_eq!(refused, "nobody listens at http://127.0.0.1:1/: connection refused, 12 times");
        let mixed = with(&[(LoadError::Refused, 12), (LoadError::Reset, 1)], 0).unwrap();
        assert!(mixed.ends_with("13 requests failed"), "{mixed}");
        assert!(with(&[], 0).unwrap().contains("10.0 s"));
        assert_eq!(with(&[(LoadError::Refused, 12)], 1), None);
    }
}
