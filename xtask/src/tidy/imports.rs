//! Which room may import which, and who may write `unsafe`.

use super::{Fault, SourceFile, Tree};

/// The only room with `unsafe` code.
const UNSAFE_ROOM: &str = "sys";

/// Sections of a Cargo.toml that make one room need another; tests may reach further.
fn is_import(section: &str) -> bool {
    let section = section.trim_start_matches("target.");
    section.ends_with("dependencies") && !section.ends_with("dev-dependencies")
}

/// A dependency as a Cargo.toml declares it.
struct Dependency<'a> {
    /// The line it stands on, from 0.
    index: usize,
    section: &'a str,
    name: &'a str,
    /// What is said of it.
    terms: &'a str,
}

/// Every dependency of a package, whichever way it is written.
fn dependencies(manifest: &SourceFile) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (index, line) in manifest.text.lines().enumerate() {
        let line = line.split_once(" #").map_or(line, |(before, _)| before).trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = header;
            // [dependencies.name]
            if let Some((parent, name)) = header.rsplit_once('.')
                && parent.ends_with("dependencies")
            {
                found.push(Dependency { index, section: parent, name, terms: "" });
            }
        } else if section.ends_with("dependencies")
            && let Some((key, terms)) = line.split_once('=')
        {
            let (name, more) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
            let terms = if more.is_empty() { terms.trim() } else { &line[name.len() + 1..] };
            let name = renamed(terms).unwrap_or(name);
            found.push(Dependency { index, section, name, terms });
        } else if let Some(dependency) = found.last_mut()
            && section.ends_with(&format!(".{}", dependency.name))
        {
            dependency.terms = line;
        }
    }
    found
}

/// The package that is meant, where it is imported under another name.
fn renamed(terms: &str) -> Option<&str> {
    let (_, after) = terms.split_once("package")?;
    after.split('"').nth(1)
}

/// Every import of one room by another is in the table of ARCHITECTURE.md. It has no row for xtask,
/// which may import none.
pub(super) fn edges(tree: &Tree) -> Vec<Fault> {
    let page = tree.file("ARCHITECTURE.md").map_or("", |page| &page.text);
    let rooms: Vec<&str> = tree.packages().map(|(folder, _)| room(folder)).collect();
    let mut faults = Vec::new();
    for (folder, manifest) in tree.packages() {
        let room = room(folder);
        let row = format!("| `{room}` | ");
        let allowed = page.lines().find_map(|line| line.strip_prefix(&row)?.split(" |").next());
        let Some(allowed) = allowed.or((room == "xtask").then_some("–")) else {
            faults.push(manifest.fault(format!("room {room} is not in the import table")));
            continue;
        };
        for dependency in dependencies(manifest) {
            let name = dependency.name;
            let may = allowed == "all" || allowed.split(", ").any(|other| other == name);
            if is_import(dependency.section) && rooms.contains(&name) && !may {
                let what = format!("room {room} may not import {name}");
                faults.push(manifest.fault_at(dependency.index, what));
            }
        }
    }
    faults
}

/// The last folder of a package's path; `the_tree_is_tidy` holds that it is the package's name.
fn room(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

/// Every room takes the workspace's lints, which forbid `unsafe`; only one has its own.
pub(super) fn lints(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(root) = tree.file("Cargo.toml")
        && !section(&root.text, "workspace.lints.rust").contains(&"unsafe_code = \"forbid\"")
    {
        faults.push(root.fault("[workspace.lints.rust] must have unsafe_code = \"forbid\""));
    }
    for (folder, manifest) in tree.packages() {
        let room = room(folder);
        if !section(&manifest.text, "package").contains(&format!("name = \"{room}\"").as_str()) {
            faults.push(manifest.fault(format!("the package must be called {room}")));
        }
        if room != UNSAFE_ROOM && !section(&manifest.text, "lints").contains(&"workspace = true") {
            let what = format!("only {UNSAFE_ROOM} has lints of its own: [lints] workspace = true");
            faults.push(manifest.fault(what));
        }
    }
    faults
}

/// The lines of one section of a Cargo.toml.
pub(super) fn section<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let header = format!("[{name}]");
    text.lines()
        .map(str::trim)
        .skip_while(|line| *line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .collect()
}

/// Rooms take their libraries from the workspace, where each has one version and a reason.
pub(super) fn versions(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, manifest) in tree.packages() {
        for dependency in dependencies(manifest) {
            let terms: String = dependency.terms.split_whitespace().collect();
            if !terms.contains("workspace=true") {
                let what = format!(
                    "{} must come from [workspace.dependencies]: {}.workspace = true",
                    dependency.name, dependency.name
                );
                faults.push(manifest.fault_at(dependency.index, what));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::{edges, lints, versions};

    const TABLE: (&str, &str) = (
        "ARCHITECTURE.md",
        "| `model` | – | the nouns |\n| `analysis` | model, laws | numbers |\n| `lab` | all | commands |\n",
    );

    fn texts(faults: Vec<super::Fault>) -> Vec<String> {
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_names_both_rooms() {
        let analysis = "[dependencies]\nmodel.workspace = true\nserde.workspace = true\n";
        assert_eq!(edges(&tree([TABLE, ("crates/analysis/Cargo.toml", analysis)])), []);
        assert_eq!(edges(&tree([TABLE, ("crates/lab/Cargo.toml", analysis)])), []);
        for line in [
            "sys.workspace = true",
            "sys = { workspace = true, features = [] }",
            "kernel = { package = \"sys\", path = \"../sys\" }",
        ] {
            let wrong = format!("{analysis}{line} # why\n");
            let faults = edges(&tree([
                ("ARCHITECTURE.md", &format!("{}| `sys` | – | the kernel |\n", TABLE.1)),
                ("crates/analysis/Cargo.toml", &wrong),
                ("crates/sys/Cargo.toml", "[dependencies]\n"),
            ]));
            assert_eq!(
                texts(faults),
                ["crates/analysis/Cargo.toml:4: room analysis may not import sys"],
                "{line}"
            );
        }
    }

    #[test]
    fn build_and_target_sections_count_and_tests_may_reach_further() {
        let wrong = "[build-dependencies]\nsys.workspace = true\n\
                     [target.'cfg(unix)'.dependencies]\nsys.workspace = true\n\
                     [dependencies.sys]\nworkspace = true\n\
                     [dev-dependencies]\nsys.workspace = true\n";
        let faults = edges(&tree([
            ("ARCHITECTURE.md", &format!("{}| `sys` | – | the kernel |\n", TABLE.1)),
            ("crates/model/Cargo.toml", wrong),
            ("crates/sys/Cargo.toml", ""),
        ]));
        assert_eq!(
            places(&faults),
            ["crates/model/Cargo.toml:2", "crates/model/Cargo.toml:4", "crates/model/Cargo.toml:5"]
        );
        assert_eq!(versions(&tree([("crates/model/Cargo.toml", wrong)])), []);
    }

    #[test]
    fn a_room_that_is_not_in_the_table_is_a_fault() {
        let faults = edges(&tree([("crates/attic/Cargo.toml", "[dependencies]\n")]));
        assert_eq!(
            texts(faults),
            ["crates/attic/Cargo.toml: room attic is not in the import table"]
        );
    }

    #[test]
    fn only_one_room_may_drop_the_lint_against_unsafe() {
        let with = "[package]\nname = \"kit\"\n[lints]\nworkspace = true\n";
        let without = "[package]\nname = \"kit\"\n[lints.rust]\nunsafe_code = \"allow\"\n";
        let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
        let one = |room: &str, text: &str, root: &str| {
            lints(&tree([
                ("Cargo.toml", root),
                (&format!("crates/{room}/Cargo.toml"), &text.replace("kit", room)),
            ]))
        };
        assert_eq!(one("kit", with, root), []);
        assert_eq!(one("sys", without, root), []);
        assert_eq!(places(&one("kit", without, root)), ["crates/kit/Cargo.toml"]);
        assert_eq!(places(&one("kit", with, "")), ["Cargo.toml"]);
        let misnamed = lints(&tree([("crates/other/Cargo.toml", with)]));
        assert_eq!(texts(misnamed), ["crates/other/Cargo.toml: the package must be called other"]);
    }

    #[test]
    fn a_library_past_the_workspace_is_a_fault() {
        let text = "[dependencies]\nmodel.workspace = true\nserde = \"1\"\n\
                    [dev-dependencies]\ntempfile = { version = \"3\" }\n";
        let faults = versions(&tree([("crates/kit/Cargo.toml", text)]));
        assert_eq!(places(&faults), ["crates/kit/Cargo.toml:3", "crates/kit/Cargo.toml:5"]);
    }
}
