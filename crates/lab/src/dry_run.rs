//! The trials of a session as they would run, and the time that they take.

use crate::exit::Exit;
use crate::plan::Plan;
use crate::schedule::Course;
use crate::{foresight, lookup, schedule, session, squeezes, ui};
use model::{Design, Inquiry, Manifest, SCRATCH, Subject, Treatment};
use serde_json::{Value, json};
use std::fmt::Write;
use wording::number::{count, duration_s};

/// Shows the trials of one block of each experiment, in the order that the seed gives it: of a user's program
/// each with its command, of the catalog's experiments only their number.
///
/// # Errors
/// If a command has a placeholder that is no factor, or standard output cannot be written.
pub(crate) fn show(plan: &Plan, as_json: bool) -> anyhow::Result<Exit> {
    let seed = plan.seed.unwrap_or_default();
    let wide = plan.designs.iter().map(|design| design.id.len()).max().unwrap_or_default();
    let mut text = String::new();
    let (mut json, mut counts, mut courses) = (Vec::new(), Vec::new(), Vec::new());
    for design in &plan.designs {
        let course = Course::new(design.clone(), &plan.options);
        let squeezes = match plan.options.inquiry {
            Some(Inquiry::Why) if plan.options.blocks.is_none() => squeezes::of_block(&course),
            _ => Vec::new(),
        };
        let block = if squeezes.is_empty() { &course.base } else { &squeezes };
        let order = course.missing(seed, 0, block);
        let treatments: Vec<Treatment> =
            order.into_iter().map(|(_, treatment)| treatment).collect();
        let (each, blocks) = (treatments.len() as u64, course.base_blocks());
        let base = course.base.len() as u64 * u64::from(blocks);
        let trials = base + u64::from(squeezes::LEAST) * squeezes.len() as u64;
        counts.push((design, trials));
        courses.push(course);
        if let Some(subject) = &design.subject {
            let filled = treatments.into_iter().map(|it| Trial::of(design, subject, it));
            let filled = filled.collect::<Result<Vec<_>, _>>()?;
            json.extend(filled.iter().map(Trial::as_json));
            text.push_str(&listed(design, &filled));
            continue;
        }
        if text.is_empty() {
            let (name, each) = ("experiment", "treatments");
            let _ = writeln!(text, "{name:wide$}  {each}  blocks   trials");
        }
        let trials = count(trials);
        let _ = writeln!(text, "{:wide$}  {each:>10}  {blocks:>6}  {trials:>7}", design.id);
        let of = |it: Treatment| json!({"experiment": design.id, "treatment": it});
        json.extend(treatments.into_iter().map(of));
    }
    let decides = decides(plan, &courses);
    ui::show(as_json, &json, |width| {
        let how_long = report::wrapped(&how_long(plan, &counts), width).join("\n");
        let decides = report::wrapped(&decides, width).join("\n");
        format!("{text}\n{how_long}\n{decides}").trim_end().to_string() + "\n"
    })?;
    Ok(Exit::Done)
}

/// Returns what the session can decide in its time, in a sentence; nothing where it judges nothing.
fn decides(plan: &Plan, courses: &[Course]) -> String {
    let budget_ns = plan.options.time_budget_s.map(|seconds| (seconds * 1e9) as u64);
    let limit_ns = budget_ns.filter(|_| !plan.base_first);
    let forecast = schedule::forecast(courses, limit_ns.unwrap_or(u64::MAX));
    let said = foresight::sentence(courses, &plan.options, forecast, limit_ns);
    said.map_or_else(String::new, |said| format!("{}.", wording::capital(&said)))
}

/// A trial of a user's program as it would run.
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
        treatment: Treatment,
    ) -> Result<Trial, model::UnknownPlaceholder> {
        let subject = subject.filled(&treatment, &format!("{{{SCRATCH}}}"))?;
        Ok(Trial { name: report::treatment(design, &treatment), treatment, subject })
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

fn listed(design: &Design, trials: &[Trial]) -> String {
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
    out
}

/// Returns how many trials there will be, how long they take, and when the session ends.
fn how_long(plan: &Plan, trials: &[(&Design, u64)]) -> String {
    let options = &plan.options;
    let all = trials.iter().map(|(_, trials)| trials).sum();
    let order = match plan.seed {
        Some(seed) => format!("in the order that seed {seed} gives"),
        None => "in random order".into(),
    };
    let take = match cost(plan, trials) {
        Some((seconds, session)) => {
            let about = duration_s(seconds);
            format!(" They take about {about}, judging by {session}.")
        }
        None if plan.base_first => {
            format!(" They take {} if each takes a second.", duration_s(all))
        }
        None => String::new(),
    };
    let end = match options.time_budget_s.map(|budget_s| duration_s(budget_s.ceil() as u64)) {
        Some(budget) if plan.base_first => {
            format!("Blocks with wide intervals follow until {budget} have passed")
        }
        Some(budget) if options.blocks.is_some() => format!("No block begins after {budget}"),
        Some(budget) => format!(
            "No block begins after {budget}; if time is left, more blocks follow where intervals are wide"
        ),
        None => "Then the session ends".into(),
    };
    format!("Planned: {} {order}.{take} {end}.", wording::counted(all, "trial"))
}

/// Returns how many seconds these trials take if each takes as long as the mean trial of its experiment in the
/// latest session that has all of the experiments as they are planned here, and that session's folder; none if
/// there is no such session.
fn cost(plan: &Plan, trials: &[(&Design, u64)]) -> Option<(u64, String)> {
    let has_all = |manifest: &Manifest| {
        manifest.options.profile == plan.options.profile
            && trials.iter().all(|(design, _)| manifest.designs.contains(design))
    };
    let (dir, _) = lookup::latest(|_, manifest| has_all(manifest)).ok()?;
    let stored = store::open(&dir).ok()?;
    let courses = session::courses(&stored.manifest, &stored.records);
    let each = trials.iter().map(|(design, trials)| {
        let course = courses.iter().find(|course| course.design.id == design.id)?;
        Some(course.cost_ns(*trials as usize)).filter(|cost_ns| *cost_ns > 0)
    });
    let all_ns: u64 = each.sum::<Option<u64>>()?;
    Some((all_ns.div_ceil(1_000_000_000), dir.display().to_string()))
}
