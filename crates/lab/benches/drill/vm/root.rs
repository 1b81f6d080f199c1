//! The guest's file system: busybox, scruple, what both are linked to, and the first process, as one
//! archive in memory (cpio's "newc", Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const INIT: &str = include_str!("guest.sh");

/// An ordinary user beside root.
const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nsomebody:x:1000:1000:somebody:/tmp:/bin/sh\n";

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// The archive.
pub(crate) fn archive(busybox: &Path, scruple: &Path) -> Result<Vec<u8>, String> {
    let mut files = vec![
        ("init".to_string(), INIT.as_bytes().to_vec()),
        ("etc/passwd".into(), USERS.into()),
        ("etc/group".into(), "root:x:0:\nsomebody:x:1000:\n".into()),
    ];
    let mut from: BTreeSet<(String, PathBuf)> = BTreeSet::new();
    for (name, program) in [("bin/busybox", busybox), ("bin/scruple", scruple)] {
        from.insert((name.into(), program.to_path_buf()));
        for library in libraries(program) {
            from.insert((library.trim_start_matches('/').to_string(), library.into()));
        }
    }
    for (name, path) in from {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        files.push((name, bytes));
    }
    let mut folders: BTreeSet<String> =
        ["dev", "proc", "sys", "tmp", "root", "run"].map(String::from).into();
    for (name, _) in &files {
        let above = Path::new(name).ancestors().skip(1);
        folders.extend(above.filter_map(Path::to_str).filter(|it| !it.is_empty()).map(Into::into));
    }
    let mut bytes = Vec::new();
    // Shorter first: a folder before what is in it.
    folders.iter().for_each(|name| entry(&mut bytes, name, FOLDER, &[]));
    files.iter().for_each(|(name, content)| entry(&mut bytes, name, PROGRAM, content));
    entry(&mut bytes, "TRAILER!!!", 0, &[]);
    Ok(bytes)
}

/// The files that a program is linked to, its loader too; none for a static one.
fn libraries(program: &Path) -> Vec<String> {
    let Ok(output) = Command::new("ldd").arg(program).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = |line: &str| {
        let line = line.split("=>").last()?.trim();
        let path = line.split(' ').next()?;
        path.starts_with('/').then(|| path.to_string())
    };
    text.lines().filter_map(path).collect()
}

fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, content: &[u8]) {
    let (size, name_size) = (content.len(), name.len() + 1);
    let number = archive.len();
    // Number, mode, owner (2), links, time, size, device (4), length of the name, checksum.
    let fields = [number, mode as usize, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
    archive.extend(b"070701");
    fields.iter().for_each(|field| archive.extend(format!("{field:08x}").bytes()));
    archive.extend(name.bytes().chain([0]));
    pad(archive);
    archive.extend(content);
    pad(archive);
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

/// A program that may be executed, on the path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let executable = |file: &PathBuf| {
        file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(executable)
}
