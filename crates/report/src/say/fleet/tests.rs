use super::{page, terminal as text};
use model::{
    Cell, Estimate, FLEET_FORMAT, FleetPlan, FleetResult, NodeKind, NodeResult, NodeStanding,
    Outlier, Outliers, Profile, Quantity, Spread,
};

fn node(name: &str, standing: NodeStanding) -> NodeResult {
    NodeResult {
        name: name.into(),
        standing,
        reason: String::new(),
        job: Some("7".into()),
        restart: 0,
        attempts: 1,
        session: None,
        trials: 12,
        host: name.into(),
        kind: "A processor, 4 CPUs, 16 GB".into(),
        owns_all_cpus: Some(true),
        doubts: Vec::new(),
    }
}

fn spread(finding: &str, relative: bool, seen: f64, expected: Option<f64>) -> Spread {
    Spread {
        kind: 0,
        experiment: "create".into(),
        finding: finding.into(),
        sentence: "A process costs {} times as much as a thread".into(),
        quantity: Quantity::Ratio { response: "r".into(), of: Cell::new([]), to: Cell::new([]) },
        unit: None,
        machines: 8,
        median: 6.54,
        smallest: 6.1,
        largest: 9.87,
        relative,
        seen,
        expected,
        between: expected.map(|x: f64| (seen.powi(2) - x.powi(2)).max(0.0).sqrt()),
    }
}

fn result() -> FleetResult {
    let mut lost = node("m2", NodeStanding::Lost);
    lost.reason = "lost (NODE_FAIL)".into();
    lost.restart = 1;
    lost.attempts = 2;
    lost.doubts = vec!["the last that it said: [0 s] null, block 1 of 2".into()];
    FleetResult {
        format: FLEET_FORMAT,
        scruple: "0.1.0".into(),
        fleet: "0123456789ab".into(),
        plan: FleetPlan {
            experiments: vec!["create".into(), "null".into()],
            profile: Profile::Quick,
            time_budget_s: Some(165.0),
            blocks: None,
            seed: 7,
            affinity: None,
            shield: true,
            redact: false,
        },
        complete: false,
        expected: None,
        nodes: vec![node("m1", NodeStanding::Complete), lost, node("m3", NodeStanding::Running)],
        same_machine: vec![vec!["m1".into(), "m3".into()]],
        kinds: vec![NodeKind {
            kind: "A processor, 4 CPUs, 16 GB".into(),
            nodes: vec!["m1".into(), "m3".into()],
            machines: 8,
        }],
        spreads: vec![
            spread("process_thread", true, 0.0312, Some(0.0101)),
            spread("other", true, 0.2, None),
        ],
        outliers: Outliers {
            rule: "a rule".into(),
            looked_at: 2,
            too_few: None,
            found: vec![Outlier {
                node: "m3".into(),
                spread: 0,
                value: Estimate {
                    point: 9.87,
                    low: 9.5,
                    high: 10.2,
                    standard_error: Some(0.02),
                    level: 0.95,
                    samples: 12,
                },
                own_noise: false,
                distance: 2.41,
                p_value: 0.00012,
            }],
        },
        comparison: None,
    }
}

#[test]
fn a_fleet_for_a_terminal() {
    let told = text(&result(), 100, None);
    insta::assert_snapshot!("fleet_text", anstream_free(&told));
    let narrow = text(&result(), 44, Some(24));
    assert!(anstream_free(&narrow).lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

/// Without colours.
fn anstream_free(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[test]
fn the_page_says_what_the_terminal_says() {
    let page = page(&result());
    for part in [
        "1 of 3 nodes measured the plan",
        "m1 and m3 are one machine",
        "node lost",
        "data-v=3.1200e-2>3.12",
        "6.1× to 9.87×",
        "m3 differs from the other machines in create",
        "The rule: a rule",
        "Each node: create, null, profile quick, seed 7.",
        "Fewer than two nodes",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn of_many_nodes_a_screen_tells_those_of_which_there_is_something_to_tell() {
    let mut many = result();
    many.nodes.extend((4..20).map(|at| node(&format!("n{at}"), NodeStanding::Complete)));
    let told = anstream_free(&text(&many, 100, Some(40)));
    assert!(
        told.contains("✗ node lost") && told.contains("… measuring") && !told.contains("n17"),
        "{told}"
    );
    assert!(told.starts_with("17 of 19 nodes measured the plan"));
    assert!(text(&many, 100, None).contains("n17"));
}

#[test]
fn what_a_node_says_is_text_and_no_command() {
    let mut hostile = result();
    hostile.nodes[0].name = "<script>alert(1)</script>".into();
    hostile.nodes[0].host = "<img src=x onerror=alert(1)>".into();
    hostile.nodes[0].doubts = vec!["\u{1b}[2J<b>".into(), "</table>".into()];
    hostile.nodes[1].reason = "\u{1b}]0;title\u{7}".into();
    hostile.kinds[0].kind = "<svg onload=alert(1)>".into();
    hostile.same_machine[0][0] = "<i>".into();
    let page = page(&hostile);
    for part in ["<script>alert", "<img src=x", "<svg onload", "<i>", "\u{1b}", "</table></p>"] {
        assert!(!page.contains(part), "{part}");
    }
    let told = anstream_free(&text(&hostile, 100, None));
    assert!(!told.contains('\u{1b}') && !told.contains('\u{7}'), "{told:?}");
}

#[test]
fn a_result_that_points_nowhere_is_no_panic() {
    let mut wrong = result();
    wrong.outliers.found[0].spread = 99;
    wrong.spreads[0].kind = 99;
    assert!(text(&wrong, 80, Some(20)).contains("1 of 3"));
    assert!(page(&wrong).contains("1 of 3"));
}
