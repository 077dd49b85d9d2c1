//! `T01-PLAN.md`: one task, and the files that it reads and leaves.

use super::lines::{Problem, bare, bullets, front_problem, list, scalar, ticked_words, title};
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// What a task's plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskPlan {
    pub(crate) title: Option<String>,
    pub(crate) estimated_steps: Option<u32>,
    pub(crate) estimated_files: Option<u32>,
    pub(crate) skills: Vec<String>,
    /// The task fixes something that is broken, which its checks have to show.
    pub(crate) is_fix: bool,
    pub(crate) must_haves: Vec<String>,
    pub(crate) verification: Vec<String>,
    /// Paths that the task reads.
    pub(crate) inputs: Vec<String>,
    /// Paths that the task leaves.
    pub(crate) outputs: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

impl TaskPlan {
    pub(crate) fn parse(text: &str, id: &str) -> Self {
        let own = bare(text);
        let markdown = Markdown::parse(own);
        let front = FrontMatter::of(&markdown);
        let section =
            |names: &[&str]| names.iter().find_map(|name| markdown.section_named(name)).map(|(_, lines)| lines);
        let paths = |names: &[&str]| section(names).map(|lines| paths(&markdown, lines)).unwrap_or_default();
        let items = |names: &[&str]| section(names).map(|lines| bullets(&markdown, lines)).unwrap_or_default();
        let mut problems = front_problem(front.as_ref());
        let mut number = |key: &str| {
            let text = scalar(front.as_ref(), key)?;
            let number = text.parse().ok();
            if number.is_none() {
                let line = key_line(&markdown, key);
                problems.push(Problem { line, what: format!("`{key}` is `{text}`, not a number") });
            }
            number
        };
        let (estimated_steps, estimated_files) = (number("estimated_steps"), number("estimated_files"));
        Self {
            title: title(own, id),
            estimated_steps,
            estimated_files,
            skills: list(front.as_ref(), "skills_used"),
            is_fix: scalar(front.as_ref(), "fix").as_deref() == Some("true"),
            must_haves: items(&["Must-Haves", "Must Haves"]),
            verification: items(&["Verification"]),
            inputs: paths(&["Inputs", "Input"]),
            outputs: paths(&["Expected Output", "Expected Outputs", "Outputs"]),
            problems,
        }
    }
}

/// The line of a top-level key of the front matter, counted from one; the first line where it is not there.
pub(super) fn key_line(markdown: &Markdown<'_>, key: &str) -> usize {
    let front = 0..markdown.body_line();
    let is_key = |line: &usize| markdown.line(*line).strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    front.into_iter().find(is_key).map_or(1, |line| line + 1)
}

/// The back-ticked words of a section that look like paths, each once.
fn paths(markdown: &Markdown<'_>, lines: std::ops::Range<usize>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for line in lines.filter(|line| markdown.is_prose(*line)) {
        let words = ticked_words(markdown.line(line)).filter(|word| word.contains(['/', '\\', '.']));
        paths.extend(words.filter(|word| known.insert(*word)).map(str::to_owned));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_ticked_words_that_look_like_one() {
        let text = "\u{feff}---\r\nestimated_steps: 4\r\nestimated_files: many\r\nskills_used: [a, none]\r\n---\r\n# T01: Index\r\n\r\n## \
            Inputs\r\n- `src/a.rs` with `Thing` and `b.toml`\r\n- `src/a.rs`\r\n\r\n## Expected Output\r\n`src\\c.rs`\r\n\r\n## Must-Haves\r\n- [ ] \
            one\r\n";
        let plan = TaskPlan::parse(text, "T01");
        assert_eq!(plan.title.as_deref(), Some("Index"));
        assert_eq!(
            (plan.inputs, plan.outputs),
            (vec!["src/a.rs".to_owned(), "b.toml".to_owned()], vec!["src\\c.rs".to_owned()])
        );
        assert_eq!((plan.estimated_steps, plan.estimated_files), (Some(4), None));
        assert_eq!((plan.skills, plan.must_haves), (vec!["a".to_owned()], vec!["one".to_owned()]));
        assert_eq!(
            plan.problems.first().map(|problem| (problem.line, problem.what.as_str())),
            Some((3, "`estimated_files` is `many`, not a number"))
        );
    }
}
