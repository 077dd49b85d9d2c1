//! Commands shown for typing are built in only one way: by `typed!`, which makes every value one shell word.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::kit::repository;

/// A quoted text in a source, with the code before it, and its line.
struct Literal {
    before: String,
    text: String,
    line: usize,
}

/// The quoted texts of a source, without comments.
fn literals(source: &str) -> Vec<Literal> {
    let letters: Vec<char> = source.chars().collect();
    let (mut found, mut code, mut at, mut line) = (Vec::new(), String::new(), 0, 1);
    let starts = |at: usize, text: &str| letters[at..].iter().copied().take(text.len()).eq(text.chars());
    while at < letters.len() {
        let letter = letters[at];
        if starts(at, "//") {
            while at < letters.len() && letters[at] != '\n' {
                at += 1;
            }
        } else if letter == '\'' && letters.get(at + 1) == Some(&'\\') {
            at += 3;
            while letters[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else if letter == '\'' && letters.get(at + 2) == Some(&'\'') {
            at += 3;
        } else if letter == 'r' && (starts(at, "r\"") || starts(at, "r#")) && !code.ends_with(char::is_alphanumeric) {
            let marks = letters[at + 1..].iter().take_while(|mark| **mark == '#').count();
            if letters.get(at + 1 + marks) != Some(&'"') {
                code.push(letter);
                at += 1;
                continue;
            }
            let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
            let start = at + 2 + marks;
            at = start;
            while !starts(at, &end) {
                at += 1;
            }
            let text: String = letters[start..at].iter().collect();
            let lines = text.matches('\n').count();
            found.push(Literal { before: tail(&code), text, line });
            line += lines;
            at += end.len();
        } else if letter == '"' {
            let start = at + 1;
            at = start;
            while letters[at] != '"' {
                at += if letters[at] == '\\' { 2 } else { 1 };
            }
            let text: String = letters[start..at].iter().collect();
            let lines = text.matches('\n').count();
            found.push(Literal { before: tail(&code), text, line });
            line += lines;
            at += 1;
        } else {
            line += usize::from(letter == '\n');
            if !letter.is_whitespace() {
                code.push(letter);
            }
            at += 1;
        }
    }
    found
}

fn tail(code: &str) -> String {
    let from = code.char_indices().rev().take(12).last().map_or(0, |(at, _)| at);
    code[from..].to_owned()
}

/// Programs that our commands begin with.
const PROGRAMS: &str = "(?:git|gsd-tools|rm|mv|cp|cd|ls|chmod|mkdir|kill|npm|npx|sh)";

/// Sentences that begin with the name of a program, and are not commands.
const SENTENCES: &[&str] = &[
    "git signs ",
    "git cannot ",
    "git lists ",
    "git reports ",
    "git does ",
    "git {",
    "gsd-tools auto: ",
    "gsd-tools {}",
    "gsd-tools {newer} is ",
];

/// The end of a sentence about a command of a check, which is not meant to be typed.
const OF_A_CHECK: &str = "` says something of the tool, not of the work";

/// True if a text has a command with an unquoted value.
fn unquoted(literal: &Literal) -> bool {
    static TICKED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!("`{PROGRAMS} [^`]*[^`{{]\\{{[^{{}}`]*\\}}")).unwrap());
    static CALLED: LazyLock<Regex> = LazyLock::new(|| Regex::new("`\\{[^{}`]*\\} [^`]*[^`{]\\{[^{}`]*\\}").unwrap());
    static WHOLE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!("^{PROGRAMS} [^`]*\\{{[^{{}}]*\\}}")).unwrap());
    static BEGUN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("^`?(?:git|gsd-tools) [a-z-]+(?: [a-z-]+)* $").unwrap());
    if literal.before.ends_with("typed!(") {
        return false;
    }
    let is_sentence = SENTENCES.iter().any(|sentence| literal.text.starts_with(sentence));
    let is_format = literal.before.ends_with("format!(");
    let is_ticked = TICKED.is_match(&literal.text) || CALLED.is_match(&literal.text);
    let is_ticked = is_ticked && !literal.before.ends_with("assert!(") && !literal.text.contains(OF_A_CHECK);
    is_ticked || (is_format && WHOLE.is_match(&literal.text) && !is_sentence) || BEGUN.is_match(&literal.text)
}

fn is_of_tests(path: &Path) -> bool {
    let of_tests = |part: &str| part == "tests" || part.ends_with("_tests") || part == "made_up";
    path.with_extension("").components().any(|part| of_tests(&part.as_os_str().to_string_lossy()))
}

#[test]
fn a_command_with_values_is_built_by_one_macro() {
    let root = repository().join("src");
    let mut wrong = Vec::new();
    let (mut files, mut commands) = (0, 0);
    for entry in walkdir::WalkDir::new(&root) {
        let path = entry.unwrap().into_path();
        let name = path.strip_prefix(&root).unwrap();
        if path.extension().is_none_or(|end| end != "rs") || is_of_tests(name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // Test-only code may show anything.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        files += 1;
        for literal in literals(text) {
            commands += usize::from(literal.before.ends_with("typed!("));
            if unquoted(&literal) {
                wrong.push(format!("{}:{}: {}", name.display(), literal.line, literal.text));
            }
        }
    }
    assert!(files > 400 && commands > 80, "{files} files, {commands} commands: the search finds too little");
    assert!(wrong.is_empty(), "{} commands are put together by hand; use `typed!`:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_command_built_by_hand_is_found() {
    let wrong = |source: &str| literals(source).iter().any(unquoted);
    for source in [
        "format!(\"run `git -C {} switch {}`\", a, b)",
        "format!(\"run `git -C {folder} status`\")",
        "format!(\"gsd-tools auto answer {id} {choice}\")",
        "format!(\"set it: `{} config-set {key} 1`\", program)",
        "let x = \"gsd-tools auto run \".to_owned() + name;",
        "hint(\n  format!(\n    \"first `mv {0} {0}.old`\", at))",
    ] {
        assert!(wrong(source), "{source}");
    }
    for source in [
        "typed!(\"git -C {} switch {}\", a, b)",
        "format!(\"run `{}`\", typed!(\"git -C {} status\", a))",
        "// `git -C {} x`\nlet a = '\"'; let b = \"`git status` {}\";",
        "\"`gsd-tools auto status` shows where {} is\"",
        "format!(\"git signs commits with {format} here\")",
    ] {
        assert!(!wrong(source), "{source}");
    }
}
