//! The settings of a repository, read from git's files if that is reliable: starting git takes longer.

use std::path::Path;

use super::head::Head;
use super::repository::{GitPlace, repository_of};
use crate::disk::{self, AbsolutePath};

/// True if the settings of the repository at `folder` surely define no file filter: they contain neither the word
/// `filter` nor an include. False if only git can decide.
pub(crate) fn names_no_filter(folder: &Path) -> bool {
    let root = AbsolutePath::parse(folder).ok().and_then(|folder| repository_of(&disk::canonical(&folder).ok()?));
    // If git does not accept this folder as a repository, it uses the one around it.
    let Some(root) = root.filter(|root| Head::of(root).is_some()) else { return false };
    let Some(GitPlace { own, common }) = GitPlace::of(&root) else { return false };
    let settings = [common.resolve("config"), own.resolve("config.worktree"), own.resolve("config")];
    settings.into_iter().all(|file| {
        let Ok(text) = disk::read_config(file) else { return false };
        let text = text.unwrap_or_default().to_ascii_lowercase();
        !text.contains("filter") && !text.contains("include")
    })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "git makes the repositories")]
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let settings = ["-c", "user.name=n", "-c", "user.email=e@x.invalid"];
        let mut git = Command::new("git");
        git.current_dir(folder).args(settings).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }

    #[test]
    fn settings_with_a_filter_in_any_form_are_never_reported_without_one() {
        let temporary = crate::testing::folder();
        let base = temporary.path().canonicalize().unwrap();
        let (root, below, linked) = (base.join("r"), base.join("r/below"), base.join("linked"));
        std::fs::create_dir_all(&below).unwrap();
        assert!(!names_no_filter(&root), "there is no repository");
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", "c"]);
        git(&root, &["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "b"]);
        let all = [&root, &below, &linked];
        assert!(all.into_iter().all(|folder| names_no_filter(folder)));
        let config = root.join(".git/config");
        let plain = std::fs::read_to_string(&config).unwrap();
        for more in [
            "[filter \"x\"]\n\tclean = evil\n",
            "[FiLtEr \"x\"] clean = evil\n",
            "[filter.x]\nprocess = evil\n",
            "[include]\npath = other\n",
            "[includeIf \"gitdir:/\"]\npath = other\n",
            "[core]\n# \u{e9}\n[Include]path=other",
        ] {
            std::fs::write(&config, format!("{plain}{more}")).unwrap();
            assert!(all.into_iter().all(|folder| !names_no_filter(folder)), "{more}");
        }
        std::fs::write(&config, &plain).unwrap();
        git(&root, &["config", "extensions.worktreeConfig", "true"]);
        let own = std::fs::read_dir(root.join(".git/worktrees")).unwrap().next().unwrap().unwrap().path();
        std::fs::write(own.join("config.worktree"), "[filter \"x\"]\nclean = evil\n").unwrap();
        assert!(names_no_filter(&root) && !names_no_filter(&linked));
        // A folder that git does not accept as a repository is not one for us either: the settings of the one around it
        // count.
        std::fs::create_dir_all(below.join(".git")).unwrap();
        std::fs::write(below.join(".git/config"), &plain).unwrap();
        std::fs::write(&config, format!("{plain}[filter \"x\"]\nclean = evil\n")).unwrap();
        assert!(!names_no_filter(&below));
    }
}
