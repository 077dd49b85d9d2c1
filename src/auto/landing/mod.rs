//! Worktrees, candidates, and how a tested tree reaches the branch it is for.
