//! Programs whose answers are known, as trials: what is recorded of them is what they did, however
//! they behave, and after each nothing of it is left.
//!
//! This test has no harness of libtest's, since the runner starts `/proc/self/exe` and that must
//! be a binary whose first statement serves trials.
#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

mod bench;
mod ends;
mod family;
mod limits;
mod names;
mod output;
mod starting;
mod student;

use libtest_mimic::{Arguments, Trial as Test};

fn main() {
    kit::serve_if_asked(&[], Some(subject::trial));
    runner::serve_if_asked();
    let mut asked = std::env::args_os().skip(1);
    if asked.next().is_some_and(|role| role == ends::CONDUCT) {
        let folder = asked.next().expect("a folder");
        return ends::conduct(std::path::Path::new(&folder));
    }
    let mut arguments = Arguments::from_args();
    // The runner adopts all orphans of this process, so its tests cannot stand side by side.
    arguments.test_threads = Some(1);
    let tests: Vec<Test> = [
        starting::tests(),
        output::tests(),
        limits::tests(),
        family::tests(),
        ends::tests(),
        names::tests(),
        student::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&arguments, tests).exit();
}
