//! What every model does alike.

use super::client::{Client, GET};
use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[test]
fn all_models_answer_alike() {
    let answers: Vec<_> = models()
        .into_iter()
        .map(|model| {
            let server = start(&plan(model));
            let answer = Client::to(server.address()).ask(GET);
            assert_eq!(answer.status, 200, "{model:?}");
            answer
        })
        .collect();
    assert!(!answers[0].body.is_empty());
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
}

#[test]
fn fifty_requests_over_eight_connections() {
    for model in models() {
        let server = start(&plan(model));
        let address = server.address();
        let answered: usize = std::thread::scope(|scope| {
            let one = |requests: usize| {
                let mut client = Client::to(address);
                (0..requests).filter(|_| client.ask(GET).status == 200).count()
            };
            let clients: Vec<_> =
                (0..8).map(|index| scope.spawn(move || one(6 + usize::from(index < 2)))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).sum()
        });
        assert_eq!(answered, 50, "{model:?}");
    }
}

#[test]
fn a_connection_goes_on_if_both_sides_want_it() {
    for model in models() {
        let server = start(&plan(model));
        let mut client = Client::to(server.address());
        assert!(!client.ask(GET).ends() && !client.ask(GET).ends(), "{model:?}");
        assert!(client.ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends());
        assert!(client.is_left(), "{model:?}");
        let mut old = Client::to(server.address());
        let kept = old.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(kept.header("connection"), Some("keep-alive"));
        assert!(old.ask("GET / HTTP/1.0\r\n\r\n").ends() && old.is_left(), "{model:?}");
        drop(server);

        let server = start(&Plan { keep_alive: false, ..plan(model) });
        let mut client = Client::to(server.address());
        // Sent together: the second is not answered, and does not destroy the first's answer.
        client.say(&GET.repeat(2));
        assert!(client.hear(false).ends() && client.is_left(), "{model:?}");
    }
}

#[test]
fn requests_that_come_together_or_in_pieces_are_answered_in_order() {
    let head = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n";
    let post = format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n{}",
        "x".repeat(10_000)
    );
    for model in models() {
        let wait = Service::Wait(Duration::from_millis(1));
        let server = start(&Plan { service: wait, ..plan(model) });
        let mut client = Client::to(server.address());
        client.say(&[GET, head, &post, head, GET].concat());
        for is_head in [false, true, false, true, false] {
            let answer = client.hear(is_head);
            assert_eq!(answer.status, 200, "{model:?}");
            assert_eq!(answer.header("content-length"), Some("23"));
        }
        for byte in 0..GET.len() {
            client.say(&GET[byte..=byte]);
        }
        assert_eq!(client.hear(false).status, 200, "{model:?}");
        assert!(client.hears_nothing_for(Duration::from_millis(20)), "{model:?}");
    }
}

#[test]
fn garbage_is_refused_and_the_server_goes_on() {
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}", "x".repeat(100_000));
    let garbage = [
        "\u{1}\u{2}\u{3}nothing of use",
        "GET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        &long,
    ];
    for model in models() {
        let server = start(&plan(model));
        for text in garbage {
            let mut client = Client::to(server.address());
            let answer = client.ask(text);
            assert_eq!(answer.status, 400, "{model:?}: {:.40}", text);
            assert!(answer.ends(), "{model:?}");
            client.stream.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(client.is_left(), "{model:?}: {:.40}", text);
        }
        // Good after bad, and bad after good.
        let mut client = Client::to(server.address());
        client.say(&format!("{GET}garbage\r\n\r\n"));
        assert_eq!(client.hear(false).status, 200, "{model:?}");
        assert_eq!(client.hear(false).status, 400, "{model:?}");
    }
}

#[test]
fn connections_get_what_is_set_on_the_listening_socket() {
    let listener = listen(3).unwrap();
    let server = super::super::Server::new(&plan(Model::Single)).unwrap();
    super::super::blocking::arrange(&listener, &server).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert!(accepted.nodelay().unwrap());
    assert_eq!(accepted.read_timeout().unwrap(), Some(super::super::LOOK));
    assert_eq!(accepted.write_timeout().unwrap(), Some(super::super::LOOK));
}

#[test]
fn who_holds_the_only_thread_starves_the_others() {
    let server = start(&plan(Model::Single));
    let mut first = Client::to(server.address());
    assert_eq!(first.ask(GET).status, 200);
    let mut second = Client::to(server.address());
    second.say(GET);
    assert!(second.hears_nothing_for(Duration::from_millis(300)));
    assert_eq!(first.ask(GET).status, 200);
    assert!(second.hears_nothing_for(Duration::from_millis(100)));
    drop(first);
    assert_eq!(second.hear(false).status, 200);
}

#[test]
fn who_holds_a_connection_starves_nobody_elsewhere() {
    for model in
        [Model::ThreadPerConnection, Model::ForkPerRequest, Model::EventLoop, Model::Tokio(1)]
    {
        let server = start(&plan(model));
        let mut held: Vec<Client> = (0..20).map(|_| Client::to(server.address())).collect();
        for client in held.iter_mut().rev() {
            assert_eq!(client.ask(GET).status, 200, "{model:?}");
        }
    }
}

#[test]
fn one_thread_serves_one_after_the_other() {
    let time = Duration::from_millis(20);
    let server = start(&Plan { service: Service::Wait(time), ..plan(Model::Single) });
    let mut client = Client::to(server.address());
    let begun = Instant::now();
    for _ in 0..8 {
        assert_eq!(client.ask(GET).status, 200);
    }
    assert!(begun.elapsed() >= 8 * time);
}

#[test]
fn every_model_waits_and_computes_as_long_as_it_is_told() {
    let time = Duration::from_millis(20);
    for model in models() {
        let server = start(&Plan { service: Service::Wait(time), ..plan(model) });
        let mut client = Client::to(server.address());
        let begun = Instant::now();
        assert_eq!(client.ask(GET).status, 200);
        assert!(begun.elapsed() >= time, "{model:?}");
        drop(server);

        let server = start(&Plan { service: Service::Compute(time), ..plan(model) });
        let mut client = Client::to(server.address());
        assert_eq!(client.ask(GET).status, 200);
        let family = server.family();
        let cpu_ns: u64 = family.iter().filter_map(|pid| sys::clock::process_cpu_ns_of(*pid)).sum();
        assert!(cpu_ns >= time.as_nanos() as u64, "{model:?}: {cpu_ns}");
    }
}

#[test]
fn nobody_starves_who_asks_while_others_compute() {
    // The others come back at once, each time on a connection of their own; who is slow sends its
    // request a little after it was accepted. Of whom comes back nobody is served often before it.
    const OVERTAKEN_AT_MOST: usize = 100;
    let service = Service::Compute(Duration::from_millis(2));
    for model in models() {
        let server = start(&Plan { service, keep_alive: false, ..plan(model) });
        let (address, over) = (server.address(), AtomicBool::new(false));
        let answered = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while !over.load(Relaxed) && answered.load(Relaxed) < 10 * OVERTAKEN_AT_MOST {
                        assert_eq!(Client::to(address).ask(GET).status, 200, "{model:?}");
                        answered.fetch_add(1, Relaxed);
                    }
                });
            }
            let mut slow = Client::to(address);
            std::thread::sleep(Duration::from_millis(5));
            slow.say(GET);
            let before = answered.load(Relaxed);
            let answer = slow.hear(false);
            let overtaken = answered.load(Relaxed) - before;
            over.store(true, Relaxed);
            assert_eq!(answer.status, 200, "{model:?}");
            assert!(overtaken <= OVERTAKEN_AT_MOST, "{model:?}: overtaken by {overtaken}");
        });
    }
}
