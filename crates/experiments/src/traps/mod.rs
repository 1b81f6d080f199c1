//! Why are traps control hazards?
//!
//! Programs that do one thing N times run on the machine of [`isa`] and through its pipeline; the
//! same program without that thing runs beside them. Nothing is timed: all numbers are computed.

mod exhibits;
mod programs;
mod run;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;

use kit::{Result, Stop, Trial};
use programs::{EVENTS, Event, INTERVALS, Plan};
use run::{CACHES, Caching, Compared, STAGES, Way};

experiment!("traps", "traps.toml");

/// How often the event happens in a trial.
const EVENTS_EACH: u64 = 256;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let event = trial.pick("event", &EVENTS)?;
    let (plan, way) = treatment(trial, event)?;
    // Nothing is timed. What the machine counts meanwhile says what computing it took.
    trial.begin()?;
    let compared = Compared::by(&plan, &way)?;
    let again = Compared::by(&plan, &way)?;
    trial.end()?;
    trial.check("the same numbers twice", f64::from(u8::from(compared == again)), 1.0, 1.0);
    check(trial, &plan, &compared);
    record(trial, &plan, &way, &compared);
    exhibits::show(trial, &plan, &way)
}

fn treatment(trial: &Trial<'_>, event: Event) -> Result<(Plan, Way)> {
    let interval = trial.number("interval")?;
    if !INTERVALS.contains(&interval) {
        return Err(Stop::failed(format!("no loop of {interval} instructions can be written")));
    }
    let latency = u16::try_from(trial.number("latency")?)
        .map_err(|_| Stop::failed("no such redirect latency"))?;
    let caching = trial.pick("cache", &CACHES)?;
    let stage = trial.pick("stage", &STAGES)?;
    let handler_apart = caching == Caching::Apart;
    let plan = Plan { event, interval, rounds: EVENTS_EACH, handler_apart, shows_state: false };
    Ok((plan, Way { stage, latency, caching }))
}

fn check(trial: &mut Trial<'_>, plan: &Plan, compared: &Compared) {
    let traps = (plan.event.traps() * plan.rounds) as f64;
    trial.check("traps taken", compared.with.traps as f64, traps, traps);
    trial.check("traps without the event", compared.without.traps as f64, 0.0, 0.0);
    let retires = plan.write().retires as f64;
    trial.check("instructions retired", compared.with.cycles.retired as f64, retires, retires);
    for (name, run) in [("with", &compared.with), ("without", &compared.without)] {
        let total = run.cycles.total() as f64;
        let name = format!("cycles by cause sum to the last cycle, {name} the event");
        trial.check(&name, run.last_cycle as f64, total, total);
    }
}

fn record(trial: &mut Trial<'_>, plan: &Plan, way: &Way, compared: &Compared) {
    let (event, rounds) = (plan.event, plan.rounds);
    let happens = event.traps().max(1) * rounds;
    let (traps, cycles) = (compared.with.traps, &compared.with.cycles);
    let total = cycles.total();
    for (name, part, whole) in [
        ("trap_ppm", traps, cycles.retired + cycles.trapped),
        ("cost_ppm", cycles.trapped + cycles.trap + cycles.trap_return, total),
        ("redirect_ppm", cycles.control, total),
    ] {
        trial.record(name, whole.max(1), vec![part.saturating_mul(1_000_000) as i64]);
    }
    trial.record_one("cycle_count", total as i64);
    trial.record("lost_count", happens, vec![compared.lost(event) as i64]);
    trial.record("whole_count", rounds, vec![compared.whole()]);
    let share_ppm = compared.whole() as f64 * 1e6 / total as f64;
    trial.record_one("whole_ppm", share_ppm.round() as i64);
    if event.traps() > 0 {
        trial.record("again_count", rounds, vec![compared.with.again as i64]);
        let back = compared.with.cycles.trap_return;
        trial.record("return_count", happens, vec![back as i64]);
    }
    if way.caching != Caching::None {
        let misses = compared.with.misses as i64 - compared.without.misses as i64;
        trial.record("misses_count", rounds, vec![misses]);
    }
}
