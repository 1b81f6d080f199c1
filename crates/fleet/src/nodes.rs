//! Lists of nodes as schedulers write them: `m[1-3,7],login`.

use crate::{Error, names};

/// The most nodes of a fleet: as many as a comparison takes sessions.
pub const NODES_MAX: usize = 4096;

/// The most digits of a number in brackets.
const DIGITS_MAX: usize = 9;

/// The names of a list such as `m[1-3,7],n01` in its order, each once.
///
/// A range in brackets keeps the zeros before its first number; a name may have several brackets.
///
/// # Errors
/// If it is no such list, names what no node has, or more than [`NODES_MAX`] nodes.
pub fn expand(what: &str, text: &str) -> Result<Vec<String>, Error> {
    let refused = |why: &str| names::refused(what, text, why);
    let mut all: Vec<String> = Vec::new();
    let mut open = 0;
    let is_between = |c: char| {
        open += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && open == 0
    };
    for part in text.split(is_between) {
        let names = one(part).map_err(|why| refused(&why))?;
        for name in names {
            names::node(what, &name)?;
            if !all.contains(&name) {
                all.push(name);
            }
        }
        if all.len() > NODES_MAX {
            return Err(refused(&format!("a fleet has at most {NODES_MAX} nodes")));
        }
    }
    Ok(all)
}

/// The names of one part, bracket by bracket.
fn one(part: &str) -> Result<Vec<String>, String> {
    let Some(first) = part.find(['[', ']']) else { return Ok(vec![part.to_string()]) };
    let (before, rest) = part.split_at(first);
    let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Err("its brackets do not match".into());
    };
    let tails = one(after)?;
    let numbers = numbers(inside)?;
    if numbers.len() * tails.len() > NODES_MAX {
        return Err(format!("a fleet has at most {NODES_MAX} nodes"));
    }
    let names = numbers
        .iter()
        .flat_map(|number| tails.iter().map(move |tail| format!("{before}{number}{tail}")));
    Ok(names.collect())
}

/// `1-3,007` as numbers with their zeros.
fn numbers(inside: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| -> Option<u64> {
            let digits = (1..=DIGITS_MAX).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        let (Some(low), Some(high)) = (number(first), number(last)) else {
            return Err(format!("{range:?} is no range of numbers such as 1-3"));
        };
        model::ensure!(low <= high, "{range:?} ends before it begins");
        model::ensure!(high - low < NODES_MAX as u64, "a fleet has at most {NODES_MAX} nodes");
        let width = first.len();
        all.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<String> {
        expand("--nodelist", text).unwrap()
    }

    #[test]
    fn lists_as_a_scheduler_writes_them() {
        assert_eq!(list("m[1-3,7],login"), ["m1", "m2", "m3", "m7", "login"]);
        assert_eq!(list("r[1-2]n[01-02]"), ["r1n01", "r1n02", "r2n01", "r2n02"]);
        assert_eq!(list("n[098-101]"), ["n098", "n099", "n100", "n101"]);
        assert_eq!(list("a,b,a"), ["a", "b"]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_reason() {
        for (text, why) in [
            ("m[1-3", "brackets"),
            ("m]1[", "brackets"),
            ("m[[1]]", "brackets"),
            ("m[3-1]", "ends before"),
            ("m[1-x]", "no range"),
            ("m[]", "no range"),
            ("m[1-9999999999]", "no range"),
            ("m[1-5000]", "at most 4096"),
            ("a[1-99]b[1-99]", "at most 4096"),
            ("a,,b", "empty"),
            ("", "empty"),
            ("-w", "begin with"),
            ("m1;id", "';'"),
        ] {
            let error = expand("--nodelist", text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_more_than_the_most_or_a_hostile_name(text in "[a-z0-9,\\[\\];$-]{0,60}") {
            if let Ok(names) = expand("", &text) {
                prop_assert!(names.len() <= NODES_MAX);
                for name in names {
                    prop_assert!(names::node("", &name).is_ok());
                }
            }
        }
    }
}
