//! The hosts we know: our descriptors and those a user added. A file is read only when its host is named.

use std::borrow::Cow;
use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

use super::descriptor::{Descriptor, RuntimeId};

static DESCRIPTORS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/runtime/descriptors");

/// Descriptor files by id.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    files: BTreeMap<RuntimeId, Cow<'static, str>>,
}

/// Why a host is not to be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    #[error("no runtime `{name}`{}", .nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown { name: String, nearest: Option<String> },
    #[error("the descriptor of the runtime `{id}` does not parse")]
    Broken { id: RuntimeId, source: Box<toml_edit::de::Error> },
    #[error("the descriptor `{id}` says it is `{found}`")]
    Misnamed { id: RuntimeId, found: RuntimeId },
}

impl Registry {
    /// The descriptors in the program.
    pub(crate) fn embedded() -> Registry {
        let files = DESCRIPTORS.files().filter_map(|file| {
            let id = file.path().file_stem()?.to_str()?.parse().ok()?;
            Some((id, Cow::Borrowed(file.contents_utf8()?)))
        });
        Registry { files: files.collect() }
    }

    /// Adds the text of a user's descriptor, or puts it in the place of ours.
    pub(crate) fn with(mut self, id: RuntimeId, text: String) -> Registry {
        self.files.insert(id, Cow::Owned(text));
        self
    }

    /// All ids in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &RuntimeId> {
        self.files.keys()
    }

    /// All descriptors in the order of their ids.
    pub(crate) fn all(&self) -> Result<Vec<Descriptor>, RegistryError> {
        self.ids().map(|id| self.read(id)).collect()
    }

    /// The host a person means by `name`: an id or an alias.
    pub(crate) fn find(&self, name: &str) -> Result<Descriptor, RegistryError> {
        let wanted = name.trim().to_ascii_lowercase();
        if let Some(id) = wanted.parse().ok().filter(|id| self.files.contains_key(id)) {
            return self.read(&id);
        }
        let mut words = Vec::new();
        for descriptor in self.all()? {
            if descriptor.aliases.contains(&wanted) {
                return Ok(descriptor);
            }
            words.push(descriptor.id.to_string());
            words.extend(descriptor.aliases);
        }
        Err(RegistryError::Unknown { name: name.to_owned(), nearest: nearest(&wanted, words) })
    }

    fn read(&self, id: &RuntimeId) -> Result<Descriptor, RegistryError> {
        let text = self.files.get(id).map_or("", |text| text.as_ref());
        let descriptor = Descriptor::parse(text)
            .map_err(|source| RegistryError::Broken { id: id.clone(), source: Box::new(source) })?;
        if descriptor.id == *id {
            Ok(descriptor)
        } else {
            Err(RegistryError::Misnamed { id: id.clone(), found: descriptor.id })
        }
    }
}

/// The word most like `wanted`, if one is like it at all.
fn nearest(wanted: &str, words: Vec<String>) -> Option<String> {
    let likeness = |word: &String| strsim::jaro_winkler(wanted, word);
    words
        .into_iter()
        .filter(|word| likeness(word) > 0.75)
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
}

#[cfg(test)]
mod tests {
    use super::super::{Place, PlaceItem, Scope, made_up_text};
    use super::*;

    #[test]
    fn every_descriptor_loads_and_names_its_files() {
        let registry = Registry::embedded();
        assert!(registry.ids().count() >= 6);
        for descriptor in registry.all().unwrap() {
            let id = &descriptor.id;
            let used = descriptor
                .edits
                .iter()
                .map(|edit| &edit.file)
                .chain(descriptor.status_line.iter().map(|line| &line.file))
                .chain(descriptor.instructions.iter().map(|instructions| &instructions.file))
                .chain(descriptor.hooks.iter().filter_map(|hooks| hooks.form.file()));
            for file in used {
                assert!(descriptor.files.contains_key(file), "{id} has no file `{file}`");
            }
            assert!(descriptor.home.global.starts_with("~/"), "{id}");
            assert!(descriptor.home.local.folder().is_none_or(|folder| !folder.starts_with('/')), "{id}");
            let verified = &descriptor.verified;
            assert!(verified.date.parse::<jiff::civil::Date>().is_ok(), "{id}");
            assert_eq!(
                verified.by == super::super::descriptor::Evidence::Client,
                verified.version.is_some(),
                "{id}: the client that was run"
            );
            let nameless = descriptor.spawn.role.is_some();
            let texts = |place: &Place| place.items == [PlaceItem::Agent] && place.path.starts_with("gsd-core/");
            assert_eq!(descriptor.places.iter().any(texts), nameless, "{id}: agents that are texts have a role");
            assert!(descriptor.mention.command.contains("{name}"), "{id}");
        }
    }

    #[test]
    fn each_kind_has_one_place_in_each_scope() {
        for descriptor in Registry::embedded().all().unwrap() {
            let local = descriptor.home.local.folder().map(|_| Scope::Local);
            for scope in std::iter::once(Scope::Global).chain(local) {
                for item in [PlaceItem::Command, PlaceItem::Router, PlaceItem::Agent] {
                    let places = descriptor
                        .places
                        .iter()
                        .filter(|place| place.items.contains(&item) && place.scopes.contains(&scope));
                    assert_eq!(places.count(), 1, "{} {item:?} {scope:?}", descriptor.id);
                    let place = descriptor.place(item, scope).unwrap();
                    assert!(place.path.contains("{name}"), "{} {item:?}", descriptor.id);
                }
            }
        }
    }

    #[test]
    fn words_belong_to_one_host() {
        let mut words = Vec::new();
        for descriptor in Registry::embedded().all().unwrap() {
            words.push(descriptor.id.to_string());
            words.extend(descriptor.aliases);
        }
        let mut unique = words.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), words.len(), "{words:?}");
    }

    #[test]
    fn a_host_is_found_by_id_and_alias_and_a_near_miss_is_named() {
        let registry =
            Registry::embedded().with("lantern".parse().unwrap(), made_up_text("aliases = [\"lantern-cli\"]\n"));
        assert_eq!(registry.find("lantern").unwrap().id.as_str(), "lantern");
        assert_eq!(registry.find(" Lantern-CLI ").unwrap().id.as_str(), "lantern");
        assert_eq!(registry.find("lantren").unwrap_err().to_string(), "no runtime `lantren`; did you mean `lantern`?");
        assert_eq!(registry.find("zzz").unwrap_err().to_string(), "no runtime `zzz`");
        assert!(registry.find("../x").is_err());
    }

    #[test]
    fn a_user_may_add_a_host_and_a_slip_in_it_is_named() {
        let text = made_up_text("");
        let mine = made_up_text("id = \"mine\"\n");
        let registry = Registry::embedded().with("mine".parse().unwrap(), mine.clone());
        assert_eq!(registry.find("mine").unwrap().name, "Lantern");
        let broken = Registry::embedded().with("mine".parse().unwrap(), format!("skip-this = 1\n{mine}"));
        assert!(matches!(broken.find("mine"), Err(RegistryError::Broken { .. })));
        let misnamed = Registry::embedded().with("mine".parse().unwrap(), text);
        assert!(matches!(misnamed.find("mine"), Err(RegistryError::Misnamed { .. })));
    }

    /// Keys that one descriptor alone uses, and why they are in the schema all the same.
    const USED_ONCE: &[(&str, &str)] = &[
        ("agent.add", "kilo marks subagents the same way"),
        ("agent.body-key", "any host whose agents are TOML or YAML"),
        ("agent.tools.denials", "kilo grants by permissions too"),
        ("command.body-key", "qwen reads commands in TOML too"),
        ("dispatch.concurrency", "only one maker tells how many agents run at once"),
        ("dispatch.start-commit", "only one host makes worktrees and lets itself be told from where"),
        ("dispatch.teams-variable", "only one host has teams of agents"),
        ("files.instead", "kilo reads a .jsonc too"),
        ("files.local-path", "hosts with private project settings: qwen, codebuddy, augment"),
        ("files.local-private", "as files.local-path"),
        ("home.skills", "a host that reads its own folder and tells people to use a shared one"),
        ("hooks.without", "one host refuses edits of unread files itself"),
        ("instructions", "cline and windsurf keep a rules file"),
        ("mention.router", "follows from commands and skills with different spellings"),
        ("own-file", "permission rules in files of their own: codex has them too"),
        ("sessions", "other hosts keep theirs in forms of their own"),
        ("spawn.always", "other hosts may fork the conversation too"),
        ("status-line", "qwen and codebuddy have one"),
        ("typed-only.sidecar", "the only way where no front matter key works"),
    ];

    #[test]
    fn a_key_used_once_has_a_reason() {
        let mut users: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for file in DESCRIPTORS.files() {
            let table: toml_edit::DocumentMut = file.contents_utf8().unwrap().parse().unwrap();
            let mut keys: Vec<String> = Vec::new();
            for (key, item) in table.iter() {
                keys.push(key.to_owned());
                for (below, value) in sub_keys(key, item) {
                    keys.push(format!("{key}.{below}"));
                    if below == "tools"
                        && let Some(form) = value.as_table_like().and_then(|tools| tools.iter().next())
                    {
                        keys.push(format!("{key}.tools.{}", form.0));
                    }
                }
            }
            keys.sort();
            keys.dedup();
            for key in keys {
                *users.entry(key).or_default() += 1;
            }
        }
        let once: Vec<&str> = users.iter().filter(|(_, count)| **count == 1).map(|(key, _)| key.as_str()).collect();
        let listed: Vec<&str> = USED_ONCE.iter().map(|(key, _)| *key).collect();
        let expected: Vec<&str> = once
            .into_iter()
            .filter(|key| !listed.iter().any(|reason| *reason != *key && key.starts_with(&format!("{reason}."))))
            .collect();
        assert_eq!(expected, listed);
    }

    /// The keys of a table; of `[files.x]` and `[[place]]` those of all members; maps of names have no keys.
    fn sub_keys(key: &str, item: &toml_edit::Item) -> Vec<(String, toml_edit::Item)> {
        let pairs = |table: &dyn toml_edit::TableLike| -> Vec<(String, toml_edit::Item)> {
            table.iter().map(|(key, item)| (key.to_owned(), item.clone())).collect()
        };
        if matches!(key, "tools" | "arguments") {
            return Vec::new();
        }
        if let Some(list) = item.as_array_of_tables() {
            return list.iter().flat_map(|table| pairs(table)).collect();
        }
        let Some(table) = item.as_table_like() else { return Vec::new() };
        if key == "files" {
            return table.iter().filter_map(|(_, file)| file.as_table_like()).flat_map(pairs).collect();
        }
        pairs(table)
    }
}
