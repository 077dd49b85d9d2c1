//! Does the work of a unit as its prompt orders it.

use crate::world::{Call, write};

/// How much of the work is done, and how well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Whole,
    /// Half of the work.
    Half,
    /// With an empty summary.
    Thin,
    /// With a check that passes whatever the code is.
    Hollow,
    /// With code that fails its own check.
    Broken,
    /// The task cannot be done as planned.
    Blocked,
    /// As `Blocked`, with nothing changed.
    Untrue,
    /// A plan without tasks.
    Empty,
}

pub fn work(call: &Call) -> Result<(), String> {
    work_in(call, Manner::Whole)
}

pub fn work_in(call: &Call, manner: Manner) -> Result<(), String> {
    let parts = call.parts();
    let (milestone, slice, task) =
        (parts.first().copied().unwrap_or("M001"), parts.get(1).copied(), parts.get(2).copied());
    match call.kind.as_str() {
        "plan-milestone" => plan_milestone(call, milestone, manner),
        "plan-slice" => plan_slice(milestone, slice.unwrap_or("S01"), call.shape.1, manner),
        "replan-slice" => replan(milestone, slice.unwrap_or("S01")),
        "execute-task" => execute(milestone, slice.unwrap_or("S01"), task.unwrap_or("T01"), manner),
        "complete-slice" => complete_slice(milestone, slice.unwrap_or("S01"), manner),
        "run-uat" => run_uat(milestone, slice.unwrap_or("S01")),
        "reassess-roadmap" => reassess(milestone, slice.unwrap_or("S01")),
        "validate-milestone" => validate(milestone),
        "complete-milestone" => complete_milestone(milestone),
        "rewrite-docs" => rewrite(),
        "triage-captures" => triage(),
        "hook" => Ok(()),
        "quick-task" => quick(milestone, slice.unwrap_or("S01"), task.unwrap_or("CAP-00000000"), manner),
        "research-milestone" => {
            write(&format!("{}-RESEARCH.md", of_milestone(milestone)), "# Research\n\nNothing new.\n")
        }
        "research-slice" => {
            let slice = slice.unwrap_or("S01");
            write(&format!("{}/{slice}-RESEARCH.md", of_slice(milestone, slice)), "# Research\n\nNothing new.\n")
        }
        "discuss-milestone" => {
            let text =
                format!("# {milestone}: A shelf of small files\n\n## Decisions\n\n- Files are made one by one.\n");
            write(&format!("{}-CONTEXT.md", of_milestone(milestone)), &text)
        }
        "discuss-phase" | "plan-phase" | "execute-phase" => {
            phase(&call.kind, milestone, manner)?;
            if manner == Manner::Half { Ok(()) } else { commit(&format!("work: {} {milestone}", call.kind)) }
        }
        other => Err(format!("`{other}` is no kind of unit that is known")),
    }
}

fn of_milestone(milestone: &str) -> String {
    format!(".gsd/milestones/{milestone}/{milestone}")
}

fn of_slice(milestone: &str, slice: &str) -> String {
    format!(".gsd/milestones/{milestone}/slices/{slice}")
}

/// The file that a task makes, and the check for it.
fn files_of(milestone: &str, slice: &str, task: &str) -> (String, String) {
    let later = if milestone == "M001" { String::new() } else { format!("{}_", milestone.to_lowercase()) };
    let name = format!("{later}{}_{}", slice.to_lowercase(), task.to_lowercase());
    (format!("src/{name}.txt"), format!("checks/{name}.sh"))
}

fn plan_milestone(call: &Call, milestone: &str, manner: Manner) -> Result<(), String> {
    let mut text = format!(
        "# {milestone}: A shelf of small files\n\n**Vision:** every task leaves one file and one check\n\n\
         ## Success Criteria\n\n- every check passes\n\n## Slices\n\n"
    );
    let slices = if manner == Manner::Empty { 0 } else { call.shape.0 };
    for number in 1..=slices {
        let depends = if number == 1 { String::new() } else { format!("S{:02}", number - 1) };
        text.push_str(&format!(
            "- [ ] **S{number:02}: Shelf {number}** `risk:low` `depends:[{depends}]`\n  > After this: the files of shelf {number} are there\n"
        ));
    }
    write(&format!("{}-ROADMAP.md", of_milestone(milestone)), &text)?;
    if slices == 0 || manner == Manner::Half || !call.plans_first_slice {
        return Ok(());
    }
    plan_slice(milestone, "S01", call.shape.1, manner)
}

fn plan_slice(milestone: &str, slice: &str, tasks: usize, manner: Manner) -> Result<(), String> {
    let tasks = if manner == Manner::Empty { 0 } else { tasks };
    let number: usize = slice.trim_start_matches('S').parse().unwrap_or(1);
    let depends = if number == 1 { String::new() } else { format!("S{:02}", number - 1) };
    let citation = format!("**Roadmap:** {slice}: Shelf {number} `risk:low` `depends:[{depends}]`");
    let names: Vec<String> = (1..=tasks).map(|number| format!("T{number:02}")).collect();
    let mut text = format!(
        "# {slice}: A shelf\n\n{citation}\n**Goal:** the files of this shelf\n**Demo:** every check of the shelf passes\n\n\
         ## Must-Haves\n\n- one file a task\n\n## Verification\n\n"
    );
    for task in &names {
        text.push_str(&format!("- `sh {}`\n", files_of(milestone, slice, task).1));
    }
    text.push_str("\n## Tasks\n\n");
    for task in &names {
        let (source, check) = files_of(milestone, slice, task);
        text.push_str(&format!(
            "- [ ] **{task}: Make {source}** `est:10m`\n  - Why: the shelf needs it\n  - Files: `{source}`, `{check}`\n  - Verify: sh {check}\n"
        ));
    }
    text.push_str("\n## Files Likely Touched\n\n");
    for task in &names {
        let (source, check) = files_of(milestone, slice, task);
        text.push_str(&format!("- `{source}`\n- `{check}`\n"));
    }
    let folder = of_slice(milestone, slice);
    write(&format!("{folder}/{slice}-PLAN.md"), &text)?;
    let fix = if std::env::var_os("FAKE_FIX").is_some() { "fix: true\n" } else { "" };
    for task in names.iter().filter(|_| manner != Manner::Half) {
        let (source, check) = files_of(milestone, slice, task);
        let text = format!(
            "---\nestimated_steps: 2\nestimated_files: 2\nskills_used: []\n{fix}---\n\n# {task}: Make {source}\n\n## Description\n\n\
             Make the file and its check.\n\n## Steps\n\n1. Write `{source}`.\n2. Write `{check}`.\n\n## Must-Haves\n\n- [ ] the check passes\n\n\
             ## Verification\n\n- `sh {check}`\n\n## Inputs\n\n- none\n\n## Expected Output\n\n- `{source}`\n- `{check}`\n"
        );
        write(&format!("{folder}/tasks/{task}-PLAN.md"), &text)?;
    }
    Ok(())
}

fn replan(milestone: &str, slice: &str) -> Result<(), String> {
    let folder = of_slice(milestone, slice);
    let plan = format!("{folder}/{slice}-PLAN.md");
    let text = std::fs::read_to_string(&plan).map_err(|error| format!("{plan}: {error}"))?;
    // Drops the checks of what a blocked task did not make. The entry of the task stays as it is.
    let is_blocked = |task: &str| {
        let summary = std::fs::read_to_string(format!("{folder}/tasks/{task}-SUMMARY.md")).unwrap_or_default();
        summary.contains("blocker_discovered: true") && !std::path::Path::new(&files_of(milestone, slice, task).0).exists()
    };
    let blocked: Vec<String> =
        (1..10).map(|number| format!("T{number:02}")).filter(|task| is_blocked(task)).map(|task| files_of(milestone, slice, &task).1).collect();
    let is_kept = |line: &&str| !line.starts_with("- `") || !blocked.iter().any(|check| line.ends_with(&format!("{check}`")));
    let text: String = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    write(&plan, &text.replacen("**Goal:** ", "**Goal:** (planned again) ", 1))?;
    write(&format!("{folder}/{slice}-REPLAN.md"), "# Replan\n\nThe blocked task is left as it is; the others go on.\n")
}

fn execute(milestone: &str, slice: &str, task: &str, manner: Manner) -> Result<(), String> {
    let (source, check) = files_of(milestone, slice, task);
    if manner == Manner::Untrue {
        let text = format!(
            "---\nid: {task}\nparent: {slice}\nmilestone: {milestone}\nkey_files: []\nverification_result: untested\n\
             completed_at: 2026-01-05T10:00:00Z\nblocker_discovered: true\n---\n\n# {task}: Make {source}\n\n\
             **The shelf has no room for {source}**\n\n## What Happened\n\nThe plan takes the shelf for larger than it is. Nothing was \
             changed, so that the plan can be made again.\n\n## Verification\n\nNone: nothing was made.\n"
        );
        return write(&format!("{}/tasks/{task}-SUMMARY.md", of_slice(milestone, slice)), &text);
    }
    let words = if manner == Manner::Broken { "not yet" } else { "ready" };
    write(&source, &format!("{slice} {task} {words}\n"))?;
    if manner == Manner::Half {
        return Ok(());
    }
    let tested = if manner == Manner::Hollow { "grep -q P README.md".to_owned() } else { format!("grep -q \"{slice} {task} ready\" {source}") };
    write(&check, &format!("#!/bin/sh\n{tested}\n"))?;
    let (is_blocked, result) = (manner == Manner::Blocked, if manner == Manner::Blocked { "failed" } else { "passed" });
    let body = if manner == Manner::Thin {
        "Done.\n".to_owned()
    } else {
        format!(
            "**The shelf has {source}**\n\n## What Happened\n\n{source} was written with the words that its check looks for. \
             The check {check} greps for them and was run.\n\n## Verification\n\n`sh {check}` passed.\n\n## Verification Evidence\n\n\
             | command | exit |\n| --- | --- |\n| `sh {check}` | 0 |\n\n## Deviations\n\nNone.\n\n## Known Issues\n\nNone.\n\n\
             ## Files Created/Modified\n\n- `{source}` — the file of this task\n- `{check}` — its check\n"
        )
    };
    let text = format!(
        "---\nid: {task}\nparent: {slice}\nmilestone: {milestone}\nprovides: [{source}]\nrequires: []\naffects: []\nkey_files: [{source}, {check}]\n\
         key_decisions: []\npatterns_established: []\ndrill_down_paths: []\nobservability_surfaces: []\nduration: 1m\nverification_result: {result}\n\
         completed_at: 2026-01-05T10:00:00Z\nblocker_discovered: {is_blocked}\n---\n\n# {task}: Make {source}\n\n{body}"
    );
    write(&format!("{}/tasks/{task}-SUMMARY.md", of_slice(milestone, slice)), &text)
}

/// Asks a person a question instead of doing the work.
pub fn ask(call: &Call) -> Result<(), String> {
    let parts = call.parts();
    let [milestone, slice, task] = parts[..] else { return Err(format!("{}: not a task", call.id)) };
    let text = format!(
        "{{\"version\": 1, \"taskId\": \"{task}\", \"sliceId\": \"{slice}\", \"milestoneId\": \"{milestone}\",\n \
         \"question\": \"Which store?\", \"options\": [{{\"id\": \"a\", \"label\": \"a file\"}}, {{\"id\": \"b\", \"label\": \"SQLite\"}}],\n \
         \"recommendation\": \"a\", \"continueWithDefault\": false, \"createdAt\": \"2026-01-05T10:00:00Z\"}}\n"
    );
    write(&format!("{}/tasks/{task}-ESCALATION.json", of_slice(milestone, slice)), &text)
}

fn complete_slice(milestone: &str, slice: &str, manner: Manner) -> Result<(), String> {
    let folder = of_slice(milestone, slice);
    let body =
        if manner == Manner::Thin { "Done." } else { "## What Happened\n\nEvery task left its file and its check." };
    let text = format!(
        "---\nid: {slice}\nparent: {milestone}\nmilestone: {milestone}\nprovides: []\nverification_result: passed\n\
         completed_at: 2026-01-05T10:00:00Z\nblocker_discovered: false\n---\n\n# {slice}: A shelf\n\n{body}\n"
    );
    write(&format!("{folder}/{slice}-SUMMARY.md"), &text)?;
    if manner == Manner::Half {
        return Ok(());
    }
    let uat = "# UAT\n\n## UAT Type\n\n- UAT mode: artifact-driven\n\n## Test Cases\n\n1. Run the checks. Expected: all pass.\n";
    write(&format!("{folder}/{slice}-UAT.md"), uat)
}

fn run_uat(milestone: &str, slice: &str) -> Result<(), String> {
    let text = "---\nverdict: PASS\n---\n\n# Result\n\n1. Every check passes.\n";
    write(&format!("{}/{slice}-UAT-RESULT.md", of_slice(milestone, slice)), text)
}

fn reassess(milestone: &str, slice: &str) -> Result<(), String> {
    let text = format!(
        "---\ndate: 2026-01-05\ntriggering_slice: {slice}\nverdict: no-change\n---\n\n# Assessment\n\nGo on.\n"
    );
    write(&format!("{}/{slice}-ASSESSMENT.md", of_slice(milestone, slice)), &text)
}

fn validate(milestone: &str) -> Result<(), String> {
    let text = format!(
        "---\nid: {milestone}\nremediation_round: 0\nverdict: pass\nslices_added: []\nhuman_required_items: []\n\
         validated_at: 2026-01-05T10:00:00Z\n---\n\n# Validation\n\nEvery check passes.\n"
    );
    write(&format!("{}-VALIDATION.md", of_milestone(milestone)), &text)
}

fn complete_milestone(milestone: &str) -> Result<(), String> {
    let text = format!(
        "---\nid: {milestone}\nstatus: complete\nrequirement_outcomes: []\n---\n\n# {milestone}\n\nThe shelf is full.\n"
    );
    write(&format!("{}-SUMMARY.md", of_milestone(milestone)), &text)
}

fn rewrite() -> Result<(), String> {
    let path = ".gsd/OVERRIDES.md";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    write(path, &text.replace("**Scope:** active", "**Scope:** resolved"))
}

/// Classifies each open capture by its first word, such as `inject: text`; others are quick tasks.
fn triage() -> Result<(), String> {
    let path = ".gsd/CAPTURES.md";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let (mut class, mut lines) = ("quick-task", Vec::new());
    for line in text.lines() {
        if let Some(what) = line.strip_prefix("**Text:** ") {
            let first = what.split(':').next().unwrap_or_default();
            let known = ["inject", "defer", "replan", "note", "stop", "backtrack", "nonsense"];
            class = known.into_iter().find(|known| *known == first.trim_start_matches("please ")).unwrap_or("quick-task");
        }
        if line == "**Status:** pending" {
            lines.push("**Status:** triaged".to_owned());
            lines.push(format!("**Classification:** {class}"));
            lines.push("**Rationale:** as its first word says".to_owned());
        } else {
            lines.push(line.to_owned());
        }
    }
    write(path, &(lines.join("\n") + "\n"))
}

/// Makes the file of a quick task.
fn quick(milestone: &str, slice: &str, capture: &str, manner: Manner) -> Result<(), String> {
    let source = format!("src/{}.txt", capture.to_lowercase().replace('-', "_"));
    write(&source, &format!("{capture} ready\n"))?;
    if manner == Manner::Half {
        return Ok(());
    }
    let text = format!(
        "---\nid: {capture}\nparent: {slice}\nmilestone: {milestone}\nkey_files: [{source}]\nverification_result: passed\n\
         completed_at: 2026-01-05T10:00:00Z\nblocker_discovered: false\n---\n\n# {capture}: Quick\n\n**{source} is on the shelf**\n\n\
         ## What Happened\n\nThe file was made.\n"
    );
    write(&format!("{}/tasks/{capture}-SUMMARY.md", of_slice(milestone, slice)), &text)
}

fn phase(kind: &str, number: &str, manner: Manner) -> Result<(), String> {
    let folder = phase_folder(number)?;
    let name = folder.rsplit('/').next().unwrap_or_default().split('-').next().unwrap_or("01").to_owned();
    match kind {
        "discuss-phase" => {
            write(&format!("{folder}/{name}-CONTEXT.md"), "# Context\n\n## Decisions\n\n- One file a plan.\n")
        }
        "plan-phase" if manner == Manner::Empty => Ok(()),
        "plan-phase" => {
            let (source, check) = files_of("M001", &format!("p{name}"), "01");
            let text = format!(
                "---\nphase: {name}\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [{source}, {check}]\nautonomous: true\n---\n\n\
                 <objective>\nMake {source} and its check.\n</objective>\n\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: Make the file</name>\n  \
                 <files>{source}, {check}</files>\n  <action>Write both.</action>\n  <verify><automated>sh {check}</automated></verify>\n  <done>The check passes.</done>\n</task>\n</tasks>\n"
            );
            write(&format!("{folder}/{name}-01-PLAN.md"), &text)
        }
        _ => {
            if let Some(program) = std::env::var_os("FAKE_GSD_TOOLS") {
                begin(&program, number, &format!("{name}-01"))?;
            }
            let (source, check) = files_of("M001", &format!("p{name}"), "01");
            let words = if manner == Manner::Broken { "not yet" } else { "ready" };
            write(&source, &format!("phase {name} {words}\n"))?;
            if manner == Manner::Half {
                return Ok(());
            }
            write(&check, &format!("#!/bin/sh\ngrep -q \"phase {name} ready\" {source}\n"))?;
            let text = format!(
                "---\nphase: {name}\nplan: 01\nkey-files: [{source}]\ncompleted: 2026-01-05\n---\n\n# Phase {name} Plan 01 Summary\n\n\
                 **{source} is there, and its check passes**\n\n## Accomplishments\n\n- {source}\n"
            );
            write(&format!("{folder}/{name}-01-SUMMARY.md"), &text)?;
            let status = if manner == Manner::Blocked { "gaps_found" } else { "passed" };
            let text =
                format!("---\nphase: {name}\nstatus: {status}\nscore: 1/1\n---\n\n# Phase {name} Verification\n");
            write(&format!("{folder}/{name}-VERIFICATION.md"), &text)
        }
    }
}

/// Makes the calls that the workflow of a phase begins with.
fn begin(program: &std::ffi::OsStr, number: &str, plan: &str) -> Result<(), String> {
    let phase = ["state", "begin-phase", "--phase", number, "--plans", "1"];
    let wave = ["worktree", "create-wave", "--phase", number, "--plans", plan];
    for line in [&phase[..], &wave] {
        let done = std::process::Command::new(program).args(line).output().map_err(|error| format!("{line:?}: {error}"))?;
        if !done.status.success() {
            return Err(format!("{line:?}: {}{}", text(&done.stdout), text(&done.stderr)));
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Commits everything, as the workflows of a phase do; an earlier session may have committed already.
fn commit(message: &str) -> Result<(), String> {
    let git =
        |line: &[&str]| std::process::Command::new("git").args(line).output().map_err(|error| format!("git: {error}"));
    let added = git(&["add", "--all"])?;
    if added.status.success() && git(&["diff", "--cached", "--quiet"])?.status.success() {
        return Ok(());
    }
    let done = git(&["commit", "--quiet", "--message", message])?;
    if done.status.success() { Ok(()) } else { Err(format!("git commit: {}", String::from_utf8_lossy(&done.stderr))) }
}

/// The folder of a phase; created if missing.
fn phase_folder(number: &str) -> Result<String, String> {
    let wanted: u32 = number.trim_start_matches('0').parse().unwrap_or(1);
    let found = std::fs::read_dir(".planning/phases").into_iter().flatten().flatten().find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let begins: u32 = name.split('-').next()?.parse().ok()?;
        (begins == wanted).then(|| format!(".planning/phases/{name}"))
    });
    Ok(found.unwrap_or_else(|| format!(".planning/phases/{wanted:02}-shelf")))
}
