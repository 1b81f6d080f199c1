//! What a method of measuring shows as the memory of some processes.

use crate::support::program;
use kit::{Result, Stop};
use std::process::{Command, Stdio};
use sys::task::Pid;

/// How memory is measured: by the kernel's own numbers, or by the text of `top`, added up as
/// scripts do. Here the habit itself is under study.
pub(super) const BY_TEXT: [(&str, bool); 2] = [("kernel", false), ("top_text", true)];

/// The most processes that `top -p` takes.
const TOP_PIDS_MAX: usize = 20;

/// The processes' memory by the text of `top`, in KiB as its reader believes.
pub(super) fn by_top(pids: &[Pid]) -> Result<f64> {
    kit::ensure!(
        pids.len() <= TOP_PIDS_MAX,
        "top shows {TOP_PIDS_MAX} processes, not {}",
        pids.len()
    );
    let list = pids.iter().map(Pid::to_string).collect::<Vec<_>>().join(",");
    let output = Command::new(program::top()?)
        .args(["-b", "-n", "1", "-p", &list])
        .env_clear()
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Stop::unsupported(format!("top did not do it: {}", said.trim())));
    }
    sum_of_res(&String::from_utf8_lossy(&output.stdout), pids)
        .ok_or_else(|| Stop::unsupported("top's text has no column RES, or not all the processes"))
}

/// Sums the column RES over the rows of some processes, reading each number as awk does; `None`
/// where the column or one of the processes is missing.
fn sum_of_res(text: &str, pids: &[Pid]) -> Option<f64> {
    let mut lines = text.lines();
    let column = lines.find_map(|line| line.split_whitespace().position(|word| word == "RES"))?;
    let mut found = 0;
    let mut sum_kib = 0.0;
    for line in lines {
        let mut words = line.split_whitespace();
        let pid = words.next().and_then(|word| word.parse::<Pid>().ok());
        if pid.is_some_and(|pid| pids.contains(&pid)) {
            sum_kib += awk_number(words.nth(column.checked_sub(1)?)?);
            found += 1;
        }
    }
    (found == pids.len()).then_some(sum_kib)
}

/// The number that awk sees in a text: its longest beginning that is a decimal number, else 0
/// (POSIX awk, "Expressions in awk": the conversion is that of `strtod`).
fn awk_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !"0123456789+-.eE".contains(c)).unwrap_or(text.len());
    (0..=end).rev().find_map(|end| text[..end].parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{awk_number, sum_of_res};

    const FRAME: &str = "\
top - 13:53:54 up 45 min,  0 user,  load average: 1.35, 0.84, 0.44
Tasks:   3 total,   0 running,   3 sleeping,   0 stopped,   0 zombie
MiB Mem :  24105.6 total,  20768.5 free,    610.5 used,   3030.9 buff/cache

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
     11 root      20   0  901234 902780   2948 S   0.0   0.0   0:00.06 crew
     12 root      20   0  1.2g   1.1g   2948 S   0.0   0.0   0:00.06 crew
    111 root      20   0    5344   4220   2948 S   0.0   0.0   0:00.06 bash
";

    #[test]
    fn awk_reads_the_beginning_of_a_text() {
        let cases = [
            ("902780", 902_780.0),
            ("1.1g", 1.1),
            ("  12m", 12.0),
            ("-3.5x", -3.5),
            ("+7", 7.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("2e3z", 2000.0),
            ("2e", 2.0),
            ("2e+", 2.0),
            ("1e-2", 0.01),
            ("g1", 0.0),
            ("-", 0.0),
            (".", 0.0),
            ("", 0.0),
            ("é1", 0.0),
            ("0x10", 0.0),
            ("1é", 1.0),
        ];
        for (text, number) in cases {
            assert_eq!(awk_number(text), number, "{text:?}");
        }
    }

    #[test]
    fn the_unit_is_lost_in_the_sum() {
        assert_eq!(sum_of_res(FRAME, &[11]), Some(902_780.0));
        assert_eq!(sum_of_res(FRAME, &[12]), Some(1.1));
        assert_eq!(sum_of_res(FRAME, &[11, 111]), Some(907_000.0));
    }

    #[test]
    fn a_process_that_is_missing_is_no_zero() {
        assert_eq!(sum_of_res(FRAME, &[11, 99]), None);
        assert_eq!(sum_of_res("", &[11]), None);
        assert_eq!(sum_of_res("PID RES\n", &[11]), None);
    }
}
