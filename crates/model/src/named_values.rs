//! A few values, each with a name.

use crate::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Values by name, in the order of the names: what a record holds of facts and counters.
///
/// A record has a handful and there is a record for each trial. A tree reserves half a kilobyte for
/// the first of them; this is a sorted list of just its length.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct Named<V>(#[schemars(with = "BTreeMap<Name, V>")] Box<[(Name, V)]>);

impl<V> Named<V> {
    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&V> {
        let place = self.0.binary_search_by(|(own, _)| own.as_str().cmp(name)).ok()?;
        Some(&self.0[place].1)
    }

    /// Puts a value in its place, instead of the one there was.
    pub fn insert(&mut self, name: &str, value: impl Into<V>) {
        let (name, value) = (Name::from(name), value.into());
        let mut all = std::mem::take(&mut self.0).into_vec();
        match all.binary_search_by(|(own, _)| own.cmp(&name)) {
            Ok(place) => all[place].1 = value,
            Err(place) => all.insert(place, (name, value)),
        }
        self.0 = all.into();
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for Named<V> {
    fn default() -> Self {
        Named(Box::default())
    }
}

impl<V, N: Into<Name>, W: Into<V>> FromIterator<(N, W)> for Named<V> {
    /// Of two values of one name the later stays, as in any map.
    fn from_iter<I: IntoIterator<Item = (N, W)>>(values: I) -> Self {
        let mut all: Vec<(Name, V)> =
            values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        // `dedup_by` keeps the first of each.
        all.reverse();
        all.dedup_by(|(a, _), (b, _)| a == b);
        all.reverse();
        Named(all.into())
    }
}

impl<V, N: Into<Name>, W: Into<V>> From<BTreeMap<N, W>> for Named<V> {
    fn from(values: BTreeMap<N, W>) -> Self {
        values.into_iter().collect()
    }
}

impl<V: fmt::Debug> fmt::Debug for Named<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

impl<V: Serialize> Serialize for Named<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::<Name, V>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Named;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(entries in prop::collection::vec(("[a-c]{0,2}", any::<u64>()), 0..12)) {
            let map: BTreeMap<String, u64> = entries.iter().cloned().collect();
            let own: Named<u64> = entries.iter().map(|(name, value)| (name, *value)).collect();
            let mut inserted = Named::default();
            for (name, value) in &entries {
                inserted.insert(name, *value);
            }
            prop_assert_eq!(&own, &inserted);
            prop_assert_eq!((own.len(), own.is_empty()), (map.len(), map.is_empty()));
            prop_assert!(own.iter().eq(map.iter().map(|(name, value)| (name.as_str(), value))));
            for name in ["", "a", "b", "ab", "cc", "x"] {
                prop_assert_eq!(own.get(name), map.get(name));
            }
            let json = serde_json::to_string(&own).expect("it is JSON");
            prop_assert_eq!(&json, &serde_json::to_string(&map).expect("it is JSON"));
            prop_assert_eq!(serde_json::from_str::<Named<u64>>(&json).expect("it is JSON"), own);
        }
    }

    #[test]
    fn of_two_values_of_one_name_the_later_is_read() {
        let read: Named<u64> =
            serde_json::from_str(r#"{"b":1,"a":2,"b":3,"a":4,"b":5}"#).expect("it is JSON");
        assert!(read.iter().eq([("a", &4), ("b", &5)]));
    }
}
