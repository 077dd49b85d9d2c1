//! Checks that everything can be reached: each setting has a reader, each command a router, each point of the loop a
//! workflow that enters it, each text for a role a prompt that includes it, and each agent the tools that its text
//! requires.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::contracts::with_slip;
use crate::library::{Item, ItemKind, Library};
use crate::operations::capability;
use crate::project::config::{key_names, unused, unused_keys};

/// Runs every check of this file on the texts: one line for each fault.
fn faults(library: &Library) -> Vec<String> {
    [routers(library), points(library), roles(library), tools(library)].concat()
}

#[test]
fn everything_can_be_reached() {
    let faults = faults(&Library::embedded().unwrap());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Commands that no router leads to.
fn routers(library: &Library) -> Vec<String> {
    let routers: Vec<&Item> = library.of_kind(ItemKind::Router).collect();
    let mut faults = Vec::new();
    for command in library.of_kind(ItemKind::Command) {
        let name = command.name.as_str();
        let leads: Vec<&&Item> =
            routers.iter().filter(|router| router.front_matter.names("requires").contains(&name)).collect();
        if leads.is_empty() {
            faults.push(format!("{}: no router requires it", command.path));
        }
        let workflows = workflows_of(&command.body);
        let has_row = |router: &&&Item| workflows.iter().any(|path| router.body.contains(&format!("`{path}`")));
        if !workflows.is_empty() && !leads.is_empty() && !leads.iter().any(has_row) {
            faults.push(format!("{}: a router requires it and has no row for it", command.path));
        }
    }
    faults
}

/// The workflows that a text names, without their steps.
fn workflows_of(text: &str) -> BTreeSet<&str> {
    let ends = |rest: &str| rest.find(".md").map(|end| end + ".md".len());
    let found = text.match_indices("workflows/").filter_map(|(at, _)| Some(&text[at..at + ends(&text[at..])?]));
    found.filter(|path| path.matches('/').count() == 1 && !path.contains(char::is_whitespace)).collect()
}

fn enters(point: &str) -> String {
    format!("gsd-tools loop enter {point}")
}

/// Points of the loop that no workflow enters: the hooks of features there would never run.
fn points(library: &Library) -> Vec<String> {
    let is_entered =
        |point: &str| library.of_kind(ItemKind::Workflow).any(|item| position(&item.body, &enters(point)).is_some());
    let missed = capability::POINTS.iter().filter(|point| !is_entered(point));
    missed.map(|point| format!("no workflow enters {point}")).collect()
}

/// The position of a call that is not just the beginning of a longer word.
fn position(text: &str, call: &str) -> Option<usize> {
    let is_whole =
        |at: usize| !text[at + call.len()..].starts_with(|next: char| next.is_alphanumeric() || ":-".contains(next));
    text.match_indices(call).map(|(at, _)| at).find(|at| is_whole(*at))
}

/// Texts of a feature for a role that is not started after the point of the text, or whose prompt has no place for it.
fn roles(library: &Library) -> Vec<String> {
    let mut faults = Vec::new();
    for feature in capability::all() {
        for hook in &feature.hooks {
            let Some(role) = hook.into.as_deref().filter(|role| *role != "orchestrator") else { continue };
            let is_taken = library.of_kind(ItemKind::Workflow).any(|item| {
                let Some(at) = position(&item.body, &enters(&hook.point)) else { return false };
                let rest = &item.body[at..];
                let steps = library.of_kind(ItemKind::Workflow).filter(|step| {
                    step.path.starts_with(&item.path.replace(".md", "/steps/")) && rest.contains(&step.path)
                });
                has_slot(rest, role) || steps.into_iter().any(|step| has_slot(&step.body, role))
            });
            if !is_taken {
                faults.push(format!("feature {}: nobody passes its text at {} to the {role}", feature.id, hook.point));
            }
        }
    }
    faults
}

/// Whether a text starts the agent of a role with a place for the texts of features.
fn has_slot(text: &str, role: &str) -> bool {
    let starts = [format!("subagent_type=\"gsd-{role}\""), format!("Spawn `gsd-{role}`")];
    starts.iter().flat_map(|start| text.match_indices(start.as_str())).any(|(at, _)| {
        let spawn = text[at..].split("\n## ").next().unwrap_or_default();
        spawn.find("hook_contributions").is_some_and(|slot| !spawn[1..slot].contains("subagent_type="))
    })
}

/// The services of `references/research.md`.
const SERVICES: &[&str] = &["exa", "tavily", "firecrawl", "ref", "jina", "perplexity"];

/// Tools that an agent, or a page it reads, asks to use although the agent does not have them.
fn tools(library: &Library) -> Vec<String> {
    let mut faults = Vec::new();
    for agent in library.of_kind(ItemKind::Agent) {
        let has = agent.front_matter.names("tools");
        let read = library.of_kind(ItemKind::Reference).filter(|page| agent.body.contains(&page.path));
        let texts: Vec<&str> = read.map(|page| page.body.as_str()).chain([agent.body.as_str()]).collect();
        let says = |word: &str| texts.iter().any(|text| text.contains(word));
        let mut wanted: Vec<String> = Vec::new();
        for (word, tool) in [
            ("WebSearch", "WebSearch"),
            ("WebFetch", "WebFetch"),
            ("Write tool", "Write"),
            ("Edit tool", "Edit"),
            ("gsd-tools ", "Bash"),
            ("context7", "mcp__context7__*"),
            ("context7", "mcp__plugin_context7_context7__*"),
        ] {
            wanted.extend(says(word).then(|| tool.to_owned()));
        }
        if says("`fetch.provider`") {
            wanted.extend(SERVICES.iter().map(|service| format!("mcp__{service}__*")));
        }
        // A host that knows one name of the server also knows the other.
        if has.contains(&"mcp__context7__*") {
            wanted.push("mcp__plugin_context7_context7__*".to_owned());
        }
        let missing: BTreeSet<String> = wanted.into_iter().filter(|tool| !has.contains(&tool.as_str())).collect();
        faults.extend(missing.iter().map(|tool| format!("{}: is told to use {tool} and does not have it", agent.path)));
    }
    faults
}

#[test]
fn unreachable_parts_are_found() {
    for (path, old, new, told) in [
        ("commands/ns-workflow.md", ", phase]", "]", "commands/phase.md: no router requires it"),
        (
            "commands/ns-review.md",
            "`workflows/ui-review.md`",
            "`workflows/ui-phase.md`",
            "commands/ui-review.md: a router",
        ),
        ("workflows/discuss-phase.md", "enter discuss:pre", "enter plan:pre", "no workflow enters discuss:pre"),
        (
            "workflows/execute-phase.md",
            "enter execute:wave:pre",
            "enter execute:pre",
            "no workflow enters execute:wave:pre",
        ),
        (
            "workflows/execute-phase.md",
            "hook_contributions",
            "contributions",
            "external-job: nobody passes its text at execute:wave:pre",
        ),
        ("agents/phase-researcher.md", "mcp__jina__*, ", "", "phase-researcher.md: is told to use mcp__jina__*"),
        ("agents/executor.md", ", mcp__plugin_context7_context7__*", "", "executor.md: is told to use mcp__plugin"),
    ] {
        let found = faults(&with_slip(path, old, new));
        assert!(found.iter().any(|fault| fault.contains(told)), "{told}: {found:?}");
    }
}

/// Keys that the configuration's own code reads, and keys with any name.
const READ_ELSEWHERE: &[&str] = &["phase_commit_docs.*", "features.*"];

/// Keys that are refused but still named: one in an answer, the other in a gate that never finds its document.
const ONLY_TOLD: &[&str] = &["workflow.subagent_timeout", "workflow.windows_enforce"];

/// The lines of the sources without comments and tests, and without the configuration's own code.
fn source_lines() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> = vec![root.join("src")];
    let mut lines = Vec::new();
    while let Some(at) = open.pop() {
        if at.ends_with("project/config") || at.ends_with("content_tests") {
            continue;
        }
        if at.is_dir() {
            open.extend(std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_read = ["rs", "toml"].contains(&at.extension().unwrap_or_default().to_str().unwrap_or_default());
        if name.contains("test") || !is_read {
            continue;
        }
        let text = std::fs::read_to_string(&at).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        lines.extend(text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned));
    }
    lines
}

/// The string literals that look like a key, with `*` for each inserted value.
fn literals(lines: &[String]) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-.*".contains(letter);
    let mut found = BTreeSet::new();
    for literal in lines.iter().flat_map(|line| line.split('"').skip(1).step_by(2)) {
        let mut key = String::new();
        for (index, part) in literal.split('{').enumerate() {
            let rest = if index == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) };
            key += if index == 0 { "" } else { "*" };
            key += rest;
        }
        if key.chars().all(is_part) && !key.is_empty() {
            found.insert(key);
        }
    }
    found
}

/// Whether a literal in the sources is `key`, or builds it from a fixed start and an inserted part.
fn is_made_by(literal: &str, key: &str) -> bool {
    let (fixed, is_open) = literal.split_once('*').map_or((literal, false), |(fixed, _)| (fixed, true));
    // `workflow.*` and the like match the form of every key.
    if is_open {
        fixed.matches('.').count() + usize::from(!fixed.starts_with("workflow")) > 1 && key.starts_with(fixed)
    } else {
        literal == key
    }
}

#[test]
fn every_setting_has_a_reader_or_is_refused() {
    let library = Library::embedded().unwrap();
    let literals = literals(&source_lines());
    let is_list =
        |item: &Item| item.path.starts_with("workflows/settings") || item.path.starts_with("templates/guide/");
    let texts: Vec<&Item> = library.items().filter(|item| !is_list(item)).collect();
    let in_text = |key: &str| {
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || "_-".contains(next));
        texts.iter().any(|item| {
            item.front_matter.names("settings").contains(&key)
                || item.body.match_indices(key).any(|(at, _)| {
                    let before = &item.body[..at];
                    ends(&item.body[at + key.len()..])
                        && (before.ends_with('`') || before.ends_with("config-get ") || before.ends_with("config-set "))
                })
        })
    };
    let mut faults = Vec::new();
    for key in key_names() {
        let named = key.trim_end_matches(".*");
        let is_named = literals.contains(&key) || in_text(&key);
        let is_read = is_named
            || literals.iter().any(|literal| is_made_by(literal, named))
            || key.contains('*')
                && literals.iter().any(|literal| literal.starts_with(&key[..=key.find('.').unwrap_or(0)]))
            || READ_ELSEWHERE.contains(&key.as_str());
        if unused(&key).is_none() && !is_read {
            faults.push(format!("{key}: nothing reads it"));
        }
    }
    let is_idle = |key: &&str| !ONLY_TOLD.contains(key) && (literals.contains(*key) || in_text(key));
    faults.extend(unused_keys().filter(is_idle).map(|key| format!("{key}: is refused, and something reads it")));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
