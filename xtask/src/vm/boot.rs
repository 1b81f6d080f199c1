//! A machine of the matrix: its file system in memory, QEMU, and what the guest sends back.

use super::debian::{self, Archive};
use super::list::Machine;
use crate::shell::{Run, command, remove, shown};
use crate::{machine, steps};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const INIT: &str = include_str!("guest.sh");

/// The most that a guest on a processor that is emulated may take.
const PATIENCE: Duration = Duration::from_secs(1500);

/// Where a guest's answers lie.
pub(crate) fn folder(root: &Path, machine: &Machine) -> PathBuf {
    steps::target(root).join("vm/matrix").join(machine.name)
}

/// Boots a machine and unpacks what its guest sends into its folder: what each command printed, its
/// sessions, and `host.txt`, how it was run.
///
/// # Errors
/// If something is missing; if the guest does not come to its end in time.
pub(crate) fn boot(root: &Path, machine: &Machine, scruple: &Path, install: bool) -> Result<()> {
    let emulator = machine::provide(machine.cpu.emulator, install)?;
    let folder = folder(root, machine);
    remove(&folder)?;
    std::fs::create_dir_all(&folder)?;
    let packages = steps::target(root).join("vm/debian");
    let image = debian::kernel(&packages, machine.release, machine.cpu.debian, install)?;
    file_system(scruple, &packages, machine, &folder, install)?;
    let mut qemu = Command::new(emulator);
    describe(&mut qemu, machine);
    if !machine.capacities.is_empty() {
        give_capacities(&qemu, machine, &folder, install)?;
        qemu.arg("-dtb").arg(folder.join("tree"));
    }
    qemu.arg("-kernel").arg(&image).arg("-initrd").arg(folder.join("root.cpio"));
    qemu.arg("-append").arg(words(machine));
    qemu.arg("-serial").arg(format!("file:{}", folder.join("said").display()));
    println!("-- {}: {}", machine.name, shown(&qemu));
    let begun = Instant::now();
    let said = attend(&mut qemu, &folder, begun)?;
    unpack(&said, &folder)?;
    let version = Command::new(qemu.get_program()).arg("--version").read()?;
    let version = version.lines().next().unwrap_or_default();
    let kernel = said.lines().find_map(|line| line.trim().strip_prefix("@boot "));
    let host = format!(
        "qemu: {version}\naccelerator: {}\nkernel: {}\nminutes: {:.0}\n",
        accelerator(machine),
        kernel.unwrap_or_default(),
        begun.elapsed().as_secs_f64() / 60.0
    );
    std::fs::write(folder.join("host.txt"), host)?;
    std::fs::remove_file(folder.join("root.cpio")).context("cannot remove the file system")
}

/// Writes the guest's file system: busybox, scruple, and the first process.
fn file_system(
    scruple: &Path,
    packages: &Path,
    machine: &Machine,
    folder: &Path,
    install: bool,
) -> Result<()> {
    let packer = machine::provide("busybox", install)?;
    let programs = Archive::of(packages, "bookworm", machine.cpu.debian)?;
    let busybox = programs.unpacked("busybox-static", install)?.join("bin/busybox");
    let tree = folder.join("root");
    for part in ["bin", "dev", "proc", "sys", "tmp", "root", "etc"] {
        std::fs::create_dir_all(tree.join(part))?;
    }
    std::fs::copy(&busybox, tree.join("bin/busybox")).context("cannot copy busybox")?;
    std::fs::copy(scruple, tree.join("bin/scruple")).context("cannot copy scruple")?;
    std::fs::write(tree.join("init"), INIT)?;
    std::fs::write(tree.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    command("chmod 755").arg(tree.join("init")).run()?;
    let pack = "find . | \"$0\" cpio -o -H newc > ../root.cpio";
    command("sh -c").arg(pack).arg(packer).current_dir(&tree).read()?;
    remove(&tree)
}

/// Whether the processor itself can run such a guest. Where it does not say so, /dev/kvm may be there all
/// the same (a paravirtual KVM) and need not run an ordinary kernel: the guest's is emulated then.
fn accelerator(machine: &Machine) -> &'static str {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let can = cpu.split_whitespace().any(|flag| flag == "vmx" || flag == "svm");
    let may = std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
    let native = machine.cpu.name == std::env::consts::ARCH;
    if native && can && may { "kvm" } else { "tcg" }
}

/// The CPU's model, with what an emulated one needs.
fn model(machine: &Machine) -> &'static str {
    match (machine.cpu.name, accelerator(machine)) {
        // An emulated processor of AMD's has no hyperthreads.
        ("x86_64", "tcg") => "max,vendor=GenuineIntel",
        // Authenticated pointers by their own algorithm take most of an emulator's time.
        ("aarch64", "tcg") => "max,pauth-impdef=on",
        _ => "max",
    }
}

/// Adds what makes the machine.
fn describe(qemu: &mut Command, machine: &Machine) {
    let Machine { cpu, sockets, cores, threads, memory_mib, nodes, .. } = machine;
    let cpus = machine.cpus();
    qemu.args(["-machine", &format!("{},accel={}", cpu.board, accelerator(machine))]);
    qemu.args(["-cpu", model(machine), "-m", &memory_mib.to_string(), "-smp"]);
    qemu.arg(format!("{cpus},sockets={sockets},cores={cores},threads={threads}"));
    for node in (0..*nodes).filter(|_| *nodes > 1) {
        let (first, each) = (node * cpus / nodes, cpus / nodes);
        let mib = memory_mib / nodes;
        qemu.args(["-object", &format!("memory-backend-ram,id=memory{node},size={mib}M"), "-numa"]);
        let last = first + each - 1;
        qemu.arg(format!("node,nodeid={node},cpus={first}-{last},memdev=memory{node}"));
    }
    if machine.counters.is_some() && accelerator(machine) == "tcg" {
        // An emulated processor counts instructions only where they are its clock.
        qemu.args(["-icount", "shift=1,sleep=off"]);
    }
    qemu.args(["-nodefaults", "-display", "none", "-no-reboot"]);
}

/// The kernel's command line, whose unknown words are the first process's environment.
fn words(machine: &Machine) -> String {
    let line = machine.cpu.line;
    let mut words = format!("console={line} quiet panic=-1 LINE={line}");
    if machine.cpu.name == "x86_64" && accelerator(machine) == "tcg" {
        // A busy host makes emulated clocks jump. The kernel would notice that only later, or not boot.
        words += " tsc=unstable no_timer_check";
    }
    if let Some(cpus) = machine.limit_cpus {
        words += &format!(" LIMIT_CPUS={:.0}", cpus * 100_000.0);
    }
    if let Some(mib) = machine.limit_mib {
        words += &format!(" LIMIT_MEMORY={}", mib << 20);
    }
    words
}

/// Writes the machine's device tree with a capacity for each CPU.
fn give_capacities(qemu: &Command, machine: &Machine, folder: &Path, install: bool) -> Result<()> {
    let put = machine::provide("device tree compiler", install)?;
    let tree = folder.join("tree");
    let mut dump = Command::new(qemu.get_program());
    dump.args(qemu.get_args()).args(["-machine", &format!("dumpdtb={}", tree.display())]).read()?;
    for (cpu, capacity) in machine.capacities.iter().enumerate() {
        let mut put = Command::new(&put);
        put.args(["-t", "u"]).arg(&tree).arg(format!("/cpus/cpu@{cpu:x}"));
        put.args(["capacity-dmips-mhz", &capacity.to_string()]).read()?;
    }
    Ok(())
}

/// Runs QEMU to its end, prints what the guest announces, and returns all that it said.
fn attend(qemu: &mut Command, folder: &Path, begun: Instant) -> Result<String> {
    let errors = std::fs::File::create(folder.join("errors"))?;
    let qemu = qemu.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let mut child = qemu.spawn().with_context(|| format!("cannot start {}", shown(qemu)))?;
    let read = || {
        let bytes = std::fs::read(folder.join("said")).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        String::from_utf8_lossy(&bytes[..whole]).into_owned()
    };
    let mut shown = 0;
    loop {
        let ended = child.try_wait()?.is_some();
        let said = read();
        for line in said.lines().filter(|line| line.starts_with("@did ")).skip(shown) {
            println!("   {}", line.trim().trim_start_matches("@did "));
            shown += 1;
        }
        if said.contains("\n@end") && ended {
            return Ok(said);
        }
        if ended || begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            let errors = std::fs::read_to_string(folder.join("errors")).unwrap_or_default();
            let last = &said[said.floor_char_boundary(said.len().saturating_sub(1500))..];
            bail!("the guest did not come to its end: {}\n{last}", errors.trim());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Unpacks the files that the guest sent.
fn unpack(said: &str, folder: &Path) -> Result<()> {
    let files = said.split_once("\n@files").and_then(|(_, rest)| rest.split_once("@end"));
    let (files, _) = files.context("the guest sent no files")?;
    std::fs::write(folder.join("files"), files.replace('\r', ""))?;
    let mut unpack = command("sh -c");
    unpack.arg("base64 -d files | tar -xz && rm files").current_dir(folder);
    unpack.read().context("what the guest sent cannot be unpacked")?;
    ensure!(folder.join("codes.txt").is_file(), "the guest sent no codes.txt");
    Ok(())
}
