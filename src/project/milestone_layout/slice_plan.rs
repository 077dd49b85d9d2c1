//! `S01-PLAN.md`: the purpose of a slice, its verification, and its tasks.

use std::collections::BTreeMap;

use super::ids::leading;
use super::lines::{
    LineItem, after_id, bare, bullets, field, is_nothing, item, labelled, not_ticked, split_mark, ticked_words,
};
use crate::failure::Failure;
use crate::text::markdown::{LineKind, Markdown, heading_title};
use crate::text::splice::Splices;

/// The parts of a slice's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlicePlan {
    /// Without the slice's identifier.
    pub(crate) title: Option<String>,
    pub(crate) goal: Option<String>,
    /// What can be demonstrated after the slice is done.
    pub(crate) demo: Option<String>,
    pub(crate) must_haves: Vec<String>,
    /// The entries of `## Verification`.
    pub(crate) verification: Vec<String>,
    /// Tasks in `## Tasks` first, then those elsewhere.
    pub(crate) tasks: Vec<PlannedTask>,
}

/// A task as its slice's plan lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedTask {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Whether its box is ticked; never true for a task with a heading instead of a box.
    pub(crate) done: bool,
    pub(crate) has_box: bool,
    pub(crate) estimate_minutes: Option<u32>,
    pub(crate) files: Vec<String>,
    /// The check that must succeed after the task is done.
    pub(crate) verify: Option<String>,
    /// The lines below it, trimmed.
    pub(crate) notes: Vec<String>,
    /// Counts from one.
    pub(crate) line: usize,
}

impl SlicePlan {
    pub(crate) fn parse(text: &str) -> Self {
        let markdown = Markdown::parse(bare(text));
        let title = markdown.headings().find(|heading| heading.level == 1).map(|heading| heading.title);
        let title = title.map(|title| leading(title, 'S').map_or(title, |(_, rest)| after_id(rest)));
        let must_haves = ["Must-Haves", "Must Haves"].iter().find_map(|name| markdown.section_named(name));
        let verification = markdown.section_named("Verification");
        Self {
            title: title.filter(|title| !title.is_empty()).map(str::to_owned),
            goal: field(markdown.text(), "Goal").map(str::to_owned),
            demo: field(markdown.text(), "Demo").map(str::to_owned),
            must_haves: must_haves.map(|(_, lines)| bullets(&markdown, lines)).unwrap_or_default(),
            verification: verification.map(|(_, lines)| steps(&markdown, lines)).unwrap_or_default(),
            tasks: read(&markdown).into_iter().map(|found| found.task).collect(),
        }
    }

    pub(crate) fn task(&self, id: &str) -> Option<&PlannedTask> {
        self.tasks.iter().find(|task| task.id.eq_ignore_ascii_case(id))
    }
}

/// Ticks the box of the task `id`, which changes one byte; `None` if it is already ticked. A task with a heading is
/// done when it has a summary, and cannot be ticked.
pub(crate) fn tick(text: &str, id: &str) -> Result<Option<String>, Failure> {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let found = read(&markdown);
    let missing = || not_ticked(id, &format!("`{id}` has no entry there"));
    let found = found.iter().find(|found| found.task.id.eq_ignore_ascii_case(id)).ok_or_else(missing)?;
    let Some(at) = found.box_at else {
        return Err(not_ticked(id, &format!("the entry of `{id}` in line {} has no checkbox", found.task.line)));
    };
    if found.task.done {
        return Ok(None);
    }
    let mut splices = Splices::default();
    splices.replace(at..at + 1, "x");
    Ok(Some(format!("{mark}{}", splices.apply(own))))
}

/// The plan with one more entry at the end of its tasks. A plan without the section of tasks gets the entry before the
/// list of its files, else at its end.
pub(crate) fn append_task(text: &str, entry: &str) -> String {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let newline = markdown.newline();
    let entry = entry.replace('\n', newline);
    let tasks = markdown.section_named("Tasks").map(|(_, lines)| lines.end);
    let files = || markdown.section_named("Files Likely Touched").map(|(heading, _)| heading.line);
    let before = tasks.or_else(files).unwrap_or(markdown.lines().len());
    let last = markdown.lines().iter().take(before).rfind(|line| line.kind != LineKind::Blank);
    let (at, lead) = match last {
        None => (0, String::new()),
        // After a list the entry follows at once, after anything else with an empty line.
        Some(line) if own.get(line.start..line.end).and_then(item).is_some() => (line.end, newline.to_owned()),
        Some(line) => (line.end, newline.repeat(2)),
    };
    let mut splices = Splices::default();
    splices.insert(at, format!("{lead}{entry}"));
    format!("{mark}{}", splices.apply(own))
}

/// A task and the position of the byte in its box.
struct BoxedTask {
    task: PlannedTask,
    box_at: Option<usize>,
}

/// The tasks, each once: an entry with a box wins over a heading for the same task.
fn read(markdown: &Markdown<'_>) -> Vec<BoxedTask> {
    let section = markdown.section_named("Tasks").map_or(0..0, |(_, lines)| lines);
    let (mut inside, mut outside): (Vec<BoxedTask>, Vec<BoxedTask>) = (Vec::new(), Vec::new());
    for found in scan(markdown) {
        let is_inside = section.contains(&(found.task.line - 1));
        if is_inside { inside.push(found) } else { outside.push(found) }
    }
    inside.append(&mut outside);
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut tasks: Vec<BoxedTask> = Vec::new();
    for found in inside {
        let known = places.get(&found.task.id.to_uppercase()).copied();
        match known.and_then(|at| tasks.get_mut(at)) {
            None => {
                places.insert(found.task.id.to_uppercase(), tasks.len());
                tasks.push(found);
            }
            // The first of two entries with boxes counts.
            Some(known) if known.box_at.is_some() && found.box_at.is_some() => {}
            Some(known) if known.box_at.is_none() && found.box_at.is_some() => {
                let heading = std::mem::replace(known, found);
                merge(&mut known.task, heading.task);
            }
            Some(known) => merge(&mut known.task, found.task),
        }
    }
    tasks
}

/// Adds the values that only another entry of the same task has.
fn merge(task: &mut PlannedTask, other: PlannedTask) {
    task.estimate_minutes = task.estimate_minutes.or(other.estimate_minutes);
    if task.verify.is_none() {
        task.verify = other.verify;
    }
    if task.files.is_empty() {
        task.files = other.files;
    }
    task.notes.extend(other.notes);
}

/// Every entry of a task, in the order of the document.
fn scan(markdown: &Markdown<'_>) -> Vec<BoxedTask> {
    let mut found: Vec<BoxedTask> = Vec::new();
    // Whether lines still belong to the last task: lines below another heading do not.
    let mut is_own = false;
    for (index, line) in markdown.lines().iter().enumerate() {
        let text = markdown.line(index);
        let is_prose = markdown.is_prose(index);
        if let LineKind::Heading(_) = line.kind {
            let title = heading_title(text);
            let named = leading(title.trim_start_matches(['*', '`']), 'T');
            is_own = named.is_some();
            if let Some((id, rest)) = named {
                let task = PlannedTask {
                    id: id.to_owned(),
                    title: after_id(rest).trim_end_matches('*').trim().to_owned(),
                    estimate_minutes: estimate(rest),
                    line: index + 1,
                    ..PlannedTask::default()
                };
                found.push(BoxedTask { task, box_at: None });
            }
        } else if let Some((mut task, at)) = entry(text).filter(|_| is_prose) {
            task.line = index + 1;
            is_own = true;
            found.push(BoxedTask { task, box_at: Some(line.start + at) });
        } else if let Some(last) = found.last_mut().filter(|_| is_own && line.kind != LineKind::FrontMatter) {
            note(&mut last.task, text);
        }
    }
    found
}

/// `- [x] **T01: Title** tags`.
fn entry(text: &str) -> Option<(PlannedTask, usize)> {
    let LineItem { tick, text, .. } = item(text)?;
    let (done, at) = tick?;
    let (name, rest) = text.strip_prefix("**")?.split_once("**")?;
    let (id, title) = leading(name, 'T')?;
    let behind = rest.split('`').next().unwrap_or(rest);
    let title = if after_id(title).is_empty() { after_id(behind) } else { after_id(title) };
    let task = PlannedTask {
        id: id.to_owned(),
        title: title.to_owned(),
        done,
        has_box: true,
        estimate_minutes: estimate(rest),
        ..PlannedTask::default()
    };
    Some((task, at))
}

fn note(task: &mut PlannedTask, line: &str) {
    let text = line.trim();
    if text.is_empty() {
        return;
    }
    if let Some(files) = labelled(text, "Files") {
        task.files.extend(paths(files));
    } else if let Some(verify) = labelled(text, "Verify") {
        task.verify = task.verify.take().or_else(|| verify_of(verify));
    } else if let Some(minutes) = labelled(text, "Estimate").or_else(|| labelled(text, "Est")).and_then(minutes) {
        task.estimate_minutes = task.estimate_minutes.or(Some(minutes));
    }
    task.notes.push(text.to_owned());
}

/// The value of `Verify:`: the command without its back-ticks, if the value is a single command.
fn verify_of(text: &str) -> Option<String> {
    let inside = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inside| !inside.contains('`'));
    let text = inside.unwrap_or(text).trim();
    (!is_nothing(text)).then(|| text.to_owned())
}

/// The paths in a comma-separated list: the words in back-ticks, if there are any.
pub(super) fn paths(text: &str) -> Vec<String> {
    let ticked: Vec<String> = ticked_words(text).map(str::to_owned).collect();
    if !ticked.is_empty() {
        return ticked;
    }
    let parts = text.split(',').map(str::trim).filter(|part| !is_nothing(part));
    parts.map(str::to_owned).collect()
}

/// The minutes of a tag `est:1h30m`.
fn estimate(text: &str) -> Option<u32> {
    let value = text.split_once("est:")?.1.trim_start();
    minutes(value.split(['`', ')', ']', ',']).next().unwrap_or(value))
}

/// The minutes of `45m`, `1h`, `1h30m`, `1.5h` or `2 hours`; `None` for anything else.
pub(crate) fn minutes(text: &str) -> Option<u32> {
    let mut rest = text.trim().trim_start_matches(['~', '≈']).trim_start();
    let mut total = 0.0_f64;
    let mut found = false;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().ok()?;
        let unit = rest[end..].trim_start();
        let length = unit.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(unit.len());
        let (unit, after) = unit.split_at(length);
        let factor = match unit.to_ascii_lowercase().as_str() {
            "" | "m" | "min" | "mins" | "minute" | "minutes" => 1.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 60.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0 / 60.0,
            "d" | "day" | "days" => 24.0 * 60.0,
            _ => return None,
        };
        total += number * factor;
        found = true;
        rest = after.trim_start_matches([' ', ',']);
    }
    let total = total.round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (found && (0.0..=1_000_000.0).contains(&total)).then_some(total as u32)
}

/// The entries of a list with marks or numbers.
fn steps(markdown: &Markdown<'_>, lines: std::ops::Range<usize>) -> Vec<String> {
    let step = |line: &str| {
        let text = match item(line) {
            Some(item) if item.indent < 2 => item.text,
            Some(_) => return None,
            None => {
                let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
                let numbered = rest.len() < line.len();
                rest.strip_prefix(['.', ')']).filter(|rest| numbered && rest.starts_with(' '))?.trim()
            }
        };
        (!text.is_empty()).then(|| text.to_owned())
    };
    lines.filter(|line| markdown.is_prose(*line)).filter_map(|line| step(markdown.line(line))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = "---\nrisk: low\n---\n# S02: Search\n\n**Goal:** full text search  **Demo:** two hits for \"soup\"\n\n## Must-Haves\n\
        - ranking by date\n  - detail\n\n## Verification\n- `cargo test search`\n1. look at the list\n\n## Tasks\n\n- [x] **T01: Index on write** \
        `est:45m`\n  - Why: S02 needs it\n  - Files: `src/index.rs`, `src/store.rs`\n  - Verify: `cargo test index`\n- [ ] **T02: Query \
        command** `est:1h30m`\n  - Verify: cargo test `query` twice\n\n## Files Likely Touched\n- `src/index.rs`\n\n## More\n\n### T03 -- Hits\n\
        text\n\n### T01: Index on write\n- Files: x\n";

    #[test]
    fn a_plan_is_read_with_its_tasks() {
        let plan = SlicePlan::parse(PLAN);
        assert_eq!((plan.title.as_deref(), plan.goal.as_deref()), (Some("Search"), Some("full text search")));
        assert_eq!(plan.demo.as_deref(), Some("two hits for \"soup\""));
        assert_eq!(plan.verification, ["`cargo test search`", "look at the list"]);
        let found: Vec<_> = plan.tasks.iter().map(|task| (task.id.as_str(), task.title.as_str(), task.done)).collect();
        assert_eq!(found, [("T01", "Index on write", true), ("T02", "Query command", false), ("T03", "Hits", false)]);
        let task = plan.task("t01").unwrap();
        assert_eq!((task.estimate_minutes, task.verify.as_deref()), (Some(45), Some("cargo test index")));
        assert_eq!(task.files, ["src/index.rs", "src/store.rs"]);
        assert_eq!(plan.task("T02").unwrap().verify.as_deref(), Some("cargo test `query` twice"));
        assert_eq!(plan.task("T02").unwrap().estimate_minutes, Some(90));
        assert!(!plan.task("T03").unwrap().has_box);
    }

    #[test]
    fn tasks_have_the_same_forms_as_in_the_artifact_check() {
        for line in ["- [ ] **T01: A**", "  - [X] **T01:** A", "## T01: A", "### T01 -- A", "#### T01 — A"] {
            assert_eq!(SlicePlan::parse(line).tasks.first().map(|task| task.title.as_str()), Some("A"), "{line}");
        }
        for line in ["- **T01: A**", "- [ ] T01: A", "T01: A", "```\n- [ ] **T01: A**\n```", "- [ ] **S01: A**"] {
            assert_eq!(SlicePlan::parse(line).tasks, [], "{line}");
        }
        let twice = SlicePlan::parse("- [ ] **T01: A**\n- [x] **T01: B**\n");
        assert_eq!(twice.tasks.iter().map(|task| task.title.as_str()).collect::<Vec<_>>(), ["A"]);
    }

    #[test]
    fn a_task_with_a_heading_cannot_be_ticked() {
        assert!(tick(PLAN, "T03").is_err_and(|error| error.message.contains("line 30 has no checkbox")));
        assert_eq!(tick(PLAN, "T01"), Ok(None));
        assert!(tick(PLAN, "T09").is_err_and(|error| error.message == "`T09` has no entry there"));
        assert_eq!(tick(PLAN, "T02"), Ok(Some(PLAN.replace("- [ ] **T02", "- [x] **T02"))));
    }

    #[test]
    fn durations_are_read_in_minutes() {
        let read = ["45m", "1h", "1h30m", "1.5h", "2 hours 5 min", "~20 minutes", "90s", "30", "1d"].map(minutes);
        assert_eq!(read, [45, 60, 90, 90, 125, 20, 2, 30, 1440].map(Some));
        for text in ["", "soon", "1x", "1..5h", "99999999h", "m"] {
            assert_eq!(minutes(text), None, "{text}");
        }
    }

    #[test]
    fn a_task_is_added_before_the_list_of_files() {
        let entry = "- [ ] **T04: New** `est:30m`\n  - Why: x";
        let added = append_task(PLAN, entry);
        assert_eq!(added, PLAN.replace("`query` twice\n", &format!("`query` twice\n{entry}\n")));
        let plan = SlicePlan::parse(&added);
        assert_eq!(plan.task("T04").map(|task| task.estimate_minutes), Some(Some(30)));
        let without = "# S01\r\n\r\n## Files Likely Touched\r\n- a";
        assert_eq!(
            append_task(without, "- [ ] **T01: A**"),
            without.replace("\r\n\r\n## ", "\r\n\r\n- [ ] **T01: A**\r\n\r\n## ")
        );
        assert_eq!(append_task("", "- [ ] **T01: A**"), "- [ ] **T01: A**");
    }

    proptest! {
        #[test]
        fn ticking_a_task_changes_exactly_one_byte(
            text in "\u{feff}?(---\n)?(## Tasks\r?\n|## B\n|- \\[[ x]\\] \\*\\*T0[1-4]: [a-zé]{0,5}\\*\\*\r?\n|  - Files: `a`\n|```\n|### T0[1-4]: b\n|\n){0,14}",
            id in "T0[1-4]",
        ) {
            let before = SlicePlan::parse(&text);
            match tick(&text, &id) {
                Ok(Some(after)) => {
                    prop_assert_eq!(text.len(), after.len());
                    prop_assert_eq!(text.bytes().zip(after.bytes()).filter(|(before, after)| before != after).count(), 1);
                    for (before, after) in before.tasks.iter().zip(&SlicePlan::parse(&after).tasks) {
                        prop_assert_eq!(after.done, before.done || before.id == id);
                    }
                }
                Ok(None) => prop_assert!(before.task(&id).is_some_and(|task| task.done)),
                Err(error) if error.message.ends_with("has no checkbox") => prop_assert!(before.task(&id).is_some_and(|task| !task.has_box)),
                Err(_) => prop_assert!(before.task(&id).is_none()),
            }
        }
    }
}
