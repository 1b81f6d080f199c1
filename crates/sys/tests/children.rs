//! What the kernel adds to a process's account when it waits for a child. A process of its own,
//! since the account is the whole process's: other tests' threads would read and write meanwhile.
#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::process::{Command, Stdio};

/// A child's I/O, and that of its own children, is exactly what they did.
#[test]
fn a_childs_input_and_output_is_known_to_the_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let run = |script: &str| {
        let status = Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .expect("a shell");
        assert!(status.success());
    };
    let Some(_) = sys::proc::io_of_children() else {
        println!("skipped: the kernel keeps no account");
        return;
    };
    let of = |script: &str| {
        let before = sys::proc::io_of_children().expect("as before");
        run(script);
        let after = sys::proc::io_of_children().expect("as before");
        (after.rchar - before.rchar, after.wchar - before.wchar)
    };
    run("head -c 7654321 /dev/zero > $1");
    // What the shell and the linker read of themselves is the same each time.
    let (nothing_read, nothing_written) = of("cat /dev/null; cat /dev/null > /dev/null");
    assert_eq!(nothing_written, 0);
    let (read, written) = of("cat $1; cat /dev/null > /dev/null");
    // `cat` may copy by splice or by read and write: both count.
    assert_eq!((read - nothing_read, written), (7_654_321, 7_654_321));
    let (read, written) = of("cat /dev/null; (cat $1) > /dev/null");
    assert_eq!((read - nothing_read, written), (7_654_321, 7_654_321));
    let looked = sys::proc::io_of_children().expect("as before");
    assert_eq!(sys::proc::io_of_children(), Some(looked), "to look changes nothing");
}
