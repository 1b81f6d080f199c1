//! Files as a disk sees them: synchronous and direct writes, the page cache,
//! file systems.

use crate::pages::{FileMapping, Share};
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What a write waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sync {
    /// Nothing: it ends in the page cache.
    None,

    /// `O_SYNC`: data and all of the file's attributes.
    Full,
}

impl Sync {
    fn flags(self) -> libc::c_int {
        match self {
            Sync::None => 0,

            Sync::Full => libc::O_SYNC,
        }
    }
}

/// Opens a file to read and write, creating it if it does not exist. Without
/// `O_TRUNC`: ext4 writes a truncated file back when it is closed.
///
/// # Errors
/// What `open` says.
pub fn open(path: &Path, sync: Sync) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(sync.flags())
        .open(path)
        .map_err(|error| Error::io(format!("open({}, {sync:?})", path.display()), &error))
}

/// Waits until the file's data has reached the device (`fdatasync`).
///
/// # Errors
/// `EIO`, `ENOSPC`: also of earlier writes.
pub fn sync_data(file: &File) -> Result<()> {
    file.sync_data().map_err(|error| Error::io("fdatasync", &error))
}

/// Drops the file's clean pages from the page cache; dirty ones stay, so sync
/// first.
///
/// # Errors
/// `EINVAL` for what is no regular file.
pub fn drop_cache(file: &File) -> Result<()> {
    // No length means the whole file.
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(Error::of("posix_fadvise(DONTNEED)"))
}

/// How much of the file is in the page cache, in bytes, in whole pages.
///
/// # Errors
/// `ENOMEM`, or what `fstat` says. Since Linux 5.2 the answer is the truth only
/// for files that this user owns or could write; of others all pages seem
/// present.
pub fn cached_bytes(file: &File) -> Result<u64> {
    let length = file.metadata().map_err(|error| Error::io("fstat", &error))?.len();
    if length == 0 { Ok(0) } else { FileMapping::new(file, Share::Shared)?.resident_bytes() }
}

/// How much the kernel reads ahead of a fault or a read on the device of
/// `path`, in bytes (`/sys/class/bdi`); `None` where the file system keeps that
/// to itself.
///
/// # Errors
/// What `stat` says.
pub fn read_ahead_bytes(path: &Path) -> Result<Option<u64>> {
    let device = crate::block::device_of(path)?;
    let file = format!("/sys/class/bdi/{}:{}/read_ahead_kb", device.major, device.minor);
    Ok(crate::text::number(file).and_then(|kib| kib.checked_mul(1024)))
}

/// Space that this user may still fill on the file system of `path`, in bytes.
///
/// # Errors
/// What `statvfs` says.
pub fn free_bytes(path: &Path) -> Result<u64> {
    let call = format!("statvfs({})", path.display());
    let space = rustix::fs::statvfs(path).map_err(Error::of(call))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// The name of the file system that holds `path`: `ext4`, `tmpfs`… An unknown
/// one is named by its magic number. ext2, ext3 and ext4 share theirs.
///
/// # Errors
/// What `statfs` says.
pub fn filesystem(path: &Path) -> Result<String> {
    let call = format!("statfs({})", path.display());
    let raw = rustix::fs::statfs(path).map_err(Error::of(call))?;
    // The magic number has 32 bits; its C type has not everywhere.
    Ok(filesystem_name(raw.f_type as u32))
}

/// Magic numbers of linux/magic.h.
fn filesystem_name(magic: u32) -> String {
    let name = match magic {
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x0102_1994 => "tmpfs",
        0x794c_7630 => "overlayfs",
        0x6969 => "nfs",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb2",
        0x0bd0_0bd0 => "lustre",
        0x4750_4653 => "gpfs",
        0x6573_5546 => "fuse",
        0x2fc1_2fc1 => "zfs",
        0xf2f5_2010 => "f2fs",
        0x8584_58f6 => "ramfs",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        0x7371_7368 => "squashfs",
        0x4d44 => "vfat",
        0x9fa0 => "proc",
        0x6265_6572 => "sysfs",
        _ => return format!("0x{magic:x}"),
    };
    name.to_string()
}

/// Gives a pipe room for that number of bytes, so that its writer has to wait less often.
///
/// # Errors
/// `EPERM` above /proc/sys/fs/pipe-max-size, or where the user's pipes have too much room already;
/// `EBADF` for what is no pipe.
pub fn widen_pipe(pipe: BorrowedFd<'_>, bytes: usize) -> Result<()> {
    let widened = rustix::pipe::fcntl_setpipe_size(pipe, bytes);
    widened.map(|_| ()).map_err(Error::of(format!("fcntl(F_SETPIPE_SZ, {bytes})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping, page_bytes};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    #[test]
    fn written_pages_are_cached_and_can_be_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = open(&folder.path().join("data"), Sync::None).unwrap();
        assert_eq!(cached_bytes(&file), Ok(0));
        let bytes = 64 * page_bytes();
        file.write_all_at(&vec![1; bytes], 0).unwrap();
        assert_eq!(cached_bytes(&file), Ok(bytes as u64));
        sync_data(&file).unwrap();
        drop_cache(&file).unwrap();
        let name = filesystem(folder.path()).unwrap();
        let left = cached_bytes(&file).unwrap();
        if matches!(name.as_str(), "ext4" | "xfs") {
            assert!(left < bytes as u64, "{left} of {bytes} bytes are still cached on {name}");
        } else {
            println!("skipped: whether {name} drops its cache is not known");
        }
    }

    #[test]
    fn synchronous_and_direct_files_keep_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Mapping::new(page_bytes(), Huge::Never).unwrap();
        page.as_mut_slice().fill(7);
        for sync in [Sync::None, Sync::Full] {
            let path = folder.path().join(format!("{sync:?}"));
            let file = open(&path, sync).unwrap();
            // SAFETY: asks for flags only.
            let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
            assert_eq!(flags & sync.flags(), sync.flags());
            file.write_all_at(page.as_slice(), 0).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), page.as_slice());
        }
    }

    #[test]
    fn file_systems_have_names_and_space() {
        assert_eq!(filesystem(Path::new("/proc")).unwrap(), "proc");
        assert_eq!(filesystem_name(0x0102_1994), "tmpfs");
        assert_eq!(filesystem_name(0x12345), "0x12345");
        let missing = filesystem(Path::new("/no/such")).unwrap_err();
        assert_eq!(missing.to_string(), "statfs(/no/such): No such file or directory (os error 2)");
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).is_ok());
        assert!(read_ahead_bytes(folder.path()).unwrap().is_none_or(|bytes| bytes % 1024 == 0));
        assert!(read_ahead_bytes(Path::new("/no/such")).is_err());
        assert_eq!(free_bytes(Path::new("/no/such")).unwrap_err().errno(), Some(libc::ENOENT));
    }
}
