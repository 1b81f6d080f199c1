//! The page as text: well formed, light, complete, and safe from what others wrote.

use crate::embedded::embedded;
use crate::fixture::{self, Fixture};
use crate::grown;
use crate::hostile;
use crate::recorded;
use report::{Letters, Session};

/// With spaces for those that do not break, so that needles are typed as they are read.
fn page_of(fixture: &Fixture) -> String {
    let page = report::html(&Session {
        manifest: &fixture.manifest,
        records: &fixture.records,
        summary: &fixture.summary,
    });
    page.replace('\u{a0}', " ")
}

/// Elements that have no end.
const VOID: [&str; 6] = ["meta", "link", "br", "hr", "img", "input"];

/// How many elements of the page are run: those with a type hold data.
fn programs(tags: &[Tag]) -> usize {
    let run = |(name, attributes): &&Tag| name == "script" && attributes.is_empty();
    tags.iter().filter(run).count()
}

/// A start tag: its name and its attributes' names.
type Tag = (String, Vec<String>);

/// Elements whose end may be left out: one ends where the next like it begins, or what holds them
/// ends.
const IMPLIED: [&str; 4] = ["td", "th", "tr", "li"];

/// Elements of drawings that may close themselves.
const SHAPES: [&str; 5] = ["circle", "line", "path", "rect", "use"];

/// Ends what the start of `name` ends.
fn imply(open: &mut Vec<String>, name: &str) {
    let ended: &[&str] = match name {
        "td" | "th" => &["td", "th"],
        "tr" => &["td", "th", "tr"],
        "li" => &["li"],
        _ => &[],
    };
    while open.last().is_some_and(|last| ended.contains(&last.as_str())) {
        open.pop();
    }
}

/// All start tags of a page whose tags are balanced; panics where they are not. It reads what
/// maud writes, no more: raw text in `style` and `script` alone. Shapes, of which there are
/// thousands, may close themselves, and a value of one word needs no quotes.
fn tags(page: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(end) = rest.strip_prefix('/') {
            let (name, after) = end.split_once('>').expect("an end");
            let implied = |last: &String| IMPLIED.contains(&last.as_str()) && last != name;
            while open.last().is_some_and(implied) {
                open.pop();
            }
            assert_eq!(open.pop().as_deref(), Some(name), "before {:.80}", after);
            rest = after;
            continue;
        }
        let (tag, closed, after) = start_tag(rest);
        let name = tag.0.clone();
        imply(&mut open, &name);
        found.push(tag);
        rest = after;
        if ["style", "script"].contains(&name.as_str()) {
            let end = format!("</{name}>");
            rest = &rest[rest.find(&end).expect("an end of raw text") + end.len()..];
        } else if !closed && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

/// A start tag, whether it closes itself, and what follows it.
fn start_tag(text: &str) -> (Tag, bool, &str) {
    let end_of_name = text.find([' ', '>']).expect("a name");
    let (name, mut rest) = text.split_at(end_of_name);
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "no element: {name:?}");
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return ((name.to_string(), attributes), false, after);
        }
        if let Some(after) = rest.strip_prefix("/>") {
            assert!(SHAPES.contains(&name), "{name} closes itself before {after:.80}");
            return ((name.to_string(), attributes), true, after);
        }
        let end = rest.find(['=', ' ', '>']).expect("an attribute");
        assert!(end > 0, "no attribute: {rest:.80}");
        attributes.push(rest[..end].to_string());
        rest = &rest[end..];
        if let Some(value) = rest.strip_prefix("=\"") {
            rest = &value[value.find('"').expect("a closing quote") + 1..];
        } else if let Some(value) = rest.strip_prefix('=') {
            let end = value.find([' ', '>']).expect("an end of a number");
            // Behind one without quotes a slash would be a part of it (HTML standard, 13.1.2.3).
            let word = &value[..end];
            let simple = |c: char| c.is_ascii_alphanumeric() || "#%.-_".contains(c);
            assert!(!word.is_empty() && word.chars().all(simple), "no word: {value:.80}");
            rest = &value[end..];
        }
    }
}

#[test]
fn the_page_is_well_formed_and_holds_every_chapter() {
    let fixture = fixture::session(5);
    let page = page_of(&fixture);
    let tags = tags(&page);
    let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
    assert_eq!(count("h1"), 1);
    assert_eq!((programs(&tags), count("style")), (1, 1));
    // The declared ones, and the default of the one that declares none.
    assert_eq!(count("figure"), 3 + 2 + 1);
    let figures = fixture.manifest.designs.len();
    // Of the chapters, of what stands after them, and of the first screen's one group of answers.
    assert_eq!(count("h2"), figures + 4 + 1);
    for needle in [
        "Creating a process costs ",
        "claim-text",
        "Supported (claimed: ",
        "Inconclusive (claimed: ",
        "clone3 is blocked by a seccomp filter here",
        "check failed",
        "scruple run create --seed 20261120 --profile quick",
        "scruple run create workers null --seed 20261120 --profile quick",
        "the return of the call that waits",
        "cgroup v1 cpu.shares=262144",
        "transparent huge pages",
        "course notes",
        "(claimed: ≥ 2×)",
    ] {
        assert!(page.contains(needle), "{needle}");
    }
    for address in ["http://", "https://", "url(", "@import", "src="] {
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn every_anchor_has_its_place_once() {
    let page = page_of(&fixture::session(3));
    fn word(rest: &str) -> Option<&str> {
        rest.trim_start_matches('"').split(['"', ' ', '>']).next()
    }
    let mut places: Vec<&str> = page.split(" id=").skip(1).filter_map(word).collect();
    for link in page.split("href=").skip(1).filter_map(word) {
        let place = link.strip_prefix('#');
        assert!(place.is_none_or(|place| places.contains(&place)), "{link}");
    }
    let all = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), all);
}

#[test]
fn text_from_outside_stays_text() {
    for fixture in hostile::bitten() {
        for page in [page_of(&fixture), claims_page_of(&fixture)] {
            let tags = tags(&page);
            let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
            assert_eq!((programs(&tags), count("style")), (1, 1));
            assert_eq!((count("img"), count("b") > 0), (0, true));
            for (tag, attributes) in &tags {
                let handler = attributes.iter().find(|name| name.to_lowercase().starts_with("on"));
                assert_eq!(handler, None, "in {tag}");
            }
            assert!(!page.contains("<script>window"));
            assert!(page.contains("&lt;script&gt;window.bitten"));
            for c in ['\u{202e}', '\u{2066}', '\u{0}', '\u{1b}', '\u{7}'] {
                assert!(!page.contains(c), "{c:?}");
            }
            assert!(page.len() < 1_000_000, "{} bytes", page.len());
            // What became a tag all the same would fetch, send and lead astray nothing.
            for part in ["default-src 'none';", "base-uri 'none';", "form-action 'none'\""] {
                assert!(page.contains(part), "{part}");
            }
        }
    }
}

/// The text of a page from one needle to the next, without its tags.
fn between(page: &str, from: &str, to: &str) -> String {
    let start = page.find(from).expect(from);
    let part = &page[start..];
    let part = &part[..part.find(to).expect(to)];
    let outside = part.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, t)| t));
    outside.collect::<Vec<_>>().concat()
}

#[test]
fn accounts_show_what_their_parts_leave_over() {
    let page = page_of(&fixture::mechanisms(12));
    tags(&page);
    let pipe = between(&page, "One hop through a pipe</h3>", "</figure>");
    for needle in ["system calls", "half a switch", "0.5", "1.10 µs [1.08, 1.12]", "29.3 %"] {
        assert!(pipe.contains(needle), "{needle} in {pipe}");
    }
    assert!(pipe.contains("the rest: explained by none of these412 ns"), "{pipe}");
    assert!(page.contains("aria-label=\"Of the total: system calls 31.4 % [31.0, 31.9], half"));
    let futex = between(&page, "One hop through a futex</h3>", "</figure>");
    assert!(futex.contains("its parts are more than the total−110.0 ns"), "{futex}");
    let parallel = between(&page, "One hop between CPUs</h3>", "</figure>");
    assert!(parallel.contains("refused here"), "{parallel}");
    assert!(parallel.contains("mechanism parallel: needs 2 CPUs at the same time"), "{parallel}");
}

#[test]
fn exhibits_are_tables_that_say_where_they_come_from() {
    let page = page_of(&fixture::mechanisms(12));
    let seen = between(&page, "What a trial saw</summary>", "Estimates</summary>");
    for needle in [
        "futex: system calls of one hop (32 rows)",
        "12 more rows not shown.",
        "all 12 trials show the same.",
        "pipe: system calls of one hop (2 rows)",
        "in 3 of 12 trials it differs.",
    ] {
        assert!(seen.contains(needle), "{needle} in {seen}");
    }
    // Several of them are closed; a short one alone is open.
    assert_eq!(page.matches("<details class=\"exhibit\" open>").count(), 0);
    let mut fixture = fixture::mechanisms(3);
    for record in &mut fixture.records {
        if record.treatment.level("mechanism") == Some("futex") {
            record.measured.iter_mut().for_each(|measured| measured.exhibits.clear());
        }
    }
    assert_eq!(page_of(&fixture).matches("<details class=\"exhibit\" open>").count(), 1);
}

#[test]
fn rates_and_shares_are_told_with_their_counts_and_their_rest() {
    let page = page_of(&fixture::mechanisms(12));
    let answers = between(&page, " answers</summary>", "<figure");
    for needle in [
        "A signal is lost in 0.0007 % [0.0002, 26.4653] (8 of 1\u{202f}200\u{202f}000) of all hops.",
        "A futex loses a wake-up in none (of 1\u{202f}200\u{202f}000 in 12 trials; at most 26.5 %) of all",
        "of the gap goes away. The rest, ",
        "is not explained by it.",
    ] {
        assert!(answers.contains(needle), "{needle} in {answers}");
    }
    // One thing under three definitions: each stands under its number.
    assert!(
        answers.contains("Time of a round trip, as perf bench sched pipe counts it: from before")
    );
    assert!(
        answers.contains("Time of a hop, by lat_ctx's definition: from before the write of one")
    );
    let claims = between(&page, " claims</summary>", "Estimates</summary>");
    assert!(
        claims.contains("8 of 1\u{202f}200\u{202f}000: 0.0007 % [0.0002, 26.4653]"),
        "{claims}"
    );
    assert!(claims.contains("(claimed: ≤ 1 per million)"), "{claims}");
}

#[test]
fn what_is_missing_is_told_where_it_would_stand() {
    let page = page_of(&fixture::mechanisms(12));
    let refused = "needs 2 CPUs at the same time, has 1: allow more by --affinity";
    let answers = between(&page, " answers</summary>", "<figure");
    let refusal = format!("Refused here: mechanism parallel: {refused}. (Asked: On two CPUs a");
    assert!(answers.contains(&refusal), "{answers}");
    let later =
        "in profile quick: mechanism shared memory, from profile standard on. (Asked: Polled";
    assert!(answers.contains(&format!("Not measured {later} memory costs N times")), "{answers}");
    let claims = between(&page, " claims</summary>", "Estimates</summary>");
    assert!(claims.contains(&format!("Refused hereMechanism parallel: {refused}.")), "{claims}");
    assert!(claims.contains("Not in quickMechanism shared memory"), "{claims}");
    let figure = between(&page, "Numbers, files</summary>", "</details>");
    assert!(figure.contains("Refused here: mechanism parallel."), "{figure}");
    assert!(!page.contains("<div class=\"row-label\">parallel</div>"));
    let numbers = between(&page, "Estimates</summary>", "</table>");
    let rate = "8 of 1\u{202f}200\u{202f}000\n0.0007 % [0.0002,";
    assert!(numbers.contains(&format!("signal2.59 µs\n[2.57, 2.62]{rate}")));
    assert!(
        numbers.contains("futex1.21 µs\n[1.19, 1.23]0 of 1\u{202f}200\u{202f}000"),
        "{numbers}"
    );
    let method = between(&page, "Method, trials</summary>", "</table>");
    for needle in ["2 CPUs for its trials", "To trace the scheduler (root)", "standard"] {
        assert!(method.contains(needle), "{needle} in {method}");
    }
}

fn claims_page_of(fixture: &Fixture) -> String {
    let Fixture { manifest, records, summary } = fixture;
    report::claims_html(&Session { manifest, records, summary }).replace('\u{a0}', " ")
}

#[test]
fn a_machine_that_tells_identical_things_apart_is_said_before_any_number() {
    let page = page_of(&fixture::doubted(12));
    tags(&page);
    let before = between(&page, "<h1", "<ol class=\"answers\"");
    for needle in [
        "✗ do not trustDo not believe differences of up to 7.1 % in this session.",
        "Identical treatments differed: null (call_ns) by 1.05× [1.03, 1.07].",
        "✗ Do not trust differences of up to 7.1 %: identical runs differed",
    ] {
        assert!(before.contains(needle), "{needle} in {before}");
    }
    assert!(before.find("Do not trust") < before.find("first answers"));
    assert!(between(&page, "<section id=\"trust\"", "<section class").contains("Autogroup is on"));
    let claims = claims_page_of(&fixture::doubted(12));
    assert!(between(&claims, "<h1", "<section").contains("differences of up to 7.1 %"));
    let page = page_of(&fixture::session(12));
    let before = between(&page, "<h1", "<ol class=\"answers\"").replace("✓ Trustworthy", "✓");
    assert!(
        before.contains("✓: no identical runs differ") && !before.contains("trust"),
        "{before}"
    );
}

#[test]
fn floors_grades_and_tags_stand_beside_the_verdicts() {
    let page = page_of(&fixture::doubted(12));
    let claims = between(&page, " claims</summary>", "Estimates</summary>");
    for needle in [
        "Floor 2.1 % now, 0.6 % in ten times the time",
        "Evidence: ●●○ software counter. What would raise it",
        "Evidence: ●●● PMU counter.",
        "Without its 9 tagged trials 6.6× [7.2, 7.7].",
    ] {
        assert!(claims.contains(needle), "{needle} in {claims}");
    }
    // What the floor means is said once.
    assert_eq!(page.matches("before Hommel's correction over the session's claims;").count(), 1);
    let fine = between(&page, "Precision</h3>", "</table>");
    for needle in [
        "a difference of 2.1 % between two treatments would be found, in ten times the time one of 0.63 %.",
        "scatters by 5.2 %, mostly between trials. More trials would reduce it.",
        "create_ns2.1 %0.63 %5.2 %",
        "faults_count–11 %31 %",
        "Between blocks: it cancels in comparisons",
    ] {
        assert!(fine.contains(needle), "{needle} in {fine}");
    }
    assert!(
        page.contains(
            "aria-label=\"within trials 12 %, between trials 71 %, between blocks 17 %\""
        )
    );
    assert!(page.contains("aria-label=\"within trials not known, between trials 35 %"));
    let tagged = between(&page, "Disturbed trials: ", "</details>");
    assert!(tagged.contains("estimates differ visibly"), "{tagged}");
    assert!(tagged.contains("all trialswithout the taggedtagged"), "{tagged}");
    assert!(tagged.contains("≠ "), "{tagged}");
}

#[test]
fn every_response_has_a_whole_card() {
    let mut fixture = fixture::session(3);
    // Nothing was measured of this one.
    fixture.summary.experiments[1].estimates.retain(|row| row.response != "switches_count");
    let page = page_of(&fixture);
    let cards: Vec<&str> = page.split("<div class=\"card\">").skip(1).collect();
    let responses: usize = fixture.manifest.designs.iter().map(|d| d.responses.len()).sum();
    assert_eq!(cards.len(), responses);
    for card in cards {
        let card = card.split("</div>").next().unwrap_or_default();
        assert!(card.contains("<li>from ") || card.contains("from where to where: "), "{card}");
        assert!(card.contains("corrected: ") || card.contains("subtracted in analysis"), "{card}");
        assert!(card.contains("read from"), "{card}");
    }
}

#[test]
fn what_would_raise_most_grades_is_said_once() {
    let mut fixture = fixture::session(6);
    let lacking = "a count of what the mechanism predicts";
    let page = page_of(&fixture);
    assert_eq!(page.matches(lacking).count(), 1, "{page}");
    assert!(page.contains("nothing else is said beside them: a count of what"), "{page}");
    fixture.summary.experiments[0].claims[0].raise = "All of its checks.".into();
    let page = page_of(&fixture);
    assert!(page.contains(". Higher with: All of its checks."), "{page}");
    let Fixture { manifest, records, summary } = &fixture;
    let session = Session { manifest, records, summary };
    let whole = report::charts(&session, &[], 100, Letters::Unicode, true);
    assert_eq!(whole.split_whitespace().collect::<Vec<_>>().join(" ").matches(lacking).count(), 1);
}

#[test]
fn a_self_test_says_that_it_is_one_and_how_it_ended() {
    let mut fixture = fixture::doubted(12);
    fixture.manifest.options.selftest = true;
    let page = page_of(&fixture);
    let opening = between(&page, "<h1>", "In brackets:");
    for needle in [
        "Self-test: how far to trust",
        "✗ Grade F",
        "This machine cannot be trusted for effects of any size.",
        "Causes: 1 of 3 named",
        "null: Nothing, once more: something was found where nothing was planted",
        "please report it with the session's folder",
    ] {
        assert!(opening.to_lowercase().contains(&needle.to_lowercase()), "{needle} in {opening}");
    }
    assert!(page.contains("scruple selftest create"), "it is repeated as what it was");
    assert!(!page.contains("What concurrency costs"));
}

#[test]
fn planted_answers_are_held_against_the_truth() {
    let page = page_of(&fixture::doubted(12));
    let planted = between(&page, "What was planted, and what was found</h3>", "</table>");
    for needle in [
        "✓ A wait of 20 µs (20 %)",
        "1.20×1.20× [1.18, 1.22]found; held",
        "✗ Nothing, once more",
        "false alarm; excluded",
        "not measurednot measured",
    ] {
        assert!(planted.contains(needle), "{needle} in {planted}");
    }
    let gap = between(&page, "What the gap comes from</h3>", "Method, trials</summary>");
    for needle in [
        "✓ Two threads behind one lockthe lock93 % [88, 98]named, as planted: the lock",
        "the lock93 % [88, 98]named planted",
        "named: the lock; planted: the shared line",
        "none named; planted: memory",
    ] {
        assert!(gap.contains(needle), "{needle} in {gap}");
    }
}

#[test]
fn the_meter_shows_when_the_machine_was_disturbed() {
    let fixture = fixture::doubted(72);
    let page = page_of(&fixture);
    tags(&page);
    let strip = &page[page.find("When the machine was disturbed").expect("a meter")..];
    let strip = &strip[..strip.find("</figure>").expect("its end")];
    for lane in
        ["CPU time of others", "stolen by the hypervisor", "waiting for a CPU", "calibration loop"]
    {
        assert!(strip.contains(lane), "{lane}");
    }
    // What never happened takes no room.
    assert!(!strip.contains("waiting for I/O") && !strip.contains("held back by a quota"));
    let marks = strip.matches("mark hit").count();
    assert!((90..=4 * 96).contains(&marks), "{marks} marks for 5000 trials");
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    let mut silent = fixture::session(3);
    silent.records.iter_mut().for_each(|record| record.machine = model::Surroundings::default());
    assert!(!page_of(&silent).contains("When the machine was disturbed"));
}

#[test]
fn claims_have_a_page_of_their_own() {
    for fixture in [fixture::doubted(12), fixture::mechanisms(12), fixture::session(0)] {
        let page = claims_page_of(&fixture);
        let tags = tags(&page);
        let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
        assert_eq!((count("h1"), programs(&tags), count("style")), (1, 1, 1));
        for claim in fixture.summary.experiments.iter().flat_map(|one| &one.claims) {
            assert!(page.contains(&claim.text), "{}", claim.text);
            assert!(page.contains(&claim.source), "{}", claim.source);
        }
        for address in ["http://", "https://", "url(", "@import", "src="] {
            assert!(!page.contains(address), "{address}");
        }
    }
    let page = claims_page_of(&fixture::doubted(12));
    let places: Vec<usize> = ["refuted", "supported", "inconclusive"]
        .iter()
        .map(|word| page.find(&format!("<section id=\"{word}\"")).expect(word))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    let first = between(&page, "id=\"refuted\"", "</section>");
    for needle in [
        "Creating a process costs 16.31 times",
        "Source: course notes.",
        "7.3× [7.2, 7.7]",
        "Refuted (claimed: 14.8× to 17.9×)",
        "Floor 2.1 % now",
        "Evidence: ●●○ software counter",
        "Measured by: create, What does it cost",
    ] {
        assert!(first.contains(needle), "{needle} in {first}");
    }
    assert!(page.contains("href=\"report.html#experiment-create\""));
    let report = page_of(&fixture::doubted(12));
    assert!(report.contains("href=\"claims.html\""));
    let Fixture { manifest, records, summary } = &fixture::doubted(12);
    let alone = report::html_alone(&Session { manifest, records, summary });
    assert!(!alone.contains("claims.html"));
}

#[test]
fn five_thousand_trials_make_a_light_page() {
    let fixture = fixture::session(72);
    assert!(fixture.records.len() >= 5_000, "{}", fixture.records.len());
    let page = page_of(&fixture);
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    tags(&page);
    assert!(page.contains("drawn, evenly by rank"));
}

#[test]
fn a_session_without_anything_still_renders() {
    let mut fixture = fixture::session(0);
    tags(&page_of(&fixture));
    fixture.manifest.designs.clear();
    tags(&page_of(&fixture));
    fixture.summary.experiments.clear();
    fixture.summary.trust = model::Trust::default();
    fixture.summary.complete = false;
    let page = page_of(&fixture);
    tags(&page);
    assert!(page.contains("not complete"));
    assert!(page.contains("how far this machine can be trusted is not known"));
}

/// What a page of the profile `standard` has at most.
const STANDARD_BYTES: usize = 2_600_000;

/// The whole catalog as the profile `standard` measures it, in 12 blocks.
#[test]
fn a_standard_session_stays_within_its_bytes() {
    let fixture = grown::session(model::Profile::Standard, 9_000, 8);
    assert!(fixture.records.len() >= 9_000);
    let page = page_of(&fixture);
    tags(&page);
    assert!(page.len() <= STANDARD_BYTES, "{} bytes", page.len());
    // Each experiment has its trials on the page, and they take all that the rest leaves.
    assert!(page.len() > STANDARD_BYTES - 40_000, "{} bytes", page.len());
    assert_eq!(embedded(&page).len(), fixture.summary.experiments.len());
}

/// What the profile `quick` leaves is a page of two million bytes with every trial on it.
#[test]
fn the_recorded_session_makes_a_page_with_all_its_trials() {
    let fixture = recorded::session("base");
    let page = page_of(&fixture);
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    let mut trials = 0;
    for data in embedded(&page) {
        assert_eq!(data["blocks"][0], data["blocks"][1], "{}", data["experiment"]);
        assert_eq!(data["trial"].as_array().unwrap().len() as u64, data["stored"]);
        trials += data["stored"].as_u64().unwrap();
    }
    assert_eq!(trials, fixture.records.len() as u64);
}

#[test]
fn what_is_computed_has_neither_interval_nor_floor() {
    let page = page_of(&recorded::session("core"));
    for (chapter, next) in [("icache", "traps"), ("traps", "null")] {
        let from = format!("id=\"experiment-{chapter}\"");
        let to = format!("id=\"experiment-{next}\"");
        let text = between(&page, &from, &to).replace('\u{a0}', " ");
        assert!(text.contains("[exact]") && text.contains(" claims"), "{text}");
        for word in ["with the 95 %", "the 95 %", "Precision", "in all, as measured"] {
            assert!(!text.contains(word), "{chapter}: {word}");
        }
    }
}

#[test]
fn a_hundred_thousand_trials_make_a_page_of_five_million_bytes() {
    let fixture = grown::session(model::Profile::Standard, 100_000, 1);
    let page = page_of(&fixture);
    assert!(page.len() <= 5_000_000, "{} bytes", page.len());
    let embedded = embedded(&page);
    assert_eq!(embedded.len(), fixture.summary.experiments.len());
    let stored: u64 = embedded.iter().map(|data| data["stored"].as_u64().unwrap()).sum();
    assert_eq!(stored, fixture.records.len() as u64);
}
