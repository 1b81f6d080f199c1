//! Looks at the site that was built: mdBook renders a link to nothing without a word.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The names by which the parts of one page can be reached.
type Anchors = Vec<String>;

/// Every link of the built pages that leads nowhere, with the page it stands in.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn dead_links(site: &Path) -> Result<Vec<String>> {
    let mut files = BTreeMap::new();
    read(site, "", &mut files)?;
    Ok(dead(&files))
}

/// All files below a folder; the text of those that are pages.
fn read(folder: &Path, below: &str, files: &mut BTreeMap<String, Option<String>>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the site in {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{name}/"), files)?;
        } else {
            let page = name.ends_with(".html").then(|| std::fs::read_to_string(entry.path()));
            files.insert(name, page.transpose()?);
        }
    }
    Ok(())
}

fn dead(files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let anchors: BTreeMap<&str, Anchors> = files
        .iter()
        .filter_map(|(name, text)| Some((name.as_str(), values(text.as_ref()?, "id"))))
        .collect();
    let mut found = Vec::new();
    for (name, text) in files {
        // The page for printing is all others in one, the page for what is not found stands
        // anywhere, and the list of pages is shown inside others.
        let Some(text) = text
            .as_ref()
            .filter(|_| !["print.html", "404.html", "toc.html"].contains(&name.as_str()))
        else {
            continue;
        };
        for link in ["href", "src"].iter().flat_map(|attribute| values(text, attribute)) {
            let (file, fragment) = link.split_once('#').unwrap_or((&link, ""));
            if file.contains(':') {
                continue;
            }
            let target = if file.is_empty() {
                Some(name.clone())
            } else {
                super::shelf::resolve(name, file)
            };
            let there = target.is_some_and(|target| {
                files.contains_key(&target)
                    && (fragment.is_empty()
                        || anchors
                            .get(target.as_str())
                            .is_some_and(|known| known.iter().any(|anchor| anchor == fragment)))
            });
            if !there {
                found.push(format!("{name}: {link} leads nowhere"));
            }
        }
    }
    found
}

/// The values of an attribute, wherever it stands in a page.
fn values(page: &str, attribute: &str) -> Vec<String> {
    let before = format!(" {attribute}=\"");
    let found = page.split(before.as_str()).skip(1).filter_map(|rest| rest.split('"').next());
    found.map(|value| value.replace("&amp;", "&")).collect()
}

#[cfg(test)]
mod tests {
    use super::dead;
    use std::collections::BTreeMap;

    #[test]
    fn a_link_to_nothing_is_found() {
        let page = "<a href=\"b.html#two\"> <a href=\"b.html#three\"> <a href=\"c.html\"> \
            <img src=\"p/x.png\"> <a href=\"#one\"> <h1 id=\"one\"> <a href=\"https://example.org\"> \
            <a href=\"../up.html\">";
        let page_of = |text: &str| Some(text.to_string());
        let files = BTreeMap::from([
            ("a.html".to_string(), page_of(page)),
            ("b.html".to_string(), page_of("<p id=\"two\">")),
            ("p/x.png".to_string(), None),
            ("print.html".to_string(), page_of("<a href=\"gone\">")),
        ]);
        assert_eq!(
            dead(&files),
            [
                "a.html: b.html#three leads nowhere",
                "a.html: c.html leads nowhere",
                "a.html: ../up.html leads nowhere",
            ]
        );
    }
}
