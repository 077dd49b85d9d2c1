//! The next step in answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::Facts;
use crate::project::files::FileError;
use crate::project::next::{Around, Next};
use crate::project::up_next::NextCall;
use crate::project::view::ProjectView;

/// The next step in the project, the same in every answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NextReport {
    /// What to type: a command in the host, or a call of this program in a terminal.
    pub(crate) command: String,
    /// The reason, in a sentence.
    pub(crate) why: String,
    /// The workflow that does it; absent if this program does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workflow: Option<&'static str>,
    /// The arguments of the workflow.
    pub(crate) arguments: String,
    /// The phase concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// What waits for a person without blocking the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<String>,
}

/// Finds the next step. Facts about runs of `auto` take precedence over documents.
pub(crate) fn next(view: &ProjectView, facts: &Facts) -> Result<Next, FileError> {
    Next::of(view, &Around { skips_discussion: facts.commands.skip_discussion, runs: facts.runs.clone() })
}

impl NextReport {
    pub(crate) fn in_project(view: &ProjectView, facts: &Facts) -> Result<Self, FileError> {
        Self::of(&next(view, facts)?, view, facts)
    }

    pub(crate) fn of(next: &Next, view: &ProjectView, facts: &Facts) -> Result<Self, FileError> {
        let call = call(next, facts);
        let (workflow, arguments) = match &call {
            NextCall::Host { name, arguments } => (Some(workflow_of(name)), arguments.clone()),
            NextCall::Program(_) => (None, String::new()),
        };
        Ok(Self {
            command: typed(&call, facts),
            why: next.why(),
            workflow,
            arguments,
            phase: next.phase_number().map(str::to_owned),
            waiting: next.waits_for_a_person(view)?,
        })
    }
}

/// The call that does the next step, with the commands that are installed.
pub(super) fn call(next: &Next, facts: &Facts) -> NextCall {
    next.call(|name| facts.commands.installed.iter().any(|installed| installed == name))
}

/// The call as a person types it in the calling host.
pub(super) fn typed(call: &NextCall, facts: &Facts) -> String {
    call.typed(|name| format!("{}{name}", facts.commands.prefix))
}

/// The workflow of a command, by its name.
fn workflow_of(command: &'static str) -> &'static str {
    match command {
        "resume-work" => "resume-project",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;

    #[test]
    fn every_next_command_has_the_workflow_that_the_answer_names() {
        let library = Library::embedded().unwrap();
        for command in [
            "new-project",
            "new-milestone",
            "resume-work",
            "discuss-phase",
            "plan-phase",
            "execute-phase",
            "verify-work",
            "audit-milestone",
            "complete-milestone",
            "progress",
        ] {
            let workflow = format!("workflows/{}.md", workflow_of(command));
            assert!(library.at(&workflow).is_some(), "{workflow}");
            let text = library.at(&format!("commands/{command}.md")).map(|item| item.body.clone());
            assert!(text.is_none_or(|text| text.contains(&workflow)), "{command} follows another workflow");
        }
    }
}
