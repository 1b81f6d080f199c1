//! Names of C++ and Rust as their language writes them.

use cpp_demangle::DemangleOptions;

/// What compilers put behind a name when they copy or divide a function or variable.
const MARKS: [&str; 8] =
    ["constprop", "isra", "part", "cold", "lto_priv", "llvm", "localalias", "clone"];

/// Returns a symbol without the marks that a compiler put behind it: the `.0` of a static variable of a function,
/// `.lto_priv.0`, `.llvm.123`. A name of Go keeps its dots.
pub(super) fn plain(symbol: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    let mut rest = symbol;
    while let Some((name, part)) = rest.rsplit_once('.') {
        let is_mark = MARKS.contains(&part);
        let is_counted = is_number(part)
            && (!name.contains('.') || MARKS.iter().any(|mark| name.ends_with(mark)));
        if name.is_empty() || !(is_mark || is_counted) {
            break;
        }
        rest = name;
    }
    rest
}

/// Returns the name that a symbol stands for, without the types of parameters and a hash; the symbol itself where it
/// is not mangled.
pub(super) fn demangled(symbol: &str) -> String {
    let plain = plain(symbol);
    if is_of_rust(plain)
        && let Ok(name) = rustc_demangle::try_demangle(plain)
    {
        return format!("{name:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = plain.starts_with("_Z").then(|| cpp_demangle::Symbol::new(plain).ok()).flatten();
    let name = name.and_then(|name| name.demangle_with_options(&options).ok());
    name.unwrap_or_else(|| symbol.to_string())
}

/// Reports whether a symbol has the v0 form of Rust, or the older one, which ends with a hash.
fn is_of_rust(symbol: &str) -> bool {
    let hash = symbol.strip_prefix("_ZN").and_then(|rest| rest.strip_suffix('E'));
    let hash = hash.and_then(|rest| rest.rsplit_once("17h"));
    let is_hash = |(_, digits): (&str, &str)| {
        digits.len() == 16 && digits.bytes().all(|one| one.is_ascii_hexdigit())
    };
    symbol.starts_with("_R") || hash.is_some_and(is_hash)
}

/// Returns the path of a name without its generic arguments: `<Mutex<T>>::lock` and `<Mutex<T> as Lock>::lock` become
/// `Mutex::lock`.
pub(super) fn path(name: &str) -> String {
    let own = name.strip_prefix('<').and_then(|rest| Some(rest.split_at(closing(rest)?)));
    let Some((own, rest)) = own else { return without_arguments(name) };
    let own = own.split(" as ").next().unwrap_or(own).trim_start_matches(['&', '*']);
    path(own) + &without_arguments(&rest[1..])
}

/// Returns where the bracket closes that opens before a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (place, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !text[..place].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

fn without_arguments(text: &str) -> String {
    let Some((before, rest)) = text.split_once('<') else { return text.to_string() };
    let after = closing(rest).map(|place| without_arguments(&rest[place + 1..]));
    before.trim_end_matches("::").to_string() + &after.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_their_language() {
        for (symbol, name) in [
            ("_ZN4pool6worker17h0123456789abcdefE", "pool::worker"),
            (
                "_RNvMNtNtNtNtCs1_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
                "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
            ),
            ("_ZN13ObjectMonitor5enterEP10JavaThread", "ObjectMonitor::enter"),
            ("_Z5drainv", "drain"),
            ("_ZL1m", "m"),
            ("_ZN4bank8accountsE", "bank::accounts"),
            ("_ZN12_GLOBAL__N_14bookE", "(anonymous namespace)::book"),
            ("_ZZ4mainE5inner", "main::inner"),
            ("_ZZ4stepIiEvT_E5guard", "step<int>(int)::guard"),
            ("lock.0", "lock.0"),
            ("main.worker", "main.worker"),
            ("_Z", "_Z"),
            ("_ZN99short", "_ZN99short"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    #[test]
    fn a_path_has_no_arguments() {
        for (name, plain) in [
            ("<std::sync::Mutex<Vec<u8>>>::lock", "std::sync::Mutex::lock"),
            ("<a::B<T> as c::D<E>>::f::<G>", "a::B::f"),
            ("std::sync::mpmc::list::Channel<T>::recv", "std::sync::mpmc::list::Channel::recv"),
            ("own::run::<std::sync::mpmc::Sender<u8>>::{closure#0}", "own::run::{closure#0}"),
            ("call<fn() -> u8>", "call"),
            ("operator<", "operator"),
            ("main", "main"),
        ] {
            assert_eq!(path(name), plain);
        }
    }

    #[test]
    fn marks_of_compilers_are_no_part_of_a_name() {
        for (symbol, name) in [
            ("lock.0", "lock"),
            ("lock.lto_priv.3", "lock"),
            ("sem_wait_slow64.constprop.0", "sem_wait_slow64"),
            ("_ZN1a1bE.llvm.123", "_ZN1a1bE"),
            ("main.main.func1.2", "main.main.func1.2"),
            (".rodata", ".rodata"),
        ] {
            assert_eq!(plain(symbol), name);
        }
    }
}
