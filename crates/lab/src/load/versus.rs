//! Loads against each other: two servers that take turns, or stored results.

use super::Unanswered;
use super::expect;
use super::live::{Watch, silence};
use super::plan::{self, Asked};
use crate::cli::CompareArgs;
use crate::cli::load::LoadArgs;
use crate::destination;
use crate::exit::Exit;
use crate::{input, session, ui};
use analysis::Condition;
use anyhow::{Context, bail, ensure};
use model::{
    GateOutcome, LoadComparison, LoadGate, LoadNumber, LoadPlan, LoadResult, LoadRow, LoadSide,
};
use std::path::Path;
use std::time::Duration;

/// The numbers that are compared.
const NUMBERS: [LoadNumber; 7] = [
    LoadNumber::Percentile(50.0),
    LoadNumber::Percentile(95.0),
    LoadNumber::Percentile(99.0),
    LoadNumber::Percentile(99.9),
    LoadNumber::Mean,
    LoadNumber::Errors,
    LoadNumber::Rate,
];

/// The largest result that is read.
const RESULT_BYTES_MAX: u64 = 16 << 20;

/// Lets two servers take turns, and shows how they differ.
pub(super) fn blocks(args: &LoadArgs, asked: &Asked, against: &str) -> anyhow::Result<Exit> {
    let gates = numbers_of(&args.fail_if)?;
    let plans = [asked.plan.clone(), plan::of_other(args, asked, against)?];
    let blocks = measure(asked, &plans, args.blocks)?;
    let rows: Vec<LoadRow> = NUMBERS
        .into_iter()
        .map(|number| {
            let pair = |block: &[LoadResult; 2]| {
                let [base, value] = [&block[0], &block[1]].map(|result| result.number(number).0);
                base.zip(value)
            };
            let pairs: Vec<(f64, f64)> = blocks.iter().filter_map(pair).collect();
            analysis::load_row_of_blocks(number, &pairs)
        })
        .collect();
    let mut doubts: Vec<String> = Vec::new();
    for doubt in blocks.iter().flatten().flat_map(|result| &result.doubts) {
        if !doubts.contains(doubt) && doubts.len() < DOUBTS_MAX {
            doubts.push(doubt.clone());
        }
    }
    let sides = plans.map(|plan| LoadSide { name: plan.url.clone(), plan });
    let comparison = LoadComparison {
        scruple: session::VERSION.into(),
        sides: sides.into(),
        blocks: Some(blocks.len() as u32),
        gates: judged(&gates, &rows),
        rows,
        doubts,
    };
    show(args.json, args.html.as_deref(), &comparison)?;
    Ok(if (blocks.len() as u32) < args.blocks { Exit::Incomplete } else { exit(&comparison) })
}

/// The most doubts that are shown of all loads together.
const DOUBTS_MAX: usize = 5;

/// Returns the results of each block, in which each side has its turn in random order; fewer if somebody
/// wants to stop.
fn measure(
    asked: &Asked,
    plans: &[LoadPlan; 2],
    blocks: u32,
) -> anyhow::Result<Vec<[LoadResult; 2]>> {
    let each = asked.plan.duration_ms.map(Duration::from_millis);
    let mut watch = Watch::new(each.map(|each| each * 2 * blocks));
    let mut done = Vec::new();
    for block in 0..blocks {
        let seed = asked.seed.wrapping_add(block.into());
        let first = usize::from(sys::hash::sha256(&seed.to_le_bytes()).starts_with(|c| c < '8'));
        let mut results = [None, None];
        for side in [first, 1 - first] {
            // The same arrivals on both sides of a block.
            let plan = plan::with_seed(&plans[side], seed);
            let about = format!("block {} of {blocks}, {}", block + 1, ["A", "B"][side]);
            let Some((outcome, _)) = watch.run_part(&about, &plan, &asked.body, false)? else {
                return Ok(done);
            };
            if let Some(why) = silence(&outcome.result) {
                bail!(Unanswered(why));
            }
            results[side] = Some(outcome.result);
        }
        if let [Some(base), Some(value)] = results {
            done.push([base, value]);
        }
    }
    Ok(done)
}

/// Compares stored results of loads, if files were named in the place of sessions.
pub(crate) fn compare(args: &CompareArgs) -> Option<anyhow::Result<Exit>> {
    let mut named = args.base.iter().chain(&args.sides).peekable();
    named.peek()?;
    named.all(|path| path.is_file() || input::is_standard(path)).then(|| files(args))
}

fn files(args: &CompareArgs) -> anyhow::Result<Exit> {
    ensure!(args.experiment.is_empty(), "--experiment: a load has no experiments");
    ensure!(!args.sides.is_empty(), "name a second FILE: one load has nothing to be compared with");
    let gates = numbers_of(&args.fail_if)?;
    let paths: Vec<&Path> = args.base.iter().chain(&args.sides).map(AsRef::as_ref).collect();
    let read = paths.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let (base, others) = read.split_first().context("name two files")?;
    let mut rows = Vec::new();
    for (index, other) in others.iter().enumerate() {
        for number in NUMBERS {
            rows.push(analysis::load_row(
                index + 1,
                number,
                base.number(number),
                other.number(number),
            ));
        }
    }
    let names: Vec<String> = paths.iter().map(|path| input::name(path)).collect();
    let mut doubts: Vec<String> = Vec::new();
    for (name, result) in names.iter().zip(&read) {
        doubts
            .extend(unlike(&base.plan, &result.plan).map(|what| format!("the load {name} {what}")));
        doubts.extend(result.doubts.iter().map(|doubt| format!("the load {name}: {doubt}")));
    }
    let sides = names.into_iter().zip(&read);
    let comparison = LoadComparison {
        scruple: session::VERSION.into(),
        sides: sides.map(|(name, result)| LoadSide { name, plan: result.plan.clone() }).collect(),
        blocks: None,
        gates: judged(&gates, &rows),
        rows,
        doubts,
    };
    show(args.json, args.html.as_deref(), &comparison)?;
    Ok(exit(&comparison))
}

fn read(path: &Path) -> anyhow::Result<LoadResult> {
    let name = input::name(path);
    let bytes = input::bytes(path, RESULT_BYTES_MAX)?;
    let result: LoadResult = serde_json::from_slice(&bytes)
        .with_context(|| format!("{name} is no result of scruple load --json"))?;
    ensure!(
        result.format <= model::LOAD_FORMAT,
        "{name} was written by a newer scruple ({})",
        wording::short(&result.scruple, 40)
    );
    Ok(result)
}

/// Returns in what a load was asked for in another way than the base.
fn unlike(base: &LoadPlan, plan: &LoadPlan) -> Option<String> {
    let rate = |plan: &LoadPlan| plan.arrivals.per_s();
    let differences = [
        (base.method != plan.method, "method"),
        (
            std::mem::discriminant(&base.arrivals) != std::mem::discriminant(&plan.arrivals),
            "kind of loop",
        ),
        (rate(base) != rate(plan), "rate"),
        (base.connections != plan.connections, "number of connections"),
        (base.keep_alive != plan.keep_alive, "use of keep-alive"),
        (base.body_bytes != plan.body_bytes, "body"),
        (base.duration_ms != plan.duration_ms, "duration"),
    ];
    let differ: Vec<String> =
        differences.iter().filter(|(differ, _)| *differ).map(|(_, what)| (*what).into()).collect();
    let what = wording::listed(&differ);
    (!differ.is_empty())
        .then(|| format!("has another {what} than the base, which may explain differences"))
}

/// Returns the number of each condition.
fn numbers_of(conditions: &[Condition]) -> anyhow::Result<Vec<(&Condition, LoadNumber)>> {
    let number = |condition: &Condition| {
        let dot = condition.response.iter().map(|rest| format!(".{rest}"));
        expect::number(&format!("{}{}", condition.experiment, dot.collect::<String>()))
    };
    let one = |condition| {
        let number = number(condition)
            .map_err(|why| anyhow::anyhow!("--fail-if '{}': {why}", condition.text))?;
        let compared = NUMBERS.contains(&number) && condition.at.0.is_empty();
        ensure!(
            compared,
            "--fail-if '{}': loads are compared by p50, p95, p99, p99.9, mean, errors and rate",
            condition.text
        );
        Ok((condition, number))
    };
    conditions.iter().map(one).collect()
}

fn judged(gates: &[(&Condition, LoadNumber)], rows: &[LoadRow]) -> Vec<LoadGate> {
    gates.iter().map(|(condition, number)| analysis::load_gate(condition, *number, rows)).collect()
}

fn show(json: bool, html: Option<&Path>, comparison: &LoadComparison) -> anyhow::Result<()> {
    let doc = report::loads(comparison);
    if let Some(path) = html {
        if input::is_standard(path) {
            ensure!(!json, "--html - and --json both want standard output: give --html a file");
            return ui::data(&doc.page());
        }
        destination::write(path, &doc.page()).context("--html")?;
    }
    ui::show(json, comparison, |width| doc.text(width))
}

/// Returns of several conditions the worst decides.
fn exit(comparison: &LoadComparison) -> Exit {
    match comparison.gates.iter().map(|gate| gate.outcome).max() {
        None | Some(GateOutcome::Fine) => Exit::Done,
        Some(GateOutcome::CannotTell) => Exit::Incomplete,
        Some(GateOutcome::Regression) => Exit::Refuted,
    }
}
