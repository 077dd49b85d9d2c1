//! PLAN.md and SUMMARY.md: the work that a plan describes, and the report on its execution.
//!
//! The front matter has the fields for programs (waves, dependencies, must-haves), the body has tasks as tags. Reading
//! never fails: a plan without front matter is a plan that declares nothing.

use std::collections::HashSet;

use crate::text::checklist::COLONS;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::{LineKind, Markdown};

/// A plan. Borrows its text.
#[derive(Clone, Debug)]
pub(crate) struct PhasePlan<'text> {
    text: &'text str,
    front: Option<FrontMatter<'text>>,
}

/// A `<task>` of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanTask<'text> {
    /// The value of its `type`, empty if it has none.
    pub(crate) kind: &'text str,
    opening: &'text str,
    inside: &'text str,
    /// The start of `inside` in the text of the plan.
    at: usize,
}

/// The lists under `must_haves` that can be checked against the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MustHave {
    Artifacts,
    KeyLinks,
}

impl MustHave {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Artifacts => "artifacts",
            Self::KeyLinks => "key_links",
        }
    }
}

impl<'text> PhasePlan<'text> {
    pub(crate) fn parse(text: &'text str) -> Self {
        Self { text, front: FrontMatter::parse(text) }
    }

    /// The keys of the front matter, in order, each once.
    pub(crate) fn fields(&self) -> Vec<String> {
        let mut known = HashSet::new();
        let keys = self.front.iter().flat_map(FrontMatter::keys);
        keys.filter(|key| known.insert(*key)).map(str::to_owned).collect()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.front.as_ref().is_some_and(|front| front.keys().any(|known| known == key))
    }

    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        self.front.as_ref()?.get(key)
    }

    /// The texts of a key: the items of a list, or a single value.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        texts(self.value(key).as_ref())
    }

    /// The plan was replaced by another one and does not count any more.
    pub(crate) fn is_superseded(&self) -> bool {
        self.word("status").as_deref() == Some("superseded")
    }

    /// The declared wave.
    pub(crate) fn wave(&self) -> Option<i64> {
        leading_integer(self.front.as_ref()?.text("wave")?.trim())
    }

    /// The plans this one waits for, as written.
    pub(crate) fn depends_on(&self) -> Vec<String> {
        self.list("depends_on")
    }

    /// Whether the plan runs without a person, which is the default.
    pub(crate) fn is_autonomous(&self) -> bool {
        !self.word("autonomous").is_some_and(|word| matches!(word.as_str(), "false" | "no" | "off"))
    }

    /// The files it changes. A plan without front matter can list them on a separate line:
    /// `files_modified: [src/a.ts]`.
    pub(crate) fn files_modified(&self) -> Vec<String> {
        if self.front.is_some() {
            let key = if self.has("files_modified") { "files_modified" } else { "files-modified" };
            // Reads an entry `- path: src/a.ts`.
            let path = |item: &Value| item.get("path").or_else(|| item.get("file")).map(Value::flat);
            return match self.value(key) {
                Some(Value::List(items)) if items.iter().any(|item| path(item).is_some()) => {
                    items.iter().map(|item| path(item).unwrap_or_else(|| item.flat())).collect()
                }
                _ => self.list(key),
            };
        }
        let line = self.text.lines().find(|line| {
            let key = line.trim_start().split_once(':').map(|(key, _)| key);
            matches!(key, Some("files_modified" | "files-modified"))
        });
        let alone = line.map(|line| format!("---\n{}\n---\n", line.trim())).unwrap_or_default();
        let alone = PhasePlan::parse(&alone);
        if alone.front.is_some() { alone.files_modified() } else { Vec::new() }
    }

    pub(crate) fn files_deleted(&self) -> Vec<String> {
        self.list_either("files_deleted", "files-deleted")
    }

    pub(crate) fn requirements(&self) -> Vec<String> {
        self.list("requirements")
    }

    /// Whether the plan fixes gaps that a verification or an acceptance test found.
    pub(crate) fn closes_gaps(&self) -> bool {
        self.word("gap_closure").as_deref() == Some("true")
    }

    /// The gaps of an acceptance test that the plan fixes, such as `G-02-1`.
    pub(crate) fn gap_ids(&self) -> Vec<String> {
        self.list("gap_ids")
    }

    /// The agent that should execute the plan.
    pub(crate) fn agent_hint(&self) -> Option<String> {
        Some(self.list("agent_hint").join(",")).filter(|hint| !hint.trim().is_empty())
    }

    /// The first line of the objective: from the tag, else from the field.
    pub(crate) fn objective(&self) -> Option<String> {
        let tagged = self.text.find("<objective>").map(|at| &self.text[at + "<objective>".len()..]);
        let line = tagged.map(|rest| rest.split("</objective>").next().unwrap_or(rest)).and_then(|inside| {
            let line = inside.lines().map(str::trim).find(|line| !line.is_empty())?;
            Some(line.to_owned())
        });
        line.or_else(|| self.front.as_ref()?.text("objective").map(|text| text.trim().to_owned()))
    }

    /// How many tasks the plan has: counts opening tags, else headings such as `## Task 1`.
    pub(crate) fn task_count(&self) -> usize {
        let tags = openings(self.text, "task", true).count();
        if tags > 0 { tags } else { task_headings(self.text, 2, true) }
    }

    /// Whether a task has `tdd="true"`: its tests are written first.
    pub(crate) fn has_test_first_task(&self) -> bool {
        openings(self.text, "task", false).any(|(_, attributes)| attribute(attributes, "tdd") == Some("true"))
    }

    /// The tasks in tags that are closed. A task inside a task ends the outer one.
    pub(crate) fn tasks(&self) -> Vec<PlanTask<'text>> {
        let mut tasks = Vec::new();
        let mut start = 0;
        while let Some(close) = self.text[start..].find("</task>") {
            let rest = &self.text[start..start + close];
            if let Some((at, attributes)) = openings(rest, "task", false).last() {
                let at = at + attributes.len();
                // Markup in the value is not part of the word.
                let kind = attribute(attributes, "type").unwrap_or("").split('<').next().unwrap_or("").trim();
                tasks.push(PlanTask { kind, opening: attributes, inside: &rest[at..], at: start + at });
            }
            start += close + "</task>".len();
        }
        tasks
    }

    pub(crate) fn text(&self) -> &'text str {
        self.text
    }

    /// The content of the first element `tag`, wherever it is, and its start.
    pub(crate) fn block(&self, tag: &str) -> Option<(usize, &'text str)> {
        element(self.text, tag)
    }

    /// The number of the line at a byte position of the text.
    pub(crate) fn line_at(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    /// The line of a key in the front matter, or of a key inside another one.
    pub(crate) fn line_of(&self, key: &str) -> Option<usize> {
        let front = self.front.as_ref()?;
        let head = self.text.len() - front.body().len();
        let is_of = |line: &str| {
            let rest = line.trim_start().trim_start_matches("- ").strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        self.text[..head].lines().position(is_of).map(|line| line + 1)
    }

    /// The identifiers of the tasks in an external tracker.
    pub(crate) fn tracker_ids(&self) -> impl Iterator<Item = &'text str> {
        openings(self.text, "task", false).filter_map(|(_, opening)| attribute(opening, "tracker-id"))
    }

    /// The commands that check the work: those of the tasks in order, then those outside of tasks.
    pub(crate) fn checks(&self) -> Vec<PlanCheck> {
        let mut checks = Vec::new();
        // The text outside of tasks, at the same positions as in the plan.
        let mut outside = String::with_capacity(self.text.len());
        for task in self.tasks() {
            checks.extend(task.checks());
            outside.push_str(&self.text[outside.len()..task.at - task.opening.len()]);
            outside.push_str(&" ".repeat(task.at + task.inside.len() - outside.len()));
        }
        outside.push_str(&self.text[outside.len()..]);
        checks.extend(checks_in(&outside, "", 0));
        checks
    }

    /// A list under `must_haves`; `None` if it is missing. An item that is not a map cannot be checked.
    pub(crate) fn must_have(&self, list: MustHave) -> Option<Vec<Value>> {
        match self.front.as_ref()?.get_path(&["must_haves", list.key()])? {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    fn word(&self, key: &str) -> Option<String> {
        Some(self.front.as_ref()?.text(key)?.trim().to_ascii_lowercase())
    }

    fn list_either(&self, key: &str, other: &str) -> Vec<String> {
        let key = if self.has(key) { key } else { other };
        self.list(key)
    }
}

impl<'text> PlanTask<'text> {
    /// Treats a text without tags as a task.
    pub(crate) fn whole(text: &'text str) -> Self {
        Self { kind: "", opening: text, inside: text, at: 0 }
    }

    pub(crate) fn name(&self) -> Option<&'text str> {
        let start = self.inside.find("<name>")? + "<name>".len();
        let length = self.inside[start..].find("</name>")?;
        Some(self.inside[start..start + length].trim())
    }

    /// The text of the first element `tag`, trimmed.
    pub(crate) fn text(&self, tag: &'text str) -> Option<&'text str> {
        element(self.inside, tag).map(|(_, inside)| inside.trim())
    }

    /// The content of the first element `tag`, and its start in the plan.
    pub(crate) fn part(&self, tag: &str) -> Option<(usize, &'text str)> {
        element(self.inside, tag).map(|(at, inside)| (self.at + at, inside))
    }

    /// The start of the task in the plan.
    pub(crate) fn start(&self) -> usize {
        self.at
    }

    /// The files it names: one per line or separated by commas, without list marks, labels and remarks.
    pub(crate) fn files(&self) -> Vec<&'text str> {
        let mut depth = 0;
        let parts = |letter: char| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == '\n' || (matches!(letter, ',' | ';') && depth <= 0)
        };
        self.text("files").unwrap_or_default().split(parts).flat_map(files_in).collect()
    }

    /// The text between its tags.
    pub(crate) fn inside(&self) -> &'text str {
        self.inside
    }

    /// The author declares that the task cannot be undone.
    pub(crate) fn is_one_way(&self) -> bool {
        let rating =
            openings(self.inside, "reversibility", false).find_map(|(_, opening)| attribute(opening, "rating"));
        rating.is_some_and(|rating| rating.trim().to_ascii_lowercase().starts_with("one-way"))
    }

    /// Its tests are written first.
    pub(crate) fn is_test_first(&self) -> bool {
        attribute(self.opening, "tdd") == Some("true")
    }

    /// The commands that check its work.
    pub(crate) fn checks(&self) -> Vec<PlanCheck> {
        checks_in(self.inside, self.name().unwrap_or_default(), self.at)
    }

    /// Whether the task has an element `tag`.
    pub(crate) fn has(&self, tag: &str) -> bool {
        openings(self.inside, tag, false).next().is_some()
    }

    /// Whether the task waits for a person even in automatic mode.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        attribute(self.opening, "gate") == Some("blocking-human")
    }

    /// The kind of a checkpoint: `decision` of `checkpoint:decision`.
    pub(crate) fn checkpoint(&self) -> Option<&'text str> {
        self.kind.strip_prefix("checkpoint:")
    }
}

/// The files of one entry of a list: `1. a.ts`, `- [ ] a.ts`, `Create: a.ts`, `[a](a.ts)`, `**a.ts**`, `a.ts:10-20`, and
/// `a.ts and b.ts`.
fn files_in(entry: &str) -> Vec<&str> {
    const LABELS: &[&str] = &[
        "create", "creates", "modify", "modifies", "edit", "edits", "update", "updates", "add", "adds", "new",
        "delete", "deletes", "change", "changes", "extend", "rewrite", "test", "tests",
    ];
    let mut rest = entry.trim().trim_start_matches(['-', '*', '+']).trim_start();
    let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if number.len() < rest.len()
        && let Some(behind) = number.strip_prefix(['.', ')']).filter(|behind| behind.starts_with(' '))
    {
        rest = behind.trim_start();
    }
    for mark in ["[ ] ", "[x] ", "[X] "] {
        rest = rest.strip_prefix(mark).unwrap_or(rest).trim_start();
    }
    let mut words = rest.split_whitespace().peekable();
    let mut first = words.next();
    let is_label = first.is_some_and(|word| {
        let bare = word.trim_matches('*').trim_end_matches(':').trim_matches('*').to_lowercase();
        LABELS.contains(&bare.as_str())
            && (word.contains(':') || words.peek().is_some_and(|next| next.contains(['.', '/'])))
    });
    if is_label {
        first = words.next();
    }
    let mut found: Vec<&str> = first.into_iter().map(file_name).collect();
    while words.next_if(|word| matches!(*word, "and" | "+" | "&" | "und")).is_some() {
        found.extend(words.next().map(file_name));
    }
    found.retain(|name| !name.is_empty());
    found
}

/// A file name without the marks around it.
fn file_name(word: &str) -> &str {
    let link =
        word.strip_prefix('[').and_then(|rest| rest.split_once("](")).and_then(|(_, rest)| rest.strip_suffix(')'));
    let name = link.unwrap_or(word).trim_matches('`').trim_end_matches('*').trim_start_matches("**").trim_matches('`');
    let name = match name.rsplit_once(':') {
        Some((path, lines)) if !path.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            path
        }
        _ => name,
    };
    match name.strip_suffix('.') {
        Some(bare) if !bare.is_empty() && !bare.ends_with(['.', '/']) => bare,
        _ => name,
    }
}

/// A command that checks the work of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanCheck {
    /// `None` if there is a failure condition without a command.
    pub(crate) command: Option<String>,
    /// The condition that makes the command fail.
    pub(crate) fails_when: Option<String>,
    /// The name of the task; empty outside of tasks.
    pub(crate) task: String,
    /// Its position in the plan.
    pub(crate) at: usize,
}

/// The checks in a piece of a plan: each `<automated>` with the `<fails_when>` after it. An unclosed element does not
/// count. The piece begins at `base`.
fn checks_in(text: &str, task: &str, base: usize) -> Vec<PlanCheck> {
    let mut checks: Vec<PlanCheck> = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut comment_end = 0;
    for (at, _) in text.match_indices('<') {
        let rest = &text[at + 1..];
        // Text in a comment does not count.
        if open.is_none() && rest.starts_with("!--") {
            comment_end = rest.find("-->").map_or(comment_end, |length| at + 1 + length);
        }
        if at < comment_end {
            continue;
        }
        for tag in ["automated", "fails_when"] {
            let closes = rest
                .strip_prefix('/')
                .and_then(|rest| rest.strip_prefix(tag))
                .is_some_and(|rest| rest.starts_with('>'));
            if let Some((opened, start)) = open
                && closes
                && opened == tag
            {
                add_check(&mut checks, tag, text[start..at].trim(), task, base + start);
                open = None;
            } else if rest.strip_prefix(tag).is_some_and(|rest| rest.starts_with('>')) {
                open = Some((tag, at + tag.len() + 2));
            }
        }
    }
    checks
}

fn add_check(checks: &mut Vec<PlanCheck>, tag: &str, inside: &str, task: &str, at: usize) {
    let (inside, task) = (inside.to_owned(), task.to_owned());
    match (tag, checks.last_mut()) {
        ("automated", _) if inside.is_empty() => {}
        ("automated", _) => checks.push(PlanCheck { command: Some(inside), fails_when: None, task, at }),
        (_, Some(check)) if check.command.is_some() => {
            check.fails_when.get_or_insert(inside);
        }
        _ => checks.push(PlanCheck { command: None, fails_when: Some(inside), task, at }),
    }
}

/// Words at the start of a SUMMARY's status that mean its plan was abandoned as it is.
const HALTED: &[&str] = &["abandoned", "aborted", "halted", "stopped"];

/// Status words of a plan that still has to be executed.
const TO_DO: &[&str] = &[
    "blocked",
    "failed",
    "in",
    "incomplete",
    "not",
    "partial",
    "partially",
    "pending",
    "started",
    "todo",
    "unfinished",
    "wip",
];

/// Status words of a plan that was executed to its end.
const DONE: &[&str] = &[
    "accepted",
    "approved",
    "closed",
    "complete",
    "completed",
    "delivered",
    "done",
    "executed",
    "finished",
    "fixed",
    "green",
    "implemented",
    "landed",
    "merged",
    "ok",
    "pass",
    "passed",
    "ready",
    "released",
    "resolved",
    "shipped",
    "success",
    "successful",
    "verified",
];

/// Whether the head of a SUMMARY only reports that the plan is done: most do, and then need no parsing.
pub(super) fn is_surely_done(summary: &str) -> bool {
    let word = |status: &str| status.split(|letter: char| !letter.is_alphanumeric()).next().map(str::to_lowercase);
    head_statuses(summary).all(|status| word(status).is_some_and(|word| DONE.contains(&word.as_str())))
}

/// The status values in the lines before the first heading, in any form: in front matter that does not begin on the
/// first line, with a key in capitals, or with a colon of another script.
fn head_statuses(text: &str) -> impl Iterator<Item = &str> {
    const MOST_LINES: usize = 200;
    let head = text.lines().take(MOST_LINES).take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    head.filter_map(|line| {
        let bare = line.trim_start_matches(['\u{feff}', '\u{3000}', '*', '_', '"', '\'']);
        let behind = bare.get(..6).filter(|key| key.eq_ignore_ascii_case("status")).map(|key| &bare[key.len()..])?;
        let value = behind.trim_start_matches(['*', '_', '"', '\'', ' ']).strip_prefix(COLONS)?;
        Some(value.trim_matches(|sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '"' | '\'')))
    })
    .filter(|value| !value.is_empty())
}

/// The report on the execution of a plan. Borrows its text.
#[derive(Clone, Debug)]
pub(crate) struct PhaseSummary<'text> {
    markdown: Markdown<'text>,
    front: Option<FrontMatter<'text>>,
}

impl<'text> PhaseSummary<'text> {
    pub(crate) fn parse(text: &'text str) -> Self {
        let markdown = Markdown::parse(text);
        let front = FrontMatter::of(&markdown);
        Self { markdown, front }
    }

    /// A value of the front matter; dashes and underscores in keys are equivalent.
    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        let front = self.front.as_ref()?;
        front.get(key).or_else(|| front.get(&key.replace('-', "_")))
    }

    /// A value of the front matter with the quotes around its texts; an empty list if it is missing.
    pub(crate) fn quoted(&self, key: &str) -> Value {
        self.front.as_ref().and_then(|front| front.get_quoted(key)).unwrap_or(Value::List(Vec::new()))
    }

    /// The execution stopped, and plans that build on it should wait; also true for an unknown status.
    pub(crate) fn is_halted(&self) -> bool {
        self.status_word().is_some_and(|word| HALTED.contains(&word.as_str())) || self.unknown_status().is_some()
    }

    /// The execution could not begin or continue; the plan still has to be done.
    pub(crate) fn is_blocked(&self) -> bool {
        self.status_word().is_some_and(|word| TO_DO.contains(&word.as_str()))
    }

    /// The status if its word is not a known one. A status without a letter or digit counts as missing.
    pub(crate) fn unknown_status(&self) -> Option<String> {
        let word = self.status_word()?;
        let is_known = [HALTED, TO_DO, DONE].iter().any(|words| words.contains(&word.as_str()));
        (!is_known).then(|| self.status()).flatten()
    }

    /// The first word of the status; a note may follow it.
    fn status_word(&self) -> Option<String> {
        let status = self.status()?.to_lowercase();
        let word = status.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty())?;
        Some(word.to_owned())
    }

    fn status(&self) -> Option<String> {
        let written = self.front.as_ref().and_then(|front| front.text("status"));
        written.or_else(|| head_statuses(self.markdown.text()).next().map(str::to_owned))
    }

    /// What was built, on one line: from a field, or the bold line under the heading of the summary.
    pub(crate) fn one_liner(&self) -> Option<String> {
        let field = self.value("one-liner").and_then(|value| value.as_text().map(|text| text.trim().to_owned()));
        field.filter(|text| !text.is_empty()).or_else(|| self.bold_line())
    }

    /// The bold line after the first heading with the word `Summary`; for a bold label, the text after it.
    fn bold_line(&self) -> Option<String> {
        let heading =
            self.markdown.headings().find(|heading| heading.title.to_ascii_lowercase().contains("summary"))?;
        let next = (heading.line + 1..self.markdown.lines().len())
            .find(|line| self.markdown.lines()[*line].kind != LineKind::Blank)?;
        let (bold, rest) = self.markdown.line(next).trim().strip_prefix("**")?.split_once("**")?;
        let text = if bold.ends_with(':') { rest.trim() } else { bold.trim() };
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// How many tasks were done: from the field `**Tasks:** 2`, else the number of task headings.
    pub(crate) fn task_count(&self) -> usize {
        let prose = || (0..self.markdown.lines().len()).filter(|line| self.markdown.is_prose(*line));
        let told = prose().find_map(|line| {
            let (_, rest) = self.markdown.line(line).split_once("**Tasks:**")?;
            usize::try_from(leading_integer(rest.trim())?).ok()
        });
        let is_task = |title: &str| {
            let rest = title.get(..5).filter(|word| word.eq_ignore_ascii_case("task ")).map(|_| &title[5..]);
            rest.is_some_and(|rest| rest.trim_start().starts_with(|first: char| first.is_ascii_digit()))
        };
        told.unwrap_or_else(|| self.markdown.headings().filter(|heading| is_task(heading.title)).count())
    }

    /// The key decisions, each with its reason if a colon separates one.
    pub(crate) fn decisions(&self) -> Vec<(String, Option<String>)> {
        let Some(Value::List(items)) = self.value("key-decisions") else { return Vec::new() };
        let split = |text: String| match text.split_once(": ") {
            Some((what, why)) => (what.trim().to_owned(), Some(why.trim().to_owned())),
            None => (text.trim().to_owned(), None),
        };
        items.iter().map(Value::flat).map(split).collect()
    }
}

/// The texts of a value: the items of a list on one line each, or a single value.
fn texts(value: Option<&Value>) -> Vec<String> {
    value.map(Value::items).unwrap_or_default().iter().map(Value::flat).filter(|text| !text.is_empty()).collect()
}

/// The integer a text begins with, its sign included.
fn leading_integer(text: &str) -> Option<i64> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().ok()
}

/// The content of the first element `tag`, and its start.
fn element<'text>(text: &'text str, tag: &str) -> Option<(usize, &'text str)> {
    let (at, opening) = openings(text, tag, false).next()?;
    let start = at + opening.len();
    let rest = &text[start..];
    let closes = |at: usize| rest[at + 2..].strip_prefix(tag).is_some_and(|rest| rest.starts_with('>'));
    let length = rest.match_indices("</").find(|(at, _)| closes(*at))?.0;
    Some((start, &rest[..length]))
}

/// The positions after the opening tags of `tag`, each with the text of the tag.
fn openings<'text>(text: &'text str, tag: &str, any_case: bool) -> impl Iterator<Item = (usize, &'text str)> {
    text.match_indices('<').filter_map(move |(at, _)| {
        let name = text.get(at + 1..at + 1 + tag.len())?;
        let fits = if any_case { name.eq_ignore_ascii_case(tag) } else { name == tag };
        let rest = &text[at + 1 + tag.len()..];
        if !fits || !rest.starts_with(|next: char| next == '>' || next.is_whitespace()) {
            return None;
        }
        let end = at + 1 + tag.len() + rest.find('>')?;
        Some((at, &text[at..=end]))
    })
}

/// The quoted value of an attribute of an opening tag.
fn attribute<'text>(opening: &'text str, name: &str) -> Option<&'text str> {
    opening.match_indices(name).find_map(|(at, _)| {
        let alone = at == 0 || opening[..at].ends_with(char::is_whitespace);
        let value = opening[at + name.len()..].trim_start().strip_prefix('=').map(str::trim_start).filter(|_| alone)?;
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        value[1..].split(quote).next()
    })
}

/// How many headings with at least `level` marks begin with `Task` and a number. Code fences count: agents wrap plans
/// in them.
pub(crate) fn task_headings(text: &str, level: usize, any_case: bool) -> usize {
    let is_task = |line: &str| {
        let Some(at) = line.find('#') else { return false };
        let marks = line[at..].bytes().take_while(|byte| *byte == b'#').count();
        let rest = line[at + marks..].trim_start();
        let Some((word, number)) = rest.split_at_checked("Task".len()) else { return false };
        let fits = if any_case { word.eq_ignore_ascii_case("task") } else { word == "Task" };
        marks >= level && fits && number.trim_start().starts_with(|first: char| first.is_ascii_digit())
    };
    text.lines().filter(|line| is_task(line)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_declarations_of_a_plan_are_read() {
        let plan = PhasePlan::parse(
            "\u{feff}---\r\nwave: 2\r\ndepends_on: 02-01\r\nautonomous: No\r\nfiles-modified:\r\n  - a.ts # new\r\n\
            agent_hint: [x, y]\r\nstatus: Superseded\r\n---\r\n<objective>\r\n\r\n  Ünïcode 🚀\r\nmore\r\n</objective>\r\n",
        );
        assert_eq!(plan.wave(), Some(2));
        assert_eq!(plan.depends_on(), ["02-01"]);
        assert!(!plan.is_autonomous() && plan.is_superseded());
        assert_eq!(plan.files_modified(), ["a.ts"]);
        assert_eq!(plan.agent_hint().as_deref(), Some("x,y"));
        assert_eq!(plan.objective().as_deref(), Some("Ünïcode 🚀"));
    }

    #[test]
    fn the_checks_of_a_plan_have_their_failure_conditions() {
        let plan = PhasePlan::parse(
            "<tasks><task><name>A</name><verify><automated> a </automated>\n<fails_when>x</fails_when>\
            <fails_when>y</fails_when><automated></automated><automated>b<automated>c</automated></verify></task>\
            <task><fails_when>z</fails_when></task></tasks>\n<automated>d</automated><fails_when>open",
        );
        let checks = plan.checks();
        let told: Vec<String> = checks
            .iter()
            .map(|check| format!("{}: {:?} {:?}", check.task, check.command.as_deref(), check.fails_when.as_deref()))
            .collect();
        assert_eq!(
            told,
            ["A: Some(\"a\") Some(\"x\")", "A: Some(\"c\") None", ": None Some(\"z\")", ": Some(\"d\") None",]
        );
    }

    #[test]
    fn a_plan_that_declares_nothing_is_a_plan() {
        let plan = PhasePlan::parse("---\nwave: 2\n\n<objective>Inline</objective>\n");
        assert_eq!((plan.wave(), plan.is_autonomous(), plan.files_modified()), (None, true, Vec::new()));
        assert_eq!(plan.objective().as_deref(), Some("Inline"));
        assert_eq!(PhasePlan::parse("---\nobjective: field\nwave: x\n---\n").objective().as_deref(), Some("field"));
        assert_eq!(PhasePlan::parse("").objective(), None);
    }

    #[test]
    fn tasks_are_counted_by_tags_else_by_headings() {
        let count = |text| PhasePlan::parse(text).task_count();
        assert_eq!(
            count("<task type=\"auto\" >\n<tasks>\n<Task>\n <task\n type=x>\n`<task>`\n<tasklist>\n## Task 1"),
            4
        );
        assert_eq!(
            count("## Task 1\n##Task2\n# Task 3\n ## Task 4\n## Task A\n### TASK 5:\n- ###### Task 7\n## Tasks 1"),
            5
        );
    }

    #[test]
    fn files_are_read_from_a_line_without_front_matter() {
        let files = |text: &str| PhasePlan::parse(text).files_modified();
        assert_eq!(files("# Plan\n\nfiles_modified: [a/b.sql, \"c.ts\"]\n"), ["a/b.sql", "c.ts"]);
        assert_eq!(files("files-modified: a.ts"), ["a.ts"]);
        for none in
            ["", "files_modified:\n", "---\nphase: 1\n---\nfiles_modified: [a.ts]\n", "see files_modified: [a.ts]"]
        {
            assert_eq!(files(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn markup_in_the_type_of_a_task_is_left_out() {
        let kind = |value: &str| {
            let text = format!("<task type=\"{value}\"><name>N</name></task>");
            PhasePlan::parse(&text).tasks()[0].kind.to_owned()
        };
        assert_eq!(kind("auto<b>x</b>"), "auto");
        assert_eq!(kind("checkpoint:decision <x"), "checkpoint:decision");
        assert_eq!(kind("<b>auto</b>"), "");
    }

    #[test]
    fn the_elements_of_a_task_are_found() {
        let tasks = PhasePlan::parse(
            "<task tdd=\"true\" type = 'tdd'>\n<name>\n N\n</name><action foo=\"x\">a</action><files/><verify >v</verify></task>\n\
            <task><name>out</name><task type=\"checkpoint:decision\"><name id=\"q\">x</name></task></task><task><name>open</name>",
        );
        let tasks = tasks.tasks();
        let names: Vec<_> = tasks.iter().map(|task| (task.kind, task.name(), task.checkpoint())).collect();
        assert_eq!(names, [("tdd", Some("N"), None), ("checkpoint:decision", None, Some("decision"))]);
        assert_eq!(["action", "files", "verify", "done"].map(|tag| tasks[0].has(tag)), [true, false, true, false]);
    }

    #[test]
    fn the_files_of_a_task_are_listed_in_many_ways() {
        for (listed, files) in [
            ("a.ts, b.ts", vec!["a.ts", "b.ts"]),
            ("Create: a.ts\nModify: b.ts; c.ts", vec!["a.ts", "b.ts", "c.ts"]),
            ("1. a.ts\n2) b.ts", vec!["a.ts", "b.ts"]),
            ("- [ ] a.ts\n- [x] b.ts", vec!["a.ts", "b.ts"]),
            ("Create `src/a.ts`", vec!["src/a.ts"]),
            ("a.ts and b.ts + c.ts", vec!["a.ts", "b.ts", "c.ts"]),
            ("src/{a,b}.ts, c.ts", vec!["src/{a,b}.ts", "c.ts"]),
            ("[a](src/a.ts), **b.ts**, `c.ts`", vec!["src/a.ts", "b.ts", "c.ts"]),
            ("a.ts:10-20, b.ts:3, c.ts.", vec!["a.ts", "b.ts", "c.ts"]),
            ("src/app/[id]/page.tsx (new), test", vec!["src/app/[id]/page.tsx", "test"]),
            ("none (only checks)", vec!["none"]),
        ] {
            let text = format!("<task><files>{listed}</files></task>");
            assert_eq!(PhasePlan::parse(&text).tasks()[0].files(), files, "{listed}");
        }
        let front = |listed: &str| PhasePlan::parse(&format!("---\nfiles_modified:{listed}\n---\n")).files_modified();
        assert_eq!(front("\n  - path: a.ts\n  - path: b.ts"), ["a.ts", "b.ts"]);
        assert_eq!(front(" [a.ts, b.ts]"), ["a.ts", "b.ts"]);
    }

    #[test]
    fn a_check_in_a_comment_does_not_count() {
        let told = |text: &str| {
            let checks = PhasePlan::parse(text).checks();
            checks.into_iter().map(|check| (check.command, check.fails_when)).collect::<Vec<_>>()
        };
        let command = || Some("a".to_owned());
        assert_eq!(told("<automated>a</automated><!-- <fails_when>b</fails_when> -->"), [(command(), None)]);
        assert_eq!(told("<!-- <automated>b</automated> --><automated>a</automated>"), [(command(), None)]);
    }

    #[test]
    fn must_haves_are_the_items_of_their_list() {
        let plan = |artifacts: &str| format!("---\nmust_haves:\n  artifacts:{artifacts}\n---\n");
        let count = |text: &str| PhasePlan::parse(text).must_have(MustHave::Artifacts).map(|items| items.len());
        assert_eq!(count(&plan("\n    - path: a\n      exports: [b]\n    - text\n    - {path: c}")), Some(3));
        assert_eq!(count(&plan(" []")), Some(0));
        assert_eq!((count(&plan(" a.ts")), count(""), count(&plan(""))), (None, None, None));
    }

    #[test]
    fn the_one_liner_of_a_summary_is_the_bold_line_under_its_heading() {
        let line = |text| PhaseSummary::parse(text).one_liner();
        assert_eq!(line("# My Summary\r\n\r\n**One** more\r\n").as_deref(), Some("One"));
        assert_eq!(line("# My Summary\n**Label:** rest\n").as_deref(), Some("rest"));
        assert_eq!(line("---\none-liner: field\n---\n# S Summary\n\n**b**\n").as_deref(), Some("field"));
        for text in ["# My Summary\n\nplain\n\n**b**\n", "# Title\n\n**b**\n", "# A Summary\n\n**two\nlines**\n", ""] {
            assert_eq!(line(text), None, "{text}");
        }
    }

    #[test]
    fn a_decision_may_have_a_reason() {
        let summary =
            PhaseSummary::parse("---\nkey_decisions:\n  - \"A: b: c\"\n  - url http://x\nstatus: HALTED\n---\n");
        let decisions = summary.decisions();
        assert_eq!(decisions, [("A".into(), Some("b: c".into())), ("url http://x".into(), None)]);
        assert!(summary.is_halted() && !summary.is_blocked());
    }

    proptest! {
        #[test]
        fn any_text_is_a_plan_and_a_summary(text in "(---\n)?(<task|</task>|<name>|</name>|type=|[\"'> \n#é]|Task 1|<objective>|: |- ){0,30}") {
            let plan = PhasePlan::parse(&text);
            let _ = (plan.tasks(), plan.task_count(), plan.objective(), plan.fields());
            for task in plan.tasks() {
                let _ = (task.name(), task.has("name"));
            }
            let summary = PhaseSummary::parse(&text);
            let _ = (summary.one_liner(), summary.decisions());
        }
    }
}
