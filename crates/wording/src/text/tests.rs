use super::*;

#[test]
fn moments_are_right() {
    assert_eq!(moment(0), "1970-01-01 00:00 UTC");
    assert_eq!(moment(951_782_400_000), "2000-02-29 00:00 UTC");
    assert_eq!(moment(1_795_180_140_000), "2026-11-20 13:09 UTC");
}

#[test]
fn words_of_the_shell_are_quoted_when_they_must_be() {
    let words = ["scruple", "study", "my file.toml", "it's", "", "--seed=4"].map(String::from);
    assert_eq!(command_line(&words), r"scruple study 'my file.toml' 'it'\''s' '' --seed=4");
}

#[test]
fn outside_text_cannot_steer_a_terminal_or_turn_a_line_around() {
    assert_eq!(short("a\u{1b}[31mb\u{202e}c", 20), "a\u{fffd}[31mb\u{fffd}c");
    assert_eq!(short(&"x".repeat(10_000), 5), "xxxx…");
    assert_eq!(short("exact", 5), "exact");
    assert_eq!(lines("one\ntwo\r", 10), "one\ntwo\u{fffd}");
}
