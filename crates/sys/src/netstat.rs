//! What the kernel's TCP has counted (`/proc/net/netstat`, `/proc/net/snmp`), and how it repeats a
//! SYN that nobody answers.
//!
//! The counters are those of the network namespace: of all its programs, since it was made.

use crate::text;

/// Counters that say why connecting or sending took long. `None` where the kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections dropped because the accept queue of their socket was full.
    pub listen_overflows: Option<u64>,
    /// Connections dropped at listening sockets for whatever reason, those among them.
    pub listen_drops: Option<u64>,
    /// SYN and SYN-ACK segments sent again.
    pub syn_retransmits: Option<u64>,
    /// Segments of any kind sent again.
    pub retransmits: Option<u64>,
}

impl Counters {
    /// What was added since an `earlier` reading; `None` where either is missing or the counter
    /// went back.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let added =
            |now: Option<u64>, then: Option<u64>| now.zip(then).and_then(|(a, b)| a.checked_sub(b));
        Self {
            listen_overflows: added(self.listen_overflows, earlier.listen_overflows),
            listen_drops: added(self.listen_drops, earlier.listen_drops),
            syn_retransmits: added(self.syn_retransmits, earlier.syn_retransmits),
            retransmits: added(self.retransmits, earlier.retransmits),
        }
    }
}

/// The counters of this network namespace, as far as /proc can be read.
pub fn counters() -> Counters {
    let netstat = text::read("/proc/net/netstat").unwrap_or_default();
    let snmp = text::read("/proc/net/snmp").unwrap_or_default();
    parse(&netstat, &snmp)
}

/// Reads the two texts; what is not in them is `None`.
pub fn parse(netstat: &str, snmp: &str) -> Counters {
    Counters {
        listen_overflows: counter(netstat, "TcpExt", "ListenOverflows"),
        listen_drops: counter(netstat, "TcpExt", "ListenDrops"),
        syn_retransmits: counter(netstat, "TcpExt", "TCPSynRetrans"),
        retransmits: counter(snmp, "Tcp", "RetransSegs"),
    }
}

/// The number of a name: a line of names and the line of numbers below it begin with the same
/// `group:`, and belong together by position.
fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let position = names.split_whitespace().position(|found| found == name)?;
    numbers.split_whitespace().nth(position)?.parse().ok()
}

/// How many times a SYN is repeated at even intervals before the intervals double
/// (`net.ipv4.tcp_syn_linear_timeouts`, Linux 6.5; 0 before).
pub fn syn_linear_timeouts() -> u32 {
    let setting = text::number("/proc/sys/net/ipv4/tcp_syn_linear_timeouts");
    setting.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

/// The moments, in seconds after the first, at which a SYN is repeated, up to `limit_s`: an initial
/// time-out of 1 s (RFC 6298), kept for the first `linear` repetitions and doubled with each
/// further one. Without linear ones 1, 3, 7, 15…; with the four of Linux 6.5 and later 1, 2, 3, 4,
/// 5, 7, 11…
pub fn syn_repeats_s(linear: u32, limit_s: u32) -> Vec<u32> {
    let mut moments = Vec::new();
    let (mut moment_s, mut pause_s) = (1_u32, 1_u32);
    while moment_s <= limit_s {
        moments.push(moment_s);
        if moments.len() > linear as usize {
            pause_s = pause_s.saturating_mul(2);
        }
        moment_s = moment_s.saturating_add(pause_s);
        if moments.last() == Some(&u32::MAX) {
            break;
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortened, from Linux 6.18.
    const NETSTAT: &str = "\
TcpExt: SyncookiesSent EmbryonicRsts ListenOverflows ListenDrops TCPTimeouts TCPSynRetrans\n\
TcpExt: 0 3 12 14 5 46\n\
IpExt: InNoRoutes ListenOverflows\n\
IpExt: 0 99\n";

    const SNMP: &str = "\
Ip: Forwarding DefaultTTL RetransSegs\n\
Ip: 2 64 77\n\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens InSegs OutSegs RetransSegs InErrs\n\
Tcp: 1 200 120000 -1 22 4751 2598 9 0\n";

    #[test]
    fn a_counter_is_found_by_its_name_in_its_own_group() {
        let counters = parse(NETSTAT, SNMP);
        assert_eq!(counters.listen_overflows, Some(12));
        assert_eq!(counters.listen_drops, Some(14));
        assert_eq!(counters.syn_retransmits, Some(46));
        assert_eq!(counters.retransmits, Some(9));
    }

    #[test]
    fn what_is_missing_is_none_and_every_cut_is_survived() {
        assert_eq!(parse("", ""), Counters::default());
        assert_eq!(
            parse("TcpExt: ListenDrops\nTcpExt: x\n", "Tcp: RetransSegs\n").listen_drops,
            None
        );
        assert_eq!(parse("TcpExt: a ListenDrops\nTcpExt: 1\n", "").listen_drops, None);
        for end in 0..NETSTAT.len() {
            let counters = parse(&NETSTAT[..end], SNMP);
            assert!(counters.listen_overflows.is_none_or(|count| [1, 12].contains(&count)));
        }
    }

    #[test]
    fn a_difference_needs_both_ends_and_never_goes_back() {
        let now = parse(NETSTAT, SNMP);
        let earlier =
            Counters { listen_overflows: Some(2), listen_drops: Some(15), ..Counters::default() };
        let added = now.since(earlier);
        assert_eq!(added.listen_overflows, Some(10));
        assert_eq!(added.listen_drops, None);
        assert_eq!(added.retransmits, None);
    }

    #[test]
    fn this_machines_counters_only_grow() {
        let first = counters();
        let second = counters();
        assert_eq!(first.retransmits.is_some(), second.since(first).retransmits.is_some());
    }

    #[test]
    fn repeats_double_after_those_at_even_intervals() {
        assert_eq!(syn_repeats_s(0, 31), [1, 3, 7, 15, 31]);
        assert_eq!(syn_repeats_s(4, 67), [1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
        assert!(syn_repeats_s(0, 0).is_empty());
        assert!(syn_repeats_s(0, u32::MAX).len() <= 33);
    }
}
