//! `update --check`: which installs are not at the version of this program, and how to update the program.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::{Job, installer};
use super::report::chain;
use crate::acts::installs::{ProgramOrigin, origin};
use crate::failure::Failure;
use crate::frame::Context;
use crate::hooks;
use crate::install::{self, Act, InstallError, InstallPlan, Target};
use crate::library::Library;
use crate::runtime::Scope;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::{Typed, typed};

/// The result of `update --check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct UpdateCheckReport {
    /// The version of this program.
    version: String,
    /// How this program was installed, and the command that updates it.
    program: ProgramOrigin,
    installs: Vec<CheckedInstall>,
}

/// An install, compared with this program.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedInstall {
    runtime: String,
    #[serde(skip)]
    name: String,
    scope: Scope,
    root: String,
    #[serde(skip)]
    shown: String,
    #[serde(skip)]
    flags: Typed,
    /// The version that is installed; `None` if it cannot be read.
    version: Option<String>,
    state: InstallState,
    /// How many files an update would write or remove.
    changes: usize,
    /// Why the install cannot be updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How an install compares with this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum InstallState {
    /// At this version, and complete.
    Current,
    /// At an older version, or not complete.
    Outdated,
    /// At a newer version than this program.
    Newer,
    /// Not known.
    Unknown,
}

impl CheckedInstall {
    fn new(target: &Target, plan: &InstallPlan, own: &str) -> Self {
        let version = plan.from_version.clone();
        let writes = |act: &Act| !matches!(act, Act::Keep | Act::Leave | Act::GiveWay | Act::Elsewhere);
        let state = match &version {
            Some(version) if hooks::is_newer(version, own) => InstallState::Newer,
            _ if plan.is_empty() => InstallState::Current,
            _ => InstallState::Outdated,
        };
        Self {
            runtime: target.descriptor.id.to_string(),
            name: target.descriptor.name.clone(),
            scope: target.scope,
            root: target.root.to_string(),
            shown: target.shown(&target.root),
            flags: target.flags(),
            version,
            state,
            changes: plan.steps.iter().filter(|step| writes(&step.act)).count(),
            error: None,
        }
    }
}

impl UpdateCheckReport {
    fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        for install in &self.installs {
            let (mark, what) = match install.state {
                InstallState::Current => (Mark::Done, "up to date".to_owned()),
                InstallState::Outdated => {
                    let from = install.version.as_deref().unwrap_or("incomplete");
                    (Mark::Open, format!("{from} -> {}: {}", self.version, counted(install.changes, "file")))
                }
                InstallState::Newer => (Mark::Warning, format!("newer than this program, {}", self.version)),
                InstallState::Unknown => (Mark::Failed, install.error.clone().unwrap_or_default()),
            };
            let row = [
                screen.mark(mark),
                Cell::new(Tone::Strong, format!("{} ({})", install.name, install.scope.word())),
                Cell::from(install.shown.as_str()),
                Cell::from(what),
            ];
            text += &screen.heading(&row);
        }
        if self.installs.is_empty() {
            text += &screen.prose("", "  ", "Nothing is installed.");
        }
        let outdated: Vec<&CheckedInstall> =
            self.installs.iter().filter(|install| install.state == InstallState::Outdated).collect();
        let update = match outdated.as_slice() {
            [] => None,
            [only] => Some(typed!("gsd-tools update {}", only.flags)),
            _ => Some(typed!("gsd-tools update")),
        };
        if let Some(update) = update {
            text += &screen.commands(&screen.prose("  ", "  ", &format!("Update: `{update}`")));
        }
        text + &screen.commands(&screen.prose("  ", "  ", &self.program.to_string()))
    }
}

impl Job {
    /// Shows which installs are not at the version of this program.
    pub(super) fn check(&self, context: &mut Context) -> Result<(), Failure> {
        let registry = context.registry()?.clone();
        let library = Library::embedded().map_err(InstallError::from)?;
        let disk = context.disk();
        let mut report = UpdateCheckReport {
            version: install::version(context.world()),
            program: origin(context)?,
            installs: Vec::new(),
        };
        {
            let installer = installer(context, &disk, &registry, &library)?;
            let choices = self.choices(context, &installer)?.unwrap_or_default();
            for (choice, planned) in self.look(context, &installer, choices) {
                report.installs.push(match planned {
                    Ok((target, plan)) => CheckedInstall::new(&target, &plan, &report.version),
                    Err(error) => CheckedInstall {
                        runtime: choice.host.id.to_string(),
                        name: choice.host.name.clone(),
                        scope: choice.scope,
                        root: String::new(),
                        shown: String::new(),
                        flags: Typed::default(),
                        version: None,
                        state: InstallState::Unknown,
                        changes: 0,
                        error: Some(chain(&error)),
                    },
                });
            }
        }
        let is_current = report.installs.iter().all(|install| install.state == InstallState::Current);
        context.exit_with(u8::from(!is_current));
        if self.which.json {
            return context.emit(&report);
        }
        context.text(report.text(context.page()));
        Ok(())
    }
}
