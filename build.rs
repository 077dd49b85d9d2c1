//! Rebuilds when a content file appears or changes, for `include_dir!` alone does not notice new files, and gathers the
//! schemas of the commands' answers into one table.

#![expect(clippy::disallowed_methods, reason = "runs while the program is built: the doors are the program's own")]

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    for folder in ["commands", "workflows", "agents", "references", "hooks", "templates", "src/runtime/descriptors"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    println!("cargo::rerun-if-changed=schemas");
    let output = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&output).join("host_sessions.rs"), host_sessions()?)?;
    fs::write(Path::new(&output).join("schemas.rs"), schemas()?)
}

/// The variables in which hosts name their session, by host: the line `session-variables` of each descriptor.
fn host_sessions() -> io::Result<String> {
    let files: io::Result<Vec<_>> = fs::read_dir("src/runtime/descriptors")?.map(|file| Ok(file?.path())).collect();
    let mut files = files?;
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let text = fs::read_to_string(file)?;
        let line = text.lines().find_map(|line| line.strip_prefix("session-variables = ["));
        let names = line.into_iter().flat_map(|list| list.split('"').skip(1).step_by(2));
        rows.extend(names.map(|name| format!("    {name:?},\n")));
    }
    Ok(format!("const HOST_SESSIONS: &[&str] = &[\n{}];\n", rows.concat()))
}

/// Every file of `schemas/`, without its indentation, as a Rust table of command path and schema.
fn schemas() -> io::Result<String> {
    let mut rows = Vec::new();
    for file in fs::read_dir("schemas")? {
        let file = file?;
        let name = file.file_name().into_string().map_err(|name| io::Error::other(format!("{}", name.display())))?;
        let Some(command) = name.strip_suffix(".json") else { continue };
        // No line of a pretty-printed document begins or ends inside a string.
        let text: String = fs::read_to_string(file.path())?.lines().map(str::trim_start).collect();
        rows.push(format!("    ({:?}, {text:?}),\n", command.replace('.', " ")));
    }
    rows.sort();
    Ok(format!("/// Command path, schema.\nconst SCHEMAS: &[(&str, &str)] = &[\n{}];\n", rows.concat()))
}
