//! The page as text: well formed, light, complete, and safe from what others wrote.

#![expect(clippy::expect_used, reason = "a test should stop where it fails")]

mod fixture;
mod hostile;

use fixture::Fixture;
use report::Session;

fn page_of(fixture: &Fixture) -> String {
    report::html(&Session {
        manifest: &fixture.manifest,
        records: &fixture.records,
        summary: &fixture.summary,
    })
}

/// Elements that have no end.
const VOID: [&str; 5] = ["meta", "link", "br", "hr", "img"];

/// A start tag: its name and its attributes' names.
type Tag = (String, Vec<String>);

/// All start tags of a page whose tags are balanced; panics where they are not. It reads what
/// maud writes, no more: attributes in double quotes, raw text in `style` and `script` alone.
fn tags(page: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(end) = rest.strip_prefix('/') {
            let (name, after) = end.split_once('>').expect("an end");
            assert_eq!(open.pop().as_deref(), Some(name), "before {:.80}", after);
            rest = after;
            continue;
        }
        let (tag, after) = start_tag(rest);
        let name = tag.0.clone();
        found.push(tag);
        rest = after;
        if ["style", "script"].contains(&name.as_str()) {
            let end = format!("</{name}>");
            rest = &rest[rest.find(&end).expect("an end of raw text") + end.len()..];
        } else if !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

fn start_tag(text: &str) -> (Tag, &str) {
    let end_of_name = text.find([' ', '>']).expect("a name");
    let (name, mut rest) = text.split_at(end_of_name);
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "no element: {name:?}");
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return ((name.to_string(), attributes), after);
        }
        let end = rest.find(['=', ' ', '>']).expect("an attribute");
        attributes.push(rest[..end].to_string());
        rest = &rest[end..];
        if let Some(value) = rest.strip_prefix("=\"") {
            rest = &value[value.find('"').expect("a closing quote") + 1..];
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
    assert_eq!((count("script"), count("style")), (1, 1));
    assert_eq!(count("figure"), 3 + 2 + 1);
    let figures = fixture.manifest.designs.len();
    assert_eq!(count("h2"), figures + 5);
    for needle in [
        "Creating a process costs ",
        "✗</span> refuted",
        "✓</span> supported",
        "?</span> inconclusive",
        "clone3 is blocked by a seccomp filter here",
        "check failed",
        "scruple run create --seed 20261120 --profile quick",
        "scruple run create workers null --seed 20261120 --profile quick",
        "the return of the call that waits",
        "cgroup v1 cpu.shares=262144",
        "transparent huge pages",
        "course notes",
        "True if it is <b>at least 2×</b>",
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
    let mut places: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(places.contains(&link), "{link}");
    }
    let all = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), all);
}

#[test]
fn text_from_outside_stays_text() {
    let fixture = hostile::bitten();
    let page = page_of(&fixture);
    let tags = tags(&page);
    let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
    assert_eq!((count("script"), count("style"), count("title")), (1, 1, 1));
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
