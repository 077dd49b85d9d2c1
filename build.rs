//! Rebuilds when a content file appears or changes: `include_dir!` alone does not notice new files.

fn main() {
    for folder in ["commands", "workflows", "agents", "references", "hooks", "templates", "src/runtime/descriptors"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
