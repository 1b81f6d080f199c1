//! The CPU time of a server on this machine: of the processes that hold its listening socket.

use std::collections::BTreeMap;
use web::load::Target;

/// The processes of a server.
#[derive(Debug, Default)]
pub(super) struct Server {
    pids: Vec<i32>,
    /// What each had used when it was read last: one that has ended is counted by its parent, but not one
    /// whose parent is no server.
    used_ns: BTreeMap<i32, u64>,
}

impl Server {
    /// Finds those that listen where a URL points to; none where they cannot be found, since they belong to
    /// another user or are in another network namespace.
    pub(super) fn find(url: &str) -> Self {
        let target = Target::parse(url).ok();
        let address = target.and_then(|target| target.address().resolve().ok());
        let pids = address.map(sys::proc::listeners).unwrap_or_default();
        Server { pids, used_ns: BTreeMap::new() }
    }

    /// Returns the CPU time that they and their children that have ended have used, in ns; `None` where none
    /// is known.
    pub(super) fn cpu_ns(&mut self) -> Option<u64> {
        for pid in &self.pids {
            let own_ns = sys::clock::process_cpu_ns_of(*pid);
            if let Some((own_ns, stat)) = own_ns.zip(sys::proc::stat(*pid)) {
                let children_ns = stat.children_ticks.saturating_mul(sys::proc::tick_ns());
                self.used_ns.insert(*pid, own_ns + children_ns);
            }
        }
        (!self.used_ns.is_empty()).then(|| self.used_ns.values().sum())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::Server;

    #[test]
    fn the_process_that_listens_is_the_server() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut server = Server::find(&url);
        assert!(server.pids.contains(&(std::process::id() as i32)), "{server:?}");
        let before = server.cpu_ns().unwrap();
        assert!(server.cpu_ns().unwrap() >= before && before > 0);
        drop(listener);
        let mut nobody = Server::find(&url);
        assert_eq!((nobody.cpu_ns(), nobody.pids.len()), (None, 0));
        assert_eq!(Server::find("no URL").cpu_ns(), None);
    }
}
