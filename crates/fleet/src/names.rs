//! Names from outside, held against a set of characters before anything is made of them.
//!
//! Nothing here is read by a shell, but site prologs, `squeue` formats and the file names that a
//! scheduler expands (`%j`) also read names. What is refused here never reaches them.

use crate::Error;
use model::FleetRequest;

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 64;

/// The most bytes of a list or a constraint.
const LIST_BYTES_MAX: usize = 1024;

/// The most bytes of a path.
const PATH_BYTES_MAX: usize = 1024;

const WORD_MARKS: &str = "_.+-";

/// A partition: letters, digits and `_.+-`, of which the
/// first is a letter, a digit or `_`, so that it cannot be taken for an option.
///
/// # Errors
/// Names the first character that cannot stand there.
pub fn word(what: &str, text: &str) -> Result<(), Error> {
    checked(what, text, WORD_MARKS)
}

/// One partition, or several with commas.
///
/// # Errors
/// As [`word`], for each.
pub fn partitions(what: &str, text: &str) -> Result<(), Error> {
    bounded(what, text, LIST_BYTES_MAX)?;
    text.split(',').try_for_each(|one| word(what, one))
}

/// The features that a node must have: `a`, `a&b` (all of them) or `a|b` (one of them).
///
/// # Errors
/// As [`word`], for each; also if `&` and `|` are mixed.
pub fn constraint(what: &str, text: &str) -> Result<(), Error> {
    bounded(what, text, LIST_BYTES_MAX)?;
    if text.contains('&') && text.contains('|') {
        return Err(refused(what, text, "either & (all of them) or | (one of them), not both"));
    }
    text.split(['&', '|']).try_for_each(|one| word(what, one))
}

/// The name of a node, as a scheduler has it.
///
/// # Errors
/// As [`word`].
pub fn node(what: &str, text: &str) -> Result<(), Error> {
    checked(what, text, "_.-")
}

/// Checks a host as ssh takes it: a name, an address or an alias, perhaps `user@` before it.
///
/// # Errors
/// As [`word`], for the user and the host.
pub fn host(what: &str, text: &str) -> Result<(), Error> {
    let (user, host) = text.split_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    user.into_iter().chain([host]).try_for_each(|one| node(what, one))
}

/// An absolute path that no scheduler expands and no shell splits: letters, digits and `/_.+=@,-`.
///
/// # Errors
/// Names the first character that cannot stand there.
pub fn path(what: &str, text: &str) -> Result<(), Error> {
    bounded(what, text, PATH_BYTES_MAX)?;
    if !text.starts_with('/') {
        return Err(refused(what, text, "it must be an absolute path"));
    }
    characters(what, text, "/_.+=@,-", "a path that jobs are started with")
}

/// Returns what a scheduler may be asked for: its options, their values, and how a value is checked.
pub(crate) fn options(request: &FleetRequest) -> [(&'static str, &Option<String>, Check); 2] {
    [("partition", &request.partition, partitions), ("constraint", &request.constraint, constraint)]
}

type Check = fn(&str, &str) -> Result<(), Error>;

/// Checks what a scheduler is to be asked for; `before` stands before the name of an option.
///
/// # Errors
/// As [`partitions`] and [`constraint`].
pub fn request(before: &str, request: &FleetRequest) -> Result<(), Error> {
    for (option, value, check) in options(request) {
        value.iter().try_for_each(|value| check(&format!("{before}{option}"), value))?;
    }
    Ok(())
}

fn bounded(what: &str, text: &str, most: usize) -> Result<(), Error> {
    match text.len() {
        0 => Err(refused(what, text, "it is empty")),
        bytes if bytes > most => {
            let start: String = text.chars().take(20).collect();
            Err(refused(what, &format!("{start}…"), &format!("at most {most} bytes")))
        }
        _ => Ok(()),
    }
}

fn checked(what: &str, text: &str, marks: &str) -> Result<(), Error> {
    bounded(what, text, NAME_BYTES_MAX)?;
    characters(what, text, marks, "it")?;
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return Err(refused(what, text, "it must begin with a letter, a digit or _"));
    }
    Ok(())
}

/// Checks that all characters are letters, digits and `marks`.
fn characters(what: &str, text: &str, marks: &str, place: &str) -> Result<(), Error> {
    match text.chars().find(|c| !c.is_ascii_alphanumeric() && !marks.contains(*c)) {
        None => Ok(()),
        Some(wrong) => {
            let why = format!("{wrong:?} cannot stand in {place}; letters, digits and {marks} can");
            Err(refused(what, text, &why))
        }
    }
}

pub(crate) fn refused(what: &str, text: &str, why: &str) -> Error {
    Error::of(format_args!("{what} {text:?}"), why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a shell, an option parser or a scheduler's file name would make something of.
    const HOSTILE: [&str; 16] = [
        "x; rm -rf ~",
        "$(id)",
        "`id`",
        "a b",
        "a\nb",
        "-p",
        "--wrap=id",
        "a'b",
        "a\"b",
        "%j",
        "a\\b",
        "",
        "é",
        "a\0b",
        "..",
        "*",
    ];

    #[test]
    fn what_a_shell_or_an_option_parser_would_obey_is_no_name() {
        for text in HOSTILE {
            for check in [word, partitions, constraint, node, host] {
                let refused = check("--partition", text);
                assert!(refused.is_err(), "{text:?}");
                assert!(refused.unwrap_err().to_string().starts_with("--partition"), "{text:?}");
            }
            // A path may hold dots and dashes behind its first slash.
            let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || ".-=".contains(c));
            assert_eq!(path("", &format!("/shared/{text}")).is_ok(), harmless, "{text:?}");
        }
        let error = word("--partition", "x; rm -rf ~").unwrap_err().to_string();
        assert_eq!(
            error,
            "--partition \"x; rm -rf ~\": ';' cannot stand in it; letters, digits and _.+- can"
        );
    }

    #[test]
    fn names_as_sites_have_them_are_taken() {
        assert!(word("", "bench_2.long+x").is_ok());
        assert!(partitions("", "short,long").is_ok() && partitions("", "short,,long").is_err());
        assert!(constraint("", "skylake&ssd").is_ok() && constraint("", "a|b").is_ok());
        assert!(constraint("", "a&b|c").is_err() && constraint("", "[a*2]").is_err());
        assert!(host("", "ann@node-7.example.org").is_ok() && host("", "@x").is_err());
        assert!(
            host("", "a@b@c").is_err() && host("", "2/host").is_err() && host("", ":").is_err()
        );
        assert!(path("", "/scratch/ann/fleet-1").is_ok() && path("", "fleet").is_err());
    }

    proptest! {
        #[test]
        fn whatever_passes_is_harmless(text in ".{0,80}") {
            for check in [word, partitions, constraint, node, host] {
                if check("", &text).is_ok() {
                    prop_assert!(!text.starts_with('-') && !text.is_empty());
                    prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-,&|@".contains(c)));
                }
            }
        }
    }
}
