//! Whatever stands in /proc, in /sys or in another program's memory: no parser panics on it or
//! takes more room than the text, and what is read is what a text can mean.

use crate::affinity::{format_list, parse_list};
use crate::calls::{CLONE_ARGS_BYTES, Call, Cloned, Reader};
use crate::proc::*;
use crate::{block, cgroup, machine, netstat, pages, topology, wait_signal};
use damage::damaged;
use proptest::prelude::*;

#[path = "../../model/tests/damage/mod.rs"]
pub(crate) mod damage;

#[path = "../../model/tests/scale/mod.rs"]
pub(crate) mod scale;

/// Texts that the parsers of this room read in earnest.
const TEXTS: [&str; 16] = [
    "0,2-4,7\n",
    "77 (a) R (b) c) S 12 34 56 0 -1 0 1 2 3 4 500 60 7 8 20 0 1 0 9000 1 2\n",
    "77 )a( R 12 34 56 0 -1 0 1 2 3 4 500 60 7 8 20 0 1 0 9000 1 2\n",
    "10 20 30\n",
    "cpu  10 2 5 900 40 1 2 7 3 0\ncpu0 1\nctxt 77\n",
    "some avg10=0.01 avg60=0.22 total=9555\nfull total=1\n",
    "MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable: 2 kB\nCached: 3 kB\nDirty: 4 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    "00400000-00600000 r-xp 0 08:02 17 /bin/a\nRss: 4 kB\nPss: 2 kB\nPrivate_Dirty: 4 kB\nAnonHugePages: 2 kB\n",
    "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
    "Name:\ta\nVmRSS:\t 12 kB\nThreads:\t3\nSigQ:\t1/2\nSigBlk:\t00000000000000ff\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t5\n",
    "24 30 0:22 / /sys/fs/cgroup\\040x rw shared:9 - cgroup2 cgroup2 rw\n25 30 0:23 /a /m rw - cgroup cgroup rw,memory,cpu\n",
    "4:memory,cpu:/some/group\n0::/other\n",
    "nr_periods 12\nnr_throttled 3\nthrottled_time 41000123\nthrottled_usec 77\n",
    "processor\t: 0\nmodel name\t: Some CPU\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
    "TcpExt: ListenOverflows ListenDrops TCPSynRetrans\nTcpExt: 1 2 3\nTcp: RetransSegs\nTcp: 4\n",
    "178420 24630 12246602 110713 260018 366519 20416578 1 0 2 3 0 0\nalways [madvise] never\n48K\n",
];

/// More of them, which are read field by field or word by word.
const SMALL_TEXTS: [&str; 9] = [
    "0.14 0.22 0.25 1/123 4567\n",
    "12 34 56 78 \n",
    "ctxt 77\nbtime 12\nprocesses 9\nintr 1 2 3\n",
    "nr_free_pages 1\noom_kill 3\npgfault 12\n",
    "low 0\nhigh 0\nmax 5\noom 1\noom_kill 2\n",
    "usage_usec 12\nuser_usec 5\nsystem_usec 7\n",
    "se.exec_start   :   17.5\nse.nr_migrations   :   3\nnr_switches  : 9\n",
    "flags\t\t: fpu vme hypervisor lm\nFeatures\t: fp asimd\nKVMKVMKVM\0\0\0QEMU Standard PC\n",
    "futex_wait_queue",
];

/// Fields that are asked for by name, in whatever text.
const FIELDS: [&str; 8] =
    ["ctxt", "oom_kill", "usage_usec", "se.nr_migrations", "MemTotal", "flags", "Tgid", ""];

/// The most room that a parser may take beside its text: for a set of all CPUs that may be named.
const ROOM_BYTES: usize = 2 << 20;

/// The most room for each byte of the text: for a reference to each of its words, in a vector that
/// grew by doubling.
const ROOM_PER_BYTE: usize = 64;

/// Every parser of text, and what it took of memory.
fn survive_and_stay_small(text: &str) {
    let held = crate::testing::most_held(|| {
        read_by_all(text);
        read_by_the_small_ones(text);
    });
    let most = ROOM_BYTES + ROOM_PER_BYTE * text.len();
    assert!(held <= most, "{held} bytes for a text of {}", text.len());
}

/// The parsers of single fields, words and names.
fn read_by_the_small_ones(text: &str) {
    for key in FIELDS {
        let _ = (crate::text::field(text, key), crate::text::kib_field(text, key));
        let _ = topology::cpuinfo_value(text, key);
    }
    if let Some(load) = parse_load(text) {
        assert!(load.is_finite() && load >= 0.0, "{load}");
    }
    assert!(crate::process::parse_pids(text).all(|pid| pid > 0), "a group is no process");
    let _ = parse_machine_stat(text, 10_000_000);
    let _ = (topology::known_product(text), wait_signal::names_a_function(text.as_bytes()));
    if let Some(name) = topology::vendor_name(text.as_bytes()) {
        assert!(!name.is_empty() && name.len() <= text.len() + 16, "{name}");
        assert!(!name.contains(char::is_control));
    }
    let _ = crate::stdio::parse_record(text.as_bytes());
}

/// Every parser of text, one after the other.
fn read_by_all(text: &str) {
    let _ = (parse_schedstat(text), parse_io(text), parse_pressure(text), parse_meminfo(text));
    let _ = (parse_memory(text), pages::huge_bytes_between(text, 0, u64::MAX));
    let _ = (block::parse_written_bytes(text), wait_signal::parse_masks(text));
    let _ = (machine::chosen(text), cgroup::parse_throttled_ns(text));
    let _ = netstat::parse(text, text);
    if let Some(size) = topology::parse_size(text) {
        assert!(text.contains(|c: char| c.is_ascii_digit()), "{size}");
    }
    if let Some(name) = topology::parse_model_name(text) {
        assert!(!name.is_empty() && name.len() <= text.len() + 64);
    }
    if let Some(stat) = parse_stat(text) {
        assert!(text.contains(&format!("({})", stat.name)));
    }
    if let Some(status) = parse_status(text) {
        assert!(is_ascending(&status.cpus_allowed));
    }
}

fn is_ascending(cpus: &[u32]) -> bool {
    !cpus.is_empty() && cpus.windows(2).all(|pair| pair[0] < pair[1])
}

/// Memory in which every text is as long as is asked for.
struct Endless;

impl Reader for Endless {
    fn text(&self, address: u64, limit: usize) -> Option<String> {
        (!address.is_multiple_of(3)).then(|| "é".repeat(limit / 2))
    }
}

pub(crate) fn texts() -> Vec<Vec<u8>> {
    TEXTS.iter().chain(&SMALL_TEXTS).map(|text| text.as_bytes().to_vec()).collect()
}

proptest! {
    #![proptest_config(scale::at_scale(512))]

    #[test]
    fn damaged_texts_are_survived_by_every_parser(bytes in damaged(texts())) {
        survive_and_stay_small(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_is_survived_by_every_parser(text in any::<String>()) {
        survive_and_stay_small(&text);
    }

    #[test]
    fn long_texts_take_no_more_room_than_they_are_long(
        bytes in damaged(texts()),
        times in 1_usize..2000,
    ) {
        survive_and_stay_small(&String::from_utf8_lossy(&bytes).repeat(times));
    }

    #[test]
    fn any_entry_of_pagemap_is_a_page_or_none(entry in any::<u64>()) {
        let backing = crate::pagemap::parse(entry);
        prop_assert_eq!(backing.is_some(), entry >> 63 == 1);
    }

    #[test]
    fn a_list_that_is_read_is_written_and_read_again(bytes in damaged(vec![b"0,2-4,7-65535".to_vec()])) {
        match parse_list(&String::from_utf8_lossy(&bytes)) {
            Ok(cpus) => {
                prop_assert!(is_ascending(&cpus));
                prop_assert!(cpus.iter().all(|cpu| *cpu <= 65_535));
                prop_assert_eq!(parse_list(&format_list(&cpus)), Ok(cpus));
            }
            Err(why) => prop_assert!(!why.is_empty()),
        }
    }

    #[test]
    fn any_call_has_a_name_and_a_short_description(
        number in prop_oneof![0_u64..600, any::<u64>()],
        arguments in any::<[u64; 6]>(),
        is_native in any::<bool>(),
    ) {
        let call = Call { number, arguments, is_native };
        prop_assert!(!call.name().is_empty());
        let cloned = Cloned::by_clone(arguments[0]);
        for cloned in [None, Some(&cloned)] {
            prop_assert!(call.describe(cloned, &Endless).len() < 1000);
        }
    }

    #[test]
    fn any_flags_are_told_apart_and_lose_no_bit(bytes in any::<[u8; CLONE_ARGS_BYTES]>()) {
        let cloned = Cloned::by_clone3(&bytes);
        let named = cloned.names().iter().fold(0, |flags, name| {
            let flag = crate::calls::FLAGS.iter().find(|flag| flag.name == name);
            flags | flag.map_or_else(
                || u64::from_str_radix(name.trim_start_matches("0x"), 16).unwrap(),
                |flag| flag.bit,
            )
        });
        prop_assert_eq!(named, cloned.flags);
        prop_assert_eq!(cloned.is_thread(), cloned.flags & libc::CLONE_THREAD as u64 != 0);
    }
}

#[test]
fn ranges_that_overlap_take_no_more_room_than_one() {
    // One number for each CPU of each range would be 2.6 GB.
    let list = vec!["0-65535"; 10_000].join(",");
    let mut cpus = Ok(Vec::new());
    let held = crate::testing::most_held(|| cpus = parse_list(&list));
    assert_eq!(cpus.map(|cpus| cpus.len()), Ok(65_536));
    assert!(held <= ROOM_BYTES, "{held}");
    for list in ["0-4294967295", "4294967295", "0-18446744073709551615", "0-65536"] {
        assert!(parse_list(list).unwrap_err().contains("too large"), "{list}");
    }
}
