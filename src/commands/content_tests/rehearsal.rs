//! Runs every call in the texts that writes documents or commits, each in a fresh project under git.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::project::copy;
use super::{ContentCall, Effect, PHASE, PLAIN, all_calls, needs_words, project, sample, told, tree, usage};
use crate::commands::families::{CATALOG, answer, read};
use crate::peer::contract::ExitContract;
use crate::world::World;

/// Calls that need what the test project lacks: a project in another layout, open items.
const ELSEWHERE: &[&str] = &["from-gsd2", "audit-open acknowledge", "auto steer", "auto capture", "auto answer"];

/// Brings the project into the state that a call expects.
fn prepare(folder: &Path, path: &str, words: &[String]) {
    let phase = folder.join(PHASE);
    let report = |status: &str| {
        let text = format!(
            "---\nphase: 02-core\nverified: 2026-01-05T10:00:00Z\nstatus: {status}\nscore: 1/1\nhuman_verification:\n  - test: Look\n    expected: It shows\n---\n\n# Report\n"
        );
        fs::write(phase.join("02-VERIFICATION.md"), text).unwrap();
    };
    match path {
        "phase complete" => report("passed"),
        "verification defer-human" => report("human_needed"),
        "commit" => {
            for removed in words.iter().skip_while(|word| *word != "--files-removed").skip(1) {
                _ = fs::remove_file(folder.join(removed));
            }
        }
        "handoff write" => {
            let blocks = [
                "current_state",
                "completed_work",
                "remaining_work",
                "decisions_made",
                "blockers",
                "context",
                "next_action",
            ];
            let blocks = blocks.map(|block| format!("<{block}>\nSome words.\n</{block}>\n\n")).concat();
            let text = format!(
                "---\ncontext: phase\nphase: 02-core\ntask: 1\ntotal_tasks: 2\nstatus: in_progress\nlast_updated: 2026-01-05\n---\n\n{blocks}"
            );
            fs::write(phase.join(".continue-here.md"), text).unwrap();
        }
        "todo complete" => {
            let pending = folder.join(".planning/todos/pending");
            fs::create_dir_all(&pending).unwrap();
            fs::write(pending.join("a.md"), "---\ncreated: 2026-01-05\ntitle: A\narea: general\n---\n").unwrap();
        }
        "quick-tasks-append" => {
            let state = folder.join(".planning/STATE.md");
            let text = fs::read_to_string(&state).unwrap();
            let table = "### Quick Tasks Completed\n\n| # | Description | Date | Commit | Status | Directory |\n|---|---|---|---|---|---|\n\n";
            let at = text.find("## Session").unwrap_or(text.len());
            fs::write(&state, format!("{}{table}{}", &text[..at], &text[at..])).unwrap();
        }
        _ => {}
    }
}

#[test]
fn every_writing_call_in_a_text_does_its_work() {
    let start = project();
    under_git(start.path());
    let mut faults = Vec::new();
    let mut made = 0;
    for call in all_calls().into_iter().filter(|call| !call.path.starts_with("templates/guide/")) {
        match rehearsed(&call, start.path()) {
            Some(Ok(())) => made += 1,
            Some(Err(fault)) => faults.push(format!("{call}\n    {fault}")),
            None => {}
        }
    }
    assert!(faults.is_empty(), "correct the text, the samples, or the command:\n{}", faults.join("\n"));
    assert!(made > 60, "{made}");
}

/// The result of a call that writes; `None` for other calls.
fn rehearsed(call: &ContentCall, start: &Path) -> Option<Result<(), String>> {
    let value = |name: &str| {
        sample(name).unwrap_or_else(|| if PLAIN.contains(&name) { "1".to_owned() } else { "Some words".to_owned() })
    };
    let words = call.words.iter().map(|word| word.with(value));
    let parsed = read(words.map(OsString::from).collect()).ok()?;
    let row = usage::family_of(CATALOG, &parsed).ok()?;
    let tree = tree(row);
    let leaf = usage::leaf(&tree, &parsed.words);
    let effect = row.verb(&leaf.path)?.effect;
    // Words in capitals are placeholders in a sentence about the command.
    let is_mention = parsed.words.len() == leaf.path.split(' ').count() && needs_words(leaf.command)
        || parsed.words.iter().any(|word| matches!(word.as_str(), "KEY" | "VALUE" | "NAME" | "FEATURE"));
    let is_made = effect == Effect::Writes || leaf.path == "commit";
    if !is_made || is_mention || ELSEWHERE.contains(&leaf.path.as_str()) {
        return None;
    }
    let folder = crate::testing::folder();
    copy(start, folder.path());
    prepare(folder.path(), &leaf.path, &parsed.words);
    let home = folder.path().join(".home");
    let path = std::env::var("PATH").unwrap_or_default();
    let world = World::with([("HOME", home.to_str().unwrap_or_default()), ("PATH", path.as_str())], folder.path());
    let answer = answer(parsed, ExitContract::V1, world);
    Some(match answer.outcome {
        Err(error) => Err(told(&error)),
        Ok(0) => Ok(()),
        Ok(code) => Err(format!("exit {code}: {}", answer.stdout.trim())),
    })
}

fn under_git(folder: &Path) {
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.email", "a@b.c"],
        &["config", "user.name", "A"],
        &["add", "-A"],
        &["commit", "-qm", "start"],
    ] {
        assert!(Command::new("git").args(words).current_dir(folder).status().unwrap().success());
    }
}
