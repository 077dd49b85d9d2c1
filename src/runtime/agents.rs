//! The part of a descriptor that is about agents: how one is started, and what the host does with it.

use std::collections::BTreeMap;

use crate::text::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a workflow asks for an agent. The default is the canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Spawn {
    /// The tool; `{agent}` where each agent is a tool of its own, `{agent_}` where that has `_` for each `-`. With
    /// `{prompt}` it is a line of a shell, and nothing but the prompt goes into it.
    pub(crate) call: String,
    /// The parameter that names the agent; absent where the tool itself does.
    pub(crate) agent: Option<String>,
    pub(crate) prompt: String,
    /// What the tool calls the other parameters, by their canonical names; it has none for those left out, which no call
    /// then has. Absent where its parameters were not seen.
    #[serde(default)]
    pub(crate) arguments: Option<BTreeMap<String, String>>,
    /// What every call needs here to do what the canonical one does, in the host's words.
    #[serde(default)]
    pub(crate) always: Option<String>,
    /// Where the host knows no agents but its own, so that ours are texts: what a prompt begins with to make the agent
    /// read the one that is its role, `{file}`.
    #[serde(default)]
    pub(crate) role: Option<String>,
}

impl Spawn {
    /// Whether agents are started by a line of a shell.
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

/// How the host runs agents. What is left out is not documented.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Dispatch {
    /// An agent is started by its name.
    pub(crate) named: Option<bool>,
    /// Agents may start agents.
    pub(crate) nested: Option<bool>,
    /// How deep.
    pub(crate) depth: Option<i64>,
    /// An agent may run while its caller goes on.
    pub(crate) background: Option<bool>,
    /// What an agent's tools may do.
    pub(crate) tools: Option<AgentReach>,
    /// An agent in the background may start agents.
    pub(crate) nested_background: Option<bool>,
    pub(crate) isolation: Option<Isolation>,
    /// How many agents run at once.
    pub(crate) concurrency: Option<u32>,
    /// What a call says to get a worktree of the host's own.
    pub(crate) isolation_flag: Option<String>,
    /// How the branches of the host's own worktrees begin.
    pub(crate) worktree_branch: Option<String>,
    /// What a call says to start an agent in a worktree that is there already, `{folder}`.
    pub(crate) start_in: Option<String>,
    /// How an agent is started in a worktree that is there already: the program and its arguments, `{folder}` for the
    /// worktree, `{prompt}` for its prompt. Without a prompt, the argument is left out.
    pub(crate) run_in: Option<Vec<String>>,
    /// The same for other major versions of that program, by the first number of their version. It starts in the worktree.
    #[serde(default)]
    pub(crate) run_in_majors: BTreeMap<String, Vec<String>>,
    /// The setting for the commit that the host's worktrees start from.
    pub(crate) start_commit: Option<StartCommit>,
    /// The variable that lets agents work as a team.
    pub(crate) teams_variable: Option<String>,
}

words! {
    /// Who gives an agent a worktree of its own.
    #[derive(Serialize, JsonSchema)]
    pub(crate) enum Isolation {
        /// The host, when it starts the agent.
        HarnessWorktree = "harness-worktree",
        /// Whoever starts the agent, before.
        OrchestratorWorktree = "orchestrator-worktree",
        /// Nobody.
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
