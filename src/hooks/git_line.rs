//! The parts of a `git` command line.

use crate::text::shell::{Argument, Run};

/// A call of `git`: the verb and its arguments.
#[derive(Clone, Debug)]
pub(super) struct GitLine<'run> {
    pub(super) verb: String,
    pub(super) arguments: &'run [Argument],
    /// The folder of `-C`, if it is known.
    pub(super) folder: Option<String>,
}

/// Options before the verb that take the next word.
const WITH_VALUE: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

impl<'run> GitLine<'run> {
    /// Reads a run as a call of git; `None` for another program.
    pub(super) fn of(run: &'run Run) -> Option<Self> {
        if run.program != "git" {
            return None;
        }
        let (mut at, mut folder) = (0, None);
        loop {
            let word = run.arguments.get(at)?.text()?;
            if !word.starts_with('-') {
                return Some(Self { verb: word, arguments: &run.arguments[at + 1..], folder });
            }
            if word == "-C" {
                folder = run.arguments.get(at + 1)?.text();
            }
            at += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
        }
    }

    /// True if one of these options is given: `--word`, or the letter `-x`, single or combined with others.
    pub(super) fn has(&self, words: &[&str], letters: &[char]) -> bool {
        self.options().any(|option| match option.strip_prefix("--") {
            Some(word) => words.iter().any(|wanted| word.split('=').next() == Some(wanted)),
            None => option[1..].chars().take_while(char::is_ascii_alphabetic).any(|letter| letters.contains(&letter)),
        })
    }

    /// The options, up to a `--`.
    fn options(&self) -> impl Iterator<Item = String> {
        let before = self.arguments.iter().take_while(|word| !word.is("--"));
        before.map(Argument::shown).filter(|word| word.starts_with('-') && word.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shell::runs;

    #[test]
    fn the_verb_is_found_after_the_options_of_git() {
        let verb = |line: &str| GitLine::of(&runs(line)[0]).map(|call| (call.verb, call.folder));
        assert_eq!(verb("git -C x -c a=b --no-pager commit -m y"), Some(("commit".into(), Some("x".into()))));
        assert_eq!(verb("git --git-dir=x add -f"), Some(("add".into(), None)));
        assert_eq!([verb("git"), verb("git -C"), verb("git $x"), verb("hg add")], [None, None, None, None]);
    }

    #[test]
    fn options_are_found_single_and_combined() {
        let has = |line: &str| GitLine::of(&runs(line)[0]).unwrap().has(&["force"], &['f']);
        assert!(has("git add -f x") && has("git add x --force") && has("git add -Af"));
        assert!(!has("git add -A") && !has("git add -- -f") && !has("git add --final"));
    }
}
