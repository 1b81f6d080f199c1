//! Misses over the size of the instruction cache, with and without instructions of 16 bits.

use super::loaded::Loaded;
use super::run::UNASKED_STEPS;
use isa::Stopped;
use isa::cache::{self, Fetch, Geometry, Sweep};
use model::{CoreCurve, CorePoint};

/// The sizes, in bytes.
const SIZES: [u32; 10] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// Bytes of a line where no cache says others.
const LINE_BYTES: u32 = 8;

/// Returns the misses of a program in caches of many sizes, in one run: with the line, the ways and the policy of
/// the cache that was asked for, or direct-mapped with lines of 8 bytes.
pub(super) fn curve(
    loaded: &Loaded,
    name: &str,
    like: Option<cache::Config>,
) -> anyhow::Result<CoreCurve> {
    let (line, ways) = like.map_or((LINE_BYTES, 1), |like| {
        let geometry = like.geometry();
        let full = geometry.sets() == 1;
        (geometry.line_bytes(), if full { 0 } else { geometry.ways() })
    });
    let shape = |bytes: u32| {
        let lines = bytes / line;
        let geometry = match ways {
            0 => Geometry::fully_associative(lines, line),
            _ => Geometry::new(lines.checked_div(ways)?, ways, line),
        };
        match like {
            Some(like) => cache::Config::new(geometry.ok()?, like.policy()).ok(),
            None => geometry.ok().map(cache::Config::from),
        }
    };
    let configs: Vec<cache::Config> = SIZES.into_iter().filter_map(shape).collect();
    let mut sweep = Sweep::new(&configs, Fetch::Lines);
    let mut machine = loaded.start()?;
    let limit = loaded.file.instructions_max;
    loop {
        let most = (limit - machine.steps()).min(UNASKED_STEPS);
        let stopped = machine.run(most, |step| sweep.access(step.pc, step.size));
        if stopped != Stopped::Limit || machine.steps() == limit {
            break;
        }
        if sys::interrupt::requested().is_some() {
            return Err(std::io::Error::other(crate::destination::Stopped).into());
        }
    }
    let point = |(config, tally): (cache::Config, cache::Tally)| CorePoint {
        bytes: config.geometry().bytes(),
        misses: tally.misses(),
    };
    Ok(CoreCurve {
        name: name.into(),
        text_bytes: loaded.program.text_bytes,
        instructions: machine.retired(),
        ways,
        line_bytes: line,
        points: sweep.results().into_iter().map(point).collect(),
    })
}
