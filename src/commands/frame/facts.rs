//! Facts that operations need besides the documents: the time, the session, the current commit, the installed commands.

use super::Context;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::library;
use crate::operations::health::WrittenAt;
use crate::operations::state::{Commands, Facts};
use crate::project::auto_run::Runs;
use crate::project::head::Head;
use crate::project::state::State;
use crate::project::view::ProjectView;
use crate::project::workstream;

impl Context {
    /// The commit that STATE.md says it was written at, and how many came after it.
    pub(in crate::commands) fn written_at(&self, view: &ProjectView) -> Option<WrittenAt> {
        let text = view.state_text().ok().flatten()?;
        let is_hash = |head: &String| head.len() >= 7 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
        let head = State::parse(&text).front_text("state_head").filter(is_hash)?;
        Some(WrittenAt { commits: self.commits_since(&head)?, head })
    }

    /// The facts of a state operation that need neither another program nor the configuration.
    pub(in crate::commands) fn moment(&self) -> Facts {
        let world = self.world();
        let now = world.now();
        Facts {
            now: now.to_string(),
            milliseconds: now.milliseconds(),
            today: world.today(),
            head: None,
            session: workstream::session_key(|name| world.variable(name)),
            process: world.process(),
            is_unit: world.is_unit(),
            commands: Commands::default(),
            runs: Runs::default(),
        }
    }

    /// The facts of an answer that shows what comes next.
    pub(in crate::commands) fn next_facts(&self) -> Result<Facts, Failure> {
        Ok(Facts { commands: self.commands()?, runs: self.runs(self.root()), ..self.moment() })
    }

    /// The runs of `auto` in the project at `root`; a session of a run looks for none.
    pub(in crate::commands) fn runs(&self, root: &AbsolutePath) -> Runs {
        let world = self.world();
        if world.is_unit() {
            return Runs::default();
        }
        Runs::of(world.state_folder().as_deref(), &world.lock_folders(), root)
    }

    /// The commands that the next step is told in.
    pub(in crate::commands) fn commands(&self) -> Result<Commands, Failure> {
        Ok(Commands {
            prefix: self.command_prefix()?.to_owned(),
            installed: library::command_names().map(str::to_owned).collect(),
            skip_discussion: self.config()?.flag("workflow.skip_discuss"),
        })
    }

    /// As [`Self::moment`], with the commands, and with the commit the work stands on, where the project is one repository of its own.
    pub(in crate::commands) fn state_facts(&self) -> Result<Facts, Failure> {
        let own = disk::exists(self.root().resolve(".git")) && self.config()?.sub_repositories().is_empty();
        let head = own.then(|| self.commit()).flatten();
        Ok(Facts { head, commands: self.commands()?, ..self.moment() })
    }

    /// The commit that is checked out in the project; `None` outside of a repository, and before its first commit.
    pub(in crate::commands) fn commit(&self) -> Option<String> {
        Head::commit_at(self.root(), |arguments| self.git_answer(arguments))
    }

    /// The branch that is checked out in the project; `None` where a commit is.
    pub(in crate::commands) fn branch(&self) -> Option<String> {
        Head::branch_at(self.root(), |arguments| self.git_answer(arguments))
    }

    fn git_answer(&self, arguments: &[&str]) -> Option<String> {
        let finished = self.world().git(self.root().as_path(), arguments).ok()?;
        Some(finished.text()).filter(|text| finished.success() && !text.is_empty())
    }

    /// Whether `name` names a commit of the project's repository.
    pub(in crate::commands) fn is_commit(&self, name: &str) -> bool {
        let answer = self.world().git(self.root().as_path(), ["cat-file", "-t", name]);
        answer.is_ok_and(|answer| answer.success() && answer.text() == "commit")
    }
}
