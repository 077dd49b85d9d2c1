//! Context bundles: everything a workflow asks for at its start, in one answer.
//!
//! A bundle is a pure function of the project, its configuration and [`Facts`] from outside, which `commands` gathers.
//! Paths in bundles are absolute. Every bundle ends with the same fields, [`Common`].

pub(crate) mod batch;
pub(crate) mod code;
mod completion;
pub(crate) mod docs;
pub(crate) mod execute_phase;
pub(crate) mod manager;
pub(crate) mod milestone;
pub(crate) mod onboard;
pub(crate) mod phase;
pub(crate) mod plan_phase;
pub(crate) mod progress;
pub(crate) mod project;
pub(crate) mod quick;
pub(crate) mod review;
mod sections;
mod verify_commands;
pub(crate) mod verify_work;
pub(crate) mod workflow;
pub(crate) mod workspaces;
pub(crate) mod yolo;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::auto_chain::AutoMode;
use crate::project::config::Config;
use crate::project::files::FileError;
use crate::project::view::ProjectView;

use crate::operations::agents::models;
use crate::operations::state;

pub(crate) use execute_phase::ExecutePhaseRequest;
pub(crate) use milestone::MilestoneHistory;
pub(crate) use onboard::OnboardRequest;
pub(crate) use plan_phase::PlanPhaseRequest;
pub(crate) use project::{CodeFacts, SearchFacts};
pub(crate) use quick::QuickRequest;
pub(crate) use workspaces::{
    ChildRepository, NewWorkspaceReport, RemoveWorkspaceReport, Workspace, WorkspaceReport, WorkspacesReport,
};
pub(crate) use yolo::YoloRequest;

/// What a bundle tells that stands in no document of the project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The host of the call.
    pub(crate) runtime: String,
    /// What stands before the name of a command where people type it, such as `/gsd-`.
    pub(crate) command_prefix: String,
    /// Where the host looks for agents.
    pub(crate) agents_folder: Option<String>,
    /// The profile of the user, where there is one.
    pub(crate) user_profile: Option<String>,
    /// The agents of ours that are not there.
    pub(crate) missing_agents: Vec<String>,
    /// Whether git is told to leave the project's documents out.
    pub(crate) documents_ignored: bool,
    /// Whether workflows go on by themselves.
    pub(crate) auto: AutoMode,
    /// What the next step rests on.
    pub(crate) next: state::Facts,
}

/// When a bundle is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moment {
    /// Where the user is: the day, as `2026-01-02`, and the second since it began.
    pub(crate) day: String,
    pub(crate) second: u32,
    /// In UTC.
    pub(crate) timestamp: String,
}

/// What every bundle is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundle<'call> {
    pub(crate) view: &'call ProjectView,
    pub(crate) config: &'call Config,
    pub(crate) facts: &'call Facts,
}

/// A bundle with the fields all of them end with.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Complete<R> {
    #[serde(flatten)]
    pub(crate) report: R,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Common {
    project_root: String,
    agents_installed: bool,
    missing_agents: Vec<String>,
    agents_dir: Option<String>,
    agent_runtime: String,
    /// Agents that the project gives skills; absent where it gives none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents_with_skills: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_language: Option<String>,
    /// What the agent concentrates on, where the project says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_title: Option<String>,
}

/// Whether a workflow goes on by itself, and how much it asks.
#[derive(Debug, Serialize, JsonSchema)]
struct Automation {
    auto_advance: bool,
    auto_chain_active: bool,
    mode: Option<String>,
}

/// Settings of a workflow by their names without the section.
type Settings = BTreeMap<&'static str, Value>;

impl Bundle<'_> {
    /// The values that hold for `keys`; one that has no value is left out.
    fn settings(&self, keys: &[&'static str]) -> Settings {
        let named = keys.iter().map(|key| (key.rsplit('.').next().unwrap_or(key), self.config.value(key).clone()));
        named.filter(|(_, value)| !value.is_null()).collect()
    }

    fn automation(&self) -> Automation {
        Automation {
            auto_advance: self.facts.auto.advance(),
            auto_chain_active: self.facts.auto.chain(),
            mode: self.config.text("mode").map(str::to_owned),
        }
    }

    fn complete<R>(&self, report: R) -> Result<Complete<R>, FileError> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let common = Common {
            project_root: self.shown(""),
            agents_installed: self.facts.missing_agents.is_empty(),
            missing_agents: self.facts.missing_agents.clone(),
            agents_dir: self.facts.agents_folder.clone(),
            agent_runtime: self.facts.runtime.clone(),
            agents_with_skills: self.config.entries("agent_skills").map(|(agent, _)| agent.to_owned()).collect(),
            response_language: owned(self.config.text("response_language")),
            context: owned(self.config.text("context")),
            project_code: owned(self.config.project_code()),
            project_title: self.view.project_title()?,
        };
        Ok(Complete { report, common })
    }

    fn model(&self, agent: &str) -> String {
        models::model(self.config, &self.facts.runtime, agent).model
    }

    /// Whether the project's documents are committed. What git is told to leave out is not, unless the project says so.
    fn commit_docs(&self) -> bool {
        let says = ["commit_docs", "planning.commit_docs"].iter().any(|key| self.config.written(key).is_some());
        self.config.commit_docs() && (says || !self.config.has_file() || !self.facts.documents_ignored)
    }

    /// A path as bundles tell it.
    fn shown(&self, path: &str) -> String {
        self.view.layout().shown(path)
    }

    /// As [`Self::shown`]; none where nothing is there.
    fn shown_if_there(&self, path: &str) -> Option<String> {
        self.view.exists(path).then(|| self.shown(path))
    }

    fn planning_exists(&self) -> bool {
        self.view.exists(self.view.layout().planning())
    }

    /// Whether the folder of the workstream at work is there; without a workstream, the planning folder.
    fn scope_exists(&self) -> bool {
        self.view.exists(&self.view.layout().scope())
    }

    fn roadmap_exists(&self) -> bool {
        self.view.exists(&self.view.layout().roadmap())
    }
}

#[cfg(test)]
mod tests;
