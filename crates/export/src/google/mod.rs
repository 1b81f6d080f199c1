//! The layout of google/benchmark's `--benchmark_format=json` (its schema version 1).

use crate::cases::{Case, LeftOut, each_case, is_time};
use crate::{Choice, Result, Session, write_json};
use analysis::{mean, median, variance};
use model::{CpuCache, Design, Manifest, Moment, Response};
use serde_json::{Value, json};
use std::io::Write;

/// What stands beside a time whose CPU time is not known.
const NO_CPU_TIME: &str = "cpu_time repeats real_time: no CPU time was measured with it";

/// Writes every time of the session in google/benchmark's layout: one entry of the run type
/// `iteration` per trial, in nanoseconds, and the mean, median, standard deviation and coefficient
/// of variation over the trials as those of the type `aggregate`.
///
/// `real_time` is the number that scruple's estimates are made from, `cpu_time` that of the
/// response which holds the CPU time of the same work; such a response has no entry of its own.
/// Where there is none `cpu_time` repeats `real_time`, since the layout wants one, and the entry's
/// `label` says so.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn google_benchmark(session: &Session, choice: &Choice, out: impl Write) -> Result<LeftOut> {
    let mut writer = Writer::default();
    // One that was asked for by name is given.
    let wanted = |design: &Design, response: &Response, left_out: &mut LeftOut| {
        let is_twin = choice.responses.is_empty()
            && design.responses.iter().any(|it| it.cpu_twin.as_ref() == Some(&response.name));
        if is_twin {
            left_out.stand_as_cpu_time.push(format!("{}.{}", design.id, response.name));
        }
        !is_twin && is_time(design, response, left_out)
    };
    let left_out = each_case(session, choice, wanted, |case| writer.add(case))?;
    let file = json!({ "context": context(session.manifest), "benchmarks": writer.entries });
    write_json(&file, out)?;
    Ok(left_out)
}

fn context(manifest: &Manifest) -> Value {
    let environment = &manifest.environment;
    let cache = |cache: &CpuCache| json!({ "type": cache.kind, "level": cache.level, "size": cache.size_bytes });
    json!({
        "date": format!("{}+00:00", Moment::of_unix_ms(manifest.started_unix_ms)),
        "host_name": environment.host,
        "executable": "scruple",
        "num_cpus": environment.cpus_online,
        "caches": environment.caches.iter().map(cache).collect::<Vec<_>>(),
        "load_avg": [environment.load],
        "library_version": format!("scruple {}", manifest.scruple),
        "library_build_type": environment.build,
        "json_schema_version": 1,
        "scruple_session": manifest.session,
    })
}

#[derive(Default)]
struct Writer {
    entries: Vec<Value>,
    /// Experiment and response of the last case: a family.
    family: Option<(String, String)>,
    family_index: u64,
    instance_index: u64,
}

impl Writer {
    fn add(&mut self, case: &Case<'_, '_>) {
        let family = (case.design.id.clone(), case.response.name.clone());
        match &self.family {
            Some(last) if *last == family => self.instance_index += 1,
            last => {
                self.family_index += u64::from(last.is_some());
                self.instance_index = 0;
                self.family = Some(family);
            }
        }
        let real = case.values();
        // The CPU time of the same work.
        let twin = case.response.cpu_twin.as_ref().and_then(|twin| case.values_of(twin));
        let label = twin.is_none().then(|| ("label", json!(NO_CPU_TIME)));
        let cpu = twin.unwrap_or_else(|| real.clone());
        let (run_name, repetitions) = (run_name(case), case.trials.len());
        // One trial, or one number over the trials. Times are in `time_unit`, except the coefficient of
        // variation, which has no unit.
        let mut add = |run_type: &str, suffix: &str, real: f64, cpu: f64, own: &[(&str, Value)]| {
            let mut entry = json!({
                "name": format!("{run_name}{suffix}"),
                "family_index": self.family_index,
                "per_family_instance_index": self.instance_index,
                "run_name": run_name,
                "run_type": run_type,
                "repetitions": repetitions,
                // A trial is one process; what it starts is a matter of its levels.
                "threads": 1,
                "iterations": repetitions,
                "real_time": real,
                "cpu_time": cpu,
                "time_unit": "ns",
            });
            for (key, value) in own.iter().cloned().chain(label.clone()) {
                entry[key] = value;
            }
            self.entries.push(entry);
        };
        for (index, (_, number)) in case.trials.iter().enumerate() {
            let own =
                [("repetition_index", json!(index)), ("iterations", json!(number.operations))];
            add("iteration", "", real[index], cpu[index], &own);
        }
        type Over = fn(&[f64]) -> Option<f64>;
        let all: [(&str, &str, Over); 4] = [
            ("mean", "time", mean),
            ("median", "time", median),
            ("stddev", "time", deviation),
            ("cv", "percentage", |values| Some(deviation(values)? / mean(values)?)),
        ];
        for (name, unit, over) in all {
            // None below two trials, as google/benchmark has it; JSON has no infinity.
            let finite = |values: &[f64]| over(values).filter(|it| it.is_finite());
            if real.len() > 1
                && let (Some(real), Some(cpu)) = (finite(&real), finite(&cpu))
            {
                let own = [("aggregate_name", json!(name)), ("aggregate_unit", json!(unit))];
                add("aggregate", &format!("_{name}"), real, cpu, &own);
            }
        }
    }
}

fn deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// `create/create_ns/mechanism:thread/pages:4k`, as google/benchmark names arguments.
fn run_name(case: &Case<'_, '_>) -> String {
    let levels = case.treatment.0.iter().map(|(factor, level)| format!("/{factor}:{level}"));
    format!("{}/{}{}", case.design.id, case.response.name, levels.collect::<String>())
}

#[cfg(test)]
mod tests;
