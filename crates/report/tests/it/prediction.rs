//! A server beside a simulated one, as the terminal and the page show it.

use crate::plain;
use crate::predicted::{curves, prediction};
use model::{LoadPrediction, ModelFault, PredictedLoad};

fn plain(prediction: &LoadPrediction, width: usize) -> String {
    plain::plain(&report::prediction(prediction, &[]).text(width))
}

#[test]
fn measured_and_predicted_stand_side_by_side() {
    let text = plain(&prediction(), 100);
    for part in [
        "Supposed to be a pool of 8 workers.",
        "Yes: the server may be a pool of 8 workers. Every other model is refuted.",
        "Its processes used 90.0 µs of CPU time per answer then, 0.04 CPUs in all.",
        "Such a server would answer 1568 requests per second",
        "a request holds one for 20.2 ms, and spends 200 µs outside the server.",
        "198 requests per second, 50 % of the maximum: 1980 requests",
        "+1.0 %",
        "+0.0 %",
        "-10.0 %",
        "off by 0.4 % or less, and 99 % by 8.1 % or less.",
        "By the formula (M/D/c, about) the mean would be 21.1 ms.",
        "only in the simulation: 2.",
        "! The generator was busy",
        "! Other programs took 41 % of the CPUs",
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "what others wrote is harmless: {text}");
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    for width in [20, 40, 80] {
        let text = plain(&prediction(), width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.max(40), "{width}: {text}");
    }
}

#[test]
fn what_was_interrupted_says_so() {
    let early = LoadPrediction { seen: None, models: Vec::new(), complete: false, ..prediction() };
    assert!(plain(&early, 80).contains("Interrupted before the demand"));
    let late = LoadPrediction { models: Vec::new(), complete: false, ..prediction() };
    assert!(plain(&late, 80).contains("not all loads were measured"));
    let mut nothing = prediction();
    nothing.models[0].loads[0] = PredictedLoad {
        mean: None,
        p50: None,
        p99: None,
        each_p50: None,
        each_p99: None,
        ..nothing.models[0].loads[0].clone()
    };
    assert!(plain(&nothing, 80).contains("No request was answered in both"));
}

#[test]
fn the_page_holds_what_the_terminal_shows() {
    let page = report::prediction(&prediction(), &[curves()]).page().replace('\u{a0}', " ");
    for part in [
        "Supposed to be a pool of 8 workers. Each connection is for one request.",
        "a request holds one for 20.2 ms, and",
        "198 requests per second, 50 % of the maximum: 1980 requests",
        "By the formula (M/D/c, about) the mean would be 21.1 ms.",
        "The generator was busy",
        "Other programs took 41 % of the CPUs",
        "How long requests took",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains('\u{1b}'), "what others wrote is harmless");
    for row in ["mean", "p50", "p99"] {
        assert!(page.contains(&format!(">{row}<td class=number>")), "{row}");
    }
    assert!(!page.contains("Interrupted"));
    let late = LoadPrediction { complete: false, ..prediction() };
    assert!(report::prediction(&late, &[]).page().contains("Interrupted: not all loads"));
    assert!(!report::prediction(&late, &[]).page().contains("How long requests took"));
    let early = LoadPrediction { seen: None, models: Vec::new(), ..late };
    assert!(report::prediction(&early, &[]).page().contains("Interrupted before the demand"));
}

#[test]
fn the_verdict_names_what_is_consistent_and_what_is_not() {
    let printed = |prediction: &LoadPrediction| {
        plain(prediction, 400).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let any = LoadPrediction { asked: None, ..prediction() };
    assert!(printed(&any).contains("The server behaves as a pool of 8 workers. Every other"));
    let mut wrong = prediction();
    wrong.models[0].fault = Some(ModelFault::Mean { at: 0.9, by: 0.234 });
    let text = printed(&wrong);
    assert!(text.contains("No: it is not a pool of 8 workers. At 90 % of the maximum, the predicted mean is off by +23 %."), "{text}");
    let none = printed(&LoadPrediction { asked: None, ..wrong });
    assert!(
        none.contains(
            "No model is consistent with the server. The nearest is a pool of 8 workers."
        ),
        "{none}"
    );
    let mut both = any;
    both.models[1] = model::PredictedModel { bound: true, ..both.models[0].clone() };
    let text = printed(&both);
    assert!(text.contains("2 models are consistent with the server: a pool of 8 workers; a pool of 8 workers that keeps its connections."), "{text}");
}
