//! What the screen, the page, `ask` and the summary say of one thing is one number, and no verdict is at
//! odds with the interval beside it.

use crate::fixture::{self, Fixture};
use crate::plain::plain;
use crate::recorded;
use model::{Asked, ClaimResult, OpenWhy, Quantity, QuantityResult, Region, Verdict};
use report::{Letters, Session};
use std::collections::BTreeMap;

/// Recorded sessions whole, cut to fewer blocks so that claims stay open, and sessions made up.
fn sessions() -> Vec<(String, Fixture)> {
    let mut all = Vec::new();
    for name in ["later", "servers", "speedup", "threads", "core"] {
        all.push((name.to_string(), recorded::session(name)));
    }
    for blocks in [4, 7, 9] {
        let mut cut = recorded::session("later");
        cut.records.retain(|record| record.block < blocks);
        cut.summary = recorded::summary(&cut.manifest, &cut.records);
        all.push((format!("later, {blocks} blocks"), cut));
    }
    let made_up = [fixture::session(6), fixture::mechanisms(12), fixture::doubted(12)];
    all.extend(made_up.into_iter().map(|fixture| ("made up".into(), fixture)));
    all
}

/// Reports whether an interval lies wholly in a region or wholly outside it.
fn decides(claim: &ClaimResult) -> bool {
    let (region, estimate) = (claim.holds_if, claim.result.estimate);
    estimate.is_some_and(|it| {
        let inside = region.contains(it.low) && region.contains(it.high);
        let above = region.high.is_some_and(|high| it.low > high);
        inside || above || region.low.is_some_and(|low| it.high < low)
    })
}

/// Returns the words of a page without its tags, with single spaces.
fn words(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
        text.push(' ');
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.replace("&quot;", "\"").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a line that leaves a claim open says of what is missing.
const MISSING: [&str; 5] =
    ["decide it", "decides it", "leave it open", "a verdict takes more trials", "could refute it"];

/// Returns what stands between a claim's text and the next `end`.
fn shown<'t>(text: &'t str, claim: &ClaimResult, end: &str) -> &'t str {
    let start = claim.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = text.find(&start).unwrap_or_else(|| panic!("no claim {start:?}"));
    let rest = &text[at + start.len()..];
    &rest[..rest.find(end).unwrap_or(rest.len())]
}

#[test]
fn an_open_claim_says_where_it_points_and_what_is_missing() {
    let mut beside_an_interval_that_decides = 0;
    for (name, Fixture { manifest, records, summary }) in &sessions() {
        let session = Session { manifest, records, summary };
        let claims = || summary.experiments.iter().flat_map(|experiment| &experiment.claims);
        assert!(claims().all(|it| (it.verdict == Verdict::Inconclusive) == it.open.is_some()));
        let page = words(&report::claims_html(&session));
        let text = report::charts(&session, &[], 160, Letters::Unicode, true);
        let text = plain(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        for claim in claims().filter(|claim| claim.result.estimate.is_some()) {
            for said in [shown(&text, claim, " Source:"), shown(&page, claim, "Evidence:")] {
                assert!(said.contains("(claimed: "), "{name}: {said}");
                let Some(open) = claim.open else { continue };
                let points = match open.leans {
                    Some(Verdict::Supported) => "Inconclusive, points to true (claimed: ",
                    Some(_) => "Inconclusive, points to false (claimed: ",
                    None => "Inconclusive (claimed: ",
                };
                assert!(said.contains(points), "{name}: {said}");
                assert!(MISSING.iter().any(|word| said.contains(word)), "{name}: {said}");
            }
            if let Some(open) = claim.open.filter(|_| decides(claim)) {
                beside_an_interval_that_decides += 1;
                let why = [
                    OpenWhy::FewBlocks,
                    OpenWhy::FewAgree,
                    OpenWhy::FewAmong,
                    OpenWhy::Lost,
                    OpenWhy::Changed,
                    OpenWhy::ClocksDisagree,
                ];
                assert!(why.contains(&open.why) || claim.holds_if == free(), "{name}: {claim:?}");
            }
        }
    }
    assert!(beside_an_interval_that_decides > 0, "nothing was tested");
}

fn free() -> Region {
    Region { low: None, high: None }
}

/// Returns the results of a summary's findings and claims, each with its experiment.
fn results(fixture: &Fixture) -> impl Iterator<Item = (&str, &QuantityResult)> {
    fixture.summary.experiments.iter().flat_map(|experiment| {
        let findings = experiment.findings.iter().map(|finding| &finding.result);
        let claims = experiment.claims.iter().map(|claim| &claim.result);
        findings.chain(claims).map(|result| (experiment.id.as_str(), result))
    })
}

#[test]
fn a_thing_has_one_number_in_summary_ask_and_table() {
    let (mut rows_of_frequencies, mut asked_again) = (0, 0);
    for (name, fixture) in &sessions() {
        if name == "made up" {
            continue;
        }
        let mut known: BTreeMap<String, &QuantityResult> = BTreeMap::new();
        for (id, result) in results(fixture) {
            let thing = format!("{id} {}", serde_json::to_string(&result.quantity).unwrap());
            let first = known.entry(thing).or_insert(result);
            assert_eq!(first.estimate, result.estimate, "{name}: {id}");
            let design = fixture.manifest.designs.iter().find(|it| it.id == id).unwrap();
            let experiment = fixture.summary.experiments.iter().find(|it| it.id == id).unwrap();
            if asked_again < 200 {
                asked_again += 1;
                let own = fixture.records.iter().filter(|record| record.experiment == id);
                let again = analysis::ask(design, own, &result.quantity);
                assert_eq!((again.estimate, again.likeness), (result.estimate, result.likeness));
            }
            // A frequency of one treatment is also a row of the table and a mark of the chart.
            let Quantity::Frequency { response, among } = &result.quantity else { continue };
            let rows = experiment.estimates.iter().filter(|row| row.response == *response);
            let rows: Vec<_> = rows.filter(|row| row.treatment.matches(among)).collect();
            if let [row] = rows[..] {
                rows_of_frequencies += 1;
                assert_eq!(row.estimate, result.estimate, "{name}: {id} {}", row.treatment);
            }
        }
    }
    assert!(rows_of_frequencies > 0 && asked_again == 200, "nothing was tested");
}

#[test]
fn the_median_of_rates_is_called_another_thing_than_the_rate() {
    let mut fixture = recorded::session("base");
    // The experiment whose claims ask for a value where its findings ask for a frequency.
    fixture.records.retain(|record| record.experiment == "reentrancy");
    fixture.manifest.designs.retain(|design| design.id == "reentrancy");
    fixture.summary = recorded::summary(&fixture.manifest, &fixture.records);
    let Fixture { manifest, records, summary } = &fixture;
    let session = Session { manifest, records, summary };
    let design = &manifest.designs[0];
    let text = report::charts(&session, &[], 160, Letters::Unicode, true);
    let text = plain(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    let page = words(&report::claims_html(&session));
    let is_median = |result: &QuantityResult| {
        let quantity = &result.quantity;
        matches!(quantity, Quantity::Value { .. }) && design.is_frequency(quantity.response())
    };
    let mut medians = 0;
    for claim in summary.experiments[0].claims.iter().filter(|claim| is_median(&claim.result)) {
        medians += 1;
        let lines = [shown(&text, claim, " Source:"), shown(&page, claim, "Evidence:")];
        let said = ["in the median block", "in each of "];
        assert!(said.iter().any(|which| lines[0].contains(which)), "{}", lines[0]);
        assert!(lines[1].to_lowercase().contains("median of the blocks' rates"), "{}", lines[1]);
        let result = analysis::ask(design, records, &claim.result.quantity);
        assert!(result.remark.contains("rate(…) is the rate over all trials"), "{}", result.remark);
        let asked = Asked {
            session: "base".into(),
            folder: String::new(),
            experiment: design.id.clone(),
            asked: "wrong_count".into(),
            result,
        };
        assert!(report::asked(&[asked]).text(160).contains("the median of the blocks' own rates"));
    }
    assert!(medians > 0, "nothing was tested");
}
/// A claim's verdict tells its number in words, or with a unit: "Supported (claimed: …): 32" would be a riddle.
#[test]
fn every_chapter_answers_says_why_and_shows_what_was_claimed() {
    for name in ["base", "later", "servers", "speedup", "threads"] {
        let Fixture { manifest, records, summary } = recorded::session(name);
        let (manifest, records, summary) = (&manifest, &records, &summary);
        let page = report::html(&Session { manifest, records, summary });
        let chapters: Vec<&str> = page.split("<section class=\"experiment\"").skip(1).collect();
        assert_eq!(chapters.len(), summary.experiments.len(), "{name}");
        for (chapter, of) in chapters.iter().zip(&summary.experiments) {
            let at = format!("{name}, {}", of.id);
            let words = |tag: &str| Some(chapter.split_once(tag)?.1.split_once("</p>")?.0);
            let answer = words("<p class=\"answer\">").unwrap_or_else(|| panic!("no answer: {at}"));
            assert!(answer.len() > 20, "{at}: {answer}");
            let why = words("<p class=\"further\">").is_some_and(|why| why.contains("Why"));
            assert!(why, "nothing says why: {at}");
            let claims = chapter.split_once("key-claims").map_or("", |(_, claims)| claims);
            let claims = claims.split_once("</ul>").map_or("", |(claims, _)| claims);
            for claim in claims.split("<li").skip(1) {
                let judged = claim.split_once("(claimed: ").and_then(|(_, it)| it.split_once("):"));
                let (_, judged) = judged.unwrap_or_else(|| panic!("{at}: no threshold: {claim}"));
                let text: String =
                    judged.split('<').map(|it| it.rsplit('>').next().unwrap()).collect();
                let is_said = text.contains(|c: char| c.is_alphabetic() || "×%µ".contains(c));
                assert!(is_said, "{at}: {text}");
            }
        }
    }
}
