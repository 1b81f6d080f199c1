//! Comparisons made up for rendering. Their numbers are no measurements of anything.

use model::*;

/// Two sides that differ in one experiment, with everything that a comparison can hold.
pub(crate) fn two() -> Comparison {
    let mut comparison = bare(2);
    comparison.warnings = vec![
        "A ran behind the shield, B without: times of B may hold those of its neighbours.".into(),
    ];
    comparison.facts = vec![
        fact("kernel", ["6.1.0-13-amd64", "6.12.4-cloud"], Weight::Subject),
        fact("shield", ["cgroup weight 10000, niceness −20", ""], Weight::Nuisance),
        fact("compiler of scruple", ["rustc 1.95", "rustc 1.96"], Weight::Invalid),
    ];
    comparison.controls = vec![Some(effect(1.01, 0.02, false))];
    comparison.experiments = vec![create(2), quiet(2), refused(2)];
    comparison.gates = vec![
        gate("create > +5%", GateOutcome::Regression, "create became 1.31× [1.25, 1.36]"),
        gate("clock > +5%", GateOutcome::CannotTell, "the interval reaches over +5 %"),
        gate("workers > +5%", GateOutcome::Fine, "all intervals lie below +5 %"),
    ];
    comparison
}

/// Two sides between which nothing differs and of which nothing is to be doubted.
pub(crate) fn alike() -> Comparison {
    let mut comparison = bare(2);
    comparison.controls = vec![Some(effect(1.0, 0.01, false))];
    comparison.experiments = vec![quiet(2)];
    comparison
}

/// Three sides and so many rows of one experiment, a tenth of which differ.
pub(crate) fn large(rows: usize) -> Comparison {
    let mut comparison = bare(3);
    comparison.controls = vec![Some(effect(1.01, 0.02, false)), None];
    let mut experiment = quiet(3);
    experiment.id = "large".into();
    experiment.rows = (0..rows)
        .map(|index| {
            let response = ["create_ns", "cpu_ns", "faults_count", "peak_bytes", "rate_per_s"]
                [index * 5 / rows];
            let unit = [Unit::Ns, Unit::Ns, Unit::Count, Unit::Bytes, Unit::PerSecond]
                [index * 5 / rows]
                .clone();
            let base = 1000.0 * (1 + index % 37) as f64;
            let ratio = |side: usize| match (index + side) % 10 {
                0 => 1.0 + 0.03 * (1 + index % 20) as f64,
                _ => 1.0 + 0.004 * (index % 7) as f64 - 0.012,
            };
            let ratios = [ratio(1), ratio(2)];
            let treatment = [
                ("memory", (1 << (index % 11)).to_string()),
                ("mechanism", ["fork", "vfork", "clone3"][index % 3].to_string()),
                ("repetition", (index / 11).to_string()),
            ];
            row(response, unit, &treatment, base, &ratios, 0.02)
        })
        .collect();
    comparison.experiments = vec![experiment];
    comparison
}

fn bare(sides: usize) -> Comparison {
    let names = ["recorded/base", "recorded/later", "recorded/third"];
    Comparison {
        format: COMPARISON_FORMAT,
        scruple: "0.1.0".into(),
        sides: (0..sides)
            .map(|index| Side {
                name: names[index].into(),
                sessions: (0..=index).map(|n| format!("session-{index}-{n}")).collect(),
                host: ["quiet-host", "busy-host", "other-host"][index].into(),
                started_unix_ms: 1_795_000_000_000 + 86_400_000 * index as u64,
                trials: 1929 / (index as u64 + 1),
                trusted: [Some(true), Some(false), None][index],
            })
            .collect(),
        facts: Vec::new(),
        alike: vec!["the machine is the same".into()],
        warnings: Vec::new(),
        controls: vec![None; sides - 1],
        experiments: Vec::new(),
        gates: Vec::new(),
    }
}

fn fact(name: &str, values: [&str; 2], weight: Weight) -> FactRow {
    FactRow { name: name.into(), values: values.map(String::from).to_vec(), weight }
}

fn gate(condition: &str, outcome: GateOutcome, reason: &str) -> GateResult {
    let look = GateLook {
        experiment: "create".into(),
        response: "create_ns".into(),
        treatment: treatment(&[("mechanism", "fork".into()), ("memory", "64".into())]),
        side: 1,
        ratio: Some(estimate(1.31, 0.05)),
        p_value: Some(0.004),
        outcome,
    };
    GateResult {
        condition: condition.into(),
        outcome,
        reason: reason.into(),
        looked_at: vec![look],
    }
}

/// A number with an interval so wide relative to it.
pub(crate) fn estimate(point: f64, width: f64) -> Estimate {
    Estimate {
        point,
        low: point / (1.0 + width),
        high: point * (1.0 + width),
        standard_error: Some(width / 2.0),
        level: 0.95,
        samples: 6,
    }
}

pub(crate) fn effect(ratio: f64, width: f64, differs: bool) -> SessionEffect {
    SessionEffect {
        ratio: Some(estimate(ratio, width)),
        unit_of_replication: Replication::Trials,
        difference: None,
        floor: Some(width * 1.4),
        floor_of_verdict: Some(width * 2.0),
        trials_needed: None,
        between: None,
        p_value: Some(if differs { 0.000_2 } else { 0.3 }),
        differs,
        remark: String::new(),
    }
}

/// A side less the base.
fn difference(by: f64, width: f64, differs: bool) -> SessionEffect {
    let estimate = Estimate { low: by - width, high: by + width, ..estimate(by, width) };
    SessionEffect { ratio: None, difference: Some(estimate), ..effect(1.0, width, differs) }
}

fn treatment(levels: &[(&str, String)]) -> Treatment {
    levels.iter().map(|(f, l)| (f.to_string(), l.clone())).collect()
}

fn row(
    response: &str,
    unit: Unit,
    levels: &[(&str, String)],
    base: f64,
    ratios: &[f64],
    width: f64,
) -> ComparedRow {
    let effects = ratios.iter().map(|ratio| {
        let differs = ratio.ln().abs() > (1.0 + width).ln();
        Some(effect(*ratio, width, differs))
    });
    let others = ratios.iter().map(|ratio| Some(estimate(base * ratio, width)));
    ComparedRow {
        treatment: treatment(levels),
        response: response.into(),
        label: response.rsplit_once('_').map_or(response, |(name, _)| name).into(),
        unit,
        values: std::iter::once(Some(estimate(base, width))).chain(others).collect(),
        effects: effects.collect(),
    }
}

/// A process got dearer, a thread did not; some numbers have no ratio.
fn create(sides: usize) -> ComparedExperiment {
    let mut rows = Vec::new();
    let responses = [
        ("create_ns", Unit::Ns, 60_000.0),
        ("cpu_ns", Unit::Ns, 40_000.0),
        ("faults_count", Unit::Count, 300.0),
        ("peak_bytes", Unit::Bytes, 3.0e6),
    ];
    for (index, (response, unit, base)) in responses.into_iter().enumerate() {
        for (mechanism, cost, ratio) in
            [("fork", 2.0, 1.31), ("vfork", 0.6, 1.004), ("pthread", 0.2, 0.98)]
        {
            for memory in [0, 64, 1024] {
                let base = base * cost * (1.0 + f64::from(memory) / 200.0);
                let ratio = match index {
                    0 | 1 => ratio * (1.0 + f64::from(memory) / 4000.0),
                    3 if mechanism == "pthread" => 0.7,
                    _ => 1.0,
                };
                let levels = [("mechanism", mechanism.to_string()), ("memory", memory.to_string())];
                let ratios = vec![ratio; sides - 1];
                rows.push(row(response, unit.clone(), &levels, base, &ratios, 0.04));
            }
        }
    }
    // The interval of one reaches far beyond the axis.
    if let Some(wild) = rows[20].effects[0].as_mut().and_then(|effect| effect.ratio.as_mut()) {
        (wild.low, wild.high) = (0.01, 90.0);
    }
    let missing = &mut rows[25];
    missing.values[0] = Some(Estimate { point: 0.0, low: 0.0, high: 0.0, ..estimate(1.0, 0.1) });
    if let Some(effect) = &mut missing.effects[0] {
        (effect.ratio, effect.floor, effect.p_value) = (None, None, None);
        effect.floor_of_verdict = None;
        effect.remark = "a ratio needs numbers above 0".into();
    }
    ComparedExperiment {
        id: "create".into(),
        question: "What does it cost to create a process or a thread?".into(),
        versions: vec![Some(3); sides],
        refused: None,
        warnings: vec!["3 trials of B failed a manipulation check.".into()],
        findings: answers(sides),
        rows,
        treatments_left_out: 3,
        verdicts: vec![ComparedVerdict {
            id: "ten_times".into(),
            text: "a process costs ten times a thread".into(),
            verdicts: vec![Some(Verdict::Refuted), Some(Verdict::Supported)],
        }],
    }
}

/// A ratio, and an exponent that has none.
fn answers(sides: usize) -> Vec<ComparedQuantity> {
    vec![
        ComparedQuantity {
            id: "process".into(),
            sentence: "Creating a process costs {} times a thread.".into(),
            quantity: Quantity::Ratio {
                response: "create_ns".into(),
                of: Cell::new([("mechanism", "fork")]),
                to: Cell::new([("mechanism", "pthread")]),
            },
            unit: None,
            values: vec![Some(estimate(8.1, 0.05)); sides],
            effects: vec![Some(effect(1.29, 0.06, true)); sides - 1],
        },
        ComparedQuantity {
            id: "exponent".into(),
            sentence: "Its cost grows with memory to the power of {}.".into(),
            quantity: Quantity::Exponent {
                response: "create_ns".into(),
                over: "memory".into(),
                at: Cell::default(),
            },
            unit: None,
            values: vec![Some(estimate(0.9, 0.05)), Some(estimate(0.7, 0.05))],
            effects: vec![Some(difference(-0.2, 0.05, true)); sides - 1],
        },
    ]
}

/// An experiment in which nothing differs.
fn quiet(sides: usize) -> ComparedExperiment {
    let rows = (0..12)
        .map(|index| {
            let levels = [("clock", format!("CLOCK_{index}"))];
            let ratios = vec![1.0 + 0.002 * (f64::from(index) - 6.0); sides - 1];
            row("call_ns", Unit::Ns, &levels, 20.0 + f64::from(index), &ratios, 0.03)
        })
        .collect();
    ComparedExperiment {
        id: "clock".into(),
        question: "What does it cost to ask the time?".into(),
        versions: vec![Some(1); sides],
        refused: None,
        warnings: Vec::new(),
        findings: Vec::new(),
        rows,
        treatments_left_out: 0,
        verdicts: Vec::new(),
    }
}

fn refused(sides: usize) -> ComparedExperiment {
    let versions = (0..sides).map(|side| (side != 0).then_some(2)).collect();
    ComparedExperiment {
        id: "false_sharing".into(),
        question: "What does a cache line cost that two threads write?".into(),
        versions,
        refused: Some("measured in B alone".into()),
        rows: Vec::new(),
        ..quiet(sides)
    }
}
