//! A ring of two processes by the definition of lmbench's lat_ctx (McVoy and Staelin, *lmbench:
//! Portable tools for performance analysis*, USENIX 1996; src/lat_ctx.c of lmbench 3), written
//! anew: nothing of scruple's own timing is in it.
//!
//! The time of a lap, by the number of processes, less what one process needs to pass the token
//! to itself through the same pipes and to sum one memory. Each process sums all integers of its
//! memory when it has the token. Of eleven repetitions the median, as lmbench takes it.
//!
//! The one liberty: it may sum one integer of each so many only, so that the walk can be scruple's.

use anyhow::{Context, bail};
use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

/// The first argument that makes the benchmark's binary this program.
pub(crate) const ROLE: &str = "__lat_ctx";

const PROCESSES: usize = 2;

const REPETITIONS: usize = 11;

/// The least time of a repetition.
const ENOUGH: Duration = Duration::from_millis(5);

/// Measures once and prints nanoseconds.
pub(crate) fn serve(arguments: &[String]) -> anyhow::Result<()> {
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<usize>().ok());
    let bytes = number(0).context("wants the bytes that each process reads")?;
    let step = number(1).context("wants the integers from one that is read to the next")?;
    let pipes: Vec<(PipeReader, PipeWriter)> =
        (0..PROCESSES).map(|_| std::io::pipe()).collect::<std::io::Result<_>>()?;
    let data = vec![1_i32; bytes / size_of::<i32>()];
    let mut at = 0;
    let overhead_ns = repeat(&mut || {
        pass(&pipes[at].1)?;
        hear(&pipes[at].0)?;
        at = (at + 1) % PROCESSES;
        sum(&data, step);
        Ok(())
    })?;
    let child = sys::task::fork_run(|| {
        // Memory of its own, as each of lmbench's processes has it.
        let data = vec![1_i32; bytes / size_of::<i32>()];
        while hear(&pipes[0].0).is_ok() {
            sum(&data, step);
            if pass(&pipes[1].1).is_err() {
                break;
            }
        }
        0
    })?;
    let lap_ns = repeat(&mut || {
        pass(&pipes[0].1)?;
        hear(&pipes[1].0)?;
        sum(&data, step);
        Ok(())
    });
    sys::process::kill(child, sys::signal::SIGKILL)?;
    sys::task::wait(child)?;
    println!("{}", lap_ns? / PROCESSES as f64 - overhead_ns);
    Ok(())
}

/// The median time of one operation over the repetitions, in nanoseconds.
fn repeat(operation: &mut dyn FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut count = 1_u32;
    let timed = |count: u32, operation: &mut dyn FnMut() -> anyhow::Result<()>| {
        let begun = Instant::now();
        for _ in 0..count {
            operation()?;
        }
        Ok::<_, anyhow::Error>(begun.elapsed())
    };
    while timed(count, operation)? < ENOUGH {
        count *= 2;
    }
    let mut each_ns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        each_ns.push(timed(count, operation)?.as_nanos() as f64 / f64::from(count));
    }
    analysis::median(&each_ns).context("no repetition")
}

fn sum(data: &[i32], step: usize) {
    // Two loops: that over all integers is to be as quick as a compiler makes it.
    black_box(match step {
        0 | 1 => data.iter().fold(0_i32, |sum, value| sum.wrapping_add(*value)),
        _ => data.iter().step_by(step).fold(0_i32, |sum, value| sum.wrapping_add(*value)),
    });
}

fn pass(mut pipe: &PipeWriter) -> anyhow::Result<()> {
    if pipe.write(&1_i32.to_ne_bytes())? != 4 {
        bail!("a token was cut short");
    }
    Ok(())
}

fn hear(mut pipe: &PipeReader) -> anyhow::Result<()> {
    if pipe.read(&mut [0; 4])? != 4 {
        bail!("a token was cut short");
    }
    Ok(())
}
