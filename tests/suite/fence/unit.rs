//! The main ways out, tried by a unit of a real run, by a check and by a filter, from a terminal, in a home with
//! secrets.

use std::collections::BTreeSet;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Stdio;

use crate::auto::compile;
use crate::auto_fence::{git, has_fence, project};
use crate::kit::{TestContext, binary};
use crate::notes::Notes;

/// Each line tries one thing; the result is sent to the test over the network, which is open.
const TRIES: &str = r#"
try() { if bash -c "$2" > /dev/null 2>&1; then echo "$WHO $1 yes" > /dev/tcp/127.0.0.1/$NOTES; else echo "$WHO $1 no" > /dev/tcp/127.0.0.1/$NOTES; fi; }
try own-temporary 'at=$(mktemp) && rm $at'
try short-path '[ ${#TMPDIR} -le $(( ${#SHARED} + 45 )) ]'
try shared-temporary 'echo x > $SHARED/tried'
try bashrc 'echo x >> $OUT/.bashrc'
try key 'cat $OUT/.ssh/id'
try keys 'ls $OUT/.ssh'
try netrc 'cat $OUT/.netrc'
try publishing 'cat $OUT/.cargo/credentials.toml'
try typed-before 'cat $OUT/.bash_history'
try login 'cat $OUT/.codex/auth.json'
try settings 'cat $OUT/.codex/config.toml'
try own-tty 'echo x > /dev/tty'
try users-tty 'echo x > $TTY'
try reading-tty 'exec 3< $TTY'
try session '[ "$(ps -o tty= -p $$)" != "?" ]'
try type 'perl -e "open my \$t, q(<), q(/dev/tty) or exit 1; ioctl \$t, 0x5412, \$_ or exit 1 for split //, qq(touch typed\n)"'
try type-as-root '[ $(id -u) = 0 ] && perl -e "open my \$t, q(<), \$ENV{TTY} or exit 1; ioctl \$t, 0x5412, \$_ or exit 1 for split //, qq(touch typed\n)"'
try signal 'kill -0 $RUN'
try abstract 'perl -MSocket -e "socket S, PF_UNIX, SOCK_STREAM, 0; exit !connect S, pack(q(Sxa*), PF_UNIX, \$ENV{ABSTRACT})"'
try variables 'printenv TMUX || printenv SSH_AUTH_SOCK || printenv DBUS_SESSION_BUS_ADDRESS || printenv XDG_RUNTIME_DIR'
try streams '[ $STREAMS = yes ]'
try open-file 'echo x >&17'
try open-tty 'echo x >&18'
try mode 'chmod 700 $OUT/.ssh'
"#;

/// True if a stream is a terminal, asked before any redirection.
const STREAMS: &str = "export STREAMS=no; for number in 0 1 2; do [ -t $number ] && STREAMS=yes; done";

/// What every program in a fence can do.
const OPEN: [&str; 4] = ["own-temporary", "short-path", "settings", "mode"];

/// What `who` could do, and what it tried.
fn could(notes: &Notes, who: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let told = notes.told();
    let rows = told.lines().filter_map(|line| line.strip_prefix(who)?.strip_prefix(' ')?.rsplit_once(' '));
    let tried: BTreeSet<(String, String)> = rows.map(|(what, answer)| (what.to_owned(), answer.to_owned())).collect();
    let could = tried.iter().filter(|(_, answer)| answer == "yes").map(|(what, _)| what.clone()).collect();
    (could, tried.into_iter().map(|(what, _)| what).collect())
}

fn executable(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home with secrets, and a project with a check and a filter that try everything.
fn scene() -> TestContext {
    let context = project(false);
    let home = context.home();
    for (path, text) in [
        (".ssh/id", "key\n"),
        (".netrc", "password\n"),
        (".cargo/credentials.toml", "token\n"),
        (".bash_history", "export TOKEN=x\n"),
        (".codex/auth.json", "{}\n"),
        (".codex/config.toml", "\n"),
        (".bashrc", "# mine\n"),
    ] {
        std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        std::fs::write(home.join(path), text).unwrap();
    }
    std::fs::create_dir_all(context.everything().join("run")).unwrap();
    context.write("tries.sh", &format!("WHO=check\n{STREAMS}\n{TRIES}\ntrue\n"));
    context.write("filter.sh", &format!("WHO=filter\n{STREAMS}\n{{ {TRIES} }} > /dev/null 2>&1 < /dev/null\ncat\n"));
    context.write(".gitattributes", "*.up filter=tree\n");
    context.write("a.up", "up\n");
    context.write(".gsd/PREFERENCES.md", "---\nverification_commands: [bash tries.sh]\n---\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=tries"]);
    git(&context, &["config", "filter.tree.clean", "bash filter.sh"]);
    git(&context, &["config", "filter.tree.smudge", "bash filter.sh"]);
    context
}

/// Runs a milestone at a terminal, with an agent that tries everything first; returns the output of the terminal.
fn run(context: &TestContext, notes: &Notes, more: &str) -> String {
    let agent = compile::fake_agent();
    let program = context.home().join("agent");
    executable(
        &program,
        &format!(
            "#!/bin/bash\n{STREAMS}\nexec 3>&1 1>&2\nWHO=$GSD_UNIT_KIND\n{TRIES}\nexec {} \"$@\" 1>&3\n",
            agent.display()
        ),
    );
    let (brief, agent) = (context.home().join("brief.md").display().to_string(), program.display().to_string());
    let approved =
        context.approval(&["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent]);
    let call = format!(
        "export TTY=$(tty); export RUN=$$; exec 17>> $OUT/.bashrc 18<> $TTY; '{}' auto run --brief '{}' --runner fake --runner-program '{}' {more} > '{}' 2>&1; sleep 0.3; \
         read -t 0.5 -r line && eval \"$line\"; echo over",
        binary().display(),
        brief,
        agent,
        context.everything().join("said").display(),
    );
    let mut command = context.command("script");
    let quoted = call.replace('\'', r"'\''");
    command.args(["-qec", &format!("bash -c '{quoted}'"), "/dev/null"]);
    let (home, run) = (context.home(), context.everything().join("run"));
    command.env("FAKE_SHAPE", "1x1").env("FAKE_ACTOR", "ideal").env("OUT", &home).env("XDG_RUNTIME_DIR", run);
    command.env("SHARED", context.temporary()).env("NOTES", notes.port()).env("GSD_APPROVED", approved);
    command
        .env("TMUX", "/tmp/tmux,1,0")
        .env("SSH_AUTH_SOCK", "/tmp/agent")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x");
    command.env("ABSTRACT", name(context));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`script` of util-linux is needed");
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn name(context: &TestContext) -> String {
    format!("gsd-suite-{}", context.everything().file_name().unwrap().to_str().unwrap())
}

#[test]
fn a_unit_a_check_and_a_filter_get_out_by_no_way_that_a_row_says_is_closed() {
    let context = scene();
    if !has_fence(&context) {
        return;
    }
    let name = SocketAddr::from_abstract_name(name(&context)).unwrap();
    let _listener = UnixListener::bind_addr(&name).unwrap();
    let notes = Notes::new();
    let seen = run(&context, &notes, "");
    let said = std::fs::read_to_string(context.everything().join("said")).unwrap();
    assert!(said.contains("complete"), "{said}\n{}", notes.told());
    for who in ["plan-milestone", "execute-task", "check", "filter"] {
        let (mut could, tried) = could(&notes, who);
        assert!(tried.len() >= 24, "{who} tried {tried:?}: {said}");
        if !super::is_at_least_version(6) {
            could.remove("signal");
            could.remove("abstract");
        }
        assert_eq!(could, OPEN.map(str::to_owned).into(), "{who}");
    }
    assert_eq!(std::fs::read_to_string(context.home().join(".bashrc")).unwrap(), "# mine\n");
    assert!(!context.project().join("typed").exists() && seen.ends_with("over\r\n"), "{seen:?}");
    let left: Vec<_> =
        std::fs::read_dir(context.temporary()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_fence_a_unit_has_everything_except_the_terminal() {
    let context = scene();
    let name = SocketAddr::from_abstract_name(name(&context)).unwrap();
    let _listener = UnixListener::bind_addr(&name).unwrap();
    let notes = Notes::new();
    run(&context, &notes, "--no-fence");
    for who in ["execute-task", "check"] {
        let (could, tried) = could(&notes, who);
        assert!(tried.len() >= 24, "{who}: {tried:?}");
        let held: Vec<&String> = tried.difference(&could).filter(|what| *what != "type-as-root").collect();
        assert_eq!(held, ["open-file", "open-tty", "own-tty", "session", "streams", "type"], "{who}");
    }
}

#[test]
fn the_user_can_open_ways_and_a_project_cannot() {
    let context = scene();
    if !has_fence(&context) {
        return;
    }
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    let own = "---\nfence:\n  read: [~/.netrc]\n  sockets: [TMUX]\n---\n";
    std::fs::write(context.home().join(".gsd/PREFERENCES.md"), own).unwrap();
    let notes = Notes::new();
    run(&context, &notes, "");
    let said = std::fs::read_to_string(context.everything().join("said")).unwrap();
    assert!(
        said.contains("Your preferences open in the fence: reading ") && said.contains("sockets by TMUX"),
        "{said}"
    );
    for who in ["execute-task", "check", "filter"] {
        let (could, _) = could(&notes, who);
        let wanted: BTreeSet<String> = OPEN.into_iter().chain(["netrc", "variables"]).map(str::to_owned).collect();
        assert_eq!(could, wanted, "{who}: {said}");
    }
    let refused = |own: &str, project: &str| {
        let context = scene();
        std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
        std::fs::write(context.home().join(".gsd/PREFERENCES.md"), own).unwrap();
        context.write(".gsd/PREFERENCES.md", project);
        let brief = context.home().join("brief.md").display().to_string();
        context.gsd(["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", "true"]).failure(64)
    };
    let said = refused("", "---\nfence:\n  read: [~/.ssh]\n---\n");
    assert!(said.contains("`fence.read`") && said.contains("which no project writes"), "{said}");
    let said = refused("---\nfence:\n  network: [example.com:443]\n---\n", "");
    assert!(said.contains("line 2: `fence` `example.com:443` in `network` is not a port"), "{said}");
    let said = refused("---\nfence:\n  sockets: [PATH]\n---\n", "");
    assert!(said.contains("`PATH` in `sockets`"), "{said}");
}
