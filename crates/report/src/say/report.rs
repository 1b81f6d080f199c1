//! A session as a page, what people say beside what it says as another, and both for a terminal.

use super::chapter::{Chapter, chapters, chapters_without_figures};
use super::claims::{self, FLOOR_MEANING, said, tally};
use super::{
    conditions, disturbance, experiment, finding, machine, main_answers, numbers, opening, planted,
    trials, trust,
};
use crate::chart::{self, letters::KEY};
use crate::doc::{Block, Claim, Doc, Role, Text, Tone};
use crate::paint::{self, Folds};
use crate::text::{self, Letters};
use crate::words::{self, anchor};
use crate::{CLAIMS_PAGE, REPORT_PAGE, Session};
use model::{Profile, Quantity, Verdict};
use wording::{capital, counted, moment, short};

/// Warnings that are shown at the end of a run.
const WARNINGS_MAX: usize = 4;

/// A session of fewer experiments than this shows all answers from the start.
const FEW: usize = 4;

/// Claims of an experiment that a terminal shows unasked: of a few experiments, and of many.
const CLAIMS_MAX: usize = 3;
const CLAIMS_OF_MANY: usize = 2;

/// More experiments than these show no figures unasked.
const FEW_EXPERIMENTS: usize = 6;

/// Refuted claims at the end of a run: the most that there is room for.
const REFUTED: [usize; 6] = [usize::MAX, 20, 10, 5, 3, 0];

/// By so much a page of the profile `quick` is smaller than any page may be: two million bytes.
const QUICK_LESS_BYTES: usize = 600_000;

/// The parts of the page after its chapters: their addresses and names.
const AFTER: [(&str, &str); 3] = [
    ("environment", "The machine"),
    ("harness", "What measuring cost"),
    ("repeat", "How to repeat it"),
];

/// Returns the whole report as one self-contained HTML page: no script, style, font or picture comes
/// from elsewhere, and every text from outside is escaped. It links to the page of claims, which
/// is to lie beside it under the name of [`CLAIMS_PAGE`].
pub fn html(session: &Session<'_>) -> String {
    let more = Text::from(" All of them stand in ").then(Text::link(CLAIMS_PAGE, CLAIMS_PAGE));
    report(session, more.then(" beside this file, and in the chapters."))
}

/// Returns the report without a link to the page of claims: for a file that goes elsewhere alone.
pub fn html_alone(session: &Session<'_>) -> String {
    report(session, " All of them stand in the chapters.".into())
}

/// Returns what people say beside what this machine says, as one self-contained page: every claim of the
/// session with its source, mechanism, verdict, number, floor and grade; refuted claims first.
pub fn claims_html(session: &Session<'_>) -> String {
    let chapters = chapters_without_figures(session);
    let mut doc = document(session, "What people say · ");
    doc.kind = Text::link("The whole report", REPORT_PAGE)
        .then(format!(" · scruple, a session of {}", moment(session.manifest.started_unix_ms)));
    doc.push(Block::heading(1, "What people say, what this machine says"));
    doc.push(opening::lead(session));
    doc.blocks.extend(trust::warning(session));
    match said(&chapters) {
        None => doc.push(Block::plain("No claim was tested in this session.")),
        Some(said) => doc.blocks.extend([
            Block::plain(Text::strong(said)),
            Block::Anchored("grades", claims::grade_meaning(session).into()),
            how_to_read(),
            Block::Section("claims".into(), by_verdict(&chapters)),
        ]),
    }
    paint::page(&doc, "")
}

fn report(session: &Session<'_>, all_claims: Text) -> String {
    let chapters = chapters(session);
    let mut doc = document(session, "");
    let about = format!("{} {}", opening::title(session), opening::host(session));
    doc.push(Block::heading(1, about));
    doc.push(opening::lead(session));
    doc.push(main_answers::trusted(session));
    doc.blocks.extend(opening::before(session));
    doc.blocks.extend(main_answers::picture(&chapters));
    doc.push(main_answers::links(
        said(&chapters).map(|said| Text::from(said).then(all_claims)),
        &AFTER,
    ));
    let all = vec![opening::key(session), opening::answers(&chapters)];
    doc.push(Block::details(
        "all-answers",
        "The answer of every experiment",
        chapters.len() < FEW,
        all,
    ));

    let link = |(place, name): &(&str, &str)| Text::link(*name, format!("#{place}"));
    doc.push(Block::Section("trust".into(), trust::trust(session)));
    for chapter in &chapters {
        let mut blocks = vec![opening::heading(chapter)];
        blocks.extend(experiment::chapter(session, chapter, None));
        doc.push(Block::Chapter(anchor(&chapter.summary.id), blocks));
    }
    let parts =
        [machine::environment(session), machine::harness(session), machine::repeat(session)];
    for ((place, _), blocks) in AFTER.iter().zip(parts) {
        doc.push(Block::Section((*place).into(), blocks));
    }
    doc.contents = [("opening", "The answers"), ("trust", "Trust")].iter().map(link).collect();
    doc.contents.extend(chapters.iter().map(|chapter| link_to("", chapter)));
    doc.contents.extend(AFTER.iter().map(link));
    let chapters = &chapters;
    let less =
        if session.manifest.options.profile <= Profile::Quick { QUICK_LESS_BYTES } else { 0 };
    doc.data =
        Some(Box::new(move |room| trials::data(session, chapters, room.saturating_sub(less))));
    paint::page(&doc, include_str!("front.css"))
}

/// What made a page, for somebody who has the page alone.
const WHAT_IT_IS: &str = "scruple weighs what concurrency costs on Linux";

/// Returns an empty page of a session.
fn document<'a>(session: &Session<'_>, title: &str) -> Doc<'a> {
    let (manifest, by) = (session.manifest, &session.summary.scruple);
    let mut doc = Doc::new(by, "", format!("{title}{}", manifest.session));
    doc.kind = format!("{WHAT_IT_IS} · a session of {}", moment(manifest.started_unix_ms)).into();
    doc.source = source(session);
    doc.footer = Text::filled(
        "Measured by scruple {}, analysed by scruple {}. Every number on this page can be computed \
         again from {} beside it; this file needs no network.",
        [manifest.scruple.as_str().into(), by.as_str().into(), Text::code("trials.ndjson")],
    );
    doc
}

/// Returns where the numbers of a figure come from, for those who see it without its page.
pub(super) fn source(session: &Session<'_>) -> String {
    let manifest = session.manifest;
    let date = moment(manifest.started_unix_ms);
    let (host, name) = (opening::host(session), short(&manifest.session, 64));
    format!("{host}, {date}, session {name}, scruple {}", short(&manifest.scruple, 40))
}

/// Returns how to read a row of the page of claims.
fn how_to_read() -> Block<'static> {
    let test = "Each block of trials gives one number. A claim is supported or refuted if more blocks \
                lie inside or outside the region that would make it true than chance explains: at most \
                5 % of sessions hold a wrong verdict on a claim (exact sign test over blocks, \
                Hommel's correction over all claims of the session). Otherwise it is inconclusive. The A/A \
                controls and the planted answers are tested apart, with 5 % each. Shaded: the region. \
                Bar: the 95 % confidence interval measured here.";
    let floors = format!(
        "{FLOOR_MEANING} The floor of the verdict is after that correction, as if no other claim were \
         decided."
    );
    Block::fold("How to read this page", vec![Block::small(test), Block::small(floors)])
}

/// Returns all claims, by their verdicts.
fn by_verdict<'a>(chapters: &[Chapter<'_>]) -> Vec<Block<'a>> {
    let section = |verdict: Verdict| {
        let of = chapters.iter().flat_map(|chapter| {
            let own = chapter.summary.claims.iter().filter(move |claim| claim.verdict == verdict);
            own.map(move |claim| with_home(chapter, claims::claim(chapter, claim)))
        });
        let word = words::verdict(verdict);
        let head = format!("{} {}", words::mark(verdict), capital(word));
        Block::Section(word.into(), vec![Block::heading(2, head), Block::Claims(of.collect())])
    };
    tally(chapters).into_iter().map(|(verdict, _)| section(verdict)).collect()
}

/// Returns a claim with the experiment that it belongs to.
fn with_home(chapter: &Chapter<'_>, mut claim: Claim) -> Claim {
    let question = format!(", {}", short(&chapter.summary.question, 200));
    let home = Text::strong("Measured by: ").then(link_to(REPORT_PAGE, chapter));
    claim.about.push(home.then(question));
    claim
}

/// Returns an experiment's name, which leads to its chapter on a page.
fn link_to(page: &str, chapter: &Chapter<'_>) -> Text {
    let id = &chapter.summary.id;
    Text::link(short(id, 64), format!("{page}#{}", anchor(id)))
}

/// Returns a session for a terminal of `width` columns, with ANSI colours: each experiment's question,
/// answer, first figure and most important claims, and what may be trusted. In about `height` lines, it is a
/// picture of the main answers of the catalog and as many of the refuted claims as there is room for.
pub fn terminal(
    session: &Session<'_>,
    width: usize,
    letters: Letters,
    height: Option<usize>,
) -> String {
    let mut chapters = chapters_without_figures(session);
    chapters.iter_mut().for_each(|chapter| chapter.draw(session));
    let chapters = &chapters;
    let few = chapters.len() <= FEW_EXPERIMENTS;
    let claims = if few { CLAIMS_MAX } else { CLAIMS_OF_MANY };
    let visible = |letters: Option<Letters>| {
        let drawn = chapters.iter().flat_map(|chapter| visible(chapter, letters, claims));
        let more = said(chapters).map(Block::plain);
        let trust = [Block::heading(2, trust::QUESTION), trust::answer(session)];
        let blocks = drawn.chain(more).chain(trust).chain(last(session, WARNINGS_MAX));
        printed(session, blocks.collect()).text(width)
    };
    let Some(height) = height else { return visible(Some(letters).filter(|_| few)) };
    // The table of a user's programs is never left out; the whole catalog does not fit with its claims.
    let is_catalog = session.manifest.options.inquiry.is_none();
    let layouts = [Some(letters), None].into_iter().filter(|_| few || !is_catalog).map(visible);
    let pictures = REFUTED.into_iter().filter(|_| is_catalog);
    let pictures =
        pictures.map(|most| printed(session, brief(session, chapters, most)).text(width));
    let mut last = String::new();
    for text in layouts.chain(pictures) {
        if text.lines().count() <= height {
            return text;
        }
        last = text;
    }
    last
}

fn printed<'a>(session: &Session<'_>, blocks: Vec<Block<'a>>) -> Doc<'a> {
    let mut doc = Doc::new(&session.summary.scruple, "a session", "a session");
    doc.push(opening::lead(session));
    doc.blocks.extend(trust::warning(session));
    doc.blocks.extend(opening::incomplete(session));
    doc.blocks.extend(conditions::conditions(session));
    doc.blocks.extend(blocks);
    doc
}

/// Returns an experiment's question, answer, first figure in these letters, and at most `most` of its claims.
fn visible<'a>(chapter: &'a Chapter<'a>, letters: Option<Letters>, most: usize) -> Vec<Block<'a>> {
    let mut blocks = vec![opening::heading(chapter)];
    blocks.extend(numbers::overview(chapter));
    blocks.push(Block::plain(opening::answer(chapter)));
    let first = chapter.summary.findings.first().map(|finding| &finding.result);
    let remark =
        first.filter(|it| it.of_means.is_some() || it.lost.is_some()).and_then(finding::remark);
    blocks.extend(remark.map(|text| Block::paragraph(Role::Caveat, text)));
    let ratios = chapter.summary.findings.iter().skip(1).filter(|finding| {
        let quantity = &finding.result.quantity;
        let same = first.map(|first| first.quantity.response()) == Some(quantity.response());
        let about = || first.map(|first| varied(&first.quantity)) == Some(varied(quantity));
        chapter.is_study() && same && matches!(quantity, Quantity::Ratio { .. }) && about()
    });
    let ratios: Vec<Text> = ratios.map(|finding| finding::sentence(chapter, finding)).collect();
    blocks.extend((!ratios.is_empty()).then(|| Block::List(ratios)));
    let figure = chapter.figures.first().filter(|_| letters.is_some());
    blocks.extend(
        figure
            .map(|figure| Block::Figure(chart::shown(figure, String::new(), letters, Vec::new()))),
    );
    blocks.push(Block::Claims(claims::key(chapter, most)));
    let all = chapter.summary.claims.len();
    blocks.extend(Block::left_out(all, most, "more claim", ""));
    blocks
}

/// Returns the factors in which the sides of a ratio differ.
fn varied(quantity: &Quantity) -> Vec<&String> {
    let Quantity::Ratio { of, to, .. } = quantity else { return Vec::new() };
    of.0.keys().filter(|name| of.0.get(*name) != to.0.get(*name)).collect()
}

/// Returns the main answers as a picture, the first of the refuted claims, and whether to trust them.
fn brief<'a>(session: &Session<'_>, chapters: &'a [Chapter<'a>], most: usize) -> Vec<Block<'a>> {
    let has_picture = chapters.iter().any(|chapter| !chapter.design.headlines.is_empty());
    let mut blocks = if has_picture {
        main_answers::picture(chapters)
    } else {
        vec![opening::answers(chapters)]
    };
    let all = chapters.iter().flat_map(|chapter| {
        let refuted = chapter.summary.claims.iter().filter(|it| it.verdict == Verdict::Refuted);
        refuted.map(move |claim| (chapter, claim))
    });
    let shown = all.take(most).map(|(chapter, claim)| claims::claim(chapter, claim));
    blocks.push(Block::Claims(shown.collect()));
    blocks.extend(said(chapters).map(Block::plain));
    let (tone, text) = trust::line(session);
    let warnings = disturbance::warnings(session).len() as u64;
    let more = (warnings > 0).then(|| format!(" ({} in the report)", counted(warnings, "warning")));
    blocks.push(Block::note(tone, format!("{text}{}.", more.unwrap_or_default())));
    blocks
}

/// Returns what the harness cost, and at most `most` warnings.
fn last<'a>(session: &Session<'_>, most: usize) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if most == usize::MAX {
        blocks.push(Block::small(FLOOR_MEANING));
        if session.summary.experiments.iter().any(|experiment| !experiment.claims.is_empty()) {
            blocks.push(Block::small(claims::grade_meaning(session)));
        }
        blocks.extend(machine::harness_sentence(session).map(Block::small));
    }
    let warnings = disturbance::warnings(session);
    let shown = warnings.iter().take(most);
    blocks.extend(shown.map(|text| Block::note(Tone::Care, wording::cleaned(text))));
    let more = words::left_out(warnings.len(), most, "more warning");
    blocks.extend(more.map(|more| Block::note(Tone::Care, format!("{more} in the report"))));
    blocks
}

/// Returns experiments of a session drawn for a terminal of `width` columns (40 to 160), with ANSI
/// colours: each of those named, or all where none is, with its question, answer, why, first figure and claims,
/// and what else there is, which `all` prints. A name that the session does not hold draws nothing.
pub fn charts(
    session: &Session<'_>,
    experiments: &[String],
    width: usize,
    letters: Letters,
    all: bool,
) -> String {
    let mut chapters = chapters_without_figures(session);
    chapters.retain(|one| experiments.is_empty() || experiments.contains(&one.summary.id));
    chapters.iter_mut().for_each(|chapter| chapter.draw(session));
    let drawn = chapters.iter().flat_map(|chapter| {
        let blocks = match all {
            true => experiment::chapter(session, chapter, Some(letters)),
            false => experiment::in_short(session, chapter, letters),
        };
        std::iter::once(opening::heading(chapter)).chain(blocks)
    });
    let key = std::iter::once(Block::small(KEY));
    let (folds, last) = match all {
        true => (Folds::Open, last(session, usize::MAX)),
        false => (Folds::Closed, Vec::new()),
    };
    let trust = [Block::heading(2, trust::QUESTION), trust::answer(session)];
    let doc = printed(session, key.chain(drawn).chain(trust).chain(last).collect());
    letters.of_lines(&paint::text(&doc, text::bounded(width), folds), width)
}

/// Returns what a session holds in a line: its experiments, how many claims have which verdict, and whether it
/// can be trusted.
pub fn in_a_line(session: &Session<'_>) -> String {
    let chapters = chapters_without_figures(session);
    let experiments = counted(chapters.len() as u64, "experiment");
    let claims = said(&chapters).map_or(String::new(), |said| format!(". {said}"));
    let (tone, trust) = trust::line(session);
    format!("{experiments}{claims} {} {trust}", tone.mark())
}

/// Returns all planted answers and diagnoses of a session for a terminal of `width` columns, with ANSI
/// colours: each with its mark, what was planted, the truth, the interval found and whether it was found.
/// Empty where nothing was planted.
pub fn selftest_text(session: &Session<'_>, width: usize) -> String {
    let chapters = chapters_without_figures(session);
    let doc = planted::document(&session.summary.scruple, &chapters);
    if doc.blocks.is_empty() { String::new() } else { doc.text(width) }
}
