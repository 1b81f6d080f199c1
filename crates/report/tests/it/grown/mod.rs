//! The recorded session, grown: as many treatments as a profile has, and as many trials as wanted.
//! Its numbers are those of recorded trials times some noise; they measure nothing.

use crate::fixture::Fixture;
use crate::recorded;
use model::{Design, Profile, Record, Treatment};
use std::collections::BTreeMap;

/// SplitMix64 (Steele, Lea, Flood 2014): noise that is the same each time.
struct Noise(u64);

impl Noise {
    /// A factor from 0.95 to 1.05.
    fn factor(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        0.95 + 0.1 * ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The recorded catalog with all treatments of a profile, in this many trials at the least: whole
/// blocks, the experiments one after the other in each. Of the observations of a trial this many
/// are kept.
pub(crate) fn session(profile: Profile, trials: usize, observations: usize) -> Fixture {
    let mut fixture = recorded::session("base");
    let mut patterns = std::mem::take(&mut fixture.records);
    let measured = patterns.iter_mut().filter_map(|record| record.measured.as_mut());
    for series in measured.flat_map(|measured| &mut measured.series) {
        series.values.truncate(observations);
    }
    fixture.manifest.options.profile = profile;
    fixture.manifest.options.blocks = None;
    let mut noise = Noise(20_261_122);
    let plans: Vec<Vec<Record>> =
        fixture.manifest.designs.iter().map(|design| plan(design, profile, &patterns)).collect();
    for block in 0.. {
        if fixture.records.len() >= trials {
            break;
        }
        for pattern in plans.iter().flatten() {
            let trial = fixture.records.len() as u64;
            fixture.records.push(like(pattern, trial, block, &mut noise));
        }
    }
    fixture.summary = recorded::summary(&fixture.manifest, &fixture.records);
    fixture
}

/// A trial to copy for each treatment: one of that treatment, or of another where the recorded
/// session has none.
fn plan(design: &Design, profile: Profile, patterns: &[Record]) -> Vec<Record> {
    let own = patterns.iter().filter(|record| record.experiment == design.id);
    let by_treatment: BTreeMap<&Treatment, &Record> =
        own.map(|record| (&record.treatment, record)).collect();
    let mut any = by_treatment.values().copied().filter(|record| record.measured.is_some()).cycle();
    let pattern = |(position, treatment): (usize, Treatment)| {
        let found = by_treatment.get(&treatment).copied().or_else(|| any.next())?;
        Some(Record { position: position as u32, treatment, ..found.clone() })
    };
    design.treatments(profile).into_iter().enumerate().filter_map(pattern).collect()
}

fn like(pattern: &Record, trial: u64, block: u32, noise: &mut Noise) -> Record {
    let mut record = pattern.clone();
    (record.trial, record.block) = (trial, block);
    record.started_unix_ms += trial * 60;
    let factor = noise.factor();
    for series in record.measured.iter_mut().flat_map(|measured| &mut measured.series) {
        for value in &mut series.values {
            *value = (*value as f64 * factor) as i64;
        }
    }
    record
}
