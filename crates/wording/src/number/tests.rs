use super::*;
use model::Cell;

fn interval(point: f64, low: f64, high: f64) -> Estimate {
    Estimate { point, low, high, standard_error: None, level: 0.95, samples: 10 }
}

fn result(quantity: Quantity, unit: Option<Unit>, estimate: Option<Estimate>) -> QuantityResult {
    QuantityResult {
        of_means: None,
        likeness: None,
        lost: None,
        quantity,
        unit,
        estimate,
        events: None,
        chances: None,
        carried_by: None,
        floor: None,
        floor_in_ten_times: None,
        tagged: 0,
        untagged: None,
        remark: String::new(),
    }
}

fn ratio_of() -> Quantity {
    Quantity::Ratio { response: "a_ns".into(), of: Cell::default(), to: Cell::default() }
}

#[test]
fn a_ratio_whose_ends_are_far_apart_is_not_told() {
    let of = |low, high| is_precise(&Estimate::between(low, (low + high) / 2.0, high));
    assert!(of(0.9, 1.1) && of(2.0, 8.0));
    assert!(!of(1.0, 5.0) && !of(-0.1, 3.0) && !of(0.0, 1.0) && !of(1.0, f64::INFINITY));
}

#[test]
fn values_take_the_unit_that_fits() {
    for (x, unit, text) in [
        (0.0, Unit::Ns, "0 ns"),
        (31.4, Unit::Ns, "31.4 ns"),
        (12_300.0, Unit::Ns, "12.3 µs"),
        (2_500_000.0, Unit::Ns, "2.50 ms"),
        (3.2e9, Unit::Ns, "3.20 s"),
        (1.76e9, Unit::Bytes, "1.76 GB"),
        (220e6, Unit::Bytes, "220 MB"),
        (512.0, Unit::Bytes, "512 B"),
        (123_000.0, Unit::Ppm, "12.3 %"),
        (1_234_567.0, Unit::Count, "1\u{202f}234\u{202f}567"),
        (0.25, Unit::Count, "0.250"),
        (12_340.0, Unit::PerSecond, "12.3 k/s"),
        (-4_000.0, Unit::Ns, "−4.00 µs"),
        (7.0, Unit::Other("pages".into()), "7.00 pages"),
        (f64::NAN, Unit::Ns, "–"),
    ] {
        assert_eq!(value(x, &unit), text);
    }
}

#[test]
fn digits_follow_the_width_of_the_interval() {
    assert_eq!(estimate(&interval(8.12, 7.88, 8.41), Terms::Plain), "8.1 [7.9, 8.4]");
    assert_eq!(estimate(&interval(8.12, 8.06, 8.18), Terms::Plain), "8.12 [8.06, 8.18]");
    assert_eq!(estimate(&interval(100.0, 55.0, 160.0), Terms::Plain), "100 [55, 160]");
    assert_eq!(
        estimate(&interval(12_345.0, 12_100.0, 12_600.0), Terms::In(&Unit::Ns)),
        "12.3 µs [12.1, 12.6]"
    );
    // The same in every block: there is no interval.
    assert_eq!(estimate(&interval(5.0, 5.0, 5.0), Terms::Plain), "5");
    let ratio_of_counts = interval(0.4, 0.4 - 1e-16, 0.4 + 1e-16);
    assert_eq!(estimate(&ratio_of_counts, Terms::Times), "0.4×");
    assert_eq!(estimate(&interval(1.5e-6, 1.5e-6, 1.5e-6), Terms::In(&Unit::Ns)), "1.5 fs");
    assert_eq!(estimate(&interval(5.0, 1.0, f64::INFINITY), Terms::Plain), "5.00 [1.00, ∞]");
}

#[test]
fn no_number_has_more_digits_than_can_be_read() {
    let text = estimate(&interval(123.456_789, 123.456_788, 123.456_790), Terms::Plain);
    assert_eq!(text, "123.46 [123.46, 123.46]");
}

#[test]
fn nothing_is_minus_zero() {
    assert_eq!(estimate(&interval(-0.001, -2.0, 2.0), Terms::Plain), "0 [−2, 2]");
}

#[test]
fn a_quantity_is_read_in_its_own_terms() {
    let eight = Some(interval(8.12, 7.88, 8.41));
    assert_eq!(quantity(&result(ratio_of(), None, eight)), "8.1× [7.9, 8.4]");
    let share = Quantity::Share {
        response: "a_ns".into(),
        whole: Cell::default(),
        without: Cell::default(),
        base: Cell::default(),
    };
    let most = Some(interval(0.871, 0.80, 0.93));
    assert_eq!(quantity(&result(share, None, most)), "87 % [80, 93]");
    assert_eq!(quantity(&result(ratio_of(), None, None)), "not measured");
}

fn seen(events: u64, chances: u64, ends: [f64; 2]) -> QuantityResult {
    let among = Cell::default();
    let quantity = Quantity::Frequency { response: "lost_count".into(), among };
    let point = events as f64 / chances as f64;
    QuantityResult {
        of_means: None,
        events: Some(events),
        chances: Some(chances),
        ..result(quantity, None, Some(interval(point, ends[0], ends[1])))
    }
}

#[test]
fn frequencies_stand_beside_their_counts() {
    let rare = seen(12, 3_400_000, [1.8e-6, 6.2e-6]);
    let million = "3\u{202f}400\u{202f}000";
    assert_eq!(quantity(&rare), format!("12 of {million}: 3.5 per million [1.8, 6.2]"));
    assert_eq!(
        sentence("A signal is lost in {} of all hops.", &rare),
        format!("A signal is lost in 3.5 per million [1.8, 6.2] (12 of {million}) of all hops.")
    );
    let said = sentence("It loses {} per million.", &rare);
    assert_eq!(said, format!("It loses 3.5 [1.8, 6.2] (12 of {million}) per million."));
    let none = seen(0, 3_400_000, [0.0, 1.0871e-6]);
    assert_eq!(quantity(&none), format!("none of {million}: at most 1.09 per million"));
    let all = seen(20, 20, [0.8316, 1.0]);
    assert_eq!(quantity(&all), "all of 20: at least 83.2 %");
    assert_eq!(quantity(&seen(5, 20, [0.087, 0.491])), "5 of 20: 25 % [9, 49]");
    // A summary that an earlier version wrote has no counts.
    let bare = QuantityResult { events: None, chances: None, ..seen(5, 20, [0.087, 0.491]) };
    assert_eq!(quantity(&bare), "25 % [9, 49]");
}

#[test]
fn a_share_tells_its_rest() {
    let share = |point, low, high| {
        let (response, base) = ("a_ns".to_string(), Cell::default());
        let (whole, without) = (base.clone(), base.clone());
        let quantity = Quantity::Share { response, whole, without, base };
        result(quantity, None, Some(interval(point, low, high)))
    };
    assert_eq!(
        rest(&share(0.43, 0.40, 0.54)).as_deref(),
        Some("The rest, 57 % [46, 60], is not explained by it.")
    );
    assert_eq!(
        rest(&share(1.12, 1.05, 1.2)).as_deref(),
        Some("Nothing of the gap is left for another cause (−12 % [−20, −5]).")
    );
    assert_eq!(rest(&result(ratio_of(), None, Some(interval(1.0, 0.9, 1.1)))), None);
}

#[test]
fn a_sentence_says_times_once() {
    let eight = result(ratio_of(), None, Some(interval(8.12, 7.88, 8.41)));
    assert_eq!(
        sentence("It costs {} times as much.", &eight),
        "It costs 8.1 [7.9, 8.4] times as much."
    );
    assert_eq!(sentence("It costs {} a thread.", &eight), "It costs 8.1× [7.9, 8.4] a thread.");
    assert_eq!(sentence("No place for it.", &eight), "No place for it.");
}

#[test]
fn ticks_of_one_axis_share_a_unit() {
    let terms = Terms::In(&Unit::Ns);
    let texts: Vec<_> = [0.0, 500_000.0, 1_000_000.0]
        .iter()
        .map(|x| tick(*x, 500_000.0, 1_000_000.0, terms))
        .collect();
    assert_eq!(texts, ["0.0", "0.5", "1.0"]);
    assert_eq!(axis_unit(1_000_000.0, terms), "ms");
}

#[test]
fn durations_are_short() {
    assert_eq!(duration_s(9), "9 s");
    assert_eq!(duration_s(151), "2 min 31 s");
    assert_eq!(duration_s(3 * 3600), "3 h");
    assert_eq!(duration_s(3 * 3600 + 120), "3 h 2 min");
}

#[test]
fn digits_give_way_where_room_is_short() {
    let narrow = interval(1.003_08, 1.002_96, 1.003_14);
    assert_eq!(joined(&parts(&narrow, Terms::Times)), "1.0031× [1.0030, 1.0031]");
    assert_eq!(joined(&parts_within(&narrow, Terms::Times, 22)), "1.003× [1.003, 1.003]");
    assert_eq!(joined(&parts_within(&narrow, Terms::Times, 0)), "1× [1, 1]");
}

#[test]
fn a_floor_has_two_digits() {
    let told = |x: f64| rough(x, Terms::Share);
    assert_eq!(told(0.0894), "8.9 %");
    assert_eq!(told(0.153), "15 %");
    assert_eq!(told(0.000_583), "0.058 %");
    assert_eq!(told(1.234), "120 %");
    assert_eq!(told(0.1), "10 %");
    assert_eq!(told(6.901e-7), "6.9e−5 %");
    assert_eq!(
        (told(0.0), told(f64::NAN), told(f64::INFINITY)),
        ("0 %".into(), "–".into(), "∞ %".into())
    );
    // Two blocks find nothing; ten digits of how little would look like knowledge.
    assert_eq!(told(99.0), "9900 %");
    assert_eq!(told(1.4e8), format!("more than {}", told(100.0)));
    assert_eq!(rough(1_723.0, Terms::In(&Unit::Ns)), "1.7 µs");
    // What is rounded up takes the next unit.
    assert_eq!(rough(999.0, Terms::In(&Unit::Ns)), "1 µs");
    assert_eq!(rough(-445.0, Terms::In(&Unit::Ns)), "−450 ns");
}

#[test]
fn what_is_computed_says_so_in_the_place_of_an_interval() {
    let exact = |x: f64, unit: &Unit| estimate(&Estimate::exactly(x, 2), Terms::In(unit));
    assert_eq!(exact(143_467.0, &Unit::Count), "143\u{202f}467 [exact]");
    assert_eq!(exact(999_275.1, &Unit::Ppm), "99.928 % [exact]");
    assert_eq!(exact(94.0, &Unit::Bytes), "94 B [exact]");
    assert_eq!(exact(0.0, &Unit::Count), "0 [exact]");
    assert_eq!(estimate(&Estimate::exactly(0.5875, 2), Terms::Times), "0.5875× [exact]");
    let said = result(ratio_of(), None, Some(Estimate::exactly(0.5875, 2)));
    assert_eq!(
        sentence("It takes {} times as many.", &said),
        "It takes 0.5875 [exact] times as many."
    );
    let narrow = parts_within(&Estimate::exactly(999_275.1, 2), Terms::In(&Unit::Ppm), 15);
    assert_eq!(joined(&narrow), "99.93 % [exact]");
}

#[test]
fn a_ratio_is_never_printed_below_0() {
    for low in [-0.0548, 0.0] {
        let shown = ratio(&interval(12.0, low, 193.0));
        assert_eq!(shown, "less than 193×");
    }
    assert_eq!(ratio(&interval(0.0, 0.0, 0.0)), "0×");
    let said =
        sentence("It costs {} as much.", &result(ratio_of(), None, Some(interval(1.0, -1.0, 3.0))));
    assert_eq!(said, "It costs less than 3× as much.");
    // A difference may well be negative.
    let unit = Unit::Ns;
    assert_eq!(estimate(&interval(1.0, -1.0, 3.0), Terms::In(&unit)), "1 ns [−1, 3]");
}

#[test]
fn an_end_beside_1_is_printed_beside_1() {
    assert_eq!(ratio(&interval(1.03, 1.002, 1.10)), "1.030× [1.002, 1.100]");
    assert_eq!(ratio(&interval(1.03, 0.9996, 1.10)), "1.0300× [0.9996, 1.1000]");
    assert_eq!(ratio(&interval(1.03, 1.0, 1.10)), "1.03× [1.00, 1.10]");
    // Nobody could read more digits than these.
    assert_eq!(ratio(&interval(1.03, 1.000_01, 1.10)), "1.03× [1.00, 1.10]");
}

#[test]
fn what_somebody_wrote_keeps_its_digits() {
    let shown = |x: f64| limit(x, Terms::Times);
    assert_eq!(
        [1.025, 1.005, 0.9985, 2.0, 16.31].map(shown),
        ["1.025×", "1.005×", "0.9985×", "2×", "16.31×"]
    );
    assert_eq!(limit(104.4e6, Terms::In(&Unit::Ns)), "104.4 ms");
    // What was computed has three digits.
    assert_eq!([1.0 / 1.05, 2.0 / 3.0].map(shown), ["0.952×", "0.667×"]);
    assert_eq!(limit(0.05, Terms::Share), "5 %");
    assert_eq!([0.0, f64::NAN].map(shown), ["0×", "–"]);
}
