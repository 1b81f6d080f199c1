//! `cargo xtask book`: the documents as a site, in target/book.
//!
//! A document that has another home (the glossary, the change log) stays there and is a page all the
//! same, so that no text stands twice and every link also leads somewhere in the repository.

use crate::markdown::{self, Link};
use crate::shell::remove;
use crate::{steps, tidy};
use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{CowStr, Event, Tag, TagEnd, html};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The list of all pages, from the root of the workspace.
pub(crate) const SUMMARY: &str = "docs/book/SUMMARY.md";

/// What stands around the text of each page.
const FRAME: &str = "docs/book/page.html";

/// What every page loads.
const LOADED: [&str; 2] = ["docs/book/book.css", "docs/book/search.js"];

/// Builds the site.
///
/// # Errors
/// If a link of a document leads nowhere, or a file cannot be read or written.
pub(crate) fn book(root: &Path) -> Result<()> {
    let dead = tidy::dead_links(&tidy::Tree::read(root)?);
    ensure!(dead.is_empty(), "the site would have dead links:\n  {}", dead.join("\n  "));
    let site = steps::target(root).join("book");
    remove(&site)?;
    let shelf = Shelf::of(&read(root, SUMMARY)?);
    shelf.render(root, &site)?;
    println!("-- {} pages: {}", shelf.pages.len(), site.join("index.html").display());
    Ok(())
}

/// The pages of the book by their paths in the workspace, in the order of the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shelf {
    pages: Vec<String>,
    titles: Vec<String>,
}

/// A page as the book shows it.
#[derive(Debug, Default)]
struct Page {
    html: String,
    /// The files that it links to and that are no pages: pictures, schemas, examples.
    beside: BTreeSet<String>,
    /// For the search: each part's address from the root of the book, its heading and its text.
    parts: Vec<[String; 3]>,
}

impl Shelf {
    /// The pages that a summary names.
    pub(crate) fn of(summary: &str) -> Shelf {
        let mut shelf = Shelf::default();
        for Link { target, text, .. } in markdown::links(summary) {
            if let Some(path) = resolve(SUMMARY, &target)
                && !shelf.pages.contains(&path)
            {
                shelf.pages.push(path);
                shelf.titles.push(text);
            }
        }
        shelf
    }

    /// The pages, in their order.
    pub(crate) fn pages(&self) -> &[String] {
        &self.pages
    }

    /// Where a link in the document `of` leads when the page `on` shows it: to another page, or to the
    /// copy of a picture or a schema. Returns none for what is not part of the book (a source file).
    fn follow(&self, of: &str, on: &str, target: &str) -> Option<(String, String)> {
        let (file, fragment) = target.split_at(target.find('#').unwrap_or(target.len()));
        let path = resolve(of, file)?;
        let along = path.starts_with("docs/") && !path.ends_with(".md") && path.contains('.');
        (along || self.pages.contains(&path))
            .then(|| (format!("{}{fragment}", relative(&place(on), &place(&path))), path))
    }

    /// Renders the document `of` for the page `on`. A link to what is not part of the book becomes
    /// its words.
    fn page(&self, of: &str, on: &str, text: &str) -> Page {
        let mut page = Page { parts: vec![Default::default()], ..Page::default() };
        let mut anchors = markdown::anchors(text).into_iter();
        let mut kept = Vec::new();
        let (mut events, mut in_heading) = (Vec::new(), false);
        for (mut event, _) in markdown::events(text) {
            match &mut event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let elsewhere = dest_url.starts_with('#') || is_elsewhere(dest_url);
                    let found = self.follow(of, on, dest_url);
                    kept.push(elsewhere || found.is_some());
                    if let Some((target, path)) = found.filter(|_| !elsewhere) {
                        *dest_url = CowStr::from(target);
                        if !self.pages.contains(&path) {
                            page.beside.insert(path);
                        }
                    }
                    if kept.last() == Some(&false) {
                        continue;
                    }
                }
                Event::End(TagEnd::Link | TagEnd::Image) if kept.pop() == Some(false) => continue,
                Event::Start(Tag::Heading { id, .. }) => {
                    in_heading = true;
                    let anchor = anchors.next().unwrap_or_default();
                    page.parts.push([
                        format!("{}#{anchor}", place(on)),
                        String::new(),
                        String::new(),
                    ]);
                    *id = Some(CowStr::from(anchor));
                }
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::End(TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item) => {
                    page.note(false, " ");
                }
                other => page.note(in_heading, markdown::words(other)),
            }
            events.push(event);
        }
        html::push_html(&mut page.html, events.into_iter());
        page
    }

    /// Writes the book into an empty folder: the pages, what they show, and an index for the search.
    ///
    /// # Errors
    /// If a page or a picture cannot be read, two files would take one place, or nothing can be
    /// written.
    fn render(&self, root: &Path, folder: &Path) -> Result<()> {
        let (frame, summary) = (read(root, FRAME)?, read(root, SUMMARY)?);
        let (mut taken, mut beside, mut parts) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let mut put = |path: &str, bytes: &[u8]| -> Result<()> {
            let place = place(path);
            ensure!(taken.insert(place.clone()), "{path}: something else is {place} in the book");
            write(&folder.join(place), bytes)
        };
        let titled: Vec<_> = self.pages.iter().zip(&self.titles).collect();
        for (index, (path, title)) in titled.iter().enumerate() {
            let page = self.page(path, path, &read(root, path)?);
            let to = |neighbour: Option<&(&String, &String)>| match neighbour {
                Some((other, title)) => {
                    let address = relative(&place(path), &place(other));
                    format!("<a href=\"{address}\">{title}</a>")
                }
                None => String::new(),
            };
            let own = relative(&place(path), &place(path));
            let list = self.page(SUMMARY, path, &summary).html;
            let html = [
                ("{title}", (*title).clone()),
                ("{root}", "../".repeat(place(path).matches('/').count())),
                (
                    "{pages}",
                    list.replace(
                        &format!("href=\"{own}\""),
                        &format!("href=\"{own}\" aria-current=\"page\""),
                    ),
                ),
                ("{before}", to(index.checked_sub(1).and_then(|before| titled.get(before)))),
                ("{after}", to(titled.get(index + 1))),
                ("{text}", page.html),
            ]
            .iter()
            .fold(frame.clone(), |html, (name, value)| html.replace(name, value));
            put(path, html.as_bytes())?;
            if index == 0 {
                write(&folder.join("index.html"), html.as_bytes())?;
            }
            beside.extend(page.beside);
            parts.extend(
                page.parts.into_iter().map(|[at, head, text]| json!([title, at, head, text])),
            );
        }
        for path in beside.iter().map(String::as_str).chain(LOADED) {
            let bytes = std::fs::read(root.join(path))
                .with_context(|| format!("cannot read {path}, to which a page links"))?;
            put(path, &bytes)?;
        }
        write(&folder.join("parts.js"), format!("const parts = {};\n", json!(parts)).as_bytes())
    }
}

impl Page {
    /// Notes words of the newest part, or of its heading.
    fn note(&mut self, in_heading: bool, words: &str) {
        if let Some([_, heading, text]) = self.parts.last_mut() {
            if in_heading { heading } else { text }.push_str(words);
        }
    }
}

/// Reports whether a link leads out of the repository.
pub(crate) fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// Where a file of the workspace stands in the book: `docs/book` and `docs` are left out, and a
/// document is a page.
fn place(path: &str) -> String {
    let inner = path.strip_prefix("docs/book/").or_else(|| path.strip_prefix("docs/"));
    let inner = inner.unwrap_or(path);
    inner.strip_suffix(".md").map_or(inner.to_string(), |name| format!("{name}.html"))
}

/// The file that a link in `page` means, from the root; none if it leads out of the workspace.
pub(crate) fn resolve(page: &str, target: &str) -> Option<String> {
    let file = target.split('#').next()?;
    if file.is_empty() || file.contains("://") {
        return None;
    }
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut plain = PathBuf::new();
    for component in folder.join(file).components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            _ => return None,
        }
    }
    plain.to_str().map(String::from)
}

/// The link from one file of the book to another.
fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len() - 1;
    let common =
        from[..folders].iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folders - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(folder) = path.parent() else { bail!("{} is no file", path.display()) };
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{FRAME, LOADED, Shelf, place, relative, resolve};

    fn shelf() -> Shelf {
        Shelf::of(
            "# Summary\n[In](introduction.md)\n- [A](a/first.md)\n- [G](../glossary.md)\n\
            - [Changes](../../CHANGELOG.md)\n- [again](a/first.md)\n",
        )
    }

    #[test]
    fn the_summary_names_pages_wherever_they_lie() {
        let pages = [
            "docs/book/introduction.md",
            "docs/book/a/first.md",
            "docs/glossary.md",
            "CHANGELOG.md",
        ];
        assert_eq!(shelf().pages(), pages);
        assert_eq!(place("docs/book/a/first.md"), "a/first.html");
        assert_eq!(place("docs/glossary.md"), "glossary.html");
        assert_eq!(place("CHANGELOG.md"), "CHANGELOG.html");
        assert_eq!(place("docs/report.png"), "report.png");
    }

    #[test]
    fn links_follow_the_pages_and_what_is_no_page_becomes_its_words() {
        let text = "[g](../../glossary.md#trial) [l](../../../CHANGELOG.md) [s](../../../crates/x.rs) \
            ![p](../../report.png) [h](#here) [w](https://example.org) [out](../../../../x.md)";
        let path = "docs/book/a/first.md";
        let page = shelf().page(path, path, text);
        assert_eq!(
            page.html.trim(),
            "<p><a href=\"../glossary.html#trial\">g</a> <a href=\"../CHANGELOG.html\">l</a> s \
             <img src=\"../report.png\" alt=\"p\" /> <a href=\"#here\">h</a> \
             <a href=\"https://example.org\">w</a> out</p>"
        );
        assert_eq!(page.beside.into_iter().collect::<Vec<_>>(), ["docs/report.png"]);
        let glossary = "docs/glossary.md";
        let text = "[`T`](../crates/t.rs) [a](book/a/first.md)";
        assert_eq!(
            shelf().page(glossary, glossary, text).html.trim(),
            "<p><code>T</code> <a href=\"a/first.html\">a</a></p>"
        );
    }

    #[test]
    fn every_part_of_a_page_can_be_found() {
        let text = "Before.\n\n# One `two`\n\nA *b*\nc.\n\nd\n\n## [Last](a.md)\n";
        let page = shelf().page("docs/glossary.md", "docs/glossary.md", text);
        let parts: Vec<String> = page.parts.iter().map(|part| part.join("|")).collect();
        assert_eq!(
            parts,
            ["||Before. ", "glossary.html#one-two|One two|A b c. d ", "glossary.html#last|Last|",]
        );
    }

    #[test]
    fn two_files_do_not_take_one_place() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let put =
            |path: &str, text: &str| super::write(&folder.join(path), text.as_bytes()).unwrap();
        put("docs/book/SUMMARY.md", "[a](a.md) [b](../a.md)");
        put("docs/book/a.md", "![p](../p.png)");
        put("docs/p.png", "picture");
        put(FRAME, "<title>{title}</title>{root}{pages}{text}{before}{after}");
        for path in LOADED {
            put(path, "");
        }
        let render = |text| Shelf::of(text).render(folder, &folder.join("site"));
        let found = |path| std::fs::read_to_string(folder.join("site").join(path)).unwrap();
        render("[a](a.md)").unwrap();
        let page = found("a.html");
        assert!(page.contains("<title>a</title>") && page.contains("src=\"p.png\""), "{page}");
        assert!(page.contains("<a href=\"a.html\" aria-current=\"page\">a</a>"), "{page}");
        assert_eq!(found("index.html"), page);
        assert_eq!(found("p.png"), "picture");
        put("docs/a.md", "");
        let said = render("[a](a.md) [b](../a.md)").unwrap_err().to_string();
        assert!(said.contains("docs/a.md"), "{said}");
        let said = render("[c](gone.md)").unwrap_err().to_string();
        assert!(said.contains("docs/book/gone.md"), "{said}");
    }

    #[test]
    fn paths_are_joined_and_taken_apart() {
        assert_eq!(resolve("docs/a.md", "../x/y.md#z").as_deref(), Some("x/y.md"));
        assert_eq!(resolve("a.md", "../y.md"), None);
        assert_eq!(relative("a/b.md", "a/c.md"), "c.md");
        assert_eq!(relative("a/b/c.md", "a/d/e.png"), "../d/e.png");
        assert_eq!(relative("a.md", "b/c.md"), "b/c.md");
    }
}
