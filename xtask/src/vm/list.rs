//! The machines of the matrix, as `machines.txt` lists them.

use crate::machine::{Entry, blocks};
use anyhow::{Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = include_str!("machines.txt");

/// A kind of CPU: its name, Debian's name for it, and what a machine of QEMU with it has.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub(crate) name: &'static str,
    pub(crate) debian: &'static str,
    /// The machine of QEMU.
    pub(crate) board: &'static str,
    /// The serial line's device.
    pub(crate) line: &'static str,
    /// The tool that emulates it, in the list of tools.
    pub(crate) emulator: &'static str,
}

const CPUS: [Cpu; 2] = [
    Cpu {
        name: "x86_64",
        debian: "amd64",
        board: "q35",
        line: "ttyS0",
        emulator: "machine emulator",
    },
    Cpu {
        name: "aarch64",
        debian: "arm64",
        board: "virt,gic-version=3",
        line: "ttyAMA0",
        emulator: "machine emulator for aarch64",
    },
];

/// A machine to be.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) cpu: &'static Cpu,
    /// Debian's release that has its kernel.
    pub(crate) release: &'static str,
    pub(crate) sockets: u64,
    /// Of each socket.
    pub(crate) cores: u64,
    /// Of each core.
    pub(crate) threads: u64,
    pub(crate) nodes: u64,
    pub(crate) memory_mib: u64,
    /// Processors' counters, where it matters: 1 where there are any.
    pub(crate) counters: Option<u64>,
    /// The limits of the cgroup around the commands.
    pub(crate) limit_cpus: Option<f64>,
    pub(crate) limit_mib: Option<u64>,
    /// Of each CPU; none where all are alike.
    pub(crate) capacities: Vec<u64>,
}

impl Machine {
    pub(crate) fn cpus(&self) -> u64 {
        self.sockets * self.cores * self.threads
    }

    /// Returns the facts by name, as the guest's kernel should report them and as rules name them.
    pub(crate) fn facts(&self) -> BTreeMap<String, f64> {
        let kinds = self.capacities.iter().collect::<BTreeSet<_>>().len();
        let mut facts = vec![
            ("cpus", self.cpus() as f64),
            ("cores", (self.sockets * self.cores) as f64),
            ("threads", self.threads as f64),
            ("packages", self.sockets as f64),
            ("nodes", self.nodes as f64),
            ("kinds", kinds.max(1) as f64),
        ];
        facts.extend(self.counters.map(|counters| ("counters", counters as f64)));
        facts.extend(self.limit_cpus.map(|limit| ("limit_cpus", limit)));
        facts.extend(self.limit_mib.map(|mib| ("limit_mb", ((mib << 20) / 1_000_000) as f64)));
        facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}

/// Returns the machines, or that of a name.
///
/// # Errors
/// If there is none of that name; if the list is wrong.
pub(crate) fn machines(only: Option<&str>) -> Result<Vec<Machine>> {
    let all: Vec<Machine> = blocks(LIST, "machine").map(machine).collect::<Result<_>>()?;
    let names: Vec<&str> = all.iter().map(|machine| machine.name).collect();
    let Some(only) = only else { return Ok(all) };
    ensure!(names.contains(&only), "--only {only}: there is no such machine; {}", names.join(", "));
    Ok(all.into_iter().filter(|machine| machine.name == only).collect())
}

fn machine(entry: Entry<'static>) -> Result<Machine> {
    let name = entry.get("machine");
    let Some(cpu) = CPUS.iter().find(|cpu| cpu.name == entry.get("cpu")) else {
        bail!("machines.txt: {name}: no such cpu");
    };
    let number = |key: &str| match entry.get(key) {
        "" => Ok(None),
        text => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => bail!("machines.txt: {name}: {key} is no number"),
        },
    };
    let needed = |key: &str| match number(key)? {
        Some(number) => Ok(number),
        None => bail!("machines.txt: {name} lacks {key}"),
    };
    let capacities = entry.get("capacities").split_whitespace().map(str::parse);
    let machine = Machine {
        name,
        about: entry.get("about"),
        cpu,
        release: entry.get("release"),
        sockets: needed("sockets")?,
        cores: needed("cores")?,
        threads: needed("threads")?,
        nodes: needed("nodes")?,
        memory_mib: needed("memory")?,
        counters: number("counters")?,
        limit_cpus: entry.get("limit_cpus").parse().ok(),
        limit_mib: number("limit_memory")?,
        capacities: capacities.collect::<Result<_, _>>()?,
    };
    let one_each =
        machine.capacities.is_empty() || machine.capacities.len() as u64 == machine.cpus();
    ensure!(one_each, "machines.txt: {name}: capacities are not one for each CPU");
    ensure!(
        machine.cpus().is_multiple_of(machine.nodes),
        "machines.txt: {name}: the nodes are not alike"
    );
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::machines;

    #[test]
    fn the_list_has_the_machines_that_people_have() {
        let all = machines(None).unwrap();
        let any = |is: fn(&super::Machine) -> bool| all.iter().any(is);
        assert!(any(|it| it.cpus() == 1 && it.memory_mib == 320));
        assert!(any(|it| it.cpus() == 2 && it.threads == 2));
        assert!(any(|it| it.cores == 4 && it.threads == 2));
        assert!(any(|it| it.sockets == 2 && it.nodes == 2 && it.cpus() == 16));
        assert!(any(|it| it.cpus() == 64));
        assert!(any(|it| it.limit_cpus.is_some() && it.limit_mib.is_some()));
        assert!(any(|it| it.cpu.name == "aarch64" && it.capacities.is_empty()));
        let facts = machines(Some("smt")).unwrap()[0].facts();
        assert!(facts["cpus"] == 8.0 && facts["cores"] == 4.0, "{facts:?}");
        let said = machines(Some("toaster")).unwrap_err().to_string();
        assert!(said.contains("one-cpu"), "{said}");
    }
}
