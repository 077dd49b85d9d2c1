//! Hosts that do not exist, for tests of what we do with facts. The facts of real hosts are checked by golden trees and
//! by the clients themselves.

use toml_edit::{DocumentMut, Item};

use super::Descriptor;

/// A host that types `/gsd-x`, includes files with `@`, and lives in `~/.lantern`.
const LANTERN: &str = r#"
id = "lantern"
name = "Lantern"
arguments = { placeholder = "$ARGUMENTS" }
include = "at"
instruction-file = "CLAUDE.md"

[verified]
date = "2026-01-02"
by = "secondary"

[home]
global = "~/.lantern"
local = ".lantern"

[[place]]
items = ["command", "router"]
path = "skills/gsd-{name}/SKILL.md"
encoding = "markdown"

[[place]]
items = ["agent"]
path = "agents/gsd-{name}.md"
encoding = "markdown"

[mention]
command = "/gsd-{name}"

[command]
keep = ["name", "description"]

[agent]
keep = ["name", "description"]
"#;

/// The descriptor of a made-up host that differs from the default one in `facts`, as TOML.
pub(crate) fn made_up_text(facts: &str) -> String {
    let mut document: DocumentMut = LANTERN.parse().unwrap();
    let facts: DocumentMut = facts.parse().unwrap();
    for (key, fact) in facts.iter() {
        match (document.get_mut(key), fact) {
            (Some(Item::Table(known)), Item::Table(fact)) => {
                for (key, fact) in fact {
                    known.insert(key, fact.clone());
                }
            }
            _ => drop(document.insert(key, fact.clone())),
        }
    }
    document.to_string()
}

/// Like [`made_up_text`], parsed.
pub(crate) fn made_up(facts: &str) -> Descriptor {
    Descriptor::parse(&made_up_text(facts)).unwrap()
}
