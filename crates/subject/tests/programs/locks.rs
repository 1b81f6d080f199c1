//! Three threads that hold one static lock in turn, between arrays that they write to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::Duration;

static ARRAY_BEFORE: [AtomicU64; 900] = [const { AtomicU64::new(0) }; 900];
static GATE: Mutex<u64> = Mutex::new(0);
static BOOK: RwLock<u64> = RwLock::new(0);
static ARRAY_AFTER: [AtomicU64; 900] = [const { AtomicU64::new(0) }; 900];

fn drain(is_book: bool) {
    for round in 0..25 {
        let gate = (!is_book).then(|| GATE.lock());
        let book = is_book.then(|| BOOK.write());
        thread::sleep(Duration::from_millis(10));
        ARRAY_BEFORE[round].fetch_add(1, Ordering::Relaxed);
        ARRAY_AFTER[round].fetch_add(1, Ordering::Relaxed);
        drop((gate, book));
    }
}

fn main() {
    let is_book = std::env::args().nth(1).is_some_and(|mode| mode == "book");
    let all: Vec<_> = (0..3).map(|_| thread::spawn(move || drain(is_book))).collect();
    for one in all {
        one.join().expect("it ends");
    }
}
