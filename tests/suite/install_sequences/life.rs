//! A home in which a sequence happens, what its user wrote there, and what is checked after each step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::written::{Form, ending};
use crate::kit::{Ran, TestContext};
use crate::lived::{Host, Lived, put};
use crate::takeover;
use crate::tree::{Tree, difference};

/// What the user does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserAct {
    /// Adds a key to a settings file.
    Setting,
    /// Adds a line to an instruction file.
    Line,
    /// Adds a line to one of our files.
    Edit,
    /// Writes one of our files again, with other contents.
    Replace,
    /// Creates a file in a folder of a host.
    New,
    /// Creates a file where our file was, or will be.
    InTheWay,
    /// Deletes one of our files.
    Delete,
    /// Deletes a settings file.
    DeleteSettings,
    /// Writes a settings file as it was without us.
    Revert,
    /// Changes the mode of a file of the user.
    Mode,
    /// Changes the mode of one of our files.
    ModeOfOurs,
    /// Edits a file that was set aside.
    EditAside,
    /// Edits a file of the other program.
    EditTheirs,
}

/// A file of the user.
#[derive(Debug, Clone)]
struct Mine {
    /// Without what we add; `None` once the user deleted it.
    text: Option<String>,
    mode: u32,
    /// Whether its bytes without us are known, and not only its values.
    is_exact: bool,
}

/// Why a call may be refused.
const REFUSALS: &[&str] = &[
    "no call in the history can be",
    "is not as call",
    "changed the same install after call",
    "was already taken back by",
    "has nothing that can be made again",
    "the history has no call",
    "is read-only",
    "nothing is installed",
    "is not installed",
    "no install",
];

const PATCHES: &str = "/gsd-local-patches/";
const MANIFEST: &str = "/gsd-file-manifest.json";

pub(super) struct Life {
    lived: Lived,
    hosts: Vec<&'static Host>,
    /// The steps as a person would type them.
    pub(super) story: Vec<String>,
    pub(super) faults: Vec<String>,
    mine: BTreeMap<String, Mine>,
    /// Links and folders of the user.
    fixed: Tree,
    /// The texts that the user put into files of others, with the path of each.
    marks: BTreeMap<String, String>,
    /// The paths that the user changed.
    touched: BTreeSet<String>,
    /// The paths that were ever ours.
    ever: BTreeSet<String>,
    /// The trees before and after each call in the history.
    calls: BTreeMap<u64, (Tree, Tree)>,
    installed: BTreeSet<(String, String)>,
    laid: Vec<(&'static Host, &'static str)>,
    /// Folders that the user or the other program made: they may stay.
    may_stay: BTreeSet<String>,
    count: usize,
}

/// What the manifests list.
#[derive(Default)]
struct Owned {
    files: BTreeSet<String>,
    shared: BTreeSet<String>,
    /// The folders with our manifest.
    folders: BTreeSet<String>,
}

impl Life {
    pub(super) fn new(is_lived: bool, hosts: Vec<&'static Host>) -> Self {
        let lived = if is_lived { Lived::new() } else { Lived { context: TestContext::new() } };
        let (mut mine, mut fixed) = (BTreeMap::new(), Tree::new());
        for (path, what) in lived.tree() {
            match what.split_once('\n').filter(|(kind, _)| kind.starts_with("file")) {
                Some((kind, text)) => {
                    let mode = u32::from_str_radix(kind.trim_start_matches("file "), 8).unwrap();
                    mine.insert(path, Mine { text: Some(text.to_owned()), mode, is_exact: true });
                }
                None => drop(fixed.insert(path, what)),
            }
        }
        let story = vec![format!("a home that was {}used before", if is_lived { "" } else { "not " })];
        Self {
            lived,
            hosts,
            story,
            faults: Vec::new(),
            mine,
            fixed,
            marks: BTreeMap::new(),
            touched: BTreeSet::new(),
            ever: BTreeSet::new(),
            calls: BTreeMap::new(),
            installed: BTreeSet::new(),
            laid: Vec::new(),
            may_stay: BTreeSet::new(),
            count: 0,
        }
    }

    fn fault(&mut self, text: impl Into<String>) {
        self.faults.push(format!("FAULT: {}", text.into()));
    }

    fn at(&self, path: &str) -> PathBuf {
        self.lived.everything().join(path.trim_start_matches('/'))
    }

    /// The path in trees, with its links resolved.
    fn name(&self, path: &Path) -> String {
        let real = path.canonicalize().or_else(|_| {
            let folder = path.parent().unwrap().canonicalize()?;
            Ok::<_, std::io::Error>(folder.join(path.file_name().unwrap()))
        });
        let real = real.unwrap_or_else(|_| path.to_path_buf());
        format!("/{}", real.strip_prefix(self.lived.everything()).unwrap_or(&real).display())
    }

    /// The path of a report.
    fn reported(&self, shown: &str) -> String {
        let path = match shown.strip_prefix("~/") {
            Some(below) => self.lived.context.home().join(below),
            None => self.lived.context.project().join(shown),
        };
        self.name(&path)
    }

    fn owned(&self, tree: &Tree) -> Owned {
        let mut owned = Owned::default();
        for (path, what) in tree.iter().filter(|(path, _)| path.ends_with(MANIFEST)) {
            let text = what.split_once('\n').map(|(_, text)| text).unwrap_or_default();
            let manifest: Value = serde_json::from_str(text).unwrap_or_default();
            let folder = path.trim_end_matches(MANIFEST);
            for section in manifest["installs"].as_object().into_iter().flat_map(serde_json::Map::values) {
                owned.folders.insert(folder.to_owned());
                for (holdings, base) in [(section, folder), (&section["project"], "/project")] {
                    let paths = |key: &str| -> Vec<String> {
                        let keys = holdings[key].as_object().into_iter().flat_map(serde_json::Map::keys);
                        keys.map(|below| self.name(&self.at(&format!("{base}/{below}")))).collect()
                    };
                    owned.files.extend(paths("files"));
                    owned.shared.extend(paths("shared"));
                }
            }
        }
        owned
    }

    /// Runs a call and checks what it did.
    pub(super) fn call(&mut self, words: &[String], older: bool) -> Option<Value> {
        let before = self.lived.tree();
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.extend(["--yes", "--json"]);
        let variables: &[(&str, &str)] = if older { &[("GSD_AS_VERSION", "0.0.9")] } else { &[] };
        let ran = self.lived.gsd_with(&arguments, variables);
        let after = self.lived.tree();
        let prefix = if older { "GSD_AS_VERSION=0.0.9 " } else { "" };
        self.story.push(format!("{prefix}gsd-tools {} -> {}", words.join(" "), ran.code));
        let answer: Option<Value> = serde_json::from_str(&ran.stdout).ok();
        let hosts = answer.as_ref().and_then(|answer| answer["hosts"].as_array().cloned()).unwrap_or_default();
        if ran.code != 0 {
            self.refused(words, &ran, &hosts, &before, &after);
        }
        let is_done = ran.code == 0 || hosts.iter().any(|host| host["outcome"] == "done");
        if is_done && before != after {
            self.note_in_history(&words[0], &before, &after, answer.as_ref());
        }
        let verb = words[0].as_str();
        for host in hosts.iter().filter(|host| host["outcome"] != "failed") {
            let install = (text(&host["runtime"]), text(&host["scope"]));
            match verb {
                "install" => drop(self.installed.insert(install)),
                "uninstall" => drop(self.installed.remove(&install)),
                _ => {}
            }
        }
        self.moved(&before, &after, answer.as_ref());
        self.is_all_there(&after);
        self.agrees(&after, (verb == "install" && ran.code == 0).then_some(&*hosts));
        answer.filter(|_| ran.code == 0)
    }

    fn refused(&mut self, words: &[String], ran: &Ran, hosts: &[Value], before: &Tree, after: &Tree) {
        let told = format!("{}\n{}", ran.stdout, ran.stderr);
        if ![1, 2, 65, 73, 75, 77].contains(&ran.code) || told.contains("panicked") {
            self.fault(format!("exit {} of {}: {told}", ran.code, words.join(" ")));
        } else if !REFUSALS.iter().any(|part| told.contains(part)) {
            self.fault(format!("an unexpected refusal of {}: {told}", words.join(" ")));
        }
        let is_partial = hosts.iter().any(|host| host["outcome"] == "done");
        let wrote = difference(before, after);
        if !is_partial && !wrote.is_empty() {
            self.fault(format!("a refused call wrote: {}", some(&wrote)));
        }
    }

    /// Notes the trees of a call, and compares those of a call that was taken back.
    fn note_in_history(&mut self, verb: &str, before: &Tree, after: &Tree, answer: Option<&Value>) {
        let listed = self.lived.gsd_with(&["history", "--json"], &[]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        let call = &listed["calls"][0];
        let Some(number) = call["number"].as_u64() else {
            self.fault(format!("a call is not in the history: {listed}"));
            return;
        };
        if self.calls.contains_key(&number) {
            self.fault(format!("call {number} is the last of the history, and not this one: {listed}"));
            return;
        }
        // To take back an undo is to make its call again.
        let is_redo = verb == "undo" && answer.is_some_and(|answer| answer["call"]["verb"] == "undo");
        if call["verb"] != verb && !(is_redo && call["verb"] == "redo") {
            self.fault(format!("the history lists {verb} as {}", call["verb"]));
        }
        if ["undo", "redo"].contains(&verb) {
            let taken_back = answer.and_then(|answer| answer["call"]["number"].as_u64()).unwrap_or_default();
            if let Some((old_before, old_after)) = self.calls.get(&taken_back)
                && old_after == before
                && old_before != after
            {
                let wrong = some(&difference(old_before, after));
                self.fault(format!(
                    "{verb} of call {taken_back}, without an edit since, is not the tree before it: {wrong}"
                ));
            }
            for install in call["installs"].as_array().into_iter().flatten() {
                let key = (text(&install["runtime"]), text(&install["scope"]));
                if install["to"].is_string() {
                    self.installed.insert(key);
                } else {
                    self.installed.remove(&key);
                }
            }
        }
        self.calls.insert(number, (before.clone(), after.clone()));
    }

    /// Edited files that were moved have their bytes, and the answer names the place.
    fn moved(&mut self, before: &Tree, after: &Tree, answer: Option<&Value>) {
        let mut named: BTreeSet<String> = BTreeSet::new();
        if let Some(answer) = answer {
            let of_hosts = answer["hosts"].as_array().into_iter().flatten().chain([answer]);
            let moves = of_hosts.flat_map(|it| it["set_aside"].as_array().into_iter().flatten());
            named.extend(moves.map(|it| self.reported(it["to"].as_str().unwrap_or_default())));
        }
        let mut faults = Vec::new();
        for (path, what) in after.iter().filter(|(path, what)| path.contains(PATCHES) && what.starts_with("file")) {
            if before.contains_key(path) {
                continue;
            }
            // What an undo of this brings back was there once.
            let was_there = |tree: &Tree| tree.values().any(|old| old == what);
            let is_restored = self.calls.values().any(|(old, _)| old.contains_key(path));
            if !was_there(before) && !is_restored {
                faults.push(format!("{path} has bytes or a mode that were in no file: {what:.200}"));
            }
            if !named.contains(path) && !is_restored {
                faults.push(format!("the answer does not name {path}: {}", answer.cloned().unwrap_or_default()));
            }
        }
        for fault in faults {
            self.fault(fault);
        }
    }

    /// Every byte of the user is there.
    fn is_all_there(&mut self, now: &Tree) {
        let mut faults = Vec::new();
        for (path, mine) in &self.mine {
            let Some(text) = &mine.text else { continue };
            let Some(what) = now.get(path) else {
                faults.push(format!("{path} of the user is gone"));
                continue;
            };
            let (kind, found) = what.split_once('\n').unwrap_or((what, ""));
            if kind != format!("file {:o}", mine.mode) {
                faults.push(format!("{path} of the user was `file {:o}` and is `{kind}`", mine.mode));
            }
            let missing = Form::of(path).missing(text, found);
            if !missing.is_empty() {
                faults.push(format!("{path} lost {missing:?}; mine: {text:?}; now: {found:?}"));
            } else if found != text && !is_shared(path) {
                faults.push(format!("{path} of the user changed: {found:?}"));
            }
        }
        for (path, what) in &self.fixed {
            if now.get(path) != Some(what) {
                faults.push(format!("{path} was `{what}` and is {:?}", now.get(path)));
            }
        }
        for (mark, path) in &self.marks {
            let has = |what: &String| what.contains(&format!("{mark};"));
            let is_there = now.get(path).is_some_and(has);
            if !is_there && !now.iter().any(|(path, what)| path.contains(PATCHES) && has(what)) {
                faults.push(format!("{mark}, which the user wrote to {path}, is gone"));
            }
        }
        for fault in faults {
            self.fault(fault);
        }
    }

    /// `status` reports what is there. After an install without faults, nothing of these hosts is modified.
    fn agrees(&mut self, now: &Tree, installed: Option<&[Value]>) {
        let owned = self.owned(now);
        self.ever.extend(owned.files.iter().cloned());
        let ran = self.lived.gsd_with(&["status", "--all", "--json"], &[]);
        let Ok(status) = serde_json::from_str::<Value>(&ran.stdout) else {
            self.fault(format!("status: {} {}", ran.stdout, ran.stderr));
            return;
        };
        let listed: Vec<&Value> =
            status["installs"].as_array().into_iter().flatten().filter(|it| it["version"].is_string()).collect();
        let installs: BTreeSet<(String, String)> =
            listed.iter().map(|it| (text(&it["runtime"]), text(&it["scope"]))).collect();
        if installs != self.installed {
            self.fault(format!("status lists {installs:?}, and installed is {:?}", self.installed));
        }
        if installs.is_empty() != owned.folders.is_empty() {
            self.fault(format!("status lists {installs:?}, and manifests are in {:?}", owned.folders));
        }
        let mut modified = BTreeSet::new();
        for install in &listed {
            let key = (&install["runtime"], &install["scope"]);
            let drift: Vec<&Value> = install["drift"].as_array().into_iter().flatten().collect();
            let is_new = |host: &&Value| (&host["runtime"], &host["scope"]) == key && host["outcome"] != "failed";
            if !drift.is_empty() && installed.is_some_and(|hosts| hosts.iter().any(|host| is_new(&host))) {
                self.fault(format!("modified after an install of {key:?}: {drift:?}"));
            }
            modified.extend(drift.iter().map(|it| self.reported(it["path"].as_str().unwrap_or_default())));
        }
        let strange: Vec<String> = modified.difference(&self.touched).cloned().collect();
        if !strange.is_empty() {
            self.fault(format!("status lists as modified what nobody changed: {strange:?}"));
        }
        let edited = self.marks.iter().filter(|(mark, path)| {
            now.get(*path).is_some_and(|what| what.contains(&format!("{mark};"))) && owned.files.contains(*path)
        });
        let unlisted: Vec<String> = edited.map(|(_, path)| path.clone()).filter(|it| !modified.contains(it)).collect();
        if !unlisted.is_empty() {
            self.fault(format!("status does not list as modified: {unlisted:?}"));
        }
    }
}

/// The user's acts.
impl Life {
    fn write(&mut self, path: &str, text: &str) {
        let at = self.at(path);
        for folder in Path::new(path).ancestors().skip(1) {
            let name = folder.display().to_string();
            if name.len() > 1 && !self.at(&name).exists() {
                self.may_stay.insert(name);
            }
        }
        put(&at, text);
        self.touched.insert(path.to_owned());
    }

    fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.at(path)).unwrap_or_default()).unwrap_or_default()
    }

    /// Sets the mode of a file.
    fn set_mode(&mut self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
        self.touched.insert(path.to_owned());
    }

    /// The folders of the hosts, in trees.
    fn roots(&self) -> Vec<String> {
        let scopes = |host: &&'static Host| host.scopes().iter().map(|scope| self.lived.root(host, scope)).collect();
        let roots = self.hosts.iter().flat_map(|host| -> Vec<PathBuf> { scopes(host) });
        roots.map(|root| self.name(&root)).collect()
    }

    pub(super) fn user(&mut self, act: UserAct, pick: u64) {
        let tree = self.lived.tree();
        let owned = self.owned(&tree);
        let roots = self.roots();
        let is_here = |path: &String| roots.iter().any(|root| path.starts_with(&format!("{root}/")));
        let is_text =
            |path: &String| tree.get(path).is_some_and(|what| what.starts_with("file") && !what.ends_with(" bytes"));
        let behind_links = |path: &String| self.name(&self.at(path));
        let ours: Vec<String> = owned.files.iter().filter(|path| is_text(path)).cloned().collect();
        let of_user = self.mine.iter().filter(|(_, mine)| mine.text.is_some()).map(|(path, _)| path.clone());
        let linked = self.fixed.keys().filter(|path| is_here(path)).map(behind_links);
        let mut of_user: Vec<String> = of_user.filter(is_here).chain(linked).filter(is_text).collect();
        of_user.sort();
        of_user.dedup();
        let mut settings: Vec<String> = of_user.iter().filter(|path| is_settings(path)).cloned().collect();
        settings.extend(owned.shared.iter().filter(|path| is_settings(path) && is_text(path)).cloned());
        let writable = |path: &String| self.mine.get(path).is_none_or(|mine| mine.mode & 0o200 != 0);
        settings.retain(|path| writable(path) && !owned.files.contains(path));
        let candidates: Vec<String> = match act {
            UserAct::Setting => {
                settings.into_iter().filter(|path| Form::of(path) != Form::Lines || ending(path) == "yaml").collect()
            }
            UserAct::Line => settings.into_iter().filter(|path| ending(path) == "md").collect(),
            UserAct::Revert => settings.into_iter().filter(|path| self.mine.contains_key(path)).collect(),
            UserAct::DeleteSettings => {
                let linked = |path: &String| path.starts_with("/dotfiles") || path.starts_with("/project/dotfiles");
                settings.into_iter().filter(|path| !linked(path)).collect()
            }
            UserAct::Edit | UserAct::Replace | UserAct::Delete | UserAct::ModeOfOurs => ours,
            UserAct::New => tree
                .iter()
                .filter(|(path, what)| what.starts_with("folder") && is_here(path))
                .map(|(path, _)| path.clone())
                .collect(),
            UserAct::InTheWay => self.ever.iter().filter(|path| !tree.contains_key(*path)).cloned().collect(),
            UserAct::Mode => of_user,
            UserAct::EditAside => tree.keys().filter(|path| path.contains(PATCHES) && is_text(path)).cloned().collect(),
            UserAct::EditTheirs => {
                tree.iter().filter(|(_, what)| what.ends_with("\nold")).map(|(path, _)| path.clone()).collect()
            }
        };
        if candidates.is_empty() {
            return;
        }
        let most = candidates.len() as u64;
        let path = candidates[usize::try_from(pick % most).unwrap()].clone();
        self.count += 1;
        let mark = format!("mine{}", self.count);
        self.story.push(format!("{act:?} {path} ({mark})"));
        self.act(act, &path, &mark, pick / most);
        let now = self.lived.tree();
        self.is_all_there(&now);
    }

    fn act(&mut self, act: UserAct, path: &str, mark: &str, pick: u64) {
        let now = self.read(path);
        match act {
            UserAct::Setting | UserAct::Line => {
                self.add_to_settings(path, mark, &now, act == UserAct::Line && pick.is_multiple_of(2));
            }
            UserAct::Edit | UserAct::EditAside | UserAct::EditTheirs => {
                let text = match (pick % 2, now.split_once('\n')) {
                    (0, Some((first, rest))) => format!("{first}\n{mark};\n{rest}"),
                    _ => format!("{now}{mark};\n"),
                };
                self.write(path, &text);
                self.marks.insert(mark.to_owned(), path.to_owned());
            }
            UserAct::Replace => {
                // The user throws away what was written there before.
                self.marks.retain(|old, _| !now.contains(&format!("{old};")));
                self.write(path, &format!("{mark};\n"));
                self.marks.insert(mark.to_owned(), path.to_owned());
            }
            UserAct::InTheWay => {
                self.write(path, &format!("{mark};\n"));
                self.marks.insert(mark.to_owned(), path.to_owned());
            }
            UserAct::New => {
                let folder = if pick.is_multiple_of(3) { format!("{path}/own-{mark}") } else { path.to_owned() };
                let (file, text) = (format!("{folder}/{mark}.md"), format!("{mark};\n"));
                self.write(&file, &text);
                let mode = [0o644, 0o600, 0o755][usize::try_from(pick / 3 % 3).unwrap()];
                self.set_mode(&file, mode);
                self.mine.insert(file, Mine { text: Some(text), mode, is_exact: true });
            }
            UserAct::Delete => {
                self.marks.retain(|old, _| !now.contains(&format!("{old};")));
                std::fs::remove_file(self.at(path)).unwrap();
                self.touched.insert(path.to_owned());
            }
            UserAct::DeleteSettings => {
                std::fs::remove_file(self.at(path)).unwrap();
                self.touched.insert(path.to_owned());
                self.mine.entry(path.to_owned()).and_modify(|mine| mine.text = None);
            }
            UserAct::Revert => {
                if let Some(text) = self.mine.get(path).and_then(|mine| mine.text.clone()) {
                    self.write(path, &text);
                }
            }
            UserAct::Mode => {
                let mode = [0o644, 0o600, 0o640, 0o664, 0o444][usize::try_from(pick % 5).unwrap()];
                self.set_mode(path, mode);
                self.mine.entry(path.to_owned()).and_modify(|mine| mine.mode = mode);
            }
            UserAct::ModeOfOurs => self.set_mode(path, [0o600, 0o755, 0o444][usize::try_from(pick % 3).unwrap()]),
        }
    }

    fn add_to_settings(&mut self, path: &str, mark: &str, now: &str, at_the_end: bool) {
        let add = |text: &str| {
            if !at_the_end {
                return Form::of(path).with_key(path, text, mark);
            }
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{mark};\n")
        };
        self.write(path, &add(now));
        let mode = mode_of(&self.at(path));
        let mine = self.mine.entry(path.to_owned()).or_insert(Mine { text: None, mode, is_exact: false });
        let was_there = mine.text.is_some();
        let text = mine.text.clone().unwrap_or_default();
        let has_some = Form::of(path) != Form::Json || text.contains(':');
        mine.text = Some(add(&text));
        mine.is_exact &= was_there && has_some && !at_the_end;
        if !was_there {
            mine.mode = mode;
        }
    }

    /// Another program installs itself into a host that has neither it nor us.
    pub(super) fn lay(&mut self, host: &'static Host, scope: &'static str) {
        let root = self.lived.root(host, scope);
        if self.at(&format!("{}{MANIFEST}", self.name(&root))).exists() || root.join("gsd-core").exists() {
            return;
        }
        let files = [
            "gsd-core/VERSION",
            "gsd-core/bin/lib/a.cjs",
            "skills/gsd-help/SKILL.md",
            "agents/gsd-gone.md",
            "agents/gsd-planner.md",
        ];
        let files: Vec<&str> = files.into_iter().filter(|path| !root.join(path).exists()).collect();
        if root.join("hooks/package.json").exists() {
            return;
        }
        let above = root.ancestors().take_while(|folder| !folder.exists());
        let above: Vec<String> = above.map(|folder| self.name(folder)).collect();
        takeover::lay(&root, host.flag.trim_start_matches('-'), scope.trim_start_matches('-'), &files, &[]);
        let settings = self.name(&root.join("settings.local.json"));
        let now = self.read(&settings);
        if host.flag == "--claude" && now.contains("\"permissions\"") && !now.contains("\"hooks\"") {
            let hooks = json!({"PreToolUse": [takeover::hook(&root)]}).to_string();
            put(&self.at(&settings), &now.replacen('{', &format!("{{\"hooks\":{hooks},"), 1));
            self.mine.entry(settings.clone()).and_modify(|mine| mine.is_exact = false);
            self.touched.insert(settings);
        }
        self.story.push(format!("another program installs itself: {} {scope}", host.flag));
        self.laid.push((host, scope));
        self.may_stay.extend(above);
    }
}

/// The end of a sequence.
impl Life {
    /// Uninstalls everything, after replacing what another program has left.
    pub(super) fn end(&mut self, with_undo: bool) {
        let read_only: Vec<String> = self
            .mine
            .iter()
            .filter(|(_, mine)| mine.mode & 0o200 == 0 && mine.text.is_some())
            .map(|(path, _)| path.clone())
            .collect();
        for path in read_only {
            self.story.push(format!("chmod 644 {path}"));
            self.set_mode(&path, 0o644);
            self.mine.entry(path).and_modify(|mine| mine.mode = 0o644);
        }
        for (host, scope) in self.laid.clone() {
            let manifest = self.lived.root(host, scope).join(MANIFEST.trim_start_matches('/'));
            let text = std::fs::read_to_string(manifest).unwrap_or_default();
            if text.contains("\"manifestVersion\"") {
                let words = ["install", host.flag, scope].map(str::to_owned);
                self.call(&words, false);
            }
        }
        let (all, calls) = (["uninstall", "--all"].map(str::to_owned), self.calls.len());
        self.call(&all, false);
        let was_something = self.calls.len() > calls;
        if !self.installed.is_empty() {
            self.fault(format!("after the last uninstall, status lists {:?}", self.installed));
        }
        self.is_clean();
        if with_undo && was_something && self.faults.is_empty() {
            self.call(&["undo".to_owned()], false);
            self.call(&["redo".to_owned()], false);
            self.is_clean();
        }
    }

    /// Only the user's files are left, and they have their bytes.
    fn is_clean(&mut self) {
        let now = self.lived.tree();
        let mut faults = Vec::new();
        let of_user = |what: &str| what.contains("mine");
        let is_kept = |path: &str, what: &str| path.contains(PATCHES) && of_user(what);
        for (path, what) in &now {
            let below = format!("{path}/");
            let has_kept = || {
                now.iter().any(|(other, what)| {
                    let is_of_user = if what.starts_with("file") {
                        is_kept(other, what) || self.mine.contains_key(other) || self.is_marked(other, what)
                    } else {
                        // The user made it for a file that was set aside.
                        self.may_stay.contains(other)
                    };
                    other.starts_with(&below) && is_of_user
                })
            };
            let is_fine = if what.starts_with("file") {
                is_kept(path, what)
                    || self.is_marked(path, what)
                    || self.mine.get(path).is_some_and(|mine| mine.text.is_some())
            } else {
                self.fixed.contains_key(path) || self.may_stay.contains(path) || has_kept()
            };
            if !is_fine {
                faults.push(format!("left: {path} {what:.200}"));
            }
        }
        for (path, mine) in &self.mine {
            let (Some(text), Some(what)) = (&mine.text, now.get(path)) else { continue };
            let found = what.split_once('\n').map_or("", |(_, found)| found);
            let is_right = if mine.is_exact { text == found } else { Form::of(path).is_same(text, found) };
            if !is_right {
                let how = if mine.is_exact { "bytes" } else { "values" };
                faults.push(format!("{path} should have these {how}: {text:?} and has {found:?}"));
            }
        }
        if !faults.is_empty() {
            let count = faults.len();
            self.fault(format!("after the last uninstall ({count}): {}", some(&faults)));
        }
    }

    fn is_marked(&self, path: &str, what: &str) -> bool {
        self.marks.iter().any(|(mark, at)| at == path && what.contains(&format!("{mark};")))
    }
}

/// Settings and instruction files that hosts, users and we write to.
fn is_settings(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "settings.json",
        "settings.local.json",
        "config.toml",
        "config.yaml",
        "hooks.json",
        "opencode.json",
        "opencode.jsonc",
        "kilo.json",
        "kilo.jsonc",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "QWEN.md",
        "copilot-instructions.md",
    ];
    !path.contains(PATCHES) && path.rsplit('/').next().is_some_and(|name| NAMES.contains(&name))
}

/// Files of which a part may be ours.
fn is_shared(path: &str) -> bool {
    is_settings(path)
}

fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The first few lines.
fn some(lines: &[String]) -> String {
    let first: Vec<String> = lines.iter().take(6).map(|line| line.chars().take(700).collect()).collect();
    format!("{} in all:\n{}", lines.len(), first.join("\n"))
}
