//! Block devices: what really went to storage (`/sys/dev/block`).

use crate::{Error, Result, text};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The unit of the block layer's counts, whatever the device's own sector is
/// (Documentation/block/stat.rst).
const SECTOR_BYTES: u64 = 512;

/// The device that holds a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// The driver's number.
    pub major: u32,
    /// The number among the driver's devices.
    pub minor: u32,
}

/// The device that holds `path`. File systems without a device of their own
/// (tmpfs, overlayfs, btrfs, NFS) have a number that names no device.
///
/// # Errors
/// What `stat` says.
pub fn device_of(path: &Path) -> Result<Device> {
    let number = std::fs::metadata(path)
        .map_err(|error| Error::io(format!("stat({})", path.display()), &error))?
        .dev();
    Ok(Device { major: libc::major(number) as u32, minor: libc::minor(number) as u32 })
}

impl Device {
    /// Bytes written to the whole device since it exists, by everybody; `None`
    /// where there is no such device, or its account cannot be read.
    pub fn written_bytes(self) -> Option<u64> {
        let folder = format!("/sys/dev/block/{}:{}", self.major, self.minor);
        parse_written_bytes(&text::read(Path::new(&folder).join("stat")).ok()?)
    }
}

/// Reads the seventh number of a device's `stat`: sectors written.
pub(crate) fn parse_written_bytes(stat: &str) -> Option<u64> {
    stat.split_whitespace().nth(6)?.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seventh_number_counts_sectors() {
        let stat = "  178420    24630 12246602   110713   260018   366519 20416578 1 0 2 3 0 0";
        assert_eq!(parse_written_bytes(stat), Some(20_416_578 * 512));
    }

    #[test]
    fn hostile_accounts_are_none() {
        for stat in [
            "",
            "1 2 3 4 5 6",
            "1 2 3 4 5 6 x",
            "1 2 3 4 5 6 -7",
            "1 2 3 4 5 6 18446744073709551615",
        ] {
            assert_eq!(parse_written_bytes(stat), None, "{stat:?}");
        }
    }

    #[test]
    fn memory_has_no_device() {
        let device = device_of(Path::new("/proc")).unwrap();
        assert_eq!(device.written_bytes(), None);
        assert_eq!(device_of(Path::new("/no/such")).unwrap_err().errno(), Some(libc::ENOENT));
    }

    #[test]
    fn what_is_forced_out_is_counted_where_there_is_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let device = device_of(folder.path()).unwrap();
        let Some(before) = device.written_bytes() else {
            println!("skipped: {} lies on no block device", folder.path().display());
            return;
        };
        let file =
            crate::files::open(&folder.path().join("data"), crate::files::Sync::None).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &[1; 1 << 16], 0).unwrap();
        crate::files::sync_data(&file).unwrap();
        assert!(device.written_bytes().unwrap() - before >= 1 << 16);
    }
}
