use model::Treatment;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// The order of the treatments in one block of an experiment: a shuffle that the session's seed
/// determines, whatever else is measured and how many blocks there are. Treatments that are
/// `compared` with each other stand next to each other, in an order of their own in each block.
///
/// On a machine that is shared, a CPU changes its speed for tenths of a second. Two trials that follow
/// each other mostly see the same speed: their ratio varied half as much as that of two trials at other
/// places of a block (docs/calibration.md).
pub fn order(
    seed: u64,
    experiment: &str,
    block: u32,
    treatments: &[Treatment],
    compared: &[Vec<Treatment>],
) -> Vec<Treatment> {
    let mut generator = generator(seed, &["block", experiment, &block.to_string()]);
    let together: BTreeSet<&Treatment> = compared.iter().flatten().collect();
    let mut groups: Vec<Vec<&Treatment>> = compared
        .iter()
        .map(|group| group.iter().filter(|it| treatments.contains(it)).collect())
        .collect();
    let alone = treatments.iter().filter(|treatment| !together.contains(treatment));
    groups.extend(alone.map(|treatment| vec![treatment]));
    groups.shuffle(&mut generator);
    let mut order: Vec<Treatment> = Vec::with_capacity(treatments.len());
    for mut group in groups {
        if let [one] = group[..]
            && !together.contains(one)
        {
            order.push(one.clone());
            continue;
        }
        group.shuffle(&mut generator);
        for treatment in &group {
            if order.contains(treatment) {
                continue;
            }
            // On either side of one of its group that has its place.
            let beside = order.iter().position(|placed| group.contains(&placed));
            let place = beside.map(|at| at + usize::from(generator.random::<bool>()));
            order.insert(place.unwrap_or(order.len()), (*treatment).clone());
        }
    }
    order
}

/// The order of the experiments in one round of the session.
pub fn round_order(seed: u64, round: u32, experiments: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..experiments).collect();
    order.shuffle(&mut generator(seed, &["round", &round.to_string()]));
    order
}

/// Length of the padding in a trial's environment, below one page and a multiple of 16: the size
/// of the environment shifts the stack, and a single size would be a hidden constant of the whole
/// session (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!",
/// ASPLOS 2009).
pub fn padding_bytes(trial_seed: u64) -> u32 {
    (trial_seed % 256) as u32 * 16
}

/// The seed of one trial: of its padding and of whatever it draws.
pub fn trial_seed(seed: u64, experiment: &str, block: u32, treatment: &Treatment) -> u64 {
    mix(seed, &["trial", experiment, &block.to_string(), &treatment.to_string()])
}

fn generator(seed: u64, words: &[&str]) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(mix(seed, words))
}

/// FNV-1a over the seed and the words, finished as in MurmurHash3: the same on every machine and
/// in every version, as the standard library's hashers do not promise to be.
fn mix(seed: u64, words: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    seed.to_le_bytes().into_iter().for_each(&mut eat);
    for word in words {
        word.bytes().for_each(&mut eat);
        eat(0xff);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treatments() -> Vec<Treatment> {
        (0..20).map(|level| Treatment::from_iter([("x".to_string(), level.to_string())])).collect()
    }

    #[test]
    fn an_order_is_a_permutation_that_the_seed_repeats() {
        let all = treatments();
        let first = order(7, "create", 3, &all, &[]);
        assert_eq!(first, order(7, "create", 3, &all, &[]));
        let mut sorted = first.clone();
        sorted.sort();
        let mut expected = all.clone();
        expected.sort();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn seed_block_and_experiment_each_change_the_order() {
        let all = treatments();
        let first = order(7, "create", 3, &all, &[]);
        assert_ne!(first, order(8, "create", 3, &all, &[]));
        assert_ne!(first, order(7, "create", 4, &all, &[]));
        assert_ne!(first, order(7, "workers", 3, &all, &[]));
    }

    #[test]
    fn the_stream_is_the_same_in_every_version() {
        // Planted once; if it changes, `--seed` no longer repeats older sessions.
        let all = treatments();
        let names: Vec<String> =
            order(1, "create", 0, &all, &[]).iter().take(5).map(ToString::to_string).collect();
        assert_eq!(names, ["x=6", "x=2", "x=4", "x=11", "x=17"]);
    }

    #[test]
    fn what_is_compared_stands_together_in_either_order() {
        let all = treatments();
        let compared = [vec![all[0].clone(), all[1].clone()], vec![all[1].clone(), all[2].clone()]];
        let (mut first, mut apart) = (0, 0);
        for block in 0..1000 {
            let order = order(11, "create", block, &all, &compared);
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), all.len());
            let place = |at: usize| order.iter().position(|it| *it == all[at]).unwrap();
            let [a, b, c] = [0, 1, 2].map(place);
            assert!(a.abs_diff(b) <= 2 && b.abs_diff(c) <= 2, "{a} {b} {c}");
            first += u32::from(a < b);
            apart += u32::from(a.abs_diff(b) > 1);
        }
        // Expected 500, standard deviation 16; in a quarter of the blocks the third is between.
        assert!((400..600).contains(&first) && (150..350).contains(&apart), "{first} {apart}");
    }

    #[test]
    fn every_treatment_comes_first_sometimes() {
        let all = treatments();
        let mut first_places = vec![0_u32; all.len()];
        for block in 0..2000 {
            let first = order(11, "null", block, &all, &[]).swap_remove(0);
            if let Some(place) = all.iter().position(|treatment| *treatment == first) {
                first_places[place] += 1;
            }
        }
        // Expected 100 each, standard deviation 9.7: six of them are an error, not chance.
        assert!(first_places.iter().all(|count| (42..=158).contains(count)), "{first_places:?}");
    }

    #[test]
    fn padding_stays_below_a_page() {
        assert!((0..5000).all(|seed| padding_bytes(mix(seed, &["p"])) < 4096));
    }
}
