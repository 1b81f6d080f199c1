use model::Moment;

/// The most characters of the host's name in a session's name.
const HOST_CHARACTERS_MAX: usize = 40;

/// The name of a session that begins now: `2026-11-20T131042Z-host`.
///
/// `unix_ms` counts milliseconds since 1970 in UTC. Of `host` only letters, digits, `.` and `-`
/// are kept, at most 40 of them, so that the name is one harmless path component whatever the
/// host is called.
pub fn session_name(unix_ms: u64, host: &str) -> String {
    let Moment { year, month, day, hour, minute, second } = Moment::of_unix_ms(unix_ms);
    let mut host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '.' || *c == '-')
        .take(HOST_CHARACTERS_MAX)
        .collect();
    if host.is_empty() {
        host.push_str("unnamed");
    }
    format!("{year:04}-{month:02}-{day:02}T{hour:02}{minute:02}{second:02}Z-{host}")
}

#[cfg(test)]
mod tests {
    use super::session_name;

    #[test]
    fn known_dates() {
        // Each computed with `date -u -d @SECONDS`.
        for (seconds, text) in [
            (0, "1970-01-01T000000Z-h"),
            (951_782_400, "2000-02-29T000000Z-h"),
            (951_868_799, "2000-02-29T235959Z-h"),
            (951_868_800, "2000-03-01T000000Z-h"),
            (1_735_689_599, "2024-12-31T235959Z-h"),
            (1_795_180_242, "2026-11-20T131042Z-h"),
            (4_107_542_400, "2100-03-01T000000Z-h"),
            (253_402_300_799, "9999-12-31T235959Z-h"),
        ] {
            assert_eq!(session_name(seconds * 1000 + 999, "h"), text);
        }
    }

    #[test]
    fn a_host_is_reduced_to_what_is_harmless_in_a_path() {
        let name = |host: &str| session_name(0, host)["1970-01-01T000000Z-".len()..].to_string();
        assert_eq!(name("node-7.example.org"), "node-7.example.org");
        assert_eq!(name("../../etc/pass wd\0\n\u{e9}_"), "....etcpasswd");
        assert_eq!(name(&"x".repeat(200)), "x".repeat(40));
        assert_eq!(name("\u{65e5}\u{672c}"), "unnamed");
    }

    #[test]
    fn the_end_of_time_is_a_name_too() {
        assert!(session_name(u64::MAX, "h").ends_with("Z-h"));
    }
}
