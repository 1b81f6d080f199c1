//! What a session answers, before its chapters.

use super::chapter::Chapter;
use super::claims::marks;
use super::{conditions, finding, selftest, trust};
use crate::Session;
use crate::doc::{Answer, Block, Role, Text, Tone};
use crate::words::anchor;
use maud::html;
use model::{
    AccountResult, Design, Estimate, FindingResult, Inquiry, PartResult, Quantity, Record,
    Selftest, Term, Treatment, TrustGrade,
};
use wording::number::{Terms, duration_s, parts, sentence_parts};
use wording::{capital, counted, short, stated};

/// Grounds of a grade of each kind that are listed at the top.
const GROUNDS_MAX: usize = 12;

/// A share above this is most of it.
const MOST: f64 = 0.5;

/// Characters of a title or label that are shown where it says why.
const CLAUSE_CHARACTERS: usize = 100;

/// Returns what must be read before the answers.
pub(crate) fn before(session: &Session<'_>) -> Vec<Block<'static>> {
    let selftest = session.manifest.options.selftest.then(|| analysis::selftest(session.summary));
    let grade = selftest.iter().flat_map(graded);
    let parts = [trust::warning(session), incomplete(session)];
    let parts = parts.into_iter().flatten();
    grade.chain(parts).chain(conditions::conditions(session)).collect()
}

/// Returns that a session lacks trials.
pub(crate) fn incomplete(session: &Session<'_>) -> Option<Block<'static>> {
    let text = "Not complete: some planned trials have no record, because the session was interrupted \
                or its time ran out. What is shown rests on the trials that are there.";
    (!session.summary.complete).then(|| Block::said(Tone::Care, "not complete", vec![text.into()]))
}

/// Returns what the numbers in the answers are.
pub(crate) fn key(session: &Session<'_>) -> Block<'static> {
    let mut text = "Each number is the median over blocks; a ratio or a difference is formed within \
                    each block first. In brackets: its 95 % confidence interval; a number without one \
                    was the same in every block. "
        .to_string();
    let mut responses = session.manifest.designs.iter().flat_map(|design| &design.responses);
    if responses.any(|response| response.exact) {
        text.push_str(
            "[exact] is a number that was computed, not measured: it is the same on every machine. ",
        );
    }
    text.push_str("A trial is a fresh process that measures one thing once.");
    Block::small(text)
}

/// A longer time between two trials is that between two runs, or of a clock that was set.
const BETWEEN_TRIALS_MS: u64 = 60_000;

/// Returns how long trials and the times between them took, in ms.
fn length_ms(records: &[Record]) -> u64 {
    let mut order: Vec<&Record> = records.iter().collect();
    order.sort_by_key(|record| record.trial);
    let end = |record: &Record| record.started_unix_ms.saturating_add(record.total_ns / 1_000_000);
    let between =
        order.windows(2).filter_map(|pair| pair[1].started_unix_ms.checked_sub(end(pair[0])));
    let trials: u64 =
        order.iter().map(|record| record.total_ns / 1_000_000).fold(0, u64::saturating_add);
    between.filter(|ms| *ms < BETWEEN_TRIALS_MS).fold(trials, u64::saturating_add)
}

/// Returns one line on the session, the machine and the trials.
pub(crate) fn lead(session: &Session<'_>) -> Block<'static> {
    let (manifest, environment) = (session.manifest, &session.manifest.environment);
    let cpu = short(&environment.cpu_model, 120);
    let length = match session.records {
        [] => String::new(),
        records => format!(" in {}", duration_s(length_ms(records).div_ceil(1000))),
    };
    let preset = manifest.options.preset.as_ref();
    let preset = preset.map(|it| format!("{}, ", short(&it.name, 64))).unwrap_or_default();
    let rest = format!(
        "{}, Linux {} · {preset}profile {} · {}{length}",
        counted(environment.cpus_allowed.len() as u64, "CPU"),
        short(&environment.kernel, 80),
        manifest.options.profile.name(),
        counted(session.summary.harness.trials, "trial")
    );
    let name = Text::from(format!("{} · ", short(&manifest.session, 120)));
    let text = name.then(Text::on_page(html! { (cpu) " · " })).then(rest);
    Block::Paragraph(Role::Lead, text)
}

/// Returns the answers of a session, each with the question that it answers.
pub(crate) fn answers(chapters: &[Chapter<'_>]) -> Block<'static> {
    let one = |chapter: &Chapter<'_>| Answer {
        chapter: anchor(&chapter.summary.id),
        name: short(&chapter.summary.id, 64),
        question: chapter.summary.question.clone(),
        verdicts: marks(chapter),
        answer: answer(chapter),
        why: why(chapter),
    };
    Block::Answers(chapters.iter().map(one).collect())
}

/// Returns the answer to an experiment's question, or why there is none. Of a user's program something
/// else may be said than a finding.
pub(crate) fn answer(chapter: &Chapter<'_>) -> Text {
    let findings = &chapter.summary.findings;
    let declared = chapter.design.answers.iter();
    let declared = declared.filter_map(|id| findings.iter().find(|finding| finding.id == *id));
    let measured = declared.filter(|finding| finding.result.estimate.is_some());
    let said = measured.map(|finding| finding::answer(chapter, finding));
    let said = said.reduce(|all, one| all.then(" ").then(one));
    let own = chapter.own_answer().map(Text::from);
    own.or(said)
        .or_else(|| findings.first().map(|finding| finding::sentence(chapter, finding)))
        .unwrap_or_else(|| Text::quiet("It asks for no single number: see its chart."))
}

/// Returns an experiment's question, as its heading.
pub(crate) fn heading(chapter: &Chapter<'_>) -> Block<'static> {
    let summary = chapter.summary;
    let question = Text::from(capital(&short(&summary.question, 400)));
    Block::heading(2, question.then(Text::quiet(format!("  {}", short(&summary.id, 80)))))
}

/// Returns what a session is about; the machine's name follows.
pub(crate) fn title(session: &Session<'_>) -> String {
    let options = &session.manifest.options;
    if let Some(preset) = &options.preset {
        return format!("{} on", short(&preset.title, 120));
    }
    let title = match (options.inquiry, options.selftest) {
        (Some(Inquiry::Study), _) => "What your programs cost on",
        (Some(Inquiry::Scale), _) => "How a command scales on",
        (Some(Inquiry::Why), _) => "What limits a command, found on",
        (_, true) => "Self-test: how far to trust",
        (_, false) => "What concurrency costs on",
    };
    title.into()
}

/// Returns the grade for the top of a page, with the most important of what it rests on.
fn graded(graded: &Selftest) -> Vec<Block<'static>> {
    let tone = match graded.grade {
        Some(TrustGrade::A) => Tone::Good,
        Some(TrustGrade::D | TrustGrade::F) => Tone::Bad,
        Some(TrustGrade::B | TrustGrade::C) | None => Tone::Open,
    };
    let sentence = Text::strong(short(&graded.sentence, 600));
    let about = "Known answers were planted and measured like anything else.";
    let grade = Block::said(tone, selftest::word(graded.grade), vec![sentence, about.into()]);
    std::iter::once(grade).chain(selftest::grounds(graded, GROUNDS_MAX)).collect()
}

/// Returns the machine's name.
pub(crate) fn host(session: &Session<'_>) -> String {
    short(stated(&session.manifest.environment.host).unwrap_or("this machine"), 80)
}

/// Returns what the headline comes from: a cause whose removal takes most of the gap away, the largest part of
/// an account, both only where the interval of its share lies above a half, or the finding that the experiment
/// declares. Where none of these was measured, it is what is known without a measurement, and says so.
///
/// A cause is looked for by the treatments alone: the share or the account must be about the very
/// treatment that the headline puts first.
pub(crate) fn why(chapter: &Chapter<'_>) -> Option<Text> {
    let (first, others) = chapter.summary.findings.split_first()?;
    first.result.estimate.as_ref()?;
    let headline = Headline::of(chapter.design, &first.result.quantity);
    let measured = headline.and_then(|headline| {
        removed(&headline, others).or_else(|| largest_part(&headline, chapter))
    });
    let declared = || others.iter().find(|it| it.id == chapter.design.why).and_then(said);
    if let Some(clause) = measured.or_else(declared) {
        return Some(Text::strong("Why: ").then(clause));
    }
    if chapter.is_study() {
        return None;
    }
    // A session of an earlier catalog may say nothing of it.
    let Some(because) = wording::stated(&chapter.design.because) else {
        return Some(Text::strong("Why: ").then("not known"));
    };
    let how = if chapter.design.is_exact() { "Why: " } else { "Why (not measured): " };
    Some(Text::strong(how).then(short(because, 400)))
}

/// Returns the sentence of a finding with its number; `None` without one.
fn said(finding: &FindingResult) -> Option<Text> {
    finding.result.estimate.as_ref()?;
    let (before, number, after) = sentence_parts(&finding.sentence, &finding.result);
    Some(Text::from(short(before, 400)).then(Text::number(number?)).then(short(after, 400)))
}

/// The treatments that a headline is about.
struct Headline<'a> {
    design: &'a Design,
    of: Treatment,
    /// What it is compared with, if it is a comparison.
    to: Option<Treatment>,
}

impl<'a> Headline<'a> {
    fn of(design: &'a Design, quantity: &Quantity) -> Option<Self> {
        let (of, to) = match quantity {
            Quantity::Ratio { of, to, .. } | Quantity::Difference { of, to, .. } => (of, Some(to)),
            Quantity::Value { at, .. } => (at, None),
            _ => return None,
        };
        Some(Headline { design, of: design.complete(of), to: to.map(|to| design.complete(to)) })
    }

    /// Reports whether a share is of this headline's gap, or of another that begins at the same
    /// treatment; the former counts for more. One that takes away just what the headline compares with
    /// says the headline again, and not why.
    fn is_explained_by(&self, quantity: &Quantity) -> Option<bool> {
        let Quantity::Share { whole, without, base, .. } = quantity else { return None };
        let complete = |cell| Some(self.design.complete(cell));
        let explains = complete(whole).as_ref() == Some(&self.of) && complete(without) != self.to;
        explains.then(|| complete(base) == self.to)
    }
}

fn most(estimate: &Estimate) -> bool {
    estimate.low > MOST && estimate.high.is_finite()
}

/// Returns an ablation: the cause was taken away, and most of the gap went with it.
fn removed(headline: &Headline<'_>, findings: &[FindingResult]) -> Option<Text> {
    let shares = findings.iter().filter_map(|finding| {
        let same = headline.is_explained_by(&finding.result.quantity)?;
        Some((same, finding.result.estimate.filter(most)?.point, finding))
    });
    // Of equal ones the first.
    let best = shares.reduce(|a, b| if (a.0, a.1) < (b.0, b.1) { b } else { a });
    said(best?.2)
}

/// Returns the largest part of an account whose total is what the headline puts first.
fn largest_part(headline: &Headline<'_>, chapter: &Chapter<'_>) -> Option<Text> {
    let about = |account: &&AccountResult| {
        let declared = headline.design.accounts.iter().find(|one| one.id == account.id);
        match declared.map(|one| &one.total) {
            Some(Term::Measured { at, .. }) => headline.design.complete(at) == headline.of,
            _ => false,
        }
    };
    let account = chapter.summary.accounts.iter().find(about)?;
    let share = |part: &PartResult| part.share.filter(most);
    let (part, share) = account.parts.iter().find_map(|part| Some((part, share(part)?)))?;
    let clause = format!("most of {} is {} (", beginning(&account.title), beginning(&part.label));
    Some(Text::from(clause).then(Text::number(parts(&share, Terms::Share))).then(")."))
}

/// Returns what a title says before it explains itself.
fn beginning(text: &str) -> String {
    let end = text.find([':', ';', ',']).unwrap_or(text.len());
    short(text[..end].trim(), CLAUSE_CHARACTERS)
}
