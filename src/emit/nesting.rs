//! The layout in which a router's skill contains the skills it leads to: `gsd-ns-x/skills/<name>/SKILL.md`.
//!
//! Hosts that look for skills at depth one then list only the routers; a router names the files below it.

use std::collections::BTreeMap;

use crate::library::{Item, ItemKind, Library};
use crate::runtime::{Descriptor, PlaceItem, Scope};

/// The name of a skill's file, in its own folder.
const SKILL: &str = "SKILL.md";

/// Which commands are below which routers; empty in the flat layout, or if commands are not skills.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    /// The places of each command, by its name.
    places: BTreeMap<String, Vec<String>>,
}

impl Nesting {
    pub(super) fn of(library: &Library, descriptor: &Descriptor, scope: Scope) -> Nesting {
        let folder = |item| descriptor.place(item, scope)?.path.strip_suffix(&format!("/{SKILL}"));
        let (Some(_), Some(routers)) = (folder(PlaceItem::Command), folder(PlaceItem::Router)) else {
            return Nesting::default();
        };
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for router in library.of_kind(ItemKind::Router) {
            let folder = routers.replace("{name}", router.name.as_str());
            for name in router.front_matter.names("requires") {
                let place = format!("{folder}/{}", below(name));
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
        Nesting { places }
    }

    /// The places of a command below routers; `None` for others, which keep theirs.
    pub(super) fn places(&self, item: &Item) -> Option<Vec<String>> {
        self.places.get(item.name.as_str()).filter(|_| item.kind == ItemKind::Command).cloned()
    }

    /// The router with a table that names the files below it.
    pub(super) fn router(&self, item: &Item) -> Option<Item> {
        if item.kind != ItemKind::Router || self.places.is_empty() {
            return None;
        }
        let mut router = item.clone();
        for name in item.front_matter.names("requires") {
            router.body = router.body.replace(&format!("`workflows/{name}.md`"), &format!("`{}`", below(name)));
        }
        let end = "Files of the table are below the folder of this one.";
        router.body = format!("{}\n\n{end}\n", router.body.trim_end());
        Some(router)
    }
}

/// The path of a command's file, below the folder of its router.
fn below(name: &str) -> String {
    format!("skills/{name}/{SKILL}")
}
