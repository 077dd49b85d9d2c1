//! Checks of the text of one plan: kinds of values, size, files, criteria, and the words of its tasks.

use std::collections::BTreeSet;

use super::limits::PlanLimits;
use super::open::{left_open, says_nothing};
use super::sentences::Quotes;
use super::vague::vague;
use super::wording::{Passage, of_implementation, thinned};
use crate::operations::plans::commands::{paths_of, written_by};
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::plan::{PhasePlan, PlanTask};
use crate::text::front_matter::Value;
use crate::text::words::word_list;

/// The problems in the text of a plan.
pub(super) fn findings(plan: &PhasePlan<'_>, limits: &PlanLimits) -> Vec<Found> {
    let tasks = plan.tasks();
    let mut found = kinds(plan);
    found.extend(size(plan, &tasks, limits));
    found.extend(files(plan, &tasks));
    found.extend(criteria(plan, &tasks));
    if limits.people_look_at_the_end {
        found.extend(asked_in_between(plan, &tasks));
    }
    found.extend(words(plan, &tasks));
    found.sort_by_key(|found| found.line.unwrap_or(0));
    found
}

/// Values of the front matter that have the wrong kind and would be ignored in favour of the default.
fn kinds(plan: &PhasePlan<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let text = |key: &str| match plan.value(key) {
        Some(Value::Text(text)) if !text.trim().is_empty() => Some(text.trim().to_lowercase()),
        _ => None,
    };
    let mut wrong = |key: &str, weight: Weight, wanted: &str| {
        let said = plan.value(key).as_ref().map(Value::flat).unwrap_or_default();
        let sentence = format!("`{key}: {}` cannot be read: write {wanted}", quoted(&said));
        found.push(Found::new(weight, plan.line_of(key), sentence));
    };
    let is_nothing = |key: &str| matches!(plan.value(key), None | Some(Value::Text(_))) && text(key).is_none();
    if plan.wave().is_none() && !is_nothing("wave") {
        wrong("wave", Weight::Error, "a whole number from 1, such as `wave: 2`");
    }
    let switches = ["true", "false", "yes", "no", "on", "off"];
    for key in ["autonomous", "gap_closure"] {
        let is_switch = text(key).is_some_and(|word| switches.contains(&word.split(" #").next().unwrap_or_default()));
        if !is_switch && !is_nothing(key) {
            wrong(key, Weight::Error, "`true` or `false`");
        }
    }
    if text("type").is_some_and(|kind| !["execute", "tdd"].contains(&kind.as_str())) {
        wrong("type", Weight::Warning, "`execute`, or `tdd`");
    }
    for key in ["depends_on", "files_modified", "requirements"] {
        if matches!(plan.value(key), Some(Value::Map(entries)) if !entries.is_empty()) {
            wrong(key, Weight::Error, "a list, such as `[a, b]`");
        }
    }
    let tokens = estimate_of(plan);
    if plan.has("wave") && tokens.as_ref().is_none_or(|tokens| tokens.trim().is_empty()) {
        let sentence = "It has no `estimate.tokens`: write how many tokens it takes, such as `40000`";
        found.push(Found::warning(plan.line_of("tokens").or_else(|| plan.line_of("estimate")).unwrap_or(1), sentence));
    } else if estimated(plan).is_none() {
        let sentence = "`estimate.tokens` is not a number of tokens: write digits, such as `40000`";
        found.push(Found::warning(plan.line_of("tokens"), sentence));
    }
    found
}

/// The plan's estimate of its size, under any of its keys.
fn estimate_of(plan: &PhasePlan<'_>) -> Option<String> {
    let value =
        plan.value("estimate").or_else(|| plan.value("estimate_tokens")).or_else(|| plan.value("estimated_tokens"))?;
    let tokens = value.get("tokens").or_else(|| value.get("total_tokens")).map(Value::flat);
    Some(tokens.or_else(|| matches!(value, Value::Text(_)).then(|| value.flat())).unwrap_or_default())
}

/// The estimate of the plan in tokens.
fn estimated(plan: &PhasePlan<'_>) -> Option<u64> {
    let said = estimate_of(plan)?.to_lowercase();
    let said = said.trim().trim_start_matches(['~', '>', '<', '=', ' ']).trim_end_matches("tokens").trim();
    let (number, times) = match said.strip_suffix('k') {
        Some(number) => (number, 1_000),
        None => said.strip_suffix('m').map_or((said, 1), |number| (number, 1_000_000)),
    };
    number.trim().replace(['_', ',', ' '], "").parse::<u64>().ok()?.checked_mul(times)
}

/// The number of tasks and files from which a plan is too large for one executor: for a warning and for an error.
const TASKS: (usize, usize) = (4, 5);
const FILES: (usize, usize) = (10, 15);

fn size(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>], limits: &PlanLimits) -> Vec<Found> {
    let mut found = Vec::new();
    let weight = |count: usize, (some, many): (usize, usize)| match count {
        count if count >= many => Some(Weight::Error),
        count if count >= some => Some(Weight::Warning),
        _ => None,
    };
    let work: Vec<&PlanTask<'_>> = tasks.iter().filter(|task| task.checkpoint().is_none()).collect();
    // A reader takes tags in other spellings and headings as tasks too.
    let checkpoints = tasks.len() - work.len();
    let unread = plan.task_count().max(task_headings(plan)).saturating_sub(checkpoints);
    let count = work.len().max(unread);
    if let Some(weight) = weight(count, TASKS) {
        let line = work.get(TASKS.0 - 1).map(|task| plan.line_at(task.start()));
        let sentence = format!("It has {count} tasks; a plan has at most {}: split it", TASKS.0 - 1);
        found.push(Found::new(weight, line, sentence));
    }
    let files = written_by(plan).len();
    if let Some(weight) = weight(files, FILES) {
        let sentence = format!("It changes {files} files; a plan changes fewer than {}: split it", FILES.0);
        found.push(Found::new(weight, plan.line_of("files_modified"), sentence));
    }
    let budget = limits.smart_zone_tokens;
    if let Some(tokens) = estimated(plan).filter(|tokens| *tokens > budget) {
        let weight = if tokens >= budget.saturating_add(budget / 2) { Weight::Error } else { Weight::Warning };
        let sentence =
            format!("It is estimated at {tokens} tokens, over the {budget} of `workflow.smart_zone_tokens`: split it");
        found.push(Found::new(weight, plan.line_of("tokens").or_else(|| plan.line_of("estimate")), sentence));
    }
    found
}

/// The number of headings that begin with `Task`.
fn task_headings(plan: &PhasePlan<'_>) -> usize {
    let is_heading = |line: &&str| {
        let bare = line.trim_start_matches('#');
        let word = bare.trim_start().split(|letter: char| !letter.is_alphanumeric()).next();
        bare.len() + 1 < line.len() && word == Some("Task")
    };
    plan.text().lines().filter(is_heading).count()
}

/// Compares the files of the tasks with those of the plan: waves are computed from the latter.
fn files(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    let changed: Vec<String> =
        plan.files_modified().iter().chain(&plan.files_deleted()).flat_map(|file| paths_of(file)).collect();
    let mut of_tasks: BTreeSet<String> = BTreeSet::new();
    for task in tasks {
        let named: Vec<String> = named_files(task);
        let unlisted: Vec<&str> = named
            .iter()
            .map(String::as_str)
            .filter(|file| !file.starts_with(".planning/") && !changed.iter().any(|listed| covers(listed, file)))
            .collect();
        if !unlisted.is_empty() {
            let line = task.part("files").map(|(at, _)| plan.line_at(at));
            let sentence = format!(
                "Task '{}' changes `{}`, which `files_modified` does not list: add it, so that no other plan of the wave \
                 writes it",
                task.name().unwrap_or("unnamed"),
                unlisted.join("`, `"),
            );
            found.push(Found::error(line, sentence));
        }
        of_tasks.extend(named);
    }
    let all_say = tasks.iter().filter(|task| task.checkpoint().is_none()).all(|task| task.has("files"));
    let is_done = |listed: &String| of_tasks.iter().any(|file| covers(listed, file) || covers(file, listed));
    let idle: Vec<&str> = changed.iter().filter(|listed| !is_done(listed)).map(String::as_str).collect();
    if !tasks.is_empty() && all_say && !idle.is_empty() {
        let sentence = format!("`files_modified` lists `{}`, which no task changes", idle.join("`, `"));
        found.push(Found::warning(plan.line_of("files_modified"), sentence));
    }
    found
}

/// The files that a task names, without words such as `none`.
fn named_files(task: &PlanTask<'_>) -> Vec<String> {
    let Some(text) = task.text("files") else { return Vec::new() };
    let entries: Vec<&str> = text.split([',', '\n']).map(str::trim).collect();
    let alone = |file: &str| {
        entries.iter().any(|entry| {
            entry.trim_start_matches(['-', '*', ' ']).trim_matches(['`', '*']).trim_end_matches('.') == file
        }) && !matches!(file.to_lowercase().as_str(), "none" | "n/a" | "na" | "nothing" | "tbd" | "no" | "various")
    };
    let is_path = |file: &&str| {
        let is_odd = file.contains(['{', '}', '(', ')', '<', '>', '"', '$', '|']) || file.contains("://");
        let has_sign = file.contains('/') || file.trim_end_matches('.').contains('.');
        !is_odd
            && file.chars().any(char::is_alphanumeric)
            && (has_sign || alone(file))
            && *file != "n/a"
            && *file != "N/A"
    };
    let files = task.files().into_iter().flat_map(paths_of).collect::<Vec<String>>();
    files.iter().map(String::as_str).filter(is_path).map(str::to_owned).collect()
}

/// True if an entry in a list of files is the file, or the folder or pattern that includes it.
fn covers(listed: &str, file: &str) -> bool {
    let listed = listed.split_whitespace().next().unwrap_or(listed).trim_matches('`');
    if listed == file {
        return true;
    }
    if let Some((before, behind)) = listed.split_once('*') {
        let end = behind.rsplit('*').next().unwrap_or_default();
        let start = file.split('*').next().unwrap_or_default();
        return (file.starts_with(before) || (file.contains('*') && before.starts_with(start))) && file.ends_with(end);
    }
    let folder = listed.trim_end_matches('/');
    let is_folder = listed.ends_with('/') || !folder.rsplit('/').next().unwrap_or_default().contains('.');
    is_folder && file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest.is_empty())
}

/// The criteria by which the work is measured.
fn criteria(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    let is_said = |block: Option<(usize, &str)>| block.is_some_and(|(_, text)| !says_nothing(text));
    let has_criteria = is_said(plan.block("success_criteria")) || is_said(plan.block("acceptance_criteria"));
    if !tasks.is_empty() && !has_criteria {
        let sentence =
            "It has no <success_criteria> and no <acceptance_criteria>: name what is measured when it is done";
        found.push(Found::warning(None, sentence));
    }
    for tag in ["success_criteria", "acceptance_criteria"] {
        let hollow = plan.block(tag).filter(|(_, text)| has_criteria && says_nothing(text));
        found.extend(hollow.map(|(at, _)| Found::at(Weight::Warning, plan, at, format!("<{tag}> says nothing"))));
    }
    for (at, done) in tasks.iter().filter_map(|task| task.part("done")).filter(|(_, done)| says_nothing(done)) {
        let sentence = format!("<done> says nothing: `{}`", quoted(done));
        found.push(Found::at(Weight::Warning, plan, at, sentence));
    }
    let truths = truths(plan);
    if plan.has("must_haves") && truths.is_empty() {
        let sentence = "`must_haves` has no truths: name what a user can observe when the plan is done";
        found.push(Found::unsound(plan.line_of("must_haves"), sentence));
    }
    for truth in &truths {
        if let Some(what) = of_implementation(truth) {
            let sentence = format!(
                "The truth `{}` is about {what}: name what a user can observe, and the file under `artifacts`",
                quoted(truth)
            );
            found.push(Found::warning(line_of_value(plan, truth), sentence));
        }
    }
    found
}

/// The statements that a user can observe when the plan is done.
fn truths(plan: &PhasePlan<'_>) -> Vec<String> {
    let listed = plan.value("must_haves").and_then(|value| value.get("truths").cloned());
    let listed = listed.as_ref().map(Value::items).unwrap_or_default();
    let truth = |value: &Value| value.get("statement").map_or_else(|| value.flat(), Value::flat);
    listed.iter().map(truth).filter(|truth| !truth.trim().is_empty()).collect()
}

/// The line in which a value of the front matter begins.
fn line_of_value(plan: &PhasePlan<'_>, value: &str) -> Option<usize> {
    let start: String = value.split('"').next().unwrap_or_default().chars().take(24).collect();
    let at = Some(start).filter(|start| !start.trim().is_empty()).and_then(|start| plan.text().find(start.trim()));
    at.map(|at| plan.line_at(at)).or_else(|| plan.line_of("truths"))
}

/// If people verify at the end of a phase, a plan must not stop for them.
fn asked_in_between(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>]) -> Vec<Found> {
    let asks = tasks.iter().filter(|task| task.checkpoint() == Some("human-verify") && !task.waits_for_a_person());
    asks.map(|task| {
        let sentence = "A checkpoint:human-verify stops the plan, and `workflow.human_verify_mode` is end-of-phase: put what \
            a person looks at into <human-check> of the task before it";
        Found::at(Weight::Warning, plan, task.start(), sentence)
    })
    .collect()
}

/// The problems in the words of a plan.
fn words(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    let shown = |at: usize, text, name: String| Passage { at, text, name, quotes: Quotes::Shown };
    let mut passages: Vec<(Passage<'_>, bool)> = Vec::new();
    if let Some((at, text)) = plan.block("objective") {
        passages.push((shown(at, text, "The objective".to_owned()), true));
    }
    for task in tasks.iter().filter(|task| task.checkpoint().is_none()) {
        let name = task.name().unwrap_or("unnamed");
        for (tag, is_measured) in [("name", false), ("action", true), ("acceptance_criteria", true), ("done", true)] {
            if let Some((at, text)) = task.part(tag) {
                passages.push((shown(at, text, format!("<{tag}> of task '{name}'")), is_measured));
            }
        }
        found.extend(fenced(plan, task));
    }
    if let Some((at, text)) = plan.block("success_criteria") {
        passages.push((shown(at, text, "<success_criteria>".to_owned()), true));
    }
    for (passage, is_measured) in &passages {
        found.extend(thinned(plan, passage));
        if *is_measured {
            found.extend(vague(plan, passage));
        }
    }
    for truth in truths(plan) {
        let name = "A truth".to_owned();
        let passage = Passage { at: 0, text: &truth, name, quotes: Quotes::Values };
        let mut of_truth = thinned(plan, &passage);
        of_truth.extend(vague(plan, &passage));
        for found in &mut of_truth {
            found.line = line_of_value(plan, &truth);
        }
        found.extend(of_truth);
    }
    found.extend(undecided(plan));
    found
}

/// Open decisions anywhere in the plan, except in quotations from elsewhere and in commands.
fn undecided(plan: &PhasePlan<'_>) -> Vec<Found> {
    const ELSEWHERE: &[&str] =
        word_list!("context execution_context interfaces automated read_first verification fails_when output");
    let text = plan.text();
    let mut own = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let tag = ELSEWHERE.iter().find(|tag| {
            rest.strip_prefix('<').and_then(|rest| rest.strip_prefix(**tag)).is_some_and(|rest| rest.starts_with('>'))
        });
        let end = tag.and_then(|tag| rest.find(&format!("</{tag}>")));
        // The end of a section also ends its last sentence.
        let is_name =
            |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let closing =
            rest.strip_prefix("</").and_then(|rest| rest.split_once('>')).map(|(name, _)| name).filter(is_name);
        if let Some(name) = closing {
            own.push('|');
            own.push_str(&" ".repeat(name.len() + 2));
            at += name.len() + 3;
        } else if let Some(end) = end {
            own.extend(
                rest[..end]
                    .chars()
                    .map(|letter| if letter == '\n' { "\n".to_owned() } else { " ".repeat(letter.len_utf8()) }),
            );
            at += end;
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            own.push_str(&rest[..length]);
            at += length;
        }
    }
    let head = plan.line_of("phase").map_or(0, |_| own.find("\n---").map_or(0, |end| end + 4));
    let front = Passage { at: 0, text: &own[..head], name: String::new(), quotes: Quotes::Values };
    let body = Passage { at: head, text: &own[head..], name: String::new(), quotes: Quotes::Shown };
    [left_open(plan, &front), left_open(plan, &body)].concat()
}

/// Code in an action: an executor copies it without thinking.
fn fenced(plan: &PhasePlan<'_>, task: &PlanTask<'_>) -> Option<Found> {
    let (at, action) = task.part("action")?;
    let mut start = at;
    for line in action.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            let name = task.name().unwrap_or("unnamed");
            let sentence = format!(
                "<action> of task '{name}' holds a fenced code block: name signatures, values and messages in words, and put \
                 code that is there already into <interfaces>"
            );
            return Some(Found::at(Weight::Warning, plan, start, sentence));
        }
        start += line.len();
    }
    None
}
