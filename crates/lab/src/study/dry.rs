//! The trials of a study as they would run.

use crate::plan::Plan;
use crate::{schedule, ui};
use model::{Design, SCRATCH, Subject, Treatment};
use serde_json::{Value, json};
use std::fmt::Write;
use wording::number::duration_s;

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
        text.push_str(&listed(plan, design, &own));
        trials.extend(own.iter().map(Trial::as_json));
    }
    ui::show(as_json, &trials, |_| text)
}

/// A trial as it would run.
struct Trial {
    treatment: Treatment,
    /// The treatment in words.
    name: String,
    /// The program with all words of the treatment.
    subject: Subject,
}

impl Trial {
    fn of(
        design: &Design,
        subject: &Subject,
        treatment: &Treatment,
    ) -> Result<Trial, model::UnknownPlaceholder> {
        Ok(Trial {
            name: report::treatment(design, treatment),
            treatment: treatment.clone(),
            subject: subject.filled(treatment, &format!("{{{SCRATCH}}}"))?,
        })
    }

    /// Returns what is the same for many trials, in lines.
    fn around(&self) -> Vec<String> {
        let Subject { prepare, cleanup, folder, environment, stdin, cpus, limits, .. } =
            &self.subject;
        let mut lines = Vec::new();
        for (what, commands) in [("before", prepare), ("after", cleanup)] {
            let each = commands.iter().map(|words| wording::command_line(words));
            lines.extend(each.map(|command| format!("{what} each, not timed: {command}")));
        }
        lines.push(format!("in {folder}"));
        let inherits = if self.subject.clear_environment { "nothing" } else { "yours" };
        let own: Vec<String> =
            environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let and = if own.is_empty() { "" } else { " and " };
        lines.push(format!("environment: {inherits}{and}{}", own.join(" ")));
        let named = [
            ("input from", stdin),
            ("CPUs", cpus),
            ("most address space (bytes)", &limits.address_space_bytes),
            ("most memory (bytes)", &limits.memory_bytes),
            ("most CPUs' worth of time", &limits.cpus_quota),
        ];
        let named = named.into_iter().filter(|(_, value)| !value.is_empty());
        lines.extend(named.map(|(what, value)| format!("{what}: {value}")));
        lines
    }

    fn as_json(&self) -> Value {
        let Subject { limits, .. } = &self.subject;
        json!({
            "treatment": self.treatment,
            "command": self.subject.command,
            "prepare": self.subject.prepare,
            "cleanup": self.subject.cleanup,
            "folder": self.subject.folder,
            "environment": self.subject.environment,
            "stdin": self.subject.stdin,
            "cpus": self.subject.cpus,
            "address_space_bytes": limits.address_space_bytes,
            "memory_bytes": limits.memory_bytes,
            "cpus_quota": limits.cpus_quota,
        })
    }
}

fn listed(plan: &Plan, design: &Design, trials: &[Trial]) -> String {
    let mut out = format!("{}  {}\n\n", wording::cleaned(&design.question), design.id);
    let wide = trials.iter().map(|trial| trial.name.chars().count()).max().unwrap_or_default();
    let digits = trials.len().to_string().len();
    let mut common = trials.first().map(Trial::around).unwrap_or_default();
    common.retain(|line| trials.iter().all(|trial| trial.around().contains(line)));
    for (index, trial) in trials.iter().enumerate() {
        let command = wording::cleaned(&wording::command_line(&trial.subject.command));
        let _ = writeln!(out, "{:>digits$}  {:wide$}  {command}", index + 1, trial.name);
        for line in trial.around().iter().filter(|line| !common.contains(line)) {
            let _ = writeln!(out, "{:digits$}  {:wide$}    {}", "", "", wording::cleaned(line));
        }
    }
    out.push('\n');
    for line in &common {
        let _ = writeln!(out, "{}", wording::cleaned(line));
    }
    let limit = duration_s(design.time_limit_ms.div_ceil(1000));
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
            duration_s(budget_s.ceil() as u64)
        ),
        (None, None) => "then more where intervals are wide".into(),
    };
    format!(
        "{base} blocks of these {trials} trials each ({order}), {} in all, {more}.",
        base as usize * trials
    )
}
