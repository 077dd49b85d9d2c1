//! Refuses git calls of an agent with `git: guarded` in its front matter if they would remove or include work of
//! others: the tree may be shared with other agents, and with the user.

use super::git_line::GitLine;
use super::scene::Scene;
use super::verdict::{Block, Reaction};
use crate::library;
use crate::text::shell::{Argument, Run, runs};

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let Some(command) = scene.payload.command().filter(|command| command.contains("git")) else {
        return Reaction::Nothing;
    };
    if !scene.payload.agent().is_some_and(is_guarded) {
        return Reaction::Nothing;
    }
    refused(&command).map_or(Reaction::Nothing, Reaction::Block)
}

/// True if an agent's file has the key. Hosts put the name of a plugin before an agent's name.
fn is_guarded(agent: &str) -> bool {
    let stem = agent.rsplit(':').next().and_then(|name| name.strip_prefix("gsd-"));
    let front = stem.and_then(|stem| library::front_matter_of(&format!("agents/{stem}.md")));
    front.is_some_and(|front| front.text("git") == Some("guarded"))
}

/// Returns why the first forbidden call of git in a script is refused.
fn refused(script: &str) -> Option<Block> {
    runs(script).iter().find_map(|run| {
        let call = GitLine::of(run)?;
        let (shown, why, instead) = forbidden(run, &call)?;
        let reason = format!("`git {shown}` {why}. Instead, {instead}.");
        Some(Block { code: "GIT_GUARDED", reason })
    })
}

/// The call as shown, why it is forbidden, and what to do instead.
type Forbidden = (String, &'static str, &'static str);

const IN_THE_WAY: &str = "leave what you did not make, and report what is in your way";

fn forbidden(run: &Run, call: &GitLine<'_>) -> Option<Forbidden> {
    let (verb, words) = (call.verb.as_str(), CallWords::of(call));
    let verb_first = |why, instead| Some((verb.to_owned(), why, instead));
    if words.has("no-verify") || (verb == "commit" && words.letters.contains(&'n')) || without_hooks(run, call) {
        let (why, instead) =
            ("leaves out the checks of this repository", "fix what they name, stage again, and commit again");
        return Some((format!("{verb} --no-verify"), why, instead));
    }
    match verb {
        "stash" if !matches!(words.plain.first().map(String::as_str), Some("list" | "show")) => {
            verb_first("removes changes that another agent or the user has in this tree", IN_THE_WAY)
        }
        "reset" if words.has("hard") || words.has("merge") => Some((
            "reset --hard".to_owned(),
            "throws away changes that another agent or the user has in this tree",
            IN_THE_WAY,
        )),
        "clean" if !words.has("dry-run") && !words.letters.contains(&'n') => verb_first(
            "deletes files that git does not have, also those of others",
            "remove by name the files that you made",
        ),
        "rebase" if !words.has("show-current-patch") => verb_first(
            "rewrites commits that plans, summaries and other worktrees name",
            "add a commit, or report why it needs one",
        ),
        "push" => verb_first("publishes work; that is the user's decision", "leave it, and report that it is ready"),
        "add" | "stage" if words.takes_everything() => {
            let why = "stages work of other agents and of the user too";
            Some((format!("{verb} {}", words.everything()), why, "name every path: `git add -- path/one path/two`"))
        }
        "commit" if words.has("all") || words.letters.contains(&'a') => {
            let why = "commits work of other agents and of the user too";
            Some(("commit -a".to_owned(), why, "name every path: `git commit -m '...' -- path/one path/two`"))
        }
        "checkout" | "restore" if words.restores_everything(verb) => {
            let why = "throws away changes that another agent or the user has in this tree";
            Some((format!("{verb} ."), why, "restore by name the one file that you changed"))
        }
        _ => None,
    }
}

/// True if the call points git to another hooks folder, which skips the hooks as `--no-verify` does.
fn without_hooks(run: &Run, call: &GitLine<'_>) -> bool {
    let before = run.arguments.len().saturating_sub(call.arguments.len());
    run.arguments[..before].iter().any(|word| word.shown().to_ascii_lowercase().starts_with("core.hookspath="))
}

/// Letters of options that take a value, which may be the rest of the word or the next word.
const WITH_VALUE: &[(&str, &str)] =
    &[("commit", "mFCct"), ("clean", "e"), ("stash", "m"), ("restore", "s"), ("checkout", "bB")];

/// Long options whose value is the next word.
const LONG_WITH_VALUE: &[&str] = &[
    "message",
    "file",
    "author",
    "date",
    "reuse-message",
    "reedit-message",
    "template",
    "trailer",
    "fixup",
    "squash",
    "pathspec-from-file",
    "exclude",
    "source",
    "cleanup",
    "chmod",
];

/// The words of a call: its options, and the rest.
#[derive(Default)]
struct CallWords {
    long: Vec<String>,
    letters: Vec<char>,
    plain: Vec<String>,
}

impl CallWords {
    fn of(call: &GitLine<'_>) -> Self {
        let of_verb = WITH_VALUE.iter().find(|(verb, _)| *verb == call.verb).map_or("", |(_, letters)| letters);
        let mut words = CallWords::default();
        let mut rest = call.arguments.iter().map(Argument::shown);
        while let Some(word) = rest.next() {
            if word == "--" {
                words.plain.extend(rest.by_ref());
            } else if let Some(long) = word.strip_prefix("--") {
                if LONG_WITH_VALUE.contains(&long) {
                    rest.next();
                }
                words.long.push(long.split('=').next().unwrap_or_default().to_owned());
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                let value = letters.find(|letter| of_verb.contains(letter));
                words.letters.extend(letters[..value.unwrap_or(letters.len())].chars());
                if value.is_some_and(|at| at + 1 == letters.len()) {
                    rest.next();
                }
            } else {
                words.plain.push(word);
            }
        }
        words
    }

    /// True if a long option is given, in full or abbreviated as git allows it.
    fn has(&self, name: &str) -> bool {
        // `--al` may be another option; git accepts any unambiguous abbreviation.
        let shortest = if name == "no-verify" { 6 } else { 3 };
        self.long
            .iter()
            .any(|word| word == name || (word.len() >= shortest && name.len() > 3 && name.starts_with(word.as_str())))
    }

    /// The first of the paths that means the whole tree.
    fn whole_tree(&self) -> Option<&String> {
        let is_whole = |path: &&String| matches!(path.trim_end_matches('/'), "." | ":" | "*" | "./*" | ":(top)" | "..");
        self.plain.iter().find(is_whole)
    }

    /// True if `add` includes every change: by its path, or by an option without any path.
    fn takes_everything(&self) -> bool {
        let sweeps =
            self.has("all") || self.has("update") || self.letters.iter().any(|letter| matches!(letter, 'A' | 'u'));
        let looks_only = self.has("dry-run") || self.letters.contains(&'n');
        !looks_only && (self.whole_tree().is_some() || (sweeps && self.plain.is_empty()))
    }

    /// How an argument that includes everything is written.
    fn everything(&self) -> &str {
        match self.whole_tree() {
            Some(path) => path,
            None if self.has("update") || self.letters.contains(&'u') => "-u",
            None => "-A",
        }
    }

    /// True if the files of the whole tree are restored; restoring only the index loses no work of others.
    fn restores_everything(&self, verb: &str) -> bool {
        let of_index = verb == "restore"
            && (self.has("staged") || self.letters.contains(&'S'))
            && !self.has("worktree")
            && !self.letters.contains(&'W');
        !of_index && self.whole_tree().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &[&str] = &[
        "git stash",
        "git stash push -m x",
        "git stash -u",
        "git stash pop",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git clean -fd",
        "git rebase main",
        "git rebase --continue",
        "git add -A",
        "git add --all",
        "git add .",
        "git add ./",
        "git add -u",
        "git add -v :/",
        "git stage .",
        "git commit -a -m x",
        "git commit -am x",
        "git commit --all -m x",
        "git commit --no-verify -m x",
        "git commit -n -m x",
        "git commit --no-veri -m x -- a",
        "git -c core.hooksPath=/dev/null commit -m x -- a",
        "git merge --no-verify x",
        "git push",
        "git push origin HEAD",
        "git checkout .",
        "git checkout HEAD -- .",
        "git restore .",
        "git restore --staged --worktree .",
    ];

    const ALLOWED: &[&str] = &[
        "git stash list",
        "git stash show -p",
        "git reset HEAD -- a",
        "git reset --soft HEAD~1",
        "git clean -n",
        "git clean --dry-run -d",
        "git rebase --show-current-patch",
        "git add -- src/a.rs src/b.rs",
        "git add -A -- src/a.rs",
        "git add -u src",
        "git add -n .",
        "git add -f .planning/STATE.md",
        "git commit -m 'all of it' -- a",
        "git commit -m '-a' -- a",
        "git commit -m -n -- a",
        "git commit -mall -- a",
        "git commit --message --no-verify -- a",
        "git commit -m 'never git stash, git push or git add -A' -- a",
        "git commit --amend --no-edit -- a",
        "git commit --allow-empty -m x",
        "git checkout -b all",
        "git checkout -- src/a.rs",
        "git restore --staged .",
        "git restore src/a.rs",
        "git log --all --no-verify-x",
        "git log --grep 'git stash'",
        "git grep 'git push'",
        "git diff --stat .",
        "git ls-files .",
        "git branch --all",
        "git status --short",
        "grep -rn 'git reset --hard' docs",
        "echo git push",
        "printf 'git clean -fd' > notes.md",
        "cat <<'END' > notes.md\ngit add -A\nEND",
        "cargo clean",
        "npm run push",
        "rg 'git stash' .",
    ];

    #[test]
    fn calls_that_touch_the_work_of_others_are_refused_in_every_spelling() {
        for line in REFUSED {
            let rest = line.strip_prefix("git ").unwrap();
            let quoted = line.replace('\'', "\"");
            let forms = [
                (*line).to_owned(),
                format!("cd app && {line}"),
                format!("git -C app {rest}"),
                format!("git --no-pager {rest}"),
                format!("env GIT_DIR=x {line}"),
                format!("A=b {line}"),
                format!("sh -c '{quoted}'"),
                format!("bash -lc '{quoted} || true'"),
                format!("test -d x; {line}; echo done"),
                format!("(cd app; {line})"),
                format!("if true; then {line}; fi"),
                format!("/usr/bin/git {rest}"),
                format!("timeout 9 {line}"),
            ];
            for form in forms {
                let block = refused(&form).unwrap_or_else(|| panic!("not refused: {form}"));
                assert!(block.reason.starts_with("`git ") && block.reason.contains(". Instead, "), "{}", block.reason);
            }
        }
    }

    #[test]
    fn calls_that_name_their_files_or_only_look_are_not_refused() {
        for line in ALLOWED {
            for form in [(*line).to_owned(), format!("cd app && {line}"), format!("{line} | head")] {
                assert_eq!(refused(&form).map(|block| block.reason), None, "{form}");
            }
        }
    }

    #[test]
    fn an_agent_is_guarded_if_its_file_says_so() {
        let guarded = |name: &str| is_guarded(&format!("gsd-{name}"));
        for name in library::agent_names() {
            let front = library::front_matter_of(&format!("agents/{name}.md")).unwrap();
            assert_eq!(
                guarded(name),
                front.names("tools").contains(&"Bash"),
                "{name} runs commands and has `git: guarded`"
            );
        }
        assert!(is_guarded("gsd:gsd-executor") && !is_guarded("executor") && !is_guarded("gsd-nobody"));
    }
}
