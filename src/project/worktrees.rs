//! The worktrees of a repository, as git lists them.

/// A worktree in the output of `git worktree list --porcelain -z`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedWorktree {
    pub(crate) path: String,
    /// The commit; `None` before the first one, and for a bare repository.
    pub(crate) head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`; `None` if a commit is checked out.
    pub(crate) branch: Option<String>,
    /// The reason of its lock, if it is locked.
    pub(crate) lock: Option<String>,
    /// Whether git would prune it, since its folder is gone.
    pub(crate) is_prunable: bool,
}

/// The worktrees in git's output, the main one first.
pub(crate) fn listed(answer: &str) -> Vec<ListedWorktree> {
    let worktree = |block: &str| {
        let mut found = ListedWorktree::default();
        for line in block.split('\0') {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "worktree" => value.clone_into(&mut found.path),
                "HEAD" => found.head = Some(value.to_owned()).filter(|head| head.bytes().any(|byte| byte != b'0')),
                "branch" => found.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
                "locked" => found.lock = Some(value.to_owned()),
                "prunable" => found.is_prunable = true,
                _ => {}
            }
        }
        (!found.path.is_empty()).then_some(found)
    };
    answer.split("\0\0").filter_map(worktree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worktree_list_of_git_is_read() {
        let answer = "worktree /r\0HEAD 12ab\0branch refs/heads/main\0\0worktree /w x\0HEAD 34cd\0detached\0locked two\nlines\0\
                      prunable gitdir file points to non-existent location\0\0worktree /n\0HEAD 0000\0branch refs/heads/a/b\0\
                      locked\0\0";
        let [main, linked, new] = &listed(answer)[..] else { panic!("three are listed") };
        assert_eq!((main.path.as_str(), main.branch.as_deref(), main.lock.as_deref()), ("/r", Some("main"), None));
        assert_eq!((linked.path.as_str(), linked.branch.as_deref()), ("/w x", None));
        assert_eq!((linked.lock.as_deref(), linked.is_prunable), (Some("two\nlines"), true));
        assert_eq!((new.head.as_deref(), new.branch.as_deref(), new.lock.as_deref()), (None, Some("a/b"), Some("")));
        assert!(listed("").is_empty() && listed("\0\0\0nonsense").is_empty());
    }
}
