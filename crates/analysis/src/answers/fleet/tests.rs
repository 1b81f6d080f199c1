use super::*;
use crate::simulation::Draws;
use model::{Cell, Environment};

fn manifest(boot: &str, processor: &str) -> Manifest {
    Manifest {
        format: 1,
        scruple: "0".into(),
        session: "s".into(),
        started_unix_ms: 0,
        seed: 1,
        command: Vec::new(),
        options: model::Options::default(),
        environment: Environment {
            boot: boot.into(),
            cpu_model: processor.into(),
            cpus_online: 4,
            memory_bytes: 16_000_000_000,
            ..Environment::default()
        },
        shield: model::ShieldReport::default(),
        designs: Vec::new(),
        redacted: false,
        runs: Vec::new(),
    }
}

/// A comparison whose only experiment has one finding per row of numbers, which are ratios with this
/// standard error.
fn comparison(findings: &[Vec<Option<f64>>], error: f64) -> Comparison {
    let estimate = |point: f64| Estimate {
        point,
        low: point / (2.0 * error).exp(),
        high: point * (2.0 * error).exp(),
        standard_error: Some(error),
        level: 0.95,
        samples: 10,
    };
    let cell = Cell::new([]);
    let finding = |(at, values): (usize, &Vec<Option<f64>>)| ComparedQuantity {
        id: format!("finding_{at}"),
        sentence: "{}".into(),
        quantity: Quantity::Ratio { response: "r".into(), of: cell.clone(), to: cell.clone() },
        unit: None,
        values: values.iter().map(|value| value.map(estimate)).collect(),
        effects: Vec::new(),
    };
    Comparison {
        format: 1,
        scruple: "0".into(),
        sides: Vec::new(),
        facts: Vec::new(),
        alike: Vec::new(),
        warnings: Vec::new(),
        controls: Vec::new(),
        experiments: vec![ComparedExperiment {
            id: "e".into(),
            question: "?".into(),
            versions: Vec::new(),
            refused: None,
            warnings: Vec::new(),
            findings: findings.iter().enumerate().map(finding).collect(),
            rows: Vec::new(),
            treatments_left_out: 0,
            verdicts: Vec::new(),
        }],
        gates: Vec::new(),
    }
}

fn says(machines: &[Manifest], findings: &[Vec<Option<f64>>], error: f64) -> FleetSays {
    let names: Vec<String> = (0..machines.len()).map(|at| format!("m{at}")).collect();
    let members: Vec<FleetMember<'_>> = machines
        .iter()
        .zip(&names)
        .map(|(manifest, name)| FleetMember { name, manifest })
        .collect();
    fleet(&members, Some(&comparison(findings, error)))
}

fn alike(count: usize) -> Vec<Manifest> {
    (0..count).map(|at| manifest(&format!("boot-{at}"), "p")).collect()
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn nodes_under_one_kernel_are_one_machine_and_count_once() {
    let machines = [manifest("a", "p"), manifest("a", "p"), manifest("b", "p")];
    let said = says(&machines, &[some(&[2.0, 9.0, 2.0])], 0.01);
    assert_eq!(said.same_machine, [["m0", "m1"]]);
    assert_eq!((said.kinds[0].machines, said.kinds[0].nodes.len()), (2, 3));
    // The second node of the first machine is not held against it.
    assert_eq!((said.spreads[0].machines, said.spreads[0].largest), (2, 2.0));
    // Of what is not known nothing is said.
    let unknown = [manifest("", "p"), manifest("", "p")];
    assert!(says(&unknown, &[some(&[1.0, 2.0])], 0.01).same_machine.is_empty());
    let one = says(&machines[..2], &[some(&[1.0, 2.0])], 0.01);
    assert!(one.spreads.is_empty());
    assert_eq!(
        one.outliers.too_few.as_deref(),
        Some("no finding was measured on two machines of one kind")
    );
}

#[test]
fn machines_of_two_kinds_have_two_spreads() {
    let mut machines = alike(4);
    machines[1] = manifest("boot-1", "q");
    machines[3] = manifest("boot-3", "q");
    let said = says(&machines, &[some(&[1.0, 10.0, 1.1, 11.0])], 0.01);
    assert_eq!(said.kinds.len(), 2);
    assert_eq!(said.kinds[1].nodes, ["m1", "m3"]);
    assert_eq!((said.spreads[1].kind, said.spreads[1].smallest), (1, 10.0));
}

#[test]
fn the_spread_is_what_is_seen_less_what_noise_would_make() {
    // By hand: logarithms of 1, 2, 4 scatter by ln 2.
    let said = says(&alike(3), &[some(&[1.0, 2.0, 4.0])], 0.3);
    let spread = &said.spreads[0];
    assert!(spread.relative && (spread.seen - 2_f64.ln()).abs() < 1e-12);
    assert!((spread.expected.unwrap() - 0.3).abs() < 1e-12);
    let between = (2_f64.ln().powi(2) - 0.09).sqrt();
    assert!((spread.between.unwrap() - between).abs() < 1e-12);
    // More noise than scatter leaves nothing for the machines, never a number below 0.
    assert_eq!(says(&alike(3), &[some(&[1.0, 2.0, 4.0])], 3.0).spreads[0].between, Some(0.0));
    // Negative numbers have no logarithm.
    let plain = says(&alike(3), &[some(&[-1.0, 2.0, 5.0])], 0.3);
    assert!(!plain.spreads[0].relative && (plain.spreads[0].seen - 3.0).abs() < 1e-12);
    // A machine without a number is left out.
    let gap = says(&alike(3), &[vec![Some(1.0), None, Some(4.0)]], 0.3);
    assert_eq!(gap.spreads[0].machines, 2);
}

#[test]
fn grubbs_test_agrees_with_the_handbook() {
    // NIST/SEMATECH 1.3.5.17.1 (Tietjen and Moore): G = 2.4687, critical value 2.032 at 5 % for 8.
    let values = [199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57];
    let mut points = Points::of(
        0,
        &[0, 1, 2, 3, 4, 5, 6, 7],
        &comparison(&[some(&values)], 0.0).experiments[0],
        &comparison(&[some(&values)], 0.0).experiments[0].findings[0],
    )
    .unwrap();
    // The handbook takes no logarithms; the distance below is of the numbers as they are.
    points.each = values
        .iter()
        .enumerate()
        .map(|(at, x)| (at, Estimate { level: 0.95, ..Estimate::exactly(*x, 8) }, *x))
        .collect();
    points.spread.seen = variance(&values).unwrap().sqrt();
    let manifests = alike(8);
    let names: Vec<String> = (0..8).map(|at| format!("m{at}")).collect();
    let members = manifests.iter().zip(&names);
    let members: Vec<FleetMember<'_>> =
        members.map(|(manifest, name)| FleetMember { name, manifest }).collect();
    let Outlier { node, value, distance, p_value: p, .. } = points.grubbs(&members, 0).unwrap();
    assert_eq!((node.as_str(), value.point), ("m7", 245.57));
    assert!((distance - 2.4687).abs() < 1e-4, "{distance}");
    // Its critical value, by the same formula: p = 0.05 at G = 2.1266 two-sided (0.025 in each tail),
    // the handbook's 2.032 being one-sided.
    assert!(p < 1e-5, "{p}");
    let at = |g: f64| {
        let n = 8.0_f64;
        let t = g * (n - 2.0).sqrt() / ((n - 1.0).powi(2) / n - g * g).sqrt();
        n * student_outside(n - 2.0, t)
    };
    assert!((at(2.1266) - 0.05).abs() < 1e-3 && (at(2.032) - 0.1).abs() < 1e-3, "{}", at(2.032));
}

#[test]
fn a_machine_unlike_its_six_fellows_is_found_and_six_are_too_few() {
    let usual = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998];
    let quiet = says(&alike(7), &[some(&usual)], 0.01);
    assert_eq!((quiet.outliers.looked_at, quiet.outliers.found.len()), (1, 0));
    let mut odd = usual;
    odd[3] = 1.5;
    let found = says(&alike(7), &[some(&usual), some(&odd)], 0.01).outliers.found;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].node.as_str(), found[0].spread, found[0].value.point), ("m3", 1, 1.5));
    assert!(!found[0].own_noise);
    // The same number with an interval that reaches the others: its session may be all there is to it.
    let noisy = says(&alike(7), &[some(&usual), some(&odd)], 0.3).outliers.found;
    assert!(noisy[0].own_noise);
    let six = says(&alike(6), &[some(&odd[1..])], 0.01).outliers;
    assert_eq!((six.looked_at, six.found.len()), (0, 0));
    let described = six.too_few.unwrap();
    assert_eq!(described, "at most 6 machines of one kind, and the rule asks for 7");
    // Machines that are all the same have no farthest one.
    assert_eq!(says(&alike(8), &[some(&[2.0; 8])], 0.0).outliers.looked_at, 0);
}

#[test]
fn machines_that_are_all_alike_are_rarely_said_to_hold_an_outlier() {
    let mut draws = Draws::new(9);
    let (fleets, findings, machines) = (600, 10, 8);
    let mut wrong = 0;
    for _ in 0..fleets {
        let numbers: Vec<Vec<Option<f64>>> = (0..findings)
            .map(|_| (0..machines).map(|_| Some((0.1 * draws.normal()).exp())).collect())
            .collect();
        wrong += usize::from(!says(&alike(machines), &numbers, 0.01).outliers.found.is_empty());
    }
    // 5 % of 600 is 30, with a standard deviation of 5.
    assert!((10..=50).contains(&wrong), "{wrong} of {fleets}");
}
