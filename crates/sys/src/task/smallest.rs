//! The smallest program that can be started: an ELF file of under 200 bytes, without libraries.

use crate::{Error, Result};
use rustix::fs::{Access, access};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `EM_X86_64` or `EM_AARCH64` of elf.h, and the machine code of `exit_group(0)`.
const PROGRAM: Option<(u16, &[u8])> = if cfg!(target_arch = "x86_64") {
    // xor edi, edi; mov eax, 231; syscall
    Some((62, &[0x31, 0xff, 0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05]))
} else if cfg!(target_arch = "aarch64") {
    // mov x0, #0; mov x8, #94; svc #0
    Some((183, &[0, 0, 0x80, 0xd2, 0xc8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4]))
} else {
    None
};

/// Bytes of an ELF header of 64 bits.
const HEADER_BYTES: u16 = 64;

/// Bytes of a program header of 64 bits.
const SEGMENT_BYTES: u16 = 56;

/// Where the file is mapped: a multiple of [`ALIGNMENT`], above `vm.mmap_min_addr`.
const ADDRESS: u64 = 0x40_0000;

/// The largest page of a Linux of these architectures, in bytes.
const ALIGNMENT: u64 = 0x1_0000;

/// Writes a new file: a static program that ends with code 0 in its first system call.
///
/// # Errors
/// Unsupported on other architectures than x86-64 and AArch64, and in a folder from which nothing
/// can be executed; those of `open` and `write`, such as `EEXIST` and `ENOSPC`.
pub fn write_smallest_program(path: &Path) -> Result<()> {
    let call = format!("write({})", path.display());
    let Some((machine, code)) = PROGRAM else {
        return Err(Error::unsupported(call, "its machine code needs x86-64 or AArch64"));
    };
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o700)
        .open(path)
        .and_then(|mut file| file.write_all(&elf(machine, code)))
        .map_err(|error| Error::io(call, &error))?;
    access(path, Access::EXEC_OK).map_err(|_| {
        let why = "its file system is mounted noexec: keep the session elsewhere";
        Error::unsupported(format!("access({}, X_OK)", path.display()), why)
    })
}

/// Returns an executable of one segment, which holds the headers and `code` (`Elf64_Ehdr` and
/// `Elf64_Phdr` of elf.h, in the byte order of both architectures).
fn elf(machine: u16, code: &[u8]) -> Vec<u8> {
    let headers = u64::from(HEADER_BYTES + SEGMENT_BYTES);
    let bytes = headers + code.len() as u64;
    let fields: [(u64, usize); 21] = [
        // ET_EXEC, the machine, the version of the format.
        (2, 2),
        (machine.into(), 2),
        (1, 4),
        // The first instruction; where the segments are listed; no sections; no flags.
        (ADDRESS + headers, 8),
        (HEADER_BYTES.into(), 8),
        (0, 8),
        (0, 4),
        // The sizes of both headers, one segment, no sections.
        (HEADER_BYTES.into(), 2),
        (SEGMENT_BYTES.into(), 2),
        (1, 2),
        (0, 2),
        (0, 2),
        (0, 2),
        // PT_LOAD, readable and executable: all of the file.
        (1, 4),
        (5, 4),
        (0, 8),
        (ADDRESS, 8),
        (ADDRESS, 8),
        (bytes, 8),
        (bytes, 8),
        (ALIGNMENT, 8),
    ];
    // 64 bits, little-endian, version 1.
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for (value, length) in fields {
        file.extend(&value.to_le_bytes()[..length]);
    }
    file.extend(code);
    file
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, PROGRAM, elf};
    use object::{Architecture, Object, ObjectSegment, SegmentFlags};

    #[test]
    fn the_file_is_a_small_executable_of_either_architecture() {
        for (machine, architecture) in [(62, Architecture::X86_64), (183, Architecture::Aarch64)] {
            let bytes = elf(machine, &[1, 2, 3]);
            assert!(bytes.len() < 200);
            let file = object::File::parse(bytes.as_slice()).unwrap();
            assert_eq!(file.architecture(), architecture);
            let segments: Vec<_> = file.segments().collect();
            let [segment] = segments.as_slice() else { panic!("{segments:?}") };
            let SegmentFlags::Elf { p_flags, .. } = segment.flags() else { panic!("no ELF") };
            assert_eq!(p_flags.0, 5, "readable and executable");
            assert_eq!(segment.address(), ADDRESS);
            let code = segment.data_range(file.entry(), 3).unwrap();
            assert_eq!(code, Some([1, 2, 3].as_slice()));
        }
    }

    #[test]
    fn this_architecture_has_its_machine_code() {
        let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        assert_eq!(PROGRAM.is_some(), known);
    }
}
