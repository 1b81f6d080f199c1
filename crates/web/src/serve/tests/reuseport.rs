//! Several loops that share a port.

use super::client::{Client, GET};
use super::*;

/// How many connections wait at each socket that listens on a port.
fn queues(port: u16) -> Vec<u64> {
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // Its address, its state (0A listens), and bytes to write and to read, which are connections here.
    let listening = rows.filter(|row| row[1].ends_with(&format!(":{port:04X}")) && row[3] == "0A");
    let waiting = |row: Vec<&str>| u64::from_str_radix(row[4].split_once(':').unwrap().1, 16);
    listening.map(|row| waiting(row).unwrap()).collect()
}

/// Stops all threads of a process.
fn stop(pid: sys::Pid) {
    sys::process::kill(pid, sys::signal::SIGSTOP).unwrap();
    eventually("all threads stand still", || {
        let mut threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        threads.all(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap();
            sys::proc::parse_stat(&stat).is_some_and(|stat| stat.state == 'T')
        })
    });
}

#[test]
fn every_loop_accepts_and_no_socket_is_left() {
    let server = start(&plan(Model::ReusePort(3)));
    let port = server.address().port();
    assert_eq!(queues(port), [0; 3]);
    stop(server.pid());
    let mut clients: Vec<Client> = (0..96).map(|_| Client::to(server.address())).collect();
    let waiting = queues(port);
    assert_eq!(waiting.iter().sum::<u64>(), 96, "{waiting:?}");
    assert!(waiting.iter().all(|waiting| *waiting > 0), "{waiting:?}");
    sys::process::kill(server.pid(), sys::signal::SIGCONT).unwrap();
    for client in &mut clients {
        assert_eq!(client.ask(GET).status, 200);
    }
    assert_eq!(queues(port), [0; 3]);
    assert_eq!(server.end(PATIENCE).unwrap().code, Some(0));
    assert!(queues(port).is_empty());
}

#[test]
fn the_loops_have_accept_queues_of_the_same_length() {
    let listener = listen_for(Model::ReusePort(3), 3).unwrap();
    let others = super::super::reuseport::beside(&listener, 2).unwrap();
    for socket in others.iter().chain([&listener]) {
        assert_eq!(sys::accept_queue::of(socket.as_fd()).unwrap().most, 3);
        assert_eq!(socket.local_addr().unwrap(), listener.local_addr().unwrap());
    }
    let alone = super::super::reuseport::beside(&listen(3).unwrap(), 2).unwrap_err();
    assert_eq!(alone.kind(), ErrorKind::InvalidInput);
}
