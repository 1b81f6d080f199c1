//! What the server says on a connection of HTTP/2.

use super::frame::{self, Head};
use super::hpack;
use super::session::{Block, Data, Heard, NOT_HTTP2, NUMBER_MAX, Session, Slot, State};
use crate::load::request::Request;

/// The longest header block.
const BLOCK_BYTES_MAX: usize = 64 << 10;

impl Session {
    /// Takes the next bytes.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        requests: &[Request],
        heard: &mut Vec<Heard>,
    ) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            if let Some(data) = &mut self.state.data {
                let count = data.left.min(bytes.len());
                data.left -= count;
                bytes = &bytes[count..];
                self.end_data(heard);
                continue;
            }
            let kept = &mut self.state.kept;
            if kept.is_empty()
                && let Some(head) = Head::read(bytes)
            {
                let whole = frame::HEAD_BYTES + checked(head)?.length;
                if head.is_body() {
                    bytes = &bytes[frame::HEAD_BYTES..];
                    self.data(head, [head.length; 2], heard)?;
                    continue;
                }
                if let Some((frame, rest)) = bytes.split_at_checked(whole) {
                    bytes = rest;
                    self.frame(head, &frame[frame::HEAD_BYTES..], requests, heard)?;
                    continue;
                }
            }
            let whole = Head::read(kept).map_or(0, |head| head.length) + frame::HEAD_BYTES;
            let (part, rest) = bytes.split_at((whole - kept.len()).min(bytes.len()));
            kept.extend_from_slice(part);
            bytes = rest;
            let Some(head) = Head::read(kept) else { continue };
            let whole = frame::HEAD_BYTES + checked(head)?.length;
            if head.is_body() {
                kept.clear();
                self.data(head, [head.length; 2], heard)?;
            } else if kept.len() == whole {
                let mut frame = std::mem::take(kept);
                self.frame(head, &frame[frame::HEAD_BYTES..], requests, heard)?;
                frame.clear();
                self.state.kept = frame;
            }
        }
        self.start_waiting(requests);
        Ok(())
    }

    /// A part of a body begins, of which there is some content, and some bytes of the frame are left to come.
    fn data(
        &mut self,
        head: Head,
        [content, left]: [usize; 2],
        heard: &mut Vec<Heard>,
    ) -> Result<(), &'static str> {
        self.in_order(head)?;
        let length = head.length as u32;
        let State { received, out, .. } = &mut self.state;
        go_on(out, received, length, 0);
        let ends = head.has(frame::END_STREAM);
        if let Some(slot) = self.state.numbers.get(&head.stream) {
            let one = &mut self.slots[usize::from(*slot)];
            if one.status == 0 {
                return Err("a body came before the head of its answer");
            }
            one.body += content as u64;
            if one.length.is_some_and(|length| one.body > length) {
                self.refuse(head.stream, heard);
            } else if !ends {
                go_on(&mut self.state.out, &mut one.received, length, head.stream);
            }
        }
        self.state.data = Some(Data { stream: head.stream, left, ends });
        self.end_data(heard);
        Ok(())
    }

    fn end_data(&mut self, heard: &mut Vec<Heard>) {
        if let Some(Data { stream, left: 0, ends }) = self.state.data {
            self.state.data = None;
            if ends {
                self.done(stream, heard);
            }
        }
    }

    /// An answer is whole.
    fn done(&mut self, stream: u32, heard: &mut Vec<Heard>) {
        let Some(slot) = self.state.numbers.get(&stream).copied() else { return };
        let Slot { status, length, body, .. } = self.slots[usize::from(slot)];
        if length.is_some_and(|length| body != length) {
            return self.refuse(stream, heard);
        }
        let unsent = self.state.sending.contains(&slot);
        self.forget(stream);
        if unsent {
            // The server needs no more of the request.
            frame::number(&mut self.state.out, frame::RST_STREAM, stream, frame::CANCEL);
        }
        heard.push(Heard::Done { slot, status });
    }

    /// Refuses an answer whose content is not as long as it says (RFC 9113, 8.1.1).
    fn refuse(&mut self, stream: u32, heard: &mut Vec<Heard>) {
        heard.extend(self.forget(stream).map(|slot| Heard::Malformed { slot }));
        frame::number(&mut self.state.out, frame::RST_STREAM, stream, frame::PROTOCOL_ERROR);
    }

    /// Whether a frame may come now, and on this stream.
    fn in_order(&self, head: Head) -> Result<(), &'static str> {
        let of_block = self.state.block.as_ref().map(|block| block.stream);
        let continues = head.kind == frame::CONTINUATION;
        let on_stream = [frame::DATA, frame::HEADERS, frame::RST_STREAM, frame::CONTINUATION];
        match of_block {
            _ if !self.state.up && (head.kind != frame::SETTINGS || head.has(frame::ACK)) => {
                Err(NOT_HTTP2)
            }
            Some(stream) if !continues || head.stream != stream => {
                Err("a frame came within a header block")
            }
            None if continues => Err("a CONTINUATION frame came outside a header block"),
            _ if !on_stream.contains(&head.kind) => Ok(()),
            _ if head.stream.is_multiple_of(2) || head.stream >= self.state.next => {
                Err("a frame came on a stream that was never opened")
            }
            _ => Ok(()),
        }
    }

    /// A whole frame other than of a body.
    fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        requests: &[Request],
        heard: &mut Vec<Heard>,
    ) -> Result<(), &'static str> {
        self.in_order(head)?;
        match head.kind {
            frame::DATA => {
                let part = unpadded(head, payload).ok_or("more padding than DATA")?;
                self.data(head, [part.len(), 0], heard)
            }
            frame::HEADERS => {
                let part =
                    unpadded(head, payload).ok_or("a HEADERS frame is shorter than its parts")?;
                let (stream, ends) = (head.stream, head.has(frame::END_STREAM));
                if head.has(frame::END_HEADERS) {
                    return self.block(stream, ends, part, heard);
                }
                self.state.block = Some(Block { stream, ends, bytes: part.to_vec() });
                Ok(())
            }
            frame::CONTINUATION => {
                let Some(mut block) = self.state.block.take() else { return Ok(()) };
                block.bytes.extend_from_slice(payload);
                if block.bytes.len() > BLOCK_BYTES_MAX {
                    return Err("a header block has more than 64 KiB");
                }
                if head.has(frame::END_HEADERS) {
                    return self.block(block.stream, block.ends, &block.bytes, heard);
                }
                self.state.block = Some(block);
                Ok(())
            }
            frame::RST_STREAM => {
                let code = frame::first_number(payload).ok_or("a RST_STREAM frame is too short")?;
                heard.extend(self.forget(head.stream).map(|slot| match code {
                    frame::REFUSED_STREAM => Heard::Refused { slot },
                    code => Heard::Reset { slot, code },
                }));
                Ok(())
            }
            frame::SETTINGS => self.settings(head, payload, requests),
            frame::PUSH_PROMISE => Err("the server pushes, which it was not allowed"),
            frame::PING => {
                if payload.len() != 8 {
                    return Err("a PING frame has not 8 bytes");
                }
                if !head.has(frame::ACK) {
                    frame::head(&mut self.state.out, 8, frame::PING, frame::ACK, 0);
                    self.state.out.extend_from_slice(payload);
                }
                Ok(())
            }
            frame::GOAWAY => self.goaway(payload, heard),
            frame::WINDOW_UPDATE => self.widen(head.stream, payload, requests),
            _ => Ok(()),
        }
    }

    /// The server takes no further requests, and says which was the last that it has looked at.
    fn goaway(&mut self, payload: &[u8], heard: &mut Vec<Heard>) -> Result<(), &'static str> {
        let last = frame::first_number(payload).ok_or("a GOAWAY frame is too short")?;
        self.state.leaving = true;
        let (code, text) = payload[4..].split_at_checked(4).unwrap_or_default();
        let code = frame::error_name(frame::first_number(code).unwrap_or(0));
        let text = String::from_utf8_lossy(text).replace(char::is_control, " ");
        self.state.farewell = Some(format!("GOAWAY, {code} {text}").trim_end().to_string());
        let after = |number: &&u32| **number > last & NUMBER_MAX;
        let mut refused: Vec<u32> = self.state.numbers.keys().filter(after).copied().collect();
        refused.sort_unstable();
        for number in refused {
            heard.extend(self.forget(number).map(|slot| Heard::Refused { slot }));
        }
        Ok(())
    }

    /// The server takes more bytes, on a stream or, by the number 0, on all.
    fn widen(
        &mut self,
        stream: u32,
        payload: &[u8],
        requests: &[Request],
    ) -> Result<(), &'static str> {
        let more = frame::first_number(payload).map(|more| more & NUMBER_MAX);
        let more = more.filter(|more| *more > 0).ok_or("a window was widened by nothing")?;
        let state = &mut self.state;
        let window = match state.numbers.get(&stream) {
            _ if stream == 0 => &mut state.window,
            Some(slot) => &mut self.slots[usize::from(*slot)].window,
            None => return Ok(()),
        };
        *window += i64::from(more);
        if *window > NUMBER_MAX.into() {
            return Err("a window was widened beyond all bounds");
        }
        self.pump(requests);
        Ok(())
    }

    fn settings(
        &mut self,
        head: Head,
        payload: &[u8],
        requests: &[Request],
    ) -> Result<(), &'static str> {
        if head.has(frame::ACK) {
            return Ok(());
        }
        if head.stream != 0 || !payload.len().is_multiple_of(6) {
            return Err("a SETTINGS frame is not well-formed");
        }
        let state = &mut self.state;
        state.up = true;
        for pair in payload.chunks_exact(6) {
            let value = u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]);
            match u16::from_be_bytes([pair[0], pair[1]]) {
                frame::MAX_CONCURRENT_STREAMS => state.streams_max = value,
                frame::INITIAL_WINDOW_SIZE if value > NUMBER_MAX => {
                    return Err("a window was set beyond all bounds");
                }
                frame::INITIAL_WINDOW_SIZE => {
                    let change = i64::from(value) - state.initial;
                    state.initial = value.into();
                    for slot in state.numbers.values() {
                        self.slots[usize::from(*slot)].window += change;
                    }
                }
                // Frames need not be as long as the server would take.
                frame::MAX_FRAME_SIZE if (value as usize) < frame::BYTES_MAX => {
                    return Err("the server allows no frames of 16 KiB");
                }
                _ => {}
            }
        }
        frame::head(&mut state.out, 0, frame::SETTINGS, frame::ACK, 0);
        self.pump(requests);
        Ok(())
    }

    /// A header block is whole.
    fn block(
        &mut self,
        stream: u32,
        ends: bool,
        bytes: &[u8],
        heard: &mut Vec<Heard>,
    ) -> Result<(), &'static str> {
        let hpack::Fields { status, length } = hpack::fields(bytes)?;
        let Some(slot) = self.state.numbers.get(&stream) else { return Ok(()) };
        let one = &mut self.slots[usize::from(*slot)];
        match status {
            0 if one.status == 0 => return Err("an answer has no status"),
            0 if !ends => return Err("trailers do not end their answer"),
            0 => {}
            _ if one.status != 0 => return Err(hpack::STATUS_ONCE),
            101 | 1..100 => return Err(hpack::NO_STATUS),
            100..200 if ends => return Err("an interim answer is the last"),
            100..200 => return Ok(()),
            // The answer to HEAD, and one that is not modified, state the length of another.
            _ => {
                (one.status, one.length) =
                    (status, length.filter(|_| !self.bodiless && status != 304))
            }
        }
        if ends {
            self.done(stream, heard);
        }
        Ok(())
    }
}

/// Refuses what is longer than a frame may be.
fn checked(head: Head) -> Result<Head, &'static str> {
    // What speaks another protocol is not known by its length.
    if head.length > frame::BYTES_MAX { Err(TOO_LONG) } else { Ok(head) }
}

const TOO_LONG: &str =
    "the server does not speak HTTP/2, or sent a frame that is longer than 16 KiB";

/// Counts bytes that came, and lets the server go on when half a window has.
fn go_on(out: &mut Vec<u8>, received: &mut u32, length: u32, stream: u32) {
    *received += length;
    if *received >= frame::WINDOW / 2 {
        frame::number(out, frame::WINDOW_UPDATE, stream, *received);
        *received = 0;
    }
}

/// What a HEADERS frame holds besides padding and priority.
fn unpadded(head: Head, payload: &[u8]) -> Option<&[u8]> {
    let (padding, payload) = match head.has(frame::PADDED) {
        true => payload.split_first().map(|(count, rest)| (usize::from(*count), rest))?,
        false => (0, payload),
    };
    let payload = if head.kind == frame::HEADERS && head.has(frame::PRIORITY) {
        payload.get(5..)?
    } else {
        payload
    };
    payload.get(..payload.len().checked_sub(padding)?)
}
