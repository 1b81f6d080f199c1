//! Files of a crate that import each other in a loop.

use super::modules::imports;
use crate::tidy::product::Source;
use std::collections::BTreeSet;

/// Returns the circles of all crates: sets of files of which each reaches each other by what it
/// names. The paths of a circle are sorted.
pub(super) fn circles(sources: &[Source<'_>]) -> Vec<Vec<String>> {
    let rooms: BTreeSet<&str> = sources.iter().map(Source::room).collect();
    let mut found = Vec::new();
    for room in rooms {
        let files: Vec<&Source<'_>> =
            sources.iter().filter(|source| source.room() == room && source.lines() > 0).collect();
        let circles = loops(&imports(&files));
        found.extend(circles.into_iter().map(|circle| {
            circle.into_iter().map(|file| files[file].path.to_string()).collect::<Vec<_>>()
        }));
    }
    found
}

/// Returns the strongly connected components of two or more nodes, given the nodes to which each has
/// an arrow.
fn loops(arrows: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> =
        (0..arrows.len()).map(|start| reached_from(start, arrows)).collect();
    let mut found = Vec::new();
    let mut placed = BTreeSet::new();
    for node in 0..arrows.len() {
        let circle: Vec<usize> =
            reached[node].iter().copied().filter(|other| reached[*other].contains(&node)).collect();
        if circle.len() > 1 && placed.insert(circle[0]) {
            found.push(circle);
        }
    }
    found
}

/// Returns the nodes that arrows lead to from a node; itself only if it lies on a loop.
fn reached_from(start: usize, arrows: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        open.extend(arrows[node].iter().filter(|next| reached.insert(**next)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::circles;
    use crate::tidy::product::sources;
    use crate::tidy::tests::tree;

    #[test]
    fn files_that_name_each_other_are_a_circle() {
        for (b, expected) in [
            ("use super::{Error, a::A};\n", vec!["a.rs b/mod.rs"]),
            ("fn b() -> crate::a::A {}\n", vec!["a.rs b/mod.rs"]),
            ("pub use crate::a::{A as C};\n", vec!["a.rs b/mod.rs"]),
            ("fn b() {\n    super::c::c()\n}\n", vec!["a.rs b/mod.rs c.rs"]),
            // What a module around a file defines or hands on, and what is inside of the file's own.
            ("use crate::A;\n", vec![]),
            ("use d::D;\n", vec![]),
            ("pub use d::D;\n", vec![]),
            // No use.
            ("pub(in crate::a) fn b() {}\n", vec![]),
            ("// crate::a::A\nf(\"crate::a::A\");\n", vec![]),
            ("use a::A;\n", vec![]),
            ("#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n", vec![]),
        ] {
            let files = tree([
                ("crates/kit/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
                ("crates/kit/src/a.rs", "use crate::{Error, b::{self, B as C}};\n"),
                ("crates/kit/src/b/mod.rs", b),
                ("crates/kit/src/b/d.rs", "use super::B;\n"),
                ("crates/kit/src/c.rs", "fn c() {\n    super::a::a();\n}\n"),
            ]);
            let found = circles(&sources(&files));
            let found: Vec<String> = found
                .iter()
                .map(|circle| circle.join(" ").replace("crates/kit/src/", ""))
                .collect();
            assert_eq!(found, expected, "{b}");
        }
    }
}
