//! The answer of `status`: one report for programs, the same in sentences for people.

use schemars::JsonSchema;
use serde::Serialize;

use super::report::{OtherReport, UnlistedReport, chain};
use crate::acts::hooks::state::{HooksState, Off};
use crate::disk::AbsolutePath;
use crate::hooks;
use crate::install::{
    self, Detected, Drift, InstallError, Leftover, NotLoaded, OtherInstall, PlacedByAdministrator, Status, Target,
    Unlisted,
};
use crate::operations::answers::finding::{Finding, Severity};
use crate::runtime::{Descriptor, Scope};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::{Typed, typed};

/// How many files are shown to a person if there are many.
const NAMED: usize = 3;

/// The result of `status`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::commands) struct StatusReport {
    installs: Vec<HostStatus>,
    /// Folders with files of yours in hosts without an install.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leftovers: Vec<Leftover>,
    /// What an administrator placed for everyone on this computer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managed: Vec<ManagedStatus>,
    /// Installs of other programs of this family.
    others: Vec<OtherReport>,
    /// If nothing is installed: the kept history of earlier installs, for undoing them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history: Option<Leftover>,
    /// Findings that do not concern a single install.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding>,
    /// Hosts in use on this computer, with their flags and the reason; shown to a person if nothing is installed.
    #[serde(skip)]
    pub(super) found: Vec<(String, String, Detected)>,
    /// A host for an example, if none is detected.
    #[serde(skip)]
    pub(super) example: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ManagedStatus {
    runtime: String,
    #[serde(skip)]
    name: String,
    version: String,
    root: String,
    /// Whether the host reads commands and agents there.
    commands: bool,
    /// Files without which its hooks do not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HostStatus {
    runtime: String,
    #[serde(skip)]
    name: String,
    scope: &'static str,
    root: String,
    #[serde(skip)]
    shown: String,
    /// The words that select this install in other commands.
    #[serde(skip)]
    flags: Typed,
    #[serde(skip)]
    target: Target,
    #[serde(flatten)]
    status: Option<Status>,
    hooks: HooksState,
    /// Folders with files of yours: edited files that were moved, and backups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set_aside: Vec<Leftover>,
    /// Traces of an install that no manifest lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<UnlistedReport>,
    /// Settings files that the host does not load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_loaded: Vec<NotLoaded>,
    /// Why the state of the install is unknown.
    error: Option<String>,
    /// The problems of the install.
    findings: Vec<Finding>,
}

impl HostStatus {
    /// The findings, with many files of one kind as one finding.
    fn in_short(&self) -> Vec<Finding> {
        let mut short: Vec<Finding> = Vec::new();
        for finding in &self.findings {
            let of_kind = self.findings.iter().filter(|other| other.code == finding.code);
            match of_kind.count() {
                many if many > NAMED && finding.place.is_some() => {
                    if !short.iter().any(|known| known.code == finding.code) {
                        let what = format!("{}: {}", counted(many, "file"), finding.what);
                        short.push(Finding { what, place: None, ..finding.clone() });
                    }
                }
                _ => short.push(finding.clone()),
            }
        }
        if let Some(error) = &self.error {
            short.push(Finding::error("install-unreadable", error.clone()));
        }
        short
    }

    fn is_as_left(&self) -> bool {
        self.status.is_some() && self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }

    fn is_installed(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.version.is_some() && !status.from_repository)
    }
}

/// The problems of an install. A file that changed since it was written is an error.
fn findings(target: &Target, status: &Status, hooks: HooksState, not_loaded: &[NotLoaded]) -> Vec<Finding> {
    let install = typed!("gsd-tools install {}", target.flags());
    let mut found = Vec::new();
    if status.from_repository {
        found.push(from_repository().fix(install.clone()));
    }
    if status.unfinished {
        found.push(Finding::error("write-unfinished", "a write was interrupted").fix("gsd-tools recover"));
    }
    let update = typed!("gsd-tools update {}", target.flags());
    found.extend(status.version.as_deref().and_then(|version| other_version(version, update.as_str())));
    if hooks == HooksState::NotRegistered {
        found.push(Finding::warning("hooks-not-registered", "hooks are not registered").fix(install.clone()));
    }
    if status.plugin {
        let what = "the gsd plugin is enabled too: every command and hook is registered twice";
        let cure = format!("disable the plugin, or run `{}`", typed!("gsd-tools uninstall {}", target.flags()));
        found.push(Finding::warning("plugin-as-well", what).cure(cure));
    }
    let not_loaded = not_loaded.iter().map(ToString::to_string);
    found.extend(not_loaded.map(|what| Finding::warning("settings-not-loaded", what)));
    found.extend(status.drift.iter().map(|drift| match drift {
        Drift::Missing { path } => Finding::error("file-missing", "missing").at(path).fix(install.clone()),
        Drift::Edited { path } => Finding::error("file-changed", "modified").at(path).fix(install.clone()),
        Drift::EditMissing { path } => {
            Finding::error("edit-missing", "some of our entries are missing").at(path).fix(install.clone())
        }
        Drift::Unreadable { path, why } => {
            Finding::error("file-unreadable", format!("cannot be read ({why})")).at(path)
        }
    }));
    found
}

/// The finding about an install that was cloned.
fn from_repository() -> Finding {
    Finding::warning("install-from-repository", "an install came with this repository and is not yet yours")
}

/// The finding about an install without a manifest.
fn without_manifest(target: &Target, unlisted: &UnlistedReport) -> Finding {
    if target.is_pinned() {
        return from_repository().fix("gsd-tools install --local");
    }
    let what = format!("the manifest is missing, but {} {} there", unlisted.what(), unlisted.verb());
    let flags = target.flags();
    let cure = format!(
        "run `{}` to repair the install, or `{}` to remove it",
        typed!("gsd-tools install {}", flags),
        typed!("gsd-tools uninstall {}", flags)
    );
    Finding::error("manifest-missing", what).cure(cure)
}

/// The finding that another version of this program wrote the install.
fn other_version(version: &str, update: &str) -> Option<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let what = format!("installed by version {version}, this program is {own}");
    let finding = Finding::warning("other-version", what);
    if version == own {
        None
    } else if hooks::is_newer(version, own) {
        Some(finding.cure("use the newer program, so that the install is not taken back to an older version"))
    } else {
        Some(finding.fix(update.to_owned()))
    }
}

impl StatusReport {
    pub(super) fn push(
        &mut self,
        target: &Target,
        status: Result<Status, InstallError>,
        unlisted: Option<Unlisted>,
        off: &Off,
    ) {
        let error = status.as_ref().err().map(chain);
        let hooks = status.as_ref().map_or(HooksState::Unknown, |status| HooksState::of(target, status, off));
        let is_installed = status.as_ref().is_ok_and(|status| status.version.is_some());
        // Files that cannot be read are already in the drift.
        let not_loaded = install::not_loaded(target).ok().filter(|_| is_installed).unwrap_or_default();
        let mut found = status.as_ref().map(|status| findings(target, status, hooks, &not_loaded)).unwrap_or_default();
        let unlisted = unlisted.map(|unlisted| UnlistedReport::new(target, &unlisted));
        found.extend(unlisted.as_ref().map(|unlisted| without_manifest(target, unlisted)));
        self.installs.push(HostStatus {
            runtime: target.descriptor.id.to_string(),
            name: target.descriptor.name.clone(),
            scope: target.scope.word(),
            root: target.root.to_string(),
            shown: target.shown(&target.root),
            flags: target.flags(),
            target: target.clone(),
            findings: found,
            unlisted,
            hooks,
            // A folder that cannot be listed does not prevent the rest of the status.
            set_aside: install::set_aside(target).unwrap_or_default(),
            not_loaded,
            status: status.ok(),
            error,
        });
    }

    /// The installs, and how `doctor` shows each.
    pub(super) fn examined(&self) -> impl Iterator<Item = (&Target, bool, Vec<Finding>)> {
        self.installs.iter().map(|host| (&host.target, host.is_installed(), host.in_short()))
    }

    /// The findings that do not concern a single install.
    pub(super) fn general(&self) -> &[Finding] {
        &self.findings
    }

    /// The installs of other programs, each in a sentence.
    pub(super) fn other_programs(&self) -> impl Iterator<Item = String> {
        self.others.iter().map(OtherReport::line)
    }

    /// What an administrator placed, each in words.
    pub(super) fn placed(&self) -> impl Iterator<Item = String> {
        self.managed.iter().map(|placed| {
            let ManagedStatus { name, version, root, commands, .. } = placed;
            let what = if *commands { "" } else { "hooks of " };
            let how = if placed.missing.is_empty() { "" } else { "incompletely " };
            format!("{what}{name} {version} in {root}, {how}placed by an administrator")
        })
    }

    /// Whether nothing is installed.
    pub(super) fn is_empty(&self) -> bool {
        self.installs.is_empty()
    }

    /// Whether this install is in the report already.
    pub(super) fn has(&self, target: &Target) -> bool {
        let root = target.root.to_string();
        let is_it = |host: &HostStatus| host.root == root && host.runtime == target.descriptor.id.to_string();
        self.installs.iter().any(is_it)
    }

    /// Records that the folder of an install is gone.
    pub(super) fn note_gone(&mut self, target: &Target) {
        let what = format!("{} was installed in {}, and the folder is gone", target.descriptor.name, target.root);
        let cure = "if the project has moved, run `gsd-tools update --local` there";
        self.findings.push(Finding::warning("folder-gone", what).cure(cure));
    }

    /// Records the folders that all installs share in which a write was interrupted.
    pub(super) fn push_unfinished(&mut self, folders: Result<Vec<AbsolutePath>, InstallError>) {
        match folders {
            Ok(folders) => self.findings.extend(folders.iter().map(|folder| {
                let finding = Finding::error("write-unfinished", "a write was interrupted").at(folder.to_string());
                finding.fix("gsd-tools recover")
            })),
            Err(error) => {
                let what = format!("whether a write was interrupted is not known: {}", chain(&error));
                self.findings.push(Finding::error("state-unreadable", what));
            }
        }
    }

    /// Adds what an administrator placed for a host.
    pub(super) fn push_managed(&mut self, host: &Descriptor, placed: Option<PlacedByAdministrator>) {
        let Some(placed) = placed else { return };
        let missing: Vec<String> = placed.missing.iter().map(|file| file.display().to_string()).collect();
        self.findings.extend(missing.iter().map(|file| {
            let what = format!("what an administrator placed for {} is incomplete: its hooks do not run", host.name);
            let cure = "the administrator places the files of `gsd-tools package --managed` again";
            Finding::error("managed-incomplete", what).at(file.clone()).cure(cure)
        }));
        self.managed.push(ManagedStatus {
            runtime: host.id.to_string(),
            name: host.name.clone(),
            version: placed.version,
            root: placed.root.to_string(),
            commands: placed.has_commands,
            missing,
        });
    }

    /// Adds installs of other programs, each once.
    pub(super) fn push_others(&mut self, target: &Target, found: Vec<OtherInstall>) {
        for other in found.into_iter().map(|other| OtherReport::new(target, other)) {
            match self.others.iter_mut().find(|known| known.is(&other)) {
                None => self.others.push(other),
                Some(known) if known.replaced_by.is_none() => *known = other,
                Some(_) => {}
            }
        }
    }

    pub(super) fn push_leftovers(&mut self, found: Vec<Leftover>) {
        for leftover in found {
            let is_known = |known: &Leftover| known.path == leftover.path;
            let is_of_an_install = self.installs.iter().any(|host| host.set_aside.iter().any(is_known));
            if !is_of_an_install && !self.leftovers.iter().any(is_known) {
                self.leftovers.push(leftover);
            }
        }
    }

    /// Adds findings that only the whole list shows: double installs, and disabled hooks.
    pub(super) fn complete(&mut self, off: &Off) {
        let twice: Vec<String> = self
            .installs
            .iter()
            .filter(|host| host.scope == Scope::Local.word() && host.is_installed())
            .map(|host| host.runtime.clone())
            .collect();
        for host in self.installs.iter_mut().filter(|host| host.scope == Scope::Global.word() && host.is_installed()) {
            if twice.contains(&host.runtime) {
                let what = "also installed in this project: every command and hook is registered twice";
                let fix = typed!("gsd-tools uninstall --{} --local", host.runtime);
                host.findings.push(Finding::warning("global-and-local", what).fix(fix));
            }
        }
        for host in self.installs.iter_mut().filter(|host| host.is_installed()) {
            // What hooks say is said once: by those of the administrator.
            if self.managed.iter().any(|placed| placed.runtime == host.runtime && placed.commands) {
                let what = "an administrator placed it for everyone on this computer too: every command is there twice";
                let fix = typed!("gsd-tools uninstall {}", host.flags);
                host.findings.push(Finding::warning("managed-as-well", what).fix(fix));
            }
        }
        self.findings.extend(off.finding());
        self.findings.extend(off.finding_of_variable());
    }

    /// 1 if anything differs from what was installed.
    pub(super) fn exit_code(&self) -> u8 {
        let is_sound = self.findings.iter().all(|finding| finding.severity != Severity::Error);
        u8::from(!is_sound || !self.installs.iter().all(HostStatus::is_as_left))
    }

    /// The report as a person reads it; `verbose` names every file.
    pub(super) fn text(&self, screen: Screen, verbose: bool) -> String {
        let mut blocks: Vec<String> = self.installs.iter().map(|host| host.text(screen, verbose)).collect();
        if self.installs.is_empty() && self.managed.is_empty() {
            blocks.push(screen.commands(&self.nothing(screen)));
        }
        if !self.managed.is_empty() {
            let marks = self.managed.iter().map(|placed| match placed.missing.as_slice() {
                [] => Mark::Done,
                _ => Mark::Failed,
            });
            blocks.push(marks.zip(self.placed()).map(|(mark, placed)| line(screen, "", mark, &placed)).collect());
        }
        if !self.others.is_empty() {
            blocks.push(self.others.iter().map(|other| line(screen, "", Mark::Open, &other.line())).collect());
        }
        if !self.leftovers.is_empty() || self.history.is_some() {
            let lines = self.leftovers.iter().chain(&self.history).map(|leftover| leftover_line(screen, leftover));
            blocks.push(screen.paint(Tone::Strong, "Left by an earlier install") + "\n" + &lines.collect::<String>());
        }
        if !self.findings.is_empty() {
            blocks
                .push(self.findings.iter().map(|finding| line(screen, "", finding.mark(), &finding.line())).collect());
        }
        blocks.join("\n")
    }

    fn nothing(&self, screen: Screen) -> String {
        let mut text = screen.paint(Tone::Strong, "Nothing is installed.") + "\n";
        let Some((_, flag, _)) = self.found.first() else {
            text += &screen.prose("  ", "  ", "No host was found here; `gsd-tools runtimes` lists those we support.");
            return text
                + &screen.prose(
                    "  ",
                    "  ",
                    &format!("Install: `{}`", typed!("gsd-tools install --{} --global", self.example)),
                );
        };
        let found = self.found.iter().map(|(name, flag, why)| match why.short() {
            why if why == "found" => format!("{name} (`--{flag}`)"),
            why => format!("{name} (`--{flag}`, {why})"),
        });
        let found: Vec<String> = found.collect();
        text += &screen.prose("  ", "  ", &format!("Hosts found here: {}", found.join(", ")));
        text += &screen.prose("  ", "  ", &format!("Install: `{}`", typed!("gsd-tools install --{} --global", flag)));
        text
    }
}

impl HostStatus {
    fn text(&self, screen: Screen, verbose: bool) -> String {
        let mark = if self.error.is_some() || !self.is_as_left() {
            Mark::Failed
        } else if self.findings.iter().any(|finding| finding.severity == Severity::Warning) {
            Mark::Warning
        } else if self.is_installed() {
            Mark::Done
        } else {
            Mark::Open
        };
        let version = self.status.as_ref().and_then(|status| status.version.as_deref());
        let row = vec![
            screen.mark(mark),
            Cell::new(Tone::Strong, format!("{} ({})", self.name, self.scope)),
            Cell::from(version.unwrap_or(if self.unlisted.is_some() { "no manifest" } else { "not installed" })),
            Cell::from(self.shown.as_str()),
        ];
        let mut text = screen.heading(&row);
        if let Some(error) = &self.error {
            return text + &line(screen, "  ", Mark::Failed, error);
        }
        if let Some(status) = self.status.as_ref().filter(|status| status.version.is_some()) {
            let hooks = match self.hooks {
                HooksState::Registered if !self.not_loaded.is_empty() => "; hooks registered, but not loaded",
                HooksState::Registered => "; hooks registered",
                HooksState::Disabled => "; hooks registered, but disabled",
                HooksState::NotRegistered => "; hooks not registered",
                HooksState::Unknown => "; whether hooks are registered is not known",
                HooksState::None => "; no hooks",
            };
            let profile = status.profile.as_ref().filter(|profile| *profile != "full");
            let profile = profile.map(|names| format!("; profile {names}")).unwrap_or_default();
            text += &screen.prose("    ", "    ", &format!("{}{hooks}{profile}", counted(status.files, "file")));
            if self.flags.as_str().contains("--config-dir") {
                text += &screen.prose(
                    "    ",
                    "    ",
                    &format!("Uninstall: `{}`", typed!("gsd-tools uninstall {}", self.flags)),
                );
            }
        }
        let is_drift = |finding: &&Finding| finding.place.is_some();
        for finding in self.findings.iter().filter(|finding| !is_drift(finding)) {
            text += &line(screen, "  ", finding.mark(), &finding.line());
        }
        text += &self.drift(screen, verbose);
        if let Some(stays) = self.unlisted.as_ref().and_then(|unlisted| unlisted.stays(verbose)) {
            text += &line(screen, "  ", Mark::Open, &stays);
        }
        for leftover in &self.set_aside {
            text += &leftover_line(screen, leftover);
        }
        text
    }

    /// The changes since the install, one line for each kind.
    fn drift(&self, screen: Screen, verbose: bool) -> String {
        let Some(status) = &self.status else { return String::new() };
        let paths = |wanted: fn(&Drift) -> Option<&String>| status.drift.iter().filter_map(wanted).collect::<Vec<_>>();
        let missing = paths(|drift| if let Drift::Missing { path } = drift { Some(path) } else { None });
        let edited = paths(|drift| if let Drift::Edited { path } = drift { Some(path) } else { None });
        let entries = paths(|drift| if let Drift::EditMissing { path } = drift { Some(path) } else { None });
        let install = format!("`{}`", typed!("gsd-tools install {}", self.flags));
        let mut text = String::new();
        let mut tell = |paths: &[&String], what: String| {
            if !paths.is_empty() {
                text += &line(screen, "  ", Mark::Failed, &what);
                text += &named(screen, paths, verbose);
            }
        };
        let of = |paths: &[&String]| format!("{} of {}", paths.len(), counted(status.files, "file"));
        let them = if missing.len() == 1 { "it" } else { "them" };
        tell(&missing, format!("{} missing: {install} restores {them}", of(&missing)));
        let how = if edited.len() == 1 {
            "replaces it and moves your version"
        } else {
            "replaces them and moves your versions"
        };
        tell(&edited, format!("{} modified: {install} {how} to gsd-local-patches/", of(&edited)));
        let files = if entries.len() == 1 { "a settings file" } else { "settings files" };
        tell(&entries, format!("entries of ours are missing from {files}: {install} adds them"));
        for drift in &status.drift {
            if let Drift::Unreadable { path, why } = drift {
                text += &line(screen, "  ", Mark::Failed, &format!("{path} cannot be read: {why}"));
            }
        }
        text
    }
}

/// The first of the paths, or all of them.
fn named(screen: Screen, paths: &[&String], verbose: bool) -> String {
    if verbose || paths.len() <= NAMED {
        return paths.iter().map(|path| screen.prose("      ", "      ", path)).collect();
    }
    let first: String = paths.iter().take(NAMED).map(|path| screen.prose("      ", "      ", path)).collect();
    let more = format!("and {} more; `gsd-tools status --verbose` lists all", paths.len() - NAMED);
    first + &screen.prose("      ", "      ", &more)
}

fn leftover_line(screen: Screen, leftover: &Leftover) -> String {
    line(screen, "  ", Mark::Open, &leftover.to_string())
}

/// A sign and a sentence with its commands highlighted.
fn line(screen: Screen, indent: &str, mark: Mark, text: &str) -> String {
    screen.commands(&screen.item(indent, mark, text))
}
