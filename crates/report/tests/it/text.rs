//! What people read in a terminal and in the docs, as reviewed snapshots.

use crate::fixture;
use crate::fixture::Fixture;
use crate::plain::plain;
use crate::recorded;
use model::{ClaimResult, Design, Profile, Verdict};
use report::{Letters, Session, catalog};
use unicode_width::UnicodeWidthStr;

fn terminal(fixture: &fixture::Fixture, width: usize) -> String {
    let session = Session {
        manifest: &fixture.manifest,
        records: &fixture.records,
        summary: &fixture.summary,
    };
    report::terminal(&session, width, Letters::Unicode, Some(45))
}

#[test]
fn the_final_summary() {
    let fixture = fixture::session(12);
    insta::assert_snapshot!("terminal_100", plain(&terminal(&fixture, 100)));
    insta::assert_snapshot!("terminal_60", plain(&terminal(&fixture, 60)));
}

#[test]
fn accounts_rates_exhibits_and_refusals() {
    let fixture = fixture::mechanisms(12);
    let session = Session {
        manifest: &fixture.manifest,
        records: &fixture.records,
        summary: &fixture.summary,
    };
    insta::assert_snapshot!("mechanisms_100", plain(&terminal(&fixture, 100)));
    insta::assert_snapshot!(
        "mechanisms_whole",
        plain(&report::terminal(&session, 100, Letters::Unicode, None))
    );
    insta::assert_snapshot!(
        "mechanisms_narrow",
        plain(&report::terminal(&session, 44, Letters::Unicode, None))
    );
}

#[test]
fn a_session_to_be_doubted() {
    let fixture = fixture::doubted(12);
    let Fixture { manifest, records, summary } = &fixture;
    let session = Session { manifest, records, summary };
    let cut = plain(&terminal(&fixture, 100));
    // The first thing after the header, whatever else there is no room for.
    let second = cut.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("✗ Do not believe differences of up to 7.1 %"), "{cut}");
    assert!(cut.lines().count() <= 45, "{cut}");
    assert!(cut.contains("! Autogroup is on"), "{cut}");
    assert!(!cut.contains("ten times the time"), "{cut}");
    insta::assert_snapshot!(
        "doubted_whole",
        plain(&report::terminal(&session, 100, Letters::Unicode, None))
    );
    insta::assert_snapshot!(
        "doubted_narrow",
        plain(&report::terminal(&session, 60, Letters::Unicode, None))
    );
}

#[test]
fn a_catalog_of_any_size_shows_each_answer_in_a_line() {
    let mut fixture = fixture::session(12);
    let pattern = fixture.summary.experiments.clone();
    let more = (0..18).map(|index| {
        let mut experiment = pattern[index % 2].clone();
        experiment.id = format!("number_{index}");
        for claim in &mut experiment.claims {
            claim.verdict = [Verdict::Refuted, Verdict::Supported][index % 2];
        }
        experiment
    });
    fixture.summary.experiments = more.collect();
    let designs = fixture.manifest.designs.clone();
    let ids = fixture.summary.experiments.iter().map(|experiment| experiment.id.clone());
    let named =
        ids.zip(designs.iter().take(2).cycle()).map(|(id, design)| Design { id, ..design.clone() });
    fixture.manifest.designs.extend(named);
    let text = plain(&terminal(&fixture, 100));
    assert!(text.lines().count() <= 45, "{text}");
    for experiment in &fixture.summary.experiments {
        let line = text.lines().find(|line| line.starts_with(&format!("{} ", experiment.id)));
        assert!(line.is_some_and(|line| line.chars().count() <= 100), "{text}");
    }
    insta::assert_snapshot!("terminal_brief", text);
}

#[test]
fn the_whole_recorded_catalog_on_one_screen() {
    let base = recorded::session("base");
    let Fixture { manifest, records, summary } = &base;
    let session = Session { manifest, records, summary };
    let at =
        |width, height| plain(&report::terminal(&session, width, Letters::Unicode, Some(height)));
    insta::assert_snapshot!("recorded_brief_100", at(100, 47));
    insta::assert_snapshot!("recorded_brief_80", at(80, 47));
    // What README shows of the session is what the session shows.
    let readme = include_str!("../../../../README.md");
    let block = readme.split("```\n$ scruple run\n").nth(1).unwrap().split("```").next().unwrap();
    let (shown, own) = (at(100, 47), ["…", "Report: "]);
    let mut lines = block.lines().filter(|line| !own.iter().any(|own| line.starts_with(own)));
    assert!(block.lines().count() > 30);
    assert!(lines.all(|line| shown.lines().any(|it| it == line)), "README is stale:\n{shown}");
    // A picture of the main answers that fits on one screen.
    for width in [80, 120] {
        let text = at(width, 37);
        assert!(text.contains("├") && text.lines().count() <= 44, "{text}");
    }
    // No answer is cut, however little room there is.
    for (width, height) in [(80, 37), (80, 77), (50, 40), (120, 10)] {
        let text = at(width, height);
        assert!(!text.lines().any(|line| line.ends_with('…')), "{text}");
    }
}

#[test]
fn planted_answers_and_diagnoses() {
    let fixture = fixture::doubted(12);
    let Fixture { manifest, records, summary } = &fixture;
    let session = Session { manifest, records, summary };
    insta::assert_snapshot!("selftest_110", plain(&report::selftest_text(&session, 110)));
    insta::assert_snapshot!("selftest_80", plain(&report::selftest_text(&session, 80)));
    insta::assert_snapshot!("selftest_44", plain(&report::selftest_text(&session, 44)));
    let told = analysis::selftest(summary);
    insta::assert_snapshot!("grade_100", plain(&report::grade(&told).text(100)));
    for width in [100, 80] {
        let text = plain(&report::selftest_text(&session, width));
        assert!(!text.contains('…'), "nothing is cut at {width} columns: {text}");
    }
    let nothing = fixture::session(3);
    let Fixture { manifest, records, summary } = &nothing;
    assert_eq!(report::selftest_text(&Session { manifest, records, summary }, 80), "");
}

#[test]
fn without_a_control_that_is_said_first() {
    let mut fixture = fixture::session(4);
    fixture.summary.trust = model::Trust::default();
    let text = plain(&terminal(&fixture, 100));
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("? No A/A control has enough trials"), "{text}");
    assert_eq!(text.matches("No A/A control").count(), 1, "{text}");
}

#[test]
fn colours_never_stand_alone() {
    let fixture = fixture::session(12);
    let Fixture { manifest, records, summary } = &fixture;
    let text = charts(&Session { manifest, records, summary }, 100, true);
    assert!(text.contains('\u{1b}'));
    let text = plain(&text);
    for (mark, word) in MARKS {
        let under =
            |lines: &[&str]| lines[0].trim_start().starts_with(mark) && lines[1].contains(word);
        assert!(text.lines().collect::<Vec<_>>().windows(2).any(under), "{word} in {text}");
    }
}

const MARKS: [(&str, &str); 3] =
    [("✗ ", "  Refuted (claimed: "), ("✓ ", "  Supported (claimed: "), ("? ", "  Inconclusive")];

fn charts(session: &Session<'_>, width: usize, all: bool) -> String {
    report::charts(session, &[], width, Letters::Unicode, all)
}

fn verdicts(text: &str) -> usize {
    let verdict = |line: &&str| {
        MARKS.iter().any(|(_, word)| line.trim_start().starts_with(word.trim_start()))
    };
    text.lines().filter(verdict).count()
}

fn more_claims(text: &str) -> usize {
    let more = text.lines().filter_map(|line| line.split_once(" more claim"));
    more.map(|(n, _)| n.trim().parse::<usize>().unwrap()).sum()
}

#[test]
fn no_verdict_is_left_out_unless_the_others_are_counted() {
    let mut fixture = fixture::session(4);
    let more: Vec<_> = fixture.summary.experiments.iter().take(2).cloned().collect();
    for _ in 0..2 {
        fixture.summary.experiments.extend(more.clone());
    }
    let Fixture { manifest, records, summary } = &fixture;
    let session = Session { manifest, records, summary };
    let claims: usize = summary.experiments.iter().map(|e| e.claims.len()).sum();
    for all in [false, true] {
        let text = plain(&charts(&session, 120, all));
        assert_eq!(verdicts(&text) + more_claims(&text), claims, "{text}");
    }
    let text = plain(&report::terminal(&session, 120, Letters::Unicode, None));
    assert_eq!(verdicts(&text) + more_claims(&text), claims, "{text}");
    assert!(more_claims(&text) > 0, "{text}");
}

/// Nothing ends in dots and nothing is wider than asked for, on a terminal or in a file, of any session.
#[test]
fn no_sentence_of_a_recorded_session_is_cut() {
    for name in ["base", "later", "speedup", "servers", "core"] {
        let recorded = recorded::session(name);
        let Fixture { manifest, records, summary } = &recorded;
        let session = Session { manifest, records, summary };
        for width in [50, 80, 100, 120] {
            let mut texts = vec![
                report::terminal(&session, width, Letters::Unicode, None),
                report::terminal(&session, width, Letters::Unicode, Some(37)),
                charts(&session, width, false),
            ];
            texts.extend((width == 80).then(|| charts(&session, width, true)));
            let designs = manifest.designs.iter();
            texts.extend(designs.flat_map(|design| {
                [false, true].map(|all| catalog::explain(design, Profile::Quick, width, all))
            }));
            for line in texts.iter().map(|text| plain(text)).flat_map(|text| lines(&text)) {
                let end = line.trim_end_matches(['.', ')', '"', '”', ' ']);
                // One recorded finding ends in dots of its own, and an exhibit quotes what is left out.
                let own = end.ends_with(" long…") || end.ends_with("  …") || end == "long…";
                assert!(own || !end.ends_with('…'), "{name}, {width} columns: {line}");
                assert!(line.width() <= width, "{name}, {width} columns: {line}");
            }
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(ToString::to_string).collect()
}

#[test]
fn of_many_claims_those_that_are_not_shown_are_counted() {
    let mut fixture = fixture::session(4);
    let claims = fixture.summary.experiments[0].claims.clone();
    let ids = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    fixture.summary.experiments[0].claims = ids
        .iter()
        .flat_map(|id| {
            claims
                .iter()
                .cloned()
                .map(move |claim| ClaimResult { id: format!("{id}_{}", claim.id), ..claim })
        })
        .collect();
    let text = plain(&terminal(&fixture, 100));
    assert!(text.lines().count() <= 45, "{} lines\n{text}", text.lines().count());
    // Those that were decided come first; what is not shown is counted.
    let shown: Vec<&str> = text.lines().take_while(|line| !line.contains(" more claim")).collect();
    let decided = shown.iter().filter(|line| line.starts_with(['✗', '✓'])).count();
    assert!(decided > 0 && decided == verdicts(&shown.join("\n")), "{text}");
    let all = fixture.summary.experiments[0].claims.len();
    assert!(text.contains(&format!("\n{} more claims\n", all - decided)), "{text}");
}

#[test]
fn the_worst_warnings_come_first_and_what_all_share_is_said_once() {
    let mut fixture = fixture::session(4);
    for experiment in &mut fixture.summary.experiments {
        experiment.warnings = vec!["only 4 blocks".into()];
    }
    let [.., last] = &mut fixture.summary.experiments[..] else { panic!("no experiment") };
    last.failed_checks = vec![("work".into(), 2)];
    last.warnings.push("check \"work\" failed in 2 of 8 trials".into());
    let text = plain(&terminal(&fixture, 100));
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("! ")).collect();
    let all = "! all experiments: only 4 blocks";
    assert_eq!(warnings, ["! null: check \"work\" failed in 2 of 8 trials", all]);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let fixture = fixture::session(4);
    let designs = &fixture.manifest.designs;
    for width in [40, 60, 80, 120] {
        let texts = [
            terminal(&fixture, width),
            catalog::list(designs, Profile::Quick, width),
            catalog::explain(&designs[0], Profile::Quick, width, true),
            catalog::explain(&designs[0], Profile::Quick, width, false),
        ];
        for text in texts {
            for line in plain(&text).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        for fixture in [fixture::mechanisms(4), fixture::doubted(4)] {
            let Fixture { manifest, records, summary } = &fixture;
            let session = Session { manifest, records, summary };
            let whole = report::terminal(&session, width, Letters::Unicode, None);
            let planted = report::selftest_text(&session, width);
            for line in plain(&(whole + &planted)).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut fixture = fixture::session(2);
    fixture.manifest.environment.kernel = "6.18\u{1b}]0;owned\u{7}".into();
    fixture.summary.experiments[0].question = "why\u{1b}[2J?".into();
    fixture.summary.experiments[0].warnings = vec!["\u{9b}31m\u{202e}x".into()];
    let text = plain(&terminal(&fixture, 100));
    let bad = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
    assert_eq!(text.chars().find(bad), None);
}

#[test]
fn the_catalog() {
    let designs = [fixture::create(), fixture::workers(), fixture::null()];
    insta::assert_snapshot!("list", plain(&catalog::list(&designs, Profile::Quick, 80)));
    let explained = |all| plain(&catalog::explain(&designs[0], Profile::Quick, 80, all));
    insta::assert_snapshot!("explain", explained(true));
    insta::assert_snapshot!("explain_in_short", explained(false));
    insta::assert_snapshot!("markdown", catalog::markdown(&designs));
    let designs = fixture::mechanisms(0).manifest.designs;
    let explained = catalog::explain(&designs[0], Profile::Quick, 80, true);
    insta::assert_snapshot!("explain_mechanisms", plain(&explained));
    insta::assert_snapshot!("markdown_mechanisms", catalog::markdown(&designs[..1]));
}
