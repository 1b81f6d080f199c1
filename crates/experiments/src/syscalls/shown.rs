//! The lists that a reader should see.

use super::watch::{Line, Operation};
use kit::Trial;
use sys::calls::{Cloned, FLAGS};

/// Shows the first operation, the last where it is another, and the flags of what they made.
pub(super) fn show(trial: &mut Trial<'_>, first: &Operation, steady: &[Operation]) {
    let columns = ["by", "call", "times", "what its arguments say", "error"];
    let Some(last) = steady.last() else { return };
    let (first, later) = (rows(first), rows(last));
    // They differ by what libc keeps for the next time, if by anything.
    let title = match first == later {
        true => "the calls of an operation, each side's in order",
        false => "the calls of the first operation, each side's in order",
    };
    if !first.is_empty() {
        trial.exhibit(title, &columns, first.clone());
    }
    if later != first {
        trial.exhibit("the calls of a later operation, each side's in order", &columns, later);
    }
    if let Some(cloned) = last.made.first() {
        let title = "what the new one was asked to be";
        trial.exhibit(title, &["flag", "set", "what it means"], flags(cloned));
    }
}

/// One row per call; the same call again and again, by the same side, is one row. The maker's stand
/// first: what the two sides do at once comes in another order each time.
pub(super) fn rows(operation: &Operation) -> Vec<Vec<String>> {
    let mut rows: Vec<(Line, usize, bool)> = Vec::new();
    let made = operation.lines.iter().filter(|line| !line.by_maker);
    for line in operation.by_maker().chain(made) {
        match rows.last_mut() {
            Some((last, times, differ)) if is_same(last, line) => {
                *times += 1;
                *differ |= last.says != line.says;
            }
            _ => rows.push((line.clone(), 1, false)),
        }
    }
    let row = |(line, times, differ): (Line, usize, bool)| {
        let by = if line.by_maker { "maker" } else { "made" };
        let says = if differ { "…".to_string() } else { line.says };
        vec![by.into(), line.name, times.to_string(), says, line.error.unwrap_or_default()]
    };
    rows.into_iter().map(row).collect()
}

/// Whether two calls share a row. Those that make a task never do.
fn is_same(a: &Line, b: &Line) -> bool {
    a.by_maker == b.by_maker && a.name == b.name && a.error == b.error
}

/// Every flag of sharing and identity, set or not, and of the others those that are set.
pub(super) fn flags(cloned: &Cloned) -> Vec<Vec<String>> {
    /// The first of [`FLAGS`]: the five that make a thread.
    const ALWAYS: usize = 5;
    let shown = FLAGS.iter().enumerate().filter(|(index, flag)| {
        *index < ALWAYS || flag.name == "CLONE_VFORK" || cloned.has(flag.name)
    });
    let yes = |set: bool| if set { "yes" } else { "no" }.to_string();
    let mut rows: Vec<Vec<String>> = shown
        .map(|(_, flag)| vec![flag.name.into(), yes(cloned.has(flag.name)), flag.means.into()])
        .collect();
    let signal = match cloned.exit_signal {
        0 => "none".into(),
        signal => sys::calls::signal_name(signal).into_owned(),
    };
    rows.push(vec!["exit signal".into(), signal, "what its parent gets when it has ended".into()]);
    rows
}
