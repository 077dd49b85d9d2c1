//! The known hosts: our descriptors and those added by a user. A file is parsed only when its host is needed.
//!
//! [`Registry::open`] is the only way to get them for code that may name any host; [`Registry::one`] reads a single
//! descriptor, for hooks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use include_dir::{Dir, include_dir};

use super::check::DescriptorFault;
use super::descriptor::{Descriptor, RuntimeId};
use crate::disk::{self, DiskError};
use crate::failure::Explain;
use crate::text::edit::ParseError;
use crate::text::nearest::nearest;

/// The folder, in the user's configuration folder, for descriptors of hosts that the user added.
const FOLDER: &str = "runtimes";

static DESCRIPTORS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/runtime/descriptors");

/// Descriptor files by id.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    sources: BTreeMap<RuntimeId, DescriptorSource>,
    /// Files of the user whose names are not host ids.
    nameless: Vec<(String, DescriptorFault)>,
}

/// The source of a descriptor.
#[derive(Clone, Debug)]
enum DescriptorSource {
    Ours {
        text: &'static str,
        /// What it says, once it was asked: an install of all hosts asks for each of them for each of them.
        read: OnceLock<Box<Descriptor>>,
    },
    /// A file of the user, with its text, or the reason why the text is missing.
    Theirs { file: String, text: Result<String, DescriptorFault> },
}

/// Why a host cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    #[error("unknown host `{name}`{}", .nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown { name: String, nearest: Option<String> },
    #[error("the descriptor `{file}` cannot be used: {fault}")]
    Broken { file: String, fault: DescriptorFault },
}

impl Explain for RegistryError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { .. } => "`gsd-tools runtimes` lists the supported hosts".to_owned(),
            Self::Broken { fault, .. } => fault.cure.clone(),
        })
    }
}

impl Registry {
    /// Opens the known hosts, including those that the user added in `runtimes/` of the configuration folder.
    pub(crate) fn open(config_folder: Option<&Path>) -> Result<Registry, DiskError> {
        let mut registry = Self::ours();
        let Some(folder) = config_folder else { return Ok(registry) };
        for entry in disk::list(folder.join(FOLDER))?.unwrap_or_default() {
            let Some(stem) = entry.name.strip_suffix(".toml") else { continue };
            registry = registry.with_path(stem, &entry.path);
        }
        Ok(registry)
    }

    /// Reads the descriptor of the host with exactly this id, and no other file of the user.
    pub(crate) fn one(config_folder: Option<&Path>, id: &str) -> Result<Descriptor, RegistryError> {
        let unknown = || RegistryError::Unknown { name: id.to_owned(), nearest: None };
        let known: RuntimeId = id.parse().map_err(|_| unknown())?;
        let registry = Self::ours();
        match config_folder {
            Some(folder) => registry.with_path(id, &folder.join(FOLDER).join(format!("{id}.toml"))).read(&known),
            None => registry.read(&known),
        }
    }

    /// Only the descriptors inside the program.
    #[cfg(test)]
    pub(crate) fn embedded() -> Registry {
        Self::ours()
    }

    /// Adds the descriptor in this file of the user, if it exists.
    fn with_path(self, stem: &str, path: &Path) -> Registry {
        let text = match disk::read_text(path) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => return self,
            Err(error) => Err(error.to_string()),
        };
        self.with_file(stem, path.display().to_string(), text)
    }

    fn ours() -> Registry {
        let sources = DESCRIPTORS.files().filter_map(|file| {
            let id = file.path().file_stem()?.to_str()?.parse().ok()?;
            Some((id, DescriptorSource::Ours { text: file.contents_utf8()?, read: OnceLock::new() }))
        });
        Registry { sources: sources.collect(), nameless: Vec::new() }
    }

    /// Adds a descriptor of the user, or replaces ours with it. `stem` is the file name without its extension; `text`
    /// is an error if the file could not be read.
    fn with_file(mut self, stem: &str, file: String, text: Result<String, String>) -> Registry {
        let fault =
            |message: String, cure: &str| DescriptorFault { at: ParseError::at("", 0, message), cure: cure.to_owned() };
        let text = text.map_err(|why| fault(why, "make it a text in UTF-8, or move it away"));
        match stem.parse() {
            Ok(id) => drop(self.sources.insert(id, DescriptorSource::Theirs { file, text })),
            Err(error @ super::descriptor::RuntimeIdError(_)) => {
                self.nameless.push((
                    file,
                    fault(error.to_string(), "give the file the name of the host, such as `lantern.toml`"),
                ));
            }
        }
        self
    }

    /// All ids in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &RuntimeId> {
        self.sources.keys()
    }

    /// True if the descriptor of this host is a file of the user.
    pub(crate) fn is_theirs(&self, id: &RuntimeId) -> bool {
        matches!(self.sources.get(id), Some(DescriptorSource::Theirs { .. }))
    }

    /// All descriptors in the order of their ids. A file of the user that cannot be used is left out here and listed in
    /// [`Self::broken`], so that it does not block other hosts.
    pub(crate) fn all(&self) -> Result<Vec<Descriptor>, RegistryError> {
        let usable = |id: &&RuntimeId| !self.is_theirs(id) || self.read(id).is_ok();
        self.ids().filter(usable).map(|id| self.read(id)).collect()
    }

    /// Like [`Self::all`], without those of our descriptors that contain no quoted word accepted by `is_wanted`:
    /// parsing all of them takes longer than most calls.
    pub(crate) fn all_with(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Descriptor>, RegistryError> {
        let has_word = |text: &str| text.split('"').any(&is_wanted);
        let may_be = |id: &&RuntimeId| match self.sources.get(id) {
            Some(DescriptorSource::Ours { text, .. }) => has_word(text),
            _ => self.read(id).is_ok(),
        };
        self.ids().filter(may_be).map(|id| self.read(id)).collect()
    }

    /// The user's files that cannot be used, and why.
    pub(crate) fn broken(&self) -> Vec<RegistryError> {
        let nameless = self.nameless.iter().cloned().map(|(file, fault)| RegistryError::Broken { file, fault });
        let named = self.ids().filter(|id| self.is_theirs(id)).filter_map(|id| self.read(id).err());
        nameless.chain(named).collect()
    }

    /// Finds the host that a person means by `name`: an id or an alias, in upper or lower case, with `_` for `-`.
    pub(crate) fn find(&self, name: &str) -> Result<Descriptor, RegistryError> {
        let wanted = name.trim().to_ascii_lowercase().replace('_', "-");
        if let Some(id) = wanted.parse().ok().filter(|id| self.sources.contains_key(id)) {
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
        let near = nearest(&wanted, words.iter().map(String::as_str)).map(str::to_owned);
        Err(RegistryError::Unknown { name: name.to_owned(), nearest: near })
    }

    fn read(&self, id: &RuntimeId) -> Result<Descriptor, RegistryError> {
        match self.sources.get(id) {
            None => Err(RegistryError::Unknown { name: id.to_string(), nearest: None }),
            Some(DescriptorSource::Ours { text, read }) => {
                if let Some(known) = read.get() {
                    return Ok(Descriptor::clone(known));
                }
                let descriptor = Descriptor::parse(text).map_err(|error| {
                    let at = ParseError::at(text, error.span().map_or(0, |span| span.start), error.message());
                    let cure = "this is a defect of gsd-tools".to_owned();
                    RegistryError::Broken { file: format!("{id}.toml"), fault: DescriptorFault { at, cure } }
                })?;
                Ok(Descriptor::clone(read.get_or_init(|| Box::new(descriptor))))
            }
            Some(DescriptorSource::Theirs { file, text }) => {
                let read = text.clone().and_then(|text| self.read_theirs(id, &text));
                read.map_err(|fault| RegistryError::Broken { file: file.clone(), fault })
            }
        }
    }

    fn read_theirs(&self, id: &RuntimeId, text: &str) -> Result<Descriptor, DescriptorFault> {
        let descriptor = Descriptor::read(text)?;
        if descriptor.id != *id {
            let wrong = format!("the file says that it is `{}`", descriptor.id);
            return Err(Descriptor::fault(text, "id", wrong, &format!("write `id = \"{id}\"`, or rename the file")));
        }
        for (other, source) in self.sources.iter().filter(|(other, _)| *other != id) {
            let text_of_other: &str = match source {
                DescriptorSource::Ours { text, .. } => text,
                DescriptorSource::Theirs { text, .. } => text.as_deref().unwrap_or_default(),
            };
            // A file that contains none of the words cannot claim one of them, and need not be parsed.
            let mut words = descriptor.aliases.iter().map(String::as_str).chain([id.as_str()]);
            if !words.any(|word| word == other.as_str() || text_of_other.contains(word)) {
                continue;
            }
            let aliases = Descriptor::parse(text_of_other).map(|other| other.aliases).unwrap_or_default();
            let taken = |alias: &&String| **alias == other.as_str() || aliases.contains(alias);
            if let Some(alias) = descriptor.aliases.iter().find(taken) {
                let wrong = format!("`{alias}` means the host `{other}` already");
                return Err(Descriptor::fault(text, "aliases", wrong, "choose another word"));
            }
            if aliases.iter().any(|alias| alias == id.as_str()) {
                let wrong = format!("`{id}` means the host `{other}` already");
                return Err(Descriptor::fault(
                    text,
                    "id",
                    wrong,
                    &format!("choose another name, or override `{other}`"),
                ));
            }
        }
        Ok(descriptor)
    }
}

/// The id of the host that `program` was installed for: an install writes it next to the program.
pub(crate) fn installed_for(program: &Path) -> Option<String> {
    let text = disk::read_text(program.parent()?.parent()?.join(".gsd-runtime")).ok()??;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{Place, PlaceItem, made_up_text};
    use super::*;

    fn with(id: &str, text: String) -> Registry {
        Registry::embedded().with_file(id, format!("{id}.toml"), Ok(text))
    }

    #[test]
    fn our_descriptors_have_no_fault() {
        assert!(DESCRIPTORS.files().count() >= 11);
        for file in DESCRIPTORS.files() {
            let descriptor = Descriptor::read(file.contents_utf8().unwrap());
            let descriptor = descriptor.unwrap_or_else(|fault| panic!("{}: {fault}", file.path().display()));
            assert_eq!(file.path().file_stem().unwrap().to_str(), Some(descriptor.id.as_str()));
            let nameless = descriptor.spawn.role.is_some();
            let texts = |place: &Place| place.items == [PlaceItem::Agent] && place.path.starts_with("gsd-core/");
            let id = &descriptor.id;
            assert_eq!(descriptor.places.iter().any(texts), nameless, "{id}: agents that are texts have a role");
        }
        assert!(Registry::embedded().broken().is_empty());
    }

    #[test]
    fn a_host_is_found_by_each_variable_of_its_sessions_without_reading_the_others() {
        let registry = Registry::embedded();
        for host in registry.all().unwrap() {
            for name in host.shell_variables.iter().chain(&host.session_variables) {
                assert!(name.starts_with(|first: char| first.is_ascii_uppercase()), "{name}");
                let found = registry.all_with(|word| word == name).unwrap();
                assert!(found.iter().any(|found| found.id == host.id), "{name}");
                assert!(found.len() < 4, "{name}");
            }
        }
        assert!(registry.all_with(|_| false).unwrap().is_empty());
    }

    #[test]
    fn a_name_or_alias_belongs_to_one_host() {
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
        let registry = with("lantern", made_up_text("aliases = [\"lantern-cli\"]\n"));
        assert_eq!(registry.find("lantern").unwrap().id.as_str(), "lantern");
        assert_eq!(registry.find(" Lantern-CLI ").unwrap().id.as_str(), "lantern");
        assert_eq!(
            registry.find("lantren").unwrap_err().to_string(),
            "unknown host `lantren`; did you mean `lantern`?"
        );
        assert_eq!(registry.find("zzz").unwrap_err().to_string(), "unknown host `zzz`");
        assert!(registry.find("../x").is_err());
    }

    #[test]
    fn a_broken_file_of_the_user_does_not_block_other_hosts() {
        let ours = Registry::embedded().all().unwrap().len();
        let mine = made_up_text("id = \"mine\"\n");
        let registry = with("mine", format!("skip-this = 1\n{mine}"));
        assert_eq!(registry.all().unwrap().len(), ours);
        let broken = registry.broken();
        let [RegistryError::Broken { file, fault }] = broken.as_slice() else { panic!("{broken:?}") };
        assert_eq!((file.as_str(), fault.at.line, fault.at.column), ("mine.toml", 1, 1));
        assert!(matches!(registry.find("mine"), Err(RegistryError::Broken { .. })));
        assert_eq!(with("mine", mine).all().unwrap().len(), ours + 1);
    }

    #[test]
    fn statements_of_a_file_about_itself_must_be_true() {
        let told = |registry: Registry, name: &str| {
            let error = registry.find(name).unwrap_err();
            format!("{error} | {}", error.hint().unwrap())
        };
        let misnamed = told(with("mine", made_up_text("")), "mine");
        assert!(misnamed.contains("says that it is `lantern` | write `id = \"mine\"`"), "{misnamed}");
        let taken = Registry::embedded().all().unwrap().into_iter().find(|host| !host.aliases.is_empty()).unwrap();
        let alias = &taken.aliases[0];
        let clash = told(with("lantern", made_up_text(&format!("aliases = [{alias:?}]"))), "lantern");
        assert!(clash.contains(&format!("`{alias}` means the host `{}` already", taken.id)), "{clash}");
        let named = told(with(alias, made_up_text(&format!("id = {alias:?}"))), alias);
        assert!(named.contains("already | choose another name"), "{named}");
        let nameless = Registry::embedded().with_file("My Host", "My Host.toml".into(), Ok(String::new())).broken();
        assert!(nameless[0].to_string().contains("`My Host` cannot name a host"), "{nameless:?}");
        let unread = Registry::embedded().with_file("mine", "mine.toml".into(), Err("no text".into()));
        assert!(told(unread, "mine").contains("no text | make it a text"));
    }

    /// Keys that only one descriptor uses, with the reason why they are in the schema anyway.
    const USED_ONCE: &[(&str, &str)] = &[
        ("agent.body-key", "any host whose agents are TOML or YAML"),
        ("asking.modes", "only one host lets more of a line through in one of its modes than in the others"),
        ("command.body-key", "a second host reads commands in TOML too"),
        ("dispatch.concurrency", "only one maker tells how many agents run at once"),
        ("dispatch.run-in-majors", "only one host is known to be called in another way since a new major version"),
        ("dispatch.start-commit", "only one host makes worktrees and lets itself be told from where"),
        ("dispatch.start-in", "only one host starts an agent in a folder that the call names"),
        ("dispatch.teams-variable", "only one host has teams of agents"),
        ("dispatch.worktree-branch", "only one host makes worktrees of its own that agents may have"),
        ("home.skills", "a host that reads its own folder and tells people to use a shared one"),
        ("hooks.shell", "only one host is known to run hooks without a shell"),
        ("hooks.without", "one host refuses edits of unread files itself"),
        ("own-file", "permission rules in files of their own: a second host has them too"),
        ("place.anchor", "one host keeps its skills where they are when a variable moves the rest"),
        ("place.scopes", "follows from a folder of the home that another one stands for in a project"),
        ("plugin-skill", "only one host loads a skill of a plugin by a tool of its own"),
        ("plugin.programs", "other hosts do not add a folder of the plugin to the shell's search path"),
        ("plugin.router", "only one host types commands and skills of a plugin in two ways"),
        ("sessions", "other hosts keep theirs in forms of their own"),
        ("typed-only.lines", "the only way where a condition of the host's keeps a skill out of the list"),
        ("typed-only.sidecar", "the only way where no front matter key works"),
    ];

    #[test]
    fn the_variables_of_sessions_are_collected_from_every_descriptor() {
        let gathered = include_str!(concat!(env!("OUT_DIR"), "/host_sessions.rs"));
        let gathered: Vec<&str> = gathered.split('"').skip(1).step_by(2).collect();
        let all = Registry::embedded().all().unwrap();
        let named: Vec<String> = all.into_iter().flat_map(|descriptor| descriptor.session_variables).collect();
        assert_eq!(named, gathered, "left: the descriptors; right: what the program was built with");
        assert!(named.len() > 5, "{named:?}");
    }

    include!(concat!(env!("OUT_DIR"), "/host_programs.rs"));

    #[test]
    fn the_programs_of_hosts_are_collected_from_every_descriptor() {
        let gathered = HOST_PROGRAMS.iter().map(|(id, names, marks)| format!("{id}: {names:?} {marks:?}"));
        let all = Registry::embedded().all().unwrap();
        let known = all.iter().filter_map(|host| {
            let programs = host.programs.as_ref()?;
            Some(format!("{}: {:?} {:?}", host.id, programs.names, programs.marks))
        });
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        assert_eq!(sorted(known.collect()), sorted(gathered.collect()), "left: the descriptors");
        assert!(HOST_PROGRAMS.len() > 10);
    }

    #[test]
    fn a_program_of_two_hosts_has_marks_that_distinguish_them() {
        let all = Registry::embedded().all().unwrap();
        let programs: Vec<_> = all.iter().filter_map(|host| Some((&host.id, host.programs.as_ref()?))).collect();
        for (id, one) in &programs {
            for (_, other) in programs.iter().filter(|(other, _)| other != id) {
                let is_shared = one.names.iter().any(|name| other.names.contains(name));
                assert!(!is_shared || !one.marks.is_empty(), "{id} needs marks");
                assert!(!is_shared || one.marks.iter().all(|mark| !other.marks.contains(mark)), "{id}");
            }
        }
    }

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

    /// The keys of a table; for `[files.x]` and `[[place]]` those of all members; maps of names have no keys.
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
