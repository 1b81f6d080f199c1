//! Files mapped into memory.

use super::{Advice, Pages, Region, page_bytes, resident_bytes_at};
use crate::{Error, Result};
use std::fs::File;

/// Who sees what is written to a mapped file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// `MAP_SHARED`, to be read only: the pages are those of the page cache.
    Shared,
    /// `MAP_PRIVATE`, readable and writable: a page that is written is copied
    /// first, and the file stays as it is.
    Private,
}

/// A whole file mapped into memory. It is given out page by page alone, since
/// what lies behind it may change: a file that shrinks meanwhile ends the
/// process that touches what is gone (`SIGBUS`).
#[derive(Debug)]
pub struct FileMapping {
    region: Region,
    share: Share,
}

impl FileMapping {
    /// Maps the file from its first byte to its last, and touches nothing.
    ///
    /// # Errors
    /// `EINVAL` for an empty file; `EACCES` where it was not opened to be read;
    /// `ENODEV` on a file system that cannot; `ENOMEM`.
    pub fn new(file: &File, share: Share) -> Result<Self> {
        let length = file.metadata().map_err(|error| Error::io("fstat", &error))?.len();
        let bytes =
            usize::try_from(length).map_err(|_| Error::new("mmap(file)", libc::EOVERFLOW))?;
        let (protection, flags) = match share {
            Share::Shared => (libc::PROT_READ, libc::MAP_SHARED),
            Share::Private => (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE),
        };
        Ok(Self { region: Region::map_of(bytes, protection, flags, Some(file))?, share })
    }

    /// How much of the file is in the page cache, in bytes, in whole pages
    /// (`mincore`). See [`crate::files::cached_bytes`] for whom it is true.
    ///
    /// # Errors
    /// `EAGAIN` where the kernel is out of resources.
    pub fn resident_bytes(&self) -> Result<u64> {
        resident_bytes_at(self.region.start.as_ptr(), self.region.bytes)
    }

    /// Tells the kernel what accesses will come.
    ///
    /// # Errors
    /// `Unsupported` for populating before Linux 5.14; `EFAULT` or `EIO` where
    /// populating meets a page that cannot be read.
    pub fn expect(&mut self, advice: Advice) -> Result<()> {
        advice.give(self.region.start.as_ptr(), self.region.bytes)
    }

    /// The pages, to be touched one by one; only those of [`Share::Private`]
    /// may be written.
    pub fn pages(&mut self) -> Pages<'_> {
        let count = self.region.bytes / page_bytes();
        let writable = self.share == Share::Private;
        // SAFETY: the range is mapped and readable, and writable as passed on, for
        // as long as `self` is borrowed, and begins at a page. Others may write
        // to the file: the view promises nothing of the content.
        unsafe { Pages::new(self.region.start.as_ptr(), count, page_bytes(), writable) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::usage::Usage;
    use std::os::unix::fs::FileExt;

    fn file_of(pages: u8) -> (tempfile::TempDir, File) {
        let folder = tempfile::tempdir().unwrap();
        let file = files::open(&folder.path().join("data"), files::Sync::None).unwrap();
        for page in 0..pages {
            file.write_all_at(&vec![page + 1; page_bytes()], u64::from(page) * page_bytes() as u64)
                .unwrap();
        }
        (folder, file)
    }

    #[test]
    fn a_file_is_read_through_its_mapping() {
        let (_folder, file) = file_of(4);
        let mut mapping = FileMapping::new(&file, Share::Shared).unwrap();
        assert_eq!(mapping.pages().read_each(&[0, 1, 2, 3]), 1 + 2 + 3 + 4);
        assert_eq!(mapping.pages().read_each(&[3, 3]), 8);
    }

    #[test]
    fn what_is_written_privately_stays_private() {
        let (_folder, file) = file_of(4);
        let mut mapping = FileMapping::new(&file, Share::Private).unwrap();
        let before = Usage::of_thread();
        mapping.pages().write_each(&[0, 1, 2, 3], 9);
        assert!(Usage::of_thread().since(before).minor_faults >= 4);
        assert_eq!(mapping.pages().read_each(&[0, 1, 2, 3]), 36);
        let mut again = FileMapping::new(&file, Share::Shared).unwrap();
        assert_eq!(again.pages().read_each(&[0, 1, 2, 3]), 10);
    }

    #[test]
    #[should_panic(expected = "read only")]
    fn a_shared_mapping_is_not_written() {
        let (_folder, file) = file_of(1);
        FileMapping::new(&file, Share::Shared).unwrap().pages().write_each(&[0], 1);
    }

    #[test]
    fn a_populated_mapping_does_not_fault() {
        let (_folder, file) = file_of(32);
        let mut mapping = FileMapping::new(&file, Share::Private).unwrap();
        match mapping.expect(Advice::PopulateWrite) {
            Err(error) if error.is_unsupported() => println!("skipped: {error}"),
            populated => {
                populated.unwrap();
                let all: Vec<u32> = (0..32).collect();
                let mut pages = mapping.pages();
                let before = Usage::of_thread();
                pages.write_each(&all, 1);
                let faults = Usage::of_thread().since(before);
                assert_eq!((faults.minor_faults, faults.major_faults), (0, 0));
            }
        }
    }

    #[test]
    fn all_other_advice_leaves_the_content() {
        let (_folder, file) = file_of(4);
        let mut mapping = FileMapping::new(&file, Share::Shared).unwrap();
        for advice in [Advice::Random, Advice::Sequential, Advice::WillNeed] {
            mapping.expect(advice).unwrap();
            assert_eq!(mapping.pages().read_each(&[0, 1, 2, 3]), 10);
        }
    }

    #[test]
    fn an_empty_file_cannot_be_mapped() {
        let (_folder, file) = file_of(0);
        let error = FileMapping::new(&file, Share::Shared).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EINVAL));
    }
}
