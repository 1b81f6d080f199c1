//! Which documents are pages of the book, where they stand in it, and what becomes of their links.

use super::markdown;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The list of all pages, from the root of the workspace.
pub(crate) const SUMMARY: &str = "docs/book/SUMMARY.md";

/// The pages of the book by their paths in the workspace, and where they come to stand.
///
/// A document that has another home (the glossary, the change log) stays there and is a page all
/// the same, so that no text stands twice and every link also leads somewhere in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shelf {
    /// Paths from the root of the workspace, in the order of the summary.
    pages: Vec<String>,
}

impl Shelf {
    /// The pages that a summary names.
    pub(crate) fn of(summary: &str) -> Shelf {
        let mut pages: Vec<String> = Vec::new();
        for link in markdown::links(summary) {
            if let Some(path) = resolve(SUMMARY, &summary[link.target])
                && !pages.contains(&path)
            {
                pages.push(path);
            }
        }
        Shelf { pages }
    }

    /// The pages, in their order.
    pub(crate) fn pages(&self) -> &[String] {
        &self.pages
    }

    /// A page as the book shows it, and the files beside it that it links to: a link to another
    /// page leads there, a link to a picture or a schema to its copy, and a link to what is not
    /// part of the book (a source file) becomes its words.
    fn rewrite(&self, page: &str, text: &str) -> (String, BTreeSet<String>) {
        let mut out = text.to_string();
        let mut beside = BTreeSet::new();
        for link in markdown::links(text).into_iter().rev() {
            let target = &text[link.target.clone()];
            if target.starts_with('#') || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, fragment) = match target.split_once('#') {
                Some((file, fragment)) => (file, format!("#{fragment}")),
                None => (target, String::new()),
            };
            let path =
                resolve(page, file).filter(|path| self.pages.contains(path) || goes_along(path));
            match path {
                Some(path) => {
                    let new = format!("{}{fragment}", relative(&place(page), &place(&path)));
                    out.replace_range(link.target, &new);
                    if !self.pages.contains(&path) {
                        beside.insert(path);
                    }
                }
                None => out.replace_range(link.whole, &text[link.text]),
            }
        }
        (out, beside)
    }

    /// Writes the book's sources into an empty folder: `SUMMARY.md`, the pages, and what they show.
    ///
    /// # Errors
    /// If a page or a picture cannot be read, two files would take one place, or nothing can be
    /// written.
    pub(crate) fn stage(&self, root: &Path, folder: &Path) -> Result<()> {
        let mut taken = BTreeSet::new();
        let mut beside = BTreeSet::new();
        let mut put = |path: &str, bytes: &[u8]| -> Result<()> {
            let place = place(path);
            ensure!(taken.insert(place.clone()), "{path}: something else is {place} in the book");
            write(&folder.join(place), bytes)
        };
        for page in [SUMMARY.to_string()].iter().chain(&self.pages) {
            let text = std::fs::read_to_string(root.join(page))
                .with_context(|| format!("cannot read {page}, which the summary names"))?;
            let (text, more) = self.rewrite(page, &text);
            put(page, text.as_bytes())?;
            beside.extend(more);
        }
        for path in &beside {
            let bytes = std::fs::read(root.join(path))
                .with_context(|| format!("cannot read {path}, to which a page links"))?;
            put(path, &bytes)?;
        }
        Ok(())
    }
}

/// What is no page and yet goes along when a page links to it: pictures, schemas, examples.
fn goes_along(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("docs/") && !path.ends_with(".md") && name.contains('.')
}

/// Where a file of the workspace stands in the book: `docs/book` and `docs` are left out.
fn place(path: &str) -> String {
    let inner = path.strip_prefix("docs/book/").or_else(|| path.strip_prefix("docs/"));
    inner.unwrap_or(path).to_string()
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

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(folder) = path.parent() else { bail!("{} is no file", path.display()) };
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Shelf, place, relative, resolve};

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
        assert_eq!(place("docs/book/a/first.md"), "a/first.md");
        assert_eq!(place("docs/glossary.md"), "glossary.md");
        assert_eq!(place("CHANGELOG.md"), "CHANGELOG.md");
    }

    #[test]
    fn links_follow_the_pages_and_what_is_no_page_becomes_its_words() {
        let text = "[g](../../glossary.md#trial) [l](../../../CHANGELOG.md) [s](../../../crates/x.rs) \
            ![p](../../report.png) [h](#here) [w](https://example.org) [out](../../../../x.md)";
        let (page, beside) = shelf().rewrite("docs/book/a/first.md", text);
        assert_eq!(
            page,
            "[g](../glossary.md#trial) [l](../CHANGELOG.md) s ![p](../report.png) [h](#here) \
             [w](https://example.org) out"
        );
        assert_eq!(beside.into_iter().collect::<Vec<_>>(), ["docs/report.png"]);
        let (page, _) =
            shelf().rewrite("docs/glossary.md", "[`T`](../crates/t.rs) [a](book/a/first.md)");
        assert_eq!(page, "`T` [a](a/first.md)");
    }

    #[test]
    fn two_files_do_not_take_one_place() {
        let folder = std::env::temp_dir().join(format!("scruple-book-{}", std::process::id()));
        let put =
            |path: &str, text: &str| super::write(&folder.join(path), text.as_bytes()).unwrap();
        put("docs/book/SUMMARY.md", "[a](a.md) [b](../a.md)");
        put("docs/book/a.md", "![p](../p.png)");
        put("docs/p.png", "picture");
        let summary = |text| Shelf::of(text).stage(&folder, &folder.join("staged"));
        summary("[a](a.md)").unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("staged/a.md")).unwrap(), "![p](p.png)");
        assert_eq!(std::fs::read_to_string(folder.join("staged/p.png")).unwrap(), "picture");
        put("docs/a.md", "");
        let said = summary("[a](a.md) [b](../a.md)").unwrap_err().to_string();
        assert!(said.contains("docs/a.md"), "{said}");
        let said = summary("[c](gone.md)").unwrap_err().to_string();
        assert!(said.contains("docs/book/gone.md"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
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
