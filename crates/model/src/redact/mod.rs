//! A session without who measured what where, and with all that a comparison needs.
//!
//! Every type is taken apart by all its fields, so that a new field does not compile until it is decided here
//! what becomes of it.

mod names;
mod study;

use crate::{
    Design, Environment, Inquiry, Manifest, Measured, Name, Named, Neighbour, Options, Outcome,
    Peer, ProgramFile, Record, Run, Runner, Series, ShieldReport, Wait, Waits, is_of_runtime,
};
use names::Names;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands where a text was.
pub const REDACTED: &str = "redacted";

/// What stands where a text of the kernel or of scruple was that names a path.
const A_PATH: &str = "redacted, since it names a path";

/// Redacts the manifest of one session and its records.
#[derive(Clone, Debug)]
pub struct Redaction {
    manifest: Manifest,
    /// The names of each experiment, by its id.
    names: BTreeMap<String, Arc<Names>>,
    /// What stands for the names that programs gave: locks, functions, threads, peers.
    aliases: BTreeMap<String, String>,
}

impl Redaction {
    /// Redacts a manifest. `session` is what the session is called then; `of_programs` makes the design for
    /// program files of the user's.
    ///
    /// # Errors
    /// If the design for program files was made by another version of scruple.
    pub fn new(
        manifest: &Manifest,
        session: String,
        of_programs: impl Fn(&str, &[ProgramFile]) -> Option<Design>,
    ) -> Result<Redaction, String> {
        let Manifest {
            format,
            scruple,
            session: _,
            started_unix_ms,
            seed,
            command: _,
            options,
            environment,
            shield,
            designs,
            runs,
            redacted: _,
        } = manifest;
        let own =
            |design: &Design| (design.id.clone(), Arc::new(Names::of(design, options.inquiry)));
        let names: BTreeMap<String, Arc<Names>> = designs.iter().map(own).collect();
        let design = |design: &Design| match names.get(&design.id) {
            Some(names) => redact_design(design, names, options.inquiry, &of_programs),
            None => Ok(design.clone()),
        };
        let manifest = Manifest {
            format: *format,
            scruple: scruple.clone(),
            session,
            started_unix_ms: *started_unix_ms,
            seed: *seed,
            command: ["scruple", command(options)].map(String::from).into(),
            options: redact_options(options, &names),
            environment: redact_environment(environment),
            shield: redact_shield(shield),
            designs: designs.iter().map(design).collect::<Result<_, _>>()?,
            redacted: true,
            runs: runs.iter().map(redact_run).collect(),
        };
        Ok(Redaction { manifest, names, aliases: BTreeMap::new() })
    }

    /// The redacted manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Redacts what became of the shield, which is known only once trials can be started.
    pub fn shield(&self, shield: &ShieldReport) -> ShieldReport {
        redact_shield(shield)
    }

    /// Redacts the resumptions of a session.
    pub fn runs(&self, runs: &[Run]) -> Vec<Run> {
        runs.iter().map(redact_run).collect()
    }

    /// Redacts a record. What a program waited for has one name in all records of a session.
    pub fn record(&mut self, record: &Record) -> Record {
        let names = self.names.get(record.experiment.as_str()).cloned().unwrap_or_default();
        let Record {
            trial,
            experiment,
            block,
            position,
            treatment,
            started_unix_ms,
            padding_bytes,
            outcome,
            observed,
            measured,
            process,
            spawn_to_ready_ns,
            harness_ns,
            measuring_ns,
            total_ns,
            runner_cpu_ns,
            machine,
            log: _,
        } = record;
        Record {
            trial: *trial,
            experiment: names.id(experiment).into(),
            block: *block,
            position: *position,
            treatment: names.treatment(treatment),
            started_unix_ms: *started_unix_ms,
            padding_bytes: *padding_bytes,
            outcome: redact_outcome(outcome, &names),
            observed: redact_observed(observed, &names),
            measured: measured.as_ref().map(|measured| self.measured(measured, &names)),
            process: process.clone(),
            spawn_to_ready_ns: *spawn_to_ready_ns,
            harness_ns: *harness_ns,
            measuring_ns: *measuring_ns,
            total_ns: *total_ns,
            runner_cpu_ns: *runner_cpu_ns,
            machine: machine.clone(),
            log: String::new(),
        }
    }

    fn measured(&mut self, measured: &Measured, names: &Names) -> Measured {
        let Measured { series, counters, checks, calibration, exhibits: _, waits } = measured;
        let one = |Series { response, per, values }: &Series| Series {
            response: names.response(response).into(),
            per: *per,
            values: values.clone(),
        };
        Measured {
            series: series.iter().map(one).collect(),
            counters: counters.clone(),
            checks: checks.clone(),
            calibration: *calibration,
            exhibits: Vec::new(),
            waits: waits.as_ref().map(|waits| Box::new(self.waits(waits))),
        }
    }

    fn waits(&mut self, waits: &Waits) -> Waits {
        let Waits { looks, waits, runners, cpu_each_ns, still_ns, cpus, peers, unasked } = waits;
        let waits = waits.iter().map(|wait| self.wait(wait)).collect();
        let runners = runners.iter().map(|runner| self.runner(runner)).collect();
        let peer = |Peer { name, cpu_ns }: &Peer| Peer { name: self.alias(name), cpu_ns: *cpu_ns };
        Waits {
            looks: *looks,
            waits,
            runners,
            cpu_each_ns: cpu_each_ns.clone(),
            still_ns: *still_ns,
            cpus: *cpus,
            peers: peers.iter().map(peer).collect(),
            unasked: if unasked.is_empty() { String::new() } else { REDACTED.into() },
        }
    }

    fn wait(&mut self, wait: &Wait) -> Wait {
        let Wait {
            kind,
            what,
            place,
            holder,
            ns,
            idle_ns,
            still_ns,
            turns_ns,
            looks,
            lasting,
            renewed,
        } = wait;
        Wait {
            kind: *kind,
            what: self.alias(what),
            place: self.alias(place),
            holder: self.alias(holder),
            ns: *ns,
            idle_ns: *idle_ns,
            still_ns: *still_ns,
            turns_ns: *turns_ns,
            looks: *looks,
            lasting: *lasting,
            renewed: *renewed,
        }
    }

    fn runner(&mut self, runner: &Runner) -> Runner {
        let Runner { name, is_first, cpu_ns, idle_ns, absent_ns, alone_ns, together_ns } = runner;
        Runner {
            name: self.alias(name),
            is_first: *is_first,
            cpu_ns: *cpu_ns,
            idle_ns: *idle_ns,
            absent_ns: *absent_ns,
            alone_ns: *alone_ns,
            together_ns: *together_ns,
        }
    }

    fn alias(&mut self, name: &str) -> String {
        if name.is_empty() || is_of_runtime(name) {
            return name.into();
        }
        let next = self.aliases.len() + 1;
        self.aliases.entry(name.into()).or_insert_with(|| format!("name-{next}")).clone()
    }
}

/// Returns the command that began a session.
fn command(options: &Options) -> &'static str {
    match options.inquiry {
        Some(inquiry) => inquiry.command(),
        None if options.selftest => "selftest",
        None => "run",
    }
}

fn redact_options(options: &Options, names: &BTreeMap<String, Arc<Names>>) -> Options {
    let Options {
        profile,
        experiments,
        time_budget_s,
        blocks,
        first_blocks,
        cpus,
        shield,
        selftest,
        inquiry,
        study: _,
        preset,
    } = options;
    let id = |id: &String| names.get(id).map_or(id.clone(), |names| names.id(id));
    Options {
        profile: *profile,
        experiments: experiments.iter().map(id).collect(),
        time_budget_s: *time_budget_s,
        blocks: *blocks,
        first_blocks: *first_blocks,
        cpus: cpus.clone(),
        shield: *shield,
        selftest: *selftest,
        inquiry: *inquiry,
        study: None,
        preset: preset.clone(),
    }
}

fn redact_environment(environment: &Environment) -> Environment {
    let Environment {
        host: _,
        machine,
        boot,
        kernel,
        cpu_model,
        cpus_online,
        cpus_allowed,
        threads_per_core,
        topology,
        caches,
        memory_bytes,
        memory_available_bytes,
        page_bytes,
        hypervisor,
        libc,
        rustc,
        build,
        rights,
        settings,
        load,
        neighbours,
        files: _,
    } = environment;
    let nameless = |Neighbour { name: _, cpu_share }: &Neighbour| Neighbour {
        name: REDACTED.into(),
        cpu_share: *cpu_share,
    };
    let settings = settings.iter().filter(|(_, value)| !names_a_path(value));
    Environment {
        host: String::new(),
        machine: hash(machine),
        boot: hash(boot),
        kernel: kernel.clone(),
        cpu_model: cpu_model.clone(),
        cpus_online: *cpus_online,
        cpus_allowed: cpus_allowed.clone(),
        threads_per_core: *threads_per_core,
        topology: topology.clone(),
        caches: caches.clone(),
        memory_bytes: *memory_bytes,
        memory_available_bytes: *memory_available_bytes,
        page_bytes: *page_bytes,
        hypervisor: hypervisor.clone(),
        libc: libc.clone(),
        rustc: rustc.clone(),
        build: build.clone(),
        rights: rights.clone(),
        settings: settings
            .map(|(name, value)| (name.clone(), redact_setting(name, value)))
            .collect(),
        load: *load,
        neighbours: neighbours.iter().map(nameless).collect(),
        files: Vec::new(),
    }
}

fn redact_run(run: &Run) -> Run {
    let Run { started_unix_ms, first_trial, differs } = run;
    let known = differs.iter().filter(|(_, both)| !both.iter().any(|value| names_a_path(value)));
    let known = known.map(|(name, both)| {
        let both = both.each_ref().map(|value| redact_setting(name, value));
        (name.clone(), both)
    });
    let (started_unix_ms, first_trial) = (*started_unix_ms, *first_trial);
    Run { started_unix_ms, first_trial, differs: known.collect() }
}

/// Returns the value of a setting without the names that users give to programs and profiles.
fn redact_setting(name: &str, value: &str) -> String {
    match name {
        "tracer" | "security_label" => REDACTED.into(),
        _ => value.into(),
    }
}

/// Returns a text that is a hash, and nothing of any other.
fn hash(text: &str) -> String {
    let is_hash =
        text.bytes().all(|byte| byte.is_ascii_hexdigit()) && [16, 32].contains(&text.len());
    if is_hash { text.into() } else { String::new() }
}

fn redact_shield(shield: &ShieldReport) -> ShieldReport {
    let ShieldReport { means, missing, share_without, share_with } = shield;
    ShieldReport {
        means: means.iter().map(|text| without_paths(text)).collect(),
        missing: missing.iter().map(|text| without_paths(text)).collect(),
        share_without: *share_without,
        share_with: *share_with,
    }
}

fn redact_design(
    design: &Design,
    names: &Names,
    inquiry: Option<Inquiry>,
    of_programs: &impl Fn(&str, &[ProgramFile]) -> Option<Design>,
) -> Result<Design, String> {
    if design.subject.is_some() {
        return Ok(study::redact(design, names, inquiry));
    }
    if design.programs.is_empty() {
        return Ok(design.clone());
    }
    let made = |programs: &[ProgramFile]| of_programs(&design.id, programs);
    let same = made(&design.programs)
        .map(|same| Design { figures: design.figures.clone(), ..same } == *design);
    let another = || {
        format!(
            "experiment {} is about program files, and was defined by another version of scruple; redact it \
             with that version",
            design.id
        )
    };
    crate::ensure!(same == Some(true), "{}", another());
    let nameless = |file: &ProgramFile| {
        let ProgramFile { level, sha256, instructions_max, stack_bytes, memory, caches, .. } = file;
        ProgramFile {
            level: names.level(names::PROGRAM, level),
            path: String::new(),
            sha256: sha256.clone(),
            about: String::new(),
            instructions_max: *instructions_max,
            stack_bytes: *stack_bytes,
            memory: *memory,
            caches: caches.clone(),
        }
    };
    made(&design.programs.iter().map(nameless).collect::<Vec<_>>()).ok_or_else(another)
}

fn redact_outcome(outcome: &Outcome, names: &Names) -> Outcome {
    let redact = |reason: &str| {
        if names.are_of_a_user() { REDACTED.to_string() } else { without_paths(reason) }
    };
    match outcome {
        Outcome::Unsupported { reason } => Outcome::Unsupported { reason: redact(reason) },
        Outcome::Failed { reason } => Outcome::Failed { reason: redact(reason) },
        Outcome::ProtocolViolated { reason } => {
            Outcome::ProtocolViolated { reason: redact(reason) }
        }
        Outcome::Completed { .. }
        | Outcome::Died { .. }
        | Outcome::TimedOut { .. }
        | Outcome::OutOfMemory { .. } => outcome.clone(),
    }
}

/// Keeps the facts that name no path; of a program of the user's, those that are numbers.
fn redact_observed(observed: &Named<Name>, names: &Names) -> Named<Name> {
    let keeps = |value: &str| {
        if names.are_of_a_user() { study::is_numbers(value) } else { !names_a_path(value) }
    };
    observed
        .iter()
        .filter(|(_, value)| keeps(value))
        .map(|(name, value)| (name, value.clone()))
        .collect()
}

fn names_a_path(text: &str) -> bool {
    text.contains('/')
}

fn without_paths(text: &str) -> String {
    if names_a_path(text) { A_PATH.into() } else { text.into() }
}

#[cfg(test)]
mod tests;
