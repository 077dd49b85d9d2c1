//! A conversation with the user's client about a milestone or a slice, in the foreground of a terminal.

use std::os::unix::fs::PermissionsExt;

use crate::auto::{git, project};
use crate::auto_ways_on::{BEGIN, run, stopped};
use crate::kit::TestContext;

/// A client that notes where it was started and what it was given, and does `script`.
fn client(context: &TestContext, script: &str) -> String {
    let file = context.temporary().join("client.sh");
    let noted = context.temporary().join("noted");
    let text = format!("#!/bin/sh\n{{ test -t 0 && pwd; printf '%s' \"$1\"; }} > {}\n{script}\n", noted.display());
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("--runner fake --runner-program {}", file.display())
}

fn noted(context: &TestContext) -> String {
    std::fs::read_to_string(context.temporary().join("noted")).unwrap()
}

fn at_a_terminal(context: &TestContext, call: &str) -> (Option<i32>, String) {
    let output = context.at_a_terminal(call, &[("NO_COLOR", "1")], "");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}

/// The commands that an answer prints as the next ones.
fn next(answer: &str) -> Vec<String> {
    let from = answer.find("Next").unwrap_or_else(|| panic!("{answer}"));
    answer[from..].trim_start_matches("Next").lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn without_a_milestone_a_new_one_is_discussed_and_the_printed_commands_run_it() {
    let context = project();
    let writes = "mkdir -p .gsd/milestones/M001
        printf '# M001: A shelf\\n\\nMake a shelf of files.\\n' > .gsd/milestones/M001/M001-CONTEXT.md
        printf '# Requirements\\n## Active\\n' > .gsd/REQUIREMENTS.md";
    let agent = client(&context, writes);
    let (code, answer) = at_a_terminal(&context, &format!("auto discuss {agent}"));
    assert_eq!(code, Some(0), "{answer}");
    let noted = noted(&context);
    let root = context.project().canonicalize().unwrap();
    assert!(noted.starts_with(&format!("{}\n", root.display())), "it has the terminal, in the project: {noted}");
    assert!(noted.contains("Ask one to three questions") && noted.contains("M001-CONTEXT.md"), "{noted}");
    let next = next(&answer);
    assert_eq!(next.len(), 3, "{answer}");
    for command in &next[..2] {
        let output = context.command("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let words: Vec<&str> = next[2].split(' ').skip(1).collect();
    assert_eq!(words, ["auto", "run", "M001"]);
    stopped(&run(&context, &words, &[]), "complete");
    // The next one has a new number.
    let other = context.gsd(["auto", "discuss", "--new"]).json();
    assert_eq!(other["unit"]["id"], "M002", "{other:#}");
}

#[test]
fn a_client_that_writes_nothing_or_cannot_be_started_is_not_a_discussion() {
    let context = project();
    let agent = client(&context, "exit 3");
    let (code, answer) = at_a_terminal(&context, &format!("auto discuss {agent}"));
    assert_eq!(code, Some(10), "{answer}");
    let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("was not written.") && words.contains("has reported a failure"), "{answer}");
    assert_eq!(next(&answer), ["gsd-tools auto discuss M001"]);
    let (code, answer) = at_a_terminal(&context, "auto discuss --runner fake --runner-program ./nothing.sh");
    assert!(code != Some(0) && answer.contains("nothing.sh"), "{answer}");
    // One whose way to begin is unknown gets the text from the user.
    let (code, answer) = at_a_terminal(&context, "auto discuss --runner acp --runner-program x");
    assert!(code != Some(0) && answer.contains("gsd-tools auto discuss M001 --print"), "{answer}");
    // The printed commands work although the milestone is not there yet; another number is a mistake.
    let printed = context.gsd(["auto", "discuss", "M001", "--print"]).json();
    assert_eq!(printed["unit"]["id"], "M001", "{printed:#}");
    assert!(context.gsd(["auto", "discuss", "M009", "--print"]).code != 0);
    // A context that was there before is not what came of the conversation.
    context.write(".gsd/milestones/M001/M001-CONTEXT-DRAFT.md", "# M001: A shelf\n");
    context.write(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: A shelf\n\nFiles.\n");
    let (code, answer) = at_a_terminal(&context, &format!("auto discuss M001 {}", client(&context, "true")));
    assert_eq!(code, Some(10), "{answer}");
    // What cannot be read is not absent.
    std::fs::write(context.project().join(".gsd/milestones/M001/M001-CONTEXT.md"), b"\xff\xfe\x00").unwrap();
    let refused = context.gsd(["auto", "discuss", "--print"]);
    assert!(refused.code != 0 && refused.stderr.contains("M001-CONTEXT.md"), "{}", refused.stderr);
}

#[test]
fn a_slice_of_a_run_is_discussed_where_the_run_works_and_the_run_continues() {
    let context = project();
    context.write(".gsd/PREFERENCES.md", "---\nphases:\n  require_slice_discussion: true\n---\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=preferences"]);
    let mut ran = run(&context, BEGIN, &[]);
    // The first slice too: it is planned after its discussion, and not with the milestone.
    for slice in ["S01", "S02"] {
        let stop = stopped(&ran, "slice-needs-discussion");
        assert_eq!(stop["next"], format!("gsd-tools auto discuss M001/{slice}"), "{stop:#}");
        let folder = format!(".gsd/worktrees/M001/.gsd/milestones/M001/slices/{slice}");
        let document = format!("{folder}/{slice}-CONTEXT.md");
        let writes =
            format!("mkdir -p {folder}; printf '# {slice}: A part\\n\\n## Goal\\n\\nOne file.\\n' > {document}");
        let agent = client(&context, &writes);
        let (code, answer) = at_a_terminal(&context, &format!("auto discuss M001/{slice} {agent}"));
        assert_eq!(code, Some(0), "{answer}");
        assert!(noted(&context).contains("# Discuss a slice"), "{}", noted(&context));
        assert_eq!(next(&answer), ["gsd-tools auto run"]);
        ran = run(&context, &["auto", "run"], &[]);
    }
    stopped(&ran, "complete");
    assert!(git(&context, &["show", "main:.gsd/milestones/M001/slices/S02/S02-CONTEXT.md"]).contains("One file."));
    // No run holds a conversation.
    let refused = run(&context, &["auto", "dispatch", "discuss-slice", "M001/S02"], &[]);
    assert!(refused.code != 0, "{}", refused.stdout);
}
