//! The trials of a study as they would run.

use crate::plan::Plan;
use crate::{schedule, ui};
use model::{Design, SCRATCH, Subject, Treatment};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Shows the trials of one block, in the order that the seed gives it.
pub(super) fn show(plan: &Plan, as_json: bool) -> anyhow::Result<()> {
    let seed = plan.seed.unwrap_or_default();
    let mut trials = Vec::new();
    let mut text = String::new();
    for design in &plan.designs {
        let Some(subject) = &design.subject else {
            continue;
        };
        let treatments = design.treatments(plan.options.profile);
        let order = runner::order(
            seed,
            &design.id,
            0,
            &treatments,
            &analysis::compared(design, &treatments),
        );
        let own = order.iter().map(|treatment| Trial::of(design, subject, treatment));
        let own: Vec<Trial> = own.collect::<Result<_, _>>()?;
        text.push_str(&listed(plan, design, subject, &own));
        trials.extend(own.iter().map(Trial::as_json));
    }
    if as_json {
        return ui::data(&serde_json::to_string_pretty(&trials)?);
    }
    ui::people(&text)
}

/// A trial as it would run.
struct Trial {
    treatment: Treatment,
    /// The treatment in words.
    name: String,
    command: Vec<String>,
    prepare: Vec<Vec<String>>,
    cleanup: Vec<Vec<String>>,
    folder: String,
    environment: BTreeMap<String, String>,
    stdin: String,
    cpus: String,
    limits: [String; 3],
}

impl Trial {
    fn of(
        design: &Design,
        subject: &Subject,
        treatment: &Treatment,
    ) -> Result<Trial, model::UnknownPlaceholder> {
        let scratch = format!("{{{SCRATCH}}}");
        let fill = |text: &str| subject.fill(text, treatment, &scratch);
        let words = |words: &Vec<String>| subject.arguments(words, treatment, &scratch);
        let mut command = words(&subject.command)?;
        if subject.shell {
            command.splice(0..0, ["/bin/sh".to_string(), "-c".to_string()]);
        }
        let limits = &subject.limits;
        let variables = subject.environment.iter();
        Ok(Trial {
            name: report::treatment(design, treatment),
            treatment: treatment.clone(),
            command,
            prepare: subject.prepare.iter().map(words).collect::<Result<_, _>>()?,
            cleanup: subject.cleanup.iter().map(words).collect::<Result<_, _>>()?,
            folder: fill(&subject.folder)?,
            environment: variables
                .map(|(name, value)| Ok((name.clone(), fill(value)?)))
                .collect::<Result<_, _>>()?,
            stdin: fill(&subject.stdin)?,
            cpus: fill(&subject.cpus)?,
            limits: [
                fill(&limits.address_space_bytes)?,
                fill(&limits.memory_bytes)?,
                fill(&limits.cpus_quota)?,
            ],
        })
    }

    /// Returns what is the same for many trials, in lines.
    fn around(&self, subject: &Subject) -> Vec<String> {
        let all = |what: &str, commands: &[Vec<String>]| {
            let each =
                commands.iter().map(|words| format!("{what}: {}", report::command_line(words)));
            each.collect::<Vec<_>>()
        };
        let mut lines = all("before each, not timed", &self.prepare);
        lines.extend(all("after each, not timed", &self.cleanup));
        lines.push(format!("in {}", self.folder));
        let inherits = if subject.clear_environment { "nothing" } else { "yours" };
        let own: Vec<String> =
            self.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let and = if own.is_empty() { String::new() } else { " and ".to_string() };
        lines.push(format!("environment: {inherits}{and}{}", own.join(" ")));
        let named =
            |what: &str, value: &str| (!value.is_empty()).then(|| format!("{what}: {value}"));
        lines.extend(named("input from", &self.stdin));
        lines.extend(named("CPUs", &self.cpus));
        let what =
            ["most address space (bytes)", "most memory (bytes)", "most CPUs' worth of time"];
        lines.extend(what.iter().zip(&self.limits).filter_map(|(what, limit)| named(what, limit)));
        lines
    }

    fn as_json(&self) -> Value {
        let [address_space_bytes, memory_bytes, cpus_quota] = &self.limits;
        json!({
            "treatment": self.treatment,
            "command": self.command,
            "prepare": self.prepare,
            "cleanup": self.cleanup,
            "folder": self.folder,
            "environment": self.environment,
            "stdin": self.stdin,
            "cpus": self.cpus,
            "address_space_bytes": address_space_bytes,
            "memory_bytes": memory_bytes,
            "cpus_quota": cpus_quota,
        })
    }
}

fn listed(plan: &Plan, design: &Design, subject: &Subject, trials: &[Trial]) -> String {
    let mut out = format!("{}  {}\n\n", report::harmless(&design.question), design.id);
    let wide = trials.iter().map(|trial| trial.name.chars().count()).max().unwrap_or_default();
    let digits = trials.len().to_string().len();
    let common: Vec<String> = match trials.first() {
        Some(first) => first.around(subject),
        None => Vec::new(),
    };
    let common: Vec<String> = common
        .into_iter()
        .filter(|line| trials.iter().all(|trial| trial.around(subject).contains(line)))
        .collect();
    for (index, trial) in trials.iter().enumerate() {
        let command = report::harmless(&report::command_line(&trial.command));
        let _ = writeln!(out, "{:>digits$}  {:wide$}  {command}", index + 1, trial.name);
        let own = trial.around(subject);
        for line in own.iter().filter(|line| !common.contains(line)) {
            let _ = writeln!(out, "{:digits$}  {:wide$}    {}", "", "", report::harmless(line));
        }
    }
    out.push('\n');
    for line in &common {
        let _ = writeln!(out, "{}", report::harmless(line));
    }
    let limit = ui::seconds(design.time_limit_ms.div_ceil(1000));
    let _ = writeln!(out, "a trial that takes longer than {limit} is killed");
    let _ = writeln!(out, "\n{}", how_many(plan, trials.len()));
    out
}

/// Returns how many blocks there will be.
fn how_many(plan: &Plan, trials: usize) -> String {
    let options = &plan.options;
    let base = schedule::base_blocks(options);
    let order = match plan.seed {
        Some(seed) => format!("this is the order of the first with seed {seed}"),
        None => "this is an order as another seed would give it".into(),
    };
    let more = match (options.blocks, options.time_budget_s) {
        (Some(_), None) => "and no more".to_string(),
        (_, Some(budget_s)) => format!(
            "then more where intervals are wide, until {} have passed or they are narrow enough",
            ui::seconds(budget_s)
        ),
        (None, None) => "then more where intervals are wide".into(),
    };
    format!(
        "{base} blocks of these {trials} trials each ({order}), {} in all, {more}.",
        base as usize * trials
    )
}
