//! Refuses a commit whose subject does not have the form `type(scope): text`, if the project asks for it.

use super::git_line::GitLine;
use super::scene::Scene;
use super::verdict::{Block, Reaction};
use crate::text::shell::{Argument, Run, Spelling, UNKNOWN, runs};

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    if !scene.project.flag("hooks.community", false) {
        return Reaction::Nothing;
    }
    let Some(command) = scene.payload.command() else { return Reaction::Nothing };
    let own = scene.project.setting("hooks.commit_types").and_then(serde_json::Value::as_array);
    let own = own.into_iter().flatten().filter_map(serde_json::Value::as_str);
    let types: Vec<&str> = TYPES.iter().copied().chain(own).collect();
    complaint(&command, &types).map_or(Reaction::Nothing, Reaction::Block)
}

/// The types that are always accepted.
const TYPES: &[&str] = &["feat", "fix", "docs", "style", "refactor", "perf", "test", "build", "ci", "chore", "revert"];

/// The most characters of a subject.
const LONGEST: usize = 72;

/// Beginnings of subjects that git writes itself.
const OF_GIT: &[&str] = &["Merge ", "Revert \"", "Reapply \"", "fixup! ", "squash! ", "amend! "];

/// Returns the complaint about the first invalid commit of a script.
pub(super) fn complaint(script: &str, types: &[&str]) -> Option<Block> {
    if !script.contains("commit") {
        return None;
    }
    runs(script).iter().filter_map(subject).find_map(|subject| refused(&subject, types))
}

fn refused(subject: &str, types: &[&str]) -> Option<Block> {
    if subject.starts_with(UNKNOWN) || OF_GIT.iter().any(|start| subject.starts_with(start)) {
        return None;
    }
    let shown = subject.replace(UNKNOWN, "…");
    let (code, what) = if is_conventional(subject, types) {
        let length = subject.chars().filter(|letter| *letter != UNKNOWN).count();
        if length <= LONGEST {
            return None;
        }
        let what = format!(
            "the subject `{shown}` has {length} characters; at most {LONGEST} are allowed. Instead, put the details into the body \
             and keep the subject short, such as"
        );
        ("COMMIT_SUBJECT_TOO_LONG", what)
    } else {
        let what = format!(
            "the subject `{shown}` is not in the form `type(scope): text`. Instead, begin it with the type that fits ({}), \
             such as",
            types.join(", ")
        );
        ("CONVENTIONAL_COMMITS_VIOLATION", what)
    };
    Some(Block { code, reason: format!("{what} `{}`.", suggested(&shown, types)) })
}

/// A subject that is accepted, with as much of `subject` as fits.
fn suggested(subject: &str, types: &[&str]) -> String {
    let (head, text) = subject.split_once(':').filter(|(head, _)| !head.contains(' ')).unwrap_or(("", subject));
    let word = head.to_lowercase();
    let word = word.split(['(', '!']).next().unwrap_or_default();
    let kind = types.iter().find(|kind| **kind == word).or(types.first()).copied().unwrap_or_default();
    let head = if is_conventional(&format!("{head}: x"), types) { head } else { kind };
    let mut suggested = format!("{head}:");
    for word in text.split_whitespace() {
        if suggested.chars().count() + 1 + word.chars().count() > LONGEST {
            break;
        }
        suggested.push(' ');
        suggested.push_str(word);
    }
    if suggested.ends_with(':') { format!("{kind}: name the change") } else { suggested }
}

/// True for `type: text` and `type(scope): text`, each with `!` for a breaking change.
fn is_conventional(subject: &str, types: &[&str]) -> bool {
    let Some((head, text)) = subject.split_once(": ") else { return false };
    let head = head.strip_suffix('!').unwrap_or(head);
    let kind = match head.split_once('(') {
        Some((kind, scope)) => {
            let named =
                scope.strip_suffix(')').is_some_and(|scope| !scope.trim().is_empty() && !scope.contains(['(', ')']));
            if !named {
                return false;
            }
            kind
        }
        None => head,
    };
    types.contains(&kind) && !text.trim().is_empty()
}

/// The first line of the message that a run commits with, if the script shows it.
fn subject(run: &Run) -> Option<String> {
    let call = GitLine::of(run).filter(|call| call.verb == "commit")?;
    let mut messages: Vec<String> = Vec::new();
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        let text = word.shown();
        if text == "--" {
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            let value = word.spellings.first().and_then(|spelling| spelling.behind('='));
            match (long.split('=').next().unwrap_or_default(), value) {
                ("message", Some(value)) => messages.push(value.text()),
                ("message", None) => messages.push(told(words.next()?)?),
                ("file", value) => {
                    let file = match value {
                        Some(value) => value.text(),
                        None => words.next()?.shown(),
                    };
                    messages.push(input(run, &file)?);
                }
                ("fixup" | "squash" | "reuse-message" | "reedit-message", _) => return None,
                ("author" | "date" | "template" | "trailer" | "cleanup" | "pathspec-from-file", None) => {
                    words.next();
                }
                _ => {}
            }
        } else if let Some(letters) = text.strip_prefix('-') {
            let Some(at) = letters.find(['m', 'F', 'C', 'c', 't', 'u', 'S']) else { continue };
            let behind = &letters[at + 1..];
            match &letters[at..=at] {
                "m" if behind.is_empty() => messages.push(told(words.next()?)?),
                "m" => messages.push(told(word)?.get(at + 2..)?.to_owned()),
                "F" if behind.is_empty() => messages.push(input(run, &words.next()?.shown())?),
                "F" => messages.push(input(run, behind)?),
                "C" | "c" => return None,
                "t" if behind.is_empty() => {
                    words.next();
                }
                _ => {}
            }
        }
    }
    let line = messages.iter().flat_map(|message| message.lines()).map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned)
}

/// The text of a word, if it has exactly one.
fn told(word: &Argument) -> Option<String> {
    match word.spellings.as_slice() {
        [spelling] => Some(Spelling::text(spelling)),
        _ => None,
    }
}

/// The contents of a file named on the command line, if it is the standard input and known.
fn input(run: &Run, file: &str) -> Option<String> {
    matches!(file, "-" | "/dev/stdin").then(|| run.input.clone()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(script: &str) -> Option<&'static str> {
        complaint(script, TYPES).map(|block| block.code)
    }

    #[test]
    fn messages_without_a_type_are_refused_in_every_spelling() {
        let scripts = [
            "git commit -m 'add x'",
            "git commit -m\"add x\"",
            "git commit -am 'add x'",
            "git commit -qam'add x'",
            "git commit --message='add x'",
            "git commit --message 'add x'",
            "git commit -a -m 'add x' -- src",
            "git commit -m 'add x' -m 'feat: y'",
            "git -C dir -c user.name=x commit -m 'add x'",
            "git add . && git commit -m 'add x'",
            "cd x; git commit -m 'add x' && git push",
            "GIT_AUTHOR_NAME=x git commit -m 'add x'",
            "git commit -F - <<'E'\nadd x\n\nfeat: y\nE",
            "git commit --file=- <<< 'add x'",
            "echo 'add x' | git commit -F -",
            "printf 'add x\\n\\nbody' | git commit -F-",
            "git commit -m \"$(cat <<'E'\nadd x\n\nbody\nE\n)\"",
            "git commit -m \"$(printf 'add x')\"",
            "M='add x'; git commit -m \"$M\"",
            "git commit -m \"add $X\"",
            "bash -c 'git commit -m \"add x\"'",
            "git commit -m 'wip: x'",
            "git commit -m 'feat:x'",
            "git commit -m 'Feat: x'",
            "git commit -m 'feat(): x'",
            "git commit -m 'feat: '",
            "git commit -m 'feat: ' -m x",
            "git commit -m 'feature: x'",
            "git commit -m 'feat(a)(b): x'",
            "git commit --amend -m 'add x'",
        ];
        let missed: Vec<_> =
            scripts.iter().filter(|script| code(script) != Some("CONVENTIONAL_COMMITS_VIOLATION")).collect();
        assert_eq!(missed, Vec::<&&str>::new());
    }

    #[test]
    fn messages_with_a_type_and_unknown_messages_are_allowed() {
        let scripts = [
            "git commit -m 'feat: add x'",
            "git commit -m 'fix(parser)!: add x' -m 'any body'",
            "git commit -am 'docs(01-02): complete plan'",
            "git commit -m 'refactor!: x'",
            "git commit -m \"revert: x\"",
            "git commit -m \"$(cat <<'E'\nfeat: add x\n\nadd y\nE\n)\"",
            "git commit -F - <<E\nchore: x\nE",
            "git commit -m \"$MESSAGE\"",
            "git commit -m \"$(make-message)\"",
            "git commit -m \"feat: $X\"",
            "git commit -F message.txt",
            "git commit",
            "git commit --amend --no-edit",
            "git commit --fixup HEAD -m x",
            "git commit -C HEAD",
            "git commit -m \"Merge branch 'x'\"",
            "git commit -m 'Revert \"feat: x\"'",
            "git commit -m 'fixup! feat: x'",
            "git commit -t template",
            "git log --grep 'commit -m'",
            "echo git commit -m x",
            "echo 'git commit -m x'",
            "# git commit -m x",
            "git commit -S -m 'feat: x'",
            "git commit -uno -m 'feat: x'",
            "git commit --author 'a <b>' -m 'feat: x'",
            "gh pr create --title 'commit x'",
            "git commit-tree -m x",
            "git show commit -m x",
            "",
        ];
        let refused: Vec<_> = scripts.iter().filter_map(|script| Some((script, code(script)?))).collect();
        assert_eq!(refused, Vec::new());
    }

    #[test]
    fn a_subject_has_72_characters_at_most() {
        let of = |length: usize| code(&format!("git commit -m 'feat: {}'", "ä".repeat(length - 6)));
        assert_eq!((of(72), of(73)), (None, Some("COMMIT_SUBJECT_TOO_LONG")));
        assert_eq!(code(&format!("git commit -m 'feat: x' -m '{}'", "x".repeat(200))), None);
    }

    #[test]
    fn types_of_the_project_are_added() {
        assert!(complaint("git commit -m 'wip: x'", &["feat", "wip"]).is_none());
        let block = complaint("git commit -m 'add x'", &["feat", "wip"]).unwrap();
        assert!(block.reason.contains("`add x`") && block.reason.contains("feat, wip"), "{}", block.reason);
    }

    #[test]
    fn the_suggested_subject_is_accepted() {
        let suggested = |subject: &str| suggested(subject, TYPES);
        assert_eq!(suggested("add x"), "feat: add x");
        assert_eq!(suggested("Fix: x"), "fix: x");
        assert_eq!(suggested("docs():x"), "docs: x");
        assert_eq!(suggested("fix(a)!: x"), "fix(a)!: x");
        assert_eq!(suggested("feat: "), "feat: name the change");
        assert_eq!(suggested(&format!("fix(a): x {}", "y".repeat(80))), "fix(a): x");
        for subject in ["add x", "wip: y", "a: b: c", "add: …", "", ":", &"x".repeat(100), &"x ".repeat(60)] {
            assert_eq!(refused(&suggested(subject), TYPES), None, "{subject}");
        }
    }

    proptest! {
        #[test]
        fn every_command_is_judged(text in "(\\PC|[ \n;&|<>(){}$`'\"\\\\=-]|git commit |-m |-F|--file |feat: |<<E\n){0,30}") {
            let _ = complaint(&text, TYPES);
        }
    }
}
