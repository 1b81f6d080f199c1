//! The design for a program of the user's, without what the user wrote.

use super::REDACTED;
use super::names::Names;
use crate::{
    Card, Cell, Claim, Control, Design, Factor, Figure, Finding, Grid, Inquiry, Level, Limit,
    Metric, Needs, Pick, Plot, Quantity, Response, Subject, SubjectLimits, Unit,
};

/// Redacts the design for a program. Of the designs of `scale` and `why` only the command, and what it prints, is
/// the user's.
pub(super) fn redact(design: &Design, names: &Names, inquiry: Option<Inquiry>) -> Design {
    let own = design.subject.as_ref().map(|subject| redact_subject(subject, names));
    let responses = design.responses.iter().map(|it| redact_response(it, design, names)).collect();
    match inquiry {
        Some(Inquiry::Scale) => Design {
            subject: own,
            responses,
            question: "How does the command scale?".into(),
            ..design.clone()
        },
        Some(Inquiry::Why) => Design { subject: own, responses, ..design.clone() },
        Some(Inquiry::Study) | None => redact_study(design, names, own, responses),
    }
}

fn redact_study(
    design: &Design,
    names: &Names,
    subject: Option<Subject>,
    responses: Vec<Response>,
) -> Design {
    let Design {
        id,
        version,
        chapter,
        question: _,
        words: _,
        answers: _,
        why: _,
        because: _,
        method,
        factors,
        grids,
        responses: _,
        findings,
        accounts: _,
        figures,
        headlines: _,
        claims,
        controls,
        planted: _,
        diagnoses: _,
        subject: _,
        programs: _,
        needs,
        precision,
        time_limit_ms,
    } = design;
    let claims = claims.iter().enumerate();
    let figures = figures.iter().enumerate();
    Design {
        id: names.id(id),
        version: *version,
        chapter: chapter.clone(),
        question: "What do the programs of this study cost?".into(),
        method: method.clone(),
        factors: factors.iter().map(|factor| redact_factor(factor, names)).collect(),
        grids: grids.iter().map(|grid| redact_grid(grid, names)).collect(),
        responses,
        findings: findings.iter().enumerate().map(|(n, it)| redact_finding(n, it, names)).collect(),
        figures: figures.map(|(n, it)| redact_figure(n, it, names)).collect(),
        claims: claims.map(|(n, it)| redact_claim(n, it, names)).collect(),
        controls: controls.iter().map(|it| redact_control(it, names)).collect(),
        subject,
        needs: Needs { privileges: Vec::new(), ..needs.clone() },
        precision: *precision,
        time_limit_ms: *time_limit_ms,
        ..Design::default()
    }
}

fn redact_subject(subject: &Subject, names: &Names) -> Subject {
    let Subject {
        command: _,
        shell,
        prepare: _,
        cleanup: _,
        folder: _,
        environment: _,
        withheld: _,
        clear_environment,
        stdin: _,
        cpus,
        limits,
        exit_codes,
        metrics,
        words: _,
        lists: _,
        workers,
        look_every_ms,
        linger_ms,
        with: _,
        squeeze,
    } = subject;
    let SubjectLimits { address_space_bytes, memory_bytes, cpus_quota } = limits;
    let metric =
        |Metric { response, from, pick: _, scale, per, of_unit, decimal, unit: _ }: &Metric| {
            Metric {
                response: names.response(response),
                from: *from,
                pick: Pick::Regex(REDACTED.into()),
                scale: *scale,
                per: *per,
                of_unit: *of_unit,
                decimal: *decimal,
                unit: String::new(),
            }
        };
    Subject {
        command: vec![REDACTED.into()],
        shell: *shell,
        clear_environment: *clear_environment,
        cpus: numbers(cpus),
        limits: SubjectLimits {
            address_space_bytes: numbers(address_space_bytes),
            memory_bytes: numbers(memory_bytes),
            cpus_quota: numbers(cpus_quota),
        },
        exit_codes: exit_codes.clone(),
        metrics: metrics.iter().map(metric).collect(),
        workers: numbers(workers),
        look_every_ms: *look_every_ms,
        linger_ms: *linger_ms,
        squeeze: squeeze.as_deref().map(|factor| names.factor(factor)),
        ..Subject::default()
    }
}

/// Reports whether a text consists of numbers: a size, a list of CPUs.
pub(super) fn is_numbers(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b".,- ".contains(&byte))
}

fn numbers(text: &str) -> String {
    if is_numbers(text) { text.into() } else { String::new() }
}

/// Redacts a response; one that is measured of every program is scruple's own.
fn redact_response(response: &Response, design: &Design, names: &Names) -> Response {
    let metrics = design.subject.iter().flat_map(|subject| &subject.metrics);
    let is_picked = metrics.into_iter().any(|metric| metric.response == response.name);
    let Response {
        name,
        label,
        unit,
        center,
        cpu_twin,
        subtract,
        exact,
        independent,
        card,
        limits,
    } = response;
    let name = names.response(name);
    let limit = |(n, Limit { value, label: _, at }): (usize, &Limit)| Limit {
        value: *value,
        label: format!("limit {}", n + 1),
        at: names.cell(at),
    };
    Response {
        label: if is_picked { name.replace('_', " ") } else { label.clone() },
        name,
        unit: if is_picked { redact_unit(unit) } else { unit.clone() },
        center: *center,
        cpu_twin: cpu_twin.as_deref().map(|twin| names.response(twin)),
        subtract: subtract.as_ref().map(|cell| names.cell(cell)),
        exact: *exact,
        independent: *independent,
        card: if is_picked { Card::default() } else { card.clone() },
        limits: limits.iter().enumerate().map(limit).collect(),
    }
}

fn redact_unit(unit: &Unit) -> Unit {
    match unit {
        Unit::Other(_) => Unit::Other("units".into()),
        known => known.clone(),
    }
}

fn redact_factor(factor: &Factor, names: &Names) -> Factor {
    let Factor { name, about: _, label: _, levels, baseline, unit } = factor;
    if !names.replace(name) {
        return factor.clone();
    }
    let level = |Level { name: level, value, about: _, label: _, from }: &Level| Level {
        name: names.level(name, level),
        value: *value,
        about: String::new(),
        label: String::new(),
        from: *from,
    };
    Factor {
        name: names.factor(name),
        about: String::new(),
        label: String::new(),
        levels: levels.iter().map(level).collect(),
        baseline: names.level(name, baseline),
        unit: unit.as_ref().map(redact_unit),
    }
}

fn redact_grid(Grid { from, vary }: &Grid, names: &Names) -> Grid {
    let varied = |(factor, levels): &(String, Vec<String>)| {
        let levels = levels.iter().map(|level| names.level(factor, level));
        (names.factor(factor), levels.collect())
    };
    Grid { from: *from, vary: vary.iter().map(varied).collect() }
}

fn redact_finding(n: usize, finding: &Finding, names: &Names) -> Finding {
    let Finding { id: _, sentence: _, quantity, drives } = finding;
    let quantity = names.quantity(quantity);
    Finding {
        id: format!("finding_{}", n + 1),
        sentence: sentence(&quantity),
        quantity,
        drives: *drives,
    }
}

fn redact_claim(n: usize, claim: &Claim, names: &Names) -> Claim {
    let Claim { id: _, text: _, source: _, mechanism: _, quantity, holds_if, note: _, shown: _ } =
        claim;
    Claim {
        id: format!("claim_{}", n + 1),
        text: format!("Claim {}", n + 1),
        source: REDACTED.into(),
        mechanism: String::new(),
        quantity: names.quantity(quantity),
        holds_if: *holds_if,
        note: String::new(),
        shown: String::new(),
    }
}

fn redact_control(Control { response, a, b }: &Control, names: &Names) -> Control {
    Control { response: names.response(response), a: names.cell(a), b: names.cell(b) }
}

fn redact_figure(n: usize, figure: &Figure, names: &Names) -> Figure {
    let Figure { id: _, title: _, link: _, words: _, plot } = figure;
    let Plot { responses, divided_by, drawn, over, by, crossed, at } = plot;
    let levels = |(factor, levels): (&String, &Vec<String>)| {
        let own = levels.iter().map(|level| names.level(factor, level));
        (names.factor(factor), own.collect())
    };
    Figure {
        id: format!("figure_{}", n + 1),
        title: format!("Figure {}", n + 1),
        plot: Plot {
            responses: responses.iter().map(|name| names.response(name)).collect(),
            divided_by: divided_by.as_deref().map(|name| names.response(name)),
            drawn: *drawn,
            over: over.as_deref().map(|name| names.factor(name)),
            by: by.iter().map(|name| names.factor(name)).collect(),
            crossed: *crossed,
            at: at.iter().map(levels).collect(),
        },
        ..Figure::default()
    }
}

/// Returns the sentence of a finding: what the number is, from its definition alone.
fn sentence(quantity: &Quantity) -> String {
    use Quantity as Q;
    let response = quantity.response();
    match quantity {
        Q::Value { at, .. } => format!("{response} {}: {{}}.", place(at)),
        Q::Ratio { of, to, .. } => {
            format!("{response} {}: {{}} times that {}.", place(of), place(to))
        }
        Q::Quotient { by, at, .. } => format!("{response} {}: {{}} times {by}.", place(at)),
        Q::Difference { of, to, .. } => {
            format!("{response} {}: {{}} more than {}.", place(of), place(to))
        }
        Q::Exponent { over, at, .. } => {
            format!("{response} grows as {over} to the power of {{}} {}.", place(at))
        }
        Q::Share { .. } | Q::Linearity { .. } | Q::Proportion { .. } | Q::Frequency { .. } => {
            format!("{response}: {{}}.")
        }
    }
}

fn place(cell: &Cell) -> String {
    let levels: Vec<String> =
        cell.0.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
    if levels.is_empty() { "at the baseline".into() } else { format!("with {}", levels.join(", ")) }
}
