//! Sessions of one setting against each other: nothing was changed, so that whatever differs is what
//! changes from session to session by itself.

#[path = "../../../analysis/tests/support/together.rs"]
mod together;

use crate::asked::Asked;
use crate::tally::Count;
use crate::{Folder, one_session};
use anyhow::{Context, bail};
use model::{Comparison, SessionEffect};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::Stored;
use together::{CompareInput, CompareSession, CompareSide, compare};

/// Sessions of a side where the session is the unit.
const GROUP: usize = 3;

/// At most this share of comparisons may be found to differ where the session is the unit.
const FALSE_SHARE_MAX: f64 = 0.05;

/// Measures the sessions, or reads them, and counts. Whether the intervals of sessions hold.
pub(crate) fn between(asked: &Asked) -> anyhow::Result<bool> {
    let sessions = match &asked.from {
        Some(dir) => read_all(dir)?,
        None => measure(asked)?,
    };
    if sessions.len() < 2 * GROUP {
        bail!("{} sessions are too few: {} at least", sessions.len(), 2 * GROUP);
    }
    let mut by_trial = Tally::default();
    for (index, one) in sessions.iter().enumerate() {
        for other in &sessions[index + 1..] {
            by_trial.add(&compared(&[one], &[other]));
        }
    }
    println!("{} sessions of one setting, each against each: intervals of trials", sessions.len());
    print!("{}", by_trial.text());
    let mut by_session = Tally::default();
    let groups = groups(sessions.len());
    for (one, other) in &groups {
        let pick = |group: &[usize]| group.iter().map(|&at| &sessions[at]).collect::<Vec<_>>();
        by_session.add(&compared(&pick(one), &pick(other)));
    }
    println!("{} pairs of {GROUP} sessions against {GROUP}: intervals of sessions", groups.len());
    print!("{}", by_session.text());
    let holds = by_session.findings.after.share_is_at_most(FALSE_SHARE_MAX);
    println!("at most 5 % of findings differ, of sessions: {}", if holds { "yes" } else { "NO" });
    Ok(holds)
}

fn measure(asked: &Asked) -> anyhow::Result<Vec<Stored>> {
    let own = format!("scruple-sessions-between-{}", std::process::id());
    let path = asked.keep.clone().unwrap_or_else(|| std::env::temp_dir().join(own));
    std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
    let folder = Folder { path, keep: asked.keep.is_some() };
    let blocks = asked.blocks.to_string();
    let command = ["run", &asked.experiment, "--profile", "quick", "--runs", &blocks];
    let mut sessions = Vec::new();
    for number in 1..=asked.sessions {
        let dir = folder.path.join(format!("{number:04}"));
        one_session(&command, &dir)?;
        if sys::interrupt::requested().is_some() {
            bail!("interrupted after {} sessions", number - 1);
        }
        sessions.push(read(&dir)?);
        eprintln!("session {number} of {}", asked.sessions);
    }
    Ok(sessions)
}

fn read_all(dir: &Path) -> anyhow::Result<Vec<Stored>> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    dirs.retain(|dir| dir.join(store::MANIFEST_FILE).exists());
    dirs.sort();
    dirs.iter().map(|dir| read(dir)).collect()
}

fn read(dir: &Path) -> anyhow::Result<Stored> {
    let mut stored = store::open(dir)?;
    for record in &mut stored.records {
        record.log = String::new();
    }
    Ok(stored)
}

/// Disjoint groups of sessions: neighbours in time, and sessions spread over the whole time.
fn groups(sessions: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let many = sessions / GROUP;
    let near = |group: usize| (0..GROUP).map(|at| GROUP * group + at).collect::<Vec<_>>();
    let spread = |group: usize| (0..GROUP).map(|at| group + many * at).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    for one in 0..many {
        for other in one + 1..many {
            pairs.push((near(one), near(other)));
            pairs.push((spread(one), spread(other)));
        }
    }
    pairs
}

fn compared(base: &[&Stored], side: &[&Stored]) -> Comparison {
    let base: Vec<CompareSession<'_>> = base.iter().map(|it| session(it)).collect();
    let side: Vec<CompareSession<'_>> = side.iter().map(|it| session(it)).collect();
    compare(&CompareInput {
        scruple: env!("CARGO_PKG_VERSION"),
        sides: &[
            CompareSide { name: "base", sessions: &base },
            CompareSide { name: "side", sessions: &side },
        ],
        only: &[],
        conditions: &[],
    })
}

fn session(stored: &Stored) -> CompareSession<'_> {
    CompareSession { manifest: &stored.manifest, records: &stored.records, complete: true }
}

/// Comparisons that found a difference where nothing was changed.
#[derive(Clone, Debug, Default)]
struct Kind {
    /// Each by itself, at the 5 % level.
    before: Count,
    /// After Hommel's procedure over what is of its kind in the pair.
    after: Count,
    /// Pairs in which any did.
    pairs: Count,
    /// How far apart those were that differ after the correction, as shares.
    apart: Vec<f64>,
}

impl Kind {
    fn add(&mut self, effect: &SessionEffect) {
        // What has no noise has no error either.
        let (Some(p_value), Some(_)) = (effect.p_value, effect.floor) else { return };
        self.before.add(p_value <= 0.05);
        self.after.add(effect.differs);
        if let (true, Some(ratio)) = (effect.differs, effect.ratio)
            && ratio.point > 0.0
        {
            self.apart.push(ratio.point.ln().abs().exp_m1());
        }
    }

    fn text(&self) -> String {
        let percent = |p: f64| {
            let found = analysis::quantile(&analysis::sorted(&self.apart), p);
            found.map_or("–".into(), |share| format!("{:.1} %", 100.0 * share))
        };
        format!(
            "p ≤ 0.05 in {}; after Hommel {}, in pairs {}; those apart by {} (median), {} (largest)",
            self.before.text(),
            self.after.text(),
            self.pairs.text(),
            percent(0.5),
            percent(1.0)
        )
    }
}

#[derive(Clone, Debug, Default)]
struct Tally {
    findings: Kind,
    rows: Kind,
    controls: Count,
    pairs: Count,
    /// The share of comparisons by response that differ by themselves.
    by_response: BTreeMap<String, Count>,
}

impl Tally {
    fn add(&mut self, comparison: &Comparison) {
        let (mut of_findings, mut of_rows) = (false, false);
        for experiment in &comparison.experiments {
            for effect in experiment.findings.iter().flat_map(|it| &it.effects).flatten() {
                self.findings.add(effect);
                of_findings |= effect.differs;
            }
            for row in &experiment.rows {
                for effect in row.effects.iter().flatten() {
                    self.rows.add(effect);
                    of_rows |= effect.differs;
                    if let (Some(p_value), Some(_)) = (effect.p_value, effect.floor) {
                        let name = format!("{}.{}", experiment.id, row.response);
                        self.by_response.entry(name).or_default().add(p_value <= 0.05);
                    }
                }
            }
        }
        for control in comparison.controls.iter().flatten() {
            self.controls.add(control.differs);
        }
        self.findings.pairs.add(of_findings);
        self.rows.pairs.add(of_rows);
        self.pairs.add(of_findings || of_rows);
    }

    fn text(&self) -> String {
        let mut text = format!("  findings: {}\n", self.findings.text());
        text += &format!("  responses: {}\n", self.rows.text());
        for (name, count) in &self.by_response {
            text += &format!("    {name}: {}\n", count.text());
        }
        text += &format!("  the same computation (null): {}\n", self.controls.text());
        text + &format!(
            "  pairs with at least one difference after Hommel: {}\n",
            self.pairs.text()
        )
    }
}
