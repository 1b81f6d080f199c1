//! A virtual machine of our own, whose host stops it, that is suspended, and that loses a CPU, all in
//! mid-session; and whose kernel has control groups of version 2 alone.
//!
//! The guest is a kernel, busybox and this build of scruple, in memory. It conducts the sessions
//! (guest.sh) and tells what became of them; nothing of this machine is stopped or changed.

mod judge;
mod machine;
mod root;
mod told;

use crate::ledger::Ledger;
use machine::{Machine, accelerator};
use std::path::Path;
use std::time::{Duration, Instant};
use told::Told;

/// All that the guest does, on a processor that is emulated on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1800);

/// One drill, with a kernel's image; `seconds` is how long the machine stands still.
pub(crate) fn drill(kernel: &str, seconds: u64, folder: &Path, ledger: &mut Ledger) {
    match conduct(kernel, seconds, &folder.join("vm")) {
        Ok(told) => judge::judge(&told, seconds, ledger),
        Err(why) => ledger.must(false, || format!("a virtual machine: {why}")),
    }
}

/// Boots it, does what is the host's part, and returns what the guest told.
fn conduct(kernel: &str, seconds: u64, folder: &Path) -> Result<Told, String> {
    std::fs::create_dir(folder).map_err(|error| error.to_string())?;
    let busybox = root::on_path("busybox").ok_or("there is no busybox on the path")?;
    let archive = root::archive(&busybox, &crate::support::binary())?;
    std::fs::write(folder.join("root"), archive).map_err(|error| error.to_string())?;
    println!("a virtual machine on {}, kernel {kernel}", accelerator());
    let mut machine = Machine::start(folder, Path::new(kernel))?;
    let begun = Instant::now();
    let mut heard = 0;
    loop {
        let text = machine.said();
        for line in text[heard..].lines() {
            host(&mut machine, line.trim(), Duration::from_secs(seconds))?;
        }
        heard = text.len();
        if text.contains("\n@end ") {
            return Ok(Told::of(&text));
        }
        if machine.is_gone() || begun.elapsed() > PATIENCE {
            let kernel = std::fs::read(folder.join("kernel")).unwrap_or_default();
            let last = |text: &str| {
                text[text.floor_char_boundary(text.len().saturating_sub(800))..].to_string()
            };
            let kernel = last(&String::from_utf8_lossy(&kernel));
            return Err(format!("it did not come to its end: {}\n{kernel}", last(&text)));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The host's part of a fault that the guest has announced.
fn host(machine: &mut Machine, line: &str, pause: Duration) -> Result<(), String> {
    if line.starts_with("@stop ") {
        machine.ask("stop")?;
        std::thread::sleep(pause);
        machine.ask("cont")?;
    }
    if line.starts_with("@sleep ") {
        if !machine.comes_to("suspended")? {
            return Err("the guest did not fall asleep".into());
        }
        std::thread::sleep(pause);
        machine.ask("system_wakeup")?;
    }
    Ok(())
}
