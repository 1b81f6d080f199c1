//! What becomes of conditions, and how often gates err.

use super::*;

#[test]
fn gates_tell_regressions_from_what_they_cannot_tell() {
    let base = made(1.0, 4.0, 1);
    let outcome = |factor: f64, condition: &str| {
        of_two(&base, &made(factor, 4.0, 2), &[condition]).gates[0].outcome
    };
    use GateOutcome::{CannotTell, Fine, Regression};
    assert_eq!(outcome(1.2, "made_up > +5%"), Regression);
    assert_eq!(outcome(1.2, "made_up.task_ns{model=thread} > +5%"), Regression);
    assert_eq!(outcome(1.0, "made_up > +5%"), Fine);
    assert_eq!(outcome(0.8, "made_up > +5%"), Fine);
    assert_eq!(outcome(0.8, "made_up < -5%"), Regression);
    assert_eq!(outcome(1.0, "made_up < -5%"), Fine);
    assert_eq!(outcome(1.05, "made_up > +5%"), CannotTell);
    assert_eq!(outcome(1.0, "made_up.cpu_ns > +5%"), CannotTell);
    assert_eq!(outcome(1.0, "elsewhere > +5%"), CannotTell);
    let worst = of_two(&base, &made(1.2, 4.0, 2), &["made_up > +5%"]);
    let looks = &worst.gates[0].looked_at;
    assert_eq!(looks.len(), 2);
    assert!(looks[0].ratio.unwrap().point >= looks[1].ratio.unwrap().point);
    assert!(looks.iter().all(|look| look.side == 1 && look.p_value.unwrap() < 0.01));
    // Three sides: one that grew is enough.
    let (same, grown) = (made(1.0, 4.0, 2), made(1.2, 4.0, 3));
    let three = compared_with(&[&[&base], &[&same], &[&grown]], &["made_up > +5%"]);
    let gate = &three.gates[0];
    assert_eq!((gate.outcome, gate.looked_at.len()), (Regression, 4));
    assert_eq!(gate.looked_at[0].side, 2);
    // Another build of the instrument passes nothing.
    let mut debug = made(1.0, 4.0, 2);
    debug.manifest.environment.build = "debug".into();
    let comparison = of_two(&base, &debug, &["made_up > +5%"]);
    assert_eq!(comparison.gates[0].outcome, CannotTell, "{:?}", comparison.gates);
    assert!(comparison.warnings[0].contains("no gate passes"), "{:?}", comparison.warnings);
}

#[test]
fn what_a_side_did_not_measure_is_not_fine() {
    let base = made(1.0, 4.0, 1);
    let threads = records(BLOCKS, 1.0, 4.0, 2).into_iter();
    let threads = threads.filter(|it| it.treatment.level("model") == Some("thread"));
    let side = Made::named("s2", vec![study()], threads.collect());
    let gates = of_two(&base, &side, &["made_up > +5%", "made_up{model=thread} > +5%"]).gates;
    assert_eq!(gates[0].outcome, GateOutcome::CannotTell);
    assert!(
        gates[0].reason.contains("1 treatment was measured on the base"),
        "{}",
        gates[0].reason
    );
    assert_eq!(gates[1].outcome, GateOutcome::Fine);
    // What the base alone lacks is news, and no loss.
    assert_eq!(of_two(&side, &base, &["made_up > +5%"]).gates[0].outcome, GateOutcome::Fine);
    // A regression that is seen is one whatever else is missing.
    let threads = records(BLOCKS, 1.2, 4.0, 2).into_iter();
    let threads = threads.filter(|it| it.treatment.level("model") == Some("thread"));
    let slow = Made::named("s2", vec![study()], threads.collect());
    assert_eq!(of_two(&base, &slow, &["made_up > +5%"]).gates[0].outcome, GateOutcome::Regression);
}

/// Made-up treatments for a gate: `works` of them, each with trials about `shift` of logarithm.
fn gate_session(works: usize, shift: f64, noise: f64, seed: u64, session: u32) -> Made {
    use rand::{Rng, SeedableRng};
    let mut bits = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = || ((bits.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let mut design = study();
    let names: Vec<String> = (0..works).map(|work| format!("w{work}")).collect();
    let levels: Vec<(&str, Option<f64>)> = names.iter().map(|name| (name.as_str(), None)).collect();
    design.factors = vec![crate::fixture::factor("model", &levels)];
    (design.findings, design.claims) = (Vec::new(), Vec::new());
    let mut records = Vec::new();
    for block in 0..BLOCKS {
        for name in &names {
            // The sum of twelve: near enough to normal.
            let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let value = 1e6 * (shift + noise * normal).exp();
            let mut record = task(block, "w0", "1", value as i64).record();
            record.treatment = Treatment(Cell::new([("model", name.as_str())]).0.into());
            records.push(record);
        }
    }
    Made::named(&format!("s{session}"), vec![design], records)
}

fn gate_outcomes(shift: f64, noise: f64, condition: &str, seed: u64) -> [usize; 3] {
    let mut counts = [0; 3];
    for drawn in 0..100 {
        let base = gate_session(8, 0.0, noise, seed + 2 * drawn, 1);
        let side = gate_session(8, shift, noise, seed + 2 * drawn + 1, 2);
        let gate = &of_two(&base, &side, &[condition]).gates[0];
        counts[gate.outcome as usize] += 1;
    }
    counts
}

#[test]
fn gates_seldom_err_and_find_what_is_there() {
    // Without a change, and with one that just reaches the edge: at most 5 % of 100, but for chance.
    for (shift, condition) in [(0.0, "made_up > +0%"), (1.05_f64.ln(), "made_up > +5%")] {
        let [_, _, wrong] = gate_outcomes(shift, 0.02, condition, 9000);
        assert!(wrong <= 9, "{condition}: {wrong} of 100");
    }
    // Nothing changed and the edge is far: fine.
    let [fine, _, wrong] = gate_outcomes(0.0, 0.005, "made_up > +5%", 9300);
    assert!(fine >= 99 && wrong == 0, "{fine}, {wrong}");
    // Twice the threshold with little noise is found.
    let [_, _, found] = gate_outcomes(1.10_f64.ln(), 0.01, "made_up > +5%", 9600);
    assert!(found >= 95, "{found}");
    // And noise that hides the edge is called so, not fine.
    let [fine, open, wrong] = gate_outcomes(0.0, 0.2, "made_up > +5%", 9900);
    assert!(open >= 90 && fine <= 5 && wrong <= 9, "{fine}, {open}, {wrong}");
}

#[test]
fn an_unknown_name_is_refused_with_those_that_are_known() {
    let design = study();
    let refused = |text: &str| {
        let condition: Condition = text.parse().unwrap();
        condition.check(&[&design]).unwrap_err()
    };
    assert!(refused("creates > 5%").contains("there are: made_up"));
    assert!(refused("made_up.time_ns > 5%").contains("it has: task_ns, cpu_ns, faults_count"));
    assert!(refused("made_up{of=x} > 5%").contains("it has: model, n"));
    assert!(refused("made_up{model=x} > 5%").contains("it has: thread, process, empty"));
    let fine: Condition = "made_up.cpu_ns{model=thread,n=8} < -5%".parse().unwrap();
    assert_eq!(fine.check(&[&design]), Ok(()));
}
