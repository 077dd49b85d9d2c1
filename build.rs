//! Rebuilds when a content file appears or changes, since `include_dir!` does not notice new files, and generates
//! tables: the schemas of the commands' answers, and the data from host descriptors that every call or a lower module
//! needs.

#![expect(clippy::disallowed_methods, reason = "runs while the program is built: the doors are the program's own")]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    for folder in ["commands", "workflows", "agents", "references", "hooks", "templates", "src/runtime/descriptors"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    println!("cargo::rerun-if-changed=schemas");
    let output = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&output).join("host_sessions.rs"), host_sessions()?)?;
    fs::write(Path::new(&output).join("host_programs.rs"), host_programs()?)?;
    fs::write(Path::new(&output).join("host_managed.rs"), host_managed()?)?;
    fs::write(Path::new(&output).join("schemas.rs"), schemas()?)
}

/// Returns the descriptors of hosts, in the order of their names.
fn descriptors() -> io::Result<Vec<PathBuf>> {
    let files: io::Result<Vec<_>> = fs::read_dir("src/runtime/descriptors")?.map(|file| Ok(file?.path())).collect();
    let mut files = files?;
    files.sort();
    Ok(files)
}

/// Returns the programs of each host, by its id: the lines `names` and `marks` of the table `programs` in its
/// descriptor.
fn host_programs() -> io::Result<String> {
    let mut rows = Vec::new();
    for file in descriptors()? {
        let text = fs::read_to_string(&file)?;
        let table = text.lines().skip_while(|line| *line != "[programs]").skip(1);
        let table: Vec<&str> = table.take_while(|line| !line.is_empty()).collect();
        if table.is_empty() {
            continue;
        }
        let list = |key: &str| {
            let line = table.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.unwrap_or("[]").to_owned()
        };
        let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        rows.push(format!("    ({id:?}, &{}, &{}),\n", list("names"), list("marks")));
    }
    Ok(format!(
        "/// Id of a host, names of its programs, marks.\nconst HOST_PROGRAMS: &[(&str, &[&str], &[&str])] = &[\n{}];\n",
        rows.concat()
    ))
}

/// Returns the variables in which hosts name their session, by host: the line `session-variables` of each descriptor.
fn host_sessions() -> io::Result<String> {
    let mut rows = Vec::new();
    for file in descriptors()? {
        let text = fs::read_to_string(file)?;
        let line = text.lines().find_map(|line| line.strip_prefix("session-variables = ["));
        let names = line.into_iter().flat_map(|list| list.split('"').skip(1).step_by(2));
        rows.extend(names.map(|name| format!("    {name:?},\n")));
    }
    Ok(format!("const HOST_SESSIONS: &[&str] = &[\n{}];\n", rows.concat()))
}

/// Returns the places of an administrator for each host that has some: the lines `root.*` of the table `managed`, and the
/// lines `at.*` of its files.
fn host_managed() -> io::Result<String> {
    let mut rows = Vec::new();
    for file in descriptors()? {
        let text = fs::read_to_string(&file)?;
        let table: Vec<&str> = text.lines().skip_while(|line| *line != "[managed]").skip(1).collect();
        let places = |key: &str| -> Vec<String> {
            let of = |platform: &str| -> Vec<&str> {
                let line = format!("{key}.{platform} = ");
                table.iter().filter_map(|other| other.strip_prefix(line.as_str())).collect()
            };
            let (linux, macos, windows) = (of("linux"), of("macos"), of("windows"));
            let rows = linux.iter().zip(macos).zip(windows);
            rows.map(|((linux, macos), windows)| format!("[{linux}, {macos}, {windows}]")).collect()
        };
        if !table.is_empty() {
            let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            rows.push(format!("    ({id:?}, {}, &[{}]),\n", places("root").concat(), places("at").join(", ")));
        }
    }
    Ok(format!(
        "/// A path on Linux, macOS and Windows.\ntype PathsOfPlatforms = [&'static str; 3];\n\
         /// Id of a host, its folder, its settings files.\n\
         const HOST_MANAGED: &[(&str, PathsOfPlatforms, &[PathsOfPlatforms])] = &[\n{}];\n",
        rows.concat()
    ))
}

/// Returns every file of `schemas/`, without its indentation, as a Rust table of command path and schema.
fn schemas() -> io::Result<String> {
    let mut rows = Vec::new();
    for file in fs::read_dir("schemas")? {
        let file = file?;
        let name = file.file_name().into_string().map_err(|name| io::Error::other(format!("{}", name.display())))?;
        let Some(command) = name.strip_suffix(".json") else { continue };
        // Lines of a pretty-printed document never start or end inside a string.
        let text: String = fs::read_to_string(file.path())?.lines().map(str::trim_start).collect();
        rows.push(format!("    ({:?}, {text:?}),\n", command.replace('.', " ")));
    }
    rows.sort();
    Ok(format!("/// Command path, schema.\nconst SCHEMAS: &[(&str, &str)] = &[\n{}];\n", rows.concat()))
}
