//! What a load leaves in its process: one test in a process of its own, since others would be seen.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use model::{Arrivals, LoadPlan};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

/// Descriptors and threads of this process.
fn held() -> (usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

/// Waits until the server is through with all connections that came before, and returns what is held.
fn settled(address: &str) -> (usize, usize) {
    // It takes them in their order. One that says nothing is closed as soon as its turn has come.
    let mut last = TcpStream::connect(address).unwrap();
    last.shutdown(Shutdown::Write).unwrap();
    assert_eq!(last.read(&mut [0]).unwrap(), 0);
    drop(last);
    held()
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn plan(url: String, arrivals: Arrivals, connections: u32) -> LoadPlan {
    LoadPlan {
        url,
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals,
        connections,
        keep_alive: true,
        threads: 2,
        duration_ms: Some(1000),
        requests: None,
        timeout_ms: 60_000,
        options: Default::default(),
    }
}

#[test]
fn nothing_is_left_behind_and_memory_does_not_grow_with_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // It answers each connection three times, and from the last on says nothing.
    let server = std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut piece = [0; 4096];
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            for _ in 0..3 {
                match stream.read(&mut piece) {
                    Ok(1..) if piece.starts_with(b"STOP") => return,
                    Ok(1..) => {}
                    _ => break,
                }
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                if stream.write_all(answer).is_err() {
                    break;
                }
            }
        }
    });
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let run = |plan: &LoadPlan| web::load::run(plan, b"", &mut |_| true).unwrap().result;
    // A first load makes what a process makes once.
    let small = run(&plan(url.clone(), Arrivals::Constant { per_s: 1000.0 }, 2));
    let (before, before_bytes) = (settled(address), resident_bytes());
    // Nobody can answer three million requests a second, so that most of them wait.
    let large = run(&plan(url.clone(), Arrivals::Poisson { per_s: 3e6, seed: 5 }, 2));
    let due = |result: &model::LoadResult| result.counts.sent + result.counts.unsent;
    assert!(due(&small) == 1000 && due(&large) > 2_900_000, "{:?}", large.counts);
    let closed = run(&plan(url.clone(), Arrivals::Closed, 64));
    assert!(closed.counts.sent >= 64);
    assert_eq!(settled(address), before);
    let grown = resident_bytes().saturating_sub(before_bytes);
    // Eight bytes for each request would be 24 MB.
    assert!(grown < 8 << 20, "{grown}");
    TcpStream::connect(address).unwrap().write_all(b"STOP").unwrap();
    server.join().unwrap();
}
