//! Reads from git's files what is checked out in a repository. Starting git takes longer than everything else most
//! calls do.
//!
//! The result is what git would report, or `None`; the caller then asks git. It is `None` for everything that may be
//! read differently from git (another store of references, settings of a later git, links, names that git or a shell
//! would not accept), and for a repository that git would refuse to read or that `.git` only claims for this folder.
//!
//! The answer is `None` for reftable and SHA-256 repositories, settings of a later git, links, a repository that
//! another user owns, and one that a `.git` file only claims for the folder (`repository_of_others`). Sizes are
//! limited. A test compares the answers with git's over random files.

use super::branch_name::is_branch_name;
use super::repository::{self, common_folder, git_folder};
use crate::disk::{self, AbsolutePath};

/// The maximum size of a reference, in bytes.
const LONGEST_REFERENCE: u64 = 4 << 10;
/// The maximum size of packed references in bytes: more would take longer to read than starting git.
const LONGEST_PACKED: u64 = 4 << 20;
/// The length of a SHA-1 commit hash in hexadecimal digits.
const DIGITS: usize = 40;

/// The settings below `extensions` that do not affect where HEAD and branches are stored, in lower case.
const HARMLESS: &[&str] = &["noop", "partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"];

/// What is checked out: a branch, a commit, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The branch, such as `main`; `None` if a commit is checked out.
    pub(crate) branch: Option<String>,
    /// The commit; `None` on a branch without commits.
    pub(crate) commit: Option<String>,
}

/// The content of a HEAD file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pointer {
    /// A branch, such as `main`.
    Branch(String),
    Commit,
}

impl Pointer {
    /// Parses the content; `None` if it is neither. The branch may have any name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.strip_prefix("ref: refs/heads/") {
            Some(name) => Some(Self::Branch(name.to_owned())),
            None => (text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(Self::Commit),
        }
    }
}

impl Head {
    /// The branch that is checked out in the repository or worktree with the root `root`, such as `main`; `None` if a
    /// commit is checked out, or outside a repository. `git` runs git, and is called only if git's files do not give
    /// the answer.
    pub(crate) fn branch_at(root: &AbsolutePath, git: impl FnOnce(&[&str]) -> Option<String>) -> Option<String> {
        if let Some(head) = Self::of(root) {
            return head.branch;
        }
        Self::branch_by(git)
    }

    /// As [`Self::branch_at`], but always asks git.
    pub(crate) fn branch_by(git: impl FnOnce(&[&str]) -> Option<String>) -> Option<String> {
        let name = git(&["symbolic-ref", "-q", "HEAD"])?;
        Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned())
    }

    /// As [`Self::branch_at`], but returns the commit; `None` also before the first one.
    pub(crate) fn commit_at(root: &AbsolutePath, git: impl FnOnce(&[&str]) -> Option<String>) -> Option<String> {
        match Self::of(root) {
            Some(head) => head.commit,
            None => Self::commit_by(git),
        }
    }

    /// As [`Self::commit_at`], but always asks git.
    pub(crate) fn commit_by(git: impl FnOnce(&[&str]) -> Option<String>) -> Option<String> {
        git(&["rev-parse", "--verify", "--quiet", "HEAD"])
    }

    /// Reads what is checked out in the repository or worktree with the root `root`; `None` if only git can decide.
    pub(crate) fn of(root: &AbsolutePath) -> Option<Self> {
        let root = disk::canonical(root).ok()?;
        let mark = root.resolve(".git");
        if disk::is_link(&mark) || repository::repository_of_others(&root).is_some() {
            return None;
        }
        let place = git_folder(&root)?;
        let common = common_folder(&place)?;
        // Git reads nothing in a repository that another user owns.
        let are_own = [&root, &mark, &place, &common].into_iter().all(disk::is_own);
        // Without these, git does not accept the folder as a repository and looks in the one above.
        let is_whole = ["objects", "refs"].into_iter().all(|name| disk::is_folder(common.resolve(name)));
        if !are_own || !is_whole || !keeps_references_in_files(&common, &place) {
            return None;
        }
        let text = reference(&place, "HEAD")??;
        let (branch, name) = match Pointer::parse(&text)? {
            Pointer::Commit => (None, "HEAD".to_owned()),
            Pointer::Branch(branch) if is_branch_name(&branch) => {
                let name = format!("refs/heads/{branch}");
                (Some(branch), name)
            }
            Pointer::Branch(_) => return None,
        };
        // The order matters: git packs a loose reference before it removes the loose file.
        let loose = if branch.is_some() { reference(&common, &name)? } else { Some(text) };
        let packed = packed(&common, &name)?;
        // A branch can also refer to another branch.
        let commit = loose.map_or(Some(packed), |text| commit(&text).map(Some))?;
        Some(Self { branch, commit })
    }
}

/// The commit of a packed reference: `Some(None)` if the reference is not packed, `None` if that is unclear. Git reads
/// no packed reference if one line is malformed.
#[expect(clippy::option_option, reason = "one is what git says, the other that it has to be asked")]
fn packed(common: &AbsolutePath, name: &str) -> Option<Option<String>> {
    let bytes = disk::read_up_to(plain(common, "packed-refs")?, LONGEST_PACKED).ok()?.unwrap_or_default();
    let text = String::from_utf8(bytes).ok()?;
    let mut found = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n')?;
        match line.split_once(' ') {
            Some(("#", _)) if number == 0 => {}
            Some((digits, packed)) => {
                let commit = commit(digits).filter(|commit| commit.len() == digits.len())?;
                found = found.or_else(|| (packed == name).then_some(commit));
            }
            None => drop(line.strip_prefix('^').and_then(commit)?),
        }
    }
    Some(found)
}

/// The text of a reference in a git folder: `Some(None)` if the file does not exist, `None` if it cannot be read here.
#[expect(clippy::option_option, reason = "one is what git says, the other that it has to be asked")]
fn reference(folder: &AbsolutePath, name: &str) -> Option<Option<String>> {
    let bytes = disk::read_up_to(plain(folder, name)?, LONGEST_REFERENCE).ok()?;
    bytes.map(|bytes| String::from_utf8(bytes).ok()).map_or(Some(None), |text| text.map(Some))
}

/// The path of a file in a git folder, if no link leads elsewhere.
fn plain(folder: &AbsolutePath, name: &str) -> Option<AbsolutePath> {
    let path = folder.resolve(name);
    (disk::real(&path).ok()? == path).then_some(path)
}

/// A commit hash, as git prints it.
fn commit(text: &str) -> Option<String> {
    let text = text.trim_end();
    let is_name = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Git does not accept the all-zero hash as a commit.
    (is_name && text.bytes().any(|byte| byte != b'0')).then(|| text.to_ascii_lowercase())
}

/// Whether the settings of a repository keep HEAD and branches in files that current versions of git read.
fn keeps_references_in_files(common: &AbsolutePath, place: &AbsolutePath) -> bool {
    let is_harmless = |folder: &AbsolutePath, file: &str| {
        let Some(path) = plain(folder, file) else { return false };
        disk::read_config(path).is_ok_and(|text| is_harmless(&text.unwrap_or_default()))
    };
    is_harmless(common, "config") && is_harmless(place, "config.worktree")
}

fn is_harmless(settings: &str) -> bool {
    let mut section = String::new();
    for line in settings.lines() {
        let mut line = line.trim();
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = name.trim().to_ascii_lowercase();
            line = rest.trim();
        }
        let is_comment = line.is_empty() || line.starts_with(['#', ';']);
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        let is_known = match (section.as_str(), key.as_str()) {
            _ if is_comment => true,
            ("core", "repositoryformatversion") => matches!(value.as_str(), "0" | "1"),
            ("extensions", "objectformat") => value == "sha1",
            ("extensions", "refstorage") => value == "files",
            ("extensions", key) => HARMLESS.contains(&key),
            _ => true,
        };
        if !is_known {
            return false;
        }
    }
    true
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "repositories are made by hand, and git is asked the same"
    )]
    use std::path::Path;
    use std::process::Command;

    use proptest::prelude::*;

    use super::super::repository::tests::made;
    use super::*;

    struct HeadBench {
        _temporary: tempfile::TempDir,
        base: AbsolutePath,
    }

    impl HeadBench {
        /// A repository `r`, created by `git init` with these options.
        fn new(options: &[&str]) -> Self {
            let (temporary, base) = made(&["r"]);
            let bench = Self { _temporary: temporary, base };
            bench.git("r", &[&["init", "--quiet", "-b", "main"], options].concat()).unwrap();
            bench
        }

        fn path(&self, path: &str) -> AbsolutePath {
            self.base.resolve(path)
        }

        /// The output of git; `None` if it fails.
        fn git(&self, folder: &str, arguments: &[&str]) -> Option<String> {
            let mut git = Command::new("git");
            git.arg("-C").arg(self.path(folder).as_path()).args(["-c", "user.name=n", "-c", "user.email=e@x.invalid"]);
            git.args(["-c", "protocol.file.allow=always"]).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.env("GIT_CONFIG_SYSTEM", "/dev/null")
                .env("GIT_CEILING_DIRECTORIES", self.base.parent().unwrap().as_path());
            let output = git.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            output.status.success().then(|| text.trim_end_matches('\n').to_owned())
        }

        fn commit(&self, folder: &str) {
            self.git(folder, &["commit", "--quiet", "--allow-empty", "-m", "x"]).unwrap();
        }

        /// What git reports as checked out.
        fn told(&self, folder: &str) -> Head {
            let branch = self.git(folder, &["symbolic-ref", "--short", "-q", "HEAD"]);
            Head { branch, commit: self.git(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]) }
        }

        /// Checks that reading the files gives the same result as git.
        fn agrees(&self, folder: &str) {
            assert_eq!(Head::of(&self.path(folder)), Some(self.told(folder)), "{folder}");
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.path(path), text).unwrap();
        }

        fn read(&self, path: &str) -> String {
            std::fs::read_to_string(self.path(path)).unwrap()
        }
    }

    #[test]
    fn a_branch_is_read_before_its_first_commit_loose_and_packed() {
        let bench = HeadBench::new(&[]);
        bench.agrees("r");
        assert_eq!(Head::of(&bench.path("r")).unwrap(), Head { branch: Some("main".into()), commit: None });
        bench.commit("r");
        bench.agrees("r");
        bench.git("r", &["tag", "-a", "-m", "t", "v1"]).unwrap();
        bench.git("r", &["branch", "main2"]).unwrap();
        bench.git("r", &["pack-refs", "--all"]).unwrap();
        assert!(!bench.path("r/.git/refs/heads/main").as_path().exists());
        bench.agrees("r");
        bench.commit("r");
        assert!(bench.path("r/.git/refs/heads/main").as_path().exists(), "newer than what is packed");
        bench.agrees("r");
        bench.git("r", &["checkout", "--quiet", "-b", "gsd/phase-02_größe+2"]).unwrap();
        bench.agrees("r");
        bench.git("r", &["checkout", "--quiet", "--orphan", "none"]).unwrap();
        bench.agrees("r");
        bench.git("r", &["checkout", "--quiet", "--detach", "main"]).unwrap();
        bench.agrees("r");
        assert_eq!(Head::of(&bench.path("r")).unwrap().branch, None);
    }

    #[test]
    fn worktrees_submodules_and_git_folders_elsewhere_are_read() {
        let bench = HeadBench::new(&[]);
        bench.commit("r");
        bench.git("r", &["worktree", "add", "--quiet", "-b", "side", "../w"]).unwrap();
        bench.commit("w");
        bench.agrees("w");
        bench.git("r", &["pack-refs", "--all"]).unwrap();
        bench.agrees("w");
        bench.agrees("r");
        assert_ne!(Head::of(&bench.path("w")), Head::of(&bench.path("r")));
        bench.git("r", &["submodule", "--quiet", "add", &bench.path("r/.git").to_string(), "sub"]).unwrap();
        bench.agrees("r/sub");
        bench.git("r", &["init", "--quiet", "-b", "apart", "--separate-git-dir", "../apart.git", "../a"]).unwrap();
        bench.commit("a");
        bench.agrees("a");
    }

    #[test]
    fn anything_git_may_read_differently_is_left_to_git() {
        let bench = HeadBench::new(&[]);
        bench.commit("r");
        let (head, config) = (bench.read("r/.git/HEAD"), bench.read("r/.git/config"));
        let commit = bench.told("r").commit.unwrap();
        let is_left = |what: &str| assert_eq!(Head::of(&bench.path("r")), None, "{what}");
        for text in
            ["", "ref: refs/remotes/origin/main", "ref: ../../x", "ref: refs/heads/../x", "ref: refs/heads/a b", "x"]
        {
            bench.write("r/.git/HEAD", text);
            is_left(text);
        }
        bench.write("r/.git/HEAD", &format!("{commit}0"));
        is_left("too long");
        bench.write("r/.git/HEAD", &"0".repeat(40));
        is_left("no commit");
        bench.write("r/.git/HEAD", &format!("{head}{}", " ".repeat(5000)));
        is_left("larger than any");
        bench.write("r/.git/HEAD", &head);
        for setting in [
            "[extensions]\n\trefStorage = reftable",
            "[extensions] objectFormat = sha256",
            "[Extensions]\n later = 1",
            "[core]\n\trepositoryFormatVersion = 2",
        ] {
            bench.write("r/.git/config", &format!("{config}{setting}\n"));
            is_left(setting);
        }
        bench.write("r/.git/config", &config);
        // A branch that refers to another branch.
        bench.write("r/.git/refs/heads/alias", "ref: refs/heads/main\n");
        bench.write("r/.git/HEAD", "ref: refs/heads/alias\n");
        is_left("alias");
        bench.write("r/.git/HEAD", &head);
        assert!(Head::of(&bench.path("r")).is_some());
        std::fs::rename(bench.path("r/.git/objects"), bench.path("r/.git/elsewhere")).unwrap();
        assert_eq!(bench.told("r").commit, None, "it is no repository to git");
        is_left("no objects");
        assert_eq!(Head::of(&bench.path("")), None, "no repository at all");
        assert_eq!(Head::of(&bench.path("r/below")), None);
    }

    #[test]
    fn no_link_is_followed() {
        use std::os::unix::fs::symlink;
        let bench = HeadBench::new(&[]);
        bench.commit("r");
        let other = HeadBench::new(&[]);
        other.commit("r");
        let is_left = |link: &str| assert_eq!(Head::of(&bench.path("r")), None, "{link}");
        for name in ["HEAD", "refs/heads/main", "refs/heads", "config", "packed-refs"] {
            let path = bench.path("r/.git").resolve(name);
            bench.git("r", &["pack-refs", "--all"]).unwrap();
            bench.commit("r");
            if name == "packed-refs" {
                std::fs::remove_file(bench.path("r/.git/refs/heads/main")).unwrap();
            }
            let aside = bench.path("aside");
            std::fs::rename(&path, &aside).unwrap();
            symlink(other.path("r/.git").resolve(name), &path).unwrap();
            is_left(name);
            std::fs::remove_file(&path).unwrap();
            std::fs::rename(&aside, &path).unwrap();
            assert!(Head::of(&bench.path("r")).is_some(), "{name}");
        }
        std::fs::rename(bench.path("r/.git"), bench.path("own")).unwrap();
        symlink(other.path("r/.git"), bench.path("r/.git")).unwrap();
        is_left(".git");
    }

    #[test]
    fn the_repository_of_another_folder_is_not_read() {
        let bench = HeadBench::new(&[]);
        bench.commit("r");
        bench.git("r", &["worktree", "add", "--quiet", "-b", "side", "../w"]).unwrap();
        std::fs::create_dir(bench.path("a")).unwrap();
        for target in ["r/.git", "r/.git/worktrees/w"] {
            bench.write("a/.git", &format!("gitdir: {}\n", bench.path(target)));
            assert!(bench.told("a").commit.is_some(), "git would say it");
            assert_eq!(Head::of(&bench.path("a")), None, "{target}");
        }
        std::fs::remove_file(bench.path("a/.git")).unwrap();
        bench.git("a", &["init", "--quiet", "-b", "main"]).unwrap();
        bench.write("a/.git/commondir", &format!("{}\n", bench.path("r/.git")));
        assert_eq!(bench.told("a").commit, bench.told("r").commit);
        assert_eq!(Head::of(&bench.path("a")), None);
    }

    #[test]
    fn other_stores_are_left_to_git() {
        for options in [&["--ref-format=reftable"][..], &["--object-format=sha256"]] {
            let (temporary, base) = made(&["r"]);
            let bench = HeadBench { _temporary: temporary, base };
            // An old version of git has none of these options.
            if bench.git("r", &[&["init", "--quiet", "-b", "main"], options].concat()).is_none() {
                continue;
            }
            bench.commit("r");
            assert_eq!(bench.told("r").branch.as_deref(), Some("main"));
            assert_eq!(Head::of(&bench.path("r")), None, "{options:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// Whatever the content of HEAD, the branch and the packed references: the files give git's answer, or leave it
        /// to git.
        #[test]
        fn the_files_give_the_same_answer_as_git(
            head in prop_oneof![
                Just("ref: refs/heads/main".to_owned()), Just("COMMIT".to_owned()), "ref: refs/heads/[a-z./@~ -]{1,6}",
                "ref:[ \t]{0,2}refs/heads/main", "[0-9A-F]{39,41}",
            ],
            end in prop_oneof![Just("\n"), Just(""), Just(" \n"), Just("\r\n"), Just("\nx\n")],
            loose in prop::option::of(prop_oneof![
                Just("COMMIT".to_owned()), Just("OTHER\n".to_owned()), Just(String::new()), Just("COMMIT x\n".to_owned()),
                "[0-9a-f]{40}\n", Just("ref: refs/heads/other\n".to_owned()),
            ]),
            packed in prop::option::of(prop_oneof![
                Just("# pack-refs with: peeled fully-peeled sorted \nCOMMIT refs/heads/main\n".to_owned()),
                Just("COMMIT refs/heads/m\nOTHER refs/heads/main\n^COMMIT\n".to_owned()),
                Just("OTHER refs/heads/other\n".to_owned()),
                Just("OTHER refs/heads/main".to_owned()),
                Just("COMMIT refs/heads/main\n?\n".to_owned()),
                Just("COMMIT refs/heads/main\n# late\n".to_owned()),
                Just("COMMIT\trefs/heads/main\n".to_owned()),
                Just("COMMIT refs/heads/main\r\n".to_owned()),
                Just("\n".to_owned()),
            ]),
        ) {
            let bench = HeadBench::new(&[]);
            bench.commit("r");
            let commit = bench.told("r").commit.unwrap();
            bench.git("r", &["commit", "--quiet", "--allow-empty", "-m", "y"]).unwrap();
            let other = bench.told("r").commit.unwrap();
            let filled = |text: &str| text.replace("COMMIT", &commit).replace("OTHER", &other);
            bench.write("r/.git/HEAD", &filled(&format!("{head}{end}")));
            std::fs::remove_file(bench.path("r/.git/refs/heads/main")).unwrap();
            if let Some(loose) = &loose {
                bench.write("r/.git/refs/heads/main", &filled(loose));
            }
            if let Some(packed) = &packed {
                bench.write("r/.git/packed-refs", &filled(packed));
            }
            if let Some(read) = Head::of(&bench.path("r")) {
                let told = bench.told("r");
                prop_assert!(told.commit.is_some() || bench.git("r", &["rev-parse", "--git-dir"]).is_some(), "{:?}", read);
                prop_assert_eq!(read, told);
            }
        }
    }

    #[test]
    fn a_repository_of_another_user_is_left_to_git() {
        assert!(!disk::is_own(&AbsolutePath::parse(Path::new("/proc/1/nothing")).unwrap()));
        let bench = HeadBench::new(&[]);
        bench.commit("r");
        if std::os::unix::fs::chown(bench.path("r/.git"), Some(12345), None).is_ok() {
            assert_eq!(Head::of(&bench.path("r")), None);
            assert_eq!(bench.told("r").commit, None, "git does not read it either");
        }
    }
}
