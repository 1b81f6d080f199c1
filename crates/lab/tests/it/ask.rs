//! `scruple ask`: the numbers of the report, by the text of their quantities.

use crate::support::*;
use model::{Asked, Quantity};

#[test]
fn every_finding_and_claim_has_the_number_of_the_report() {
    for name in ["base", "servers", "core"] {
        let stored = store::open(&recorded(name)).unwrap();
        let manifest = &stored.manifest;
        let summary = summarised(&stored);
        for (design, experiment) in manifest.designs.iter().zip(&summary.experiments) {
            let findings = experiment.findings.iter().map(|finding| &finding.result);
            let claims = experiment.claims.iter().map(|claim| &claim.result);
            for result in findings.chain(claims) {
                let text = ask::full_text(&result.quantity, design);
                let read = ask::quantity(&text, design).unwrap();
                assert_eq!(read, result.quantity, "{text}");
                let answer = analysis::ask(design, &stored.records, &read);
                assert_eq!(answer.estimate, result.estimate, "{text}");
            }
        }
    }
}

fn asked(arguments: &[&str]) -> Vec<Asked> {
    let base = recorded("base");
    let mut command = scruple();
    command.arg("ask").arg(&base).args(arguments).arg("--json");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_experiment_need_not_be_named_where_one_alone_knows_the_names() {
    let answers = asked(&["whole_ns[fork] / whole_ns[pthread]"]);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].asked, "create.whole_ns[fork] / create.whole_ns[pthread]");
    assert!(matches!(answers[0].result.quantity, Quantity::Ratio { .. }));
    assert_eq!(answers, asked(&["create.whole_ns[fork]/create.whole_ns[pthread]"]));
}

#[test]
fn sessions_of_other_experiments_are_left_out_by_name() {
    let text = "servers.response_p99_ns[event_loop]";
    let mut command = scruple();
    command.arg("ask").args([recorded("later"), recorded("servers")]).args([text, "--json"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let answers: Vec<Asked> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), 1);
    let noted = String::from_utf8_lossy(&output.stderr);
    assert!(noted.contains("later is left out: ") && noted.contains("servers"), "{noted}");
}

#[test]
fn a_wrong_expression_names_the_column_and_what_would_be_right() {
    let cases = [
        ("create.whole_ns[forck]", "column 17", "did you mean fork?"),
        ("creat.whole_ns", "column 1", "did you mean create?"),
        ("create.whol_ns[fork]", "column 8", "did you mean whole_ns?"),
        ("create.whole_ns[fork", "column 21", "expected , or ]"),
        ("create.whole_ns / switch.whole_ns", "column 19", "one experiment"),
        ("", "column 1", "expected RESPONSE"),
    ];
    for (text, column, what) in cases {
        let output = scruple().arg("ask").arg(recorded("base")).arg(text).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {error}");
        assert!(error.contains(column) && error.contains(what), "{text}: {error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_folder_of_sessions_answers_for_each() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["first", "second"] {
        std::os::unix::fs::symlink(recorded("base"), folder.path().join(name)).unwrap();
    }
    let quantity = "null.pass_ns[kernel]";
    let output = scruple().arg("ask").arg(folder.path()).arg(quantity).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.matches(quantity).count(), 2, "{text}");
}
