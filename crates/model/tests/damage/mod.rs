//! What may happen to bytes on their way: for the tests of whatever reads bytes that somebody else
//! wrote. It belongs to no room; the rooms that read bytes include this file in their tests.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// What parsers stumble over: numbers at the edges of their types, broken UTF-8, structure.
const STUMBLING_BLOCKS: [&[u8]; 24] = [
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"4294967296",
    b"-1",
    b"+1",
    b"0",
    b"1e308",
    b"1e999",
    b"NaN",
    b"null",
    b"\0",
    b"\n",
    b"\xff",
    b"\xc3",
    b"\\ud800",
    "\u{e9}\u{202e}\u{1f980}".as_bytes(),
    b"\"",
    b"{}",
    b"[[[[",
    b")",
    b":",
    b",-",
];

#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Cut(Index),
    Remove(Index, Index),
    Repeat(Index, Index),
    /// Two neighbouring parts change places.
    Swap(Index, Index, Index),
    Insert(Index, Vec<u8>),
    /// In place of a number; nothing where there is none.
    Number(Index, &'static [u8]),
}

/// One of the valid texts, with up to six injuries.
pub(crate) fn damaged(valid: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (select(valid), vec(damage(), 0..6)).prop_map(|(mut bytes, damages)| {
        damages.into_iter().for_each(|damage| injure(&mut bytes, damage));
        bytes
    })
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1_u8..).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        at().prop_map(Damage::Cut),
        (at(), at()).prop_map(|(from, to)| Damage::Remove(from, to)),
        (at(), at()).prop_map(|(from, to)| Damage::Repeat(from, to)),
        (at(), at(), at()).prop_map(|(from, middle, to)| Damage::Swap(from, middle, to)),
        (at(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at(), select(&STUMBLING_BLOCKS[..])).prop_map(|(at, b)| Damage::Insert(at, b.to_vec())),
        (at(), select(&STUMBLING_BLOCKS[..])).prop_map(|(at, block)| Damage::Number(at, block)),
    ]
}

fn injure(bytes: &mut Vec<u8>, damage: Damage) {
    let place = |at: Index| at.index(bytes.len() + 1);
    let range = |a: Index, b: Index| place(a).min(place(b))..place(a).max(place(b));
    match damage {
        Damage::Flip(at, bits) => {
            let at = place(at);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
        }
        Damage::Cut(at) => bytes.truncate(place(at)),
        Damage::Remove(from, to) => drop(bytes.drain(range(from, to))),
        Damage::Repeat(from, to) => {
            let range = range(from, to);
            let part = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, part);
        }
        Damage::Swap(from, middle, to) => {
            let range = range(from, to);
            let middle = middle.index(range.len() + 1);
            bytes[range].rotate_left(middle);
        }
        Damage::Insert(at, what) => drop(bytes.splice(place(at)..place(at), what)),
        Damage::Number(at, what) => {
            let is_start = |at: &usize| {
                bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit())
            };
            let starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
            if starts.is_empty() {
                return;
            }
            let start = *at.get(&starts);
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(start..start + digits, what.iter().copied());
        }
    }
}
