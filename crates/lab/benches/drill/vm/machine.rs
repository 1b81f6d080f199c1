//! QEMU, its monitor (QMP), and what its guest says on a serial line.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the monitor gets for an answer.
const ANSWER: Duration = Duration::from_secs(60);

/// Enough for the five buffers of `memory_limit`, of which scruple uses half.
const MEMORY_MIB: &str = "3072";

/// A virtual machine; ended when dropped.
pub(crate) struct Machine {
    child: Child,
    monitor: BufReader<UnixStream>,
    said: PathBuf,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the processor itself runs guests. Where it does not, /dev/kvm may be there all the same (a
/// paravirtual KVM) and need not run an ordinary kernel: it is emulated then.
pub(crate) fn accelerator() -> &'static str {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let can = flags.split_whitespace().any(|flag| flag == "vmx" || flag == "svm");
    let may = std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
    if can && may { "kvm" } else { "tcg" }
}

impl Machine {
    pub(crate) fn start(folder: &Path, kernel: &Path) -> Result<Self, String> {
        let file = |name: &str| folder.join(name).display().to_string();
        let errors = std::fs::File::create(folder.join("errors")).map_err(|it| it.to_string())?;
        let child = Command::new("qemu-system-x86_64")
            .args(["-machine", &format!("q35,accel={}", accelerator()), "-cpu", "max"])
            .args(["-smp", "2", "-m", MEMORY_MIB, "-nodefaults", "-display", "none", "-no-reboot"])
            .args(["-global", "ICH9-LPC.disable_s3=0", "-kernel"])
            .arg(kernel)
            .args(["-initrd", &file("root"), "-append", "console=ttyS1 panic=-1"])
            .args(["-serial", &format!("file:{}", file("said"))])
            .args(["-serial", &format!("file:{}", file("kernel"))])
            .args(["-qmp", &format!("unix:{},server=on,wait=off", file("monitor"))])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("qemu-system-x86_64: {error}"))?;
        let begun = Instant::now();
        let monitor = loop {
            match UnixStream::connect(folder.join("monitor")) {
                Ok(stream) => break stream,
                Err(_) if begun.elapsed() < ANSWER => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => {
                    let said = std::fs::read_to_string(folder.join("errors")).unwrap_or_default();
                    return Err(format!("QEMU's monitor: {error}; {said}"));
                }
            }
        };
        monitor.set_read_timeout(Some(ANSWER)).map_err(|error| error.to_string())?;
        let said = folder.join("said");
        let mut machine = Machine { child, monitor: BufReader::new(monitor), said };
        machine.ask("qmp_capabilities")?;
        Ok(machine)
    }

    /// What a command of the monitor returns.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Value, String> {
        let text = |error: std::io::Error| format!("QEMU's monitor: {error}");
        writeln!(self.monitor.get_mut(), "{}", json!({ "execute": command })).map_err(text)?;
        loop {
            let mut line = String::new();
            if self.monitor.read_line(&mut line).map_err(text)? == 0 {
                return Err("QEMU is gone".into());
            }
            let told: Value = serde_json::from_str(&line).unwrap_or_default();
            // Greetings and events come between.
            if let Some(error) = told.get("error") {
                return Err(format!("{command}: {error}"));
            }
            if let Some(answer) = told.get("return") {
                return Ok(answer.clone());
            }
        }
    }

    /// Waits until the guest is in a state, and says whether it came to that.
    pub(crate) fn comes_to(&mut self, status: &str) -> Result<bool, String> {
        let begun = Instant::now();
        while begun.elapsed() < ANSWER {
            if self.ask("query-status")?["status"] == status {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(false)
    }

    /// The whole lines that the guest has said.
    pub(crate) fn said(&self) -> String {
        let bytes = std::fs::read(&self.said).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        String::from_utf8_lossy(&bytes[..whole]).into_owned()
    }

    pub(crate) fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}
