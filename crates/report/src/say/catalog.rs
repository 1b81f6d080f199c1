//! What can be measured, before anything is: the catalog, an experiment of it, the card of a number.

use super::chapter::Chapter;
use super::topic;
use crate::doc::{Block, Doc, Kind, Role, Table, Text, Tone};
use crate::paint;
use crate::words;
use model::{
    Card, Center, Claim, Design, Part, Preset, Profile, Quantity, Response, Treatment, Unit,
};
use wording::number::{Terms, rounded, share, terms_of};
use wording::{capital, counted, short, stated};

/// Characters of a definition's part: a bound for text from outside, beyond any of the catalog.
const SENTENCE_CHARACTERS: usize = 1000;

/// Sentences of a method, and levels, findings or claims, that a terminal shows unasked.
const METHOD_SENTENCES: usize = 2;
const LINES_MAX: usize = 3;

/// Experiments, figures, claims and commands that are named for some words, of each.
const FOUND_MAX: usize = 6;

/// Returns one experiment per entry, by chapter: its name, its question, and how many treatments the
/// profile measures; for a terminal of `width` columns, with ANSI colours.
pub fn list(designs: &[Design], profile: Profile, width: usize) -> String {
    let mut doc = Doc::new("", "the catalog", "the catalog");
    for (chapter, members) in chapters(designs) {
        doc.push(Block::heading(2, chapter));
        let mut table = Table::of(&["", ""]);
        for design in members {
            table.row([design.id.as_str(), &design.question]);
            table.toned(Tone::Quiet, [String::new(), size(design, profile)]);
        }
        doc.push(Block::Table(table));
    }
    let more = "`scruple explain EXPERIMENT` says how each is measured and judged.";
    doc.push(Block::small(more));
    doc.text(width)
}

/// Returns each preset with its question, for a terminal of `width` columns, with ANSI colours.
pub fn presets(presets: &[Preset], width: usize) -> String {
    let mut doc = Doc::new("", "the presets", "the presets");
    doc.push(Block::heading(2, "Presets: one question, several experiments"));
    let mut table = Table::of(&["", ""]);
    presets.iter().for_each(|preset| table.row([preset.name.as_str(), &preset.question]));
    doc.push(Block::Table(table));
    doc.push(Block::small("`scruple run PRESET` measures one."));
    doc.text(width)
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

/// Returns an experiment before it is measured: what the trial does, what is varied and measured, the
/// first findings and claims, each in a line. `all` gives each factor with its levels (those the profile
/// leaves out are pale), each response with its definition, all findings, claims and controls. For a
/// terminal of `width` columns, with ANSI colours.
pub fn explain(design: &Design, profile: Profile, width: usize, all: bool) -> String {
    let mut doc = Doc::new("", "an experiment", design.id.clone());
    doc.push(Block::heading(1, design.question.clone()));
    let size = size(design, profile);
    let about = format!("{} · version {} · {} · {size}", design.id, design.version, design.chapter);
    doc.push(Block::paragraph(Role::Lead, about));
    doc.push(Block::heading(4, "What a trial does"));
    doc.blocks.extend(if all { experiment(design, profile) } else { in_short(design) });
    doc.text(width)
}

/// Returns what knows about some words: experiments with their questions, figures and claims in which the words
/// stand, presets, and the commands among `commands` (name and purpose); for a terminal of `width` columns,
/// with ANSI colours. `None` if nothing does.
pub fn about(
    phrase: &str,
    designs: &[Design],
    presets: &[Preset],
    commands: &[(String, String)],
    width: usize,
) -> Option<String> {
    let named = |text: &str| topic::names(text, phrase);
    let experiments = topic::experiments_about(phrase, designs);
    let row = |name: &str, text: &str| [name.to_string(), text.to_string()];
    let presets = presets.iter().filter(|it| named(&it.name) || named(&it.question));
    let figures = experiments.iter().flat_map(|design| {
        let figures = design.figures.iter().enumerate();
        let figures =
            figures.filter(|(_, it)| named(&it.title) || it.words.iter().any(|it| named(it)));
        figures.map(|(at, figure)| row(&format!("{}-chart-{}", design.id, at + 1), &figure.title))
    });
    let claims = experiments.iter().flat_map(|design| {
        let claims = design.claims.iter().filter(|claim| named(&claim.text));
        claims.map(|claim| row(&design.id, &format!("“{}”", claim.text)))
    });
    let commands = commands.iter().filter(|(name, about)| named(name) || named(about));
    let lists: [(&str, &str, Vec<[String; 2]>); 5] = [
        (
            "Experiments",
            "`scruple run NAME` measures one, `scruple explain NAME` says how.",
            experiments.iter().map(|it| row(&it.id, &it.question)).collect(),
        ),
        ("Presets", "", presets.map(|it| row(&it.name, &it.question)).collect()),
        ("Figures", "`scruple figure NAME -o FILE` saves one.", figures.collect()),
        ("What people say", "`scruple run NAME` judges it.", claims.collect()),
        (
            "Commands",
            "",
            commands.map(|(name, about)| row(&format!("scruple {name}"), about)).collect(),
        ),
    ];
    let mut doc = Doc::new("", "words", phrase.to_string());
    for (title, remark, mut rows) in lists {
        if rows.is_empty() {
            continue;
        }
        doc.push(Block::heading(4, title));
        rows.truncate(FOUND_MAX);
        let mut table = Table::of(&["", ""]);
        rows.into_iter().for_each(|row| table.row(row));
        doc.push(Block::Table(table));
        if !remark.is_empty() {
            doc.push(Block::small(remark));
        }
    }
    (!doc.blocks.is_empty()).then(|| doc.text(width))
}

/// Returns the most important of what [`experiment`] returns.
fn in_short(design: &Design) -> Vec<Block<'static>> {
    let method = design.method.split_inclusive(". ").take(METHOD_SENTENCES).collect::<String>();
    let levels = design.factors.iter().map(|factor| {
        let others = factor.levels.iter().map(|level| &level.name);
        let mut levels = vec![format!("{} (baseline)", factor.baseline)];
        levels.extend(others.filter(|name| **name != factor.baseline).cloned());
        let more = levels.split_off(levels.len().min(LINES_MAX)).len();
        levels.extend((more > 0).then(|| format!("{more} more")));
        format!("{}: {}: {}", factor.name, factor.about, wording::listed(&levels))
    });
    let measured = design.responses.iter().map(|response| {
        format!(
            "{}: {}, in {}",
            response.name,
            words::label(response),
            wording::unit(&response.unit)
        )
    });
    let found = design.findings.iter().map(|finding| words::without_number(&finding.sentence));
    let said = design.claims.iter().map(|claim| format!("“{}” ({})", claim.text, claim.source));
    let lists: [(&str, usize, Vec<String>); 4] = [
        ("What is varied", usize::MAX, levels.collect()),
        ("What is measured", usize::MAX, measured.collect()),
        ("What it will say", LINES_MAX, found.collect()),
        ("What people say", LINES_MAX, said.collect()),
    ];
    let mut blocks = vec![Block::plain(method.trim_end().to_string())];
    for (title, most, mut lines) in lists.into_iter().filter(|(.., lines)| !lines.is_empty()) {
        let more = lines.split_off(lines.len().min(most)).len();
        lines.extend((more > 0).then(|| format!("and {more} more")));
        blocks.extend([Block::heading(4, title), Block::list(lines)]);
    }
    let more = format!("scruple explain {} --all", design.id);
    let more = Text::from("Every level, definition, condition and limit: ").then(Text::code(more));
    blocks.push(Block::small(more));
    blocks
}

/// Returns the whole catalog as Markdown: docs/experiments.md.
pub fn markdown(designs: &[Design]) -> String {
    let mut doc = Doc::new("", "the catalog", "the catalog");
    doc.push(Block::heading(1, "What scruple measures"));
    let about = "Generated from the catalog; change the experiments, not this file.";
    doc.push(Block::plain(about));
    for (chapter, members) in chapters(designs) {
        doc.push(Block::heading(2, chapter));
        for design in members {
            doc.push(Block::heading(3, design.id.clone()));
            doc.push(Block::paragraph(Role::Answer, design.question.clone()));
            doc.blocks.extend(experiment(design, Profile::Thorough));
        }
    }
    paint::markdown(&doc)
}

/// Returns the chapters in the order of their first experiment, each with its experiments in order.
fn chapters(designs: &[Design]) -> Vec<(&str, Vec<&Design>)> {
    let mut chapters: Vec<(&str, Vec<&Design>)> = Vec::new();
    for design in designs {
        match chapters.iter_mut().find(|(name, _)| *name == design.chapter) {
            Some((_, members)) => members.push(design),
            None => chapters.push((&design.chapter, vec![design])),
        }
    }
    chapters
}

/// Returns what a trial of an experiment does and measures, what will be said of it, and what it needs.
fn experiment(design: &Design, profile: Profile) -> Vec<Block<'static>> {
    let mut responses = Table::of(&["response", "unit", "what is measured"]);
    for response in &design.responses {
        let what =
            format!("{}: {}", words::label(response), card_lines(response, false).join("; "));
        responses.row([
            Text::code(response.name.clone()),
            wording::unit(&response.unit).into(),
            what.into(),
        ]);
    }
    let mut blocks = vec![
        Block::plain(design.method.clone()),
        varied(design, profile),
        Block::heading(4, "Responses"),
        Block::Table(responses),
    ];
    let said = design.findings.iter().map(|finding| words::without_number(&finding.sentence));
    let accounts = design.accounts.iter().map(|account| {
        let parts: Vec<String> = account.parts.iter().map(|part| part_line(part, design)).collect();
        let (total, parts) = (words::term(&account.total, design), parts.join("; "));
        let title = &account.title;
        format!("{title}: {total}, made of: {parts}; and the rest, which these leave over")
    });
    let controls = design.controls.iter().map(|control| {
        let (a, b) = (words::cell(&control.a), words::cell(&control.b));
        format!("{} must not differ: {a} against {b}", control.response)
    });
    let lists: [(&str, Vec<String>); 5] = [
        ("What it will say", said.collect()),
        ("What it will account for", accounts.collect()),
        ("What people say", design.claims.iter().map(|claim| claimed(design, claim)).collect()),
        ("Controls", controls.collect()),
        ("Needs and limits", needs(design)),
    ];
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        blocks.extend([Block::heading(4, title), Block::list(lines)]);
    }
    blocks
}

/// Returns the factors with their levels; those that the profile leaves out are pale.
fn varied(design: &Design, profile: Profile) -> Block<'static> {
    let mut table = Table::of(&["factor", "level", "from profile", "what the trial does"]);
    let planned = design.treatments(Profile::Thorough);
    for factor in &design.factors {
        if !factor.about.is_empty() {
            let none = String::new;
            table.row([factor.name.clone(), none(), none(), factor.about.clone()]);
        }
        for level in &factor.levels {
            let baseline = if level.name == factor.baseline { " (baseline)" } else { "" };
            let tone = if level.from > profile { Tone::Quiet } else { Tone::Plain };
            let about = if level.about.is_empty() { "–" } else { &level.about };
            let name = format!("{}{baseline}", level.name);
            let is_planned = |it: &Treatment| it.level(&factor.name) == Some(level.name.as_str());
            // Grids that follow the machine name no level before it is known.
            let follows_machine = !planned.iter().any(is_planned);
            let from = if follows_machine { "if the machine has it" } else { level.from.name() };
            table.toned(tone, [factor.name.clone(), name, from.into(), about.into()]);
        }
    }
    Block::Table(table)
}

/// Returns "page faults: faults per operation, at mechanism fork × time of a fault".
fn part_line(part: &Part, design: &Design) -> String {
    let (count, each) = (words::term(&part.count, design), words::term(&part.each, design));
    format!("{}: {count} × {each}", part.label)
}

/// Returns a claim, who makes it, why, and when it is true.
fn claimed(design: &Design, claim: &Claim) -> String {
    let because = stated(&claim.mechanism).map(|mechanism| format!(", because {mechanism}"));
    let because = because.unwrap_or_default();
    let quantity = words::quantity(&claim.quantity, design);
    let response = design.response(claim.quantity.response());
    let terms = terms_of(&claim.quantity, response.map(|response| &response.unit));
    let shown = words::Shown::of(design, &claim.id, terms);
    let region = shown.region(&claim.quantity, claim.holds_if);
    format!("“{}” ({}){because}; true if {quantity} is {region}", claim.text, claim.source)
}

/// Returns the definition card of a response, one sentence a line. `whole` also says what the card leaves
/// open: a reader is not to guess whether nothing was corrected or nobody said so.
fn card_lines(response: &Response, whole: bool) -> Vec<String> {
    let card = &response.card;
    let open = |what: &str| whole.then(|| what.to_string());
    let corrected = stated(&card.corrected).map(|how| format!("corrected: {how}"));
    let subtracted = response.subtract.as_ref().map(words::cell);
    let uncorrected = corrected.is_none() && subtracted.is_none();
    let twin = response.cpu_twin.as_ref();
    let lines = [
        from_to(card).or_else(|| open("from where to where: the card does not say")),
        corrected,
        subtracted.map(|cell| format!("subtracted in analysis, block by block: {cell}")),
        open("corrected: nothing is divided or subtracted").filter(|_| uncorrected),
        stated(&card.source)
            .map(|source| format!("read from {source}"))
            .or_else(|| open("read from: the card does not say")),
        Some(format!("one number per trial: {}", center(response))),
        twin.map(|twin| format!("what other programs took is subtracted; CPU time: {twin}")),
    ];
    lines.into_iter().flatten().collect()
}

/// Returns from where to where a response is measured and how it is corrected, in a line; `None` where its
/// card does not say.
pub(crate) fn definition(response: &Response) -> Option<String> {
    let card = &response.card;
    let corrected = stated(&card.corrected).map(|how| short(how, SENTENCE_CHARACTERS));
    let parts = wording::clauses([from_to(card), corrected], "; ")?;
    Some(format!("{}: {parts}.", words::label(response)))
}

/// Returns how a trial's observations become its number.
fn center(response: &Response) -> &'static str {
    match response.center {
        _ if response.exact => "computed",
        Center::Median => "the median of its observations",
        Center::Mean => "the mean of its observations",
        Center::Sum => "the sum of its observations",
        Center::Max => "the largest of its observations",
    }
}

fn from_to(card: &Card) -> Option<String> {
    let known = !card.from.is_empty() || !card.to.is_empty();
    known.then(|| {
        format!(
            "from {} to {}",
            short(&card.from, SENTENCE_CHARACTERS),
            short(&card.to, SENTENCE_CHARACTERS)
        )
    })
}

/// Returns what a machine must have for the trials, and the limits they keep; one sentence a line.
fn needs(design: &Design) -> Vec<String> {
    let needs = &design.needs;
    let cpus =
        (needs.cpus > 0).then(|| format!("{} for its trials", counted(needs.cpus.into(), "CPU")));
    let largest = [(needs.memory_bytes, "memory"), (needs.disk_bytes, "disk")];
    let largest = largest.into_iter().filter(|(bytes, _)| *bytes > 0).map(|(bytes, of)| {
        let bytes = rounded(bytes as f64, Terms::In(&Unit::Bytes));
        format!("{bytes} of {of} for its largest treatment")
    });
    let limits = format!(
        "measured until intervals are within ±{} of the point (half their width); a trial is \
         killed after {}",
        share(design.precision),
        rounded(design.time_limit_ms as f64 * 1e6, Terms::In(&Unit::Ns))
    );
    let privileges = needs.privileges.iter().cloned();
    cpus.into_iter().chain(largest).chain(privileges).chain([limits]).collect()
}

/// Returns the definition of a number, where findings and claims are also about other responses of its
/// unit: numbers of one unit are easily taken for the same.
pub(crate) fn of_quantity(chapter: &Chapter<'_>, quantity: &Quantity) -> Option<String> {
    let response = chapter.design.response(quantity.response())?;
    let mut others = chapter.asked().filter_map(|other| chapter.design.response(other.response()));
    others
        .any(|other| other.name != response.name && other.unit == response.unit)
        .then(|| definition(response))
        .flatten()
        .map(|text| capital(&text))
}

/// Returns the definition cards of some responses.
pub(crate) fn cards<'r>(responses: impl Iterator<Item = &'r Response>) -> Block<'static> {
    Block::Columns(Kind::Cards, responses.map(card).collect())
}

fn card(response: &Response) -> Vec<Block<'static>> {
    let name = Text::strong(capital(&words::label(response)))
        .then(" ")
        .then(Text::code(response.name.clone()))
        .then(Text::quiet(format!(", in {}", wording::unit(&response.unit))));
    vec![Block::plain(name), Block::list(card_lines(response, true))]
}

/// Returns how the trials work, what they vary and what they need.
pub(crate) fn method(design: &Design) -> Vec<Block<'static>> {
    let needs = needs(design).into_iter().map(|line| capital(&line));
    vec![
        Block::plain(design.method.clone()),
        Block::heading(3, "Needs and limits"),
        Block::list(needs),
        Block::heading(3, "What is varied"),
        varied(design, Profile::Thorough),
    ]
}
