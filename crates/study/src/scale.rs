//! The experiment that asks how a command scales.

use crate::measured;
use model::measures::{self, AGAIN, CPU, WALL};
use model::{
    Card, Cell, Control, Design, Factor, Finding, Grid, Level, Metric, Needs, Pick, Profile,
    Quantity, Response, SCALE_COPIES as COPIES, SCALE_PLACEMENT as PLACEMENT, SCALE_WORK as WORK,
    SCALE_WORKERS as WORKERS, Stream, Subject, SubjectLimits, Unit,
};
use std::collections::BTreeMap;

/// What is asked of a command.
#[derive(Clone, Debug)]
pub struct ScaleRequest<'a> {
    /// The command with its arguments, of which one holds the placeholder `{n}`.
    pub command: &'a [String],
    /// The folder in which it runs.
    pub folder: String,
    /// The CPUs that its trials may use.
    pub cpus: u64,
    /// The numbers of workers; `None` means steps up to twice the CPUs.
    pub levels: Option<&'a [u64]>,
    /// What the command prints of its work.
    pub work: Option<PrintedWork<'a>>,
    /// Whether separate copies are measured next to one command.
    pub copies: bool,
    /// Programs that work for the command, by process ID or name.
    pub with: Vec<String>,
    /// The CPUs' worth of time that a cgroup allows.
    pub cpu_quota: Option<f64>,
    /// Any exit code means success.
    pub any_exit_code: bool,
    /// The time after which a trial is killed, in ms.
    pub time_limit_ms: u64,
}

/// The work that a command says it did.
#[derive(Clone, Copy, Debug)]
pub struct PrintedWork<'a> {
    /// The expression whose last match is the amount.
    pub regex: &'a str,
    /// Where the command prints it.
    pub from: Stream,
    /// What is counted; `None` means operations.
    pub unit: Option<&'a str>,
}

/// How narrow the curve is to be: the relative half-width of its interval.
const PRECISION: f64 = 0.03;

/// How long processes that the command leaves behind may go on, in milliseconds.
const LINGER_MS: u32 = 1_000;

/// Into how many parts a unit of work is divided in the stored integer.
const PARTS: u64 = 1_000;

/// Starts `$1` copies of a command at once and fails if one of them does.
const AT_ONCE: &str = "k=$1; shift; i=0; p=; while [ $i -lt $k ]; do \"$@\" & p=\"$p $!\"; \
                       i=$((i+1)); done; r=0; for j in $p; do wait $j || r=$?; done; exit $r";

/// Returns the design that measures a command with each number of workers.
///
/// # Errors
/// If the command has no placeholder for the number of workers, or no number of workers fits the CPUs.
pub fn scale(asked: &ScaleRequest<'_>) -> Result<Design, String> {
    let placeholder = format!("{{{WORKERS}}}");
    model::ensure!(
        asked.command.iter().any(|word| word.contains(&placeholder)),
        "the command has no {placeholder} for the number of workers; such as: scruple scale -- \
             xz -T{placeholder} -k FILE"
    );
    let mut levels = asked.levels.map_or_else(|| usual(asked.cpus), <[u64]>::to_vec);
    if !levels.contains(&1) {
        levels.insert(0, 1);
    }
    let most = at_once(&levels, asked.cpus);
    let copies = asked.copies.then(|| most.clone()).transpose()?;
    let placed = most.ok();
    let mut responses = measured().map_err(|error| error.to_string())?;
    responses.extend(asked.work.map(work));
    let design = Design {
        id: "scale".into(),
        version: 1,
        chapter: "your own programs".into(),
        question: format!("How does {} scale?", program(asked.command)),
        method: method(asked),
        factors: factors(&levels, copies, placed),
        grids: grids(&levels, copies, placed),
        findings: findings(&levels, asked.cpus, asked.work.is_some()),
        controls: controls(),
        responses,
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: PRECISION,
        time_limit_ms: asked.time_limit_ms,
        subject: Some(subject(asked, copies, placed.is_some())),
        ..Design::default()
    };
    design.check().map_err(|error| error.what)?;
    Ok(design)
}

/// Returns numbers of workers for this number of CPUs: steps of a half and a third, up to twice the CPUs.
fn usual(cpus: u64) -> Vec<u64> {
    let most = (2 * cpus).max(4);
    let steps = (0..16).flat_map(|power| [2_u64.pow(power), 3 * 2_u64.pow(power)]);
    let mut levels: Vec<u64> = steps.filter(|n| *n <= most).chain([cpus.max(1), most]).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// Returns how many copies run at once: the largest number of workers that all have a CPU.
fn at_once(levels: &[u64], cpus: u64) -> Result<u64, String> {
    let most = levels.iter().copied().filter(|n| *n > 1 && *n <= cpus).max();
    most.ok_or_else(|| {
        format!("--copies needs a number of workers from 2 to the {cpus} CPUs there are")
    })
}

fn subject(asked: &ScaleRequest<'_>, copies: Option<u64>, placed: bool) -> Subject {
    let mut command = asked.command.to_vec();
    let mut lists = BTreeMap::new();
    if let Some(copies) = copies {
        // A shell among them: it gets what is set before the program as its own environment.
        let own = model::split_assignments(&command).0.len();
        command.insert(own, format!("{{{COPIES}}}"));
        let shell = ["/bin/sh", "-c", AT_ONCE, "scruple", &copies.to_string()];
        let levels =
            [("1".to_string(), Vec::new()), (copies.to_string(), shell.map(String::from).to_vec())];
        lists.insert(COPIES.to_string(), levels.into());
    }
    let metrics = asked.work.iter().map(|work| Metric {
        response: WORK.into(),
        from: work.from,
        pick: Pick::Regex(work.regex.into()),
        per: PARTS,
        ..Metric::default()
    });
    Subject {
        metrics: metrics.collect(),
        command,
        lists,
        folder: asked.folder.clone(),
        workers: format!("{{{WORKERS}}}"),
        cpus: if placed { format!("{{{PLACEMENT}}}") } else { String::new() },
        with: asked.with.clone(),
        linger_ms: LINGER_MS,
        exit_codes: if asked.any_exit_code { Subject::any_exit_code() } else { Vec::new() },
        limits: SubjectLimits {
            cpus_quota: asked.cpu_quota.map(|cpus| cpus.to_string()).unwrap_or_default(),
            ..SubjectLimits::default()
        },
        ..Subject::default()
    }
}

/// Returns the response that a program's own count of its work becomes.
fn work(printed: PrintedWork<'_>) -> Response {
    let unit = printed.unit.unwrap_or("operations").to_string();
    let source = format!("what it prints, the last match of {}", printed.regex);
    let card = Card::new("where the program itself begins to count", "where it ends", "", &source);
    Response::new(WORK, "work done", Unit::Other(unit), card)
}

fn factors(levels: &[u64], copies: Option<u64>, placed: Option<u64>) -> Vec<Factor> {
    let factor = |name: &str, about: &str, levels: Vec<Level>| Factor {
        name: name.into(),
        about: about.into(),
        levels,
        baseline: "1".into(),
        ..Factor::default()
    };
    let mut ascending = levels.to_vec();
    ascending.sort_unstable();
    let workers = ascending.iter().map(|n| Level::number(*n, &format!("{{{WORKERS}}} is {n}")));
    let mut all = vec![
        factor(WORKERS, "how many workers the command is asked to use", workers.collect()),
        measures::again(),
    ];
    if let Some(copies) = copies {
        let about = "how many separate copies of the command run at once, each with its n workers";
        let many = "copies that share the machine and nothing of the program";
        let levels =
            vec![Level::new("1", "the command alone"), Level::new(&copies.to_string(), many)];
        all.push(factor(COPIES, about, levels));
    }
    if placed.is_some() {
        let about = "on which CPUs of the session the command runs; on one only where workers need more CPU \
                     time than one, to see whether they spin";
        let levels = vec![Level::new("all", "all of them"), Level::new("one", "the last one")];
        all.push(Factor { baseline: "all".into(), ..factor(PLACEMENT, about, levels) });
    }
    all
}

/// Returns the grids: every n; one worker again; copies of one worker; as many workers on one CPU as have CPUs.
fn grids(levels: &[u64], copies: Option<u64>, placed: Option<u64>) -> Vec<Grid> {
    let grid = |factor: &str, levels: Vec<String>| Grid {
        from: Profile::Smoke,
        vary: vec![(factor.to_string(), levels)],
    };
    let mut grids = vec![
        grid(WORKERS, levels.iter().map(u64::to_string).collect()),
        grid(AGAIN, vec!["yes".into()]),
    ];
    grids.extend(copies.map(|copies| grid(COPIES, vec![copies.to_string()])));
    grids.extend(placed.map(|n| Grid {
        from: Profile::Smoke,
        vary: vec![
            (WORKERS.to_string(), vec![n.to_string()]),
            (PLACEMENT.to_string(), vec!["one".into()]),
        ],
    }));
    grids
}

/// Returns the speedups, that of one worker per CPU first.
fn findings(levels: &[u64], cpus: u64, counted: bool) -> Vec<Finding> {
    let mut order: Vec<u64> = levels.iter().copied().filter(|n| *n > 1).collect();
    order.sort_by_key(|n| (*n > cpus, n.abs_diff(cpus)));
    order.into_iter().map(|n| finding(n, counted)).collect()
}

/// Returns how much faster n workers are; where the work is counted they may do another amount of it, and
/// the elapsed time alone is no speedup.
fn finding(n: u64, counted: bool) -> Finding {
    let at = |n: u64| Cell::new([(WORKERS, n.to_string().as_str())]);
    let ratio =
        |of: u64, to: u64| Quantity::Ratio { response: WALL.into(), of: at(of), to: at(to) };
    let (sentence, quantity) = if counted {
        (format!("With n {n}: {{}} times the elapsed time of n 1."), ratio(n, 1))
    } else {
        (format!("With n {n}: {{}} times as fast as with n 1."), ratio(1, n))
    };
    Finding { id: format!("wall_{n}"), sentence, quantity, drives: false }
}

/// Returns the A/A controls: the baseline under its two names.
pub(crate) fn controls() -> Vec<Control> {
    let at = |level| Cell::new([(AGAIN, level)]);
    let control = |response: &str| Control { response: response.into(), a: at("no"), b: at("yes") };
    [WALL, CPU].map(control).into()
}

fn program(command: &[String]) -> &str {
    model::program(command).rsplit('/').next().unwrap_or_default()
}

fn method(asked: &ScaleRequest<'_>) -> String {
    let work = match asked.work {
        Some(_) => "the work is what the program itself prints that it did",
        None => "each trial is taken to do the same work, whatever n is",
    };
    let copies = if asked.copies {
        " Beside them, as many separate copies as there are CPUs run at once, with one worker each: \
         they share the hardware and nothing of the program."
    } else {
        ""
    };
    format!(
        "Each trial starts the command once with n workers, without a shell, and waits until it and \
         all that came of it have ended. Throughput is work by elapsed time; {work}. The CPU time is \
         the kernel's account of all its processes; where its threads waited is looked at some \
         milliseconds apart. One worker is measured twice in each block, as an A/A control.{copies}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_numbers_of_workers_go_to_twice_the_cpus() {
        assert_eq!(usual(1), [1, 2, 3, 4]);
        assert_eq!(usual(2), [1, 2, 3, 4]);
        assert_eq!(usual(4), [1, 2, 3, 4, 6, 8]);
        assert_eq!(usual(16), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        assert_eq!(usual(10), [1, 2, 3, 4, 6, 8, 10, 12, 16, 20]);
    }
}
