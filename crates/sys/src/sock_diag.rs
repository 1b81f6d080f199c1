//! The other end of a Unix socket, asked of the kernel by `sock_diag(7)`.

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// `SOCK_DIAG_BY_FAMILY`, the only request, and its answer.
const BY_FAMILY: u16 = 20;

/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;

/// `UDIAG_SHOW_PEER`, and the attribute that answers it, `UNIX_DIAG_PEER`.
const SHOW_PEER: u32 = 4;
const PEER: u16 = 2;

/// Bytes of `struct nlmsghdr`, of `struct unix_diag_msg`, and of `struct rtattr`.
const HEADER: usize = 16;
const ANSWER: usize = 16;
const ATTRIBUTE: usize = 4;

/// Returns the number of the socket at the other end of the connected Unix socket `inode` of this network
/// namespace; `None` where there is none, or where the kernel does not tell.
pub fn unix_peer(inode: u64) -> Option<u64> {
    let inode = u32::try_from(inode).ok()?;
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )
    .ok()?;
    send(&socket, &request(inode), SendFlags::empty()).ok()?;
    // The kernel has answered when it has taken the request.
    let mut bytes = [0; 512];
    let (read, _) = recv(&socket, &mut bytes[..], RecvFlags::DONTWAIT).ok()?;
    parse_peer(bytes.get(..read)?).map(u64::from)
}

/// Returns a request for one socket: `struct nlmsghdr` and `struct unix_diag_req`.
fn request(inode: u32) -> Vec<u8> {
    const LENGTH: u32 = 40;
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Its number, and the sender, which the kernel fills in.
    bytes.extend([0; 8]);
    bytes.extend([libc::AF_UNIX as u8, 0, 0, 0]);
    // Sockets in any state; any cookie.
    for word in [u32::MAX, inode, SHOW_PEER, u32::MAX, u32::MAX] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes
}

/// Parses an answer; `None` where it is an error, or names no other end.
fn parse_peer(bytes: &[u8]) -> Option<u32> {
    let short = |at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if short(4)? != BY_FAMILY {
        return None;
    }
    let mut at = HEADER + ANSWER;
    loop {
        let length = usize::from(short(at)?);
        if short(at + 2)? == PEER {
            return word(at + ATTRIBUTE).filter(|inode| *inode > 0);
        }
        // Attributes begin at multiples of four.
        at += length.max(ATTRIBUTE).next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::net::UnixStream;

    fn inode(descriptor: RawFd) -> u64 {
        let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap();
        let link = link.to_string_lossy().into_owned();
        link.split(['[', ']']).nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn each_end_of_a_pair_has_the_other_as_its_peer() {
        let (one, other) = UnixStream::pair().unwrap();
        let (one, other) = (inode(one.as_raw_fd()), inode(other.as_raw_fd()));
        // A kernel without the module does not tell.
        if let Some(found) = unix_peer(one) {
            assert_eq!((found, unix_peer(other)), (other, Some(one)));
        }
    }

    #[test]
    fn what_is_no_answer_has_no_peer() {
        assert_eq!(unix_peer(0), None);
        assert_eq!(unix_peer(u64::MAX), None);
        let mut answer = vec![0; 40];
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        assert_eq!(parse_peer(&answer[..32]), None);
        answer[32..34].copy_from_slice(&8_u16.to_ne_bytes());
        answer[34..36].copy_from_slice(&PEER.to_ne_bytes());
        answer[36..40].copy_from_slice(&7_u32.to_ne_bytes());
        assert_eq!(parse_peer(&answer), Some(7));
        for end in 0..answer.len() {
            assert_eq!(parse_peer(&answer[..end]), None);
        }
        // An attribute without a length is passed over.
        answer[32..36].fill(0);
        assert_eq!(parse_peer(&answer), None);
    }
}
