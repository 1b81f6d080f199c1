//! Closed forms of queues that only tests need: what the room's formulas and its simulation are held
//! against, and what docs/laws.md shows. Nothing is checked here: a test gives numbers that are right.

use laws::queue::Steady;
use laws::queue::many::erlang_c;
use laws::roots::bisect;

/// Returns an open station of one server where jobs wait for `wait`.
fn open(arrivals: f64, service: f64, wait: f64) -> Steady {
    let response = wait + service;
    Steady {
        throughput: arrivals,
        utilisation: arrivals * service,
        queued: arrivals * wait,
        present: arrivals * response,
        wait,
        response,
    }
}

/// Returns M/D/1: every service takes the same `service` time. Half the wait of M/M/1.
pub(crate) fn md1(arrivals: f64, service: f64) -> Steady {
    let busy = arrivals * service;
    open(arrivals, service, busy * service / (2.0 * (1.0 - busy)))
}

/// Returns M/M/1: service times are exponential with the mean `service` (Kleinrock 1975, 3.2).
pub(crate) fn mm1(arrivals: f64, service: f64) -> Steady {
    let busy = arrivals * service;
    open(arrivals, service, busy * service / (1.0 - busy))
}

/// Returns the time that a share `probability` of M/M/1's jobs stays within, first come first served:
/// the response time is exponential with the mean W.
pub(crate) fn mm1_response_quantile(arrivals: f64, service: f64, probability: f64) -> f64 {
    -(-probability).ln_1p() * mm1(arrivals, service).response
}

/// Returns the time that a share `probability` of M/M/1's jobs waits at most, first come first served;
/// 0 where the server is free for that share.
pub(crate) fn mm1_wait_quantile(arrivals: f64, service: f64, probability: f64) -> f64 {
    let station = mm1(arrivals, service);
    // P(wait > t) = ρ exp(−t/W).
    ((station.utilisation / (1.0 - probability)).ln() * station.response).max(0.0)
}

/// Returns the time that a share `p` of M/M/c's jobs waits at most, first come first served, from
/// P(wait > t) = C exp(−(c − a) t / S); 0 where that share finds a server free.
pub(crate) fn mmc_wait_quantile(arrivals: f64, service: f64, servers: u32, p: f64) -> f64 {
    let offered = arrivals * service;
    let waits = erlang_c(servers, offered).unwrap();
    ((waits / (1.0 - p)).ln() * service / (f64::from(servers) - offered)).max(0.0)
}

/// Returns the time that a share `p` of M/M/c's jobs stays within, first come first served: the sum of
/// a wait and an exponential service (Kleinrock 1975, problem 3.10), inverted by bisection.
pub(crate) fn mmc_response_quantile(arrivals: f64, service: f64, servers: u32, p: f64) -> f64 {
    let offered = arrivals * service;
    let waits = erlang_c(servers, offered).unwrap();
    let later = |t: f64| stays_longer(waits, f64::from(servers) - offered, t) > 1.0 - p;
    let mut high = 1.0;
    while later(high) && high < 1e300 {
        high *= 2.0;
    }
    bisect(0.0, high, later) * service
}

/// Returns the probability that a job stays longer than `t` services where a part `waits` of them wait
/// for an exponential time of the rate `drain` per service.
fn stays_longer(waits: f64, drain: f64, t: f64) -> f64 {
    // e^(−t) + C (e^(−t) − e^(−drain t)) / (drain − 1), and its limit C t e^(−t) at drain = 1.
    let apart = drain - 1.0;
    if apart.abs() * t < 1e-9 {
        return (-t).exp() * (1.0 + waits * t);
    }
    (-t).exp() + waits * ((-t).exp() - (-drain * t).exp()) / apart
}

/// Returns the steady state of `servers` that `customers` share: the machine repairman, M/M/1//N, and
/// its form with c servers, M/M/c//N (Kleinrock 1975, 3.8; Feller 1957). Each customer thinks for an
/// exponential time with the mean `think`, then waits for a service with the exponential mean
/// `service`. With a `think` of 0 all customers are always present.
///
/// The probabilities of each number of customers present follow from birth and death, summed in
/// logarithms, so that thousands of customers neither overflow nor vanish.
pub(crate) fn repairman(customers: u32, think: f64, service: f64, servers: u32) -> Steady {
    let (n, c) = (f64::from(customers), f64::from(servers));
    if think == 0.0 {
        return shared(n.min(c), n, service, c);
    }
    // ln p(k) − ln p(0): customers come at (n − k)/Z and go at min(k, c)/S.
    let step = (service.ln() - think.ln()).clamp(-1e4, 1e4);
    let mut logs = vec![0.0];
    let mut log = 0.0;
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
    shared(busy / sum, present / sum, service, c)
}

/// Returns the state of c servers of which `busy` serve, with `present` customers there, on average.
fn shared(busy: f64, present: f64, service: f64, servers: f64) -> Steady {
    // More digits than response − service, where nobody waits.
    let queued = (present - busy).max(0.0);
    Steady {
        throughput: busy / service,
        utilisation: busy / servers,
        queued,
        present,
        wait: queued / busy * service,
        response: present / busy * service,
    }
}

/// A place where a request spends time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Center {
    /// One server with a queue; the demand of a request there, all visits together.
    Queue(f64),
    /// As many servers as customers: nobody waits. The time of a request there.
    Delay(f64),
}

/// What a closed network does with n customers.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Requests done per unit of time.
    pub(crate) throughput: f64,
    /// How long a request takes, all stations together, without thinking.
    pub(crate) response: f64,
    /// Customers at each station, on average.
    pub(crate) present: Vec<f64>,
    /// The part of its time that each station is busy; for a delay, the customers there.
    pub(crate) utilisation: Vec<f64>,
}

/// Returns what a network with `customers` that think for `think` on average between requests does, by
/// exact mean value analysis (M. Reiser and S. S. Lavenberg, *Mean-value analysis of closed multichain
/// queuing networks*, Journal of the ACM 27, 1980), for one class of customers. It holds for
/// exponential service in order of arrival, and for any service that is shared equally.
pub(crate) fn mva(customers: u32, think: f64, stations: &[Center]) -> Network {
    let mut network =
        Network { throughput: 0.0, response: 0.0, present: Vec::new(), utilisation: Vec::new() };
    network.present.resize(stations.len(), 0.0);
    for n in 1..=customers {
        // A customer who arrives finds the queue that would be there without him.
        let at = |(&station, &before): (&Center, &f64)| match station {
            Center::Queue(demand) => demand * (1.0 + before),
            Center::Delay(time) => time,
        };
        let residence: Vec<f64> = stations.iter().zip(&network.present).map(at).collect();
        network.response = residence.iter().sum();
        network.throughput = f64::from(n) / (network.response + think);
        network.present = residence.iter().map(|time| network.throughput * time).collect();
    }
    let busy =
        |&(Center::Queue(demand) | Center::Delay(demand)): &Center| network.throughput * demand;
    network.utilisation = stations.iter().map(busy).collect();
    network
}

/// The mean demands of a closed system, which no distribution can change (Denning and Buzen, *The
/// operational analysis of queueing network models*, ACM Computing Surveys 10, 1978). One server each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demands {
    /// D: the demand of a request at all stations.
    pub(crate) total: f64,
    /// The demand at the station that has the largest one.
    pub(crate) largest: f64,
    /// Z: think time.
    pub(crate) think: f64,
}

impl Demands {
    /// Returns the least and the greatest throughput with n customers:
    /// n/(nD + Z) ≤ X ≤ min(1/Dmax, n/(D + Z)).
    pub(crate) fn throughput(&self, n: f64) -> (f64, f64) {
        let alone = n / (self.total + self.think);
        (n / (n * self.total + self.think), (1.0 / self.largest).min(alone))
    }

    /// Returns the least and the greatest response time with n customers:
    /// max(D, n Dmax − Z) ≤ R ≤ n D.
    pub(crate) fn response(&self, n: f64) -> (f64, f64) {
        (self.total.max(n * self.largest - self.think), n * self.total)
    }

    /// Returns N* = (D + Z)/Dmax: the number of customers from which some must wait.
    pub(crate) fn saturation(&self) -> f64 {
        (self.total + self.think) / self.largest
    }
}
