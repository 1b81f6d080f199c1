//! A session as a page, and what people say beside what it says as another.

use super::chapter::{Chapter, chapters, chapters_without_figures};
use super::claims::{self, said, tally};
use super::evidence::{self, FLOOR_MEANING};
use super::{disturbance, experiment, machine, opening, trials, trust};
use crate::doc::{Block, Claim, Doc, Text};
use crate::words::{self, anchor, capital, moment, short};
use crate::{CLAIMS_PAGE, REPORT_PAGE, Session, paint};
use model::Verdict;

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
    let more = Text::from(" ").then(Text::link("All of them on a page of their own", CLAIMS_PAGE));
    report(session, more.then("."))
}

/// Returns the report without a link to the page of claims: for a file that goes elsewhere alone.
pub fn html_alone(session: &Session<'_>) -> String {
    report(session, Text::default())
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
            Block::Anchored("grades", evidence::grade_meaning(session).into()),
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
    doc.blocks.extend(opening::before(session));
    doc.push(opening::key(session));
    if let Some(said) = said(&chapters) {
        doc.push(Block::Anchored("said", Text::from(said).then(all_claims)));
    }
    doc.push(opening::answers(&chapters));
    let link = |(place, name): &(&str, &str)| Text::link(*name, format!("#{place}"));
    let after = AFTER.iter().map(link).reduce(|all, one| all.then(" · ").then(one));
    doc.push(Block::small(after.unwrap_or_default()));

    let mut trusted = trust::trust(session);
    trusted.insert(2, Block::Anchored("grades", evidence::grade_meaning(session).into()));
    trusted.extend(disturbance::over_time(session));
    doc.push(Block::Section("trust".into(), trusted));
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
    doc.data = Some(Box::new(move |room| trials::data(session, chapters, room)));
    paint::page(&doc, "")
}

/// Returns an empty page of a session.
fn document<'a>(session: &Session<'_>, title: &str) -> Doc<'a> {
    let (manifest, by) = (session.manifest, &session.summary.scruple);
    let mut doc = Doc::new(by, "", format!("{title}{}", manifest.session));
    doc.kind = format!("scruple · a session of {}", moment(manifest.started_unix_ms)).into();
    doc.footer = Text::filled(
        "Measured by scruple {}, analysed by scruple {}. Every number on this page can be computed \
         again from {} beside it; this file needs no network.",
        [manifest.scruple.as_str().into(), by.as_str().into(), Text::code("trials.ndjson")],
    );
    doc
}

/// Returns how to read a row of the page of claims.
fn how_to_read() -> Block<'static> {
    let test = "Each block of trials gives one number. A claim is supported or refuted if more blocks \
                lie inside or outside the region that would make it true than chance explains: at most \
                5 % of sessions hold a wrong verdict on a claim (exact sign test over blocks, Holm's \
                correction over all claims of the session). Otherwise it is inconclusive. The A/A \
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
