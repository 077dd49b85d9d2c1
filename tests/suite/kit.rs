//! What every test of the suite needs: a hermetic home, a project folder, a fixed clock, and the binary.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

/// A home and a project folder of one test; the program sees nothing of the machine's environment.
#[derive(Debug)]
pub(crate) struct TestContext {
    root: tempfile::TempDir,
}

/// The result of a call of the program, to assert on.
#[must_use = "assert the exit code or the output"]
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestContext {
    pub(crate) fn new() -> Self {
        Self::within(crate::testing::named("gsd-suite-"))
    }

    /// As [`Self::new`], on the disk: our fence and the sandboxes of clients let programs write to shared memory.
    pub(crate) fn on_disk() -> Self {
        Self::within(crate::testing::on_disk("gsd-suite-"))
    }

    fn within(root: tempfile::TempDir) -> Self {
        std::fs::create_dir_all(root.path().join("home")).unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        std::fs::create_dir_all(root.path().join("tmp")).unwrap();
        Self { root }
    }

    /// The folder that contains home, project and temporary folder.
    pub(crate) fn everything(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("project")
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("tmp")
    }

    /// Keeps everything after the test, for inspection.
    pub(crate) fn keep(self) -> PathBuf {
        self.root.keep()
    }

    /// Writes a file of the project, folders included.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The claims on milestones that the program stores outside projects, as text.
    pub(crate) fn claims(&self) -> Vec<String> {
        let files = walkdir::WalkDir::new(self.home()).into_iter().map(Result::unwrap);
        let is_claim = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("milestone-") && name.ends_with(".lock")
        };
        let paths = files.map(walkdir::DirEntry::into_path).filter(|path| is_claim(path));
        paths.map(|path| std::fs::read_to_string(path).unwrap()).collect()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// A command for `program` in the project, with the hermetic environment.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path())
            .env("HOME", self.home())
            .env("TMPDIR", self.root.path().join("tmp"))
            .env("GSD_SYSTEM_ROOT", self.root.path().join("system"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            // No test looks up versions on the web, unless it provides its own server.
            .env("GSD_UPDATE_CHECK", "off")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Tester")
            .env("GIT_AUTHOR_EMAIL", "tester@example.com")
            .env("GIT_COMMITTER_NAME", "Tester")
            .env("GIT_COMMITTER_EMAIL", "tester@example.com")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with `arguments` in the project.
    pub(crate) fn gsd<const N: usize>(&self, arguments: [&str; N]) -> Ran {
        self.gsd_with(arguments, &[], "")
    }

    /// As [`Self::gsd`], with extra environment and standard input. Approves ahead what a run refuses to start
    /// unapproved, as its answer says, unless the test itself sets an approval.
    pub(crate) fn gsd_with(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<str>>,
        environment: &[(&str, &str)],
        stdin: &str,
    ) -> Ran {
        let arguments: Vec<String> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let mut ran = self.gsd_unapproved(&arguments, environment, stdin);
        for _ in 0..20 {
            let is_of_a_run = arguments.iter().any(|word| word == "auto");
            if !is_of_a_run || ran.code != 10 || environment.iter().any(|(name, _)| *name == APPROVED) {
                break;
            }
            let Some(next) = not_approved(&ran.stdout) else { break };
            // A run that stopped halfway prints how to approve when it is called again.
            let digest = digest_in(&next).unwrap_or_default();
            ran = self.gsd_unapproved(&arguments, &[environment, &[(APPROVED, digest)]].concat(), stdin);
        }
        ran
    }

    /// The digest that approves ahead what a call would run and what is not approved yet.
    pub(crate) fn approval(&self, arguments: &[&str]) -> String {
        let ran = self.gsd_unapproved(arguments, &[], "");
        let next = not_approved(&ran.stdout).unwrap_or_else(|| panic!("{}\n{}", ran.stdout, ran.stderr));
        digest_in(&next).unwrap_or_else(|| panic!("{next}")).to_owned()
    }

    /// As [`Self::gsd_with`], without approving anything.
    pub(crate) fn gsd_unapproved(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<str>>,
        environment: &[(&str, &str)],
        stdin: &str,
    ) -> Ran {
        let mut command = self.command(binary());
        let arguments: Vec<String> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        command.args(&arguments);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        {
            use std::io::Write;
            // A program that does not read its input closes the pipe; that is not a failure of the test.
            let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        }
        Ran::from(child.wait_with_output().unwrap()).held(&arguments)
    }

    /// As [`Self::gsd_with`], by one process that answers all such calls of a test: for tables of calls, for which
    /// separate processes would prove nothing more. A sample of each table should run in separate processes.
    pub(crate) fn gsd_of_many(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        thread_local!(static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) });
        if std::env::var_os("GSD_SUITE_PROGRAM").is_some() {
            // An older build may not support this.
            return self.gsd_with(arguments, environment, "");
        }
        let mut command = self.command(binary());
        command.envs(environment.iter().copied());
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let environment: BTreeMap<String, String> =
            command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
        let call = serde_json::json!({
            "arguments": arguments, "environment": environment, "folder": command.get_current_dir(),
        });
        let ran = SERVER.with_borrow_mut(|server| server.get_or_insert_with(Server::start).answer(&call));
        ran.held(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    /// Calls the program in a pseudo-terminal, with these variables, and types `keys`, with Enter after a `y` or `n`.
    pub(crate) fn at_a_terminal(&self, call: &str, variables: &[(&str, &str)], keys: &str) -> Output {
        self.at_a_terminal_of(80, call, variables, keys)
    }

    /// As [`Self::at_a_terminal`], in one with this many columns.
    pub(crate) fn at_a_terminal_of(
        &self,
        columns: usize,
        call: &str,
        variables: &[(&str, &str)],
        keys: &str,
    ) -> Output {
        let line = format!("stty cols {columns} rows 40; '{}' {call}", binary().display());
        let mut command = self.command("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`script` of util-linux is needed");
        // A program that refuses does not read what is typed.
        let keys = keys.replace('y', "y\n").replace('n', "n\n");
        let _ = child.stdin.take().unwrap().write_all(keys.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Approves the command of a gate as a person: `gate` is its name, with a command if the project declares none.
    pub(crate) fn approve(&self, gate: &str) {
        let ran = self.at_a_terminal(&format!("gate approve {gate}"), &[], "y");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }
}

/// The variable with which a person approves ahead.
const APPROVED: &str = "GSD_APPROVED";

/// The digest with which a command approves ahead.
fn digest_in(command: &str) -> Option<&str> {
    command.strip_prefix("GSD_APPROVED=")?.split(' ').next()
}

/// The command that continues, if a run stopped because what it would run is not approved.
fn not_approved(answer: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(answer).ok()?;
    let stop = &report["stop"];
    (stop["cause"] == "not-approved").then(|| stop["next"].as_str().unwrap_or_default().to_owned())
}

/// A process of the program that answers one call after the other.
struct Server {
    process: Child,
    calls: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(binary());
        // Each call carries its own environment.
        command.arg("__calls").env_clear().current_dir("/");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (calls, answers) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, calls, answers }
    }

    fn answer(&mut self, call: &serde_json::Value) -> Ran {
        let mut line = String::new();
        let written = writeln!(self.calls.as_ref().unwrap(), "{call}");
        let read = written.and_then(|()| self.answers.read_line(&mut line));
        let answer = read.ok().and_then(|_| serde_json::from_str::<serde_json::Value>(&line).ok());
        let Some(answer) = answer else {
            let mut errors = String::new();
            self.calls = None;
            let _ = self.process.stderr.take().unwrap().read_to_string(&mut errors);
            panic!("no answer to {call}, but `{line}`: {errors}");
        };
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        let code = answer["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap();
        Ran { code, stdout: text("stdout"), stderr: text("stderr") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends after the last call.
        self.calls = None;
        let _ = self.process.wait();
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Checks the output against the schema of the command, its hints, and the commands that it names.
    fn held(self, arguments: &[String]) -> Self {
        if std::env::var_os("GSD_SUITE_PROGRAM").is_none() {
            crate::schemas::hold(arguments, self.code, &self.stdout);
            crate::mentions::hold(arguments, &self);
            crate::hints::hold(arguments, &self);
        }
        self
    }

    /// Asserts exit 0 and returns the standard output.
    pub(crate) fn success(self) -> String {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stdout
    }

    /// Asserts exit 0 and parses the standard output as JSON.
    pub(crate) fn json(self) -> serde_json::Value {
        let text = self.success();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// Asserts exit `code` and returns the standard error.
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stderr
    }
}

/// A folder that is neither in a project nor for temporary files, like the home of a user. It does not depend on where
/// this repository and its target folder are: agents may use `/tmp`.
pub(crate) fn outside() -> tempfile::TempDir {
    let home = std::env::home_dir();
    let places = [Some(env!("CARGO_TARGET_TMPDIR").into()), Some("/var/tmp".into()), home, Some("/dev/shm".into())];
    let is_open = |place: &PathBuf| {
        let temporary = Path::new("/tmp").canonicalize();
        temporary.is_ok_and(|temporary| place.canonicalize().is_ok_and(|place| place.starts_with(temporary)))
    };
    let mut places = places.into_iter().flatten().filter(|place| !is_open(place));
    let made = places.find_map(|place| tempfile::Builder::new().prefix("user-").tempdir_in(place).ok());
    made.expect("a folder outside of /tmp that can be written to: the target folder, /var/tmp or the home")
}

/// The search path of this machine, without the clients of hosts: installed programs must not affect a test. A folder
/// that contains a client is replaced by one with links to its other files.
fn path() -> &'static OsStr {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let clients = clients();
        let all = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&all).enumerate().map(|(number, folder)| {
            if !clients.iter().any(|client| folder.join(client).exists()) {
                return folder;
            }
            let links = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("path/{}-{number}", std::process::id()));
            std::fs::create_dir_all(&links).unwrap();
            for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                if !clients.iter().any(|client| entry.file_name() == client.as_str()) {
                    #[cfg(unix)]
                    std::os::unix::fs::symlink(entry.path(), links.join(entry.file_name())).unwrap();
                }
            }
            links
        });
        std::env::join_paths(folders).unwrap()
    })
}

/// The names of the programs of all hosts.
fn clients() -> Vec<String> {
    let folder = repository().join("src/runtime/descriptors");
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let lines: Vec<String> =
        files.filter_map(|text| Some(text.split_once("[programs]\nnames = ")?.1.to_owned())).collect();
    let names = lines.iter().flat_map(|text| text.lines().next().unwrap_or_default().split('"').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// The program under test: the one of this build, or the one that `GSD_SUITE_PROGRAM` names, to see the test of a
/// repaired defect fail on an older build.
pub(crate) fn binary() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match std::env::var_os("GSD_SUITE_PROGRAM") {
        Some(other) => other.into(),
        None => beside_the_tests(Path::new(env!("CARGO_BIN_EXE_gsd-tools"))),
    })
}

/// Removes the copy of the program after the last test.
#[cfg(unix)]
static REMOVER: OnceLock<Child> = OnceLock::new();

/// The program on the file system of the tests' folders: an install links to the program if it can, and copies its 60
/// megabytes otherwise.
#[cfg(unix)]
fn beside_the_tests(built: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    if device(built) == device(crate::testing::place()) {
        return built.to_path_buf();
    }
    let folder = crate::testing::named("gsd-suite-program-").keep();
    let copy = folder.join("gsd-tools");
    std::fs::copy(built, &copy).unwrap();
    // A process of the test harness ends without dropping anything. This shell reads until then, and removes the
    // folder.
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > /dev/null; rm -rf -- \"$1\"", "sh"]).arg(&folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    REMOVER.get_or_init(|| shell.spawn().unwrap());
    copy
}

#[cfg(not(unix))]
fn beside_the_tests(built: &Path) -> PathBuf {
    built.to_path_buf()
}

/// Every verb with its effect, as the program of this build lists them.
pub(crate) fn verbs() -> &'static [(String, String)] {
    static VERBS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    VERBS.get_or_init(|| {
        let listed = Command::new(env!("CARGO_BIN_EXE_gsd-tools")).arg("schema").output().unwrap();
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
        listed["commands"].as_array().unwrap().iter().map(|row| (text(row, "command"), text(row, "effect"))).collect()
    })
}

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reports that a check is not run, and why. If `GSD_CLIENTS` names clients, their requirements must be installed, and
/// a missing one is a failure.
pub(crate) fn not_run(check: &str, why: &str) {
    skipped(check, why, "GSD_CLIENTS");
}

/// As [`not_run`], for checks that need a shell or a reader of man pages, which `GSD_SHELLS` requires.
pub(crate) fn no_shell(check: &str, why: &str) {
    skipped(check, why, "GSD_SHELLS");
}

/// As [`not_run`], for checks that need another program of the family, in the folder that `GSD_PEERS` names.
pub(crate) fn no_peer(check: &str, why: &str) {
    skipped(check, why, "GSD_PEERS");
}

fn skipped(check: &str, why: &str, variable: &str) {
    let required = std::env::var(variable).is_ok_and(|value| value != "off");
    assert!(!required, "{variable} requires {check}, which cannot run: {why}");
    // Written past the test harness, which hides the output of passing tests.
    let _ = writeln!(std::io::stderr(), "{check}: not run ({why})");
}
