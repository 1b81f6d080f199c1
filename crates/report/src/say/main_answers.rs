//! The main answers of a session as a picture: what its first screen shows.

use super::chapter::Chapter;
use super::{claims, trust};
use crate::Session;
use crate::chart::{Answer, Answers};
use crate::doc::{Block, Drawing, Figure, Text, Tone};
use crate::words::{self, anchor};
use maud::html;
use model::{
    Cell, ClaimResult, Estimate, Factor, Headline, Lies, Likeness, Quantity, QuantityResult,
    Verdict, Yes,
};
use wording::number::{
    CORRECTED, Parts, Terms, counts, joined, placed, result_parts, share, terms,
};
use wording::{capital, short, stated, uncapital};

/// Answers of a session without headlines that are drawn at most.
const FIRST_MAX: usize = 12;

/// A headline with what answers it.
struct Asked<'a> {
    headline: Headline,
    chapter: &'a Chapter<'a>,
    result: &'a QuantityResult,
    /// The number, turned if the headline says so.
    estimate: Option<Estimate>,
    /// Where that number lies, if it is a ratio.
    likeness: Option<Likeness>,
    claim: Option<&'a ClaimResult>,
}

impl<'a> Asked<'a> {
    /// Finds what answers a headline; `None` where its session has neither finding nor claim of that
    /// name.
    fn of(chapter: &'a Chapter<'a>, headline: Headline) -> Option<Asked<'a>> {
        let summary = chapter.summary;
        let decides = headline.claim.as_ref().unwrap_or(&headline.of);
        let claim = summary.claims.iter().find(|claim| claim.id == *decides);
        let finding = summary.findings.iter().find(|finding| finding.id == headline.of);
        let result = finding.map(|it| &it.result).or(claim.map(|it| &it.result))?;
        let turned = |e: Estimate| {
            let [point, low, high] = [e.point, e.high, e.low].map(|x| 1.0 / x);
            Estimate { point, low, high, ..e }
        };
        let estimate = match headline.turned {
            true => result.estimate.map(turned),
            false => result.estimate,
        };
        let likeness = match headline.turned {
            true => result.likeness.map(Likeness::turned),
            false => result.likeness,
        };
        Some(Asked { headline, chapter, result, estimate, likeness, claim })
    }

    /// Returns the number as it is written; `None` where there is none.
    fn number(&self) -> Option<Parts> {
        let estimate = self.estimate;
        result_parts(&QuantityResult { estimate, ..self.result.clone() })
    }

    fn is_ratio(&self) -> bool {
        terms(self.result) == Terms::Times
    }

    fn link(&self) -> String {
        format!("#{}", anchor(&self.chapter.summary.id))
    }

    /// Returns the words of an answer around its number.
    fn says(&self, number: &Parts) -> String {
        let point = Parts { interval: String::new(), ..number.clone() };
        let (before, point, after) = placed(&self.headline.says, Some(point));
        let point = point.map(|point| point.point).unwrap_or_default();
        capital(&short(&format!("{before}{point}{after}"), 200))
    }

    /// Returns the answer to a question: yes, no, or neither.
    fn yes(&self) -> Option<bool> {
        let asked = self.headline.yes?;
        let of_ratio = |yes: bool| match self.likeness?.lies {
            Lies::Open => None,
            _ => Some(yes),
        };
        let estimate = self.estimate;
        match asked {
            Yes::Supported | Yes::Refuted => match self.claim?.verdict {
                Verdict::Inconclusive => None,
                found => self.is_yes(found),
            },
            Yes::Above => of_ratio(estimate?.low > 1.0),
            Yes::Below => of_ratio(estimate?.high < 1.0),
        }
    }

    /// Returns what a verdict answers to the question; `None` where no claim decides it.
    fn is_yes(&self, verdict: Verdict) -> Option<bool> {
        match self.headline.yes? {
            Yes::Supported => Some(verdict == Verdict::Supported),
            Yes::Refuted => Some(verdict == Verdict::Refuted),
            Yes::Above | Yes::Below => None,
        }
    }

    /// Returns where an open claim that is to answer the question points, why it is open, and what is
    /// missing.
    fn open(&self) -> Option<String> {
        let claim = self.claim.filter(|claim| claim.verdict == Verdict::Inconclusive)?;
        let points = self.is_yes(claim.open?.leans?)?;
        let points = if points { "points to yes" } else { "points to no" };
        let region = words::region_of(claim, self.chapter.design);
        let missing = claims::open(claim, self.chapter.design);
        wording::clauses([Some(format!("{points} (claimed: {region})")), missing], "; ")
    }

    /// Returns the answer on an axis; `None` without a number.
    fn answer(&self) -> Option<Answer> {
        let (estimate, number) = (self.estimate?, self.number()?);
        let above = estimate.point > 1.0;
        let apart = self.likeness.and_then(|likeness| {
            let (tone, mark) = match likeness.lies {
                Lies::Alike => (Tone::Quiet, '≈'),
                Lies::Slight => (Tone::Quiet, if above { '>' } else { '<' }),
                Lies::Open => (Tone::Open, '?'),
                _ => (Tone::Open, if above { '≥' } else { '≤' }),
            };
            Some((tone, Some(mark), capital(&words::apart(likeness, above)?)))
        });
        let (tone, mark, says) = apart.unwrap_or_else(|| (Tone::Plain, None, self.says(&number)));
        let mut label = short(&self.headline.label, 80);
        let mut number = number;
        // The correction stands where there is room for it.
        if let Some(interval) = number.interval.strip_suffix(CORRECTED) {
            number.interval = interval.trim_end().into();
            label.push_str(", without other programs");
        }
        Some(Answer { label, says, tone, mark, estimate, number, to: self.link() })
    }
}

/// Returns the main answers of a session, as a page and a terminal show them: those that its experiments
/// declare, else its first findings.
pub(crate) fn picture<'a>(chapters: &'a [Chapter<'a>]) -> Vec<Block<'a>> {
    let declared = chapters.iter().flat_map(|chapter| {
        let all = chapter.design.headlines.iter();
        all.filter_map(move |headline| Asked::of(chapter, headline.clone()))
    });
    let mut asked: Vec<Asked<'_>> = declared.collect();
    if asked.is_empty() {
        asked = first_findings(chapters);
    }
    let (known, missing): (Vec<_>, Vec<_>) = asked.iter().partition(|one| one.estimate.is_some());
    let (questions, strips): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|one| one.headline.yes.is_some());
    let mut groups: Vec<(&str, Vec<&Asked<'_>>)> = Vec::new();
    for one in strips {
        let name = one.headline.group.as_str();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for (style, (name, group)) in groups.into_iter().enumerate() {
        blocks.extend(self::group(name, group, style));
    }
    blocks.extend(yes_or_no(&questions));
    blocks.extend(not_measured(&missing));
    blocks
}

/// Returns in one line whether the session can be trusted, which leads to the reasons.
pub(crate) fn trusted(session: &Session<'_>) -> Block<'static> {
    let (tone, text) = trust::line(session);
    let class = match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        _ => "care",
    };
    let designs = session.manifest.designs.iter();
    let words = designs.map(|design| {
        let links =
            design.figures.iter().flat_map(|figure| figure.words.iter().chain([&figure.link]));
        let all: Vec<&str> = design.words.iter().chain(links).map(String::as_str).collect();
        (anchor(&design.id), serde_json::Value::from(all.join(" ")))
    });
    let words = serde_json::Value::Object(words.collect());
    Block::OnPage(html! {
        div #find data-words=(words) hidden {}
        p.front-trust.(class) { a href="#trust" { span aria-hidden="true" { (tone.mark()) } " " (text) } }
    })
}

/// Returns where to go from the first screen: how many claims have which verdict, and the parts of the
/// page after the chapters.
pub(crate) fn links(said: Option<Text>, after: &[(&'static str, &'static str)]) -> Block<'static> {
    let after = after.iter().map(|(place, name)| Text::link(*name, format!("#{place}")));
    let all = said.into_iter().chain(after).reduce(|all, one| all.then(" · ").then(one));
    Block::Anchored("said", all.unwrap_or_default())
}

/// Returns the first findings as if they were headlines: of a few experiments several, of many one each. Where the
/// first one holds two levels against each other, all are of these two.
fn first_findings<'a>(chapters: &'a [Chapter<'a>]) -> Vec<Asked<'a>> {
    let (is_alone, each) = (chapters.len() == 1, (FIRST_MAX / chapters.len().max(1)).max(1));
    let all = chapters.iter().flat_map(|chapter| {
        let drawn = chapter.summary.findings.iter().filter(|finding| {
            let of = terms(&finding.result);
            finding.result.estimate.is_some() && matches!(of, Terms::Times | Terms::In(_))
        });
        let drawn = drawn.map(|finding| (finding, contrast(chapter, &finding.result.quantity)));
        let drawn: Vec<_> = drawn.collect();
        let first = drawn.first().and_then(|(_, contrast)| contrast.as_ref());
        let asked = first.map(|contrast| contrast.sides.clone());
        let is_asked = move |contrast: &Option<Contrast>| match (&asked, contrast) {
            (Some(asked), Some(contrast)) => contrast.sides == *asked,
            (asked, _) => asked.is_none(),
        };
        let drawn = drawn.into_iter().filter(move |(_, contrast)| is_asked(contrast));
        drawn.take(each).map(move |(finding, contrast)| {
            let unit = match terms(&finding.result) {
                Terms::In(unit) => wording::unit(unit),
                _ => "ratio".into(),
            };
            let plain = Headline {
                group: format!("The first answers: {unit}"),
                label: words::without_number(&finding.sentence),
                of: finding.id.clone(),
                says: finding.sentence.clone(),
                ..Headline::default()
            };
            let headline = match contrast {
                Some(Contrast { sides: [of, to], label }) if is_alone => Headline {
                    group: format!("{of} compared with {to}: {of} ÷ {to}"),
                    says: format!("{{}} times that of {to}"),
                    label,
                    ..plain
                },
                Some(Contrast { sides: [of, to], label }) => {
                    Headline { label: format!("{of} ÷ {to} · {label}"), ..plain }
                }
                None => plain,
            };
            (chapter, headline)
        })
    });
    all.take(FIRST_MAX).filter_map(|(chapter, headline)| Asked::of(chapter, headline)).collect()
}

/// Two levels that are held against each other in one response.
struct Contrast {
    sides: [String; 2],
    /// In what, and at which levels of the other factors.
    label: String,
}

/// Returns what a ratio holds against each other where its sides differ in one factor.
fn contrast(chapter: &Chapter<'_>, quantity: &Quantity) -> Option<Contrast> {
    let Quantity::Ratio { response, of, to } = quantity else { return None };
    let design = chapter.design;
    let level = |factor: &Factor, cell: &Cell| {
        words::level_of(factor, cell.0.get(&factor.name).unwrap_or(&factor.baseline))
    };
    let is_apart = |factor: &&Factor| level(factor, of) != level(factor, to);
    let mut apart = design.factors.iter().filter(is_apart);
    let (differs, None) = (apart.next()?, apart.next()) else { return None };
    let again = design.repetition().map(|factor| &factor.name);
    let others = design
        .factors
        .iter()
        .filter(|one| one.name != differs.name && one.levels.len() > 1 && Some(&one.name) != again);
    let response = design.responses.iter().find(|one| one.name == *response)?;
    let label = others.map(|factor| level(factor, of)).chain([uncapital(&words::label(response))]);
    let label = label.collect::<Vec<_>>().join(" · ");
    Some(Contrast { sides: [of, to].map(|side| level(differs, side)), label })
}

/// Returns answers that share an axis.
fn group<'a>(name: &str, mut group: Vec<&Asked<'a>>, style: usize) -> Vec<Block<'a>> {
    let Some(first) = group.first() else { return Vec::new() };
    let (terms, ratios) = (terms(first.result), first.is_ratio());
    if !ratios {
        let point = |one: &&Asked<'_>| one.estimate.map_or(0.0, |estimate| estimate.point);
        group.sort_by(|a, b| point(a).total_cmp(&point(b)));
    }
    let (title, axis) = name.split_once(": ").unwrap_or((name, ""));
    let (title, axis) = (short(title, 80), short(axis, 80));
    let band = group.iter().find_map(|one| {
        let alike = one.likeness?.alike;
        alike.low.zip(alike.high)
    });
    let interval = "95 % interval".to_string();
    let grey = band.map(|(_, high)| format!("grey: less than {} apart", share(high - 1.0)));
    let about = [stated(&axis).map(String::from), Some(interval), grey];
    let about = wording::clauses(about, " · ").unwrap_or_default();
    let strips = group.iter().filter_map(|one| one.answer()).collect();
    let drawn = Answers { strips, terms, band, style };
    let page = html! {
        section.front-group {
            h2 { (title) span.quiet { (about) } }
            (drawn.svg())
        }
    };
    let heading = if axis.is_empty() { title } else { format!("{title} ({axis})") };
    let figure = Block::Figure(Figure::new(heading, drawn, Vec::new()));
    vec![Block::OnPage(page), Block::InTerminal(vec![figure])]
}

/// Returns the questions that yes or no answers, each with its evidence.
fn yes_or_no<'a>(questions: &[&Asked<'a>]) -> Vec<Block<'a>> {
    let Some(first) = questions.first() else { return Vec::new() };
    let answer = |one: &Asked<'_>| match one.yes() {
        Some(true) => ("good", "Yes"),
        Some(false) => ("bad", "No"),
        None => ("care", "Not decided"),
    };
    let evidence = |one: &Asked<'_>| {
        // All and none are better known by their number than by a share.
        let (events, chances) = (one.result.events, one.result.chances);
        let whole = counts(one.result).filter(|_| events == Some(0) || events == chances);
        let point = whole.or(one.number().map(|number| joined(&number))).unwrap_or_default();
        let says = one.says(&Parts { point, interval: String::new() });
        wording::clauses([Some(says), one.open()], "; ").unwrap_or_default()
    };
    let label = |one: &Asked<'_>| short(&one.headline.label, 80);
    let page = html! {
        section.front-group {
            h2 { (short(&first.headline.group, 80)) }
            ul.front-questions {
                @for one in questions {
                    @let (tone, word) = answer(one);
                    li {
                        a href=(one.link()) {
                            span.front-label { (label(one)) }
                            b.front-word.(tone) { (word) }
                            span.front-evidence { (evidence(one)) }
                        }
                    }
                }
            }
        }
    };
    let lines = questions.iter().map(|one| {
        let (_, word) = answer(one);
        Text::from(format!("{} {word}: {}.", label(one), uncapital(&evidence(one))))
    });
    let heading = Block::heading(3, short(&first.headline.group, 80));
    vec![Block::OnPage(page), Block::InTerminal(vec![heading, Block::list(lines)])]
}

/// Returns what has no number in this session, and why.
fn not_measured(missing: &[&Asked<'_>]) -> Option<Block<'static>> {
    let one = |one: &&Asked<'_>| {
        let why = one.chapter.missing(one.result);
        format!("{} ({}: {})", short(&one.headline.label, 80), why.lead, why.why)
    };
    let all: Vec<String> = missing.iter().map(one).collect();
    let text = format!("Without a number here: {}.", all.join("; "));
    (!all.is_empty()).then(|| Block::small(short(&text, 1200)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::paint::html_blocks;
    use crate::say::chapter::chapters_without_figures;
    use model::{Open, OpenWhy};

    /// Returns the first screen's picture of a session whose first finding is a ratio of such an interval.
    fn drawn(estimate: Option<(f64, f64, f64)>, change: impl Fn(&mut Headline)) -> String {
        let mut fixture = fixture::session(6);
        let finding = &mut fixture.summary.experiments[0].findings[0];
        assert_eq!(terms(&finding.result), Terms::Times);
        let known = |(low, point, high)| Estimate::between(low, point, high);
        finding.result.estimate = estimate.map(known);
        finding.result.carried_by = None;
        finding.result.likeness =
            estimate.map(|(low, _, high)| Likeness::of(low, high, model::Region::about(1.0, 0.05)));
        let mut headline = Headline {
            group: "Processes compared with threads: process ÷ thread".into(),
            label: "Create".into(),
            of: finding.id.clone(),
            says: "a process costs {} a thread".into(),
            ..Headline::default()
        };
        change(&mut headline);
        fixture.manifest.designs[0].headlines = vec![headline];
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = Session { manifest, records, summary };
        let chapters = chapters_without_figures(&session);
        html_blocks(&picture(&chapters)).into_string()
    }

    #[test]
    fn the_words_follow_the_interval() {
        let says = |low, point, high| drawn(Some((low, point, high)), |_| {});
        assert!(says(5.0, 6.0, 7.0).contains("A process costs 6.0× a thread"));
        assert!(says(0.5, 0.6, 0.7).contains("A process costs 0.60× a thread"));
        let alike = says(0.98, 1.0, 1.02);
        assert!(alike.contains("Less than 5 % apart") && !alike.contains("A process costs"));
        assert!(says(1.01, 1.02, 1.04).contains("More, by less than 5 %"));
        assert!(says(0.96, 0.97, 0.99).contains("Less, by less than 5 %"));
        // An interval on one side of 1 shows a difference; how large it is may be open.
        assert!(says(1.031, 1.039, 1.051).contains("More, 5 % not decided"));
        assert!(says(0.94, 0.97, 0.99).contains("Less, 5 % not decided"));
        for open in [says(0.9, 1.0, 1.1), says(0.94, 0.97, 1.0)] {
            assert!(open.contains("More or less is open"), "{open}");
        }
    }

    #[test]
    fn a_turned_ratio_turns_with_its_interval() {
        let turned = drawn(Some((0.2, 0.25, 0.4)), |headline| headline.turned = true);
        assert!(turned.contains("A process costs 4.0× a thread"), "{turned}");
        assert!(turned.contains("[2.5, 5.0]"), "{turned}");
    }

    #[test]
    fn what_was_not_measured_says_why() {
        let missing = drawn(None, |_| {});
        assert!(missing.contains("Without a number here: Create ("), "{missing}");
        assert!(!missing.contains("<svg"), "{missing}");
        assert_eq!(
            drawn(Some((5.0, 6.0, 7.0)), |it| it.of = "gone".into()).matches("<li>").count(),
            12.min(first())
        );
    }

    /// Returns the number of answers that are drawn where no headline is known.
    fn first() -> usize {
        let fixture = fixture::session(6);
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = Session { manifest, records, summary };
        let chapters = chapters_without_figures(&session);
        first_findings(&chapters).len()
    }

    #[test]
    fn yes_and_no_follow_the_ratio() {
        let said = |low, point, high, yes| {
            drawn(Some((low, point, high)), |headline| headline.yes = Some(yes))
        };
        let word = |page: &str, word: &str| page.contains(&format!(">{word}</b>"));
        assert!(word(&said(1.5, 2.0, 2.5, Yes::Above), "Yes"));
        assert!(word(&said(1.5, 2.0, 2.5, Yes::Below), "No"));
        assert!(word(&said(0.98, 1.0, 1.02, Yes::Above), "No"));
        assert!(word(&said(0.9, 1.0, 1.2, Yes::Above), "Not decided"));
        assert!(word(&said(1.01, 1.02, 1.03, Yes::Above), "Yes"));
        assert!(word(&said(1.01, 1.04, 1.06, Yes::Below), "No"));
        assert!(word(&said(0.4, 0.5, 0.6, Yes::Below), "Yes"));
    }

    #[test]
    fn yes_and_no_follow_the_verdict() {
        let mut fixture = fixture::session(6);
        let claim = fixture.summary.experiments[0].claims[0].id.clone();
        fixture.manifest.designs[0].headlines = vec![Headline {
            group: "Yes or no".into(),
            label: "Is it?".into(),
            of: claim,
            says: "{} of them".into(),
            yes: Some(Yes::Refuted),
            ..Headline::default()
        }];
        for (verdict, word) in [
            (Verdict::Refuted, "Yes"),
            (Verdict::Supported, "No"),
            (Verdict::Inconclusive, "Not decided"),
        ] {
            let claim = &mut fixture.summary.experiments[0].claims[0];
            (claim.verdict, claim.agreeing_blocks) = (verdict, Some(7));
            claim.open = (verdict == Verdict::Inconclusive).then_some(Open {
                why: OpenWhy::FewAgree,
                leans: Some(Verdict::Refuted),
                more_blocks: Some(2),
            });
            let fixture::Fixture { manifest, records, summary } = &fixture;
            let session = Session { manifest, records, summary };
            let chapters = chapters_without_figures(&session);
            let page = html_blocks(&picture(&chapters)).into_string();
            assert!(page.contains(&format!(">{word}</b>")), "{page}");
            let is_open = verdict == Verdict::Inconclusive;
            for missing in ["; points to yes (claimed: ", "2 more such blocks decide it"] {
                assert_eq!(page.contains(missing), is_open, "{page}");
            }
        }
    }

    #[test]
    fn a_terminal_of_any_width_shows_every_answer_whole() {
        let mut fixture = fixture::session(6);
        let id = fixture.summary.experiments[0].findings[0].id.clone();
        let headline = |label: &str| Headline {
            group: "Processes compared with threads: process ÷ thread".into(),
            label: label.into(),
            of: id.clone(),
            says: "a process costs {} a thread".into(),
            ..Headline::default()
        };
        fixture.manifest.designs[0].headlines =
            vec![headline("Create and join"), headline("Again")];
        let fixture::Fixture { manifest, records, summary } = &fixture;
        let session = Session { manifest, records, summary };
        let chapters = chapters_without_figures(&session);
        let blocks = picture(&chapters);
        for width in [50, 80, 100, 120] {
            let lines = crate::paint::lines(&blocks, width, crate::paint::Folds::Closed);
            let text = lines.join("\n");
            assert!(text.contains("Create and join") && text.contains("Again"), "{text}");
            assert!(text.matches("[7.19, 7.42]").count() == 2 && !text.contains('…'), "{text}");
            assert_eq!(text.contains('●'), width >= 80, "{width}: {text}");
        }
    }
}
