//! How many cases a property of untrusted bytes is tried with. It belongs to no room; the rooms
//! that read bytes include this file in their tests.

use proptest::test_runner::Config;

/// So many cases, few enough for every build; or as many as `PROPTEST_CASES` asks for, by which
/// all rooms are tried at scale at once.
pub(crate) fn at_scale(cases: u32) -> Config {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config { failure_persistence: None, ..Config::default() };
    if asked { config } else { Config { cases, ..config } }
}
