//! The benchmark that holds scruple against other tools: what it reads, judges and promises. It
//! has no test harness of its own, since trials must be served before any thread exists.

#![expect(dead_code, reason = "the benchmark's main uses the rest")]

#[path = "../../benches/peers/definitions.rs"]
mod definitions;
#[path = "../../benches/peers/lat_ctx.rs"]
mod lat_ctx;
#[path = "../../benches/peers/messaging.rs"]
mod messaging;
#[path = "../../benches/peers/one_call.rs"]
mod one_call;
#[path = "../../benches/peers/one_way.rs"]
mod one_way;
#[path = "../../benches/peers/ours.rs"]
mod ours;
#[path = "../../benches/peers/pairs.rs"]
mod pairs;
#[path = "../../benches/peers/parse.rs"]
mod parse;
#[path = "../../benches/peers/peer.rs"]
mod peer;
#[path = "../../benches/peers/verdict.rs"]
mod verdict;
#[path = "../../benches/peers/vfork.rs"]
mod vfork;

mod parsing {
    use super::parse::*;

    const PIPE: &str = include_str!("../../benches/peers/fixtures/perf-sched-pipe.txt");
    const SYSCALL: &str = include_str!("../../benches/peers/fixtures/perf-syscall-basic.txt");
    const MESSAGING: &str = include_str!("../../benches/peers/fixtures/perf-sched-messaging.txt");
    const STRESS: &str = include_str!("../../benches/peers/fixtures/stress-ng.yaml");
    const HYPERFINE: &str = include_str!("../../benches/peers/fixtures/hyperfine.json");

    const RATE: &str = "bogo-ops-per-second-real-time";

    #[test]
    fn what_the_peers_printed_is_read() {
        assert_eq!(microseconds_of_perf(PIPE).unwrap(), 36.1415);
        assert_eq!(microseconds_of_perf(SYSCALL).unwrap(), 0.118);
        assert_eq!(seconds_of_perf(MESSAGING).unwrap(), 0.348);
        assert_eq!(metric_of_stress_ng(STRESS, "vfork", RATE).unwrap(), 34_476.905_271);
        assert_eq!(metric_of_stress_ng(STRESS, "switch", RATE).unwrap(), 35_248.455_021);
        let each = "nanosecs-per-context-switch-pipe-method";
        assert_eq!(metric_of_stress_ng(STRESS, "switch", each).unwrap(), 28_321.988_71);
        assert_eq!(median_of_hyperfine(HYPERFINE).unwrap(), 0.003_988_970_000_000_000_5);
        assert_eq!(microseconds_of_lat_ctx("\"size=0k ovr=0.31\n2 1.05\n"), 1.05);
    }

    #[test]
    fn one_stressor_is_not_taken_for_another() {
        assert!(
            metric_of_stress_ng(STRESS, "vfork", "nanosecs-per-context-switch-pipe-method")
                .unwrap_err()
                .to_string()
                .contains("vfork")
        );
        assert!(metric_of_stress_ng(STRESS, "fork", RATE).is_err());
        // What stands before the metrics is no metric.
        assert!(metric_of_stress_ng("- stressor: vfork\n  x: 1\n...\n", "vfork", "x").is_err());
    }

    #[test]
    fn garbage_is_no_number() {
        let whole = [PIPE, SYSCALL, MESSAGING, STRESS, HYPERFINE];
        let cut = whole.map(|text| &text[..text.len() / 3]);
        let lies = [
            "",
            "usecs/op",
            "nan usecs/op",
            "-1.0 usecs/op",
            "0 usecs/op",
            "Total time: 0.000 [sec]",
            "Total time: 348 [msec]",
            "Total time: [sec]",
            "metrics:\n - stressor: vfork\n   bogo-ops-per-second-real-time: inf\n...",
            "{\"results\": []}",
            "{\"results\": [{\"median\": null}]}",
            "{\"results\": [{\"median\": -0.1}]}",
            "\0\u{fffd}",
        ];
        for text in cut.into_iter().chain(lies) {
            assert!(microseconds_of_perf(text).is_err(), "{text}");
            assert!(seconds_of_perf(text).is_err(), "{text}");
            assert!(metric_of_stress_ng(text, "vfork", RATE).is_err(), "{text}");
            assert!(median_of_hyperfine(text).is_err(), "{text}");
            assert!(microseconds_of_lat_ctx(text).is_nan(), "{text}");
        }
    }
}

mod judging {
    use super::verdict::{Agreement, Ratio};
    use std::collections::BTreeMap;

    fn rounds(of: impl Fn(u32) -> f64) -> BTreeMap<u32, f64> {
        (0..12).map(|round| (round, of(round))).collect()
    }

    #[test]
    fn a_planted_ratio_is_found_whatever_the_rounds_share() {
        let drift = |round: u32| 1000.0 * f64::from(round + 1);
        let theirs = rounds(drift);
        for (planted, told) in [
            (1.0, Agreement::Within),
            (1.05, Agreement::Within),
            (0.95, Agreement::Within),
            (1.2, Agreement::Beyond),
            (0.8, Agreement::Beyond),
        ] {
            let wobble = |round: u32| 1.0 + 0.01 * f64::from(round % 3) - 0.01;
            let ours = rounds(|round| planted * drift(round) * wobble(round));
            let ratio = Ratio::of(&ours, &theirs).unwrap();
            assert!((ratio.point / planted - 1.0).abs() < 0.01, "{ratio:?}");
            assert_eq!(ratio.agreement(), told, "{ratio:?}");
            assert_eq!(ratio.rounds, 12);
        }
    }

    #[test]
    fn an_interval_across_the_edge_decides_nothing() {
        let open = Ratio { point: 1.09, low: 1.02, high: 1.16, rounds: 6 };
        assert_eq!(open.agreement(), Agreement::Open);
        let wide = Ratio { point: 1.0, low: 0.5, high: 2.0, rounds: 6 };
        assert_eq!(wide.agreement(), Agreement::Open);
    }

    #[test]
    fn rounds_without_a_number_are_left_out() {
        let ours = rounds(|round| if round == 3 { -1.0 } else { 2.0 });
        let theirs = rounds(|round| if round == 4 { f64::NAN } else { 2.0 });
        assert_eq!(Ratio::of(&ours, &theirs).unwrap().rounds, 10);
        assert_eq!(Ratio::of(&ours, &BTreeMap::new()), None);
    }
}

mod table {
    use super::pairs::stations;

    #[test]
    fn what_explains_a_difference_stands_in_the_docs() {
        let docs = include_str!("../../../../docs/calibration.md");
        let anchors: Vec<String> = docs
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| {
                let title = line.trim_start_matches('#').trim().to_lowercase();
                title
                    .chars()
                    .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                    .map(|c| if c == ' ' { '-' } else { c })
                    .collect()
            })
            .collect();
        let stations = stations(Some(1 << 20));
        let pairs: Vec<_> = stations.iter().flat_map(|station| &station.pairs).collect();
        for anchor in pairs.iter().filter_map(|pair| pair.explained) {
            assert!(anchors.iter().any(|known| known == anchor), "#{anchor} is not in the docs");
        }
        // A difference is explained only where a pair beside it has the peer's own definition.
        for station in &stations {
            let explained = station.pairs.iter().any(|pair| pair.explained.is_some());
            let whole = station.pairs.iter().any(|pair| pair.explained.is_none());
            assert!(!explained || whole, "{}", station.pairs[0].what);
        }
    }

    #[test]
    fn every_number_of_ours_exists() {
        let designs = || experiments::CATALOG.iter().chain(super::ours::OWN);
        for station in stations(Some(1 << 20)) {
            let pairs = station.pairs.iter().map(|pair| &pair.mine);
            for number in pairs.chain(station.aside.iter().map(|(_, number)| number)) {
                let known = designs().find(|known| known.id == number.experiment);
                let design = (known.expect(number.experiment).design)();
                assert!(design.response(number.response).is_some(), "{}", number.response);
                let treatments = design.treatments(model::Profile::Standard);
                assert!(treatments.contains(&design.complete(&number.at)), "{number:?}");
            }
        }
    }
}

mod declaring {
    #[test]
    fn the_definitions_are_a_sound_design() {
        let design = (super::definitions::EXPERIMENT.design)();
        assert_eq!(design.check(), Ok(()));
        assert_eq!(
            design.treatments(kit::model::Profile::Smoke).len(),
            super::definitions::DEFINITIONS.len()
        );
    }
}
