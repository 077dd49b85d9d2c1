//! What the clients must show, from the repository's content: names, descriptions, and phrases to look for.

use std::path::Path;

use crate::kit::repository;

/// The command that the kit types, and the agent that it spawns.
pub(crate) const COMMAND: &str = "plan-phase";
pub(crate) const AGENT: &str = "planner";

#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) commands: Vec<Page>,
    pub(crate) agents: Vec<Page>,
    /// A phrase of the workflow of [`COMMAND`].
    pub(crate) workflow_phrase: String,
    /// Phrases of the references, one of which the model will open.
    pub(crate) reference_phrases: Vec<String>,
}

/// A command or an agent of the library.
#[derive(Debug)]
pub(crate) struct Page {
    /// File name without extension.
    pub(crate) stem: String,
    pub(crate) description: String,
    /// Words of the body that are spelled the same for every host.
    pub(crate) phrase: String,
    /// True if meant to be listed to the model, unlike the commands that only people type.
    pub(crate) router: bool,
}

impl Library {
    pub(crate) fn read() -> Self {
        let library = Self {
            commands: pages("commands"),
            agents: pages("agents"),
            workflow_phrase: std::fs::read_to_string(repository().join(format!("workflows/{COMMAND}.md")))
                .map(|text| phrase_of(split_front_matter(&text).1))
                .unwrap_or_default(),
            reference_phrases: pages("references").into_iter().map(|page| page.phrase).collect(),
        };
        let complete = library.commands.iter().any(|page| page.stem == COMMAND)
            && library.agents.iter().any(|page| page.stem == AGENT)
            && !library.workflow_phrase.is_empty();
        assert!(complete, "the library has no `{COMMAND}` and `{AGENT}`");
        library
    }

    pub(crate) fn command(&self) -> &Page {
        self.commands.iter().find(|page| page.stem == COMMAND).unwrap()
    }

    pub(crate) fn agent(&self) -> &Page {
        self.agents.iter().find(|page| page.stem == AGENT).unwrap()
    }
}

/// Joins a text to one line with single spaces, so that it can be searched whatever its line breaks.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pages(folder: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = std::fs::read_dir(repository().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| page(&path))
        .collect();
    pages.sort_by(|left, right| left.stem.cmp(&right.stem));
    pages
}

fn page(path: &Path) -> Page {
    let text = std::fs::read_to_string(path).unwrap();
    let (front_matter, body) = split_front_matter(&text);
    let value = |key: &str| {
        front_matter
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
            .map(|value| value.trim().trim_matches('"').to_owned())
    };
    Page {
        stem: path.file_stem().unwrap().to_string_lossy().into_owned(),
        description: value("description").unwrap_or_default(),
        phrase: phrase_of(body),
        router: value("router").is_some_and(|value| value == "true"),
    }
}

fn split_front_matter(text: &str) -> (&str, &str) {
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap_or(("", text))
}

/// The longest run of plain lower-case words within one line: tool names, paths, mentions and brands, which differ from
/// host to host, all contain other characters.
fn phrase_of(body: &str) -> String {
    body.lines()
        .flat_map(|line| line.split(|character: char| !(character.is_ascii_lowercase() || character == ' ')))
        .map(|run| {
            // A run may begin or end inside a word such as `Read` or `plan-phase`; whole words only.
            let inner = run.split_once(' ').map_or("", |(_, rest)| rest);
            inner.rsplit_once(' ').map_or("", |(rest, _)| rest).trim()
        })
        .max_by_key(|run| run.len())
        .map(flat)
        .unwrap_or_default()
}

mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_no_word_that_hosts_spell_differently() {
        let body = "Use Read for the file `references/very-long-name.md` now.\n\
                    Then ask the user which of the two plans is the better one, with AskUserQuestion.\n";
        assert_eq!(phrase_of(body), "ask the user which of the two plans is the better");
    }
}
