//! tokio on several threads: a task for each connection.

use super::answer::Answer;
use super::request::{Inbox, Next};
use super::{LINGER, LINGER_BYTES, LOOK, RETRY, Server};
use std::io::{ErrorKind, Result};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// What all tasks share.
struct Shared {
    server: Server,
    /// The connections to the database, which tasks wait for in the order of their coming.
    turns: Semaphore,
}

/// Serves until the process is asked to end.
pub(super) fn run(listener: std::net::TcpListener, threads: u32, server: &Server) -> Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads as usize)
        .enable_io()
        .enable_time()
        .build()?;
    let turns = Semaphore::new(server.slots.as_ref().map_or(0, |slots| slots.count() as usize));
    let shared = Arc::new(Shared { server: server.for_tasks(), turns });
    let listener = {
        let _inside = runtime.enter();
        TcpListener::from_std(listener)?
    };
    // All tasks are on the workers: this thread waits for a signal, and does none of the work.
    runtime.spawn(accept(listener, shared));
    let ended = server.until_told();
    // Tasks end where they wait; one that computes looks whether the server is over.
    runtime.shutdown_timeout(2 * LOOK);
    ended
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, shared.clone()));
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            // No descriptor is left: the connection stays in the queue.
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}

/// Answers the requests of one connection until it ends.
async fn converse(mut stream: TcpStream, shared: Arc<Shared>) {
    let (mut inbox, server) = (Inbox::default(), &shared.server);
    loop {
        let answer = match inbox.next() {
            Next::More => match timeout(server.silence, stream.read(inbox.room())).await {
                Ok(Ok(bytes)) if bytes > 0 => {
                    inbox.read(bytes);
                    continue;
                }
                _ => return,
            },
            Next::Garbage => Answer::to_garbage(),
            Next::Request(request) => {
                let answer = if perform(&shared).await { Answer::to } else { Answer::too_busy };
                answer(request, server.plan.keep_alive)
            }
        };
        let written = timeout(server.silence, stream.write_all(answer.bytes)).await;
        if !matches!(written, Ok(Ok(()))) {
            return;
        }
        if answer.is_last {
            if !inbox.is_empty() && stream.shutdown().await.is_ok() {
                // Over or not after this time: the connection ends.
                let _ = timeout(LINGER, waste(&mut stream)).await;
            }
            return;
        }
    }
}

/// Does what a request needs, and reports whether it did: not where too many wait.
async fn perform(shared: &Shared) -> bool {
    let wait = shared.server.begin();
    let Some(slots) = &shared.server.slots else {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        return true;
    };
    if slots.enter().is_none() {
        return false;
    }
    // The semaphore is never closed.
    let turn = shared.turns.acquire().await;
    tokio::time::sleep(wait).await;
    drop(turn);
    slots.leave();
    true
}

/// Reads what the peer still sends, until it ends.
async fn waste(stream: &mut TcpStream) {
    let (mut seen, mut room) = (0, vec![0; 4096]);
    while seen < LINGER_BYTES {
        match stream.read(&mut room).await {
            Ok(bytes) if bytes > 0 => seen += bytes,
            _ => return,
        }
    }
}
