//! Messages of runs: each channel against a local receiver, ones that fail, and who may name them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::auto::{compile, git, project, report};
use crate::auto_ways_on::{BEGIN, run};
use crate::kit::{TestContext, binary};

/// Writes the user's own preferences.
pub(crate) fn own(context: &TestContext, keys: &str) {
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(".gsd/PREFERENCES.md"), format!("---\n{keys}---\n")).unwrap();
}

fn entries(context: &TestContext, event: &str) -> Vec<Value> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    rows.filter(|entry| entry["event"] == event).collect()
}

/// What a server does with each request.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    Answers(&'static str),
    Hangs,
}

/// A server on this machine: its address, and the requests with the moment of each.
pub(crate) fn receiver(manner: Manner) -> (String, Receiver<(String, Instant)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut text = Vec::new();
            let mut part = [0; 4096];
            // A request of a few hundred bytes, with its length in a header.
            loop {
                let count = stream.read(&mut part).unwrap_or_default();
                text.extend_from_slice(&part[..count]);
                let all = String::from_utf8_lossy(&text).into_owned();
                let Some((head, body)) = all.split_once("\r\n\r\n") else {
                    if count == 0 {
                        break;
                    }
                    continue;
                };
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
                });
                if body.len() >= length.unwrap_or_default() || count == 0 {
                    let _ = sender.send((all, Instant::now()));
                    break;
                }
            }
            match manner {
                Manner::Answers(status) => {
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes());
                }
                Manner::Hangs => open.push(stream),
            }
        }
    });
    (address, requests)
}

#[test]
fn a_landing_reaches_each_channel_once() {
    let context = project();
    let (webhook, posted) = receiver(Manner::Answers("200 OK"));
    let (ntfy, published) = receiver(Manner::Answers("200 OK"));
    let file = context.home().join("messages.txt");
    // It runs in the home folder.
    std::fs::write(context.home().join("tell.sh"), "cat > messages.txt; echo \" $1 $2\" >> messages.txt\n").unwrap();
    own(
        &context,
        &format!(
            "messages:\n  webhook: {webhook}/hook/secret-part\n  ntfy: {ntfy}/my-runs\n  command: sh tell.sh {{topic}} {{text}}\n"
        ),
    );
    let ran = run(&context, BEGIN, &[]);
    let ended = Instant::now();
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    let posted: Vec<_> = posted.try_iter().collect();
    let [(request, at)] = posted.as_slice() else { panic!("{posted:?}") };
    assert!(ended.duration_since(*at) < Duration::from_secs(5));
    assert!(request.starts_with("POST /hook/secret-part HTTP/1.1\r\n"), "{request}");
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    let commit = git(&context, &["rev-parse", "--short=7", "main"]);
    assert_eq!(body["topic"], "landed");
    assert!(body["text"].as_str().unwrap().ends_with(&format!(" landed on main as {commit}")), "{body:#}");
    assert_eq!(body["next"], "gsd-tools auto report");
    assert_eq!(body["project"], "project");
    let published: Vec<_> = published.try_iter().collect();
    let [(request, _)] = published.as_slice() else { panic!("{published:?}") };
    assert!(request.contains("Title: project: landed\r\n"), "{request}");
    assert!(request.ends_with(". Next: gsd-tools auto report"), "{request}");
    let told = std::fs::read_to_string(&file).unwrap();
    assert!(told.starts_with(&body.to_string()[..10]) && told.contains(" landed M001"), "{told}");
    assert_eq!(entries(&context, "announced").len(), 1);
    let delivered = entries(&context, "delivered");
    assert!(delivered.len() == 3 && delivered.iter().all(|entry| entry["problem"].is_null()), "{delivered:#?}");
    assert!(!context.gsd(["auto", "log", "--all"]).stdout.contains("secret-part"), "an address can be a key");
}

/// A landing at a terminal, with these preferences and variables: what the terminal got.
#[cfg(target_os = "linux")]
fn at_a_terminal(context: &TestContext, keys: &str, variables: &[(&str, &str)]) -> String {
    own(context, keys);
    let (brief, agent) = (context.home().join("brief.md"), compile::fake_agent());
    let call = format!("auto run --yes --brief {} --runner fake --runner-program {}", brief.display(), agent.display());
    let shape = [("FAKE_SHAPE", "1x1"), ("FAKE_ACTOR", "ideal")];
    let output = context.at_a_terminal(&call, &[&shape[..], variables].concat(), "");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_asked_for_a_notification_in_the_form_that_it_knows() {
    for (variables, begins, ends) in [
        (&[][..], "\u{1b}]9;project: M001", "\u{1b}\\"),
        (&[("VTE_VERSION", "7600")], "\u{1b}]777;notify;project;M001", "\u{1b}\\"),
        (&[("TMUX", "/tmp/x,1,0")], "\u{1b}Ptmux;\u{1b}\u{1b}]9;project: M001", "\u{1b}\u{1b}\\\u{1b}\\"),
    ] {
        let context = project();
        let shown = at_a_terminal(&context, "messages:\n  terminal: true\n", variables);
        let sent: Vec<&str> = shown.split(begins).skip(1).collect();
        let [sent] = sent.as_slice() else { panic!("{variables:?}: {shown:?}") };
        let text = sent.split_once(ends).unwrap_or_else(|| panic!("{shown:?}")).0;
        assert!(text.contains(" landed on main as "), "{text:?}");
        let delivered = entries(&context, "delivered");
        assert!(delivered.len() == 1 && delivered[0]["problem"].is_null(), "{delivered:#?}");
    }
    // Where there is none, that is said.
    let context = project();
    own(&context, "messages:\n  terminal: true\n");
    let ran = run(&context, BEGIN, &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("No messages by `terminal`: this run has no terminal"), "{}", ran.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_desktop_message_is_one_notification_by_the_program_of_the_system() {
    use std::os::unix::fs::PermissionsExt;
    let context = project();
    let (bin, file) = (context.home().join("bin"), context.home().join("shown.txt"));
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("notify-send");
    std::fs::write(&program, format!("#!/bin/sh\nfor word; do echo \"$word\"; done >> {}\n", file.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    own(&context, "messages:\n  desktop: true\n");
    let ran = crate::scripted::run(&context, BEGIN, &[], &[("FAKE_SHAPE", "1x1"), ("PATH", &path)]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    let shown = std::fs::read_to_string(&file).unwrap();
    let [app, end, title, text] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert_eq!((app, end, title), ("--app-name=gsd-tools", "--", "project: landed"));
    assert!(text.contains(" landed on main as ") && text.ends_with("Next: gsd-tools auto report"), "{text}");
    // It fails; a program of the user's own home takes the message.
    let again = project();
    std::fs::write(&program, "#!/bin/sh\necho no display >&2; exit 1\n").unwrap();
    std::fs::create_dir_all(again.home().join("bin")).unwrap();
    std::fs::write(again.home().join("bin/note"), "#!/bin/sh\ncat > noted.json\n").unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(again.home().join("bin/note"), executable).unwrap();
    own(&again, "messages:\n  desktop: true\n  command: ~/bin/note {topic}\n");
    let ran = crate::scripted::run(&again, BEGIN, &[], &[("FAKE_SHAPE", "1x1"), ("PATH", &path)]);
    assert!(std::fs::read_to_string(again.home().join("noted.json")).unwrap().contains("landed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("message by desktop not delivered: exit code 1: no display"), "{}", ran.stderr);
}

#[test]
fn a_channel_that_hangs_fails_or_redirects_is_reported_and_the_run_lands() {
    let cases = [
        (Manner::Hangs, "webhook", "did not answer"),
        (Manner::Answers("500 Broken"), "ntfy", "the server answered 500"),
        (Manner::Answers("302 Found\r\nLocation: http://127.0.0.1:9/"), "webhook", "a redirect, which is not followed"),
    ];
    for (manner, key, why) in cases {
        let context = project();
        let (address, _requests) = receiver(manner);
        own(&context, &format!("messages:\n  {key}: {address}/x\n  command: sh -c \"exit 3\"\n"));
        let ran = run(&context, BEGIN, &[]);
        assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("message by command not delivered: exit code 3"), "{}", ran.stderr);
        let line = ran.stderr.lines().find(|line| line.contains(&format!("message by {key} not delivered")));
        assert!(line.is_some_and(|line| line.contains(why)), "{key}: {}", ran.stderr);
    }
}

#[test]
fn a_project_names_no_address_and_its_command_needs_an_approval_and_runs_in_the_fence() {
    let of_project = |context: &TestContext, keys: &str| {
        context.write(".gsd/PREFERENCES.md", &format!("---\n{keys}---\n"));
        git(context, &["add", "--all", "--force"]);
        git(context, &["commit", "--quiet", "--message=preferences"]);
    };
    let context = project();
    of_project(&context, "messages:\n  webhook: https://elsewhere.example/x\n");
    let ran = run(&context, BEGIN, &[]);
    assert!(ran.code == 64 && ran.stderr.contains("`messages.webhook`"), "{}", ran.stderr);
    let context = project();
    // The home folder of a test can be on a device, where a fence lets programs write.
    let outside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("message-{}.txt", std::process::id()));
    context.write("tools/tell.sh", &format!("echo x > {}\n", outside.display()));
    of_project(&context, "messages:\n  command: sh tools/tell.sh\n");
    let call = |approved: Option<&str>| {
        let agent = compile::fake_agent().to_string_lossy().into_owned();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let mut call = context.command(binary());
        call.args(["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent]);
        call.env("FAKE_SHAPE", "1x1").env("FAKE_ACTOR", "ideal").env_remove("GSD_APPROVED");
        call.envs(approved.map(|digest| ("GSD_APPROVED", digest)));
        let output = call.output().unwrap();
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (said, shown) = call(None);
    assert_eq!(said["stop"]["cause"], "not-approved", "{said:#}");
    let all = format!("{said:#}{shown}");
    assert!(all.contains("with each message of a run: sh tools/tell.sh"), "{all}");
    let digest = all.split("GSD_APPROVED=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let (said, shown) = call(Some(&digest));
    assert_eq!(said["stop"]["cause"], "complete", "{said:#}");
    assert!(!outside.exists(), "the fence of checks keeps it in the worktree");
    assert!(shown.contains("message by command not delivered: exit code"), "{shown}");
}

#[test]
fn an_unknown_topic_or_a_wrong_address_keeps_a_run_from_starting() {
    for (keys, said) in [
        ("messages:\n  on: [landing]\n", "line 3: `messages.on` has `landing`"),
        ("messages:\n  ntfy: my-runs\n", "line 3: `messages.ntfy` is not an address"),
        ("messages:\n  command: a | b\n", "line 3: in `messages.command`: "),
    ] {
        let context = project();
        own(&context, keys);
        let ran = run(&context, BEGIN, &[]);
        assert!(ran.code == 64 && ran.stderr.contains(said), "{keys}: {}", ran.stderr);
    }
}
