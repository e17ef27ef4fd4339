//! Links liblandtrace: the one in the folder $LANDTRACE_LIBRARY_DIR, else as pkg-config finds it.
use std::env;
use std::process::Command;

fn pkg_config() -> Option<String> {
    let output = Command::new("pkg-config").args(["--libs-only-L", "landtrace"]).output().ok()?;
    let said = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(said.split_whitespace().filter_map(|word| word.strip_prefix("-L")).collect::<Vec<_>>().join(" "))
}

fn main() {
    println!("cargo:rerun-if-env-changed=LANDTRACE_LIBRARY_DIR");
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(folder) = env::var("LANDTRACE_LIBRARY_DIR").ok().or_else(pkg_config).filter(|folder| !folder.is_empty()) {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=landtrace");
}
