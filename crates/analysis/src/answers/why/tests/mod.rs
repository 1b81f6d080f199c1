mod threads;

use super::{price, why};
use crate::fixture::{Trial, factor, response};
use crate::stats::interval::centre;
use model::{
    Cell, Design, Finding, NOTHING, NOTHING_AGAIN, Outcome, Quantity, Record, Resource, Squeeze,
    Subject, Unit, Wait, WaitKind, Waits, Why,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The levels of all squeezes.
fn levels() -> Vec<String> {
    let strengths = [[25, 50], [50, 100], [50, 100], [50, 100], [50, 100], [50, 75]];
    let strengths = Resource::ALL
        .into_iter()
        .zip(strengths)
        .flat_map(|(it, two)| two.map(|percent| format!("{}-{percent}", it.name())));
    [NOTHING.into(), NOTHING_AGAIN.into(), model::BESIDE.into()]
        .into_iter()
        .chain(strengths)
        .collect()
}

fn design() -> Design {
    let levels = levels();
    let pairs: Vec<(&str, Option<f64>)> =
        levels.iter().map(|level| (level.as_str(), None)).collect();
    let wall = || Quantity::Ratio {
        response: "wall_ns".into(),
        of: Cell::new([("squeeze", "cpu-50")]),
        to: Cell::new([("squeeze", NOTHING)]),
    };
    Design {
        id: "made_up".into(),
        factors: vec![factor("squeeze", &pairs)],
        responses: vec![
            response("wall_ns", Unit::Ns),
            response("taken_ppm", Unit::Ppm),
            response("cpu_lost_ppm", Unit::Ppm),
            response("co_runner_cpu_ppm", Unit::Ppm),
            response("cpu_share_ppm", Unit::Ppm),
        ],
        findings: vec![Finding {
            id: "cpu".into(),
            sentence: "{}".into(),
            quantity: wall(),
            drives: true,
        }],
        subject: Some(Subject {
            command: vec!["made".into(), "up".into()],
            squeeze: Some("squeeze".into()),
            ..Subject::default()
        }),
        ..Design::default()
    }
}

/// A machine on which a program has known elasticities.
struct World {
    elasticity: fn(Resource) -> f64,
    /// Scatter of a trial's elapsed time and of a block's, on the log scale.
    trial: f64,
    block: f64,
    /// Scatter of what is measured as taken.
    taken: f64,
    /// What the co-runners of memory and caches take from the CPU's own caches.
    own: f64,
    cpu_ppm: i64,
}

const QUIET: World =
    World { elasticity: |_| 0.0, trial: 0.02, block: 0.1, taken: 0.02, own: 0.0, cpu_ppm: 950_000 };

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let [u, v]: [f64; 2] = [rng.random::<f64>().max(1e-12), rng.random()];
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

impl World {
    fn records(&self, blocks: u32, seed: u64) -> Vec<Record> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut records = Vec::new();
        for block in 0..blocks {
            let drift = self.block * normal(&mut rng);
            for level in levels() {
                let mut log = (1e9_f64).ln() + drift + self.trial * normal(&mut rng);
                let (mut taken, mut of_cpu) = (None, 0.0_f64);
                if let Some(Squeeze::Take(resource, percent)) = Squeeze::of_level(&level) {
                    let part = f64::from(percent) / 250.0;
                    // The truth of this trial, and what is measured of it.
                    let strength = -(1.0 - part).ln();
                    log += (self.elasticity)(resource) * strength;
                    if resource.takes_cpu_time() {
                        of_cpu = if resource.compared_with() == NOTHING { 0.1 } else { self.own };
                        log += (self.elasticity)(Resource::Cpu) * -(1.0 - of_cpu).ln();
                    }
                    taken = Some(1.0 - (-(strength + self.taken * normal(&mut rng))).exp());
                }
                let ppm = |part: f64| (part * 1e6).round() as i64;
                let mut trial = Trial::new(block)
                    .at([("squeeze", level.as_str())])
                    .series("wall_ns", 1, &[log.exp().round() as i64])
                    // They had less than they cost: switches and interrupts are nobody's.
                    .series("co_runner_cpu_ppm", 1, &[ppm(of_cpu / 3.0)])
                    .series("cpu_share_ppm", 1, &[self.cpu_ppm]);
                if of_cpu > 0.0 {
                    trial = trial.series("cpu_lost_ppm", 1, &[ppm(of_cpu)]);
                }
                if let Some(taken) = taken {
                    trial = trial.series("taken_ppm", 1, &[ppm(taken)]);
                }
                records.push(trial.record());
            }
        }
        records
    }

    fn described(&self, blocks: u32, seed: u64) -> Why {
        described(&self.records(blocks, seed))
    }
}

fn described(records: &[Record]) -> Why {
    let design = design();
    why("0", "s", true, &design, records).unwrap()
}

fn of(described: &Why, resource: Resource) -> &model::SqueezeResult {
    described.squeezes.iter().find(|one| one.resource == resource).unwrap()
}

#[test]
fn a_streaming_program_lives_on_memory_though_it_is_as_elastic_to_the_cpu() {
    let world = World {
        elasticity: |it| match it {
            Resource::Cpu => 1.0,
            Resource::Memory => 0.9,
            _ => 0.0,
        },
        ..QUIET
    };
    let described = world.described(12, 1);
    assert_eq!(described.named, Some(Resource::Memory));
    assert_eq!(described.evidence, "timing and counters");
    assert!(described.answer.starts_with("This command is limited by memory access: taking 10 %"));
    // What the wakers took of the CPU is not held against wake-ups.
    let queue = of(&described, Resource::Queue);
    let e = queue.elasticity.as_ref().unwrap();
    assert!(queue.cpu_subtracted && e.low < 0.0 && e.high > 0.0, "{e:?}");
    assert!(!queue.stands);
    let residual = described.residual.unwrap();
    assert!(residual.low < 0.0 && residual.high > 0.0, "{residual:?}");
}

/// Wakers cost a loop three times what they have themselves: switches and interrupts fall to the thread that
/// is on the CPU.
#[test]
fn a_loop_lives_on_cpu_time_whatever_wake_ups_cost_it() {
    let world = World { elasticity: |it| if it == Resource::Cpu { 1.0 } else { 0.0 }, ..QUIET };
    let described = world.described(12, 1);
    assert_eq!(described.named, Some(Resource::Cpu));
    // Pointer chasing needs the latency of memory, which a co-runner that takes bandwidth may leave as it is.
    assert_eq!(described.open, [Resource::Memory], "{}", described.answer);
    assert!(described.answer.contains("hardly waits for memory bandwidth"), "{}", described.answer);
    assert!(
        described.answer.contains("the latency of memory is not known"),
        "{}",
        described.answer
    );
    for resource in [Resource::Queue, Resource::Storage] {
        let e = of(&described, resource).elasticity.as_ref().unwrap();
        assert!(e.low < 0.0 && e.high > 0.0, "{resource:?}: {e:?}");
    }
}

/// Where two CPUs are one core, a co-runner also empties the caches that a program has to itself.
#[test]
fn what_is_lost_in_the_caches_of_its_own_cpu_is_not_memory() {
    let elasticity: fn(Resource) -> f64 = |it| if it == Resource::Cpu { 1.0 } else { 0.0 };
    let described = World { elasticity, own: 0.3, ..QUIET }.described(12, 1);
    assert_eq!(described.named, Some(Resource::Cpu), "{}", described.answer);
    let memory = of(&described, Resource::Memory);
    assert!(memory.doses[1].slower.unwrap().low > 1.3 && !memory.stands, "{memory:?}");
    // Nor is it excluded: another program may lose less in those caches.
    assert!(described.open.contains(&Resource::Memory), "{described:?}");
}

#[test]
fn each_resource_is_named_when_it_is_the_one() {
    type Elasticity = fn(Resource) -> f64;
    let worlds: [(Resource, Elasticity); 5] = [
        (Resource::Cpu, |it| if it == Resource::Cpu { 1.0 } else { 0.0 }),
        (Resource::Storage, |it| if it == Resource::Storage { 0.8 } else { 0.0 }),
        (Resource::Timer, |it| if it == Resource::Timer { 0.9 } else { 0.0 }),
        (Resource::Cache, |it| match it {
            Resource::Cpu => 1.0,
            Resource::Cache => 0.7,
            _ => 0.0,
        }),
        (Resource::Queue, |it| match it {
            Resource::Cpu => 0.8,
            Resource::Queue => 0.8,
            _ => 0.0,
        }),
    ];
    for (resource, elasticity) in worlds {
        let cpu_ppm = if elasticity(Resource::Cpu) > 0.0 { 950_000 } else { 50_000 };
        let right = (0..20)
            .filter(|seed| {
                World { elasticity, cpu_ppm, ..QUIET }.described(10, *seed).named == Some(resource)
            })
            .count();
        assert!(right >= 18, "{resource:?}: {right} of 20");
    }
}

#[test]
fn of_a_program_that_waits_for_something_else_nothing_is_named() {
    let named = (0..40).filter(|seed| QUIET.described(10, *seed).named.is_some()).count();
    assert!(named <= 3, "{named} of 40");
    let described = QUIET.described(12, 7);
    assert!(described.answer.contains("it waits for something else"), "{}", described.answer);
    assert!(described.residual.unwrap().low > 0.5);
}

#[test]
fn intervals_of_elasticities_cover_the_truth() {
    let world = World { elasticity: |it| if it == Resource::Memory { 0.7 } else { 1.0 }, ..QUIET };
    let sessions = 400;
    for (resource, truth) in [(Resource::Cpu, 1.0), (Resource::Memory, 0.7)] {
        for blocks in [6, 12] {
            let covered = (0..sessions)
                .filter(|seed| {
                    let described = world.described(blocks, 1000 + seed);
                    let e = of(&described, resource).elasticity.unwrap();
                    e.low <= truth && truth <= e.high
                })
                .count();
            let share = covered as f64 / sessions as f64;
            // 95 %, and three standard errors of that number of sessions.
            assert!((0.917..=0.983).contains(&share), "{resource:?}, {blocks} blocks: {share}");
        }
    }
}

#[test]
fn where_nothing_is_taken_nothing_is_said() {
    let mut records = World { cpu_ppm: 500_000, ..QUIET }.records(8, 3);
    for record in &mut records {
        let series = &mut record.measured.as_mut().unwrap().series;
        for one in series.iter_mut().filter(|one| one.response == "taken_ppm") {
            one.values = vec![if record.block % 2 == 0 { 8_000 } else { -8_000 }];
        }
    }
    let described = described(&records);
    assert!(described.squeezes.iter().all(|one| one.elasticity.is_none() && !one.stands));
    assert!(of(&described, Resource::Memory).remark.contains("too little of it was taken"));
    assert_eq!((described.named, described.residual), (None, None));
}

#[test]
fn what_a_machine_refuses_is_said_with_its_reason() {
    let mut records = QUIET.records(8, 3);
    records.retain(|record| {
        let level = record.treatment.level("squeeze").unwrap();
        !level.starts_with("memory") && !level.starts_with("timer")
    });
    records.push(
        Trial::new(0)
            .at([("squeeze", "memory-50")])
            .ended(Outcome::Unsupported { reason: "needs a CPU beside".into() })
            .record(),
    );
    let described = described(&records);
    let reasons: Vec<_> =
        described.not_squeezed.iter().map(|not| (not.resource, not.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (Resource::Memory, "needs a CPU beside"),
            (
                Resource::Timer,
                "no trial took it: less than 20 % of the time can depend on it, or the time was up before"
            ),
        ]
    );
}

#[test]
fn a_response_that_bends_is_seen_to_bend() {
    let world = World { elasticity: |_| 1.0, ..QUIET };
    assert_eq!(of(&world.described(12, 5), Resource::Cpu).linear, Some(true));
    let mut records = world.records(12, 5);
    for record in &mut records {
        if record.treatment.level("squeeze") == Some("cpu-50") {
            let series = &mut record.measured.as_mut().unwrap().series;
            series[0].values[0] = series[0].values[0] * 3 / 2;
        }
    }
    assert_eq!(of(&described(&records), Resource::Cpu).linear, Some(false));
}

#[test]
fn counters_that_contradict_are_said_to() {
    let elasticity: fn(Resource) -> f64 = |it| if it == Resource::Cpu { 1.0 } else { 0.0 };
    let described = World { elasticity, cpu_ppm: 20_000, ..QUIET }.described(10, 2);
    assert_eq!((described.named, described.evidence.as_str()), (Some(Resource::Cpu), "timing"));
    assert!(described.warnings.iter().any(|it| it.contains("counters do not agree")));
}

#[test]
fn what_is_faster_when_squeezed_is_a_warning_and_no_verdict() {
    let elasticity: fn(Resource) -> f64 = |it| if it == Resource::Cpu { -1.0 } else { 0.0 };
    let mut records = World { elasticity, ..QUIET }.records(10, 2);
    records.retain(|record| !record.treatment.level("squeeze").unwrap().starts_with("storage"));
    let described = described(&records);
    assert_eq!(described.named, None);
    assert!(described.warnings.iter().any(|it| it.contains("faster where CPU time was taken")));
    assert!(described.answer.ends_with("Nothing is known about storage."), "{}", described.answer);
}

/// Plain trials of a program that is on a CPU for a part of its time, in the kernel for a part of that, and
/// waits for one thing the rest.
fn plain(count: u32, (cpu, kernel): (f64, f64), kind: WaitKind, what: &str) -> Vec<Record> {
    let of = |index: u32| {
        let level = if index.is_multiple_of(2) { NOTHING } else { NOTHING_AGAIN };
        let mut record = Trial::new(index / 2)
            .at([("squeeze", level)])
            .series("wall_ns", 1, &[1_000_000_000])
            .series("cpu_share_ppm", 1, &[(cpu * 1e6) as i64])
            .record();
        let measured = record.measured.as_mut().unwrap();
        let cpu_ns = cpu * 1e9;
        // Trials differ a little.
        let still_ns = (((1.0 - cpu) * 1e9) as u64).saturating_sub(u64::from(index) * 1_000_000);
        measured.counters.wall_ns = 1_000_000_000;
        measured.counters.system_ns = Some((cpu_ns * kernel) as u64);
        measured.counters.user_ns = Some((cpu_ns * (1.0 - kernel)) as u64);
        let wait = Wait {
            kind,
            what: what.into(),
            place: String::new(),
            holder: String::new(),
            ns: still_ns,
            idle_ns: 0,
            still_ns,
            turns_ns: 0,
            looks: 100,
            lasting: 0,
            renewed: 0,
        };
        let waits = Waits { looks: 100, waits: vec![wait], still_ns, ..Waits::default() };
        measured.waits = Some(Box::new(waits));
        record
    };
    (0..count).map(of).collect()
}

#[test]
fn what_it_waits_for_is_named_where_nothing_was_taken() {
    let fsync = described(&plain(6, (0.05, 0.9), WaitKind::Storage, "/tmp/x"));
    assert_eq!((fsync.named, fsync.named_wait), (Some(Resource::Storage), None));
    assert_eq!(fsync.evidence, "waits");
    assert!(fsync.answer.starts_with("This command waits for storage for 9"), "{}", fsync.answer);
    assert!(fsync.answer.ends_with("of its time: /tmp/x."), "{}", fsync.answer);
    let child = described(&plain(6, (0.05, 0.1), WaitKind::Child, ""));
    assert_eq!((child.named, child.named_wait), (None, Some(WaitKind::Child)));
    // Below six trials nothing is decided.
    let few = described(&plain(4, (0.05, 0.1), WaitKind::Child, ""));
    assert!(
        (few.named, few.named_wait) == (None, None) && few.time.kinds.len() == 1,
        "{}",
        few.answer
    );
    let mixed = described(&plain(6, (0.55, 0.1), WaitKind::Socket, ""));
    assert_eq!((mixed.named, mixed.named_wait), (None, None));
    assert!(mixed.answer.starts_with("No single thing limits this command: it is on a CPU"));
}

#[test]
fn a_program_that_runs_all_the_time_is_limited_by_the_cpu_or_the_kernel() {
    let kernel = described(&plain(6, (0.97, 0.8), WaitKind::Timer, ""));
    assert!(kernel.named_kernel && kernel.named.is_none());
    assert!(kernel.answer.contains("system calls") && kernel.evidence == "counters");
    let user = described(&plain(6, (0.97, 0.1), WaitKind::Timer, ""));
    assert_eq!((user.named, user.evidence.as_str()), (Some(Resource::Cpu), "counters"));
    // Nothing excludes that it waits for memory there.
    assert!(user.open.contains(&Resource::Memory), "{:?}", user.open);
}

#[test]
fn waits_that_contradict_what_was_taken_forbid_a_name() {
    let elasticity: fn(Resource) -> f64 = |it| if it == Resource::Storage { 0.8 } else { 0.0 };
    let mut records = World { elasticity, cpu_ppm: 970_000, ..QUIET }.records(10, 2);
    let impossible = described(&records);
    assert_eq!(impossible.named, None);
    assert!(impossible.warnings.iter().any(|it| it.contains("storage is not named")));
    let waiting = plain(6, (0.05, 0.1), WaitKind::Socket, "");
    for record in &mut records {
        let measured = record.measured.as_mut().unwrap();
        measured.waits = waiting[0].measured.as_ref().unwrap().waits.clone();
        measured.series.retain(|one| one.response != "cpu_share_ppm");
        measured.counters.wall_ns = 1_000_000_000;
    }
    let described = described(&records);
    assert!(described.warnings.iter().any(|it| it.contains("waits do not agree")));
}

/// Bursts of CPU time that are longer than a wait also stop the program after it, and delay what ends it, so the
/// elasticity to CPU time is too high.
#[test]
fn no_elasticity_says_more_than_the_time_that_can_depend_on_it() {
    let elasticity: fn(Resource) -> f64 = |it| if it == Resource::Cpu { 0.95 } else { 0.0 };
    let waits_for_storage = |cpu: f64| {
        let cpu_ppm = (cpu * 1e6) as i64;
        let mut records = World { elasticity, cpu_ppm, ..QUIET }.records(10, 2);
        assert_eq!(described(&records).named, Some(Resource::Cpu));
        let waiting = plain(6, (cpu, 0.1), WaitKind::Storage, "/tmp/x");
        for record in &mut records {
            let measured = record.measured.as_mut().unwrap();
            measured.waits = waiting[0].measured.as_ref().unwrap().waits.clone();
            measured.counters.wall_ns = 1_000_000_000;
        }
        described(&records)
    };
    let most = waits_for_storage(0.4);
    assert_eq!((most.named, most.evidence.as_str()), (Some(Resource::Storage), "waits"));
    assert!(most.answer.contains("waits for storage for 6"), "{}", most.answer);
    assert!(
        most.warnings.iter().any(|it| it.contains("CPU time is not named")),
        "{:?}",
        most.warnings
    );
    let less = waits_for_storage(0.6);
    assert_eq!(less.named, None);
    assert!(less.answer.starts_with("No single thing limits this command"), "{}", less.answer);
}

#[test]
fn only_what_can_limit_it_is_taken() {
    let mut design = design();
    for resource in [Resource::Storage, Resource::Timer] {
        let mut finding = design.findings[0].clone();
        finding.id = resource.name().into();
        let level = if resource == Resource::Timer { "timer-75" } else { "storage-100" };
        finding.quantity = Quantity::Ratio {
            response: "wall_ns".into(),
            of: Cell::new([("squeeze", level)]),
            to: Cell::new([("squeeze", NOTHING)]),
        };
        design.findings.push(finding);
    }
    let treatments = design.treatments(model::Profile::Quick);
    let taken = |records: &[Record]| -> Vec<String> {
        let records: Vec<&Record> = records.iter().collect();
        let need = super::next(&design, &records, &treatments);
        let levels = need.treatments.iter().filter_map(|it| it.level("squeeze"));
        let mut levels: Vec<String> = levels.map(String::from).collect();
        levels.sort_by_key(|level| level != NOTHING);
        levels
    };
    assert_eq!(taken(&[]), [NOTHING, "cpu-50", "storage-100", "timer-75"]);
    let runs = plain(6, (0.97, 0.1), WaitKind::Timer, "");
    assert_eq!(taken(&runs), [NOTHING, "cpu-50"]);
    let sleeps = plain(6, (0.02, 0.1), WaitKind::Timer, "");
    assert_eq!(taken(&sleeps), [NOTHING, "timer-75"]);
}

/// Few looks at many threads take what ran since for still: the kernel's CPU time bounds it.
#[test]
fn waits_are_no_longer_than_cpu_time_leaves() {
    let mut records = plain(6, (0.989, 0.1), WaitKind::Thread, "");
    for record in &mut records {
        record.observed.insert("affinity", "1");
        let waits = record.measured.as_mut().unwrap().waits.as_mut().unwrap();
        (waits.still_ns, waits.waits[0].still_ns) = (610_000_000, 608_000_000);
    }
    let found = described(&records);
    let still = found.time.still.unwrap();
    assert!(
        still.high <= 0.011 + 1e-9 && found.named_wait.is_none(),
        "{still:?}: {}",
        found.answer
    );
    // On four CPUs the same CPU time may be that of a quarter of the time.
    for record in &mut records {
        record.observed.insert("affinity", "0-2,7");
    }
    assert!((described(&records).time.still.unwrap().point - 0.61).abs() < 1e-9);
}

#[test]
fn one_rule_decides_whether_identical_treatments_differ() {
    let mut design = design();
    design.controls = vec![model::Control {
        response: "wall_ns".into(),
        a: Cell::new([("squeeze", NOTHING)]),
        b: Cell::new([("squeeze", NOTHING_AGAIN)]),
    }];
    let differing = |blocks: u32| {
        let mut records = World { trial: 0.001, ..QUIET }.records(blocks, 4);
        for record in &mut records {
            if record.treatment.level("squeeze") == Some(NOTHING_AGAIN) {
                let series = &mut record.measured.as_mut().unwrap().series;
                series[0].values[0] = series[0].values[0] * 98 / 100;
            }
        }
        let records_of: Vec<&Record> = records.iter().collect();
        let table = crate::session::sample::Table::new(&design, records_of);
        let differs = crate::session::summary::trust(&[table]).controls[0].differs;
        let said = why("0", "s", true, &design, &records).unwrap().warnings;
        assert_eq!(said.iter().any(|it| it.contains("identical treatments differ")), differs);
        differs
    };
    // The interval excludes 1 at both; only the second has blocks enough for a verdict.
    assert_eq!([differing(7), differing(14)], [false, true]);
}

#[test]
fn a_design_without_squeezes_is_not_asked() {
    let mut design = design();
    design.subject = None;
    assert_eq!(why("0", "s", true, &design, &[]), None);
}

#[test]
fn ten_percent_of_all_it_lives_on_costs_a_ninth() {
    let one = centre(&[1.0; 8]).unwrap();
    let described = price(&one, 0.5).unwrap();
    assert_eq!(described.part, 0.1);
    assert!((described.cost.point - 1.0 / 9.0).abs() < 1e-12);
    // Little was taken: no more than 1.5 times that is shown.
    let described = price(&one, 0.02).unwrap();
    assert!((described.part - 0.0295545).abs() < 1e-6, "{}", described.part);
    assert_eq!(price(&one, 0.0), None);
}
