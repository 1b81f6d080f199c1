//! The calendar, for people: no duration is taken from it.

/// A moment in UTC, in the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year, from 1970.
    pub year: u64,
    /// The month, from 1 to 12.
    pub month: u64,
    /// The day of the month, from 1 to 31.
    pub day: u64,
    /// The hour, from 0 to 23.
    pub hour: u64,
    /// The minute, from 0 to 59.
    pub minute: u64,
    /// The second, from 0 to 59: Unix time has no leap seconds.
    pub second: u64,
}

impl Moment {
    /// Returns the moment that number of milliseconds after the beginning of 1970 in UTC.
    ///
    /// Howard Hinnant, "chrono-compatible low-level date algorithms" (`civil_from_days`): years
    /// begin in March, so that the leap day is the last, and eras of 400 years all have 146,097
    /// days.
    pub fn of_unix_ms(unix_ms: u64) -> Self {
        let seconds = unix_ms / 1000;
        let days = seconds / 86_400 + 719_468; // since 0000-03-01
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Moment {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: seconds / 3600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
        }
    }
}

/// As `2026-07-01T12:30:00`.
impl std::fmt::Display for Moment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Moment { year, month, day, hour, minute, second } = self;
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn known_dates() {
        // Each computed with `date -u -d @SECONDS`.
        for (seconds, date, time) in [
            (0, (1970, 1, 1), (0, 0, 0)),
            (951_782_400, (2000, 2, 29), (0, 0, 0)),
            (951_868_799, (2000, 2, 29), (23, 59, 59)),
            (951_868_800, (2000, 3, 1), (0, 0, 0)),
            (1_735_689_599, (2024, 12, 31), (23, 59, 59)),
            (1_795_180_242, (2026, 11, 20), (13, 10, 42)),
            (4_107_542_400, (2100, 3, 1), (0, 0, 0)),
            (253_402_300_799, (9999, 12, 31), (23, 59, 59)),
        ] {
            let it = Moment::of_unix_ms(seconds * 1000 + 999);
            assert_eq!((it.year, it.month, it.day), date, "{seconds}");
            assert_eq!((it.hour, it.minute, it.second), time, "{seconds}");
        }
        assert!(Moment::of_unix_ms(u64::MAX).year > 500_000_000);
    }

    #[test]
    fn every_day_of_800_years_follows_the_one_before() {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..800 * 365 {
            let it = Moment::of_unix_ms(days * 86_400_000);
            assert_eq!((it.year, it.month, it.day), (year, month, day));
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
}
