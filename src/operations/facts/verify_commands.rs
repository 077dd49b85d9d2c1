//! The commands that verified an earlier phase, from the `<automated>` tags of its plans.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::phase;

use super::Given;

/// The most commands that are worth listing.
const MOST: usize = 20;

/// A command and its task.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct VerifyCommand {
    phase: String,
    plan: String,
    task: String,
    command: String,
}

/// The commands in the plans of the nearest earlier open phase that has any, each listed once.
pub(super) fn earlier_verify_commands(given: &Given<'_>, number: &str) -> Result<Vec<VerifyCommand>, FileError> {
    let folders = given.view.phase_folders()?;
    let mut earlier: Vec<_> = folders.iter().filter(|folder| phase::compare(folder.token(), number).is_lt()).collect();
    // If two folders belong to one phase, the first one by name counts, as everywhere.
    earlier.dedup_by(|second, first| phase::compare(second.token(), first.token()).is_eq());
    for folder in earlier.into_iter().rev() {
        let mut commands: Vec<VerifyCommand> = Vec::new();
        for plan in folder.files.iter().filter(|file| file.ends_with("-PLAN.md") && !file.contains('/')) {
            let path = folder.join(plan);
            let Some(text) = given.view.text(&path)? else { continue };
            for (task, command) in automated(&text) {
                if commands.len() < MOST && !commands.iter().any(|known| known.command == command) {
                    commands.push(VerifyCommand {
                        phase: folder.token().to_owned(),
                        plan: given.shown(&path),
                        task: task.to_owned(),
                        command: command.to_owned(),
                    });
                }
            }
        }
        if !commands.is_empty() {
            return Ok(commands);
        }
    }
    Ok(Vec::new())
}

/// The texts of `<automated>` tags, each with the `<name>` of its task.
fn automated(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut task = "";
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if opens(rest, "task") || rest.starts_with("</task>") {
            task = "";
        } else if let Some(name) = content(rest, "name") {
            task = name;
        } else if let Some(command) = content(rest, "automated")
            && !command.is_empty()
        {
            found.push((task, command));
        }
        rest = &rest[1..];
    }
    found
}

/// True if `text` starts with the opening tag `name`.
fn opens(text: &str, name: &str) -> bool {
    text[1..].strip_prefix(name).is_some_and(|rest| rest.starts_with(['>', ' ', '\t', '\r', '\n']))
}

/// The trimmed text between the opening tag `name` at the start of `text` and its closing tag.
fn content<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    if !opens(text, name) {
        return None;
    }
    let inside = &text[text.find('>')? + 1..];
    Some(inside[..inside.find(&format!("</{name}>"))?].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_name_of_their_task() {
        let text = "<task type=\"auto\">\n<name>One</name>\n<verify><automated>\n a\n b\n</automated></verify>\n</task>\n\
            <task><automated timeout=\"5\">c</automated><automated></automated></task><automated>d</automated><automated>";
        assert_eq!(automated(text), [("One", "a\n b"), ("", "c"), ("", "d")]);
    }
}
