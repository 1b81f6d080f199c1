//! Which CPUs a thread may use.

use crate::error::last_errno;
use crate::task::Pid;
use crate::{Error, Result};

/// Highest CPU number that is understood, far above any kernel's NR_CPUS.
const HIGHEST_CPU: u32 = 65_535;

/// Bits in one word of the kernel's mask.
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// Words of a mask that holds every CPU that is understood. The kernel refuses to tell a mask that is
/// shorter than its own, and tells no length.
const WORDS: usize = HIGHEST_CPU as usize / WORD_BITS + 1;

/// Returns room for a mask, for [`set_and_verify`].
pub(crate) fn room() -> Vec<libc::c_ulong> {
    vec![0; WORDS]
}

/// The CPUs the calling thread may use, in ascending order.
///
/// # Errors
/// Whatever `sched_getaffinity` says.
pub fn allowed() -> Result<Vec<u32>> {
    let mut room = room();
    ask(0, &mut room).map_err(|errno| Error::new("sched_getaffinity(this thread)", errno))?;
    Ok(cpus_of(&room))
}

/// Returns the CPUs that another thread may use; `None` where it is gone.
pub fn allowed_of(tid: Pid) -> Option<Vec<u32>> {
    let mut room = room();
    ask(tid, &mut room).ok()?;
    Some(cpus_of(&room))
}

/// Binds the calling thread to `cpus`, and reads back that the kernel kept all
/// of them (it silently drops CPUs that are offline or outside the cpuset). New
/// threads and children inherit the binding.
///
/// # Errors
/// `EINVAL` where the list is empty, or where a CPU of it does not exist or may
/// not be used; the earlier binding is then kept.
pub fn pin(cpus: &[u32]) -> Result<()> {
    let call = || {
        let what = if cpus.len() == 1 { "CPU" } else { "CPUs" };
        format!("sched_setaffinity({what} {})", format_list(cpus))
    };
    if cpus.is_empty() {
        return Err(Error::new("sched_setaffinity(an empty list of CPUs)", libc::EINVAL));
    }
    let before = allowed()?;
    let mut wanted = cpus.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut room = room();
    set_and_verify(&wanted, &mut room).or_else(|errno| {
        bind(&before, &mut room)
            .map_err(|errno| Error::new("sched_setaffinity(the earlier CPUs)", errno))?;
        Err(Error::new(call(), errno))
    })
}

/// As [`pin`], for a process that may not allocate, of CPUs of which none is named twice; `room` is
/// what [`room`] returns.
///
/// # Errors
/// The kernel's error number; `EINVAL` where it kept another mask than asked for.
pub(crate) fn set_and_verify(
    cpus: &[u32],
    room: &mut [libc::c_ulong],
) -> std::result::Result<(), i32> {
    bind(cpus, room)?;
    ask(0, room)?;
    let is_set = |cpu: u32| room[cpu as usize / WORD_BITS] >> (cpu as usize % WORD_BITS) & 1 == 1;
    let count: u32 = room.iter().map(|word| word.count_ones()).sum();
    let all = cpus.iter().all(|cpu| is_set(*cpu));
    if all && count as usize == cpus.len() { Ok(()) } else { Err(libc::EINVAL) }
}

/// Asks the kernel to bind the calling thread, without a look at what it kept.
fn bind(cpus: &[u32], room: &mut [libc::c_ulong]) -> std::result::Result<(), i32> {
    room.fill(0);
    for cpu in cpus {
        let word = room.get_mut(*cpu as usize / WORD_BITS).ok_or(libc::EINVAL)?;
        *word |= 1 << (*cpu as usize % WORD_BITS);
    }
    // SAFETY: the pointer and the size in bytes describe `room`, which the kernel only reads. libc's
    // fixed `cpu_set_t` is only the declared type: a machine may have more CPUs than it holds.
    let set = unsafe { libc::sched_setaffinity(0, size_of_val(room), room.as_ptr().cast()) };
    if set == -1 { Err(last_errno()) } else { Ok(()) }
}

/// Asks the kernel for the mask of a thread; 0 is the calling one.
fn ask(tid: Pid, room: &mut [libc::c_ulong]) -> std::result::Result<(), i32> {
    room.fill(0);
    // SAFETY: as above; the kernel writes at most that many bytes.
    let got = unsafe { libc::sched_getaffinity(tid, size_of_val(room), room.as_mut_ptr().cast()) };
    if got == -1 { Err(last_errno()) } else { Ok(()) }
}

/// The CPU the calling thread is on at this moment.
pub fn current_cpu() -> u32 {
    // SAFETY: takes no argument and touches no memory of ours. It fails only
    // on kernels without getcpu (before 2.6.19), where -1 becomes CPU 0.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).unwrap_or(0)
}

/// The numbers of the bits that are set.
fn cpus_of(mask: &[libc::c_ulong]) -> Vec<u32> {
    let words = mask.iter().enumerate().filter(|(_, word)| **word != 0);
    words
        .flat_map(|(at, word)| {
            (0..WORD_BITS)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| at * WORD_BITS + bit)
        })
        .filter_map(|cpu| u32::try_from(cpu).ok())
        .collect()
}

/// Reads a list of CPUs as `taskset -c` and /sys write it: `0,2-4`. The answer
/// is ascending and names no CPU twice.
///
/// # Errors
/// A sentence that says what is wrong and what would be right.
pub fn parse_list(text: &str) -> std::result::Result<Vec<u32>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the list of CPUs is empty; write for example 0,2-4".to_string());
    }
    // Ranges, not their CPUs: many that overlap take no more room or time than one.
    let mut ranges = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (parse_cpu(first, part)?, parse_cpu(last, part)?),
            None => {
                let cpu = parse_cpu(part, part)?;
                (cpu, cpu)
            }
        };
        if first > last {
            return Err(format!("the range of CPUs '{part}' runs backwards; write {last}-{first}"));
        }
        ranges.push((first, last));
    }
    ranges.sort_unstable();
    let mut cpus = Vec::new();
    let mut next = 0;
    for (first, last) in ranges {
        cpus.extend(first.max(next)..=last);
        next = next.max(last + 1);
    }
    Ok(cpus)
}

/// One CPU number of a list.
fn parse_cpu(text: &str, part: &str) -> std::result::Result<u32, String> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(format!(
            "'{part}' is neither a CPU nor a range of CPUs; write for example 3 or 2-4"
        ));
    }
    match text.parse() {
        Ok(cpu) if cpu <= HIGHEST_CPU => Ok(cpu),
        _ => Err(format!(
            "CPU {text} is too large a number; the highest understood is {HIGHEST_CPU}"
        )),
    }
}

/// Writes a list of CPUs in the form [`parse_list`] reads, with ranges.
pub fn format_list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts: Vec<String> = Vec::new();
    for range in sorted.chunk_by(|before, after| after - before == 1) {
        match range {
            [only] => parts.push(only.to_string()),
            [first, second] => parts.extend([first.to_string(), second.to_string()]),
            [first, .., last] => parts.push(format!("{first}-{last}")),
            [] => {}
        }
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        assert_eq!(parse_list("0,2-4"), Ok(vec![0, 2, 3, 4]));
        assert_eq!(parse_list(" 3 , 1-2,2 \n"), Ok(vec![1, 2, 3]));
        assert_eq!(format_list(&[4, 0, 2, 3, 3]), "0,2-4");
        assert_eq!(format_list(&[0, 1]), "0,1");
        assert_eq!(format_list(&[]), "");
        for text in ["0", "0,1", "0-7", "1,3,5-9,65535"] {
            assert_eq!(format_list(&parse_list(text).unwrap()), text);
        }
    }

    #[test]
    fn wrong_lists_are_named() {
        for (text, part) in [
            ("", "empty"),
            ("0,", "''"),
            ("a", "'a'"),
            ("-1", "'-1'"),
            ("4-2", "write 2-4"),
            ("1-2-3", "'1-2-3'"),
            ("65536", "too large"),
            ("99999999999", "too large"),
            ("+1", "'+1'"),
        ] {
            let message = parse_list(text).unwrap_err();
            assert!(message.contains(part), "{text:?}: {message}");
        }
    }

    #[test]
    fn a_pinned_thread_is_on_its_cpu_and_its_children_inherit_it() {
        for cpu in allowed().unwrap() {
            std::thread::spawn(move || {
                pin(&[cpu]).unwrap();
                assert_eq!(allowed().unwrap(), vec![cpu]);
                assert_eq!(current_cpu(), cpu);
                let inner = std::thread::spawn(current_cpu);
                assert_eq!(inner.join().unwrap(), cpu);
            })
            .join()
            .unwrap();
        }
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused_and_nothing_changes() {
        let before = allowed().unwrap();
        let error = pin(&[60_000]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sched_setaffinity(CPU 60000): Invalid argument (os error 22)"
        );
        // The kernel alone would accept this list and drop the second CPU.
        let error = pin(&[before[0], 60_000]).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EINVAL));
        assert_eq!(pin(&[]).unwrap_err().errno(), Some(libc::EINVAL));
        assert_eq!(pin(&[u32::MAX]).unwrap_err().errno(), Some(libc::EINVAL));
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn the_bits_of_a_mask_are_cpus() {
        assert_eq!(cpus_of(&[0b101, 1]), vec![0, 2, WORD_BITS as u32]);
        assert_eq!(cpus_of(&[]), Vec::<u32>::new());
    }
}
