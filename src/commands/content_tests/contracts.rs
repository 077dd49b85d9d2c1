//! Expectations that the library's texts have of each other and of the program: a workflow reads only fields that its
//! calls answer, waits only for headings that an agent returns, everything in the library is used, and no host is
//! named.
//!
//! Each check is a function of a library, so that a test can insert mistakes and verify that each is found.

use std::collections::BTreeSet;
use std::ffi::OsString;

use serde_json::Value;

use super::calls::{ContentCall, calls_of};
use crate::commands::families::{CATALOG, read};
use crate::commands::small::schema::schema_of;
use crate::frame::{tree, usage};
use crate::library::{Item, ItemKind, Library};
use crate::operations::capability;
use crate::project::config::key_names;
use crate::runtime::Registry;

/// Words with an underscore that name neither a field of an answer nor a key of a document or the configuration.
const OTHER_WORDS: &[&str] = &[
    "subagent_type",
    "run_in_background",
    // Keys of documents that workflows write themselves.
    "areas_done",
    "areas_open",
    "chat_more",
    "trigger_when",
    "resolves_phase",
];

/// The code that gives reasons as separate words.
const REASONS: &[&str] =
    &[include_str!("../../acts/worktree/cleanup.rs"), include_str!("../../acts/worktree/noted.rs")];

/// Runs every check of this file on `library`: one line for each fault.
fn faults(library: &Library) -> Vec<String> {
    [fields(library), markers(library), unused(library), brands(library), gates(library)].concat()
}

#[test]
fn texts_agree_with_each_other_and_with_the_program() {
    let faults = faults(&Library::embedded().unwrap());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A workflow with its steps, as one reader reads them.
fn with_steps<'a>(library: &'a Library, workflow: &Item) -> Vec<&'a Item> {
    let steps = format!("{}/steps/", workflow.name);
    let all = library.of_kind(ItemKind::Workflow);
    all.filter(|item| item.name == workflow.name || item.name.as_str().starts_with(&steps)).collect()
}

fn workflows(library: &Library) -> impl Iterator<Item = &Item> {
    library.of_kind(ItemKind::Workflow).filter(|item| !item.name.as_str().contains('/'))
}

/// Names in code type that look like fields but are not in the answer of any call in the workflow.
fn fields(library: &Library) -> Vec<String> {
    let documents: Vec<&Item> =
        library.items().filter(|item| matches!(item.kind, ItemKind::Template | ItemKind::Agent)).collect();
    let settings = key_names();
    let is_setting = |word: &str| settings.iter().any(|key| key.split('.').any(|part| part == word));
    let mut faults = Vec::new();
    for workflow in workflows(library) {
        let texts = with_steps(library, workflow);
        let mut known: BTreeSet<String> = OTHER_WORDS.iter().map(|&word| word.to_owned()).collect();
        let is_reason = |word: &str| REASONS.iter().any(|source| source.contains(&format!("\"{word}\"")));
        // A workflow that this one hands over to, or that reads it, refers to the same answer.
        let near = library.items().filter(|other| {
            other.body.contains(&workflow.path) || texts.iter().any(|text| text.body.contains(&other.path))
        });
        for item in texts.iter().copied().chain(near) {
            for call in calls_of(item) {
                known.extend(answer_fields(&call));
            }
        }
        for text in &texts {
            for word in code_words(&text.body) {
                let is_key = documents.iter().any(|item| item.body.contains(word));
                if !known.contains(word) && !is_setting(word) && !is_key && !is_reason(word) {
                    faults.push(format!("{}: `{word}` is not a field of any answer that it asks for", text.path));
                }
            }
        }
    }
    faults
}

/// Words between backticks that look like a field: `phase_dir`, or the first part of `planner.model_name`.
fn code_words(text: &str) -> BTreeSet<&str> {
    let code = text.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    code.filter_map(|code| code.split('.').next())
        .filter(|word| {
            word.contains('_')
                && word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        })
        .collect()
}

/// The keys in the possible answers of a call, at any depth.
fn answer_fields(call: &ContentCall) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    let words = call.words.iter().map(|word| word.with(|_| "1".to_owned()));
    let Ok(parsed) = read(words.map(OsString::from).collect()) else { return fields };
    let Ok(row) = usage::family_of(CATALOG, &parsed) else { return fields };
    let tree = tree(row);
    let path = usage::leaf(&tree, &parsed.words).path;
    let Ok(schema) = schema_of(&CATALOG.listing(), &[path]) else { return fields };
    if let Ok(schema) = serde_json::from_str::<Value>(schema) {
        keys_of(&schema, &mut fields);
    }
    fields
}

fn keys_of(schema: &Value, keys: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            if let Some(Value::Object(properties)) = entries.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            // A text may also name a possible value of a key.
            let values = ["enum", "const"].into_iter().filter_map(|key| entries.get(key));
            let values = values.flat_map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]));
            keys.extend(values.filter_map(|value| value.as_str().map(str::to_owned)));
            entries.values().for_each(|value| keys_of(value, keys));
        }
        Value::Array(items) => items.iter().for_each(|value| keys_of(value, keys)),
        _ => {}
    }
}

/// The headings of agents: an agent promises each heading that a workflow waits for; each promised heading is waited
/// for and is in the agent's own text.
fn markers(library: &Library) -> Vec<String> {
    let mut faults = Vec::new();
    let mut promised: BTreeSet<String> = BTreeSet::new();
    for agent in library.of_kind(ItemKind::Agent) {
        for marker in agent.front_matter.names("returns") {
            promised.insert(marker.to_owned());
            let heading = format!("## {marker}");
            let named = format!("`{marker}`");
            // A caller may itself define what should be returned.
            let ordered = format!("eturn `{heading}`");
            let readers = || library.items().filter(|item| item.path != agent.path);
            let says = |item: &Item| item.body.contains(&heading) || item.body.contains(&named);
            let is_said = says(agent)
                || readers().any(|item| agent.body.contains(&item.path) && says(item))
                || readers().any(|item| item.body.split_whitespace().collect::<Vec<_>>().join(" ").contains(&ordered));
            if !is_said {
                faults.push(format!("{}: promises `## {marker}` and never says when", agent.path));
            }
            let waits =
                |item: &Item| matches!(item.kind, ItemKind::Workflow | ItemKind::Agent) && item.body.contains(marker);
            if !readers().any(waits) {
                faults.push(format!("{}: returns `## {marker}`, and nobody waits for it", agent.path));
            }
        }
    }
    for item in library.of_kind(ItemKind::Workflow) {
        for marker in waited_for(&item.body) {
            if !promised.contains(marker) {
                faults.push(format!("{}: waits for `## {marker}`, which no agent returns", item.path));
            }
        }
    }
    faults
}

/// Headings in capitals between backticks, such as agents return at their end.
fn waited_for(text: &str) -> BTreeSet<&str> {
    let code = text.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    let headings = code.filter_map(|code| code.strip_prefix("## "));
    headings
        .filter(|heading| {
            heading.len() > 3 && heading.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b' ' || byte == b'_')
        })
        .collect()
}

/// Texts that nothing refers to.
fn unused(library: &Library) -> Vec<String> {
    let mut faults = Vec::new();
    // A whole folder is referred to as `references/contexts/{context}.md`.
    let is_one_of = |path: &str| {
        let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/{{"));
        folder.is_some_and(|folder| library.items().any(|other| other.body.contains(&folder)))
    };
    for item in library.items() {
        let name = match item.kind {
            ItemKind::Agent => format!("gsd-{}", item.name),
            ItemKind::Workflow | ItemKind::Reference => item.path.clone(),
            _ => continue,
        };
        // A section is read if the front matter of its workflow names it.
        let is_section = item.name.as_str().split_once("/steps/").is_some_and(|(workflow, step)| {
            let owner = library.at(&format!("workflows/{workflow}.md"));
            owner.is_some_and(|owner| owner.front_matter.pairs("sections").iter().any(|(section, _)| section == step))
        });
        let declared =
            capability::all().iter().any(|feature| feature.hooks.iter().any(|hook| hook.leads_to().1 == Some(&name)));
        let named = library.items().any(|other| other.path != item.path && names(&other.body, &name));
        if !is_section && !declared && !named && !is_one_of(&item.path) {
            faults.push(format!("{}: nothing leads to it", item.path));
        }
    }
    faults
}

/// Whether `text` contains `name` as a whole name.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let goes_on = |next: char| next.is_alphanumeric() || next == '-' || next == '_';
        !text[at + name.len()..].starts_with(goes_on) && !text[..at].ends_with(|before: char| before.is_alphanumeric())
    })
}

/// Names of hosts in texts that every host reads.
fn brands(library: &Library) -> Vec<String> {
    let descriptors = Registry::embedded().all().unwrap();
    let names: BTreeSet<&str> = descriptors
        .iter()
        .map(|descriptor| descriptor.name.as_str())
        .filter(|name| name.contains(' ') || name.len() > 5)
        .collect();
    let mut faults = Vec::new();
    for item in library.items().filter(|item| !item.path.starts_with("templates/guide/")) {
        for name in names.iter().filter(|&&name| self::names(&item.body, name)) {
            faults.push(format!("{}: names the host `{name}`", item.path));
        }
    }
    faults
}

/// Steps and gates of the loop whose workflow or agent does not exist.
fn gates(library: &Library) -> Vec<String> {
    // Features of other products, which are not part of this content.
    const OTHERS: &[&str] = &["mempalace", "claude-orchestration"];
    let mut faults = Vec::new();
    for feature in capability::all().iter().filter(|feature| !OTHERS.contains(&feature.id.as_str())) {
        for (workflows, agent) in feature.hooks.iter().map(capability::Hook::leads_to) {
            let workflows = workflows.iter().map(|name| format!("workflows/{name}.md"));
            let agent = agent.map(|name| format!("agents/{}.md", name.trim_start_matches("gsd-")));
            let missing = workflows.chain(agent).filter(|path| library.at(path).is_none());
            faults.extend(missing.map(|path| format!("feature {}: leads to {path}, which is not there", feature.id)));
        }
    }
    faults
}

/// The files of the library with one mistake: `old` in the file at `path` becomes `new`. If `old` is empty, the file is
/// left out.
pub(super) fn with_slip(path: &str, old: &str, new: &str) -> Library {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut open: Vec<_> =
        ["commands", "workflows", "agents", "references", "templates", "hooks"].map(String::from).into();
    while let Some(at) = open.pop() {
        if root.join(&at).is_dir() {
            let inside = std::fs::read_dir(root.join(&at)).unwrap();
            open.extend(inside.map(|entry| format!("{at}/{}", entry.unwrap().file_name().to_string_lossy())));
            continue;
        }
        let text = std::fs::read_to_string(root.join(&at)).unwrap();
        if at != path {
            files.push((at, text));
        } else if !old.is_empty() {
            assert!(text.contains(old), "{path} has no `{old}`");
            files.push((at, text.replace(old, new)));
        }
    }
    Library::from_files(files).unwrap()
}

#[test]
fn each_kind_of_slip_is_found() {
    // All other texts have the same calls and paths as without the mistake; other tests check that.
    let found = |library: &Library, path: &str| {
        let changed: Vec<_> = library.items().filter(|item| item.path == path).collect();
        let paths = changed.iter().flat_map(|item| crate::emit::content_tests::missing_paths(library, item));
        [faults(library), super::refused(changed.iter().flat_map(|item| calls_of(item))), paths.collect()].concat()
    };
    let host = Registry::embedded()
        .all()
        .unwrap()
        .iter()
        .map(|host| host.name.clone())
        .find(|name| name.contains(' '))
        .unwrap();
    for (path, old, new, told) in [
        ("workflows/plan-phase.md", "gsd-tools plan lint {dir}", "gsd-tools plan lint {dir} --hard", "--hard"),
        ("workflows/plan-phase.md", "`has_context`", "`holds_context`", "`holds_context` is not a field"),
        (
            "workflows/plan-phase.md",
            "`## VERIFICATION PASSED`",
            "`## PLANS PASSED`",
            "`## PLANS PASSED`, which no agent",
        ),
        (
            "workflows/plan-phase.md",
            "steps/revise.md",
            "steps/revised.md",
            "no `workflows/plan-phase/steps/revised.md`",
        ),
        ("workflows/ui-phase.md", "", "", "feature ui: leads to workflows/ui-phase.md"),
        ("references/ui.md", "**Next Up**", &host, "names the host"),
    ] {
        let told_of = found(&with_slip(path, old, new), path);
        assert!(told_of.iter().any(|fault| fault.contains(told)), "{told}: {told_of:?}");
    }
}
