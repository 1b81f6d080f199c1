use super::{CATALOG, PLANTED, WORKS};
use kit::model::{Level, NumaNode, Profile, Quantity, Relation, Topology, Treatment, Unit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The responses of this prefix are tags, which analysis gives to trials.
const TAG: &str = "tag_";

const SUFFIXED: [Unit; 5] = [Unit::Ns, Unit::Bytes, Unit::Count, Unit::Ppm, Unit::PerSecond];

#[test]
fn every_design_is_consistent_and_named_like_its_experiment() {
    for experiment in CATALOG {
        let design = (experiment.design)();
        assert_eq!(design.id, experiment.id);
        if let Err(error) = design.check() {
            panic!("{error}");
        }
        assert!(!design.treatments(Profile::Smoke).is_empty(), "{} in smoke", design.id);
        assert!(design.question.ends_with('?'), "{} asks nothing", design.id);
        assert!(!design.findings.is_empty(), "{} answers nothing", design.id);
        for response in &design.responses {
            assert!(!response.card.from.is_empty(), "{} has no card", response.name);
            assert!(!response.card.source.is_empty(), "{} has no source", response.name);
        }
    }
}

#[test]
fn larger_profiles_measure_at_least_as_much() {
    let profiles = [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough];
    for experiment in CATALOG {
        let design = (experiment.design)();
        for pair in profiles.windows(2) {
            let (less, more) = (design.treatments(pair[0]), design.treatments(pair[1]));
            assert!(less.iter().all(|t| more.contains(t)), "{}: {pair:?}", design.id);
        }
    }
}

#[test]
fn what_a_quantity_compares_is_measured_in_some_profile() {
    for experiment in CATALOG {
        let design = (experiment.design)().on(&[0, 1, 2, 3], &server());
        let all = design.treatments(Profile::Thorough);
        let quantities = design
            .findings
            .iter()
            .map(|finding| (&finding.id, &finding.quantity))
            .chain(design.claims.iter().map(|claim| (&claim.id, &claim.quantity)));
        for (id, quantity) in quantities {
            for cell in quantity.cells() {
                let met = all.iter().any(|treatment| treatment.matches(cell));
                assert!(met, "{} {id}: nothing matches {cell:?}", design.id);
            }
        }
    }
}

/// Two packages of a core with two threads each, with a NUMA node each.
pub(crate) fn server() -> Topology {
    let packages = vec![vec![0, 2], vec![1, 3]];
    let node = |(node, cpus)| NumaNode { node, cpus, memory_bytes: 1 << 30 };
    let nodes = (0..).zip(packages.clone()).map(node).collect();
    Topology { cores: packages.clone(), packages, nodes, ..Topology::default() }
}

#[test]
fn levels_that_follow_the_machine_are_measured_by_quick_alone_where_the_machine_has_them() {
    for (cpus, topology, more) in
        [(&[0][..], Topology::default(), false), (&[0, 1, 2, 3], server(), true)]
    {
        let placed = CATALOG.iter().map(|it| (it.design)().on(cpus, &topology));
        let names = [Relation::Siblings.name(), Relation::Packages.name(), kit::model::FAR];
        let has = |it: &Treatment| it.0.values().any(|level| names.contains(&level.as_str()));
        let found: Vec<String> = placed
            .filter(|design| design.treatments(Profile::Quick).iter().any(has))
            .map(|design| design.id)
            .collect();
        let expected = [
            "speedup",
            "allocator",
            "counters",
            "create",
            "false_sharing",
            "fault",
            "switch",
            "wake",
        ];
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        let expected = if more { &expected[..] } else { &[] };
        assert_eq!(found, expected.iter().copied().collect());
    }
    // The counts of workers go as far as the machine, and one beyond.
    let cpus: Vec<u32> = (0..64).collect();
    for experiment in ["speedup", "workers", "counters", "allocator"] {
        let design = CATALOG.iter().find(|it| it.id == experiment).unwrap();
        let quick = (design.design)().on(&cpus, &Topology::default()).treatments(Profile::Quick);
        let most = quick.iter().flat_map(|it| it.0.values().filter_map(|n| n.parse::<u64>().ok()));
        assert_eq!(most.filter(|n| *n <= 256).max(), Some(128), "{experiment}");
    }
}

#[test]
fn every_experiment_declares_its_figures_and_each_shows_something() {
    for experiment in CATALOG.iter().chain(PLANTED) {
        let design = (experiment.design)().on(&[0, 1, 2, 3], &server());
        assert!((1..=5).contains(&design.figures.len()), "{}", design.id);
        for figure in &design.figures {
            let at = format!("{} {}", design.id, figure.id);
            let shown = figure.plot.treatments(&design, Profile::Thorough);
            assert!(shown.len() > 1, "{at}: {shown:?}");
            for factor in &figure.plot.by {
                let levels: BTreeSet<_> = shown.iter().map(|it| it.level(factor)).collect();
                assert!(levels.len() > 1, "{at}: {factor} does not vary");
            }
        }
        let main = design.findings[0].quantity.response();
        let mut drawn = design.figures.iter().flat_map(|figure| &figure.plot.responses);
        assert!(drawn.any(|name| name == main), "{} does not draw {main}", design.id);
    }
}

/// The first figure of an experiment is the only one that a reader sees before they ask for more.
#[test]
fn the_first_figure_of_an_experiment_is_small_and_named_in_words() {
    for experiment in CATALOG {
        let design = (experiment.design)();
        let figure = &design.figures[0];
        let plot = &figure.plot;
        let at = format!("{} {}: {}", design.id, figure.id, figure.title);
        let shown = plot.treatments(&design, Profile::Quick);
        assert!(plot.responses.len() == 1 && plot.by.len() == plot.lines_of(), "{at}: panels");
        let line = |it: &Treatment| {
            plot.by.iter().map(|name| it.level(name).map(String::from)).collect::<Vec<_>>()
        };
        let lines = shown.iter().map(line).collect::<BTreeSet<_>>().len();
        assert!((1..=if plot.over.is_some() { 5 } else { 8 }).contains(&lines), "{at}: {lines}");
        assert!(figure.title.len() > 15 && !figure.title.contains('_'), "{at}");
        if let Some(over) = plot.over.as_ref().and_then(|name| design.factor(name)) {
            assert!(!over.label.is_empty(), "{at}: {} has no label", over.name);
            assert!(figure.title.contains("against"), "{at}");
        }
        for factor in plot.by.iter().filter_map(|name| design.factor(name)) {
            let used =
                |level: &&Level| shown.iter().any(|it| it.level(&factor.name) == Some(&level.name));
            for level in factor.levels.iter().filter(used) {
                let said = !level.label.is_empty() || !level.name.contains('_');
                assert!(said, "{at}: {} has no label", level.name);
            }
        }
    }
}

#[test]
fn a_group_of_headlines_has_one_unit_and_each_question_one_place() {
    let mut units = std::collections::BTreeMap::new();
    let mut labels = BTreeSet::new();
    for experiment in CATALOG {
        let design = (experiment.design)();
        for headline in &design.headlines {
            let at = format!("{} {}", design.id, headline.of);
            let twice = !labels.insert((headline.group.clone(), headline.label.clone()));
            assert!(!twice, "{at}: {} stands in its group twice", headline.label);
            let finding = design.findings.iter().find(|finding| finding.id == headline.of);
            let claim = design.claims.iter().find(|claim| claim.id == headline.of);
            let quantity = finding.map(|it| &it.quantity).or(claim.map(|it| &it.quantity));
            let Some(quantity) = quantity else { panic!("{at} is neither finding nor claim") };
            let unit = match quantity {
                Quantity::Value { response, .. } => design.response(response).map(|it| &it.unit),
                _ => None,
            };
            if headline.yes.is_none() {
                let unit = unit.cloned();
                let known = units.entry(headline.group.clone()).or_insert(unit.clone());
                assert_eq!(*known, unit, "{at}: {}", headline.group);
            }
        }
    }
    assert!(labels.len() > 20, "{labels:?}");
}

/// Compares the names of the responses that an experiment declares with the string literals of its
/// files and of the modules of `support` that they import, in both directions.
///
/// The test cannot see whether a literal reaches [`kit::Trial::record`], nor in which treatments, nor,
/// among names that only code has, one without the suffix of a unit. The names that trials really
/// record are compared with the declared ones where all experiments run (`lab/tests/face.rs`).
#[test]
fn responses_are_declared_and_recorded_under_the_same_names() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut declared_anywhere, mut wrong) = (BTreeSet::new(), Vec::new());
    for experiment in CATALOG.iter().chain(PLANTED) {
        let design = (experiment.design)();
        let code = code(&source.join(experiment.id.replacen("planted_", "planted/", 1)));
        let shared: String = imported(&code).map(|module| read(&source.join(module))).collect();
        let declared: BTreeSet<&str> = design.responses.iter().map(|it| it.name.as_str()).collect();
        let (own, shared) = (literals(&code), literals(&shared));
        for name in declared.iter().filter(|name| !name.starts_with(TAG)) {
            if !own.contains(*name) && !shared.contains(*name) {
                wrong.push(format!("{}: no code names the response {name}", design.id));
            }
        }
        for name in own.into_iter().filter(|name| looks_like_a_response(name)) {
            if !declared.contains(name) && design.factor(name).is_none() {
                wrong.push(format!("{}: its code names {name}, which is not declared", design.id));
            }
        }
        declared_anywhere.extend(declared.into_iter().map(str::to_string));
    }
    let support = code(&source.join("support"));
    for name in literals(&support).into_iter().filter(|name| looks_like_a_response(name)) {
        if !declared_anywhere.contains(name) {
            wrong.push(format!("support: no experiment declares {name}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the code of `PLACE.rs`, or of all files in the folder `PLACE`, without tests.
fn code(place: &Path) -> String {
    let file = place.with_extension("rs");
    if file.is_file() {
        return read(&file);
    }
    let entries = std::fs::read_dir(place).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_dir() || path.extension().is_some_and(|it| it == "rs"));
    paths.iter().map(|path| if path.is_dir() { code(path) } else { read(path) }).collect()
}

fn read(file: &Path) -> String {
    if file.ends_with("tests.rs") {
        return String::new();
    }
    let text = std::fs::read_to_string(file).unwrap();
    text.split("\nmod tests {").next().unwrap_or_default().to_string()
}

/// Returns the files of `support` that code imports.
fn imported(code: &str) -> impl Iterator<Item = String> {
    let lines = code.lines().filter(|line| line.contains("support::"));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let modules = ["counting", "party", "passes", "storage"];
    let used: BTreeSet<&str> = words.filter(|word| modules.contains(word)).collect();
    used.into_iter().map(|module| format!("support/{module}.rs")).collect::<Vec<_>>().into_iter()
}

/// Returns the string literals that can be names, except those of observed facts and of checks.
fn literals(code: &str) -> BTreeSet<&str> {
    let pieces: Vec<&str> = code.split('"').collect();
    let is_name = |piece: &str| {
        !piece.is_empty() && piece.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_no_record =
        |before: &str| ["observe(", "check("].iter().any(|call| before.trim_end().ends_with(call));
    pieces
        .windows(2)
        .filter(|pair| is_name(pair[1]) && !is_no_record(pair[0]))
        .map(|pair| pair[1])
        .collect()
}

fn looks_like_a_response(name: &str) -> bool {
    SUFFIXED.iter().filter_map(Unit::suffix).any(|suffix| name.ends_with(suffix))
}

/// Reports whether a source is a manual page, such as `fork(2)`, with or without a place in it.
fn is_manual_page(source: &str) -> bool {
    let (name, rest) = source.split_once('(').unwrap_or((source, ""));
    let named = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let mut rest = rest.chars();
    let section = rest.next().is_some_and(|c| ('1'..='8').contains(&c));
    named && !name.is_empty() && section && rest.next() == Some(')')
}

#[test]
fn every_claim_cites_what_can_be_looked_up() {
    let mut cited = BTreeSet::new();
    for experiment in CATALOG {
        for claim in (experiment.design)().claims {
            let source = claim.source.as_str();
            let work = WORKS.values().find(|work| {
                let rest = source.strip_prefix(work.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
            });
            let said = ["often said", "often said in lab reports", "docs/icache.md"];
            let known = work.is_some() || is_manual_page(source) || said.contains(&source);
            assert!(known, "{}.{}: {source}", experiment.id, claim.id);
            cited.extend(work);
        }
    }
    let unused: Vec<_> = WORKS.values().filter(|work| !cited.contains(work)).collect();
    assert!(unused.is_empty(), "works that no claim cites: {unused:?}");
    assert!(cited.len() > 10, "the file of references was not read");
}

/// The first blocks of a preset.
const BLOCKS_OF_PRESET: u64 = 10;

/// What a preset names is real, or it could not be read; what it leaves of an experiment must still answer.
/// Its levels are written out, so that an experiment's new level does not enlarge it, and its first blocks fit
/// into its time by what trials cost in the recorded session.
#[test]
fn every_preset_measures_what_its_figures_and_answers_need() {
    for preset in crate::presets() {
        let name = preset.about.name;
        assert!(name.contains('-'), "{name} could be an experiment");
        assert!(preset.about.question.ends_with('?') && preset.time_budget_s > 0, "{name}");
        let base_ns = |design: &kit::model::Design| {
            let treatments = design.treatments(Profile::Quick);
            let costs_ns = treatments.iter().map(|it| crate::typical_trial_ns(&design.id, it));
            let costs_ns: Vec<u64> = costs_ns.collect();
            assert!(!costs_ns.contains(&0), "{name}: nobody knows what {} costs", design.id);
            costs_ns.iter().sum::<u64>() * BLOCKS_OF_PRESET
        };
        let all_ns: u64 = preset.designs.iter().map(base_ns).sum();
        assert!(
            all_ns <= preset.time_budget_s * 1_000_000_000,
            "{name}: {} s",
            all_ns / 1_000_000_000
        );
        for design in preset.designs {
            let by_value =
                |levels: &Vec<String>| !levels.is_empty() && levels[0] != kit::model::OF_MACHINE;
            let mut varied = design.grids.iter().flat_map(|grid| &grid.vary);
            assert!(varied.all(|(_, levels)| by_value(levels)), "{name} {}: \"all\"", design.id);
            let at = format!("{name} {}", design.id);
            let planned = design.treatments(Profile::Smoke);
            assert!(!design.findings.is_empty() && !design.figures.is_empty(), "{at}");
            for figure in &design.figures {
                let shown = figure.plot.treatments(&design, Profile::Smoke);
                assert!(shown.len() > 1, "{at} {}", figure.id);
            }
            for claim in &design.claims {
                assert!(claim.quantity.is_planned(&design, &planned), "{at} {}", claim.id);
            }
        }
    }
}
