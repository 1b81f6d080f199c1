//! The reasons that tests print where they skip themselves: `skipped: REASON`, on a line.

/// How a test says that it cannot run here.
const WORD: &str = "skipped: ";

/// Reads what libtest prints by `--show-output`, and finds the skips in it.
#[derive(Debug, Default)]
pub(super) struct Skips {
    /// The names of tests with their reasons.
    pub(super) found: Vec<String>,
    /// The test whose output is read.
    test: String,
    /// Whether this is the list of tests that passed, with their output.
    passed: bool,
}

impl Skips {
    /// Returns the line if it is to be shown: what tests that passed have printed is not.
    pub(super) fn hear<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        match line {
            "successes:" => self.passed = true,
            "failures:" => self.passed = false,
            _ if line.starts_with("test result: ") => self.passed = false,
            _ => {}
        }
        if !self.passed {
            return Some(line);
        }
        if let Some(test) =
            line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----"))
        {
            self.test = test.into();
        }
        if let Some(reason) = line.strip_prefix(WORD) {
            let skip = format!("{}: {reason}", self.test);
            if !self.found.contains(&skip) {
                self.found.push(skip);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Skips;

    #[test]
    fn what_tests_skip_is_found_and_what_they_print_is_hidden() {
        let printed = "\ntest a::b ... ok\ntest c ... FAILED\n\nsuccesses:\n\n---- a::b stdout ----\nhello\n\
                       skipped: no cgroup\nskipped: no cgroup\n\n\nsuccesses:\n    a::b\n\nfailures:\n\n\
                       ---- c stdout ----\nskipped: x\n\ntest result: FAILED. 1 passed\n\nrunning 1 test";
        let mut skips = Skips::default();
        let shown: Vec<&str> = printed.lines().filter_map(|line| skips.hear(line)).collect();
        assert_eq!(skips.found, ["a::b: no cgroup"]);
        let hidden = printed.replace(
            "successes:\n\n---- a::b stdout ----\nhello\nskipped: no cgroup\nskipped: no cgroup\n\n\n\
             successes:\n    a::b\n\n",
            "",
        );
        assert_eq!(shown.join("\n"), hidden);
    }
}
