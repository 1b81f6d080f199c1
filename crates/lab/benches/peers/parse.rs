//! What the peers print, read. A text that does not say it is an error, never a number.

use anyhow::{Context, bail};

/// The number before `usecs/op`, as `perf bench sched pipe` and `perf bench syscall basic` print
/// it: in microseconds.
pub(crate) fn microseconds_of_perf(text: &str) -> anyhow::Result<f64> {
    let line = text.lines().find(|line| line.contains("usecs/op"));
    let word = line.and_then(|line| line.split_whitespace().next());
    positive(word.with_context(|| format!("perf says nothing of usecs/op: {text}"))?)
}

/// The number behind `Total time:`, as `perf bench sched messaging` prints it: in seconds.
pub(crate) fn seconds_of_perf(text: &str) -> anyhow::Result<f64> {
    let said = text.lines().find_map(|line| line.trim().strip_prefix("Total time:"));
    let said = said.with_context(|| format!("perf says nothing of its total time: {text}"))?;
    let Some(number) = said.trim().strip_suffix("[sec]") else {
        bail!("perf gives its total time in no unit that I know: {said}");
    };
    positive(number.trim())
}

/// One line of the metrics that stress-ng writes by `--yaml`: of one stressor, by its key.
pub(crate) fn metric_of_stress_ng(yaml: &str, stressor: &str, key: &str) -> anyhow::Result<f64> {
    // A number that was cut short looks like another number.
    if !yaml.trim_end().ends_with("...") {
        bail!("stress-ng's metrics end before their end");
    }
    let mut within = false;
    for line in yaml.lines().skip_while(|line| line.trim_end() != "metrics:") {
        let line = line.trim().trim_start_matches("- ");
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name == "stressor" {
            within = value.trim() == stressor;
        } else if within && name == key {
            return positive(value.trim());
        }
    }
    bail!("stress-ng's metrics have no {key} of the stressor {stressor}")
}

/// The median of the first command that hyperfine writes by `--export-json`: in seconds.
pub(crate) fn median_of_hyperfine(json: &str) -> anyhow::Result<f64> {
    let said: serde_json::Value =
        serde_json::from_str(json).context("hyperfine's export is no JSON")?;
    let median = said.pointer("/results/0/median").and_then(serde_json::Value::as_f64);
    let median = median.context("hyperfine's export has no median")?;
    positive(&median.to_string())
}

/// The number behind that of the processes, in microseconds. lat_ctx prints none where it finds
/// none above 0; that is a result, too, and no number.
pub(crate) fn microseconds_of_lat_ctx(text: &str) -> f64 {
    let mut lines = text.lines().rev().filter_map(|line| line.trim().split_once(' '));
    let found = lines.find(|(processes, _)| *processes == "2");
    found.and_then(|(_, us)| us.trim().parse().ok()).unwrap_or(f64::NAN)
}

/// A time that can be: finite, and above 0.
fn positive(word: &str) -> anyhow::Result<f64> {
    let number: f64 = word.parse().with_context(|| format!("{word} is no number"))?;
    if !number.is_finite() || number <= 0.0 {
        bail!("{word} is no time: it must be finite and above 0");
    }
    Ok(number)
}
