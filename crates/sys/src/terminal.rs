//! Single keys from the terminal: its settings are changed while they are wanted, and put back.

use crate::{Error, Result, interrupt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::os::fd::AsFd;

/// What begins the bytes of an arrow.
const ESCAPE: u8 = 0x1b;

/// How long the rest of an arrow's bytes may take, in ns.
const REST_NS: i64 = 30_000_000;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter, a digit or a sign of ASCII.
    Letter(char),
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Escape alone, Ctrl-C or Ctrl-D.
    Quit,
    /// Any other.
    Other,
}

/// The keys of standard input. Typed letters are not shown, and each is read at once.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
    /// Bytes that were read and belong to further keys.
    pending: Vec<u8>,
}

impl Keys {
    /// Changes the settings of the terminal.
    ///
    /// # Errors
    /// If standard input is no terminal.
    pub fn open() -> Result<Self> {
        let before = tcgetattr(std::io::stdin()).map_err(Error::of("tcgetattr"))?;
        let mut plain = before.clone();
        plain.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        let keys = Keys { before, pending: Vec::new() };
        tcsetattr(std::io::stdin(), OptionalActions::Drain, &plain)
            .map_err(Error::of("tcsetattr"))?;
        Ok(keys)
    }

    /// Waits for a key; `None` if there is no terminal any more, or a signal asked the process to end.
    pub fn wait(&mut self) -> Option<Key> {
        if self.pending.is_empty() && !(is_ready(None) && self.read()) {
            return None;
        }
        if self.pending == [ESCAPE] && is_ready(Some(REST_NS)) {
            self.read();
        }
        let count = length(&self.pending);
        let bytes: Vec<u8> = self.pending.drain(..count).collect();
        Some(key(&bytes))
    }

    /// Reads what is there; reports whether there was something.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 64];
        let count = rustix::io::read(std::io::stdin(), &mut bytes).unwrap_or(0);
        self.pending.extend(bytes.iter().take(count));
        count > 0
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // If this fails, the terminal is gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, &self.before);
    }
}

/// Reports whether a key comes before a signal, within a time in ns if one is given.
fn is_ready(within_ns: Option<i64>) -> bool {
    let stdin = std::io::stdin();
    let signal = interrupt::descriptor();
    let within = within_ns.map(|ns| Timespec { tv_sec: 0, tv_nsec: ns });
    loop {
        let mut all = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        all.extend(signal.map(|signal| PollFd::from_borrowed_fd(signal, PollFlags::IN)));
        match poll(&mut all, within.as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return false,
            Ok(_) => {
                let signalled = all.get(1).is_some_and(|signal| !signal.revents().is_empty());
                return !signalled && !all[0].revents().is_empty();
            }
        }
    }
}

/// Returns how many of some bytes are the first key.
fn length(bytes: &[u8]) -> usize {
    let behind = |start: usize, is_part: fn(&u8) -> bool| {
        start + bytes.iter().skip(start).take_while(|byte| is_part(byte)).count()
    };
    let length = match bytes {
        [ESCAPE, b'[' | b'O', ..] => behind(2, |byte| !(0x40..=0x7e).contains(byte)) + 1,
        // The rest of a character beyond ASCII.
        [0x80..=0xff, ..] => behind(1, |byte| (0x80..0xc0).contains(byte)),
        _ => 1,
    };
    length.min(bytes.len())
}

/// Returns the key that sends some bytes.
fn key(bytes: &[u8]) -> Key {
    match bytes {
        [3] | [4] | [0x1b] => Key::Quit,
        [byte @ 0x20..=0x7e, ..] => Key::Letter(char::from(*byte)),
        [0x1b, b'[' | b'O', rest @ ..] => match rest {
            b"A" => Key::Up,
            b"B" => Key::Down,
            b"C" => Key::Right,
            b"D" => Key::Left,
            b"H" | b"1~" | b"7~" => Key::Home,
            b"F" | b"4~" | b"8~" => Key::End,
            b"5~" => Key::PageUp,
            b"6~" => Key::PageDown,
            _ => Key::Other,
        },
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, key, length};

    #[test]
    fn keys_that_come_together_are_taken_apart() {
        let mut bytes = &b"q\x1b[A\x1b[5~\xc3\xa4\x1bOH\x03"[..];
        let mut lengths = Vec::new();
        while !bytes.is_empty() {
            lengths.push(length(bytes));
            bytes = &bytes[length(bytes)..];
        }
        assert_eq!(lengths, [1, 3, 4, 2, 3, 1]);
    }

    #[test]
    fn keys_are_known_by_their_bytes() {
        for (bytes, expected) in [
            (&b"q"[..], Key::Letter('q')),
            (b"\x03", Key::Quit),
            (b"\x1b", Key::Quit),
            (b"\x1b[A", Key::Up),
            (b"\x1bOD", Key::Left),
            (b"\x1b[5~", Key::PageUp),
            (b"\x1b[1;5C", Key::Other),
            (b"\xc3\xa4", Key::Other),
            (b"", Key::Other),
        ] {
            assert_eq!(key(bytes), expected, "{bytes:?}");
        }
    }
}
