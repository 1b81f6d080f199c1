use super::kernels::KERNELS;
use super::play::{Build, Code, Counts, Equals, IM, IMC, More, Placing, Seen, Setting, play};
use super::{BUILDS, COMPILERS, MAPPINGS, design, setting};
use isa::cache::Fetch;
use isa::pipeline::Parameters;
use kit::model::{Caches, Design, Profile, ProgramFile, Replacement};

const TWICE: More<'_> = More { among: &[], twice: true };

fn before(bytes: u32, placing: Placing) -> Setting {
    let core = Parameters { miss: 20, ..Parameters::textbook() };
    Setting { cache: placing.cache(bytes, 8).unwrap(), placing, core: Some(core) }
}

fn seen(build: Build, setting: Setting) -> (Seen, Counts) {
    let seen = play(&Code::carried(build[0]).unwrap(), &[setting], TWICE).unwrap();
    let counts = seen.of[0];
    (seen, counts)
}

#[test]
fn the_programs_give_the_figures_of_three_other_simulators() {
    let both = [IM, IMC].map(|build| seen(build, before(64, Placing::lru(1))));
    assert_eq!(both.each_ref().map(|it| it.0.text_bytes), [160, 94]);
    assert_eq!(both.each_ref().map(|it| it.0.instructions), [143_467; 2]);
    assert_eq!(both.each_ref().map(|it| it.0.short), [0, 102_486]);
    assert_eq!(
        both.each_ref().map(|it| it.1.tally(Fetch::Instruction).unwrap().misses()),
        [104, 49]
    );
    assert_eq!(both.each_ref().map(|it| it.1.pipeline_misses), [Some(104), Some(49)]);
    let accesses = |fetch| both.each_ref().map(|it| it.1.tally(fetch).unwrap().accesses);
    assert_eq!(accesses(Fetch::WordBuffer), [143_467, 92_229]);
    assert_eq!(accesses(Fetch::LineBuffer), [71_759, 51_245]);
}

#[test]
fn without_compression_it_takes_104_bytes_to_be_as_good_as_48() {
    let full = before(48, Placing::lru(0));
    let wanted = seen(IMC, full).1.tally(Fetch::Instruction).unwrap();
    let plain = Equals::of(&Code::carried(IM[0]).unwrap(), &[full]).unwrap();
    assert_eq!(plain.as_good(&full, wanted), Some(104));
    // Where nothing is left but the first access of each line, no size is large enough.
    let best = seen(IMC, before(256, Placing::lru(0))).1.tally(Fetch::Instruction).unwrap();
    assert_eq!(plain.as_good(&full, best), None);
}

/// One run for all settings says what a run for each says.
#[test]
fn one_run_answers_for_every_setting() {
    let policies = Replacement::ALL.into_iter().flat_map(|policy| [1, 2, 4].map(|it| (policy, it)));
    let placings = policies.map(|(policy, ways)| Placing { ways, policy });
    let settings: Vec<Setting> =
        placings.flat_map(|placing| [32, 64, 128].map(|bytes| before(bytes, placing))).collect();
    let code = Code::carried(IMC[0]).unwrap();
    let all = play(&code, &settings, More { among: &settings, twice: true }).unwrap();
    for (setting, together) in settings.iter().zip(&all.of) {
        let alone = play(&code, &[*setting], TWICE).unwrap();
        assert_eq!(alone.of[0], *together, "{setting:?}");
        // What the caches before the pipelines count is what a sweep counts.
        let without = play(&code, &[*setting], More::default()).unwrap();
        assert_eq!(without.of[0], *together, "{setting:?}");
        assert_eq!(
            together.pipeline_misses,
            together.tally(Fetch::Lines).map(|lines| lines.misses())
        );
    }
    let equals = Equals::from_run(&all);
    let direct = before(64, Placing::lru(1));
    assert_eq!(equals.as_good(&direct, all.of[1].tally(Fetch::Instruction).unwrap()), Some(64));
}

fn every_setting(design: &Design, profile: Profile) -> Vec<Setting> {
    design.treatments(profile).iter().map(|it| setting(it).unwrap()).collect()
}

#[test]
fn every_treatment_of_every_profile_has_its_cache() {
    every_setting(&design(), Profile::Thorough);
    assert!(Placing::lru(1).cache(48, 8).is_err());
    assert!(Placing::lru(0).cache(20, 8).is_err());
    assert!(Placing::lru(4).cache(16, 8).is_err());
}

/// The design for programs of those names before a choice of caches.
fn of_programs(names: &[&str], caches: &Caches) -> Design {
    let file = |name: &&str| ProgramFile {
        level: (*name).into(),
        sha256: "0".repeat(64),
        instructions_max: 1000,
        caches: Some(caches.clone()),
        ..ProgramFile::default()
    };
    let design = super::design_of_programs(&names.iter().map(file).collect::<Vec<_>>()).unwrap();
    design.check().unwrap();
    design
}

#[test]
fn a_choice_of_caches_is_every_one_that_can_be() {
    let caches = Caches {
        bytes: vec![64, 1024],
        line_bytes: vec![16, 64],
        ways: vec![0, 4],
        policies: Replacement::ALL.into(),
        cycles: true,
    };
    let design = of_programs(&["a"], &caches);
    let settings = every_setting(&design, Profile::Smoke);
    // 64 bytes are one line of 64, which is no set of four; 64 ways of a tree would be too many only
    // from 128 lines on.
    assert_eq!(settings.len(), 4 * (2 * 2 + 2 + 1));
    assert!(settings.iter().all(|setting| setting.core.is_some()));
    assert!(design.response("equal_bytes").is_none());
    let two = of_programs(&["a", "b"], &caches);
    assert_eq!(two.treatments(Profile::Smoke).len(), 2 * settings.len());
    assert!(two.response("equal_bytes").is_some());
    // The first that can be is the one that findings are about.
    let at = two.findings[0].quantity.cells()[0].clone();
    let first = setting(&two.complete(&at)).unwrap();
    assert_eq!(first.cache.to_string(), "1 set x 4 ways x 16 B, lru");
    assert!(two.findings[0].sentence.contains("64 bytes of cache with lines of 16 bytes, 4 ways"));
    let without = of_programs(&["a"], &Caches { cycles: false, ..caches.clone() });
    assert!(every_setting(&without, Profile::Smoke).iter().all(|it| it.core.is_none()));
    // Too many for a pipeline each.
    let bytes = (6..24).map(|shift| 1 << shift).collect();
    let many = of_programs(&["a"], &Caches { bytes, ..caches });
    let settings = every_setting(&many, Profile::Smoke);
    assert!(settings.len() > 64 && settings.iter().all(|it| it.core.is_none()));
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

/// Every kernel ends with its known result (a trial fails otherwise), and compression saves some of each.
#[test]
fn every_kernel_checks_itself_and_is_smaller_compressed() {
    for (name, build) in KERNELS {
        let [plain, compressed] = build.map(|elf| {
            let code = Code::carried(elf).unwrap();
            play(&code, &[before(256, Placing::lru(1))], TWICE).unwrap_or_else(|why| {
                panic!("{name}: {why:?}");
            })
        });
        let share = f64::from(compressed.text_bytes) / f64::from(plain.text_bytes);
        assert!((0.5..0.9).contains(&share), "{name}: {share}");
        assert!(
            (10_000..1_000_000).contains(&plain.instructions),
            "{name}: {}",
            plain.instructions
        );
        assert!(compressed.short > 0 && plain.short == 0, "{name}");
    }
}

/// Neither loop fits into 32 bytes; compressed, more of its lines stay there.
#[test]
fn the_picture_of_a_cache_shows_each_fetch_in_one_set() {
    let setting = before(32, Placing::lru(1));
    let picture = |build: Build| {
        let rows = super::picture::rows(&Code::carried(build[0]).unwrap(), &setting).unwrap();
        assert_eq!(rows.len(), 4);
        let cells: Vec<Vec<char>> = rows.iter().map(|row| row[2].chars().collect()).collect();
        for at in 0..cells[0].len() {
            let shown = cells.iter().filter(|row| row[at] != '·').count();
            assert_eq!((shown, cells[0].len()), (1, 40));
        }
        rows.iter().map(|row| row[1].parse::<u32>().unwrap()).sum::<u32>()
    };
    assert!(picture(IMC) < picture(IM), "{} {}", picture(IMC), picture(IM));
}
