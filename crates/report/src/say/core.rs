//! What a program did on the simulated core, as `scruple core` ran it.

use crate::doc::{Block, Doc, Role, Table, Text, Tone};
use model::{CoreCache, CoreCurve, CoreRun};
use wording::number::{binary, count, or_dash};
use wording::{cleaned, counted, short};

/// The most lines of a program's output that are shown.
const OUTPUT_LINES_MAX: usize = 40;

/// Returns what a program wrote, how it ended, and where its cycles went. What others wrote is made harmless.
pub fn core(run: &CoreRun) -> Doc<'static> {
    let name = short(&run.file, 200);
    let mut doc = Doc::new(&run.scruple, "a program on the simulated core", name.clone());
    doc.push(Block::heading(1, name));
    doc.blocks.extend(ending(run));
    doc.blocks.extend(free_misses(run));
    doc.push(Block::paragraph(Role::Answer, answer(run)));
    doc.blocks.extend(output(&run.output));
    let whole = run.cycles.max(1) as f64;
    let causes = run.causes.iter().filter(|cause| cause.cycles > 0);
    let causes = causes.map(|cause| {
        let part = cause.cycles as f64 / whole;
        [cause.name.clone(), count(cause.cycles), share(part), bar(part)]
    });
    doc.push(Block::heading(2, "Where the cycles went"));
    doc.push(Block::Table(Table::of(&["cause", "#cycles", "#share", ""]).rows(causes)));
    doc.blocks.extend(branches(run));
    doc.blocks.extend(caches(&run.caches));
    doc.blocks.extend(curves(&run.curves));
    doc.blocks.extend(hottest(run));
    let parameters = run.pipeline.iter().map(|one| format!("{} {}", one.name, one.value));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    doc.push(Block::small(format!(
        "Pipeline: {parameters}. Computed, not measured: the same on every machine."
    )));
    doc
}

/// Returns how the program ended, where a reader must know it before any number.
fn ending(run: &CoreRun) -> Option<Block<'static>> {
    let text = match run.failure.as_str() {
        "" if run.limited => Some(format!(
            "The program did not end: it was stopped after {}. All numbers are of those; --instructions N \
             changes the limit.",
            counted(run.instructions, "instruction")
        )),
        "" => None,
        why => Some(format!(
            "The program failed: {}. The numbers are of what it did until then.",
            short(why, 400)
        )),
    }?;
    let tone = if run.failure.is_empty() { Tone::Care } else { Tone::Bad };
    let word = if run.failure.is_empty() { "note" } else { "failed" };
    Some(Block::said(tone, word, vec![text.into()]))
}

/// Returns that misses cost nothing, where there are caches and nobody said what a miss costs.
fn free_misses(run: &CoreRun) -> Option<Block<'static>> {
    let is_free = run.pipeline.iter().any(|one| one.name == "miss" && one.value == "0");
    (is_free && !run.caches.is_empty()).then(|| {
        let text = "A miss costs 0 cycles here, so the caches change no cycle below. --set miss=10 makes each cost 10.";
        Block::said(Tone::Care, "note", vec![text.into()])
    })
}

fn answer(run: &CoreRun) -> String {
    let cpi = run.cycles as f64 / run.instructions.max(1) as f64;
    let instructions = counted(run.instructions, "instruction");
    let cycles = counted(run.cycles, "cycle");
    let short = run.short_instructions as f64 / run.instructions.max(1) as f64;
    let short = match run.short_instructions {
        0 => String::new(),
        _ => format!(" {} of the instructions have 16 bits.", share(short)),
    };
    let traps = match run.traps {
        0 => String::new(),
        traps => format!(" It took {}.", counted(traps, "trap")),
    };
    let outside = match run.outside {
        0 => String::new(),
        outside => format!(" {} ran outside of its text.", counted(outside, "instruction")),
    };
    let end = match run.failure.is_empty() && !run.limited {
        true => format!(" End: {}.", run.ended),
        false => String::new(),
    };
    format!(
        "{instructions} in {cycles}: {cpi:.3} cycles per instruction.{short}{traps}{outside}{end}"
    )
}

/// Returns what the program wrote.
fn output(output: &str) -> Vec<Block<'static>> {
    if output.is_empty() {
        return vec![Block::plain("It wrote nothing.")];
    }
    let lines: Vec<&str> = output.lines().collect();
    let shown = lines
        .iter()
        .take(OUTPUT_LINES_MAX)
        .map(|line| format!("  {}", cleaned(&short(line, 2000))));
    let more =
        Block::left_out(lines.len(), OUTPUT_LINES_MAX, "line", " of output (--json has 64 KiB)");
    let mut blocks = vec![Block::heading(2, "It wrote"), Block::Letters(shown.collect())];
    blocks.extend(more);
    blocks
}

/// A share in tenths of a per cent, below each other in a table.
fn share(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A share as a bar of twenty columns at most.
fn bar(part: f64) -> String {
    "█".repeat((part * 20.0).round() as usize)
}

fn branches(run: &CoreRun) -> Option<Block<'static>> {
    let missed = run.mispredicted as f64 / run.branches.max(1) as f64;
    let prediction = run.pipeline.iter().find(|one| one.name == "predict");
    let prediction = prediction.map_or("not taken", |one| one.value.as_str());
    (run.branches > 0).then(|| {
        Block::plain(format!(
            "Branches: {} of {} were mispredicted ({}); prediction: {prediction}.",
            count(run.mispredicted),
            count(run.branches),
            share(missed)
        ))
    })
}

fn caches(caches: &[CoreCache]) -> Vec<Block<'static>> {
    if caches.is_empty() {
        let hint = "No caches: --icache 1KiB,2,16 adds one of 1 KiB, 2 ways and lines of 16 bytes, and --dcache \
                    one for data.";
        return vec![Block::small(hint)];
    }
    let heads =
        ["cache of", "shape", "#accesses", "#hit rate", "#misses", "#cold, capacity, conflict"];
    let mut table = Table::of(&heads);
    for cache in caches {
        let CoreCache { name, ways, line_bytes, cold, capacity, conflict, .. } = cache;
        let bytes = f64::from(cache.sets) * f64::from(*ways) * f64::from(*line_bytes);
        let ways = counted((*ways).into(), "way");
        let shape = format!("{}, {ways}, {line_bytes} B lines", binary(bytes));
        let rate = or_dash(cache.hit_rate(), |rate| format!("{rate:.4}"));
        let classes = format!("{}, {}, {}", count(*cold), count(*capacity), count(*conflict));
        table.row([
            name.clone(),
            shape,
            count(cache.accesses),
            rate,
            count(cache.misses()),
            classes,
        ]);
    }
    let policy = caches.first().map_or("", |cache| cache.policy.as_str());
    let meaning = format!(
        "Replacement: {policy}. Cold: never accessed before. Capacity: a fully associative LRU cache of the same size also \
                   misses. Conflict: it would not."
    );
    let written = |cache: &CoreCache| {
        let parts = [(cache.written_back, "line back"), (cache.written_through, "store through")];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| {
            let (one, how) = noun.split_once(' ').unwrap_or((noun, ""));
            Some(format!("{} {how}", counted(n, one)))
        });
        let parts = wording::clauses(parts, ", ")?;
        Some(Block::small(format!("The cache of {} wrote {parts}.", cache.name)))
    };
    let mut blocks = vec![Block::heading(2, "Caches"), Block::Table(table), Block::small(meaning)];
    blocks.extend(caches.iter().filter_map(written));
    blocks
}

/// Returns the misses over the size of the instruction cache, one column and one bar for each kind of code.
fn curves(curves: &[CoreCurve]) -> Vec<Block<'static>> {
    let Some(first) = curves.first() else { return Vec::new() };
    let largest = curves
        .iter()
        .flat_map(|curve| curve.points.iter().filter_map(|point| curve.per_thousand(point.bytes)));
    let largest = largest.fold(1e-9, f64::max);
    let heads = curves.iter().flat_map(|curve| [format!("#{}", curve.name), String::new()]);
    let heads: Vec<String> = std::iter::once("cache".into()).chain(heads).collect();
    let mut table = Table::of(&heads);
    // Larger caches do not differ.
    let settled = |at: usize| {
        let is_last = |curve: &CoreCurve| {
            curve.points.get(at).map(|one| one.misses) == curve.points.last().map(|one| one.misses)
        };
        curves.iter().all(is_last)
    };
    let shown = (0..first.points.len()).find(|at| settled(*at)).unwrap_or(0) + 1;
    for point in first.points.iter().take(shown) {
        let cells = curves.iter().flat_map(|curve| {
            let rate = curve.per_thousand(point.bytes);
            [
                or_dash(rate, |rate| format!("{rate:.1}")),
                rate.map_or(String::new(), |rate| bar(rate / largest)),
            ]
        });
        table.row(std::iter::once(binary(point.bytes as f64)).chain(cells));
    }
    let sizes = curves.iter().map(|curve| {
        let bytes = counted(curve.text_bytes.into(), "byte");
        if curves.len() == 1 { bytes } else { format!("{}: {bytes}", curve.name) }
    });
    let sizes = sizes.collect::<Vec<_>>().join("; ");
    let ways = match first.ways {
        0 => "fully associative".into(),
        1 => "direct-mapped".into(),
        ways => format!("of {ways} ways"),
    };
    vec![
        Block::heading(2, "Misses per 1 000 instructions, by the size of the instruction cache"),
        Block::Table(table),
        Block::small(format!(
            "The caches are {ways}, with lines of {}. Size of the code: {sizes}.",
            counted(first.line_bytes.into(), "byte")
        )),
    ]
}

fn hottest(run: &CoreRun) -> Vec<Block<'static>> {
    let whole = run.cycles.max(1) as f64;
    let part = |cycles: u64| share(cycles as f64 / whole);
    let mut blocks = Vec::new();
    if run.functions.len() > 1 {
        let mut table = Table::of(&["function", "#cycles", "#share", "#instructions"]);
        for one in &run.functions {
            let numbers = [count(one.cycles), part(one.cycles), count(one.executions)];
            table.row([short(&one.name, 60)].into_iter().chain(numbers));
        }
        blocks.extend([Block::heading(2, "Functions"), Block::Table(table)]);
    }
    if !run.lines.is_empty() {
        let has_lines = run.lines.iter().any(|line| line.line.is_some());
        let heads = [
            "address",
            "instruction",
            "#cycles",
            "#share",
            "#times",
            if has_lines { "line" } else { "where" },
        ];
        let mut table = Table::of(&heads);
        for one in &run.lines {
            let place = match one.line {
                Some(line) => format!("{line} {}", short(&one.place, 30)),
                None => short(&one.place, 40),
            };
            let text: Text = short(&one.text, 60).into();
            let numbers = [count(one.cycles), part(one.cycles), count(one.executions), place];
            let first = [format!("{:x}", one.address).into(), text];
            table.row(first.into_iter().chain(numbers.map(Text::from)));
        }
        blocks.extend([Block::heading(2, "Hottest instructions"), Block::Table(table)]);
    }
    blocks
}
