//! Facts about work outside the phases: todos, small tasks, and work that was interrupted.

use super::milestone::fill;
use super::{FactBasis, Given, facts};
use crate::operations::notes::todos::{self, TodoReport};
use crate::project::files::FileError;
use crate::text::slug_within;

/// The longest part of a folder's name that is taken from the task's text.
const LONGEST_SLUG: usize = 40;

/// The pending todos of an area, or all of them.
struct Pending {
    todos: Vec<TodoReport>,
    /// The todos as a list that can be inserted into STATE.md.
    lines: Vec<String>,
}

/// The name of a small task.
struct Task {
    id: String,
    slug: Option<String>,
}

impl FactBasis for Pending {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let mut todos = todos::list(given.view, given.call.text.as_deref())?.todos;
        let lines = todos.iter().map(line).collect();
        for todo in &mut todos {
            todo.path = given.shown(&todo.path);
        }
        Ok(Self { todos, lines })
    }
}

impl FactBasis for Task {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let task = given.call.text.as_deref().filter(|text| !text.trim().is_empty());
        // A description may contain no letters or digits.
        let name = |text| Some(slug_within(text, LONGEST_SLUG)).filter(|slug| !slug.is_empty());
        let slug = task.map(|text| name(text).unwrap_or_else(|| "quick".to_owned()));
        Ok(Self { id: quick_id(&given.host.next.today, given.host.second_of_day), slug })
    }
}

facts! { |given|
    /// The number of pending todos.
    todo_count: usize = given.part::<Pending>()?.todos.len();
    /// The pending todos.
    todos: Vec<TodoReport> = given.part::<Pending>()?.todos.clone();
    /// The pending todos as a list that can be inserted into STATE.md.
    pending_todos_markdown: String = {
        let lines = &given.part::<Pending>()?.lines;
        if lines.is_empty() { "None yet.".to_owned() } else { lines.join("\n") }
    };
    /// The requested area.
    area_filter: Option<String> = given.call.text.clone();
    /// Whether the todos could be read. Always true, since a failure is an error.
    pending_read_ok: bool = true;
    /// The task in the user's words.
    description: Option<String> = given.call.text.clone();
    /// The identifier of the task: date and time.
    quick_id: String = given.part::<Task>()?.id.clone();
    /// The task as part of file names and branches.
    slug: Option<String> = given.part::<Task>()?.slug.clone();
    /// The folder to create for the task.
    task_dir: Option<String> = {
        let Task { id, slug } = &*given.part::<Task>()?;
        slug.as_ref().map(|slug| given.shown(&format!("{}/{id}-{slug}", given.view.layout().quick())))
    };
    /// The branch for the task; null if it is the current one.
    quick_branch_name: Option<String> = {
        let Task { id, slug } = &*given.part::<Task>()?;
        let values = [("{num}", id.as_str()), ("{quick}", id), ("{slug}", slug.as_deref().unwrap_or("quick"))];
        given.config.text("git.quick_branch_template").and_then(|template| fill(template, &values))
    };
    /// The id of the interrupted agent.
    interrupted_agent_id: Option<String> = interrupted_agent(given)?;
    /// Whether an agent was interrupted.
    has_interrupted_agent: bool = interrupted_agent(given)?.is_some();
    /// Whether to find only the cause of a defect.
    diagnose: bool = given.asked("diagnose");
    /// Whether plans are reviewed until no reviewer finds a defect.
    plan_strategy_converge: bool = given.asked("converge");
    /// Whether to update to a pre-release.
    next_channel: bool = given.asked("next");
}

fn line(todo: &TodoReport) -> String {
    let TodoReport { created, title, area, path, .. } = todo;
    let day = created.split(['T', ' ']).next().unwrap_or(created);
    format!("- [{day}] [{area}] {title} — [todo file]({path})")
}

fn interrupted_agent(given: &Given<'_>) -> Result<Option<String>, FileError> {
    let text = given.view.text(&given.view.layout().interrupted_agent())?;
    Ok(text.map(|text| text.trim().to_owned()).filter(|id| !id.is_empty()))
}

/// The date as six digits, and the time in steps of two seconds as three letters and digits. Such identifiers sort by
/// time and are easy to type.
fn quick_id(day: &str, second: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digits: String = day.chars().filter(char::is_ascii_digit).skip(2).collect();
    let step = second / 2;
    let letter = |place: u32| char::from(DIGITS[(step / 36_u32.pow(place) % 36) as usize]);
    format!("{digits}-{}{}{}", letter(2), letter(1), letter(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_encodes_day_and_time() {
        assert_eq!(quick_id("2026-01-02", 0), "260102-000");
        assert_eq!(quick_id("2026-01-02", 3), "260102-001");
        assert_eq!(quick_id("2026-01-02", 71), "260102-00z");
        assert_eq!(quick_id("2026-01-02", 86_399), "260102-xbz");
    }
}
