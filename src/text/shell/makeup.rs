//! What a script holds beside plain commands with plain words.

use super::read::{Command, Redirect, commands};
use super::word::{Part, Word};

/// What a script is made of, as far as it is more than commands with words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Makeup {
    /// Commands that are run for what they print, or as files.
    pub(crate) substitutes: bool,
    /// Variables that are set, for one command or for all that follow.
    pub(crate) assigned: Vec<String>,
    /// Files that output goes to; `None` for one whose name only the shell knows.
    pub(crate) written: Vec<Option<String>>,
    /// More than one command, and a line break between them.
    pub(crate) has_lines: bool,
}

impl Makeup {
    pub(crate) fn of(script: &str) -> Self {
        let mut makeup = Self::default();
        let commands = commands(script);
        for command in &commands {
            makeup.add(command);
        }
        let breaks = script.trim_end().match_indices('\n').filter(|(at, _)| !script[..*at].ends_with('\\'));
        makeup.has_lines = commands.len() > 1 && breaks.count() > 0;
        makeup
    }

    fn add(&mut self, command: &Command) {
        let targets = command.redirects.iter().map(|redirect| match redirect {
            Redirect::Read(word) | Redirect::Here(word) | Redirect::Write { target: word, .. } => word,
        });
        let values = command.assignments.iter().map(|(_, value)| value);
        self.substitutes |= command.words.iter().chain(values).chain(targets).any(substitutes);
        self.assigned.extend(command.assignments.iter().map(|(name, _)| name.clone()));
        let mut words = command.words.iter();
        if words.next().and_then(Word::plain).is_some_and(|name| SETTERS.contains(&name.as_str())) {
            self.assigned.extend(words.filter_map(Word::assignment).map(|(name, _)| name));
        }
        self.written.extend(command.redirects.iter().filter_map(|redirect| match redirect {
            Redirect::Write { target, .. } => Some(target.plain()),
            Redirect::Read(_) | Redirect::Here(_) => None,
        }));
    }
}

/// Programs of the shell whose arguments set variables.
const SETTERS: &[&str] = &["export", "declare", "typeset", "readonly", "local"];

fn substitutes(word: &Word) -> bool {
    word.parts.iter().any(is_substitution)
}

fn is_substitution(part: &Part) -> bool {
    match part {
        Part::Substitution { .. } | Part::Process(_) | Part::Unknown => true,
        Part::Variable { fallback, .. } => fallback.iter().any(is_substitution),
        Part::Text { .. } | Part::Made(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_made_of_words() {
        for script in [
            "p state json",
            "p state add-decision --summary 'a > b; $(c) `d`' && p x \"it's\"",
            "p commit 'a' \\\n  --files x",
            "cd a && p x | head -5",
            "p x 'two\nlines'",
        ] {
            assert_eq!(Makeup::of(script), Makeup::default(), "{script}");
        }
    }

    #[test]
    fn what_is_more_than_words_is_found_behind_any_quotes() {
        for script in [
            "p x $(id)",
            "p x \"$(id)\"",
            "p x `id`",
            "p x \"${a:-$(id)}\"",
            "p x <(id)",
            "A=$(id) p x",
            "p x $'\\'' $(id)",
            "p x > \"$(id)\"",
            "p x <<E\n$(id)\nE",
        ] {
            assert!(Makeup::of(script).substitutes, "{script}");
        }
        assert_eq!(Makeup::of("A=1 p x; export B=2 C; D=3").assigned, ["A", "B", "D"]);
        let written = Makeup::of("p x > a 2>> ~/b; { p; } > $c").written;
        assert_eq!(written, [Some("a".to_owned()), Some("~/b".to_owned()), None]);
        assert!(Makeup::of("p x\nid").has_lines && Makeup::of("p x # it's\nid # '").has_lines);
        assert!(!Makeup::of("p x\n").has_lines);
    }
}
