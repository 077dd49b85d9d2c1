//! What an install says when it is done: one report for programs, the same in sentences for people.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::install::{self, Act, InstallError, InstallPlan, Leftover, PlanReport, Target, Wish};
use crate::runtime::{Descriptor, Scope};

/// What `install` or `uninstall` did.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct InstallReport {
    action: &'static str,
    dry_run: bool,
    pub(super) hosts: Vec<HostReport>,
}

/// What was done for one host.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HostReport {
    runtime: String,
    #[serde(skip)]
    name: String,
    scope: &'static str,
    /// The host's folder; `None` if it is not known.
    root: Option<String>,
    outcome: Outcome,
    created: usize,
    updated: usize,
    removed: usize,
    unchanged: usize,
    /// Files of the user's that hold our part, or held it.
    merged: Vec<String>,
    /// Files of ours that were changed since: the changed bytes were moved before ours took their place.
    set_aside: Vec<SetAside>,
    /// Files of ours that were changed since and were left.
    left: Vec<String>,
    /// After an uninstall: folders with files of yours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leftovers: Vec<Leftover>,
    /// The host's settings have our plugin in use too.
    plugin: bool,
    /// Why it cannot be told whether our plugin is in use there.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin_unknown: Option<String>,
    /// Installs of another program of this name, which went.
    taken_over: Vec<TakenOver>,
    /// Manifests of ours that came with the repository: what they list counts as the user's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claimed: Vec<String>,
    /// Files of ours that were not written, because a file of the person's has that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gave_way: Vec<String>,
    /// Files of another program's that were left, because a link of the person's leads out of the folder there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<String>,
    error: Option<Failure>,
    /// With `--dry-run`: what would happen to each file, and to each key of settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanReport>,
    #[serde(skip)]
    next: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Done,
    Unchanged,
    Failed,
}

/// How an install that came with a repository becomes the user's.
pub(super) const OWN_IT: &str = "`gsd-tools install --local` makes it yours";

/// What is to be told where both forms are in use.
pub(super) const TWICE: &str =
    "our plugin is in use there too, so that everything stands there twice: uninstall one of them";

#[derive(Debug, Serialize, JsonSchema)]
struct TakenOver {
    root: String,
    version: Option<String>,
    /// What was let run without asking, and is asked about again unless it is ours to allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    permissions: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SetAside {
    path: String,
    to: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Failure {
    message: String,
    hint: Option<String>,
    exit_code: u8,
    /// Whether something was written all the same, and could not be taken back yet.
    half_way: bool,
}

impl InstallReport {
    pub(super) fn new(wish: Wish, dry_run: bool) -> Self {
        let action = match wish {
            Wish::Install => "install",
            Wish::Uninstall => "uninstall",
        };
        Self { action, dry_run, hosts: Vec::new() }
    }

    /// Adds what became of one host.
    pub(super) fn push(
        &mut self,
        descriptor: &Descriptor,
        scope: Scope,
        result: &Result<(Target, InstallPlan), InstallError>,
        wish: Wish,
    ) {
        let mut host = HostReport::new(descriptor, scope, result, wish);
        if self.dry_run
            && let Ok((target, plan)) = result
        {
            host.plan = Some(plan.report(target));
        } else if let (Wish::Uninstall, Ok((target, _))) = (wish, result) {
            // The uninstall is done: what cannot be listed is no failure of it.
            host.leftovers = install::leftovers(target).unwrap_or_default();
        }
        self.hosts.push(host);
    }

    /// The code of the first failure, else 0.
    pub(super) fn exit_code(&self) -> u8 {
        self.hosts.iter().find_map(|host| host.error.as_ref()).map_or(0, |error| error.exit_code)
    }

    /// What failed, for standard error; empty if nothing did.
    pub(super) fn failures(&self) -> String {
        let mut text = String::new();
        let failed: Vec<&HostReport> = self.hosts.iter().filter(|host| host.error.is_some()).collect();
        for host in &failed {
            host.write(&mut text, self);
        }
        if self.hosts.len() > 1 && !failed.is_empty() {
            let others = if failed.len() == self.hosts.len() { "" } else { "; the others are done" };
            // Writing to a string cannot fail.
            let _ = write!(text, "{} of {} hosts failed{others}", failed.len(), self.hosts.len());
        }
        text
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for host in self.hosts.iter().filter(|host| host.error.is_none()) {
            host.write(&mut text, self);
        }
        let next: Vec<&str> =
            self.hosts.iter().filter(|host| host.outcome == Outcome::Done).map(|host| host.next.as_str()).collect();
        if self.action == "install" && !self.dry_run && !next.is_empty() {
            let _ = writeln!(text, "\nNext, in a new session:");
            for line in next {
                let _ = writeln!(text, "  {line}");
            }
        }
        text
    }
}

impl HostReport {
    pub(super) fn new(
        descriptor: &Descriptor,
        scope: Scope,
        result: &Result<(Target, InstallPlan), InstallError>,
        wish: Wish,
    ) -> Self {
        let command = descriptor.mention.command.replace("{name}", "help");
        let mut report = Self {
            runtime: descriptor.id.to_string(),
            name: descriptor.name.clone(),
            scope: scope.word(),
            root: None,
            outcome: Outcome::Failed,
            created: 0,
            updated: 0,
            removed: 0,
            unchanged: 0,
            merged: Vec::new(),
            set_aside: Vec::new(),
            left: Vec::new(),
            leftovers: Vec::new(),
            plugin: false,
            plugin_unknown: None,
            taken_over: Vec::new(),
            claimed: Vec::new(),
            gave_way: Vec::new(),
            elsewhere: Vec::new(),
            error: None,
            plan: None,
            next: format!("{}: type {command}", descriptor.name),
        };
        match result {
            Ok((target, plan)) => report.count(target, plan, wish),
            Err(error) => {
                let (message, hint, exit_code) = (chain(error), error.hint(), error.exit_code());
                report.error = Some(Failure { message, hint, exit_code, half_way: error.is_half_way() });
            }
        }
        report
    }

    fn count(&mut self, target: &Target, plan: &InstallPlan, wish: Wish) {
        self.root = Some(target.root.to_string());
        let nothing = plan.is_empty() && (wish == Wish::Install || plan.steps.is_empty());
        self.outcome = if nothing { Outcome::Unchanged } else { Outcome::Done };
        if wish == Wish::Install {
            match &plan.plugin {
                Ok(plugin) => self.plugin = *plugin,
                Err(error) => self.plugin_unknown = Some(chain(error)),
            }
        }
        let taken_over = plan.taken_over.iter();
        self.taken_over = taken_over
            .map(|other| TakenOver {
                root: target.shown(&other.root),
                version: other.version.clone(),
                permissions: other.permissions.clone(),
            })
            .collect();
        self.claimed = plan.claimed.iter().map(|path| target.shown(path)).collect();
        for step in &plan.steps {
            let path = || target.shown(&step.path);
            match &step.act {
                Act::Create => self.created += 1,
                Act::Update => self.updated += 1,
                Act::Remove => self.removed += 1,
                Act::Keep => self.unchanged += 1,
                Act::Merge => self.merged.push(path()),
                Act::Leave => self.left.push(path()),
                Act::GiveWay => self.gave_way.push(path()),
                Act::Elsewhere => self.elsewhere.push(path()),
                Act::SetAside { to } => {
                    match wish {
                        Wish::Install => self.updated += 1,
                        Wish::Uninstall => self.removed += 1,
                    }
                    self.set_aside.push(SetAside { path: path(), to: target.shown(to) });
                }
            }
        }
    }

    fn write(&self, text: &mut String, report: &InstallReport) {
        let root = self.root.as_deref().unwrap_or_default();
        let did = match (report.action, report.dry_run, self.outcome) {
            (_, _, Outcome::Failed) if self.error.as_ref().is_some_and(|error| error.half_way) => {
                "failed half-way".to_owned()
            }
            (_, _, Outcome::Failed) => "failed; nothing was written for it".to_owned(),
            ("install", _, Outcome::Unchanged) => format!("is up to date in {root}"),
            (_, _, Outcome::Unchanged) => format!("is not installed in {root}"),
            ("install", false, Outcome::Done) => format!("installed in {root}"),
            ("install", true, Outcome::Done) => format!("would be installed in {root}"),
            (_, false, Outcome::Done) => format!("uninstalled from {root}"),
            (_, true, Outcome::Done) => format!("would be uninstalled from {root}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {did}", self.name);
        let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let counts = [(self.created, "new"), (self.updated, "updated"), (self.removed, "removed")];
        let mut counts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", files(count)))
            .collect();
        if self.unchanged > 0 && self.outcome == Outcome::Done {
            counts.push(format!("{} unchanged", self.unchanged));
        }
        if !counts.is_empty() {
            let _ = writeln!(text, "  {}", counts.join(", "));
        }
        for TakenOver { root, version, permissions } in &self.taken_over {
            let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            let took = if report.dry_run { "would take" } else { "took" };
            let _ = writeln!(text, "  {took} the place of gsd-core{version} in {root}");
            if !permissions.is_empty() {
                let _ = writeln!(text, "  its permissions go with it: {}", permissions.join(", "));
            }
        }
        for path in &self.claimed {
            let cure = if report.action == "install" { String::new() } else { format!("; {OWN_IT}") };
            let _ = writeln!(text, "  {path} came with this repository: what it lists counts as yours{cure}");
        }
        if self.plugin {
            let _ = writeln!(text, "  {TWICE}");
        }
        if let Some(why) = &self.plugin_unknown {
            let _ = writeln!(text, "  whether our plugin is in use there too cannot be told: {why}");
        }
        for path in &self.merged {
            let _ = writeln!(text, "  edited: {path}");
            for key in self.plan.iter().flat_map(|plan| plan.keys_of(path)) {
                let _ = writeln!(text, "    {key}");
            }
        }
        for SetAside { path, to } in &self.set_aside {
            let _ = writeln!(text, "  {path} was not as we had written it; that version is now {to}");
        }
        for path in &self.left {
            let _ = writeln!(text, "  left, because it was changed since: {path}");
        }
        for leftover in &self.leftovers {
            let _ = writeln!(text, "  {leftover}");
        }
        for path in &self.elsewhere {
            let _ = writeln!(text, "  left, because a link leads out of the folder there: {path}");
        }
        for path in &self.gave_way {
            let _ = writeln!(text, "  not written, because a file of yours has this name: {path}");
        }
        if let Some(error) = &self.error {
            let _ = writeln!(text, "  {}", error.message);
            if let Some(hint) = &error.hint {
                let _ = writeln!(text, "  hint: {hint}");
            }
        }
    }
}

/// The error with its causes, in one line. What a message says already is not said twice.
pub(super) fn chain(error: &InstallError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// What `recover` did.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Recovered {
    /// Folders in which a write had been cut short.
    pub(super) finished: Vec<String>,
    /// With `--dry-run`: folders in which a write was cut short and would be undone or finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_finish: Option<Vec<String>>,
}
