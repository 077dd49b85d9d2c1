//! The fence of a program that runs unattended, with real programs: nothing outside it changes, everything inside
//! works.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::kit::{TestContext, binary};

mod held;
mod unit;
mod ways;

/// A folder to work in, a folder outside, and their content.
struct Yard {
    context: TestContext,
}

impl Yard {
    /// None if the kernel has no fence, with a message.
    fn new() -> Option<Self> {
        let yard = Self { context: TestContext::on_disk() };
        yard.tidy();
        for (path, text) in [("kept", "kept\n"), ("folder/kept", "kept\n"), ("empty/x", "")] {
            let path = yard.outside().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::remove_file(yard.outside().join("empty/x")).unwrap();
        let probe = yard.inside("true");
        let why = String::from_utf8_lossy(&probe.stderr).into_owned();
        if why.contains("no Landlock") {
            // Past the test harness, which hides the output of passing tests.
            let _ = writeln!(std::io::stderr(), "fence: not run ({})", why.trim());
            return None;
        }
        assert!(probe.status.success(), "{why}");
        Some(yard)
    }

    /// Restores the content of the folder inside.
    fn tidy(&self) {
        let inside = self.context.project();
        for entry in std::fs::read_dir(&inside).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                std::fs::remove_dir_all(entry.path()).unwrap();
            } else {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        self.context.write("mine", "mine\n");
        self.context.write("sub/deep", "deep\n");
    }

    fn outside(&self) -> PathBuf {
        self.context.home()
    }

    /// A call of the program that limits itself to the project and its temporary folder.
    fn fence(&self) -> Command {
        let mut command = self.context.command(binary());
        let temporary = self.context.home().with_file_name("tmp");
        command.arg("__fence").arg("--write").arg(self.context.project()).arg("--write").arg(temporary).arg("--");
        command.env("OUT", self.outside());
        command
    }

    fn inside(&self, line: &str) -> Output {
        self.fence().args(["bash", "-c", line]).output().unwrap()
    }

    /// Everything outside: names, kinds, contents, and the number of hard links of each file.
    fn seen(&self) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
        let look = |entry: walkdir::DirEntry| {
            let (path, about) = (entry.path().to_path_buf(), entry.path().symlink_metadata().unwrap());
            let content = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            let links = if about.is_file() { about.nlink() } else { 0 };
            (path, (about.mode() & 0o170_000, links, content))
        };
        walkdir::WalkDir::new(self.outside()).into_iter().map(|entry| look(entry.unwrap())).collect()
    }
}

/// What a person's tools do all day; all of it must work.
const WORK: &[&str] = &[
    "echo x > new && echo x >> new && test \"$(cat new)\" = $'x\\nx'",
    "mkdir -p a/b && mv mine a/b/ && test -f a/b/mine",
    "mv sub a-sub && mv a-sub/deep . && rmdir a-sub",
    "ln mine twin && ln -s mine way && test \"$(cat twin way)\" = $'mine\\nmine'",
    "rm -rf sub mine",
    "mkfifo pipe && (echo through > pipe &) && test \"$(cat pipe)\" = through",
    "sed -i s/mine/yours/ mine && grep -q yours mine",
    "truncate -s 0 mine && test ! -s mine",
    "cat $OUT/kept && ls $OUT && test \"$(< $OUT/kept)\" = kept",
    "at=$(mktemp) && echo x > $at && rm $at",
    "echo x > /dev/null && head -c 8 /dev/urandom > bytes && test -s bytes",
    "seq 5 | sort -r | tail -1 | grep -q 1",
    "printf x > /dev/shm/gsd-suite-$$ && rm /dev/shm/gsd-suite-$$",
    "cat <<< here > doc && cat <(echo in) > doc",
    "git init --quiet repo && cd repo && echo x > f && git add f && git commit --quiet -m one && git gc --quiet && git log --oneline | grep -q one",
    "sleep 60 & kill $! && ! wait $!",
    "tar cf a.tar sub && tar xf a.tar -C $TMPDIR && test -f $TMPDIR/sub/deep",
    "! command -v python3 || python3 -c 'import multiprocessing, tempfile; tempfile.NamedTemporaryFile(); multiprocessing.Lock()'",
];

#[test]
fn the_usual_tools_work_within_a_fence() {
    for work in WORK {
        let Some(yard) = Yard::new() else { return };
        let output = yard.inside(work);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{work}: {:?} {said}", output.status);
    }
}

#[test]
fn a_linked_worktree_can_be_edited_but_its_repository_cannot() {
    let Some(yard) = Yard::new() else { return };
    let repository = yard.outside().join("repository");
    let prepare = "git init --quiet $OUT/repository && cd $OUT/repository && echo one > f && git add f \
                   && git commit --quiet -m one && rm -rf $PROJECT && git worktree add --quiet $PROJECT -b unit";
    let mut shell = yard.context.command("bash");
    shell.args(["-c", prepare]).env("OUT", yard.outside());
    let prepared = shell.env("PROJECT", yard.context.project()).current_dir(yard.outside()).output().unwrap();
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    assert!(yard.context.project().join(".git").is_file() && repository.join(".git/worktrees").is_dir());
    let before = yard.seen();
    for line in ["git status --short", "git diff", "git log", "git show HEAD:f", "echo two > f && git diff --stat"] {
        let output = yard.inside(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for line in [
        "git add f",
        "git commit -am two",
        "git commit --allow-empty -m two",
        "git stash",
        "git branch other",
        "git tag t",
        "git config user.name other",
        "git checkout -b other",
        "git update-ref refs/heads/unit HEAD^",
        "git worktree add ../tmp/other",
        "git -C $OUT/repository commit --allow-empty -m two",
        "echo exit > $OUT/repository/.git/hooks/pre-commit",
        "rm -rf $OUT/repository/.git",
    ] {
        assert!(!yard.inside(line).status.success(), "{line}");
    }
    assert_eq!(yard.seen(), before);
    assert_eq!(yard.context.read("f"), "two\n");
}

#[test]
fn a_fenced_program_is_the_same_process_with_the_same_streams_and_variables() {
    let Some(yard) = Yard::new() else { return };
    assert_eq!(yard.inside("exit 7").status.code(), Some(7));
    assert_eq!(yard.inside("kill -TERM $$").status.signal(), Some(15));
    assert_eq!(yard.inside("kill -KILL $$").status.signal(), Some(9));

    let mut command = yard.fence();
    command.args(["bash", "-c", "echo $$; cat; echo $GSD_PROCESS >&2; env -0 | tr '\\0' '\\n' | sort", "name"]);
    command.env("GSD_PROCESS", "0123456789abcdef").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let id = child.id();
    child.stdin.take().unwrap().write_all(b"in\0put\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(&format!("{id}\nin\0put\n")), "{said}");
    assert!(said.contains("\nLANG=C.UTF-8\n"), "{said}");
    assert_eq!(output.stderr, b"0123456789abcdef\n");

    let words = ["", "a b", "--", "--write", "\n", "$HOME", "'"];
    let output = yard.fence().args(["printf", "%s|"]).args(words).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{}|", words.join("|")));
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff\xfe");
    assert_eq!(yard.fence().args(["printf", "%s"]).arg(odd).output().unwrap().stdout, b"\xff\xfe");

    // A program that ignores a closed pipe would write for ever.
    let piped = format!("'{}' __fence -- yes | head -1; echo ${{PIPESTATUS[0]}}", binary().display());
    let output = yard.context.command("bash").args(["-c", &piped]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "y\n141\n");
}

/// A container is a pid namespace: the process that started it, its group and its session have no number inside.
#[test]
fn a_fenced_program_starts_if_the_group_of_its_parent_is_outside_the_container() {
    let Some(yard) = Yard::new() else { return };
    let within = |words: &[&str]| {
        let mut command = yard.context.command("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]).args(words);
        command.output().unwrap()
    };
    let probe = within(&["true"]);
    if !probe.status.success() {
        crate::kit::not_run("fence: a container", String::from_utf8_lossy(&probe.stderr).trim());
        return;
    }
    // A shell with job control makes each job lead a group, as a session of a client does.
    let line = "set -m; \"$0\" __fence -- sh -c 'ps -o pid=,pgid=,sid=,tty= -p $$' & wait $!";
    let output = within(&["bash", "-c", line, &binary().to_string_lossy()]);
    let said = String::from_utf8(output.stdout).unwrap();
    let fields: Vec<&str> = said.split_whitespace().collect();
    let own = fields.first().copied().unwrap_or_default();
    assert!(own != "0" && fields == [own, own, own, "?"], "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_fenced_program_signals_only_what_it_started() {
    let Some(yard) = Yard::new() else { return };
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let output = yard.inside(&format!("kill -KILL {}", other.id()));
    let lives = other.try_wait().unwrap().is_none();
    let _ = other.kill();
    let _ = other.wait();
    // Linux supports this since 6.12.
    if is_at_least(6, 12) {
        assert!(lives && !output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut inside = yard.fence().args(["sleep", "60"]).spawn().unwrap();
    inside.kill().unwrap();
    assert_eq!(inside.wait().unwrap().signal(), Some(9), "who started it can end it");
}

/// True if the kernel has this version of Landlock, judged by the version of the kernel.
fn is_at_least_version(version: u32) -> bool {
    let (major, minor) = [(5, 13), (5, 19), (6, 2), (6, 7), (6, 10), (6, 12)][version as usize - 1];
    is_at_least(major, minor)
}

fn is_at_least(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

#[test]
fn a_fence_within_a_fence_only_narrows_it() {
    let Some(yard) = Yard::new() else { return };
    let before = yard.seen();
    let within = |writable: &Path, line: &str| {
        let mut command = yard.fence();
        command.arg(binary()).arg("__fence").arg("--write").arg(writable).args(["--", "bash", "-c", line]);
        command.output().unwrap().status.success()
    };
    assert!(!within(&yard.outside(), "echo x > $OUT/new") && !within(&yard.outside(), "echo x > mine"));
    assert!(within(&yard.context.project().join("sub"), "echo x > sub/new"));
    assert!(!within(&yard.context.project().join("sub"), "echo x > mine"));
    assert_eq!(yard.seen(), before);
}

#[test]
fn a_fence_that_cannot_be_made_starts_nothing() {
    let context = TestContext::on_disk();
    let fails = |words: &[&str]| {
        let output = context.command(binary()).arg("__fence").args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let touch = ["--wirte", "/", "--", "touch", "done"];
    assert_eq!(fails(&touch), (Some(125), "Error: fence: `--wirte` is not known here\n".to_owned()));
    for words in [&[][..], &["--"], &["--write"], &["--write", "/tmp"], &["--write", "/tmp", "--"]] {
        assert_eq!(fails(words), (Some(125), "Error: fence: no program is named\n".to_owned()), "{words:?}");
    }
    if Yard::new().is_some() {
        assert_eq!(fails(&["--", "gsd-no-such-program"]).0, Some(127));
        assert_eq!(fails(&["--", "/"]).0, Some(126));
        assert_eq!(fails(&["--write", "/no/such/place", "--", "true"]), (Some(0), String::new()));
    }
    assert!(!context.project().join("done").exists());
}
