//! Loops that add 1 to a counter again and again, each as one fixed piece of machine code.
//!
//! What is asked of these loops is what one instruction more or less costs, so none of them is
//! left to a compiler: LLVM turns a volatile `x += 1` into a single instruction and unrolls the
//! loop, GCC does neither. They are written in assembly, in the form in which GCC writes the C of
//! textbooks. The one exception is [`plain`], whose point is what a compiler makes of it. A test
//! (`tests/machine_code.rs`) reads them back out of the built program.
//!
//! All of them begin at a cache line, so that where the linker puts them changes no time.
//!
//! **Races.** Several threads or processes may run these on one counter at once, and that is what
//! most of them are for. A race between plain accesses of Rust would be undefined behaviour. What
//! races here is machine code, which reads and writes aligned words of 8 bytes: as far as Rust is
//! concerned, relaxed atomic loads and stores of that word.

use crate::Result;
use crate::error::check_number;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the loops are the machine code that their names say. On other architectures than
/// x86-64 and AArch64 they are whatever the compiler makes of relaxed atomic operations.
pub const EXACT: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A loop of increments of one counter.
pub type Loop = extern "C" fn(&AtomicU64, u64);

/// Nothing where the loops are [`EXACT`], else why not.
///
/// # Errors
/// A sentence for a trial that cannot go on.
pub fn exact_or_why() -> std::result::Result<(), &'static str> {
    if EXACT {
        Ok(())
    } else {
        Err("the loops are machine code of x86-64 and AArch64; this architecture needs its own")
    }
}

/// Adds 1 `count` times as an optimising compiler does it for an ordinary variable: it folds the
/// loop into one addition of `count`.
pub extern "C" fn plain(counter: &AtomicU64, count: u64) {
    // The call is made in assembly, because a race between accesses that Rust knows to be plain
    // would be undefined; see the module.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: calls a function of the C convention with its two arguments, and names all that
    // such a call may change. Its machine code loads, adds and stores the word at `counter`,
    // which is valid and aligned, and touches nothing else; the module says why a race is sound.
    unsafe {
        std::arch::asm!(
            "call {plain}",
            plain = sym plain_loop,
            in("rdi") counter.as_ptr(),
            in("rsi") count,
            clobber_abi("C"),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "bl {plain}",
            plain = sym plain_loop,
            in("x0") counter.as_ptr(),
            in("x1") count,
            clobber_abi("C"),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
}

/// `for (i = 0; i < count; i++) counter++;` as it stands, for the compiler to do with as it likes.
///
/// # Safety
/// `counter` must be valid and aligned. What races with it must do so as the module says.
#[unsafe(export_name = "scruple_increment_plain")]
#[inline(never)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe extern "C" fn plain_loop(counter: *mut u64, count: u64) {
    for _ in 0..count {
        // SAFETY: the caller's promise.
        unsafe { *counter = (*counter).wrapping_add(1) };
    }
}

/// A loop that begins at a cache line and does its lines of assembly `count` times, none at all if
/// that is 0: for each architecture the lines, then their operands. `{left}` is what is left of
/// `count`. Elsewhere than on these two architectures it does `otherwise` as often.
macro_rules! counted_loop {
    (
        $count:expr,
        x86_64: [$($x86:literal)+] ($($x86_operands:tt)*),
        aarch64: [$($arm:literal)+] ($($arm_operands:tt)*),
        otherwise: $otherwise:expr,
    ) => {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads and writes the word at `counter`, if any, which is valid and aligned; the
        // registers and flags it changes are named. For the race see the module.
        unsafe {
            std::arch::asm!(
                "test {left}, {left}",
                "jz 3f",
                ".p2align 6",
                "2:",
                $($x86,)+
                "dec {left}",
                "jnz 2b",
                "3:",
                left = inout(reg) $count => _,
                $($x86_operands)*
                options(nostack),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above. A CPU that did not know an instruction would end the process by a
        // signal, which is also safe.
        unsafe {
            std::arch::asm!(
                "cbz {left}, 3f",
                ".p2align 6",
                "2:",
                $($arm,)+
                "subs {left}, {left}, #1",
                "b.ne 2b",
                "3:",
                left = inout(reg) $count => _,
                $($arm_operands)*
                options(nostack),
            );
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        for _ in 0..$count {
            $otherwise;
        }
    };
}

/// Adds 1 `count` times as a compiler does without optimisation (`-O0`): load, add, store, with
/// the loop's index also in memory.
#[unsafe(export_name = "scruple_increment_unoptimised")]
#[inline(never)]
pub extern "C" fn unoptimised(counter: &AtomicU64, count: u64) {
    let mut frame = [0, count];
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads and writes the word at `counter` and the two words of `frame`, all valid and
    // aligned; the registers and flags it changes are named. For the race see the module.
    unsafe {
        std::arch::asm!(
            "jmp 3f",
            ".p2align 6",
            "2:",
            "mov {value}, qword ptr [{counter}]",
            "add {value}, 1",
            "mov qword ptr [{counter}], {value}",
            "add qword ptr [{frame}], 1",
            "3:",
            "mov {value}, qword ptr [{frame}]",
            "cmp {value}, qword ptr [{frame} + 8]",
            "jb 2b",
            counter = in(reg) counter.as_ptr(),
            frame = in(reg) frame.as_mut_ptr(),
            value = out(reg) _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "b 3f",
            ".p2align 6",
            "2:",
            "ldr {value}, [{counter}]",
            "add {value}, {value}, #1",
            "str {value}, [{counter}]",
            "ldr {value}, [{frame}]",
            "add {value}, {value}, #1",
            "str {value}, [{frame}]",
            "3:",
            "ldr {value}, [{frame}]",
            "ldr {limit}, [{frame}, #8]",
            "cmp {value}, {limit}",
            "b.lo 2b",
            counter = in(reg) counter.as_ptr(),
            frame = in(reg) frame.as_mut_ptr(),
            value = out(reg) _,
            limit = out(reg) _,
            options(nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for _ in frame[0]..std::mem::take(&mut frame[1]) {
        load_and_store(counter);
    }
}

/// Adds 1 `count` times as GCC does it for a `volatile` variable: a load, an add, a store.
#[unsafe(export_name = "scruple_increment_volatile")]
#[inline(never)]
pub extern "C" fn volatile(counter: &AtomicU64, count: u64) {
    counted_loop!(
        count,
        x86_64: [
            "mov {value}, qword ptr [{counter}]"
            "add {value}, 1"
            "mov qword ptr [{counter}], {value}"
        ] (counter = in(reg) counter.as_ptr(), value = out(reg) _,),
        aarch64: [
            "ldr {value}, [{counter}]"
            "add {value}, {value}, #1"
            "str {value}, [{counter}]"
        ] (counter = in(reg) counter.as_ptr(), value = out(reg) _,),
        otherwise: load_and_store(counter),
    );
}

/// Adds 1 `count` times by a relaxed atomic load and a relaxed atomic store, which together are
/// not atomic. On x86-64 LLVM makes one instruction of the two, an add to memory without `lock`;
/// on AArch64 this is the same code as [`volatile`].
#[unsafe(export_name = "scruple_increment_relaxed")]
#[inline(never)]
pub extern "C" fn relaxed(counter: &AtomicU64, count: u64) {
    counted_loop!(
        count,
        x86_64: ["add qword ptr [{counter}], 1"] (counter = in(reg) counter.as_ptr(),),
        aarch64: [
            "ldr {value}, [{counter}]"
            "add {value}, {value}, #1"
            "str {value}, [{counter}]"
        ] (counter = in(reg) counter.as_ptr(), value = out(reg) _,),
        otherwise: load_and_store(counter),
    );
}

/// Adds 1 `count` times by an atomic read-modify-write: `lock add` on x86-64; on AArch64 `ldadd`
/// where the CPU has it (LSE), else a loop of `ldxr` and `stxr`.
pub extern "C" fn atomic(counter: &AtomicU64, count: u64) {
    #[cfg(target_arch = "aarch64")]
    if !std::arch::is_aarch64_feature_detected!("lse") {
        return exclusive_loop(counter, count);
    }
    atomic_loop(counter, count);
}

/// By one atomic instruction. On AArch64 the caller has looked that the CPU knows it.
#[unsafe(export_name = "scruple_increment_atomic")]
#[inline(never)]
extern "C" fn atomic_loop(counter: &AtomicU64, count: u64) {
    counted_loop!(
        count,
        x86_64: ["lock add qword ptr [{counter}], 1"] (counter = in(reg) counter.as_ptr(),),
        aarch64: [".arch_extension lse" "ldadd {one}, {value}, [{counter}]"]
            (counter = in(reg) counter.as_ptr(), one = in(reg) 1_u64, value = out(reg) _,),
        otherwise: counter.fetch_add(1, Ordering::Relaxed),
    );
}

/// By an exclusive load and store, again and again until nobody was in between.
#[unsafe(export_name = "scruple_increment_exclusive")]
#[inline(never)]
#[cfg(target_arch = "aarch64")]
extern "C" fn exclusive_loop(counter: &AtomicU64, count: u64) {
    counted_loop!(
        count,
        x86_64: [""] (),
        aarch64: [
            "ldxr {value}, [{counter}]"
            "add {value}, {value}, #1"
            "stxr {failed:w}, {value}, [{counter}]"
            "cbnz {failed:w}, 2b"
        ] (counter = in(reg) counter.as_ptr(), value = out(reg) _, failed = out(reg) _,),
        otherwise: (),
    );
}

/// Adds 1 `count` times to a register and then stores it: the loop alone, without any memory.
#[unsafe(export_name = "scruple_increment_register")]
#[inline(never)]
pub extern "C" fn register(counter: &AtomicU64, count: u64) {
    let mut value = counter.load(Ordering::Relaxed);
    counted_loop!(
        count,
        x86_64: ["add {value}, 1"] (value = inout(reg) value,),
        aarch64: ["add {value}, {value}, #1"] (value = inout(reg) value,),
        otherwise: value = value.wrapping_add(1),
    );
    counter.store(value, Ordering::Relaxed);
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn load_and_store(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// A counter behind a `pthread_mutex_t` of the default kind, both in memory of their own: 128
/// bytes, a pair of cache lines.
#[derive(Debug)]
pub struct Locked {
    // Boxed: the address of a mutex that is in use must not change.
    parts: Box<Parts>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Parts {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    counter: UnsafeCell<u64>,
}

// SAFETY: the mutex is made to be used from several threads, and the counter is touched only
// while it is held.
unsafe impl Send for Parts {}
// SAFETY: as above.
unsafe impl Sync for Parts {}

impl Locked {
    /// A counter that says 0.
    pub fn new() -> Self {
        let mutex = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Locked { parts: Box::new(Parts { mutex, counter: UnsafeCell::new(0) }) }
    }

    /// Adds 1 `count` times, each time under the lock.
    ///
    /// # Errors
    /// None is known for a mutex of the default kind; what could not be locked is not counted.
    pub fn increment(&self, count: u64) -> Result<()> {
        let wrong = locked_loop(&self.parts, count);
        check_number(wrong, || "pthread_mutex_lock".to_string())
    }

    /// What it says, after which it says 0.
    ///
    /// # Errors
    /// As [`Locked::increment`].
    pub fn take(&self) -> Result<u64> {
        // SAFETY: initialised, and at this address for as long as `self` lives.
        let errno = unsafe { libc::pthread_mutex_lock(self.parts.mutex.get()) };
        check_number(errno, || "pthread_mutex_lock".to_string())?;
        // SAFETY: the mutex is held.
        let found = unsafe { std::mem::take(&mut *self.parts.counter.get()) };
        // SAFETY: held by this thread.
        let errno = unsafe { libc::pthread_mutex_unlock(self.parts.mutex.get()) };
        check_number(errno, || "pthread_mutex_unlock".to_string())?;
        Ok(found)
    }
}

impl Default for Locked {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // SAFETY: `&mut self`: no thread uses it any more, and none will.
        unsafe { libc::pthread_mutex_destroy(self.mutex.get()) };
    }
}

/// The loop of [`Locked::increment`]; returns 0 or the first error.
#[unsafe(export_name = "scruple_increment_locked")]
#[inline(never)]
extern "C" fn locked_loop(parts: &Parts, count: u64) -> i32 {
    for _ in 0..count {
        // SAFETY: initialised, and where it is for as long as `parts` is borrowed.
        let errno = unsafe { libc::pthread_mutex_lock(parts.mutex.get()) };
        if errno != 0 {
            return errno;
        }
        // SAFETY: the mutex is held, and the pointer is valid and aligned. Volatile, so that no
        // compiler may keep the sum elsewhere from one turn to the next.
        unsafe {
            let counter = parts.counter.get();
            counter.write_volatile(counter.read_volatile().wrapping_add(1));
        }
        // SAFETY: held by this thread.
        let errno = unsafe { libc::pthread_mutex_unlock(parts.mutex.get()) };
        if errno != 0 {
            return errno;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPS: [(&str, Loop); 6] = [
        ("plain", plain),
        ("unoptimised", unoptimised),
        ("volatile", volatile),
        ("relaxed", relaxed),
        ("atomic", atomic),
        ("register", register),
    ];

    #[test]
    fn alone_every_loop_counts_exactly() {
        for (name, add) in LOOPS {
            // The neighbours must stay as they are.
            let words = [AtomicU64::new(7), AtomicU64::new(u64::MAX - 1), AtomicU64::new(9)];
            for count in [0, 1, 2, 3, 1000] {
                words[1].store(u64::MAX - 1, Ordering::Relaxed);
                add(&words[1], count);
                let found = words[1].load(Ordering::Relaxed);
                assert_eq!(found, (u64::MAX - 1).wrapping_add(count), "{name} {count} times");
            }
            assert_eq!([&words[0], &words[2]].map(|word| word.load(Ordering::Relaxed)), [7, 9]);
        }
    }

    #[test]
    fn the_atomic_and_the_locked_loop_lose_nothing_among_threads() {
        let (word, locked) = (AtomicU64::new(0), Locked::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    atomic(&word, 100_000);
                    locked.increment(10_000).unwrap();
                });
            }
        });
        assert_eq!(word.load(Ordering::Relaxed), 400_000);
        assert_eq!(locked.take(), Ok(40_000));
        assert_eq!(locked.take(), Ok(0));
    }

    #[test]
    fn the_lock_and_its_counter_share_a_line() {
        assert!(size_of::<Parts>() == 128 && align_of::<Parts>() == 128);
        let locked = Locked::default();
        let lock = locked.parts.mutex.get().addr();
        let counter = locked.parts.counter.get().addr();
        assert_eq!(lock / 64, counter / 64);
    }
}
