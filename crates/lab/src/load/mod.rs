//! `scruple load URL`: a load on an HTTP server, and what became of it.

pub(crate) mod expect;
mod files;
mod knee;
mod live;
mod log;
mod plan;
mod sent;
mod slices;
pub(crate) mod versus;

use crate::cli::load::LoadArgs;
use crate::destination::place;
use crate::exit::Exit;
use crate::{input, session, ui};
use anyhow::{Context, bail, ensure};
use expect::Threshold;
use live::{Watch, interrupted, no_success, silence};
use log::Log;
use model::{Expected, LoadIntervals, LoadResult};
use plan::Asked;
use slices::Slices;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use web::load::Outcome;

pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Exit> {
    let shown = |file: &Option<PathBuf>| file.as_deref().is_some_and(input::is_standard);
    let to_stdout = [shown(&args.html), shown(&args.hdr_log), shown(&args.log), args.json];
    ensure!(
        to_stdout.iter().filter(|it| **it).count() <= 1,
        "--json, --html -, --hdr-log - and --log - each want standard output: give all but one of them \
         a file"
    );
    let asked = plan::plan(args)?;
    sys::interrupt::install()?;
    if args.find_knee {
        return knee::find(args, &asked);
    }
    let ended = match &args.against {
        Some(url) => versus::blocks(args, &asked, url),
        None => one(args, &asked),
    };
    match ended {
        Ok(Exit::Incomplete) if args.bisect => Ok(Exit::Skip),
        // Nobody answers, which says nothing of what was looked for.
        Err(error) if args.bisect && error.downcast_ref::<Unanswered>().is_some() => {
            ui::complain(&error);
            Ok(Exit::Skip)
        }
        other => other,
    }
}

/// Why a load says nothing of the server.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unanswered(String);

/// Carries out one load, shows it, and decides how the program ends.
fn one(args: &LoadArgs, asked: &Asked) -> anyhow::Result<Exit> {
    // Before the load: what cannot be measured again should have a place.
    let html = place(args.html.as_deref(), "--html")?;
    let hdr_log = place(args.hdr_log.as_deref(), "--hdr-log")?;
    let begun = SystemTime::now();
    let outcome = measure(args, asked)?;
    let result = &outcome.result;
    if let Some(file) = hdr_log {
        let mut log = Vec::new();
        files::hdr_log(&outcome, begun, &mut log)
            .and_then(|()| file.put(&log))
            .context("--hdr-log")?;
    }
    let drawn = report::load(result, &files::curves(&outcome));
    let plain = report::load(result, &report::LoadCurves::default());
    let silence = silence(result).filter(|_| !interrupted());
    // The reason is all that there is to say, and an error says it.
    let plain = (silence.is_none() || args.json).then_some(&plain);
    files::show(args, html, result, &drawn, plain)?;
    if interrupted() {
        ui::note("interrupted: this is what was measured until then");
        return Ok(Exit::Incomplete);
    }
    if let Some(why) = silence {
        bail!(Unanswered(why));
    }
    verdict(result, args.bisect)
}

/// Returns how a load ends whose thresholds were judged. Where no request succeeded, response times say
/// nothing, and only a threshold on errors is decided; for `bisects` none, since the address may be wrong.
fn verdict(result: &LoadResult, bisects: bool) -> anyhow::Result<Exit> {
    let no_success = no_success(result);
    let judged = result.expected.iter();
    let judged =
        judged.filter(|it| no_success.is_none() || (!bisects && Threshold::is_about_errors(it)));
    match (judged.map(|it| it.outcome).max(), no_success) {
        (Some(Expected::NotMet), _) => Ok(Exit::Refuted),
        (_, Some(why)) => bail!(Unanswered(why)),
        (Some(Expected::Undecided), None) => Ok(Exit::Incomplete),
        (Some(Expected::Met) | None, None) => Ok(Exit::Done),
    }
}

fn measure(args: &LoadArgs, asked: &Asked) -> anyhow::Result<Outcome> {
    if let Some(path) = args.log.as_deref().filter(|path| path.extension() == Some("zst".as_ref()))
    {
        let instead = path.with_extension("gz");
        bail!("--log {}: a log is compressed with gzip: {}", path.display(), instead.display());
    }
    let place = place(args.log.as_deref(), "--log")?;
    let mut log = place.zip(args.log.as_deref()).map(|(file, path)| Log::begin(file, path));
    let mut watch = Watch::new(asked.plan.duration_ms.map(Duration::from_millis));
    let outcome = watch.run_logging(&asked.plan, &asked.body, log.as_mut());
    let mut outcome = match outcome {
        // What a log holds of a load that could not begin is its head.
        Err(error @ web::load::Error::System { .. }) => bail!(Unanswered(error.to_string())),
        other => other?,
    };
    if let Some(log) = log {
        log.end().context("--log")?;
    }
    outcome.result.scruple = session::VERSION.into();
    outcome.result.intervals = intervals(&outcome);
    outcome.result.pathologies = analysis::load_pathologies(&outcome.result);
    let slices = Slices::of(&outcome.slices, outcome.result.counts.succeeded_late);
    let expected = args.expect.iter().map(|it| it.judge(&outcome.result, &slices)).collect();
    outcome.result.expected = expected;
    Ok(outcome)
}

/// Returns the intervals of a load's numbers.
fn intervals(outcome: &Outcome) -> LoadIntervals {
    let response = &outcome.result.response;
    let slices = Slices::of(&outcome.slices, outcome.result.counts.succeeded_late);
    let percents: Vec<f64> = response.percentiles.iter().map(|it| it.percent).collect();
    let mut found = analysis::load_intervals(&slices.all(), &percents);
    if outcome.result.succeeded.is_some() {
        found.succeeded = analysis::load_intervals(&slices.succeeded(), &percents).percentiles;
    }
    // Slices know times by the upper ends of buckets, the mean by their middles.
    found.mean_ns = response.mean_ns.zip(found.mean_ns).map(|(mean_ns, of_slices)| {
        let part = mean_ns / of_slices.point;
        of_slices.map(|ns| ns * part)
    });
    found
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
pub(crate) mod tests {
    use super::*;
    use model::{Arrivals, LoadCounts, LoadError, LoadPlan, LoadTimes, Network};

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
            drain_ms: 0,
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
            succeeded: None,
            service: LoadTimes::default(),
            lateness: LoadTimes::default(),
            punctual: LoadTimes::default(),
            intervals: LoadIntervals::default(),
            series: Vec::new(),
            expected: Vec::new(),
            fairness: None,
            network: Network::default(),
            syn_backoff: Vec::new(),
            stalls: Vec::new(),
            late_ends: model::LateEnds::default(),
            pathologies: Vec::new(),
            server: None,
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
        let reasons = "of 13 requests, 12 were refused, 1 were reset by the server";
        assert!(mixed.ends_with(reasons), "{mixed}");
        assert!(with(&[], 0).unwrap().contains("10.0 s"));
        assert_eq!(with(&[(LoadError::Refused, 12)], 1), None);
    }

    #[test]
    fn a_load_without_success_is_none_unless_errors_were_asked_for() {
        let ends = |succeeded, thresholds: &[&str], bisects| {
            let counts = LoadCounts {
                answered: 10_000,
                succeeded,
                statuses: [(if succeeded > 0 { 200 } else { 500 }, 10_000)].into(),
                ..LoadCounts::default()
            };
            let share = 1.0 - succeeded as f64 / 1e4;
            let errors = Some(model::Estimate::between(0.9 * share, share, share));
            let p99 = model::Estimate::between(1e6, 1e6, 2e6);
            let percentiles = vec![model::LoadInterval { percent: 99.0, ns: Some(p99) }];
            let intervals = LoadIntervals { errors, percentiles, ..LoadIntervals::default() };
            let mut result = LoadResult { counts, intervals, ..result() };
            let thresholds = thresholds.iter().map(|text| expect::parse(text).unwrap());
            result.expected = thresholds.map(|it| it.judge(&result, &Slices::of(&[], 0))).collect();
            verdict(&result, bisects).ok()
        };
        let of = |succeeded, thresholds: &[&str]| ends(succeeded, thresholds, false);
        assert_eq!(of(10_000, &[]), Some(Exit::Done));
        assert_eq!(of(10_000, &["p99 < 5ms"]), Some(Exit::Done));
        assert_eq!(of(10_000, &["p99 < 5ms", "p99 < 1.5ms"]), Some(Exit::Incomplete));
        assert_eq!(of(10_000, &["p99 < 1.5ms", "p99 < 0.5ms"]), Some(Exit::Refuted));
        assert_eq!(of(0, &["p99 < 5ms"]), None);
        assert_eq!(of(0, &["p99 < 0.5ms"]), None);
        assert_eq!(of(0, &["errors < 1%"]), Some(Exit::Refuted));
        assert_eq!(ends(0, &["errors < 1%"], true), None, "its address may be wrong");
    }
}
