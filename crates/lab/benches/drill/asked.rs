//! What is asked of the drill, from its words.

/// What the drill does.
pub(crate) const USAGE: &str = "\
cargo bench -p lab --bench drill [-- OPTIONS]

  --kills N        kill -9 of the runner, at random moments [20]
  --trial-kills N  kill -9 of a trial, likewise [20]
  --guard-kills N  kill -9 of a guard [20]
  --folders N      folders of sessions that are renamed, removed, or get another file of trials [6]
  --disks N        sessions on disks that are too small [5]
  --stops N        SIGSTOP of the runner [1]
  --stop-s N       for so many seconds each [10]
  --steps N        sessions in which the wall clock is set by a day [2]
  --vm KERNEL      boot a virtual machine with this kernel's image, stop it for --stop-s, suspend it,
                   take a CPU from it (QEMU and busybox; `cargo xtask vm` finds or gets all three)
  --seed N         where the moments come from [1]

0 leaves a part out.";

/// One call of the drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) kills: u64,
    pub(crate) trial_kills: u64,
    pub(crate) guard_kills: u64,
    pub(crate) folders: u64,
    pub(crate) disks: u64,
    pub(crate) stops: u64,
    pub(crate) stop_s: u64,
    pub(crate) steps: u64,
    pub(crate) seed: u64,
    pub(crate) vm: Option<String>,
}

impl Asked {
    /// From the words behind the program's name. cargo adds `--bench`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut asked = Asked {
            kills: 20,
            trial_kills: 20,
            guard_kills: 20,
            folders: 6,
            disks: 5,
            stops: 1,
            stop_s: 10,
            steps: 2,
            seed: 1,
            vm: None,
        };
        let mut words = words.iter().map(String::as_str).filter(|word| *word != "--bench");
        while let Some(flag) = words.next() {
            if flag == "--vm" {
                asked.vm = Some(words.next().ok_or("--vm wants a kernel's image")?.into());
                continue;
            }
            let into = match flag {
                "--kills" => &mut asked.kills,
                "--trial-kills" => &mut asked.trial_kills,
                "--guard-kills" => &mut asked.guard_kills,
                "--folders" => &mut asked.folders,
                "--disks" => &mut asked.disks,
                "--stops" => &mut asked.stops,
                "--stop-s" => &mut asked.stop_s,
                "--steps" => &mut asked.steps,
                "--seed" => &mut asked.seed,
                unknown => return Err(format!("I do not know {unknown}")),
            };
            let value = words.next().ok_or_else(|| format!("{flag} wants a number"))?;
            *into = value.parse().map_err(|_| format!("{flag} {value}: that is no number"))?;
        }
        // Zero is where this generator would stay.
        asked.seed = asked.seed.max(1);
        Ok(asked)
    }
}
