//! What a repository contains that is executed: automatically, or in a run.

use std::collections::{BTreeMap, BTreeSet};

use super::place::Preferred;
use crate::acts::Call;
use crate::auto::brought::{Brought, CheckedOutTree, ExecutedItem};
use crate::auto::landing::repository::Repository;
use crate::auto::layout::Layout as DocumentLayout;
use crate::auto::real::checks_of_plan;
use crate::auto::runner::table::Runner;
use crate::auto::set_up::{self, SetUp};
use crate::failure::Failure;
use crate::gate::check::{Check, Source};
use crate::gate::discovery::{Wanted, discover};
use crate::gate::package::scripts_of;
use crate::project::files::{Files, MemoryFiles};
use crate::project::milestone_layout::lookup::MILESTONES;
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::project::milestone_layout::unit_hooks::UnitHook;
use crate::project::self_running::{HostPlaces, SelfRunning};
use crate::runtime::{Descriptor, HookForm, PlaceAnchor, Scope};

/// The files that run automatically, with those of all known hosts. An unreadable descriptor adds none.
pub(crate) fn self_running(call: &Call) -> Result<SelfRunning, Failure> {
    let registry = call.registry()?;
    let hosts = registry.ids().filter_map(|id| registry.find(id.as_str()).ok());
    Ok(SelfRunning::new(hosts.map(|host| places_of(&host)).collect()))
}

/// What a host reads of a project.
fn places_of(host: &Descriptor) -> HostPlaces {
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let is_local = |place: &&crate::runtime::Place| {
        place.scopes.contains(&Scope::Local) && place.anchor == PlaceAnchor::Root && place.path.contains('/')
    };
    let mut parts: Vec<String> = host.places.iter().filter(is_local).map(|place| first(&place.path)).collect();
    for file in host.files.values() {
        let others = file.instead.iter().chain(&file.local_path);
        parts.extend(std::iter::once(&file.path).chain(others).cloned());
    }
    match host.hooks.as_ref().map(|hooks| &hooks.form) {
        Some(HookForm::Shells { path, .. } | HookForm::Adapter { path, .. }) => parts.push(first(path)),
        Some(HookForm::Executables { folder }) => parts.push(folder.clone()),
        _ => {}
    }
    HostPlaces {
        id: host.id.as_str().to_owned(),
        folder: host.home.local.folder().map(str::to_owned),
        parts,
        instructions: host.instruction_file.clone(),
    }
}

/// The context of the question about a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunQuestion<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) layout: &'a DocumentLayout,
    pub(crate) milestone: &'a str,
    pub(crate) preferred: &'a Preferred,
    pub(crate) set_up: &'a SetUp,
    pub(crate) runner: &'a Runner,
    pub(crate) running: &'a SelfRunning,
    /// Whether the client reads no settings of the project.
    pub(crate) leaves_settings_out: bool,
}

/// Files that declare checks, and of which every project has few.
const DECLARING: &[&str] = &["package.json", "pyproject.toml", "Makefile"];

/// Where projects in phases keep finished milestones.
const ARCHIVE: &str = ".planning/milestones/";

/// The most package files, in folders of checks, that are read.
const PACKAGES: usize = 50;

impl RunQuestion<'_> {
    /// What a commit contains that the run would execute.
    pub(crate) fn in_commit(&self, commit: &str) -> Result<Vec<ExecutedItem>, Failure> {
        let (paths, links) = self.repository.paths_and_links(commit)?;
        let tree = CheckedOutTree::new(paths.iter().map(String::as_str), &links);
        let plans: Vec<(String, Option<String>)> = self.plans_in(&tree);
        let client = self.of_client(&tree, &paths);
        let packages = paths.iter().filter(|path| path.ends_with("/package.json") && !path.contains("node_modules/"));
        // What they import decides which program runs them.
        let tests = ["", "tests"].map(|folder| tests_in(&tree, folder)).concat();
        let read = DECLARING.iter().map(|path| (*path).to_owned()).chain(packages.take(PACKAGES).cloned()).chain(tests);
        let read: Vec<(String, Option<String>)> = read.map(|path| (path.clone(), tree.file(&path))).collect();
        let wanted: BTreeSet<&String> =
            plans.iter().chain(&client).chain(&read).filter_map(|(_, real)| real.as_ref()).collect();
        let wanted: Vec<String> = wanted.into_iter().cloned().collect();
        let contents = self.repository.contents(commit, &wanted)?;
        let content = |real: &Option<String>| contents.get(real.as_ref()?);
        let text = |real: &Option<String>| content(real).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        // For the other files only their existence matters.
        let mut files = MemoryFiles::default();
        for folder in ["", "tests"] {
            let names = tree
                .names(folder)
                .map(|name| if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") });
            files.texts.extend(names.filter(|path| tree.file(path).is_some()).map(|path| (path, String::new())));
        }
        files.texts.extend(read.iter().filter_map(|(path, real)| Some((path.clone(), text(real)?))));
        let plans: Vec<(String, String)> =
            plans.into_iter().filter_map(|(path, real)| Some((path, text(&real)?))).collect();
        let mut items = self.checks(&files, &plans)?;
        let host = (self.runner.host.as_deref().unwrap_or_default(), self.runner.title.as_str());
        items.extend(
            client.iter().map(|(path, real)| ExecutedItem::client(host, path, content(real).map(Vec::as_slice))),
        );
        items.extend(ExecutedItem::set_up(&self.set_up_of_project()));
        let of_project = |hook: &&UnitHook| hook.source == PreferenceSource::Project;
        items.extend(self.preferred.hooks.hooks.iter().filter(of_project).map(ExecutedItem::hook));
        let message = self.preferred.messages.command.iter();
        let message = message.filter(|command| command.source == PreferenceSource::Project);
        items.extend(message.map(ExecutedItem::message));
        Ok(items)
    }

    /// The checks that the documents of a worktree name now, for a run without a fence.
    pub(crate) fn in_worktree(&self, files: &dyn Files) -> Result<Vec<ExecutedItem>, Failure> {
        let mut plans = Vec::new();
        let mut folders = self.folders(files.list(MILESTONES)?.unwrap_or_default().into_iter().map(|entry| entry.name));
        while let Some(folder) = folders.pop() {
            for entry in files.list(&folder)?.unwrap_or_default() {
                let path = format!("{folder}/{}", entry.name);
                if entry.is_folder {
                    folders.push(path);
                } else if is_plan(&path) {
                    plans.extend(files.read(&path)?.map(|text| (path, text)));
                }
            }
        }
        self.checks(files, &plans)
    }

    /// The folders with the plans of the run.
    fn folders(&self, milestones: impl Iterator<Item = String>) -> Vec<String> {
        match self.layout {
            DocumentLayout::Milestones => {
                let is_it = |name: &String| name.to_ascii_uppercase().starts_with(&self.milestone.to_ascii_uppercase());
                milestones.filter(is_it).map(|name| format!("{MILESTONES}/{name}")).collect()
            }
            DocumentLayout::Phases(_) => vec![self.layout.folder().to_owned()],
        }
    }

    fn plans_in(&self, tree: &CheckedOutTree) -> Vec<(String, Option<String>)> {
        let folders = self.folders(tree.names(MILESTONES).cloned());
        let below = folders.iter().flat_map(|folder| tree.below(folder));
        below.filter(|(path, real)| real.is_some() && is_plan(path)).collect()
    }

    fn of_client(&self, tree: &CheckedOutTree, paths: &[String]) -> Vec<(String, Option<String>)> {
        let Some(host) = self.runner.host.as_deref().filter(|_| !self.leaves_settings_out) else { return Vec::new() };
        let places = paths.iter().filter(|path| self.running.is_run_by(host, path));
        let found: BTreeMap<String, Option<String>> = places.flat_map(|path| tree.below(path)).collect();
        found.into_iter().collect()
    }

    fn is_users(&self, key: &str) -> bool {
        self.preferred.given.iter().any(|given| given.key == key && given.source == PreferenceSource::Global)
    }

    /// The checks that the project and its plans name. Those in the user's own preferences need no approval, and
    /// replace all others.
    fn checks(&self, files: &dyn Files, plans: &[(String, String)]) -> Result<Vec<ExecutedItem>, Failure> {
        let preference = &self.preferred.document.verification_commands;
        let found = discover(files, Wanted { preference, verify: &[] })?;
        let is_preferred = found.source == Source::Preference;
        if is_preferred && self.is_users("verification_commands") {
            return Ok(Vec::new());
        }
        let place = if is_preferred { ".gsd/PREFERENCES.md" } else { found.source.word() };
        let mut named: Vec<(&str, Check)> = found.checks.into_iter().map(|check| (place, check)).collect();
        for (path, text) in plans.iter().filter(|_| !is_preferred) {
            let lines = checks_of_plan(self.layout, text);
            let checks = lines.iter().flat_map(|line| Check::all_of(line)).filter_map(Result::ok);
            named.extend(checks.filter(Check::looks_like_one).map(|check| (path.as_str(), check)));
        }
        named
            .iter()
            .map(|(place, check)| Ok(ExecutedItem::check(check.command(), place, &behind(files, check)?)))
            .collect()
    }

    /// The part of the set-up that is not from the user's own preferences.
    fn set_up_of_project(&self) -> SetUp {
        let command = self.set_up.command.clone().filter(|_| !self.is_users(set_up::COMMAND));
        SetUp::new(command, self.set_up.include.clone())
    }

    /// The commands that run as checks without a fence: the approved ones, and those in the user's own preferences.
    pub(crate) fn approved_checks(&self, brought: &Brought) -> BTreeSet<String> {
        let preferred =
            self.preferred.document.verification_commands.iter().filter(|_| self.is_users("verification_commands"));
        let own = preferred.flat_map(|line| Check::all_of(line)).filter_map(Result::ok);
        brought.checks().map(str::to_owned).chain(own.map(|check| check.command().to_owned())).collect()
    }
}

/// The files of a folder that may hold tests of Python.
fn tests_in(tree: &CheckedOutTree, folder: &str) -> Vec<String> {
    let names = tree.names(folder).filter(|name| name.strip_suffix(".py").is_some_and(|stem| stem.contains("test")));
    names.map(|name| if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") }).collect()
}

/// True if a document may name checks of the run. Finished milestones, in the archive, are not run.
fn is_plan(path: &str) -> bool {
    if path.starts_with(ARCHIVE) {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".md").is_some_and(|name| name.contains("plan"))
}

/// The package scripts that a check calls by name, with those that run before and after them.
fn behind(files: &dyn Files, check: &Check) -> Result<Vec<(String, String)>, Failure> {
    let folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
    let scripts = scripts_of(files.read(&format!("{folder}package.json"))?.as_deref().unwrap_or_default());
    let words = check.arguments().iter().map(|word| if word == "t" { "test" } else { word.as_str() });
    let names = words.flat_map(|word| ["pre", "", "post"].map(|when| format!("{when}{word}")));
    Ok(names.filter_map(|name| Some((name.clone(), scripts.get(&name)?.clone()))).collect())
}
