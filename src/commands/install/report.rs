//! The result of an install, for programs; `summary` has it in sentences for people.

use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::diff::{Group, groups};
use crate::disk::AbsolutePath;
use crate::failure::Explain;
use crate::hooks;
use crate::install::{
    self, Act, Detected, InstallError, InstallPlan, Keeping, Leftover, NotLoaded, OtherInstall, PlanReport, StatusLine,
    Target, Unlisted, Wish,
};
use crate::runtime::{Descriptor, Scope};
use crate::text::screen::counted;
use crate::text::shell::{Typed, typed};

/// The result of `install` or `uninstall`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct InstallReport {
    action: &'static str,
    #[serde(skip)]
    pub(super) wish: Wish,
    pub(super) dry_run: bool,
    pub(super) hosts: Vec<HostReport>,
    /// The number of this call in the history, with which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<u64>,
    /// Why this call cannot be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_kept: Option<String>,
    /// After the last uninstall: the kept history of all installs, for undoing them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history: Option<Leftover>,
}

/// The result for one host.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct HostReport {
    pub(super) runtime: String,
    #[serde(skip)]
    pub(super) name: String,
    pub(super) scope: &'static str,
    /// For an install into detected hosts: why this one was detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detected: Option<Detected>,
    /// The host's folder; `None` if it is not known.
    root: Option<String>,
    pub(super) outcome: Outcome,
    /// For an install: the version that is installed now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// The version that was installed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_version: Option<String>,
    /// For an install: the installed version is newer than this program, which replaces it with an older one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) downgrade: bool,
    /// For an install: the profile that is installed now, `full` or names separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<String>,
    /// For an install: how many commands the profile leaves out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) left_out: usize,
    /// Traces of an install that no manifest lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unlisted: Option<UnlistedReport>,
    /// For an install: the number of files that are ours now. Settings files and the manifest are not counted, here and
    /// below.
    pub(super) files: usize,
    pub(super) created: usize,
    pub(super) updated: usize,
    pub(super) removed: usize,
    unchanged: usize,
    /// For an install: how many hooks the host runs for us.
    pub(super) hooks: usize,
    /// For an install: the files that allow our program to run without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) permissions: Vec<String>,
    /// For an install: whose status line the host shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status_line: Option<StatusLine>,
    /// Settings files that got our entries, or lost them.
    pub(super) merged: Vec<String>,
    /// For an update: installed files with your edits, which were kept and got the changes of this version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) edited: Vec<String>,
    /// Our files that were changed since: the changed versions were moved away before ours were written.
    pub(super) set_aside: Vec<SetAside>,
    /// Our files that were changed since and were not removed.
    pub(super) left: Vec<String>,
    /// After an uninstall: folders with files of yours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) leftovers: Vec<Leftover>,
    /// The host has our plugin enabled as well.
    pub(super) plugin: bool,
    /// Why it is unknown whether our plugin is enabled there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin_unknown: Option<String>,
    /// The host's folder in the other scope, if it is installed there too: hooks then run twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) other_scope: Option<String>,
    /// The user's own settings that exclude our entries, in sentences.
    #[serde(skip)]
    pub(super) kept_out: Vec<String>,
    /// Settings files that the host does not load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) not_loaded: Vec<NotLoaded>,
    /// Installs of another program of this name that were replaced.
    pub(super) taken_over: Vec<TakenOver>,
    /// With `--no-legacy-cleanup`: installs of other programs that were left in place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_in_place: Vec<OtherReport>,
    /// What was requested and changes nothing in this host, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) without_effect: Vec<String>,
    /// Enabled plugins of other programs: their commands and hooks exist twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) others: Vec<OtherReport>,
    /// Our manifests that came with the repository: the files they list count as the user's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) claimed: Vec<String>,
    /// Our files that were not written, because the user has a file with that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) gave_way: Vec<String>,
    /// Files of another program that were not removed, because a link of the user leads out of the folder there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) elsewhere: Vec<String>,
    pub(super) error: Option<Failure>,
    /// With `--dry-run`: the change of each file, and of each settings key.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanReport>,
    /// Values that only the text for a person shows.
    #[serde(skip)]
    pub(super) shown: Shown,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Values that only the text for a person shows.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The host's folder as a person would name it.
    pub(super) root: String,
    pub(super) other_scope: String,
    /// The flags for this install.
    pub(super) flags: Typed,
    /// The first commands that a person types in the host: help, and the start of a project.
    pub(super) commands: [String; 2],
    /// Files by kind, and settings by key.
    pub(super) groups: Vec<Group>,
}

/// The plan or the result for one host, or the error.
pub(super) type PlannedHost = Result<(Target, InstallPlan), Rc<InstallError>>;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    Done,
    Unchanged,
    #[default]
    Failed,
}

/// How the user takes over an install that came with a repository.
pub(super) const OWN_IT: &str = "`gsd-tools install --local` makes it yours";

/// Shown if both the plugin and an install exist.
pub(super) const TWICE: &str =
    "the gsd plugin is enabled too: every command and hook is registered twice; uninstall one of the two";

/// Traces of an install that no manifest lists: the manifest was deleted, or renamed because it did not parse.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct UnlistedReport {
    /// How many files are certainly ours.
    pub(super) files: usize,
    /// Settings files with entries that are certainly ours.
    pub(super) settings: Vec<String>,
    /// Files and settings that look like ours but stay: files with our names that differ from this version's, and
    /// settings files with entries that may be yours.
    pub(super) uncertain: Vec<String>,
}

impl UnlistedReport {
    pub(super) fn new(target: &Target, found: &Unlisted) -> Self {
        let shown = |paths: &[AbsolutePath]| paths.iter().map(|path| target.shown(path)).collect();
        Self { files: found.files, settings: shown(&found.settings), uncertain: shown(&found.uncertain) }
    }

    /// `128 files and entries in ~/.host/settings.json`.
    pub(super) fn what(&self) -> String {
        let mut parts = Vec::new();
        parts.extend((self.files > 0).then(|| counted(self.files, "file")));
        parts.extend((!self.settings.is_empty()).then(|| format!("entries in {}", self.settings.join(", "))));
        parts.join(" and ")
    }

    /// The verb after [`Self::what`].
    pub(super) fn verb(&self) -> &'static str {
        if self.files == 1 && self.settings.is_empty() { "is" } else { "are" }
    }

    /// The files that stay, in a sentence.
    pub(super) fn stays(&self, verbose: bool) -> Option<String> {
        let names = some_of(&self.uncertain, verbose);
        (!self.uncertain.is_empty()).then(|| format!("not certain to be ours, so left unchanged: {names}"))
    }
}

/// How many names are shown to a person if there are many.
const NAMED: usize = 3;

/// The first names and how many more there are, or all of them.
pub(super) fn some_of(names: &[String], all: bool) -> String {
    match names.len().checked_sub(NAMED) {
        Some(more) if more > 0 && !all => format!("{} and {more} more", names[..NAMED].join(", ")),
        _ => names.join(", "),
    }
}

/// An install of another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct OtherReport {
    /// The program, as its package is named.
    program: String,
    #[serde(skip)]
    title: String,
    version: Option<String>,
    root: String,
    #[serde(skip)]
    shown: String,
    /// The host; null for a program with folders for itself.
    runtime: Option<String>,
    scope: &'static str,
    /// The command that replaces it with our install; null if it stays.
    pub(super) replaced_by: Option<String>,
    /// Why it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<String>,
}

impl OtherReport {
    pub(super) fn new(target: &Target, other: OtherInstall) -> Self {
        let replaces = other.stays.is_none();
        Self {
            program: other.program,
            title: other.title,
            version: other.version,
            shown: target.shown(&other.root),
            root: other.root.to_string(),
            runtime: other.runtime.map(|runtime| runtime.to_string()),
            scope: other.scope.word(),
            replaced_by: replaces.then(|| typed!("gsd-tools install {}", target.flags()).to_string()),
            stays: other.stays,
        }
    }

    /// The program, its version and its folder.
    fn name(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let shown = if self.shown.is_empty() { "this project" } else { &self.shown };
        format!("{}{version} in {shown}", self.title)
    }

    /// One line of `status`.
    pub(super) fn line(&self) -> String {
        let what = match (&self.replaced_by, &self.stays) {
            (Some(command), _) => format!("`{command}` replaces it"),
            (None, stays) => format!("it stays: {}", stays.as_deref().unwrap_or_default()),
        };
        format!("{} (not ours); {what}", self.name())
    }

    /// What an install says of one that it leaves in place.
    pub(super) fn left(&self) -> String {
        format!("{} was left in place: its commands and hooks are there too", self.name())
    }

    /// The warning of an install.
    pub(super) fn warning(&self) -> String {
        format!("{} is enabled too: {}", self.name(), self.stays.as_deref().unwrap_or_default())
    }

    /// Whether both are the same install.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.program == other.program && self.root == other.root
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TakenOver {
    pub(super) root: String,
    /// The program, as its package is named.
    pub(super) program: String,
    pub(super) version: Option<String>,
    /// Permissions of the replaced program: the host asks about these calls again unless we allow them too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) permissions: Vec<String>,
    /// Settings that it made, or you: they stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unsure: Vec<String>,
    /// Its profile, if it had a part of its commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SetAside {
    pub(super) path: String,
    pub(super) to: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    exit_code: u8,
    /// Whether something was written nevertheless, and could not be undone yet.
    pub(super) half_way: bool,
}

impl InstallReport {
    pub(super) fn new(wish: Wish, dry_run: bool) -> Self {
        Self { action: wish.word(), wish, dry_run, hosts: Vec::new(), call: None, not_kept: None, history: None }
    }

    /// Adds the result for one host; `why` is the reason if it was detected and not named.
    pub(super) fn push(&mut self, descriptor: &Descriptor, scope: Scope, result: &PlannedHost, why: Option<&Detected>) {
        let wish = self.wish;
        let mut host = HostReport::new(descriptor, scope, result, wish);
        host.detected = why.cloned();
        if self.dry_run
            && let Ok((target, plan)) = result
        {
            host.plan = Some(plan.report(target));
        } else if let (Wish::Uninstall, Ok((target, _))) = (wish, result) {
            // The uninstall is done; it is still valid if the rest cannot be listed.
            host.leftovers = install::leftovers(target).unwrap_or_default();
        }
        self.hosts.push(host);
    }

    /// Records whether the call can be undone.
    pub(super) fn note_keeping(&mut self, keeping: &Keeping) {
        match keeping {
            Keeping::Kept(number) => self.call = Some(*number),
            Keeping::TooLarge => self.not_kept = Some("the replaced files are too large to keep".to_owned()),
            Keeping::Failed(error) => self.not_kept = Some(error.to_string()),
            Keeping::Nothing => {}
        }
    }

    /// Whether a newer version would be, or was, replaced.
    pub(super) fn downgrades(&self) -> bool {
        self.hosts.iter().any(|host| host.downgrade)
    }

    /// Warnings about each newer version that is replaced, and about settings that exclude our entries.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.hosts.iter().filter_map(|host| Some(format!("{}: {}", host.name, host.downgrade()?)));
        let kept_out =
            self.hosts.iter().flat_map(|host| host.kept_out.iter().map(|why| format!("{}: {why}", host.name)));
        let not_kept = self.not_kept.iter().map(|why| format!("this call cannot be undone: {why}"));
        let others =
            self.hosts.iter().flat_map(|host| host.others.iter().map(|it| format!("{}: {}", host.name, it.warning())));
        warnings.chain(kept_out).chain(others).chain(not_kept).collect()
    }

    /// The code of the first failure, else 0.
    pub(super) fn exit_code(&self) -> u8 {
        self.hosts.iter().find_map(|host| host.error.as_ref()).map_or(0, |error| error.exit_code)
    }
}

impl HostReport {
    fn new(descriptor: &Descriptor, scope: Scope, result: &PlannedHost, wish: Wish) -> Self {
        let command = |name| descriptor.mention.command.replace("{name}", name);
        let mut report = Self {
            runtime: descriptor.id.to_string(),
            name: descriptor.name.clone(),
            scope: scope.word(),
            ..Self::default()
        };
        report.shown.commands = [command("help"), command("new-project")];
        match result {
            Ok((target, plan)) => report.count(target, plan, wish),
            Err(error) => {
                let (message, hint, exit_code) = (chain(error), error.hint(), error.code());
                report.error = Some(Failure { message, hint, exit_code, half_way: error.is_half_way() });
            }
        }
        report
    }

    /// A warning that a newer version is replaced, and how to keep it.
    pub(super) fn downgrade(&self) -> Option<String> {
        let (from, to) = (self.from_version.as_ref()?, self.version.as_ref()?);
        self.downgrade.then(|| {
            format!("version {from} is installed there, and this program is the older {to}: to keep {from}, use the newer program")
        })
    }

    fn count(&mut self, target: &Target, plan: &InstallPlan, wish: Wish) {
        self.root = Some(target.root.to_string());
        let nothing = plan.is_empty() && (wish.installs() || plan.steps.is_empty());
        self.outcome = if nothing { Outcome::Unchanged } else { Outcome::Done };
        self.from_version.clone_from(&plan.from_version);
        self.unlisted = plan.unlisted.as_ref().map(|found| UnlistedReport::new(target, found));
        self.shown.root = target.shown(&target.root);
        self.shown.flags = target.flags();
        self.shown.groups = groups(target, plan);
        if wish.installs() {
            self.note_added(target, plan);
        }
        let taken_over = plan.taken_over.iter().cloned();
        self.taken_over = taken_over
            .map(|other| TakenOver {
                root: target.shown(&other.root),
                program: other.program,
                version: other.version,
                profile: other.profile.map(|(names, _)| names),
                permissions: other.permissions,
                unsure: other
                    .unsure
                    .into_iter()
                    .map(|(path, setting)| format!("{setting} in {}", target.shown(&path)))
                    .collect(),
            })
            .collect();
        self.claimed = plan.claimed.iter().map(|path| target.shown(path)).collect();
        for step in &plan.steps {
            let path = || target.shown(&step.path);
            match &step.act {
                Act::Keep if !step.is_whole() => {}
                Act::Create | Act::Update | Act::Merge | Act::Remove if !step.is_whole() => self.merged.push(path()),
                Act::Create => self.created += 1,
                Act::Update => self.updated += 1,
                Act::Remove => self.removed += 1,
                Act::Keep => self.unchanged += 1,
                Act::Merge => self.merged.push(path()),
                Act::KeepEdits => self.edited.push(path()),
                Act::Leave => self.left.push(path()),
                Act::GiveWay => self.gave_way.push(path()),
                Act::Elsewhere => self.elsewhere.push(path()),
                Act::SetAside { to } => {
                    // Our files do not replace a file of another program that is set aside.
                    if wish.installs() && step.kind().is_some() {
                        self.updated += 1;
                    } else {
                        self.removed += 1;
                    }
                    self.set_aside.push(SetAside { path: path(), to: target.shown(to) });
                }
            }
        }
    }

    /// Counts what an install adds to the host.
    fn note_added(&mut self, target: &Target, plan: &InstallPlan) {
        match &plan.plugin {
            Ok(plugin) => self.plugin = *plugin,
            Err(error) => self.plugin_unknown = Some(chain(error)),
        }
        let adds = &plan.adds;
        let own = env!("CARGO_PKG_VERSION");
        self.version = Some(own.to_owned());
        self.downgrade = plan.from_version.as_ref().is_some_and(|from| hooks::is_newer(from, own));
        self.files = plan.files();
        self.hooks = adds.hooks;
        self.permissions = adds.permissions.iter().map(|path| target.shown(path)).collect();
        self.status_line = adds.status_line;
        self.profile = Some(plan.profile.to_string());
        self.left_out = plan.left_out.len();
        self.without_effect.clone_from(&adds.without_effect);
        self.left_in_place = adds.left_in_place.iter().map(|other| OtherReport::new(target, other.clone())).collect();
        let is_left_out = |name: &str| plan.left_out.iter().any(|left| left == name);
        self.shown.commands = ["help", "new-project"].map(|name| {
            let command = target.descriptor.mention.command.replace("{name}", name);
            if is_left_out(name) { String::new() } else { command }
        });
        self.not_loaded.clone_from(&adds.not_loaded);
        let kept_out = adds.kept_out.iter().map(|(path, key, value)| kept_out(&target.shown(path), key, value));
        self.kept_out = kept_out.collect();
        self.others = adds.other_plugins.iter().map(|other| OtherReport::new(target, other.clone())).collect();
        self.other_scope = adds.other_scope.as_ref().map(ToString::to_string);
        self.shown.other_scope = adds.other_scope.as_ref().map(|root| target.shown(root)).unwrap_or_default();
    }
}

/// The effect of a user's setting that excludes our entries, and what to write instead.
fn kept_out(path: &str, key: &str, value: &str) -> String {
    format!(
        "`{path}` sets `{key}` to `{value}`, which leaves no room for entries of ours, so the host asks about every call; write it as \
         `{{\"*\": {value}}}` and install again to have both"
    )
}

/// The error with its causes, on one line. A cause that the message already contains is left out.
pub(super) fn chain(error: &InstallError) -> String {
    let mut text = error.to_string();
    let mut source = match error {
        InstallError::Named { error, .. } => std::error::Error::source(error.as_ref()),
        error => std::error::Error::source(error),
    };
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The result of `recover`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Recovered {
    /// Folders with an interrupted write.
    pub(super) finished: Vec<String>,
    /// With `--dry-run`: folders with an interrupted write that would be undone or finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_finish: Option<Vec<String>>,
}
