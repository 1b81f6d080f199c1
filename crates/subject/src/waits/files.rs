//! The files that programs are made of, each read once.

use super::Image;
use super::symbols::Symbols;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sys::proc::wait::Mapping;

/// The files that were read, by name and identity.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<(String, String, u64), Option<Rc<Symbols>>>);

impl Files {
    /// Returns the symbols of the file that a process has mapped, whose root may be another one.
    pub(super) fn symbols(&mut self, image: &Image, mapping: &Mapping) -> Option<Rc<Symbols>> {
        let (device, inode) = &mapping.identity;
        let key = (mapping.file.clone(), device.clone(), *inode);
        self.0.entry(key).or_insert_with(|| read(image, mapping)).clone()
    }
}

/// Reads the symbols of the file that a process has mapped.
fn read(image: &Image, mapping: &Mapping) -> Option<Rc<Symbols>> {
    let inside = PathBuf::from(format!("/proc/{}/root{}", image.pid, mapping.file));
    let own = [inside, PathBuf::from(&mapping.file)];
    let own = own.into_iter().filter(|path| is_mapped(path, mapping));
    // The file itself, also where its name is gone or another's, for those who may look there.
    let (start, end) = (mapping.start, mapping.end);
    let mapped = PathBuf::from(format!("/proc/{}/map_files/{start:x}-{end:x}", image.pid));
    own.chain([mapped]).find_map(|path| Symbols::read(&path)).map(Rc::new)
}

/// Reports whether the file of a name is the one that is mapped: a program that was built or installed anew since
/// has other symbols at the same addresses.
fn is_mapped(path: &Path, mapping: &Mapping) -> bool {
    let Ok(file) = path.metadata() else { return false };
    let (device, inode) = &mapping.identity;
    // File systems that lie on others (overlayfs, btrfs) show other devices here and there.
    let is_other = *device == written(file.dev()) && file.ino() != *inode;
    !is_other && !mapping.file.ends_with(" (deleted)")
}

/// Returns a device's numbers as the kernel writes them in `maps`.
fn written(device: u64) -> String {
    let major = (device >> 8 & 0xfff) | (device >> 32 & !0xfff);
    let minor = (device & 0xff) | (device >> 12 & !0xff);
    format!("{major:02x}:{minor:02x}")
}
