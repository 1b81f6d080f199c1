/// The most characters of the host's name in a session's name.
const HOST_CHARACTERS_MAX: usize = 40;

/// The name of a session that begins now: `2026-11-20T131042Z-host`.
///
/// `unix_ms` counts milliseconds since 1970 in UTC. Of `host` only letters, digits, `.` and `-`
/// are kept, at most 40 of them, so that the name is one harmless path component whatever the
/// host is called.
pub fn session_name(unix_ms: u64, host: &str) -> String {
    let seconds = unix_ms / 1000;
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
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

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Howard Hinnant, "chrono-compatible low-level date algorithms" (`civil_from_days`): years begin
/// in March, so that the leap day is the last, and eras of 400 years all have 146,097 days.
fn civil_date(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + 719_468; // since 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{civil_date, session_name};

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
    fn every_day_of_800_years_follows_the_one_before() {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..800 * 365 {
            assert_eq!(civil_date(days), (year, month, day));
            let length = match month {
                2 if leap(year) => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
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
