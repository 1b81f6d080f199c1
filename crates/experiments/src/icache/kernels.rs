//! Kernels of known algorithms, each with and without compressed instructions: what the middle one of them
//! says, and the range over all.

use super::play::{Build, Code, Equals, More, Seen, Setting, play};
use super::record::signed;
use isa::cache::Fetch;
use kit::{Result, Stop, Trial};

/// Parts per million of a whole.
const MILLION: u64 = 1_000_000;

/// A kernel by its name, for rv32im and for rv32imc.
macro_rules! kernels {
    ($($name:literal),*) => {
        [$(($name, [
            include_bytes!(concat!("../../../isa/reference/kernels/elf/", $name, "-rv32im")),
            include_bytes!(concat!("../../../isa/reference/kernels/elf/", $name, "-rv32imc")),
        ])),*]
    };
}

/// All of them, by GCC 12.2 at -O2 (crates/isa/reference/kernels).
pub(super) const KERNELS: [(&str, Build); 14] = kernels![
    "base64",
    "crc32",
    "dijkstra",
    "distance",
    "fir",
    "huffman",
    "lzss",
    "matmult",
    "montgomery",
    "queens",
    "quicksort",
    "search",
    "sha256",
    "tokens"
];

/// The responses of all kernels: the middle one, the least and the most.
const RESPONSES: [[&str; 3]; 3] = [
    ["size_ppm", "size_least_ppm", "size_most_ppm"],
    ["misses_ppm", "misses_least_ppm", "misses_most_ppm"],
    ["equal_ppm", "equal_least_ppm", "equal_most_ppm"],
];

/// A part of a whole.
#[derive(Clone, Copy, Debug)]
struct Part {
    of: u64,
    whole: u64,
}

impl Part {
    fn ppm(self) -> i64 {
        signed(self.of.saturating_mul(MILLION) / self.whole)
    }
}

/// Conducts a trial of all kernels in one setting. `place` says which build is asked for: 0 for rv32im, 1
/// for rv32imc; each is compared with rv32im.
pub(super) fn trial(trial: &mut Trial<'_>, setting: &Setting, place: usize) -> Result<()> {
    trial.begin()?;
    let mut rows = Vec::new();
    let (mut sizes, mut misses, mut equals) = (Vec::new(), Vec::new(), Vec::new());
    for (name, build) in KERNELS {
        let [plain, asked] = [build[0], build[place]].map(Code::carried);
        let plain = play(&plain?, &[*setting], More { among: &[*setting], twice: false })?;
        let asked = play(&asked?, &[*setting], More::default())?;
        let tally = |seen: &Seen| {
            let own = seen.of.first().and_then(|counts| counts.tally(Fetch::Instruction));
            own.ok_or_else(|| Stop::failed(format!("{name} has no cache")))
        };
        let (before, after) = (tally(&plain)?, tally(&asked)?);
        let size = Part { of: asked.text_bytes.into(), whole: plain.text_bytes.into() };
        let missed = Part { of: after.misses(), whole: before.misses() };
        let bytes = setting.cache.geometry().bytes();
        let equal = Equals::from_run(&plain).as_good(setting, after);
        let equal = equal.map(|found| Part { of: found, whole: bytes });
        rows.push(vec![
            name.to_owned(),
            plain.text_bytes.to_string(),
            asked.text_bytes.to_string(),
            before.misses().to_string(),
            after.misses().to_string(),
            equal.map_or_else(|| "more than 4 KiB".into(), |part| format!("{} B", part.of)),
        ]);
        sizes.push(size);
        misses.push(missed);
        equals.extend(equal);
    }
    trial.end()?;
    for ([middle, least, most], parts) in RESPONSES.into_iter().zip([&sizes, &misses, &equals]) {
        for part in parts {
            trial.record(middle, part.whole, vec![signed(part.of.saturating_mul(MILLION))]);
        }
        let all = parts.iter().map(|part| part.ppm());
        for (which, found) in [(least, all.clone().min()), (most, all.max())] {
            trial.record_one(which, found.unwrap_or_default());
        }
    }
    trial.observe("geometry", setting.cache);
    let heads = ["kernel", "rv32im, B", "B", "rv32im, misses", "misses", "as good as, rv32im in"];
    trial.exhibit("each kernel", &heads, rows);
    Ok(())
}
