//! Single keys from the terminal: its settings are changed while they are wanted, and put back.

use crate::{Error, Result, interrupt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::os::fd::AsFd;

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
        let keys = Keys { before };
        tcsetattr(std::io::stdin(), OptionalActions::Drain, &plain)
            .map_err(Error::of("tcsetattr"))?;
        Ok(keys)
    }

    /// Waits for a key; `None` if there is no terminal any more, or a signal asked the process to end.
    pub fn next(&mut self) -> Option<Key> {
        if !is_ready(None) {
            return None;
        }
        let mut bytes = [0; 8];
        let mut count = read(&mut bytes)?;
        if bytes[0] == 0x1b && count == 1 && is_ready(Some(REST_NS)) {
            count += read(&mut bytes[1..])?;
        }
        Some(key(&bytes[..count]))
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

/// Reads what is there; nothing at the end.
fn read(bytes: &mut [u8]) -> Option<usize> {
    rustix::io::read(std::io::stdin(), bytes).ok().filter(|count| *count > 0)
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
    use super::{Key, key};

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
