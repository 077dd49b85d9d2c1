//! Compiles the scripted agent for tests once, with plain `rustc`: it is in no package, and no build makes it unasked.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program of the scripted agent.
pub(crate) fn fake_agent() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_agent");
        let mut hasher = DefaultHasher::new();
        let mut files: Vec<PathBuf> = std::fs::read_dir(&sources).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            std::fs::read(file).unwrap().hash(&mut hasher);
        }
        // Next to the tests' own folder, so that the next run finds it.
        let tests = std::env::current_exe().unwrap();
        let folder = tests.parent().and_then(Path::parent).unwrap();
        let name = format!("fake-agent-{:016x}{}", hasher.finish(), std::env::consts::EXE_SUFFIX);
        let program = folder.join(&name);
        if !program.is_file() {
            // Under a temporary name until it is complete: other tests may compile it at the same time.
            let part = folder.join(format!("{}-{name}", std::process::id()));
            let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
            rustc.args(["--edition", "2024", "-D", "warnings", "-C", "debuginfo=0", "-o"]).arg(&part);
            let made = rustc.arg(sources.join("agent.rs")).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            std::fs::rename(part, &program).unwrap();
        }
        program
    })
}
