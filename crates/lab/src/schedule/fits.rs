//! What the time suffices for: the questions of a session in the order of their importance, each with all
//! the blocks that its verdict takes. Blocks beyond these give way first, then treatments.

use super::Course;
use analysis::Rank;
use model::Treatment;

/// A question of a session that still takes time.
struct Waiting<'c> {
    rank: Rank,
    /// What its missing trials are likely to take, in ns.
    rest_ns: u64,
    course: usize,
    places: &'c [usize],
}

/// What fits into the time.
struct Fits {
    /// The treatments of each experiment.
    taken: Vec<Vec<bool>>,
    /// By how many blocks fewer than planned.
    less: u32,
    /// What these are likely to take, and what all planned blocks are, in ns.
    taken_ns: u64,
    all_ns: u64,
}

/// Trials may take longer than those before them: so much of the time is kept.
const SPARE: f64 = 1.15;

/// Returns what fits into the time: with fewer blocks, as long as a verdict may come from them, where not all
/// main answers and claims fit otherwise. A few claims take most of the time: these are left out before the last
/// block that all need.
fn fitting(courses: &[Course], left_ns: u64) -> Fits {
    let claims: usize = courses.iter().map(|course| course.design.claims.len()).sum();
    let planned = courses.iter().map(|course| course.blocks).max().unwrap_or_default();
    let answers = |taken: &[Vec<bool>]| {
        let mut questions = courses.iter().zip(taken).flat_map(|(course, taken)| {
            let asked = course.questions.iter();
            let asked = asked.filter(|(rank, _)| matches!(rank, Rank::Headline | Rank::Claim));
            asked.map(|(_, places)| places.iter().all(|place| taken[*place]))
        });
        questions.all(|is_taken| is_taken)
    };
    let whole = fitting_with(courses, left_ns, 0);
    if answers(&whole.taken) || whole.all_ns <= left_ns {
        return whole;
    }
    let most_less = planned.saturating_sub(analysis::fewest_blocks_for(claims));
    let fewer = |less| Fits { all_ns: whole.all_ns, ..fitting_with(courses, left_ns, less) };
    let all = (1..most_less).map(fewer).find(|fits| answers(&fits.taken));
    all.unwrap_or_else(|| fewer(most_less))
}

/// Returns the treatments of each experiment whose blocks fit into the time, and what all are likely to take. The
/// more important question goes first, of two such the cheaper.
fn fitting_with(courses: &[Course], left_ns: u64, less: u32) -> Fits {
    let left_ns = (left_ns as f64 / SPARE) as u64;
    let mut rests: Vec<Vec<u64>> = Vec::with_capacity(courses.len());
    let mut taken: Vec<Vec<bool>> = Vec::with_capacity(courses.len());
    for course in courses {
        let places = 0..course.treatments.len();
        rests.push(places.clone().map(|place| course.rest_of(place, less)).collect());
        taken.push(vec![false; places.len()]);
    }
    let mut waiting: Vec<Waiting<'_>> = Vec::new();
    for (index, course) in courses.iter().enumerate() {
        waiting.extend(course.questions.iter().map(|(rank, places)| {
            let each_ns = places.iter().map(|place| rests[index][*place]);
            let rest_ns = each_ns.fold(0, u64::saturating_add);
            let rank = (*rank).min(course.least_rank());
            Waiting { rank, rest_ns, course: index, places }
        }));
    }
    waiting.sort_by_key(|one| (one.rank, one.rest_ns));
    let (mut fits_ns, mut all_ns, mut is_full) = (0_u64, 0_u64, false);
    let mut counted = taken.clone();
    for one in waiting {
        let fresh = |of: &[Vec<bool>]| -> u64 {
            let places = one.places.iter().filter(|place| !of[one.course][**place]);
            places.map(|place| rests[one.course][*place]).fold(0, u64::saturating_add)
        };
        all_ns = all_ns.saturating_add(fresh(&counted));
        one.places.iter().for_each(|place| counted[one.course][*place] = true);
        let with_ns = fits_ns.saturating_add(fresh(&taken));
        // What costs nothing more is measured anyway; behind the first that does not fit nothing is. The most
        // important is always begun: recorded costs of another machine may be too high.
        is_full |= with_ns > left_ns && fits_ns > 0;
        if with_ns == fits_ns || !is_full {
            fits_ns = with_ns;
            one.places.iter().for_each(|place| taken[one.course][*place] = true);
        }
    }
    Fits { taken, less, taken_ns: fits_ns, all_ns }
}

/// Returns the treatments of each experiment whose blocks fit into the time, and by how many blocks fewer than
/// planned; `None` where all fit.
pub(super) fn chosen(courses: &[Course], left_ns: u64) -> Option<(Vec<Vec<Treatment>>, u32)> {
    let Fits { mut taken, less, all_ns, .. } = fitting(courses, left_ns);
    // Until each experiment has a trial that says what its own take, what no claim and no main answer needs is not
    // begun: where the time does not suffice for it, it would take that of a block.
    let is_unknown = courses.iter().any(|course| course.trials == 0 && course.asks_main(None));
    for (course, taken) in courses.iter().zip(&mut taken).filter(|_| is_unknown) {
        taken.iter_mut().enumerate().for_each(|(at, taken)| *taken &= course.asks_main(Some(at)));
    }
    let of = |(course, taken): (&Course, &Vec<bool>)| {
        let base = course.base.iter().filter(|it| course.is_taken(it, taken));
        base.cloned().collect()
    };
    (all_ns > left_ns || is_unknown).then(|| (courses.iter().zip(&taken).map(of).collect(), less))
}

/// What a session is likely to decide in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// Headlines and claims whose blocks fit into the time, and all, of experiments that are measured.
    pub(crate) headlines: (usize, usize),
    pub(crate) claims: (usize, usize),
    /// By how many blocks fewer than planned they fit.
    pub(crate) less: u32,
    /// What the blocks of all experiments' headlines, and of everything, are likely to take, in ns.
    pub(crate) headlines_ns: u64,
    pub(crate) all_ns: u64,
}

/// Returns what a session is likely to decide if it has `left_ns` more to measure in; `None` where nobody
/// knows how long the trials of an experiment take.
pub(crate) fn forecast(courses: &[Course], left_ns: u64) -> Option<Forecast> {
    if courses.iter().any(|course| !course.treatments.is_empty() && course.cost_ns(1) == 0) {
        return None;
    }
    let Fits { taken, less, taken_ns, all_ns } = fitting(courses, left_ns);
    // What is begun because it is the most important need not fit.
    let fits = |taken: &[bool], places: &[usize]| {
        taken_ns <= left_ns && places.iter().all(|place| taken[*place])
    };
    let count = |rank: Rank| {
        let of = courses.iter().zip(&taken).flat_map(|(course, taken)| {
            let own = course.questions.iter().filter(move |(own, _)| *own == rank);
            own.filter(|(_, places)| !places.is_empty() && !course.is_refused(places))
                .map(|(_, places)| fits(taken, places))
        });
        let fits: Vec<bool> = of.collect();
        (fits.iter().filter(|fits| **fits).count(), fits.len())
    };
    let mut headlines_ns = 0_u64;
    for course in courses {
        let mut places: Vec<usize> = course
            .questions
            .iter()
            .filter(|(rank, _)| *rank <= Rank::Headline)
            .flat_map(|(_, places)| places.iter().copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        let each_ns = places.into_iter().map(|place| course.rest_of(place, less));
        headlines_ns = each_ns.fold(headlines_ns, u64::saturating_add);
    }
    Some(Forecast {
        headlines: count(Rank::Headline),
        claims: count(Rank::Claim),
        less,
        headlines_ns,
        all_ns,
    })
}
