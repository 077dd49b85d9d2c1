//! Tests that leave before they assert: by an end of the function with other lines after it, or under a condition.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::lexer::{Kind, Language};
use super::span::Span as _;
use crate::text::words::word_list;

/// True if code only ends a function and reports success.
fn only_leaves(code: &str) -> bool {
    let bare = code.trim_end_matches([';', '}']);
    matches!(
        bare,
        "return"
            | "return 0"
            | "return(0)"
            | "return true"
            | "return True"
            | "return None"
            | "return null"
            | "return nil"
            | "return undefined"
            | "return this"
            | "return EXIT_SUCCESS"
            | "return Ok(())"
            | "return Promise.resolve()"
            | "exit(0)"
            | "exit(EXIT_SUCCESS)"
            | "exit 0"
            | "exit"
    )
}

/// Lines that end their block although other lines of it follow.
pub(super) fn unreachable(facts: &Facts<'_>, lines: &[(usize, String)]) -> Vec<usize> {
    let mut found = Vec::new();
    for pair in lines.windows(2) {
        let [(line, code), (next, next_code)] = pair else { continue };
        let goes_on = !next_code.starts_with(['}', ')', ']', '#']) && !next_code.starts_with(";;");
        let ends_block = only_leaves(code) && is_same_block(facts, *line, *next);
        // `int main(void) { return 0;`
        let tail = code.rsplit_once('{').map(|(head, tail)| (head.ends_with(')') || head.ends_with('>'), tail));
        let is_conditional = ["if", "else", "for", "while", "switch", "}"].iter().any(|word| code.starts_with(word));
        let ends_function =
            tail.is_some_and(|(is_function, tail)| is_function && !tail.ends_with('}') && only_leaves(tail));
        if goes_on && (ends_block || ends_function && !is_conditional) {
            found.push(*line);
        }
    }
    found
}

/// True if two lines begin in the same column of tokens: no bracket opens or closes between them, and the language has
/// braces, or neither begins a new part.
fn is_same_block(facts: &Facts<'_>, line: usize, next: usize) -> bool {
    let (Some(one), Some(other)) = (facts.tokens.first_of(line), facts.tokens.first_of(next)) else { return false };
    let begins_part = [
        "def", "class", "else", "elif", "elsif", "except", "finally", "rescue", "ensure", "case", "default", "@", "fn",
        "func", "end", "when", "fi", "done", "esac",
    ];
    one.column == other.column && !begins_part.contains(&other.text)
}

/// Words that query the environment of the program.
const OUTSIDE: &[&str] = word_list!(
    "getenv environ process.env import.meta.env Deno.env env::var Getenv LookupEnv ENV[ ENV.fetch process.platform
     sys.platform platform.system runtime.GOOS process.argv sys.argv testing.Short option_env hostname"
);

/// Lines with which a test leaves under a condition: on its environment, or as the first thing that it does.
pub(super) fn leaving(file: &TestFile<'_>, after: &Facts<'_>, lines: &[(usize, String)]) -> Vec<usize> {
    if file.role == TestRole::Setup {
        return Vec::new();
    }
    let known = file.known();
    let begins: BTreeSet<usize> =
        after.tests.iter().filter(|test| known.contains(test.name)).map(|test| test.line).collect();
    let mut found = Vec::new();
    for (index, (line, code)) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", |(_, code)| code.as_str());
        let above = index.checked_sub(1).and_then(|index| lines.get(index));
        if after.language == Language::Shell {
            if leaves_in_shell(after, *line) {
                found.push(*line);
            }
            continue;
        }
        let is_condition = code.starts_with("if(") || code.starts_with("if ") || code.starts_with("if!");
        let ends_itself = is_condition
            && ["return", "exit("].iter().filter_map(|word| code.rfind(word)).max().is_some_and(|at| {
                let head = code[..at].trim_end_matches(['{', ' ']);
                head.ends_with([')', ':']) && only_leaves(code[at..].trim_end_matches('}').trim_end_matches(';'))
                    || after.language == Language::Go && code[..at].ends_with('{') && only_leaves(&code[at..])
            });
        let ends_below = is_condition && code.ends_with([':', '{', ')']) && only_leaves(next);
        let by_suffix = ["return if ", "return unless ", "return if!"].iter().any(|start| code.starts_with(start));
        let is_outside = OUTSIDE.iter().any(|word| code.contains(word));
        let is_first = above.is_some_and(|(line, code)| {
            begins.contains(line)
                || code.contains(" main(") && after.language == Language::Braces && file.before.is_some()
        });
        if (ends_itself || ends_below || by_suffix) && (is_outside || is_first) {
            found.push(*line);
        }
    }
    found
}

/// `test -n "$X" || return`, outside of functions.
fn leaves_in_shell(facts: &Facts<'_>, line: usize) -> bool {
    let tokens = facts.tokens.on_line(line);
    let is_outside = tokens.first().is_some_and(|first| first.column == 0);
    let at = tokens.iter().rposition(|token| token.is_word("return") || token.is_word("exit"));
    let is_well = |at: usize| {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        rest.first().is_none_or(|next| next.text == "0" || next.kind == Kind::Mark && matches!(next.text, ";" | "}"))
    };
    let is_joined = |at: usize| {
        let before = tokens.before(at, 1);
        before.is_some_and(|before| before.is_mark("&") || before.is_mark("|") || before.is_word("then"))
    };
    is_outside && at.is_some_and(|at| is_well(at) && is_joined(at)) && !tokens.has(&["(", ")"])
}
