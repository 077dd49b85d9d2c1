//! `auto probe`: every change in a client is reported, and a probe leaves nothing over.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::auto::compile;
use crate::kit::{Ran, TestContext, binary};

/// The environment of a user with a key, inside a host.
const ENVIRONMENT: [(&str, &str); 3] = [("OPENAI_API_KEY", "k"), ("CLAUDECODE", "1"), ("GSD_TEST_SECRET", "s")];

/// A client that behaves differently in one way; an empty change means none.
fn shim(context: &TestContext, change: &str) -> PathBuf {
    let path = context.home().join(format!("client-{change}"));
    let agent = compile::fake_agent().display();
    std::fs::write(&path, format!("#!/bin/sh\nFAKE_ACTOR='probed:{change}' exec '{agent}' \"$@\"\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn probe(context: &TestContext, change: &str, trials: &[&str]) -> Ran {
    let program = shim(context, change);
    let mut words = vec!["auto", "probe", "claude", "--program", program.to_str().unwrap(), "--json"];
    words.extend(trials.iter().flat_map(|trial| ["--trial", trial]));
    context.gsd_with(words, &ENVIRONMENT, "")
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

/// The differences in an answer: the trial, true if grave, and what differs.
fn differences(report: &Value) -> Vec<(String, bool, String)> {
    let client = &report["clients"][0];
    let of = |trial: &str, differs: &Value| {
        let list = differs.as_array().unwrap().iter();
        let one = |it: &Value| (trial.to_owned(), it["grave"] == true, it["text"].as_str().unwrap().to_owned());
        list.map(one).collect::<Vec<_>>()
    };
    let trials = client["trials"].as_array().unwrap().iter();
    let in_trials = trials.flat_map(|trial| of(trial["trial"].as_str().unwrap(), &trial["differs"]));
    of("", &client["differs"]).into_iter().chain(in_trials).collect()
}

fn expect_no_residue(context: &TestContext) {
    let temporary = context.home().with_file_name("tmp");
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let ours = left.iter().filter(|name| name.to_string_lossy().contains("scratch"));
    assert_eq!(ours.count(), 0, "{left:?}");
    let alive: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("environ")).ok())
        .map(|environment| String::from_utf8_lossy(&environment).into_owned())
        .filter(|environment| environment.contains(&format!("HOME={}/gsd-tools-scratch", temporary.display())))
        .collect();
    assert_eq!(alive, [""; 0]);
}

#[test]
fn a_client_that_matches_the_facts_does_not_differ_and_nothing_is_left() {
    let context = TestContext::new();
    let ran = probe(&context, "", &[]);
    let report = report(&ran);
    assert_eq!((ran.code, differences(&report)), (0, Vec::new()), "{report:#}\n{}", ran.stderr);
    let client = &report["clients"][0];
    assert_eq!(client["trials"].as_array().unwrap().len(), 11);
    assert_eq!(client["version"], "2.1.330 (Fake Client)");
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("claude ")).count(), 11, "{}", ran.stderr);
    expect_no_residue(&context);
    let mut home: Vec<_> = std::fs::read_dir(context.home()).unwrap().map(|it| it.unwrap().file_name()).collect();
    home.retain(|name| name != "client-");
    assert_eq!(home, Vec::<std::ffi::OsString>::new(), "nothing of the user's is written");
}

/// The change, the trial that shows it, true if it is grave, and words of the difference.
const CHANGES: [(&str, &str, bool, &str); 24] = [
    ("prompt", "work", true, "not given the prompt as it is"),
    ("version", "", false, "version 2.9.0 (Fake Client) is not the measured 2.1.330"),
    ("exit-code", "work", true, "exit code 3"),
    ("silent", "work", true, "`no-signal`"),
    ("no-end", "work", true, "`no-signal`"),
    ("hang", "work", true, "`stopped: idle`"),
    ("event-name", "work", true, "`outcome success`"),
    ("result-word", "work", true, "`result done`"),
    ("reason", "work", true, "`dead: model`"),
    ("start-event", "work", true, "`begin init`"),
    ("answer-event", "work", true, "the stream shows no tool"),
    ("no-result-of-tool", "work", false, "no longer in its stream: `user`"),
    ("noise", "work", false, "1 lines of its stream are not JSON"),
    ("new-event", "work", false, "new in its stream: `telemetry sent`"),
    ("other-session", "work", true, "the session is called `another`"),
    ("no-session", "work", true, "the name of the session is not reported"),
    ("no-tokens", "work", true, "no tokens are reported"),
    ("tokens", "work", true, "2019 tokens of input"),
    ("cache", "work", true, "0 from a cache"),
    ("no-cost", "work", false, "no cost is reported"),
    ("nothing-made", "work", true, "is not there"),
    ("process-left", "work", false, "left processes running"),
    ("false-success", "401", true, "taken for a success"),
    ("failure-code", "403", false, "exit code 7, not 1"),
];

#[test]
fn each_change_of_a_client_is_reported_in_its_trial() {
    let queue = Mutex::new(CHANGES.iter());
    let wrong = Mutex::new(Vec::new());
    compile::fake_agent();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some((change, trial, is_grave, words)) = queue.lock().unwrap().next() else { return };
                    let context = TestContext::new();
                    let ran = probe(&context, change, &["work", if trial.is_empty() { "work" } else { trial }]);
                    let found = differences(&report(&ran));
                    let is_named = found.iter().any(|(at, _, text)| at == trial && text.contains(words));
                    let is_grave_in = found.iter().any(|(at, grave, _)| at == trial && *grave);
                    if !is_named || is_grave_in != *is_grave || ran.code != i32::from(*is_grave) {
                        wrong.lock().unwrap().push(format!("{change}: {}, {found:?}", ran.code));
                    }
                    expect_no_residue(&context);
                }
            });
        }
    });
    assert_eq!(wrong.into_inner().unwrap(), [""; 0]);
}

#[test]
fn people_get_a_line_for_each_trial_and_a_summary() {
    let context = TestContext::new();
    let program = shim(&context, "other-status");
    let call = format!("auto probe claude --program {} --trial work --trial 500 2> /dev/null", program.display());
    let output = context.at_a_terminal(&call, &[], "");
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains("work            ran                         ok"), "{output}");
    assert!(output.contains("500             dead: quota"), "{output}");
    assert!(output.contains("none of them grave"), "{output}");
}

#[test]
fn a_probe_that_is_interrupted_leaves_nothing() {
    let context = TestContext::new();
    let program = shim(&context, "hang");
    let mut command = context.command(binary());
    command.args(["auto", "probe", "claude", "--trial", "work", "--program"]).arg(program);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let temporary = context.home().with_file_name("tmp");
    let end = Instant::now() + Duration::from_secs(120);
    let has_begun = || walkdir::WalkDir::new(&temporary).into_iter().flatten().any(|entry| entry.file_name() == "work");
    while !has_begun() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let id = i32::try_from(child.id()).unwrap();
    let sent = std::process::Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap();
    assert!(sent.success());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.contains("interrupted")), (Some(1), true), "{said}");
    expect_no_residue(&context);
}

#[test]
fn a_client_that_cannot_be_probed_is_an_error_with_a_fix() {
    let context = TestContext::new();
    let of = |words: &[&str]| context.gsd_with(words.iter().copied(), &[("PATH", "/nowhere")], "");
    for (words, error, hint) in [
        (&["auto", "probe", "claud"][..], "`claud` is not a runner", "claude"),
        (&["auto", "probe", "cline"], "cannot be probed", "choose one of claude"),
        (&["auto", "probe", "codex"], "not installed or not in PATH", "gsd-tools auto probe codex --program"),
        (&["auto", "probe"], "none of the clients", "--program"),
        (&["auto", "probe", "claude", "--trial", "lunch"], "`lunch` is not a trial", "429-for-hours"),
        (&["auto", "probe", "claude", "--program", "/nowhere/claude"], "/nowhere/claude", "install"),
    ] {
        let ran = of(words);
        assert!(ran.code != 0 && ran.stderr.contains(error) && ran.stderr.contains(hint), "{words:?}: {}", ran.stderr);
    }
    expect_no_residue(&context);
    assert!(!Path::new("/nowhere").exists());
}
