//! What a number of workers does that are always busy.

/// Returns the requests done per ns by 1, 2, … `most` busy workers that need a CPU for `cpu_ns` and then
/// none for `idle_ns`, with this number of CPUs; the first number is for none.
///
/// By Buzen's convolution of a delay with a station of c servers: X(j) = G(j − 1) / G(j), where
/// G(j) = Σ Wⁱ/i! · b(j − i) and b(m) = b(m − 1) C / min(m, c). From m = c on b is geometric, so
/// that each G takes c terms; in logarithms, which neither overflow nor vanish.
pub(super) fn rates(cpus: u32, cpu_ns: f64, idle_ns: f64, most: u32) -> Vec<f64> {
    let served = |busy: u32| f64::from(busy.min(cpus)) / cpu_ns;
    if idle_ns <= 0.0 {
        return (0..=most).map(served).collect();
    }
    let (servers, most) = (cpus as usize, most as usize);
    // ln Wⁱ/i!
    let mut delay = Vec::with_capacity(most + 1);
    delay.push(0.0);
    for i in 1..=most {
        delay.push(delay[i - 1] + idle_ns.ln() - (i as f64).ln());
    }
    // ln b(m) for m < c.
    let mut busy = vec![0.0];
    for m in 1..servers {
        busy.push(busy[m - 1] + cpu_ns.ln() - (m as f64).ln());
    }
    let each = cpu_ns.ln() - (cpus as f64).ln();
    let (mut rates, mut before, mut tail) = (vec![0.0], 0.0, f64::NEG_INFINITY);
    for j in 1..=most {
        tail = match j.checked_sub(servers) {
            Some(i) => each + log_sum(&[tail, delay[i] + busy[servers - 1]]),
            None => f64::NEG_INFINITY,
        };
        let mut terms: Vec<f64> = (0..servers.min(j + 1)).map(|m| delay[j - m] + busy[m]).collect();
        terms.push(tail);
        let whole = log_sum(&terms);
        rates.push((before - whole).exp());
        before = whole;
    }
    rates
}

fn log_sum(logs: &[f64]) -> f64 {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + logs.iter().map(|log| (log - highest).exp()).sum::<f64>().ln()
}
