//! The set-up that prepares a worktree for agents and checks: files that are copied into it, and a command that is run
//! in it. A person approves it, since it comes from the repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::Digest;

/// The list of files that are copied from the person's checkout, in the syntax of `.gitignore`. Only files that git
/// ignores are copied.
pub(crate) const INCLUDE: &str = ".worktreeinclude";

/// The preference with the command.
pub(crate) const COMMAND: &str = "git.worktree_post_create";

/// The set-up of worktrees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetUp {
    /// A shell command line.
    pub(crate) command: Option<String>,
    /// The text of the list.
    pub(crate) include: Option<String>,
}

impl SetUp {
    /// A set-up; blank parts are left out.
    pub(crate) fn new(command: Option<String>, include: Option<String>) -> Self {
        let is_said = |text: &String| !text.trim().is_empty();
        Self { command: command.filter(is_said), include: include.filter(is_said) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_none() && self.include.is_none()
    }

    /// The digest that a person approves: another command or another list has another digest.
    pub(crate) fn digest(&self) -> Digest {
        let of =
            |text: &Option<String>| text.as_ref().map_or_else(String::new, |text| format!("{}:{text}", text.len()));
        Digest::of(format!("set-up\0{}\0{}", of(&self.command), of(&self.include)).as_bytes())
    }

    /// The patterns of the list, without its comments.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        let lines = self.include.iter().flat_map(|text| text.lines()).map(str::trim_end);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
    }

    /// True if the list names a folder, so that what is copied of it is decided there.
    pub(crate) fn names(&self, folder: &str) -> bool {
        let bare = |pattern: &str| pattern.trim_start_matches('/').trim_end_matches(['/', '*']).to_owned();
        self.patterns().map(bare).any(|name| {
            let rest = folder.strip_suffix(name.as_str()).unwrap_or("-");
            !name.is_empty() && (rest.is_empty() || rest.ends_with('/') || name.starts_with(&format!("{folder}/")))
        })
    }

    /// Returns the set-up as recorded in a log; `None` if it is empty.
    pub(crate) fn named(&self) -> Option<Named> {
        let copies = self.patterns().map(str::to_owned).collect();
        let named = Named { command: self.command.clone(), copies, digest: self.digest().to_string() };
        (!self.is_empty()).then_some(named)
    }
}

/// The most characters of it that are shown in a line.
const MOST: usize = 200;

/// The set-up of a run, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Named {
    /// The command that is run in each new worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Patterns of ignored files that are copied into each worktree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) copies: Vec<String>,
    /// Another command or another list has another digest.
    pub(crate) digest: String,
}

impl std::fmt::Display for Named {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = self.command.iter().map(|command| format!("`{command}`"));
        let copies = (!self.copies.is_empty()).then(|| format!("copies of {}", self.copies.join(", ")));
        let all = command.chain(copies).collect::<Vec<_>>().join(", ");
        formatter.write_str(&crate::text::untrusted::line(&all, MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_command_or_another_list_has_another_digest() {
        let of = |command: &str, include: &str| SetUp::new(Some(command.to_owned()), Some(include.to_owned()));
        let all = [of("a", "b"), of("ab", ""), of("", "ab"), of("", ""), of("a", "b\n")];
        let digests: std::collections::BTreeSet<String> = all.iter().map(|one| one.digest().to_string()).collect();
        assert_eq!(digests.len(), all.len());
        assert!(of(" ", "\n").is_empty() && of(" ", "").named().is_none());
        let shown = of("npm ci", "# local\n.env\n\nconfig/*.local\n").named().unwrap().to_string();
        assert_eq!(shown, "`npm ci`, copies of .env, config/*.local");
        let listed = of("", "/.venv/\n!deps\nnode_modules/a/*\n");
        assert!(
            listed.names(".venv") && listed.names("node_modules") && !listed.names("venv") && !listed.names("vendor")
        );
    }
}
