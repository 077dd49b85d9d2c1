//! Every row of [`super::ways`], tried with each version of Landlock that this kernel can emulate, and without a fence.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use super::Yard;
use super::ways::{Held, REACHES, READS, TERMINALS, WRITES, Way};
use crate::kit::{binary, repository};

/// The versions that a debug build emulates; 0 is a kernel without Landlock.
const VERSIONS: [u32; 6] = [1, 2, 3, 4, 5, 6];

/// Variables that lead out, each with a word that a row looks for.
const LEADING: &[&str] = &[
    "TMUX",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "VSCODE_IPC_HOOK_CLI",
    "KITTY_LISTEN_ON",
    "EMACS_SOCKET_NAME",
    "NVIM",
    "GPG_AGENT_INFO",
];

/// How a line is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// In a fence, as with a kernel that has this version of Landlock; `None` for this kernel.
    Fence(Option<u32>),
    /// Without a limit, and without the terminal.
    Open,
    Nothing,
}

/// A folder outside with secrets and sockets, and a process outside.
struct Place {
    yard: Yard,
    other: Child,
    tcp: TcpListener,
    _listeners: (UnixListener, UnixDatagram, UnixListener, UnixListener),
    name: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

impl Place {
    fn new() -> Option<Self> {
        let yard = Yard::new()?;
        let out = yard.outside();
        std::fs::create_dir_all(out.join(".ssh")).unwrap();
        std::fs::create_dir_all(out.join("tmp")).unwrap();
        std::fs::create_dir_all(yard.context.temporary().join("own")).unwrap();
        std::fs::write(out.join(".ssh/id"), "got a key\n").unwrap();
        std::fs::write(out.join(".ssh/got"), "").unwrap();
        std::os::unix::fs::symlink("got", out.join(".ssh/link")).unwrap();
        std::fs::write(out.join(".ssh/run"), "#!/bin/sh\necho got\n").unwrap();
        std::fs::set_permissions(out.join(".ssh/run"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let name = format!(
            "gsd-suite-{}-{}",
            std::process::id(),
            out.parent().unwrap().file_name().unwrap().to_str().unwrap()
        );
        let named = |name: &str| SocketAddr::from_abstract_name(name).unwrap();
        let listeners = (
            UnixListener::bind_addr(&named(&name)).unwrap(),
            UnixDatagram::bind_addr(&named(&format!("{name}-d"))).unwrap(),
            UnixListener::bind(out.join("sock")).unwrap(),
            UnixListener::bind(out.join(".ssh/agent")).unwrap(),
        );
        let key = std::fs::File::open(out.join(".ssh/id")).unwrap();
        let mut other = yard.context.command("bash");
        // Its command line and its environment contain the word too.
        other.args(["-c", "exec -a got sleep 600"]).env("SECRET", "got").current_dir(out.join(".ssh")).stdin(key);
        // A group that has a number wherever the tests run: their own group may be outside a container.
        other.process_group(0);
        let other = other.stdout(Stdio::null()).spawn().unwrap();
        Some(Self { yard, other, tcp: TcpListener::bind("127.0.0.1:0").unwrap(), _listeners: listeners, name })
    }

    /// A command that runs a line of bash under `guard`.
    fn command(&self, guard: Guard) -> Command {
        let (context, out) = (&self.yard.context, self.yard.outside());
        let mut command = context.command(if guard == Guard::Nothing { "bash".as_ref() } else { binary() });
        match guard {
            Guard::Nothing => {}
            Guard::Open => drop(command.args(["__fence", "--open", "--", "bash"])),
            Guard::Fence(version) => {
                command.arg("__fence").arg("--write").arg(context.project());
                let own = context.temporary().join("own");
                if std::env::var_os("GSD_SUITE_PROGRAM").is_some() {
                    // The options that a run of an older build gave its sessions.
                    command.arg("--write").arg(out.join("tmp")).env("TMPDIR", own);
                } else {
                    command.arg("--secret").arg(out.join(".ssh")).arg("--temporary").arg(own);
                }
                command.args(["--", "bash"]);
                command.envs(version.map(|version| ("GSD_FENCE_ABI", version.to_string())));
            }
        }
        command.env("OUT", &out).env("OTHER", self.other.id().to_string()).env("ABSTRACT", &self.name);
        command.env("TCP", self.tcp.local_addr().unwrap().port().to_string()).env("GSD", binary());
        command.envs(LEADING.iter().map(|name| (name, "got")));
        command
    }

    /// Runs a line and returns true if it got out.
    fn gets_out(&self, way: &Way, guard: Guard) -> (bool, Output) {
        let before = self.yard.seen();
        let output = self.command(guard).args(["-c", way.line]).output().unwrap();
        let has_said = String::from_utf8_lossy(&output.stdout).contains("got");
        (has_said || self.yard.seen() != before, output)
    }

    /// As [`Self::gets_out`], from a terminal of the user.
    fn gets_out_at_a_terminal(&self, way: &Way, guard: Guard) -> (bool, Output) {
        let inner = self.command(guard);
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"));
        let words: Vec<String> = std::iter::once(inner.get_program()).chain(inner.get_args()).map(quoted).collect();
        let said = self.yard.context.temporary().join("said");
        // Runs as its own job, like the client of a run; afterwards the user's shell reads what was typed.
        let shell = format!(
            "stty -echo; export TTY=$(tty) SHELL_SID=$(ps -o sid= -p $$); {} -c {} < /dev/null > {} 2>&1; \
             read -t 0.3 -r line; echo \"typed: $line\"",
            words.join(" "),
            quoted(way.line.as_ref()),
            quoted(said.as_os_str()),
        );
        let mut command = self.yard.context.command("script");
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let line = format!("bash -c {}", quoted(shell.as_ref()));
        let mut child =
            command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The terminal ends with its input, which must stay open until the line was tried.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let said = std::fs::read_to_string(said).unwrap_or_default();
        let has_got = |text: &str| text.contains("got");
        (has_got(&said) || has_got(&String::from_utf8_lossy(&output.stdout)), output)
    }
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("Uid:")).is_some_and(|line| line.split_whitespace().nth(1) == Some("0"))
}

/// The version of Landlock of this kernel.
fn version_of_kernel() -> u32 {
    (1..=6).rev().find(|&version| super::is_at_least_version(version)).unwrap_or(0)
}

/// Tries rows under `guard`, and returns those that did not do what they say. It uses more than one yard, since a yard
/// is spoiled once something got out of it.
fn wrong(ways: &[&[Way]], guard: Guard, expected: impl Fn(&Way) -> bool) -> Vec<String> {
    let Some(mut place) = Place::new() else { return Vec::new() };
    let mut wrong = Vec::new();
    let rows = ways.iter().flat_map(|rows| rows.iter()).filter(|way| !way.of_root || is_root());
    for way in rows {
        let is_at_a_terminal = TERMINALS.iter().any(|row| row.name == way.name);
        let (is_out, output) =
            if is_at_a_terminal { place.gets_out_at_a_terminal(way, guard) } else { place.gets_out(way, guard) };
        if is_out != expected(way) {
            let said = [output.stdout, output.stderr].concat();
            let mut row = format!("{}: {} ({guard:?})", way.name, if is_out { "got out" } else { "was held" });
            let _ = write!(
                row,
                ": {}",
                String::from_utf8_lossy(&said).chars().take(200).collect::<String>().replace('\n', " / ")
            );
            wrong.push(row);
        }
        if is_out {
            place = Place::new().unwrap();
        } else {
            // Files that a line left inside would disturb the next one.
            place.yard.tidy();
        }
    }
    wrong
}

#[test]
fn each_way_is_closed_in_the_fence_of_this_kernel_as_its_row_says() {
    let version = version_of_kernel();
    let is_open = |way: &Way| match way.held {
        Held::From(first) => version < first,
        Held::Never => true,
    };
    assert_eq!(wrong(&[WRITES, READS, REACHES, TERMINALS], Guard::Fence(None), is_open), Vec::<String>::new());
    let rows = [WRITES, READS, REACHES, TERMINALS].concat();
    let held = rows.iter().filter(|way| way.held != Held::Never).count();
    assert!(held >= 60, "{held}");
    let names: BTreeMap<&str, usize> = rows.iter().fold(BTreeMap::new(), |mut names, way| {
        *names.entry(way.name).or_default() += 1;
        names
    });
    assert!(names.values().all(|&count| count == 1), "{names:?}");
}

#[test]
fn each_way_gets_out_without_a_fence() {
    assert_eq!(wrong(&[WRITES, READS, REACHES, TERMINALS], Guard::Nothing, |_| true), Vec::<String>::new());
}

#[test]
fn no_program_has_the_terminal_of_the_user_even_without_a_fence() {
    let is_open = |way: &Way| way.held != Held::From(0);
    assert_eq!(wrong(&[TERMINALS], Guard::Open, is_open), Vec::<String>::new());
}

#[test]
#[ignore = "slow: minutes"]
fn each_way_is_closed_from_the_landlock_version_in_its_row() {
    if std::env::var_os("GSD_SUITE_PROGRAM").is_some() {
        return;
    }
    let mut table = String::new();
    for version in VERSIONS.into_iter().filter(|&version| version <= version_of_kernel()) {
        let is_open = |way: &Way| match way.held {
            Held::From(first) => version < first,
            Held::Never => true,
        };
        let wrong = wrong(&[WRITES, READS, REACHES, TERMINALS], Guard::Fence(Some(version)), is_open);
        let _ = writeln!(table, "version {version}: {} wrong", wrong.len());
        assert_eq!(wrong, Vec::<String>::new(), "version {version}");
    }
    let _ = write!(std::io::stderr(), "{table}");
}

/// What was new in each version: a sample of the rows for the fast tier.
#[test]
fn a_way_closed_by_a_landlock_version_is_open_in_the_one_before() {
    let of = |name: &str| {
        let rows = [WRITES, READS, REACHES, TERMINALS].concat();
        rows.into_iter().find(|way| way.name == name).unwrap()
    };
    for (name, first) in [("truncate by path", 3), ("abstract socket", 6), ("signal", 6)] {
        let row = of(name);
        assert_eq!(row.held, Held::From(first));
        if first > version_of_kernel() || std::env::var_os("GSD_SUITE_PROGRAM").is_some() {
            continue;
        }
        let rows: &[Way] = &[row];
        assert_eq!(wrong(&[rows], Guard::Fence(Some(first - 1)), |_| true), Vec::<String>::new());
        assert_eq!(wrong(&[rows], Guard::Fence(Some(first)), |_| false), Vec::<String>::new());
    }
}

#[test]
fn a_kernel_without_landlock_starts_nothing() {
    let Some(place) = Place::new() else { return };
    let output = place.command(Guard::Fence(Some(0))).args(["-c", "echo got"]).output().unwrap();
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(125), ""));
}

#[test]
fn the_document_names_what_stays_open() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
    let of_words = |document: &str, section: &str, words: &[&str]| {
        let section = document.split_once(section).unwrap_or_else(|| panic!("{section}")).1;
        let section = section.split("\n## ").next().unwrap();
        let missing: Vec<&&str> = words.iter().filter(|word| !section.contains(**word)).collect();
        assert_eq!(missing, [&""; 0], "{section}");
    };
    let open = ["socket", "6.12", "6.2", "network", "modes", "terminal", "keyrings", "priorities", "locks", "`stat`"];
    of_words(&read("docs/auto-mode.md"), "## What a session can reach", &open);
    of_words(&read("docs/auto-mode.md"), "## What a session can reach", &["`fence.read`", "`fence.sockets`"]);
    let parties =
        ["| you |", "| the repository |", "| a session |", "| a check |", "| a filter of git |", "| the client |"];
    let security = read("SECURITY.md");
    of_words(&security, "## Unattended runs", &parties);
    of_words(&security, "## Unattended runs", &["5.13", "5.19", "6.2", "6.7", "6.10", "6.12", "macOS", "Windows"]);
    let switches = ["--no-fence", "--no-project-settings", "review.unfenced", "approved", "secrets.toml", "hook"];
    of_words(&security, "## Unattended runs", &switches);
    let openings = ["fence.read", "fence.sockets", "fence.network", "fence.terminals"];
    of_words(&security, "## Unattended runs", &openings);
}

#[test]
fn a_program_gets_its_three_streams_and_no_other_open_file() {
    let Some(place) = Place::new() else { return };
    for guard in [Guard::Fence(None), Guard::Open] {
        let before = place.yard.seen();
        let inner = place.command(guard);
        let mut command = place.yard.context.command("bash");
        command.args(["-c", "exec 3>> $OUT/kept 11< $OUT/.ssh/id; exec \"$@\"", "bash"]).arg(inner.get_program());
        command.args(inner.get_args()).args(["-c", "{ echo x >&3; cat <&11; } 2> /dev/null; ls /proc/self/fd"]);
        let output = command.env("OUT", place.yard.outside()).output().unwrap();
        // The fourth is the folder that is listed.
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n1\n2\n3\n", "{guard:?}");
        assert_eq!(place.yard.seen(), before, "{guard:?}");
    }
}

#[test]
fn ports_are_limited_to_the_named_ones() {
    let Some(place) = Place::new() else { return };
    if version_of_kernel() < 4 {
        return;
    }
    let port = place.tcp.local_addr().unwrap().port().to_string();
    let reaches = |words: &[&str]| {
        let mut command = place.yard.context.command(binary());
        command.arg("__fence").args(words).args(["--", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$TCP && echo got"]);
        command.env("TCP", &port).output().unwrap().stdout == b"got\n"
    };
    assert!(reaches(&[]) && reaches(&["--port", &port]) && reaches(&["--port", "1", "--port", &port]));
    assert!(!reaches(&["--network"]) && !reaches(&["--port", "1"]));
}

#[test]
fn a_pseudo_terminal_works_if_terminals_are_allowed_and_fails_at_once_otherwise() {
    let Some(place) = Place::new() else { return };
    let makes = |words: &[&str]| {
        let mut command = place.yard.context.command(binary());
        command.arg("__fence").args(words).args(["--", "script", "-qec", "echo got", "/dev/null"]);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).contains("got"))
    };
    assert_eq!(makes(&["--terminals"]), (true, true));
    assert_eq!(makes(&[]), (false, false));
}

#[test]
fn a_file_allowed_in_a_secret_folder_can_be_read_and_its_neighbours_cannot() {
    let Some(place) = Place::new() else { return };
    let ssh = place.yard.outside().join(".ssh");
    let mut command = place.yard.context.command(binary());
    command.arg("__fence").arg("--secret").arg(&ssh).arg("--read").arg(ssh.join("id"));
    command.args([
        "--keep",
        "TMUX",
        "--",
        "bash",
        "-c",
        "cat $OUT/.ssh/id; ls $OUT/.ssh; $OUT/.ssh/run; printenv TMUX NVIM",
    ]);
    command.env("OUT", place.yard.outside()).env("TMUX", "kept").env("NVIM", "taken");
    assert_eq!(String::from_utf8_lossy(&command.output().unwrap().stdout), "got a key\nkept\n");
}
