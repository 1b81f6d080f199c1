//! Instructions of 16 bits for those of 32 that they stand for.

use crate::encode::{ZERO, add, addi, x};
use crate::expand;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Halfwords by what they stand for: the reverse of [`expand`].
static SHORT: LazyLock<HashMap<u32, u16>> = LazyLock::new(|| {
    let words = (0..=u16::MAX).rev().filter_map(|half| Some((expand(half)?, half)));
    words.collect()
});

/// Returns the instruction of 16 bits that does the same as one of 32.
pub(super) fn short(word: u32) -> Option<u16> {
    let known = |word| SHORT.get(&word).copied();
    let [rd, rs1, rs2] = [7, 15, 20].map(|at| x((word >> at) as u8 & 31));
    // The same in another form: `mv` as an addition, and operands that may be exchanged.
    let commutes = matches!(word & 0xfe00_707f, 0x33 | 0x4033 | 0x6033 | 0x7033);
    let exchanged =
        word & !0x01ff_8000 | u32::from(rs2.number()) << 15 | u32::from(rs1.number()) << 20;
    known(word)
        .or_else(|| known(add(rd, ZERO, rs1)).filter(|_| word == addi(rd, rs1, 0)))
        .or_else(|| known(exchanged).filter(|_| commutes))
}

#[cfg(test)]
mod tests {
    use super::short;
    use crate::encode::{A0, A1, A3, ZERO, add, addi, and, beq, jal, lui, lw, sub, xor};
    use crate::expand;

    #[test]
    fn what_is_shortened_does_the_same() {
        for word in [
            addi(A0, A0, 31),
            addi(A0, ZERO, -32),
            add(A0, A0, A3),
            lw(A0, 124, A1),
            beq(A0, ZERO, -256),
            jal(ZERO, 2046),
            lui(A0, 31),
            sub(A0, A0, A1),
        ] {
            assert_eq!(short(word).and_then(expand), Some(word), "{word:08x}");
        }
        assert_eq!(short(addi(A0, A1, 0)).and_then(expand), Some(add(A0, ZERO, A1)));
        assert_eq!(short(xor(A0, A1, A0)).and_then(expand), Some(xor(A0, A0, A1)));
        assert_eq!(short(add(A3, A1, A3)).and_then(expand), Some(add(A3, A3, A1)));
        for word in
            [addi(A0, A0, 32), add(A0, A1, A3), beq(A0, ZERO, -258), and(A0, A1, A3), lui(A0, 32)]
        {
            assert_eq!(short(word), None, "{word:08x}");
        }
    }
}
