//! What a guest told on its serial line.

use super::super::ledger::Lines;
use std::collections::BTreeMap;

/// All of it: the lines behind each mark `@WHAT NAME`, which come with what stands behind the name.
#[derive(Debug, Default)]
pub(crate) struct Told(BTreeMap<(String, String), Vec<String>>);

impl Told {
    pub(crate) fn of(text: &str) -> Self {
        let mut told = BTreeMap::<_, Vec<String>>::new();
        let mut mark = None;
        for line in text.lines() {
            let line = line.trim_end_matches('\r');
            match line.strip_prefix('@') {
                Some(words) => {
                    let mut words = words.splitn(3, ' ');
                    let mut word = || words.next().unwrap_or_default().to_string();
                    let (what, name, more) = (word(), word(), word());
                    let lines = told.entry((what.clone(), name.clone())).or_default();
                    lines.extend((!more.is_empty()).then_some(more));
                    mark = Some((what, name));
                }
                None => {
                    if let Some(lines) = mark.as_ref().and_then(|mark| told.get_mut(mark)) {
                        lines.push(line.to_string());
                    }
                }
            }
        }
        Told(told)
    }

    /// The lines of a mark; `None` where it did not come.
    pub(crate) fn lines(&self, what: &str, name: &str) -> Option<&[String]> {
        self.0.get(&(what.to_string(), name.to_string())).map(Vec::as_slice)
    }

    /// The records behind a mark.
    pub(crate) fn records(&self, what: &str, name: &str) -> Lines {
        let text: String = self.text(what, name) + "\n";
        Lines::from_bytes(text.trim_start().as_bytes())
    }

    /// The lines as one text, empty where there are none.
    pub(crate) fn text(&self, what: &str, name: &str) -> String {
        self.lines(what, name).unwrap_or_default().join("\n")
    }

    /// What the guest's two clocks (seconds since its boot, and of the wall) counted from before a
    /// fault to the session's end.
    pub(crate) fn clocks_s(&self, name: &str) -> Option<[f64; 2]> {
        let readings: Vec<[f64; 2]> = self
            .lines("clocks", name)?
            .iter()
            .filter_map(|line| {
                let (boot, wall) = line.split_once(' ')?;
                Some([boot.parse().ok()?, wall.parse().ok()?])
            })
            .collect();
        let [first, .., last] = readings[..] else { return None };
        Some([last[0] - first[0], last[1] - first[1]])
    }
}
