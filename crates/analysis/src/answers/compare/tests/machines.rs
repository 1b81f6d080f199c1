//! Whether the sides are of one machine.

use super::*;

#[test]
fn the_same_machine_is_said_to_be_the_same() {
    let at = |machine: &str, boot: &str, seed| {
        let mut made = made(1.0, 4.0, seed);
        made.manifest.environment.machine = machine.into();
        made.manifest.environment.boot = boot.into();
        made
    };
    let alike = |a: &Made, b: &Made| of_two(a, b, &[]).alike;
    let one = at("m", "b", 1);
    assert!(alike(&one, &at("m", "b", 2))[0].contains("without a restart"));
    let restarted = of_two(&one, &at("m", "c", 2), &[]);
    assert_eq!(restarted.alike, ["All sides were measured on the same machine."]);
    assert_eq!(restarted.facts[0].name, "boot");
    let other = of_two(&one, &at("n", "c", 2), &[]);
    assert!(other.alike.is_empty() && other.facts.iter().all(|row| row.name != "boot"));
    // What nobody recorded is not said to be the same.
    assert!(alike(&at("", "", 1), &at("", "", 2)).is_empty());
}

#[test]
fn what_shows_no_other_machine_is_none() {
    let at = |host: &str, machine: &str, seed| {
        let mut made = made(1.0, 4.0, seed);
        made.manifest.environment.host = host.into();
        made.manifest.environment.machine = machine.into();
        made
    };
    let is_other =
        |a: &Made, b: &Made| of_two(a, b, &[]).facts.iter().any(|row| row.name == "machine");
    let (old, new) = ("0123456789abcdef", "0123456789abcdef0123456789abcdef");
    let one = at("h", new, 1);
    // A redacted session has no host.
    assert!(!is_other(&one, &at("", new, 2)) && is_other(&one, &at("", &new.replace('0', "1"), 2)));
    // An earlier version's hash is of another kind.
    assert!(!is_other(&one, &at("h", old, 2)) && !is_other(&one, &at("", old, 2)));
    assert!(is_other(&one, &at("other", old, 2)));
    let alike = of_two(&one, &at("h", old, 2), &[]).alike;
    assert!(alike[0].contains("is not known"), "{alike:?}");
}
