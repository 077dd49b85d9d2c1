//! The part of a descriptor about agents: how one is started, and what the host can do with it.

use std::collections::BTreeMap;

use crate::text::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a workflow asks for an agent. The default is the canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Spawn {
    /// The tool. `{agent}` is used if each agent is a separate tool, `{agent_}` if that tool has `_` for each `-`. With
    /// `{prompt}` it is a shell line, and only the prompt is inserted.
    pub(crate) call: String,
    /// The parameter that names the agent; absent if the tool itself names it.
    pub(crate) agent: Option<String>,
    pub(crate) prompt: String,
    /// The tool's names of the other parameters, by their canonical names. It does not have those left out, so calls do
    /// not pass them. Absent if its parameters are not known.
    #[serde(default)]
    pub(crate) arguments: Option<BTreeMap<String, String>>,
    /// What every call on this host must add to do the same as the canonical one, in the host's terms.
    #[serde(default)]
    pub(crate) always: Option<String>,
    /// For a host that only has its built-in agents, so that ours are texts: the start of a prompt that makes the agent
    /// read its role, `{file}`.
    #[serde(default)]
    pub(crate) role: Option<String>,
}

impl Spawn {
    /// True if agents are started by a shell line.
    pub(crate) fn is_line(&self) -> bool {
        self.call.contains("{prompt}")
    }
}

impl Default for Spawn {
    fn default() -> Self {
        Spawn {
            call: "Task".to_owned(),
            agent: Some("subagent_type".to_owned()),
            prompt: "prompt".to_owned(),
            arguments: None,
            always: None,
            role: None,
        }
    }
}

/// How the host runs agents. A missing field means undocumented.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Dispatch {
    /// An agent can be started by its name.
    pub(crate) named: Option<bool>,
    /// Agents may start agents.
    pub(crate) nested: Option<bool>,
    /// The maximum depth of agents started by agents.
    pub(crate) depth: Option<i64>,
    /// An agent may run while its caller continues.
    pub(crate) background: Option<bool>,
    /// What an agent's tools may do.
    pub(crate) tools: Option<AgentReach>,
    /// An agent in the background may start agents.
    pub(crate) nested_background: Option<bool>,
    pub(crate) isolation: Option<Isolation>,
    /// How many agents run at once.
    pub(crate) concurrency: Option<u32>,
    /// What a call adds to get a worktree made by the host.
    pub(crate) isolation_flag: Option<String>,
    /// The prefix of the branches of worktrees made by the host.
    pub(crate) worktree_branch: Option<String>,
    /// What a call adds to start an agent in an existing worktree, `{folder}`.
    pub(crate) start_in: Option<String>,
    /// How to start an agent in an existing worktree: the program and its arguments, `{folder}` for the worktree,
    /// `{prompt}` for its prompt. Without a prompt, that argument is left out.
    pub(crate) run_in: Option<Vec<String>>,
    /// The same for other major versions of that program, keyed by the first number of their version. It starts in the
    /// worktree.
    #[serde(default)]
    pub(crate) run_in_majors: BTreeMap<String, Vec<String>>,
    /// The setting for the commit that the host's worktrees start from.
    pub(crate) start_commit: Option<StartCommit>,
    /// The variable that lets agents work as a team.
    pub(crate) teams_variable: Option<String>,
}

words! {
    /// Who gives an agent its own worktree.
    #[derive(Serialize, JsonSchema)]
    pub(crate) enum Isolation {
        /// The host, when it starts the agent.
        HarnessWorktree = "harness-worktree",
        /// The caller, before it starts the agent.
        OrchestratorWorktree = "orchestrator-worktree",
        /// Agents get no worktree.
        None = "none",
    }
}

/// What the tools of an agent may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AgentReach {
    Full,
    ReadOnly,
}

/// A setting in one of the host's files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct StartCommit {
    /// One of `files`.
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}
