//! The trials of a session as they would run, and the time that they may take.

use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::schedule::Course;
use crate::ui;
use model::{Design, Options, SCRATCH, Subject, Treatment};
use serde_json::{Value, json};
use std::fmt::Write;
use wording::number::{count, duration_s};

/// Shows the trials of one block of each experiment, in the order that the seed gives it: of the user's programs
/// each with its command, of the catalog their number.
pub(crate) fn show(plan: &Plan, as_json: bool) -> anyhow::Result<Exit> {
    let seed = plan.seed.unwrap_or_default();
    let courses = plan.designs.iter().map(|it| Course::new(it.clone(), &plan.options));
    let courses: Vec<Course> = courses.collect();
    let mut trials = Vec::new();
    let (mut listing, mut table) = (String::new(), String::new());
    let wide = plan.designs.iter().map(|design| design.id.len()).max().unwrap_or_default();
    for course in &courses {
        let design = &course.design;
        let own = course.missing(seed, 0, &course.base).into_iter();
        let own = own.map(|(_, treatment)| Trial::of(design, treatment));
        let own: Vec<Trial> = own.collect::<Result<_, _>>()?;
        let (each, blocks) = (own.len(), course.base_blocks(&plan.options));
        if design.subject.is_some() {
            listing.push_str(&listed(design, &own));
        }
        let all = count(each as u64 * u64::from(blocks));
        let _ = writeln!(table, "{:wide$}  {each:>10}  {blocks:>6}  {all:>6}", design.id);
        trials.extend(own.iter().map(|trial| trial.as_json(design)));
    }
    if listing.is_empty() {
        let (name, each) = ("experiment", "treatments");
        listing = format!("{name:wide$}  {each}  blocks  trials\n{table}");
    }
    ui::show(as_json, &trials, |width| {
        let how_long = report::wrapped(&how_long(plan, &courses), width).join("\n");
        format!("{listing}\n{how_long}\n")
    })?;
    Ok(Exit::Done)
}

/// A trial as it would run.
struct Trial {
    treatment: Treatment,
    /// The treatment in words.
    name: String,
    /// The program with all words of the treatment; the catalog's has none.
    subject: Option<Subject>,
}

impl Trial {
    fn of(design: &Design, treatment: Treatment) -> Result<Trial, model::UnknownPlaceholder> {
        let filled = |subject: &Subject| subject.filled(&treatment, &format!("{{{SCRATCH}}}"));
        let subject = design.subject.as_ref().map(filled).transpose()?;
        Ok(Trial { name: report::treatment(design, &treatment), treatment, subject })
    }

    /// Returns what is the same for many trials, in lines.
    fn around(&self) -> Vec<String> {
        let Some(subject) = &self.subject else {
            return Vec::new();
        };
        let Subject { prepare, cleanup, folder, environment, stdin, cpus, limits, .. } = subject;
        let mut lines = Vec::new();
        for (what, commands) in [("before", prepare), ("after", cleanup)] {
            let each = commands.iter().map(|words| wording::command_line(words));
            lines.extend(each.map(|command| format!("{what} each, not timed: {command}")));
        }
        lines.push(format!("in {folder}"));
        let inherits = if subject.clear_environment { "nothing" } else { "yours" };
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

    fn as_json(&self, design: &Design) -> Value {
        let Some(subject) = &self.subject else {
            return json!({"experiment": design.id, "treatment": self.treatment});
        };
        json!({
            "experiment": design.id,
            "treatment": self.treatment,
            "command": subject.command,
            "prepare": subject.prepare,
            "cleanup": subject.cleanup,
            "folder": subject.folder,
            "environment": subject.environment,
            "stdin": subject.stdin,
            "cpus": subject.cpus,
            "address_space_bytes": subject.limits.address_space_bytes,
            "memory_bytes": subject.limits.memory_bytes,
            "cpus_quota": subject.limits.cpus_quota,
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
        let words = trial.subject.iter().flat_map(|subject| subject.command.clone());
        let command = wording::cleaned(&wording::command_line(&words.collect::<Vec<_>>()));
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

/// Returns how many trials there will be, and how long they may take.
fn how_long(plan: &Plan, courses: &[Course]) -> String {
    let options = &plan.options;
    let base = trials(courses, options);
    let order = match plan.seed {
        Some(seed) => format!("in the order that seed {seed} gives"),
        None => "in random order".into(),
    };
    let each_a_second = format!("{} if each takes a second", duration_s(base));
    let time = match options.time_budget_s.map(|budget_s| duration_s(budget_s.ceil() as u64)) {
        Some(budget) if !plan.base_first => {
            format!(
                "for {budget} at most, and more of them where intervals are wide and time is left"
            )
        }
        Some(budget) => format!(
            "however long they take ({each_a_second}), and more of them where intervals are wide, until \
             {budget} have passed"
        ),
        None if plan.purpose != Purpose::Run => format!("and no more ({each_a_second})"),
        None => {
            // The time of a profile is what the base of its catalog takes.
            let usual = Options { blocks: None, ..options.clone() };
            let catalog = crate::catalog::designs().into_iter();
            let catalog: Vec<_> = catalog.map(|it| Course::new(it, &usual)).collect();
            let about_s = options.profile.budget_s() * base / trials(&catalog, &usual).max(1);
            format!("and no more (about {}, as the catalog's take on average)", duration_s(about_s))
        }
    };
    format!("{} {order}, {time}.", wording::counted(base, "trial"))
}

/// Returns how many trials the base of some experiments has.
fn trials(courses: &[Course], options: &Options) -> u64 {
    let of = |it: &Course| it.base.len() as u64 * u64::from(it.base_blocks(options));
    courses.iter().map(of).sum()
}
