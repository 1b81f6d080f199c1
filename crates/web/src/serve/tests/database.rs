//! Servers whose requests need a connection to a database.

use super::client::{Client, GET};
use super::*;

const MODELS: [Model; 7] = [
    Model::Single,
    Model::Pool(8),
    Model::ThreadPerConnection,
    Model::ForkPerRequest,
    Model::PreFork(8),
    Model::EventLoop,
    Model::Tokio(2),
];

fn database(model: Model, time: Duration, queue: Option<u32>) -> Plan {
    Plan { service: Service::Database { connections: 2, time, queue }, ..plan(model) }
}

#[test]
fn no_more_requests_are_served_at_once_than_the_database_has_connections() {
    let time = Duration::from_millis(20);
    for model in MODELS {
        let server = start(&database(model, time, None));
        let mut clients: Vec<Client> = (0..6).map(|_| Client::to(server.address())).collect();
        let begun = Instant::now();
        clients.iter_mut().for_each(|client| client.say(GET));
        // The only thread serves a connection until it ends.
        for mut client in clients {
            assert_eq!(client.hear(false).status, 200, "{model:?}");
        }
        assert!(begun.elapsed() >= 3 * time, "{model:?}: {:?}", begun.elapsed());
        assert_eq!(server.end(PATIENCE).unwrap().code, Some(0), "{model:?}");
    }
}

#[test]
fn who_finds_the_queue_full_is_answered_by_503_and_nobody_else() {
    for model in MODELS.into_iter().filter(|model| *model != Model::Single) {
        let listener = listen(128).unwrap();
        let address = listener.local_addr().unwrap();
        // Its slots are in memory that is shared with the child.
        let server =
            super::super::Server::new(&database(model, Duration::from_secs(60), Some(3))).unwrap();
        let pid = sys::task::fork_run(|| {
            let _ = sys::process::close_all_but(&[listener.as_fd()]);
            let _ = sys::interrupt::forget();
            i32::from(super::super::run(listener, &server).is_err())
        })
        .unwrap();
        let inside = || server.slots.as_ref().unwrap().inside();
        let mut clients: Vec<Client> = (0..5).map(|_| Client::to(address)).collect();
        clients.iter_mut().for_each(|client| client.say(GET));
        eventually("all have come", || inside() == 5);
        let mut late = Client::to(address);
        for _ in 0..3 {
            let answer = late.ask(GET);
            assert_eq!((answer.status, answer.ends(), answer.body.len()), (503, false, 23));
        }
        let head = "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        late.say(head);
        let answer = late.hear(true);
        assert!(answer.status == 503 && answer.ends() && late.is_left(), "{model:?}");
        for client in &mut clients {
            assert!(client.hears_nothing_for(Duration::from_millis(1)), "{model:?}");
        }
        assert_eq!(inside(), 5, "{model:?}");
        sys::process::kill(pid, sys::signal::SIGTERM).unwrap();
        assert_eq!(sys::task::wait(pid).unwrap().code, Some(0), "{model:?}");
    }
}

#[test]
fn who_shares_no_database_says_so() {
    let time = Duration::from_millis(1);
    let plan = database(Model::ReusePort(2), time, None);
    let error = Running::start(listen(1).unwrap(), &plan, &[]).unwrap_err();
    assert!(error.to_string().contains("share no connections"), "{error}");
    let plan = database(Model::IoUring, time, None);
    let error = Running::start(listen(1).unwrap(), &plan, &[]).unwrap_err();
    assert!(error.to_string().contains("has no database"), "{error}");
    let runtime = crate::serve::Runtime::Node;
    let plan = database(Model::Runtime(runtime), time, None);
    let folder = std::path::Path::new("/nowhere");
    let error =
        Running::start_program(listen(1).unwrap(), &plan, runtime, &[], folder).unwrap_err();
    assert!(error.to_string().contains("no stand-in"), "{error}");
}
