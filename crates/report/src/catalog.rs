//! The catalog as text: what can be measured, before anything is.

use crate::format::{self, Terms};
use crate::text::{BOLD, DIM, bounded, columns, padded, paint, paragraph, wrapped};
use crate::words::{self, counted, short};
use model::{Center, Design, Factor, Level, Part, Profile, Quantity, Response, Unit};

/// The longest name that keeps its column; a longer one shifts its own line alone.
const NAME_COLUMNS_MAX: usize = 24;

/// One experiment per entry, by chapter: its name, its question, and how many treatments the
/// profile measures. With ANSI colours.
pub fn list(designs: &[Design], profile: Profile, width: usize) -> String {
    let width = bounded(width);
    let names = designs.iter().map(|design| columns(&design.id)).max().unwrap_or(0);
    let names = names.min(NAME_COLUMNS_MAX);
    let mut out = String::new();
    for (chapter, members) in chapters(designs) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{}\n", paint(BOLD, &short(chapter, width))));
        for design in members {
            let indent = " ".repeat(names + 4);
            let lines = wrapped(&design.question, width.saturating_sub(names + 4));
            for (index, line) in lines.iter().enumerate() {
                let before = if index == 0 {
                    format!("  {}  ", padded(&short(&design.id, width), names))
                } else {
                    indent.clone()
                };
                out.push_str(&format!("{before}{line}\n"));
            }
            let size = size(design, profile);
            for line in wrapped(&size, width.saturating_sub(names + 4)) {
                out.push_str(&format!("{indent}{}\n", paint(DIM, &line)));
            }
        }
    }
    out.push('\n');
    for line in wrapped("`scruple explain EXPERIMENT` says how each is measured and judged.", width)
    {
        out.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    out
}

fn size(design: &Design, profile: Profile) -> String {
    format!(
        "{} in profile {} · {} · {}",
        counted(design.treatments(profile).len() as u64, "treatment"),
        profile.name(),
        counted(design.responses.len() as u64, "response"),
        counted(design.claims.len() as u64, "claim")
    )
}

/// All that is to be known of one experiment before it is measured: what the trial does, its
/// factors and levels (those the profile leaves out are marked), its responses with their
/// definition cards, its findings, claims and controls. With ANSI colours.
pub fn explain(design: &Design, profile: Profile, width: usize) -> String {
    let width = bounded(width);
    let mut out = paragraph(&design.question, "", "", width);
    out = format!("{}\n", paint(BOLD, out.trim_end()));
    let about = format!(
        "{} · version {} · {} · {}",
        design.id,
        design.version,
        design.chapter,
        size(design, profile)
    );
    for line in wrapped(&about, width) {
        out.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    out.push_str(&section("What a trial does"));
    out.push_str(&paragraph(&design.method, "  ", "  ", width));
    out.push_str(&section("Factors"));
    for factor in &design.factors {
        out.push_str(&explain_factor(factor, profile, width));
    }
    out.push_str(&section("Responses"));
    for response in &design.responses {
        out.push_str(&explain_response(response, width));
    }
    out.push_str(&explain_findings(design, width));
    out.push_str(&explain_accounts(design, width));
    out.push_str(&explain_claims(design, width));
    out.push_str(&section("Needs and limits"));
    for line in needs(design) {
        out.push_str(&paragraph(&line, "  ", "  ", width));
    }
    out
}

fn section(title: &str) -> String {
    format!("\n{}\n", paint(BOLD, title))
}

fn explain_factor(factor: &Factor, profile: Profile, width: usize) -> String {
    let mut out = paragraph(&format!("{}: {}", factor.name, factor.about), "  ", "    ", width);
    let names = factor.levels.iter().map(|level| columns(&level.name)).max().unwrap_or(0);
    let names = names.min(NAME_COLUMNS_MAX);
    for level in &factor.levels {
        let first = format!("    {}  ", padded(&level.name, names));
        let indent = " ".repeat(names + 6);
        out.push_str(&paragraph(&level_about(factor, level, profile), &first, &indent, width));
    }
    out
}

fn level_about(factor: &Factor, level: &Level, profile: Profile) -> String {
    let mut about = level.about.clone();
    if about.is_empty() {
        about = "–".into();
    }
    if level.name == factor.baseline {
        about.push_str(" (baseline)");
    }
    if level.from > profile {
        about.push_str(&format!(" (from profile {} on)", level.from.name()));
    }
    about
}

fn explain_response(response: &Response, width: usize) -> String {
    let first = format!("{} ({}): {}", response.name, unit(&response.unit), words::label(response));
    let mut out = paragraph(&first, "  ", "    ", width);
    for line in card_lines(response) {
        out.push_str(&paragraph(&line, "    ", "      ", width));
    }
    out
}

/// The definition card of a response, one sentence a line.
pub(crate) fn card_lines(response: &Response) -> Vec<String> {
    let card = &response.card;
    let mut lines = Vec::new();
    if !card.from.is_empty() || !card.to.is_empty() {
        lines.push(format!("from {} to {}", card.from, card.to));
    }
    if !card.corrected.is_empty() {
        lines.push(format!("corrected: {}", card.corrected));
    }
    if let Some(cell) = &response.subtract {
        lines.push(format!("subtracted in analysis, block by block: {}", words::cell(cell)));
    }
    if !card.source.is_empty() {
        lines.push(format!("read from {}", card.source));
    }
    lines.push(format!("one number per trial: {}", center(response)));
    if let Some(twin) = &response.cpu_twin {
        lines.push(format!("where the wall clock was disturbed, {twin} stands in"));
    }
    lines
}

/// From where to where a response is measured and how it is corrected, in a line; `None` where its
/// card does not say.
pub(crate) fn definition(response: &Response) -> Option<String> {
    let card = &response.card;
    let mut parts = Vec::new();
    if !card.from.is_empty() || !card.to.is_empty() {
        parts.push(format!("from {} to {}", short(&card.from, 300), short(&card.to, 300)));
    }
    if !card.corrected.is_empty() {
        parts.push(short(&card.corrected, 300));
    }
    if parts.is_empty() {
        return None;
    }
    Some(format!("{}: {}.", words::label(response), parts.join("; ")))
}

/// How a trial's observations become its number.
pub(crate) fn center(response: &Response) -> &'static str {
    match response.center {
        _ if response.exact => "computed twice, with the same outcome",
        Center::Median => "the median of its observations",
        Center::Mean => "the mean of its observations",
        Center::Sum => "the sum of its observations",
        Center::Max => "the largest of its observations",
    }
}

/// The unit's name in words.
pub(crate) fn unit(unit: &Unit) -> String {
    match unit {
        Unit::Ns => "ns".into(),
        Unit::Bytes => "bytes".into(),
        Unit::Count => "count".into(),
        Unit::Ppm => "ppm".into(),
        Unit::PerSecond => "per second".into(),
        Unit::Other(name) => short(name, NAME_COLUMNS_MAX),
    }
}

fn explain_findings(design: &Design, width: usize) -> String {
    let mut out = String::new();
    if !design.findings.is_empty() {
        out.push_str(&section("What it will say"));
        for finding in &design.findings {
            out.push_str(&paragraph(&finding.sentence.replace("{}", "…"), "  ", "    ", width));
        }
    }
    out
}

fn explain_accounts(design: &Design, width: usize) -> String {
    let mut out = String::new();
    if !design.accounts.is_empty() {
        out.push_str(&section("What it will account for"));
    }
    for account in &design.accounts {
        let title = format!("{}: {}", account.title, words::term(&account.total, design));
        out.push_str(&paragraph(&title, "  ", "    ", width));
        for part in &account.parts {
            out.push_str(&paragraph(&part_line(part, design), "    ", "      ", width));
        }
        out.push_str(&paragraph("and the rest, which these leave over", "    ", "    ", width));
    }
    out
}

/// "page faults: faults per operation, at mechanism fork × time of a fault".
fn part_line(part: &Part, design: &Design) -> String {
    let (count, each) = (words::term(&part.count, design), words::term(&part.each, design));
    format!("{}: {count} × {each}", part.label)
}

fn explain_claims(design: &Design, width: usize) -> String {
    let mut out = String::new();
    if !design.claims.is_empty() {
        out.push_str(&section("What people say"));
    }
    for claim in &design.claims {
        let text = format!("“{}” ({})", claim.text, claim.source);
        out.push_str(&paragraph(&text, "  ", "    ", width));
        if !claim.mechanism.is_empty() {
            out.push_str(&paragraph(
                &format!("because {}", claim.mechanism),
                "    ",
                "    ",
                width,
            ));
        }
        out.push_str(&paragraph(&condition(design, claim), "    ", "    ", width));
    }
    if !design.controls.is_empty() {
        out.push_str(&section("Controls"));
    }
    for control in &design.controls {
        let (a, b) = (words::cell(&control.a), words::cell(&control.b));
        let text = format!("{} must not differ: {a} against {b}", control.response);
        out.push_str(&paragraph(&text, "  ", "    ", width));
    }
    out
}

fn condition(design: &Design, claim: &model::Claim) -> String {
    let terms = design_terms(design, &claim.quantity);
    format!(
        "true if {} is {}",
        words::quantity(&claim.quantity, Some(design)),
        words::region(claim.holds_if, terms)
    )
}

/// The terms of a quantity that has no result yet.
fn design_terms<'a>(design: &'a Design, quantity: &Quantity) -> Terms<'a> {
    use Quantity as Q;
    match quantity {
        Q::Ratio { .. } | Q::Proportion { .. } => Terms::Times,
        Q::Share { .. } => Terms::Share,
        Q::Frequency { .. } => Terms::Frequency,
        Q::Exponent { .. } | Q::Linearity { .. } => Terms::Plain,
        Q::Value { response, .. } | Q::Difference { response, .. } => {
            design.response(response).map_or(Terms::Plain, |response| Terms::In(&response.unit))
        }
    }
}

/// What a machine must have for the trials, and the limits they keep; one sentence a line.
pub(crate) fn needs(design: &Design) -> Vec<String> {
    let needs = &design.needs;
    let mut lines = Vec::new();
    if needs.cpus > 0 {
        lines.push(format!("{} for its trials", counted(needs.cpus.into(), "CPU")));
    }
    if needs.memory_bytes > 0 {
        let bytes = format::rounded(needs.memory_bytes as f64, Terms::In(&Unit::Bytes));
        lines.push(format!("{bytes} of memory for its largest treatment"));
    }
    if needs.disk_bytes > 0 {
        let bytes = format::rounded(needs.disk_bytes as f64, Terms::In(&Unit::Bytes));
        lines.push(format!("{bytes} of disk for its largest treatment"));
    }
    lines.extend(needs.privileges.iter().cloned());
    lines.push(format!(
        "measured until intervals are within ±{} of the point (half their width); a trial is \
         killed after {}",
        format::rounded(design.precision, Terms::Share),
        format::rounded(design.time_limit_ms as f64 * 1e6, Terms::In(&Unit::Ns))
    ));
    lines
}

/// Chapters in the order of their first experiment, each with its experiments in order.
pub(crate) fn chapters(designs: &[Design]) -> Vec<(&str, Vec<&Design>)> {
    let mut chapters: Vec<(&str, Vec<&Design>)> = Vec::new();
    for design in designs {
        match chapters.iter_mut().find(|(name, _)| *name == design.chapter) {
            Some((_, members)) => members.push(design),
            None => chapters.push((&design.chapter, vec![design])),
        }
    }
    chapters
}

/// The whole catalog as Markdown: docs/experiments.md.
pub fn markdown(designs: &[Design]) -> String {
    let mut out = String::from(
        "# What scruple measures\n\nGenerated from the catalog; change the experiments, not this file.\n",
    );
    for (chapter, members) in chapters(designs) {
        out.push_str(&format!("\n## {}\n", escaped(chapter)));
        for design in members {
            out.push_str(&markdown_experiment(design));
        }
    }
    out
}

fn markdown_experiment(design: &Design) -> String {
    let mut out = format!(
        "\n### {}\n\n**{}**\n\n{}\n\n",
        escaped(&design.id),
        escaped(&design.question),
        escaped(&design.method)
    );
    out.push_str("| factor | level | from profile | what the trial does |\n|---|---|---|---|\n");
    for factor in &design.factors {
        for level in &factor.levels {
            let baseline = if level.name == factor.baseline { " (baseline)" } else { "" };
            out.push_str(&format!(
                "| {} | {}{baseline} | {} | {} |\n",
                escaped(&factor.name),
                escaped(&level.name),
                level.from.name(),
                escaped(&level.about)
            ));
        }
    }
    out.push_str("\n| response | unit | what is measured |\n|---|---|---|\n");
    for response in &design.responses {
        let card = card_lines(response).join("; ");
        out.push_str(&format!(
            "| `{}` | {} | {}: {} |\n",
            response.name,
            escaped(&unit(&response.unit)),
            escaped(&response.label),
            escaped(&card)
        ));
    }
    out.push_str(&markdown_findings(design));
    if !design.claims.is_empty() {
        out.push_str("\n| claim | who says it | why | true if |\n|---|---|---|---|\n");
    }
    for claim in &design.claims {
        out.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            escaped(&claim.text),
            escaped(&claim.source),
            escaped(&claim.mechanism),
            escaped(condition(design, claim).trim_start_matches("true if "))
        ));
    }
    out
}

/// What it will say and account for, and what it needs.
fn markdown_findings(design: &Design) -> String {
    let mut out = String::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push_str(&format!("\n{title}:\n\n"));
        }
        lines.iter().for_each(|line| out.push_str(&format!("- {}\n", escaped(line))));
    };
    let said = design.findings.iter().map(|finding| finding.sentence.replace("{}", "…"));
    list("What it will say", said.collect());
    let accounts = design.accounts.iter().map(|account| {
        let parts: Vec<String> = account.parts.iter().map(|part| part_line(part, design)).collect();
        format!("{}, made of: {}; and the rest", account.title, parts.join("; "))
    });
    list("What it will account for", accounts.collect());
    list("Needs and limits", needs(design));
    out
}

/// Text that cannot end a cell of a Markdown table or become markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
