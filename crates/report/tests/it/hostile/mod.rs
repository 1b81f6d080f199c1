//! The fixture session with every text from outside turned into something that bites.

use crate::fixture::{Fixture, doubted, mechanisms};
use model::*;

/// Texts that end an element, an attribute, a comment or a style, turn a line around, or are
/// simply too long.
pub(crate) fn texts() -> Vec<String> {
    vec![
        "<script>window.bitten = 1</script>".into(),
        "\"><img src=x onerror=\"window.bitten = 1\">".into(),
        "' onmouseover='window.bitten = 1".into(),
        "--></style></script></title><svg onload=window.bitten=1>".into(),
        "{{7*7}} ${window.bitten = 1} &lt;b&gt; javascript:window.bitten=1".into(),
        "\u{202e}txt.exe\u{2066} \u{0}\u{1b}[31m\u{7}".into(),
        "שלום עולם".into(),
        "x".repeat(10_000),
        format!("long {}", "<b>y</b>".repeat(1_250)),
    ]
}

/// Sessions in which each text stands in every place that comes from outside.
pub(crate) fn bitten() -> [Fixture; 2] {
    [doubted(3), mechanisms(3)].map(bite)
}

fn bite(mut fixture: Fixture) -> Fixture {
    let mut texts = texts().into_iter().cycle();
    let mut next = move || texts.next().unwrap_or_default();
    let manifest = &mut fixture.manifest;
    manifest.session = next();
    manifest.command = (0..9).map(|_| next()).collect();
    manifest.shield.means = (0..9).map(|_| next()).collect();
    manifest.shield.missing = (0..9).map(|_| next()).collect();
    let environment = &mut manifest.environment;
    environment.host = next();
    environment.cpu_model = next();
    environment.kernel = next();
    environment.hypervisor = next();
    environment.libc = next();
    environment.settings = (0..9).map(|_| (next(), next())).collect();
    environment.neighbours = (0..9).map(|_| Neighbour { name: next(), cpu_share: 0.1 }).collect();
    for design in &mut manifest.designs {
        design.chapter = next();
        design.question = next();
        design.method = next();
        design.needs.privileges = (0..9).map(|_| next()).collect();
        for response in &mut design.responses {
            response.label = next();
            response.card = Card { from: next(), to: next(), corrected: next(), source: next() };
        }
        for factor in &mut design.factors {
            factor.about = next();
            for level in &mut factor.levels {
                level.about = next();
            }
        }
    }
    for experiment in &mut fixture.summary.experiments {
        experiment.question = next();
        experiment.warnings = (0..9).map(|_| next()).collect();
        experiment.failed_checks = (0..9).map(|_| (next(), 1)).collect();
        experiment.tags = (0..9).map(|_| (next(), 1)).collect();
        for outcome in &mut experiment.outcomes {
            outcome.reason = next();
        }
        for finding in &mut experiment.findings {
            finding.sentence = format!("{} {{}} {}", next(), next());
        }
        for claim in &mut experiment.claims {
            (claim.text, claim.source) = (next(), next());
            (claim.mechanism, claim.note) = (next(), next());
            claim.raise = next();
            claim.result.remark = next();
            claim.result.carried_by = Some(next());
        }
    }
    doubt(&mut fixture.summary, &mut next);
    let measured = fixture.records.iter_mut().filter_map(|record| record.measured.as_mut());
    for exhibit in measured.flat_map(|measured| &mut measured.exhibits) {
        exhibit.title = next();
        exhibit.columns.iter_mut().for_each(|column| *column = next());
        exhibit.rows.iter_mut().flatten().for_each(|cell| *cell = next());
        // Rows of every length but the right one.
        exhibit.rows.push(Vec::new());
        exhibit.rows.push((0..40).map(|_| next()).collect());
    }
    for record in fixture.records.iter_mut().filter(|record| record.measured.is_none()) {
        record.outcome = Outcome::Failed { reason: next() };
        record.log = format!("{}\n{}", next(), next());
    }
    rename_levels(&mut fixture, &mut next);
    fixture
}

/// What says how far a session can be believed, and what its totals are made of.
fn doubt(summary: &mut Summary, next: &mut impl FnMut() -> String) {
    for account in summary.experiments.iter_mut().flat_map(|e| &mut e.accounts) {
        (account.title, account.remark) = (next(), next());
        account.parts.iter_mut().for_each(|part| part.label = next());
    }
    for control in &mut summary.trust.controls {
        (control.experiment, control.response) = (next(), next());
    }
    summary.meter.conditions = (0..30).map(|_| next()).collect();
    summary.meter.recognised = (0..30).map(|_| next()).collect();
    summary.meter.tags = (0..9).map(|_| (next(), 1)).collect();
    for experiment in &mut summary.experiments {
        for variance in &mut experiment.variances {
            (variance.response, variance.remedy) = (next(), next());
        }
        experiment.floors.iter_mut().for_each(|floor| floor.response = next());
        experiment.planted.iter_mut().for_each(|planted| planted.what = next());
        for diagnosis in &mut experiment.diagnoses {
            diagnosis.what = next();
            (diagnosis.named, diagnosis.planted) = (Some(next()), Some(next()));
            diagnosis.suspects.iter_mut().for_each(|blame| blame.suspect = next());
        }
    }
}

/// Names of levels go through designs, treatments and estimates alike.
fn rename_levels(fixture: &mut Fixture, next: &mut impl FnMut() -> String) {
    let design = &mut fixture.manifest.designs[0];
    let (old, new) = ("fork".to_string(), format!("{} 1", next()));
    let swap = |treatment: &mut Treatment| {
        if let Some(level) =
            treatment.levels_mut().get_mut("mechanism").filter(|level| **level == old)
        {
            level.clone_from(&new);
        }
    };
    for level in design.factors[0].levels.iter_mut().filter(|level| level.name == old) {
        level.name.clone_from(&new);
    }
    for (_, levels) in design.grids.iter_mut().flat_map(|grid| &mut grid.vary) {
        for level in levels.iter_mut().filter(|level| **level == old) {
            level.clone_from(&new);
        }
    }
    for record in fixture.records.iter_mut().filter(|record| record.experiment == "create") {
        swap(&mut record.treatment);
    }
    for row in &mut fixture.summary.experiments[0].estimates {
        swap(&mut row.treatment);
    }
}
