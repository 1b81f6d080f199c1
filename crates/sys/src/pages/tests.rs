use super::*;
use crate::testing::in_child;
use std::sync::atomic::Ordering;

#[test]
fn memory_is_zero_until_it_is_touched() {
    let page = page_bytes();
    let mut mapping = Mapping::new(10 * page - 1, Huge::Never).unwrap();
    assert_eq!(mapping.bytes(), 10 * page);
    assert_eq!(mapping.resident_bytes(), Ok(0));
    mapping.touch(2 * page);
    assert_eq!(mapping.resident_bytes(), Ok(5 * page as u64));
    assert_eq!(mapping.as_slice().iter().filter(|byte| **byte == 1).count(), 5);
    mapping.as_mut_words()[1] = 7;
    assert_eq!(mapping.as_slice()[8..16], 7_u64.to_ne_bytes());
    mapping.discard().unwrap();
    assert_eq!(mapping.resident_bytes(), Ok(0));
    assert!(mapping.as_slice().iter().all(|byte| *byte == 0));
}

#[test]
fn a_stride_of_zero_touches_every_byte() {
    let mut mapping = Mapping::new(page_bytes(), Huge::Never).unwrap();
    mapping.touch(0);
    assert!(mapping.as_slice().iter().all(|byte| *byte == 1));
}

#[test]
fn sizes_that_cannot_be_are_errors() {
    assert_eq!(Mapping::new(0, Huge::Default).unwrap_err().errno(), Some(libc::EINVAL));
    for bytes in [usize::MAX, usize::MAX - page_bytes(), usize::MAX / 2] {
        let error = Mapping::new(bytes, Huge::Default).unwrap_err();
        assert!(error.to_string().starts_with("mmap("), "{error}");
    }
    assert!(shared(0).is_err());
    assert!(map_many(usize::MAX).is_err());
}

#[test]
fn huge_pages_are_huge_where_they_are_allowed() {
    let Some(huge_page) = huge_page_bytes() else {
        println!("skipped: this kernel has no transparent huge pages");
        return;
    };
    let enabled = text::value("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let bytes = 4 * huge_page;
    let mut ordinary = Mapping::new(bytes, Huge::Never).unwrap();
    ordinary.touch(page_bytes());
    assert_eq!(ordinary.huge_bytes(), Ok(0));
    assert_eq!(ordinary.address() % huge_page, 0);
    if enabled.contains("[never]") {
        println!("skipped: transparent huge pages are switched off");
        return;
    }
    let mut huge = Mapping::new(bytes, Huge::Always).unwrap();
    assert_eq!(huge.huge_bytes(), Ok(0));
    huge.touch(page_bytes());
    match huge.huge_bytes().unwrap() {
        0 => println!("skipped: the kernel had no huge page to give"),
        got => assert!(got <= bytes as u64 && got % huge_page as u64 == 0, "{got}"),
    }
}

#[test]
fn a_child_writes_what_its_parent_reads() {
    let shared = shared(20).unwrap();
    assert_eq!(shared.words().len(), 3);
    assert!(shared.words().iter().all(|word| word.load(Ordering::Acquire) == 0));
    in_child(|| shared.words()[2].store(4711, Ordering::Release));
    assert_eq!(shared.words()[2].load(Ordering::Acquire), 4711);
}

#[test]
fn private_memory_is_not_shared_with_a_child() {
    let mut mapping = Mapping::new(page_bytes(), Huge::Never).unwrap();
    mapping.touch(page_bytes());
    in_child(|| {
        assert_eq!(mapping.as_slice()[0], 1);
        mapping.as_mut_slice()[0] = 9;
    });
    assert_eq!(mapping.as_slice()[0], 1);
}

#[test]
fn neighbouring_mappings_do_not_merge() {
    in_child(|| {
        let before = mapping_count().unwrap();
        let many = map_many(1000).unwrap();

        let gained = mapping_count().unwrap() - before;
        // The first page may have merged with a neighbour of ours.
        assert!((999..=1001).contains(&gained), "{gained}");
        drop(many);
        assert!(mapping_count().unwrap() <= before + 1);
    });
}

#[test]
fn a_guard_page_stops_who_writes_too_far() {
    let mapping = Mapping::new(page_bytes(), Huge::Never).unwrap();
    let beyond = mapping.address() + mapping.bytes();
    let child = crate::task::fork_run(|| {
        // SAFETY: it is no memory to write to; the child is meant to die.
        unsafe { std::ptr::without_provenance_mut::<u8>(beyond).write_volatile(1) };
        0
    })
    .unwrap();
    assert_eq!(crate::task::wait(child).unwrap().signal, Some(libc::SIGSEGV));
}

#[test]
fn smaps_are_summed_over_the_range_alone() {
    let smaps = "1000-3000 rw-p 00000000 00:00 0 \nRss: 8 kB\nAnonHugePages: 4 kB\nVmFlags: rd wr\n\
                 3000-5000 rw-p 00000000 00:00 0 [heap: a-b]\nAnonHugePages: 2048 kB\n\
                 5000-6000 rw-p 00000000 00:00 0\nAnonHugePages: 8 kB\n";
    assert_eq!(huge_bytes_between(smaps, 0x3000, 0x5000), 2048 * 1024);
    assert_eq!(huge_bytes_between(smaps, 0x2fff, 0x5001), (4 + 2048 + 8) * 1024);
    assert_eq!(huge_bytes_between(smaps, 0x9000, 0xa000), 0);
    for hostile in
        ["", "-", "zz-yy", "1-2\nAnonHugePages:", "1-2\nAnonHugePages: 99999999999999999999 kB"]
    {
        assert_eq!(huge_bytes_between(hostile, 0, u64::MAX), 0);
    }
}
