//! Names that many records repeat, held once.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A text that is read far more often than made: an experiment's id, a response, a check.
///
/// A session has a few hundred of them and repeats each in thousands of records. A clone shares the
/// text; so do equal names that are read inside [`share_names`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(inline)]
pub struct Name(Arc<str>);

thread_local! {
    /// The names that were read so far, while a [`share_names`] is under way on this thread.
    ///
    /// serde hands no context down to the fields of a derived type, so it stands beside.
    static KNOWN: RefCell<Option<HashSet<Arc<str>>>> = const { RefCell::new(None) };
}

/// Lets equal names that `read` deserialises on this thread share one text. What stands between is
/// forgotten at its end; one `share_names` within another belongs to it.
pub fn share_names<T>(read: impl FnOnce() -> T) -> T {
    /// Forgets them even if `read` panics.
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            KNOWN.set(None);
        }
    }
    let outermost = KNOWN.with_borrow(Option::is_none);
    let _forget = outermost.then(|| {
        KNOWN.set(Some(HashSet::new()));
        Forget
    });
    read()
}

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name that was read: the known one, if it is known.
    fn read(text: &str) -> Self {
        KNOWN.with_borrow_mut(|known| match known {
            None => Name::from(text),
            Some(known) => match known.get(text) {
                Some(found) => Name(Arc::clone(found)),
                None => {
                    let new: Arc<str> = text.into();
                    known.insert(Arc::clone(&new));
                    Name(new)
                }
            },
        })
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Name {
    fn from(text: &T) -> Self {
        Name(text.as_ref().into())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name(text.into())
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for Name {
    fn eq(&self, other: &T) -> bool {
        self.as_str() == other.as_ref()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), out)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A text, which is copied only where it stands in escapes.
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        Text::deserialize(deserializer).map(|text| Name::read(&text.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, share_names};

    fn is_shared(one: &Name, other: &Name) -> bool {
        std::ptr::eq(one.as_str(), other.as_str())
    }

    fn read(json: &str) -> Vec<Name> {
        serde_json::from_str(json).expect("it is JSON")
    }

    #[test]
    fn equal_names_share_their_text_while_they_are_read_together() {
        let (first, second) = share_names(|| {
            let first = read(r#"["a_ns", "b", "a_ns", "\u0061_ns"]"#);
            (first, share_names(|| read(r#"["a_ns"]"#)))
        });
        assert_eq!(first, ["a_ns", "b", "a_ns", "a_ns"]);
        for other in [&first[2], &first[3], &second[0]] {
            assert!(is_shared(&first[0], other));
        }
        assert!(!is_shared(&first[0], &first[1]));
        let later = read(r#"["a_ns", "a_ns"]"#);
        assert!(!is_shared(&later[0], &later[1]) && !is_shared(&later[0], &first[0]));
    }

    #[test]
    fn what_was_known_is_forgotten_after_a_panic() {
        let wrong = std::panic::catch_unwind(|| share_names(|| read("[7]")));
        assert!(wrong.is_err());
        let later = read(r#"["a", "a"]"#);
        assert!(!is_shared(&later[0], &later[1]));
    }

    #[test]
    fn a_name_is_written_as_the_text_it_is() {
        let name = Name::from("say \"a\"");
        assert_eq!(serde_json::to_string(&name).expect("it is JSON"), r#""say \"a\"""#);
        let wrong = serde_json::from_str::<Name>("7").expect_err("7 is no text").to_string();
        assert_eq!(
            wrong,
            serde_json::from_str::<String>("7").expect_err("7 is no text").to_string()
        );
    }
}
