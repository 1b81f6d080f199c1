//! One station that a fixed number of customers share: the machine repairman, M/M/1//N, and its
//! form with c servers, M/M/c//N (Kleinrock 1975, 3.8; Feller 1957).
//!
//! Each customer thinks for an exponential time with the mean Z, then asks for a service with the
//! exponential mean S and waits for it. What is known of machines that break and are repaired is
//! true of threads that compute and share a lock, and of clients that share a server.

use super::{Steady, count};
use crate::Error;
use crate::error::{not_negative, positive, representable};

/// The steady state of `servers` that `customers` share. The probabilities of each number of
/// customers present follow from birth and death, summed in logarithms, so that thousands of
/// customers neither overflow nor vanish.
///
/// `think` Z may be 0: then all customers are always present.
///
/// # Errors
/// If there is no customer or server, `service` is not above 0, or `think` is negative.
pub fn repairman(customers: u32, think: f64, service: f64, servers: u32) -> Result<Steady, Error> {
    let n = count("customers", customers)?;
    let c = count("servers", servers)?;
    let think = not_negative("think time", think)?;
    let service = positive("service time", service)?;
    if think == 0.0 {
        return state(n.min(c), n, service, c);
    }
    // ln p(k) − ln p(0): customers come at (n − k)/Z and go at min(k, c)/S.
    let step = (service.ln() - think.ln()).clamp(-1e4, 1e4);
    let mut logs = Vec::with_capacity(customers as usize + 1);
    let mut log = 0.0;
    logs.push(log);
    for present in 1..=customers {
        let k = f64::from(present);
        log += step + (n - k + 1.0).ln() - k.min(c).ln();
        logs.push(log);
    }
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut busy, mut present) = (0.0, 0.0, 0.0);
    for (k, log) in logs.iter().enumerate() {
        let chance = (log - highest).exp();
        sum += chance;
        busy += chance * (k as f64).min(c);
        present += chance * k as f64;
    }
    state(busy / sum, present / sum, service, c)
}

/// The state of c servers of which `busy` serve, with `present` customers there, on average.
fn state(busy: f64, present: f64, service: f64, servers: f64) -> Result<Steady, Error> {
    let throughput = positive("throughput", busy / service)?;
    let response = representable("response time", present / busy * service)?;
    // More digits than response − service, where nobody waits.
    let queued = (present - busy).max(0.0);
    let wait = queued / busy * service;
    let utilisation = busy / servers;
    Ok(Steady { throughput, utilisation, queued, present, wait, response })
}
