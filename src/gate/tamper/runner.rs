//! Scripts that a check runs: which of their lines changed, and whether new ones may keep others from running.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token, tokens};
use super::span::Span as _;
use super::{Text, file_name, lines, short};
use crate::gate::pins::Pins;
use crate::text::words::word_list;

/// Lines that mean nothing without the line that opened their block.
const OF_BLOCKS: &[&str] = &["done", "fi", "esac", "}", ";;", "else", "do", "then", "end", "endif"];

/// Changes of a script that a check runs. Lines that only add to a shell script are not findings.
pub(super) fn changed(text: &Text<'_>, is_test: bool) -> Vec<Finding> {
    let changed = |line: usize, how: String| {
        text.finding(line, Weakening::ChangedScript, format!("a script that a check runs {how}"))
    };
    if text.after.is_none() || text.before.is_none() {
        return vec![changed(0, if text.after.is_none() { "is gone" } else { "is new" }.to_owned())];
    }
    let before = text.then();
    let is_shell = is_of_shell(text.path, before);
    let added = text.new_lines();
    let new: BTreeSet<&str> = added.iter().map(|(_, line)| line.trim()).collect();
    let mut found = Vec::new();
    let taken = lines::added(text.now(), before);
    for (_, gone) in before.lines().enumerate().filter(|(at, _)| taken.contains(&(at + 1))) {
        let gone = gone.trim();
        // The line that opened the block is gone too, and says more.
        let is_said_elsewhere = is_comment(gone) || new.contains(gone) || OF_BLOCKS.contains(&gone);
        let is_judged_as_test = is_shell && is_test && asserts(gone);
        if !(is_said_elsewhere || is_judged_as_test || is_shell && only_prints(gone)) {
            let line = added.first().map_or(0, |(line, _)| *line);
            found.push(changed(line, format!("changed: `{}` is gone", short(gone, '\''))));
        }
    }
    if is_shell {
        let weaker = added.chunk_by(|one, next| one.0 + 1 == next.0).filter_map(|hunk| weakens(before, hunk));
        found.extend(weaker.map(|(number, what)| changed(number, format!("changed: {what}"))));
    } else if let Some((number, line)) = added.iter().find(|(_, line)| !is_comment(line.trim())) {
        found.push(changed(*number, format!("changed: `{}` is new", short(line.trim(), '\''))));
    }
    found
}

/// True if a test file that a check runs directly only runs other tests.
pub(super) fn only_runs_others(pins: &Pins, text: &Text<'_>) -> bool {
    let before = text.then();
    pins.runs.contains(text.path)
        && match Language::of(text.path) {
            Some(Language::Shell) => true,
            Some(language) => {
                let facts = Facts::read(before, language);
                facts.tests.is_empty() && facts.assertions.is_empty()
            }
            None => is_of_shell(text.path, before),
        }
}

fn is_of_shell(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    Language::of(path) == Some(Language::Shell)
        || !file_name(path).contains('.') && first.starts_with("#!") && first.contains("sh")
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || line.starts_with("//")
}

fn only_prints(line: &str) -> bool {
    (line.starts_with("echo ") || line.starts_with("printf "))
        && !line.contains(['|', '&', ';', '>', '`'])
        && !line.contains("$(")
}

fn asserts(line: &str) -> bool {
    !Facts::read(line, Language::Shell).assertions.is_empty()
        && !tokens(line, Language::Shell).iter().any(|token| OPENING.contains(&token.text) && token.kind == Kind::Word)
}

/// Words that open a part of a script, and those that close it.
const OPENING: &[&str] = &["if", "case", "do"];
const CLOSING: &[&str] = &["fi", "esac", "done"];

/// Words that keep the following lines from running, or change how they run.
const TURNING: &[&str] = &["continue", "break", "trap", "exec", "alias", "unset", "eval", "shift", "kill", "cd"];

/// Commands and variables of every shell, which a script does not redefine.
const OF_SHELL: &[&str] = word_list!(
    "test echo printf exit return set sh bash make cc gcc python3 node diff cmp grep PATH IFS ENV BASH_ENV CDPATH
     LD_PRELOAD"
);

/// Returns why new lines of a script may keep others from running.
fn weakens(before: &str, hunk: &[(usize, &str)]) -> Option<(usize, String)> {
    let first = hunk.first()?.0;
    let text: String = hunk.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    let all = tokens(&text, Language::Shell);
    let known = tokens(before, Language::Shell);
    let was_there = |name: &str| OF_SHELL.contains(&name) || known.iter().any(|token| token.is_word(name));
    let mut depth = 0_i32;
    for (at, token) in all.iter().enumerate() {
        let number = first + token.line - 1;
        let next = all.get(at + 1).filter(|next| next.line == token.line);
        let previous = at.checked_sub(1).and_then(|at| all.get(at)).filter(|previous| previous.line == token.line);
        let is_command = previous.is_none_or(|previous| {
            previous.kind == Kind::Mark && matches!(previous.text, ";" | "&" | "|" | "(" | "{" | "!" | ")")
                || previous.kind == Kind::Word
                    && matches!(previous.text, "then" | "do" | "else" | "if" | "while" | "until")
        });
        if token.kind == Kind::Word && is_command {
            depth += i32::from(OPENING.contains(&token.text)) - i32::from(CLOSING.contains(&token.text));
        } else if token.is_mark("{") && is_command
            || token.is_mark("{") && previous.is_some_and(|previous| previous.is_mark(")"))
        {
            depth += 1;
        } else if token.is_mark("}") && is_command {
            depth -= 1;
        }
        if depth < 0 {
            return Some((number, "what closes a part of it was not opened there".to_owned()));
        }
        if token.is_mark("<") && next.is_some_and(|next| next.is_mark("<")) {
            let word = all.iter().skip(at + 2).find(|word| word.kind != Kind::Mark).map_or("", |word| word.text);
            if !hunk.iter().any(|(_, line)| line.trim() == word) {
                return Some((number, "lines of it are a text now".to_owned()));
            }
        }
        if token.is_mark(".") && is_command && next.is_some_and(|next| next.column > token.column + 1) {
            return Some((number, "it reads another script".to_owned()));
        }
        if token.kind != Kind::Word || !is_command {
            continue;
        }
        let line = hunk.get(token.line - 1).map_or("", |(_, line)| line.trim());
        let is_function = next.is_some_and(|next| next.is_mark("(")) && all.is_mark(at + 2, ")");
        let function =
            if token.text == "function" { next.map(|next| next.text) } else { is_function.then_some(token.text) };
        let assigned = next.filter(|next| next.is_mark("=") && next.column == token.column + token.text.len());
        let ends_well = matches!(token.text, "exit" | "return") && next.is_none_or(|next| !is_bad_end(next));
        let is_turned = TURNING.contains(&token.text) && !line.starts_with('(')
            || token.text == "set"
                && next.is_some_and(|next| next.is_mark("+") || next.is_mark("-") && is_list(&all, at));
        let removes = matches!(token.text, "rm" | "mv" | "sed" | "git" | "chmod" | "ln") && line.contains("test");
        if ends_well || is_turned || removes {
            return Some((number, format!("`{}` may keep other lines from running", short(line, '\''))));
        }
        if function.is_some_and(was_there) {
            return Some((number, format!("`{}` is another command now", function.unwrap_or_default())));
        }
        if assigned.is_some() && was_there(token.text) && !is_set_again(before, assignment(line, token)) {
            return Some((number, format!("`{}` has another value", token.text)));
        }
    }
    (depth != 0).then(|| (first, "a part of it is in another one now".to_owned()))
}

/// `set -- a b`
fn is_list(all: &[Token<'_>], at: usize) -> bool {
    let is_mark = |at: usize| all.is_mark(at, "-");
    is_mark(at + 1) && is_mark(at + 2) || all.get(at + 2).is_some_and(|word| word.text.contains('n'))
}

/// True if `exit` is given a value that reports a failure.
fn is_bad_end(next: &Token<'_>) -> bool {
    next.kind == Kind::Number && !next.text.trim_matches('0').is_empty()
}

/// The assignment of a line that a token begins, such as `failed=1`.
fn assignment<'a>(line: &'a str, token: &Token<'_>) -> &'a str {
    let rest = line.find(&format!("{}=", token.text)).and_then(|at| line.get(at..)).unwrap_or(line);
    rest.split([' ', ';', '&', '|', '}', ')']).next().unwrap_or(rest)
}

/// True if a script sets a variable to a value later on, and not only at its beginning.
fn is_set_again(text: &str, assignment: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || ";&|{}()".contains(letter);
    let sets = |line: &str| line.split(ends).any(|word| word == assignment);
    text.lines().any(|line| sets(line) && !line.starts_with(assignment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "#!/bin/sh\n# Runs each test.\nfail() {\n  echo \"not ok $1\"\n  exit 1\n}\nfailed=0\nfor test in tests/test_*.sh; do\n  if (. \"./$test\"); then\n    echo \"ok $test\"\n  else\n    failed=1\n  fi\ndone\nexit $failed\n";

    fn found(from: &str, to: &str) -> Vec<String> {
        assert!(RUN.contains(from), "{from}");
        let after = RUN.replacen(from, to, 1);
        let text = Text { path: "tests/run.sh", before: Some(RUN.to_owned()), after: Some(after) };
        changed(&text, true).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn lines_that_change_disappear_or_keep_others_from_running_are_found() {
        for (from, to) in [
            ("    failed=1\n", "    :\n"),
            ("    failed=1\n", ""),
            ("    failed=1\n", "    failed=0\n"),
            ("    failed=1\n", "    case $test in *calc*) ;; *) failed=1 ;; esac\n"),
            ("tests/test_*.sh", "tests/test_mul.sh"),
            ("; do\n", "; do\n  case $test in *test_calc*) continue ;; esac\n"),
            ("exit $failed\n", "failed=0\nexit $failed\n"),
            ("failed=0\n", "failed=0\ntrap 'exit 0' EXIT\n"),
            ("failed=0\n", "failed=0\nexit\n"),
            ("failed=0\n", "failed=0\nexit 0\n"),
            ("failed=0\n", "failed=0\nfail() { :; }\n"),
            ("failed=0\n", "failed=0\ntest() { true; }\n"),
            ("failed=0\n", "failed=0\ncd /tmp\n"),
            ("failed=0\n", "failed=0\nrm tests/test_calc.sh\n"),
            ("failed=0\n", "failed=0\nPATH=tests/bin:$PATH\n"),
            ("failed=0\n", "failed=0\n. ./tests/other.sh\n"),
            ("failed=0\nfor", "failed=0\nif false; then\nfor"),
            ("failed=0\nfor", "failed=0\n: <<'END'\nfor"),
            ("  exit 1\n", "  exit 0\n"),
        ] {
            assert!(!found(from, to).is_empty(), "{from} -> {to}");
        }
    }

    #[test]
    fn lines_that_only_add_something_are_accepted() {
        for (from, to) in [
            ("# Runs each test.\n", "# Runs all tests, each in a shell of its own.\n\n"),
            ("failed=0\n", "failed=0\necho \"1..$(ls tests | wc -l)\"\n"),
            ("    echo \"ok $test\"\n", "    echo \"ok - $test\"\n"),
            ("exit $failed\n", "sh tests/more.sh || failed=1\nexit $failed\n"),
            ("exit $failed\n", "for test in tests/unit/*.sh; do\n  sh \"$test\" || failed=1\ndone\nexit $failed\n"),
            ("exit $failed\n", "if ! sh tests/more.sh; then\n  failed=1\nfi\nexit $failed\n"),
            ("exit $failed\n", "count=1\ntest -f calc.sh || exit 1\nexit $failed\n"),
            ("failed=0\n", "failed=0\nset -eu\n"),
            ("failed=0\n", "failed=0\nnote() {\n  echo \"$1\"\n}\n"),
        ] {
            assert_eq!(found(from, to), Vec::<String>::new(), "{from} -> {to}");
        }
    }
}
