//! Install profiles: a part of the library, closed under what its commands need.
//!
//! A profile leaves out commands, with their rows in routers, and the agents that no text of a remaining command leads
//! to. Workflows, references and templates stay, because a session only loads them when a text names them: their files
//! are the same in every profile, and switching profiles touches commands and agents only.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Item, ItemKind, ItemName, Library};
use crate::failure::{Explain, Reason};
use crate::text::nearest::nearest;

/// The rows of the table. A test checks that it parses.
static ROWS: LazyLock<Vec<ProfileRow>> = LazyLock::new(|| {
    let table: Result<ProfileTable, _> = toml_edit::de::from_str(include_str!("profiles.toml"));
    table.map(|table| table.profile).unwrap_or_default()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileTable {
    profile: Vec<ProfileRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileRow {
    name: String,
    extends: Option<String>,
    /// Absent for everything.
    commands: Option<Vec<String>>,
}

/// What an install has: names of profiles and features. Without names, everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CommandProfile(Vec<String>);

/// The name of the profile with everything.
const FULL: &str = "full";

impl CommandProfile {
    /// The profile with everything.
    #[cfg(test)]
    pub(crate) const FULL: Self = Self(Vec::new());

    /// True for the profile with everything.
    pub(crate) fn is_full(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    /// Reads names separated by commas or line breaks, without checking them.
    pub(crate) fn read(text: &str) -> Self {
        let names = text.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty());
        Self::of(names.map(str::to_owned))
    }

    /// Each name once; the profile with everything makes the others needless.
    fn of(names: impl Iterator<Item = String>) -> Self {
        let mut known: Vec<String> = Vec::new();
        for name in names {
            if name == FULL {
                return Self::default();
            }
            if !known.contains(&name) {
                known.push(name);
            }
        }
        Self(known)
    }
}

impl fmt::Display for CommandProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&if self.is_full() { FULL.to_owned() } else { self.0.join(",") })
    }
}

/// Why a name is not that of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProfileError {
    #[error("unknown profile `{name}`")]
    Unknown { name: String, near: Option<String>, known: Vec<String> },
    #[error("the feature `{name}` has no commands: its work in the loop is part of every profile")]
    NoCommands { name: String, known: Vec<String> },
    #[error("no profile was named")]
    Nothing { known: Vec<String> },
}

impl Explain for ProfileError {
    fn reason(&self) -> Reason {
        Reason::Usage
    }

    fn exit_code(&self) -> Option<u8> {
        Some(2)
    }

    fn hint(&self) -> Option<String> {
        let (near, known) = match self {
            Self::Unknown { near, known, .. } => (near.as_ref(), known),
            Self::NoCommands { known, .. } | Self::Nothing { known } => (None, known),
        };
        let near = near.map(|near| format!("did you mean `--profile={near}`? ")).unwrap_or_default();
        Some(format!("{near}the profiles are {}", known.join(", ")))
    }
}

/// What a feature of the loop brings.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureParts {
    pub(crate) id: String,
    pub(crate) commands: Vec<String>,
    /// Points of the loop, each with the path of a workflow or an agent that works there.
    pub(crate) steps: Vec<(String, String)>,
}

/// The profiles that can be named, with the features of this program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles {
    features: Vec<FeatureParts>,
}

impl Profiles {
    pub(crate) fn new(features: Vec<FeatureParts>) -> Self {
        Self { features }
    }

    /// Every name of a profile: those of the table, then the features with commands.
    pub(crate) fn names(&self, library: &Library) -> Vec<String> {
        let features = self.features.iter().filter(|feature| Self::commands_of(feature, library).next().is_some());
        ROWS.iter().map(|row| row.name.clone()).chain(features.map(|feature| feature.id.clone())).collect()
    }

    fn commands_of<'a>(feature: &'a FeatureParts, library: &Library) -> impl Iterator<Item = &'a String> {
        feature.commands.iter().filter(|name| library.has_command(name))
    }

    /// Checks that every name is known.
    pub(crate) fn check(&self, profile: &CommandProfile, library: &Library) -> Result<(), ProfileError> {
        let known = self.names(library);
        let Some(name) = profile.names().iter().find(|name| !known.contains(name)).cloned() else { return Ok(()) };
        if self.features.iter().any(|feature| feature.id == name) {
            return Err(ProfileError::NoCommands { name, known });
        }
        let near = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
        Err(ProfileError::Unknown { name, near, known })
    }

    /// Reads the names that a person typed. No name at all is an error.
    pub(crate) fn typed(&self, names: &[String], library: &Library) -> Result<CommandProfile, ProfileError> {
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        if names.iter().all(String::is_empty) {
            return Err(ProfileError::Nothing { known: self.names(library) });
        }
        // A wrong name is wrong next to `full` too.
        self.check(&CommandProfile(names.clone()), library)?;
        Ok(CommandProfile::of(names.into_iter()))
    }

    /// The part of the library that the profile names.
    pub(crate) fn within<'a>(
        &self,
        profile: &CommandProfile,
        library: &'a Library,
    ) -> Result<Cow<'a, Library>, ProfileError> {
        self.check(profile, library)?;
        if profile.is_full() {
            return Ok(Cow::Borrowed(library));
        }
        let mut commands = BTreeSet::new();
        for name in profile.names() {
            let mut row = ROWS.iter().find(|row| row.name == *name);
            while let Some(found) = row {
                commands.extend(found.commands.iter().flatten().cloned());
                row = ROWS.iter().find(|row| Some(&row.name) == found.extends.as_ref());
            }
            let features = self.features.iter().filter(|feature| feature.id == *name);
            commands.extend(features.flat_map(|feature| Self::commands_of(feature, library)).cloned());
        }
        Ok(Cow::Owned(self.only(&with_required(commands, library), library)))
    }

    /// The library with these commands only, and what they need.
    fn only(&self, commands: &BTreeSet<String>, library: &Library) -> Library {
        let is_in = |item: &Item| commands.contains(item.name.as_str());
        let routers: BTreeMap<&ItemName, Item> = library
            .of_kind(ItemKind::Router)
            .filter_map(|router| Some((&router.name, narrowed(router, commands, library)?)))
            .collect();
        let starts = library.of_kind(ItemKind::Command).filter(|item| is_in(item));
        let needed = self.reached(starts.map(|item| item.path.as_str()).collect(), library);
        let mut left = library.clone();
        left.items.retain(|(kind, name), item| match kind {
            ItemKind::Command => is_in(item),
            ItemKind::Router => routers.contains_key(name),
            ItemKind::Agent => needed.contains(item.path.as_str()),
            _ => true,
        });
        left.left_out = library.items.keys().filter(|key| !left.items.contains_key(*key)).cloned().collect();
        for (name, router) in routers {
            left.items.insert((ItemKind::Router, name.clone()), router);
        }
        left
    }

    /// The paths of all texts that these texts lead to, over any number of steps.
    fn reached<'a>(&self, mut open: Vec<&'a str>, library: &'a Library) -> BTreeSet<&'a str> {
        let texts: BTreeMap<&str, &Item> = library.items().map(|item| (item.path.as_str(), item)).collect();
        let mut found: BTreeSet<&str> = open.iter().copied().collect();
        while let Some(path) = open.pop() {
            let Some(item) = texts.get(path) else { continue };
            let mut named: Vec<String> = paths_in(&item.body);
            named.extend(item.front_matter.names("agents").into_iter().map(|name| format!("agents/{name}.md")));
            named.extend(words_after(&item.body, "gsd-").map(|name| format!("agents/{name}.md")));
            for point in words_after(&item.body, " loop enter ") {
                let steps = self.features.iter().flat_map(|feature| &feature.steps);
                named.extend(steps.filter(|(at, _)| at == point).map(|(_, path)| path.clone()));
            }
            let steps = path.strip_suffix(".md").filter(|_| item.kind == ItemKind::Workflow).map(|it| format!("{it}/"));
            let steps =
                steps.iter().flat_map(|folder| texts.keys().filter(move |path| path.starts_with(folder.as_str())));
            let named = named.iter().filter_map(|path| texts.get_key_value(path.as_str())).map(|(path, _)| path);
            for path in named.chain(steps) {
                if found.insert(*path) {
                    open.push(*path);
                }
            }
        }
        found
    }
}

/// The commands with all that they require.
fn with_required(commands: BTreeSet<String>, library: &Library) -> BTreeSet<String> {
    let mut open: Vec<String> = commands.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(item) = library.of_kind(ItemKind::Command).find(|item| item.name.as_str() == name) {
            open.extend(item.front_matter.names("requires").into_iter().map(str::to_owned));
            open.retain(|name| !found.contains(name));
        }
        found.insert(name);
    }
    found
}

/// The router without the rows of commands that are left out; `None` if it leads to none of these commands.
fn narrowed(router: &Item, commands: &BTreeSet<String>, library: &Library) -> Option<Item> {
    let leads_to = |name: &&str| commands.contains(*name);
    let (kept, gone): (Vec<&str>, Vec<&str>) = router.front_matter.names("requires").into_iter().partition(leads_to);
    if kept.is_empty() {
        return None;
    }
    let workflows = |names: &[&str]| -> BTreeSet<String> {
        let is_one = |item: &&Item| names.contains(&item.name.as_str());
        library.of_kind(ItemKind::Command).filter(is_one).flat_map(|item| paths_in(&item.body)).collect()
    };
    let (wanted, unwanted) = (workflows(&kept), workflows(&gone));
    let is_gone = |cell: &str| {
        let paths = paths_in(cell);
        !paths.is_empty() && paths.iter().all(|path| unwanted.contains(path) && !wanted.contains(path))
    };
    let mut narrowed = router.clone();
    narrowed.front_matter.keep_names("requires", &|name: &str| commands.contains(name));
    narrowed.body = String::with_capacity(router.body.len());
    for line in router.body.split_inclusive('\n') {
        narrowed.body.push_str(&row_without(line, is_gone));
    }
    Some(narrowed)
}

/// A row of a router's table without the texts that are gone. A row may have several, separated by `;` in both cells.
fn row_without(line: &str, is_gone: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let cells: Option<(&str, &str)> =
        line.trim_end().strip_prefix("| ").and_then(|row| row.strip_suffix(" |")).and_then(|row| row.split_once(" | "));
    let Some((wants, texts)) = cells else { return Cow::Borrowed(line) };
    let (wants, texts): (Vec<&str>, Vec<&str>) = (wants.split("; ").collect(), texts.split("; ").collect());
    if wants.len() != texts.len() {
        return if texts.iter().all(|text| is_gone(text)) { Cow::Borrowed("") } else { Cow::Borrowed(line) };
    }
    let kept: Vec<(&str, &str)> = wants.into_iter().zip(texts).filter(|(_, text)| !is_gone(text)).collect();
    if kept.is_empty() {
        return Cow::Borrowed("");
    }
    let (wants, texts): (Vec<&str>, Vec<&str>) = kept.into_iter().unzip();
    Cow::Owned(format!("| {} | {} |\n", wants.join("; "), texts.join("; ")))
}

/// The paths of texts of the library in a text.
fn paths_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["workflows/", "references/", "templates/"] {
        for (at, _) in text.match_indices(folder) {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_./-".contains(c))).unwrap_or(rest.len());
            found.extend(rest.get(..end).map(|path| path.trim_end_matches(['.', '-']).to_owned()));
        }
    }
    found
}

/// The words that follow `before` in a text.
fn words_after<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(before).filter_map(move |(at, _)| {
        let rest = text.get(at + before.len()..)?;
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-:".contains(c))).unwrap_or(rest.len());
        rest.get(..end).map(|word| word.trim_end_matches(['-', ':']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(library: &Library, kind: ItemKind) -> BTreeSet<&str> {
        library.of_kind(kind).map(|item| item.name.as_str()).collect()
    }

    fn part<'a>(library: &'a Library, profiles: &Profiles, name: &str) -> Cow<'a, Library> {
        profiles.within(&CommandProfile::read(name), library).unwrap()
    }

    #[test]
    fn the_table_names_commands_that_exist_and_each_profile_has_the_one_before() {
        let (library, profiles) = (Library::embedded().unwrap(), Profiles::default());
        assert_eq!(profiles.names(&library), ["core", "standard", "full"]);
        for command in ROWS.iter().flat_map(|row| row.commands.iter().flatten()) {
            assert!(library.has_command(command), "{command}");
        }
        let [core, standard, full] = ["core", "standard", "full"].map(|name| part(&library, &profiles, name));
        for kind in [ItemKind::Command, ItemKind::Agent] {
            assert!(names(&core, kind).is_subset(&names(&standard, kind)), "{kind:?}");
            assert!(names(&standard, kind).is_subset(&names(&full, kind)), "{kind:?}");
            assert!(names(&core, kind).len() < names(&full, kind).len(), "{kind:?}");
        }
        assert_eq!(names(&full, ItemKind::Command), names(&library, ItemKind::Command));
    }

    #[test]
    fn what_a_profile_keeps_needs_nothing_that_it_leaves_out() {
        let (library, profiles) = (Library::embedded().unwrap(), Profiles::default());
        for name in ["core", "standard"] {
            let part = part(&library, &profiles, name);
            let commands = names(&part, ItemKind::Command);
            for item in part.of_kind(ItemKind::Command).chain(part.of_kind(ItemKind::Router)) {
                let lacks = item.front_matter.names("requires").into_iter().filter(|name| !commands.contains(name));
                assert_eq!(lacks.collect::<Vec<_>>(), [""; 0], "{name}: {}", item.path);
            }
            for router in part.of_kind(ItemKind::Router) {
                let whole = library.at(&router.path).unwrap();
                assert!(router.body.lines().count() <= whole.body.lines().count(), "{}", router.path);
                let rows = router.body.lines().filter(|line| line.contains("`workflows/")).count();
                assert!(rows > 0, "{name}: {} has no row", router.path);
            }
            // Texts that are loaded only when they are named stay.
            for kind in [ItemKind::Workflow, ItemKind::Reference, ItemKind::Template] {
                assert_eq!(names(&part, kind), names(&library, kind));
            }
            assert!(part.has_command("ship") && !commands.contains("ship"), "a left-out command is still known");
        }
    }

    #[test]
    fn every_agent_is_reached_from_some_command() {
        let library = Library::embedded().unwrap();
        let starts = library.of_kind(ItemKind::Command).map(|item| item.path.as_str()).collect();
        let found = Profiles::default().reached(starts, &library);
        // The loop starts these; which feature does is not known here.
        let missing: Vec<&str> = library
            .of_kind(ItemKind::Agent)
            .map(|item| item.path.as_str())
            .filter(|path| !found.contains(path))
            .collect();
        assert!(missing.len() < 4, "{missing:?}");
    }

    #[test]
    fn rows_of_routers_lose_what_is_left_out() {
        let gone = |text: &str| text.contains("gone");
        let row = |line: &str| row_without(line, gone).into_owned();
        assert_eq!(row("| a | `workflows/gone.md` |\n"), "");
        assert_eq!(row("| a; b | `workflows/x.md`; `workflows/gone.md` |\n"), "| a | `workflows/x.md` |\n");
        assert_eq!(
            row("| a | `workflows/x.md`; `workflows/gone.md` |\n"),
            "| a | `workflows/x.md`; `workflows/gone.md` |\n"
        );
        assert_eq!(row("Find the row\n"), "Find the row\n");
    }

    #[test]
    fn names_are_checked_and_full_is_everything() {
        let library = Library::embedded().unwrap();
        let feature = |id: &str, commands: &[&str]| FeatureParts {
            id: id.into(),
            commands: commands.iter().map(|name| (*name).to_owned()).collect(),
            steps: Vec::new(),
        };
        let profiles = Profiles::new(vec![feature("ui", &["ui-phase"]), feature("tdd", &[])]);
        let typed = |names: &str| {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            profiles.typed(&names, &library)
        };
        assert_eq!(typed("core,ui,core").unwrap().to_string(), "core,ui");
        assert_eq!(typed("full").unwrap(), CommandProfile::default());
        assert!(typed("core,full").unwrap().is_full());
        let error = typed("standart,full").unwrap_err();
        assert_eq!(
            error.hint().unwrap(),
            "did you mean `--profile=standard`? the profiles are core, standard, full, ui"
        );
        assert!(matches!(typed("tdd"), Err(ProfileError::NoCommands { .. })));
        assert!(matches!(typed(""), Err(ProfileError::Nothing { .. })));
        let ui = part(&library, &profiles, "ui");
        assert!(names(&ui, ItemKind::Command).contains("plan-phase"), "what it requires comes with it");
    }
}
