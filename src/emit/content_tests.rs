//! Tests of the whole library: every name, path and mention in it resolves, sizes stay small, and the files for each
//! host are sound.

use std::collections::BTreeSet;

use crate::library::{Item, ItemKind, Library, Value};
use crate::runtime::{AgentTools, Registry};

use super::golden_tests::options;
use super::*;

const TOOLS: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "Bash",
    "Glob",
    "Grep",
    "Task",
    "AskUserQuestion",
    "TodoWrite",
    "WebSearch",
    "WebFetch",
    "Skill",
];

fn library() -> Library {
    Library::embedded().unwrap()
}

/// Asserts that no item has a fault.
fn no_faults(fault: impl Fn(&Library, &Item) -> Vec<String>) {
    let library = library();
    let faults: Vec<String> = library
        .items()
        .flat_map(|item| fault(&library, item).into_iter().map(move |fault| format!("{}: {fault}", item.path)))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn front_matter_has_the_keys_of_its_kind_in_order() {
    no_faults(|_, item| {
        let (keys, longest): (&[&str], usize) = match item.kind {
            ItemKind::Command | ItemKind::Router => {
                (&["name", "description", "router", "argument-hint", "allowed-tools", "requires", "budget"], 60)
            }
            ItemKind::Agent => {
                let keys = &[
                    "name",
                    "description",
                    "tools",
                    "color",
                    "disallowedTools",
                    "tiers",
                    "weight",
                    "kind",
                    "git",
                    "returns",
                    "budget",
                ];
                (keys, 90)
            }
            ItemKind::Workflow => (&["needs", "agents", "settings", "flags", "sections"], 0),
            _ => return Vec::new(),
        };
        let mut faults = Vec::new();
        let places: Vec<Option<usize>> =
            item.front_matter.keys().map(|key| keys.iter().position(|known| *known == key)).collect();
        if !places.is_sorted() || places.contains(&None) {
            faults.push(format!("keys other than {keys:?}, or not in that order"));
        }
        if item.kind == ItemKind::Workflow {
            return faults;
        }
        if item.front_matter.text("name") != Some(&format!("gsd-{}", item.name)) {
            faults.push("`name` is not that of the file".to_owned());
        }
        let description = item.front_matter.text("description").unwrap_or("");
        if description.is_empty() || description.chars().count() > longest || description.contains([':', '"']) {
            faults.push(format!("description is empty, over {longest} characters, or has a colon or quote"));
        }
        for tool in ["allowed-tools", "tools", "disallowedTools"].iter().flat_map(|key| item.front_matter.names(key)) {
            let is_mcp = tool.strip_prefix("mcp__").is_some_and(|rest| rest.contains("__"));
            if !TOOLS.contains(&tool) && !is_mcp {
                faults.push(format!("no tool is called `{tool}`"));
            }
        }
        faults
    });
}

#[test]
fn every_file_is_plain_text_with_a_final_line_break() {
    no_faults(|_, item| {
        let mut faults = Vec::new();
        if item.body.contains('\r') || !item.body.ends_with('\n') {
            faults.push("a carriage return, or no final line break".to_owned());
        }
        for (form, reason) in [("${", "some hosts take it for a variable"), ("{{", "some hosts take it for a template")]
        {
            if item.body.contains(form) {
                faults.push(format!("`{form}`: {reason}"));
            }
        }
        // Some hosts embed a command's workflow in a TOML prompt, and interpret these two forms there.
        let is_prompt = matches!(item.kind, ItemKind::Command | ItemKind::Workflow);
        if is_prompt && (item.body.contains("!{") || item.body.contains("@{")) {
            faults.push("`!{` or `@{`: some hosts run or include what follows".to_owned());
        }
        if item.kind == ItemKind::Agent && item.body.contains("'''") {
            faults.push("`'''` ends a TOML text".to_owned());
        }
        faults
    });
}

#[test]
fn every_library_path_in_a_text_exists() {
    no_faults(missing_paths);
}

/// The paths in a text of `library` that do not exist.
pub(crate) fn missing_paths(library: &Library, item: &Item) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let mut missing = Vec::new();
    for folder in ["workflows/", "references/", "templates/"] {
        for (position, _) in item.body.match_indices(folder) {
            let before = &item.body[..position];
            if before.ends_with(|c: char| c.is_alphanumeric() || "/._-~}>".contains(c)) {
                continue;
            }
            let rest = &item.body[position..];
            let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches(['.', '-']);
            let is_pattern = rest[path.len()..].starts_with(['{', '<', '*']);
            let folder_of = path.rfind('/').map_or(path, |slash| &path[..slash]);
            let there = if is_pattern { library.has_folder(folder_of) } else { library.at(path).is_some() };
            if !there && !library.has_folder(path.trim_end_matches('/')) {
                missing.push(format!("no `{path}`"));
            }
        }
    }
    missing
}

#[test]
fn include_lines_are_in_commands_and_name_one_workflow() {
    no_faults(|library, item| {
        let includes: Vec<&str> = item.body.lines().filter_map(|line| line.strip_prefix('@')).collect();
        let in_library = |path: &&&str| path.starts_with("workflows/") || path.starts_with("references/");
        let ours: Vec<&&str> = includes.iter().filter(in_library).collect();
        let mut faults: Vec<String> =
            ours.iter().filter(|path| library.at(path).is_none()).map(|path| format!("no `{path}`")).collect();
        if item.kind == ItemKind::Command && ours.iter().filter(|path| path.starts_with("workflows/")).count() > 1 {
            faults.push("more than one workflow is included".to_owned());
        }
        faults
    });
}

#[test]
fn every_named_command_and_agent_exists() {
    let library = library();
    let agents: BTreeSet<String> = library.of_kind(ItemKind::Agent).map(|item| item.name.as_str().to_owned()).collect();
    no_faults(|library, item| {
        let mut unknown = Vec::new();
        for (position, _) in item.body.match_indices("gsd-") {
            let before = &item.body[..position];
            let rest = &item.body[position + "gsd-".len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('-');
            if before.ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c)) || name.is_empty() {
                continue;
            }
            let is_command = library.has_command(name);
            let is_agent = agents.contains(name);
            let known = if before.ends_with('/') { is_command } else { is_command || is_agent };
            if !known && !matches!(name, "tools" | "core" | "local-patches") {
                unknown.push(format!("`gsd-{name}` is no command and no agent"));
            }
        }
        for (position, form) in item.body.match_indices("subagent_type=\"gsd-") {
            let rest = &item.body[position + form.len()..];
            let name = rest.split('"').next().unwrap_or("");
            if !name.contains('{') && !agents.contains(name) {
                unknown.push(format!("`gsd-{name}` is no agent"));
            }
        }
        unknown.extend(required(item).filter(|name| !library.has_command(name)));
        unknown
    });
}

fn required(item: &Item) -> impl Iterator<Item = String> {
    let names = match item.front_matter.value("requires") {
        Some(Value::List(names)) => names.clone(),
        _ => Vec::new(),
    };
    names.into_iter()
}

/// The most bytes of a text with its includes, unless its `budget` says otherwise.
const BUDGETS: &[(ItemKind, i64)] =
    &[(ItemKind::Command, 16 * 1024), (ItemKind::Agent, 10 * 1024), (ItemKind::Router, 2 * 1024)];

#[test]
fn sizes_stay_below_their_limits() {
    let library = library();
    let texts = library.items().map(|item| (item.path.as_str(), item.body.as_str())).collect();
    no_faults(|_, item| {
        let Some((_, general)) = BUDGETS.iter().find(|(kind, _)| *kind == item.kind) else { return Vec::new() };
        let budget = match item.front_matter.value("budget") {
            Some(Value::Number(budget)) => *budget,
            Some(_) => return vec!["`budget` is a number of bytes".to_owned()],
            None => *general,
        };
        let bytes = bill::loaded(item.kind, &item.body, &texts).included;
        let is_over = i64::try_from(bytes).unwrap() > budget;
        is_over.then(|| format!("{bytes} bytes, more than {budget}")).into_iter().collect()
    });
}

#[test]
fn files_for_each_host_are_sound() {
    let library = library();
    let mut faults = Vec::new();
    for descriptor in Registry::embedded().all().unwrap() {
        for (scope, _) in super::golden_tests::scopes(&descriptor) {
            let options = options(&descriptor, scope);
            let artifacts = emit_all(&library, &descriptor, scope, &options);
            // If a rule of the host requires it, the program, and nothing else, is named by its absolute path.
            let program = format!("{}/gsd-core/bin/gsd-tools", options.root);
            let program = Some(program).filter(|_| descriptor.home.absolute_program);
            let mut places = BTreeSet::new();
            for artifact in &artifacts {
                let place = format!("{} {scope:?} {:?} {}", descriptor.id, artifact.anchor, artifact.path);
                let mut fault = |text: &str| faults.push(format!("{place}: {text}"));
                if !places.insert((&artifact.anchor, &artifact.path)) {
                    fault("stands there twice");
                }
                let bad_part = |part: &str| part.is_empty() || part == "." || part == "..";
                if artifact.path.split('/').any(bad_part) || artifact.path.contains('\\') {
                    fault("is no path below its anchor");
                }
                let Contents::Whole(text) = &artifact.contents else { continue };
                // A host's shell cuts longer output.
                if artifact.kind == ItemKind::Workflow && text.len() > 9_000 {
                    fault(&format!("is longer than one reading: {} bytes", text.len()));
                }
                if !text.ends_with('\n') && artifact.kind != ItemKind::Template {
                    fault("has no final line break");
                }
                let elsewhere = program.as_ref().map_or_else(|| text.clone(), |program| text.replace(program, ""));
                if elsewhere.contains("/home/u/") && artifact.kind != ItemKind::Hook {
                    fault("names the home of this user");
                }
                if text.contains("/srv/p") {
                    fault("names the project's folder");
                }
                if descriptor.instruction_file != "CLAUDE.md" && text.contains("`CLAUDE.md`") {
                    fault("names the instruction file of another host");
                }
                if descriptor.spawn.agent.as_deref() != Some("subagent_type") && text.contains("subagent_type=") {
                    fault("spawns an agent in the words of another host");
                }
                // The program puts its path into the pages of the guide when it prints them.
                if let Some(call) = bare_call(text).filter(|_| !artifact.path.contains("templates/guide/")) {
                    fault(&format!("calls the program by its bare name: {call}"));
                }
                if !matches!(artifact.kind, ItemKind::Command | ItemKind::Router | ItemKind::Agent) {
                    continue;
                }
                // A host that splits a name at its first underscore would use `plugin` as the server, and reject the
                // agent.
                let has_names_of_its_kind = matches!(descriptor.agent.tools, Some(AgentTools::List { .. }));
                if artifact.kind == ItemKind::Agent && has_names_of_its_kind && text.contains("plugin_") {
                    fault("lists the server of a plugin as another host calls it");
                }
                let is_role = artifact.kind == ItemKind::Agent && descriptor.spawn.role.is_some();
                let ending = artifact.path.rsplit('.').next();
                if ending == Some("toml") {
                    if let Err(error) = text.parse::<toml_edit::DocumentMut>() {
                        fault(&error.to_string());
                    }
                } else if ending == Some("md") && !is_role {
                    let top =
                        text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(top, _)| top);
                    let read: Option<serde_yaml::Mapping> = top.and_then(|top| serde_yaml::from_str(top).ok());
                    let description = read.as_ref().and_then(|keys| keys.get("description")?.as_str());
                    match description {
                        None => fault("has no front matter with a description"),
                        Some(text)
                            if descriptor.limits.description.is_some_and(|limit| text.chars().count() > limit) =>
                        {
                            fault("has too long a description");
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A line that calls `gsd-tools` as if it were on the search path.
fn bare_call(text: &str) -> Option<&str> {
    const NAME: &str = "gsd-tools ";
    text.lines().find(|line| {
        let is_bare = |position: usize| {
            let (before, behind) = (&line[..position], &line[position + NAME.len()..]);
            // In a fresh clone the installed program is missing: only the one on the search path can install it.
            let by_path = before.ends_with('/') || before.ends_with("` is missing, run `");
            !by_path && !before.trim_start().starts_with('#') && behind.starts_with(|c: char| c.is_ascii_lowercase())
        };
        line.match_indices(NAME).any(|(position, _)| is_bare(position))
    })
}
