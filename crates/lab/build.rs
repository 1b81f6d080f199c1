//! Keeps the compiler's version, which is one of the facts that move numbers.

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = std::process::Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=SCRUPLE_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
