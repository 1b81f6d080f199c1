//! The layout of google/benchmark's `--benchmark_format=json` (its schema version 1).

use crate::cases::{Case, LeftOut, each_case, is_time};
use crate::{Choice, Error, Session};
use analysis::{mean, median, variance};
use model::{CpuCache, Design, Environment, Moment, Record, Response};
use serde::Serialize;
use std::io::Write;

/// What stands beside a time whose CPU time is not known.
const NO_CPU_TIME: &str = "cpu_time repeats real_time: no CPU time was measured with it";

#[derive(Serialize)]
struct File {
    context: Context,
    benchmarks: Vec<Entry>,
}

#[derive(Serialize)]
struct Context {
    date: String,
    host_name: String,
    executable: &'static str,
    num_cpus: u32,
    caches: Vec<Cache>,
    load_avg: Vec<f64>,
    library_version: String,
    library_build_type: String,
    json_schema_version: u32,
    scruple_session: String,
}

#[derive(Serialize)]
struct Cache {
    #[serde(rename = "type")]
    kind: String,
    level: u32,
    size: u64,
}

/// One trial, or one number over the trials. Times are in `time_unit`, except the coefficient of
/// variation, which has no unit.
#[derive(Serialize)]
struct Entry {
    name: String,
    family_index: u64,
    per_family_instance_index: u64,
    run_name: String,
    run_type: &'static str,
    repetitions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_index: Option<u64>,
    threads: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_unit: Option<&'static str>,
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
}

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
pub fn google_benchmark(
    session: &Session<'_>,
    choice: &Choice,
    mut out: impl Write,
) -> Result<LeftOut, Error> {
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
    let manifest = session.manifest;
    let file =
        File { context: context(&manifest.environment, manifest), benchmarks: writer.entries };
    serde_json::to_writer_pretty(&mut out, &file)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(left_out)
}

fn context(environment: &Environment, manifest: &model::Manifest) -> Context {
    let it = Moment::of_unix_ms(manifest.started_unix_ms);
    let cache = |cache: &CpuCache| Cache {
        kind: cache.kind.clone(),
        level: cache.level,
        size: cache.size_bytes,
    };
    Context {
        date: format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}+00:00",
            it.year, it.month, it.day, it.hour, it.minute, it.second
        ),
        host_name: environment.host.clone(),
        executable: "scruple",
        num_cpus: environment.cpus_online,
        caches: environment.caches.iter().map(cache).collect(),
        load_avg: vec![environment.load],
        library_version: format!("scruple {}", manifest.scruple),
        library_build_type: environment.build.clone(),
        json_schema_version: 1,
        scruple_session: manifest.session.clone(),
    }
}

#[derive(Default)]
struct Writer {
    entries: Vec<Entry>,
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
        let cpu = cpu_times(case);
        let label = cpu.is_none().then_some(NO_CPU_TIME);
        let cpu = cpu.unwrap_or_else(|| real.clone());
        for (index, (_, number)) in case.trials.iter().enumerate() {
            let mut entry = self.entry(case, "iteration", real[index], cpu[index]);
            entry.repetition_index = Some(index as u64);
            entry.iterations = number.operations;
            entry.label = label;
            self.entries.push(entry);
        }
        type Over = fn(&[f64]) -> Option<f64>;
        let all: [(&'static str, &'static str, Over); 4] = [
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
                let mut entry = self.entry(case, "aggregate", real, cpu);
                entry.name = format!("{}_{name}", entry.run_name);
                entry.aggregate_name = Some(name);
                entry.aggregate_unit = Some(unit);
                entry.label = label;
                self.entries.push(entry);
            }
        }
    }

    fn entry(&self, case: &Case<'_, '_>, run_type: &'static str, real: f64, cpu: f64) -> Entry {
        let run_name = run_name(case);
        let repetitions = case.trials.len() as u64;
        Entry {
            name: run_name.clone(),
            family_index: self.family_index,
            per_family_instance_index: self.instance_index,
            run_name,
            run_type,
            repetitions,
            repetition_index: None,
            // A trial is one process; what it starts is a matter of its levels.
            threads: 1,
            aggregate_name: None,
            aggregate_unit: None,
            iterations: repetitions,
            real_time: real,
            cpu_time: cpu,
            time_unit: "ns",
            label: None,
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

/// The CPU time of the same work, of every trial.
fn cpu_times(case: &Case<'_, '_>) -> Option<Vec<f64>> {
    let twin = case.response.cpu_twin.as_ref()?;
    let one = |(record, _): &(&Record, _)| case.numbers.of(record, twin).value;
    case.trials.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
