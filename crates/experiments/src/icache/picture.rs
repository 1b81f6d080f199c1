//! How a cache fills, fetch by fetch.

use super::play::{Code, Placing, Setting};
use isa::cache::{Cache, Fetch, Fetcher, Outcome};
use kit::{Result, Stop, Trial};

/// The bytes of the cache that is shown. Neither loop fits into it, and the compressed one misses less.
const BYTES: u64 = 32;

/// The pipeline's cycles for a miss and its width of a fetch, on which the cache does not depend.
const PIPELINE: (u16, u8) = (20, 4);

/// Fetches of lines that are shown.
const FETCHES: usize = 40;

/// Steps in which there are that many.
const STEPS: u64 = 1000;

/// Shows the first lines that a program fetches, in one of its settings.
pub(super) fn show(trial: &mut Trial<'_>, code: &Code, setting: &Setting) -> Result<()> {
    let is_usual = setting.core.is_some_and(|core| (core.miss, core.fetch_bytes) == PIPELINE);
    let is_shown = setting.placing == Placing::lru(1)
        && setting.cache.geometry().bytes() == BYTES
        && trial.level("compiler")? == "gcc14";
    if !is_usual || !is_shown {
        return Ok(());
    }
    let title = "how the cache fills (n: a line comes into a free place, r: in the place of another, h: it is there)";
    let last = format!("fetches from another line, the first {FETCHES}");
    let rows = rows(code, setting).map_err(Stop::Failed)?;
    trial.picture(title, &["set", "misses", &last], rows);
    Ok(())
}

/// Returns a row for each set: its number, its misses, and what became of each fetch.
pub(super) fn rows(code: &Code, setting: &Setting) -> Result<Vec<Vec<String>>, String> {
    let geometry = setting.cache.geometry();
    let mut fetcher = Fetcher::new(Fetch::LineBuffer, geometry);
    let mut cache = Cache::new(setting.cache);
    let mut fetches: Vec<(u32, char)> = Vec::new();
    code.start()?.run(STEPS, |step| {
        for address in fetcher.accesses(step.pc, step.size) {
            let set = cache.set(address);
            let is_full = cache.held(set).count() == geometry.ways() as usize;
            let letter = match cache.access(address) {
                Outcome::Hit => 'h',
                Outcome::Miss(_) if is_full => 'r',
                Outcome::Miss(_) => 'n',
            };
            fetches.push((set, letter));
        }
    });
    fetches.truncate(FETCHES);
    let row = |set: u32| {
        let letter = |&(of, letter): &(u32, char)| if of == set { letter } else { '·' };
        let cells: String = fetches.iter().map(letter).collect();
        let misses = cells.chars().filter(|letter| matches!(letter, 'n' | 'r')).count();
        vec![set.to_string(), misses.to_string(), cells]
    };
    Ok((0..geometry.sets()).map(row).collect())
}
