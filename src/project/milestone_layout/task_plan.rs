//! `T01-PLAN.md`: one task, and the files that it produces.

use super::lines::{bare, scalar, ticked_words};
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// The parts of a task's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskPlan {
    /// The task fixes a defect, which its checks must show.
    pub(crate) is_fix: bool,
    /// Paths of the files that the task produces.
    pub(crate) outputs: Vec<String>,
}

impl TaskPlan {
    pub(crate) fn parse(text: &str) -> Self {
        let markdown = Markdown::parse(bare(text));
        let front = FrontMatter::of(&markdown);
        let outputs = ["Expected Output", "Expected Outputs", "Outputs"];
        let outputs = outputs.iter().find_map(|name| markdown.section_named(name));
        Self {
            is_fix: scalar(front.as_ref(), "fix").as_deref() == Some("true"),
            outputs: outputs.map(|(_, lines)| paths(&markdown, lines)).unwrap_or_default(),
        }
    }
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
        let text = "\u{feff}---\r\nfix: true\r\n---\r\n# T01: Index\r\n\r\n## Expected Output\r\n- `src/a.rs` with `Thing` and \
            `b.toml`\r\n- `src/a.rs` and `src\\c.rs`\r\n";
        let plan = TaskPlan::parse(text);
        assert_eq!(plan.outputs, ["src/a.rs", "b.toml", "src\\c.rs"]);
        assert!(plan.is_fix);
    }
}
