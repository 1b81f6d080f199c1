use model::{FromTrial, MESSAGE_BYTES_MAX, ToTrial};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// The trial's end of its conversation with the runner: fd 0, one end of a socket pair.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: UnixStream,
    unread: Vec<u8>,
}

/// What can go wrong between a trial and its runner.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The socket is gone or was never there.
    #[error("the runner's socket on standard input: {0}")]
    Socket(#[from] std::io::Error),
    /// The runner hung up.
    #[error("the runner hung up")]
    HungUp,
    /// A message is longer than [`MESSAGE_BYTES_MAX`].
    #[error("a message of more than {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
    /// A message is not what the protocol says.
    #[error("not a message of the protocol: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl Channel {
    /// Takes fd 0 for the conversation.
    pub(crate) fn open() -> Result<Self, ChannelError> {
        use std::os::fd::AsFd;
        let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Channel { stream: UnixStream::from(socket), unread: Vec::new() })
    }

    /// Waits for the runner's next message.
    pub(crate) fn hear(&mut self) -> Result<ToTrial, ChannelError> {
        let mut searched = 0;
        loop {
            let end = self.unread[searched..].iter().position(|byte| *byte == b'\n');
            let end = end.map(|at| searched + at);
            // Too long is too long, whether or not its end has arrived by now.
            if end.unwrap_or(self.unread.len()) >= MESSAGE_BYTES_MAX {
                return Err(ChannelError::TooLong);
            }
            if let Some(end) = end {
                let message = serde_json::from_slice(&self.unread[..end])?;
                self.unread.drain(..=end);
                return Ok(message);
            }
            searched = self.unread.len();
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk)? {
                0 => return Err(ChannelError::HungUp),
                count => self.unread.extend_from_slice(&chunk[..count]),
            }
        }
    }

    /// Says something to the runner.
    pub(crate) fn say(&mut self, message: &FromTrial) -> Result<(), ChannelError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        if line.len() > MESSAGE_BYTES_MAX {
            return Err(ChannelError::TooLong);
        }
        Ok(self.stream.write_all(&line)?)
    }
}

#[cfg(test)]
mod tests;
