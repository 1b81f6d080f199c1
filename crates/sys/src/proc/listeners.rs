//! The processes behind a listening socket.

use super::path;
use super::wait::tcp_sockets;
use crate::Pid;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

/// Returns the processes that have a TCP socket open that listens at an address of this machine; empty where
/// there are none, or none that this user may look at.
pub fn listeners(address: SocketAddr) -> Vec<Pid> {
    let hexadecimal = hexadecimal(address.ip().to_canonical());
    let is_ours = |end: &str| {
        let Some((ip, port)) = end.rsplit_once(':') else { return false };
        let everywhere = ip.bytes().all(|digit| digit == b'0');
        let same_port = u16::from_str_radix(port, 16) == Ok(address.port());
        same_port && (everywhere || ip.ends_with(&hexadecimal))
    };
    let sockets = tcp_sockets(crate::process::pid()).into_iter();
    let sockets = sockets.filter(|socket| socket.is_listening && is_ours(&socket.own));
    let links: HashSet<String> =
        sockets.map(|socket| format!("socket:[{}]", socket.inode)).collect();
    if links.is_empty() {
        return Vec::new();
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
    pids.filter(|pid| has_any(*pid, &links)).collect()
}

/// Returns an address as the kernel writes it: words of the machine's byte order. A mapped IPv4 address of
/// an IPv6 socket ends like one of IPv4.
fn hexadecimal(ip: IpAddr) -> String {
    let octets = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().unwrap_or_default();
        format!("{:08X}", u32::from_ne_bytes(bytes))
    };
    octets.chunks(4).map(word).collect()
}

fn has_any(pid: Pid, links: &HashSet<String>) -> bool {
    let descriptors = std::fs::read_dir(path(pid, "fd")).into_iter().flatten().flatten();
    let mut targets = descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.any(|target| target.to_str().is_some_and(|target| links.contains(target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_in_proc_net_tcp() {
        let of = |ip: &str| hexadecimal(ip.parse().unwrap());
        if cfg!(target_endian = "little") {
            assert_eq!(of("127.0.0.1"), "0100007F");
            assert_eq!(of("::1"), "00000000000000000000000001000000");
        }
    }

    #[test]
    fn who_has_a_listening_socket_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(listeners(address).contains(&crate::process::pid()));
        use std::os::fd::OwnedFd;
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(OwnedFd::from(listener.try_clone().unwrap()))
            .spawn()
            .unwrap();
        let found = listeners(address);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&(child.id() as Pid)), "{found:?}");
    }
}
