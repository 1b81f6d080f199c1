use super::play::{Build, Code, IM, IMC, Mapping, Seen, as_good, geometry, play};
use super::{BUILDS, COMPILERS, MAPPINGS, design};
use isa::cache::Fetch;
use isa::pipeline::Parameters;
use kit::model::Profile;

fn seen(build: Build, bytes: u32, mapping: Mapping) -> Seen {
    let core = Parameters { miss: 20, ..Parameters::textbook() };
    let code = Code::carried(build[0]).unwrap();
    play(&code, geometry(bytes, mapping, 8).unwrap(), core).unwrap()
}

#[test]
fn the_programs_give_the_figures_of_three_other_simulators() {
    let both = [IM, IMC].map(|build| seen(build, 64, Mapping::Direct));
    assert_eq!(both.each_ref().map(|it| it.text_bytes), [160, 94]);
    assert_eq!(both.each_ref().map(|it| it.instructions), [143_467; 2]);
    assert_eq!(both.each_ref().map(|it| it.short), [0, 102_486]);
    assert_eq!(both.each_ref().map(|it| it.tally(Fetch::Instruction).misses()), [104, 49]);
    assert_eq!(both.each_ref().map(|it| it.swept_misses), [104, 49]);
    let accesses = |fetch| both.each_ref().map(|it| it.tally(fetch).accesses);
    assert_eq!(accesses(Fetch::WordBuffer), [143_467, 92_229]);
    assert_eq!(accesses(Fetch::LineBuffer), [71_759, 51_245]);
}

#[test]
fn without_compression_it_takes_104_bytes_to_be_as_good_as_48() {
    let compressed = seen(IMC, 48, Mapping::Full);
    let plain = &Code::carried(IM[0]).unwrap();
    let like = geometry(48, Mapping::Full, 8).unwrap();
    let wanted = compressed.tally(Fetch::Instruction);
    assert_eq!(as_good(plain, like, Mapping::Full, wanted).unwrap(), Some(104));
    // Where nothing is left but the first access of each line, no size is large enough.
    let best = seen(IMC, 256, Mapping::Full).tally(Fetch::Instruction);
    assert_eq!(as_good(plain, like, Mapping::Full, best).unwrap(), None);
}

#[test]
fn every_treatment_of_every_profile_has_its_cache() {
    for treatment in design().treatments(Profile::Thorough) {
        let number = |factor| treatment.level(factor).unwrap().parse::<u32>().unwrap();
        let level = treatment.level("mapping").unwrap();
        let (_, mapping) = MAPPINGS.into_iter().find(|(name, _)| *name == level).unwrap();
        let found = geometry(number("cache_bytes"), mapping, number("line_bytes"));
        assert!(found.is_ok(), "{treatment}: {found:?}");
    }
    assert!(geometry(48, Mapping::Direct, 8).is_err());
    assert!(geometry(20, Mapping::Full, 8).is_err());
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "build", &BUILDS);
    crate::check_levels(&design, "compiler", &COMPILERS);
    crate::check_levels(&design, "mapping", &MAPPINGS);
}

#[test]
fn nothing_of_it_is_measured() {
    assert!(design().is_exact());
}
