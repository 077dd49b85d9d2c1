//! One line for the host's screen: the model, the current activity, the folder, the context in use, a newer version.

use serde::Deserialize;

use super::payload::ContextUse;
use super::payload::Payload;
use super::position::PositionWords;
use crate::disk;

/// The most characters of a todo that are shown.
const TODO: usize = 40;

/// The contents of the line.
#[derive(Debug)]
pub(super) struct StatuslineParts<'a> {
    pub(super) payload: &'a Payload,
    /// The position of the project, if there is one.
    pub(super) position: Option<PositionWords>,
    /// A milestone that a run has landed just now.
    pub(super) landed: Option<String>,
    /// The agent's current todo.
    pub(super) todo: Option<String>,
    pub(super) used: Option<&'a ContextUse>,
    /// A version that is newer than this program.
    pub(super) newer: Option<&'a str>,
    /// The bar is before everything else.
    pub(super) context_first: bool,
    /// Show only the project's place, without its status.
    pub(super) short: bool,
    /// Show the tokens in use after the bar.
    pub(super) tokens: bool,
    /// The branch, if it is to be shown.
    pub(super) branch: Option<String>,
    /// The age of STATE.md in milliseconds, if it is to be shown.
    pub(super) state_age: Option<i64>,
    pub(super) color: bool,
}

impl StatuslineParts<'_> {
    /// Formats the line.
    pub(super) fn line(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.payload.model().map(|model| dim(&plain(model), self.color)));
        let place =
            || self.position.as_ref().and_then(|position| position.brief(self.short)).map(|place| plain(&place));
        parts.extend(self.todo.as_deref().map(|todo| bold(&plain(todo), self.color)).or_else(place));
        parts.extend(self.landed.as_deref().map(|landed| colored(&plain(&format!("✓ {landed}")), "32", self.color)));
        parts.extend(self.payload.folder().and_then(folder_name).map(|name| dim(&plain(name), self.color)));
        parts.extend(self.branch.as_deref().map(|branch| dim(&plain(&format!("⎇ {branch}")), self.color)));
        parts.extend(self.state_age.map(|age| dim(&format!("state {}", aged(age)), self.color)));
        parts.extend(self.newer.map(|newer| colored(&plain(&format!("↑ {newer}")), "33", self.color)));
        let line = parts.join(" │ ");
        let bar = self.used.map(|used| bar(used.used(), self.color) + &self.token_count()).unwrap_or_default();
        let (first, second) = if self.context_first { (bar, line) } else { (line, bar) };
        if first.is_empty() || second.is_empty() { first + &second } else { format!("{first} {second}") }
    }

    fn token_count(&self) -> String {
        let count = self.payload.tokens_in_use().filter(|_| self.tokens);
        count.map(|count| dim(&format!(" ({})", rounded(count)), self.color)).unwrap_or_default()
    }
}

/// The text without control characters, which could control the host's screen.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// An item of the agent's todo list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Todo {
    #[serde(default)]
    content: String,
    #[serde(default)]
    status: String,
    active_form: Option<String>,
}

/// The todo in progress, from the newest of the session's lists, which are in a folder next to that of the session's
/// own file.
pub(super) fn todo(payload: &Payload) -> Option<String> {
    let session = payload.session().filter(|session| !session.is_empty())?;
    let folder = payload.transcript()?.ancestors().nth(3)?.join("todos");
    let lists = disk::list(&folder).ok()??.into_iter().filter(|entry| {
        let is_list = entry.path.extension().is_some_and(|ending| ending == "json");
        is_list && entry.name.starts_with(session) && entry.name.contains("-agent-")
    });
    let newest = lists.max_by_key(|entry| disk::modified(&entry.path))?;
    in_progress(&disk::read_text(&newest.path).ok()??)
}

fn in_progress(list: &str) -> Option<String> {
    let todos: Vec<Todo> = serde_json::from_str(list).ok()?;
    let todo = todos.into_iter().find(|todo| todo.status == "in_progress")?;
    let text = todo.active_form.unwrap_or(todo.content);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = if line.chars().count() > TODO { line.chars().take(TODO - 1).collect::<String>() + "…" } else { line };
    Some(line).filter(|line| !line.is_empty())
}

fn folder_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty())
}

/// Ten cells for the usable context, and the used part of it, in percent.
fn bar(used: usize, color: bool) -> String {
    let filled = (used / 10).min(10);
    let text = format!("{}{} {used}% used", "█".repeat(filled), "░".repeat(10 - filled));
    let code = match used {
        0..50 => "32",
        50..65 => "33",
        65..80 => "38;5;208",
        _ => "5;31",
    };
    colored(&text, code, color)
}

/// `950`, `101k`, `1.2M`.
fn rounded(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", (count + 500) / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// An age as text: `now`, `5 min`, `3 h`, `2 d`.
fn aged(milliseconds: i64) -> String {
    match milliseconds / 60_000 {
        ..1 => "now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes @ 60..2_880 => format!("{} h", minutes / 60),
        minutes => format!("{} d", minutes / 1_440),
    }
}

fn dim(text: &str, color: bool) -> String {
    colored(text, "2", color)
}

fn bold(text: &str, color: bool) -> String {
    colored(text, "1", color)
}

fn colored(text: &str, code: &str, color: bool) -> String {
    if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "---\nstatus: executing\ncurrent_phase: 2\ncurrent_phase_name: Notes\n---\n";

    fn parsed(text: &str) -> &'static Payload {
        Box::leak(Box::new(Payload::parse(text).unwrap()))
    }

    fn usual() -> StatuslineParts<'static> {
        let payload = parsed(
            r#"{"model":{"display_name":"Opus 5.5"},"workspace":{"current_dir":"/home/u/acme"},
                "context_window":{"remaining_percentage":58.25,
                "current_usage":{"input_tokens":400,"cache_read_input_tokens":100200,"output_tokens":null}}}"#,
        );
        StatuslineParts {
            payload,
            position: PositionWords::of_state(STATE),
            todo: None,
            used: Some(Box::leak(Box::new(payload.context_use(0).unwrap()))),
            newer: None,
            landed: None,
            context_first: false,
            short: false,
            tokens: false,
            branch: None,
            state_age: None,
            color: false,
        }
    }

    #[test]
    fn the_line_shows_what_is_known() {
        assert_eq!(usual().line(), "Opus 5.5 │ Phase 2 Notes · executing │ acme █████░░░░░ 50% used");
        let nothing = StatuslineParts { payload: parsed("{}"), position: None, used: None, color: true, ..usual() };
        assert_eq!(nothing.line(), "");
    }

    #[test]
    fn settings_and_a_newer_version_change_the_line() {
        assert_eq!(StatuslineParts { short: true, ..usual() }.line(), "Opus 5.5 │ Phase 2 │ acme █████░░░░░ 50% used");
        let next =
            || PositionWords { next: Some("/gsd-execute-phase 2".into()), ..PositionWords::of_state(STATE).unwrap() };
        let line = StatuslineParts { position: Some(next()), ..usual() }.line();
        let place = "Phase 2 Notes · executing → /gsd-execute-phase 2";
        assert_eq!(line, format!("Opus 5.5 │ {place} │ acme █████░░░░░ 50% used"));
        let short = StatuslineParts { position: Some(next()), short: true, ..usual() }.line();
        assert_eq!(short, "Opus 5.5 │ Phase 2 │ acme █████░░░░░ 50% used");
        let tokens = StatuslineParts { tokens: true, ..usual() }.line();
        assert_eq!(tokens, "Opus 5.5 │ Phase 2 Notes · executing │ acme █████░░░░░ 50% used (101k)");
        assert!(
            StatuslineParts { context_first: true, ..usual() }.line().starts_with("█████░░░░░ 50% used Opus 5.5 │")
        );
        let of_git =
            StatuslineParts { branch: Some("gsd/02\u{7}".into()), state_age: Some(3 * 3_600_000), ..usual() }.line();
        assert_eq!(of_git, "Opus 5.5 │ Phase 2 Notes · executing │ acme │ ⎇ gsd/02 │ state 3 h █████░░░░░ 50% used");
        assert!(StatuslineParts { newer: Some("9.0.0"), ..usual() }.line().contains("acme │ ↑ 9.0.0 █"));
        let busy = StatuslineParts { todo: Some("Writing tests".into()), ..usual() };
        assert!(busy.line().contains("│ Writing tests │ acme"));
    }

    #[test]
    fn text_of_others_cannot_control_the_screen() {
        let payload = parsed(r#"{"model":{"display_name":"M\u001b[2JX\n"},"cwd":"/p/a\u0007\u009bb"}"#);
        let state = Some("---\nstatus: \"e\\x1b]0;t\\x07\"\ncurrent_phase: 2\n---\n");
        let known = |todo: Option<&str>| StatuslineParts {
            payload,
            position: state.and_then(PositionWords::of_state),
            todo: todo.map(str::to_owned),
            newer: Some("1\r"),
            ..usual()
        };
        for line in [known(None).line(), known(Some("a\u{1b}[31mb")).line()] {
            assert!(!line.contains(char::is_control), "{line:?}");
            assert!(line.starts_with("M[2JX │ ") && line.contains(" │ ab │ ↑ 1"), "{line:?}");
        }
        assert!(known(None).line().contains("Phase 2 · e]0;t"), "{:?}", known(None).line());
    }

    #[test]
    fn the_todo_in_progress_is_shown_in_one_short_line() {
        let list =
            r#"[{"content":"a","status":"pending"},{"content":"b","status":"in_progress","activeForm":"Doing\n b"}]"#;
        assert_eq!(in_progress(list).as_deref(), Some("Doing b"));
        let long = format!(r#"[{{"content":"{}","status":"in_progress"}}]"#, "x".repeat(90));
        assert_eq!(in_progress(&long).unwrap().chars().count(), TODO);
        for nothing in ["[]", "{}", "", r#"[{"content":"a","status":"completed"}]"#] {
            assert_eq!(in_progress(nothing), None);
        }
    }

    #[test]
    fn numbers_are_shown_short() {
        assert_eq!([0, 999, 1_499, 100_600, 1_250_000].map(rounded), ["0", "999", "1k", "101k", "1.2M"]);
        let hour = 3_600_000;
        assert_eq!([-1, 59_999, 5 * 60_000, 47 * hour, 48 * hour].map(aged), ["now", "now", "5 min", "47 h", "2 d"]);
    }
}
