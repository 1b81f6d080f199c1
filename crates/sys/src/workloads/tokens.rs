//! `strtok` and `strtok_r`: splitting a line, with a place that all callers share or with one's own.

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Tokens in a line.
pub const TOKENS: usize = 8;

/// Bytes of a token: a letter that says whose it is, and its number in the line.
const TOKEN_BYTES: usize = 4;

/// What is done with each token, in rounds of a hash. A program splits a line because it wants to do
/// something with its parts, and while it does, others may call. If it asked for the next token at
/// once, the place would still stand in its CPU's store buffer, and a caller on another CPU would
/// hardly ever be seen.
const ROUNDS: u32 = 64;

/// A token and the blank (or the end) behind it.
const STEP_BYTES: usize = TOKEN_BYTES + 1;

const LINE_BYTES: usize = TOKENS * STEP_BYTES;

const BLANK: &CStr = c" ";

/// Who remembers how far a line has been split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splitting {
    /// `strtok`: libc does, in one variable for all callers.
    Shared,
    /// `strtok_r`: the caller does.
    Own,
}

/// A line that is split again and again, and whose tokens are known beforehand.
///
/// Its memory is never freed: another caller of `strtok` may be handed a pointer into it at any
/// time.
#[derive(Debug)]
pub struct TokenLine {
    text: [u8; LINE_BYTES],
    buffer: NonNull<u8>,
}

// SAFETY: the buffer is plain memory that is never freed and is reached by raw pointers alone.
// Each line is split by one caller at a time; that `strtok` lets callers write to each other's
// buffers is what is counted here.
unsafe impl Send for TokenLine {}
// SAFETY: as above.
unsafe impl Sync for TokenLine {}

impl TokenLine {
    /// A line whose tokens all begin with `letter`.
    pub fn leaked(letter: u8) -> &'static Self {
        let mut text = [0; LINE_BYTES];
        for (index, token) in text.chunks_exact_mut(STEP_BYTES).enumerate() {
            let digit = b'0' + (index % 10) as u8;
            token.copy_from_slice(&[letter, digit, letter, digit, b' ']);
        }
        text[LINE_BYTES - 1] = 0;
        let buffer = NonNull::from(Box::leak(Box::new([0_u8; LINE_BYTES]))).cast();
        Box::leak(Box::new(Self { text, buffer }))
    }

    /// Splits the line once; returns how many of its [`TOKENS`] came out wrong: not where they
    /// stand, not whole, or not at all.
    pub fn split(&self, how: Splitting) -> u64 {
        let start: *mut u8 = self.buffer.as_ptr();
        // SAFETY: both are LINE_BYTES long and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.text.as_ptr(), start, LINE_BYTES) };
        let mut from: *mut c_char = start.cast();
        let mut place: *mut c_char = std::ptr::null_mut();
        let mut wrong = 0;
        for index in 0..TOKENS {
            // SAFETY: the line ends in a zero byte, which nobody overwrites with another: strtok
            // only ever writes zeros, and a line is copied over its own buffer alone. libc's own
            // place always points into some line, none of which is ever freed, since the first
            // call of this process gave one. So whatever another caller does in between, the
            // calls stay inside such lines.
            let token = unsafe {
                match how {
                    Splitting::Shared => libc::strtok(from, BLANK.as_ptr()),
                    Splitting::Own => libc::strtok_r(from, BLANK.as_ptr(), &raw mut place),
                }
            };
            from = std::ptr::null_mut();
            wrong += u64::from(!self.is_token(token.cast(), index));
            use_token(index);
        }
        wrong
    }

    /// Whether a pointer is that of the token of this number, and the token is whole.
    fn is_token(&self, token: *const u8, index: usize) -> bool {
        let offset = index * STEP_BYTES;
        if token.addr() != self.buffer.as_ptr().addr() + offset {
            return false;
        }
        (0..STEP_BYTES).all(|byte| {
            // SAFETY: inside the buffer, of which each byte may be read; volatile, since another
            // caller of strtok may write a zero to it at this moment.
            let seen = unsafe { self.buffer.as_ptr().add(offset + byte).read_volatile() };
            let right = if byte < TOKEN_BYTES { self.text[offset + byte] } else { 0 };
            seen == right
        })
    }
}

/// What a program might do with a token before it asks for the next: a computation in which each
/// round needs the one before.
fn use_token(index: usize) {
    let hash = (0..ROUNDS).fold(crate::black_box(index as u64), |hash, _| {
        hash.rotate_left(5).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    crate::black_box(hash);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;

    #[test]
    fn alone_both_ways_find_every_token() {
        // In a child, since strtok's place is shared by all tests of the process.
        in_child(|| {
            let line = TokenLine::leaked(b'a');
            for how in [Splitting::Shared, Splitting::Own, Splitting::Shared] {
                assert_eq!(line.split(how), 0);
            }
        });
    }

    #[test]
    fn a_caller_in_between_takes_the_place_of_strtok_and_not_of_strtok_r() {
        in_child(|| {
            let (one, other) = (TokenLine::leaked(b'a'), TokenLine::leaked(b'b'));
            assert_eq!(one.split(Splitting::Shared), 0);
            // As if `other` had been split in between: the place is at its end.
            assert_eq!(other.split(Splitting::Shared), 0);
            // SAFETY: continues where the last call left off, inside a line of ours.
            let next = unsafe { libc::strtok(std::ptr::null_mut(), BLANK.as_ptr()) };
            assert!(next.is_null());
        });
    }

    #[test]
    fn a_token_elsewhere_or_cut_is_wrong() {
        let (one, other) = (TokenLine::leaked(b'a'), TokenLine::leaked(b'b'));
        assert_eq!(one.split(Splitting::Own), 0);
        assert_eq!(other.split(Splitting::Own), 0);
        let at = |line: &TokenLine, index: usize| {
            line.buffer.as_ptr().cast_const().wrapping_add(index * STEP_BYTES)
        };
        assert!(one.is_token(at(one, 3), 3));
        assert!(!one.is_token(at(one, 3), 4));
        assert!(!one.is_token(at(other, 3), 3));
        assert!(!one.is_token(std::ptr::null(), 0));
        // SAFETY: inside the buffer, which nobody else uses now.
        unsafe { one.buffer.as_ptr().add(3 * STEP_BYTES + 1).write(0) };
        assert!(!one.is_token(at(one, 3), 3));
    }
}
