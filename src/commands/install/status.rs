//! What `status` says: one report for programs, the same in sentences for people.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::report::{OWN_IT, TWICE, chain};
use crate::install::{Drift, InstallError, Status, Target};
use crate::operations::answers::finding::{Finding, Severity};

/// What `status` found.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::commands) struct StatusReport {
    installs: Vec<HostStatus>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HostStatus {
    runtime: String,
    #[serde(skip)]
    name: String,
    scope: &'static str,
    root: String,
    #[serde(flatten)]
    status: Option<Status>,
    /// Why the state of the install is not known.
    error: Option<String>,
    /// What is not as it should be.
    findings: Vec<Finding>,
}

impl HostStatus {
    fn is_as_left(&self) -> bool {
        self.status.is_some() && self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

/// What is not as it should be with an install. What keeps it from being as we left it is an error.
fn findings(status: &Status) -> Vec<Finding> {
    let mut found = Vec::new();
    if status.from_repository {
        found.push(Finding::warning(
            "install-from-repository",
            format!("an install came with this repository: {OWN_IT}"),
        ));
    }
    if status.unfinished {
        let what = "a write was cut short";
        found.push(Finding::error("write-unfinished", what).cure("run `gsd-tools recover`").fix("gsd-tools recover"));
    }
    if status.plugin {
        found.push(Finding::warning("plugin-as-well", TWICE));
    }
    found.extend(status.drift.iter().map(|drift| match drift {
        Drift::Missing { path } => Finding::error("file-missing", "missing").at(path),
        Drift::Edited { path } => Finding::error("file-changed", "changed").at(path),
        Drift::EditMissing { path } => Finding::error("edit-missing", "our part is not whole").at(path),
        Drift::Unreadable { path, why } => {
            Finding::error("file-unreadable", format!("cannot be read ({why})")).at(path)
        }
    }));
    found
}

impl StatusReport {
    pub(super) fn push(&mut self, target: &Target, status: Result<Status, InstallError>) {
        let error = status.as_ref().err().map(chain);
        self.installs.push(HostStatus {
            runtime: target.descriptor.id.to_string(),
            name: target.descriptor.name.clone(),
            scope: target.scope.word(),
            root: target.root.to_string(),
            findings: status.as_ref().map_or_else(|_| Vec::new(), findings),
            status: status.ok(),
            error,
        });
    }

    /// 1 if anything is not as it was left.
    pub(super) fn exit_code(&self) -> u8 {
        u8::from(!self.installs.iter().all(HostStatus::is_as_left))
    }

    pub(super) fn text(&self) -> String {
        if self.installs.is_empty() {
            return "Nothing is installed. `gsd-tools install --help` says how.\n".to_owned();
        }
        let mut text = String::new();
        for host in &self.installs {
            // Writing to a string cannot fail.
            let Some(Status { version, files, .. }) = &host.status else {
                let error = host.error.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{} ({}): {error}", host.name, host.scope);
                continue;
            };
            let _ = match version {
                Some(version) => {
                    writeln!(text, "{} ({}): version {version}, {files} files in {}", host.name, host.scope, host.root)
                }
                None => writeln!(text, "{} ({}): not installed in {}", host.name, host.scope, host.root),
            };
            for finding in &host.findings {
                let _ = writeln!(text, "  {}", finding.line());
            }
        }
        text
    }
}
