//! The order of names that hold numbers.

use std::cmp::Ordering;

/// Compares names as people number things: `m2` comes before `m10`. Digits that stand together are one
/// number; names that differ only in leading zeros are ordered as texts.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let ((one, left_rest), (other, right_rest)) = (number(left), number(right));
        let order = match (one.is_empty(), other.is_empty()) {
            (false, false) => {
                let [one, other] = [one, other].map(|digits| digits.trim_start_matches('0'));
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            _ => left.chars().next().cmp(&right.chars().next()),
        };
        if order.is_ne() || left.is_empty() {
            return order.then_with(|| a.cmp(b));
        }
        let after = |text: &'_ str| text.chars().next().map_or(0, char::len_utf8);
        (left, right) = match one.is_empty() {
            false => (left_rest, right_rest),
            true => (&left[after(left)..], &right[after(right)..]),
        };
    }
}

/// Splits the digits off that a text begins with.
fn number(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::natural_order;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let ordered = [
            "", "7", "10", "m", "m1", "m01", "m1.9.0", "m1.10.0", "m2", "m10", "m10a", "n1r2",
            "n1r10", "é1", "é2",
        ];
        let mut names = ordered;
        names.reverse();
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(
            names.map(|name| name.replace("m01", "m1")),
            ordered.map(|name| name.replace("m01", "m1"))
        );
        assert_eq!(
            natural_order("m18446744073709551617", "m18446744073709551616"),
            Ordering::Greater
        );
    }

    proptest! {
        #[test]
        fn it_is_a_total_order(names in proptest::collection::vec("[a-b0-1.é]{0,5}", 3)) {
            let [a, b, c] = [0, 1, 2].map(|at| names[at].as_str());
            prop_assert_eq!(natural_order(a, b), natural_order(b, a).reverse());
            prop_assert_eq!(natural_order(a, b) == Ordering::Equal, a == b);
            if natural_order(a, b).is_le() && natural_order(b, c).is_le() {
                prop_assert!(natural_order(a, c).is_le(), "{:?}", names);
            }
        }
    }
}
