//! Assertions that are unchanged but whose failure is less visible: not awaited, below a condition, inside a handler
//! that catches their failure, or with a named expected value that has changed.

use std::collections::{BTreeMap, HashMap};

use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;
use crate::text::words::word_list;

pub(super) fn in_file(file: &TestFile<'_>) -> Vec<Finding> {
    let (Some(before), Some(after)) = (&file.before, &file.after) else { return Vec::new() };
    if file.role == TestRole::Setup {
        return Vec::new();
    }
    let swallowed = |line, what: &str| Finding::new(file.path, line, Weakening::SwallowedFailure, what);
    let changed = |line, what: String| Finding::new(file.path, line, Weakening::ChangedExpectation, what);
    let mut found = heard_less(file, before, after, swallowed);
    let hidden = "a handler that only says it hides the failure of an assertion";
    found.extend(handled(file, after).into_iter().map(|line| swallowed(line, hidden)));
    for (line, name, value) in other_values(before, after) {
        found.push(changed(line, format!("`{name}`, which is what a test expects, is `{value}` now")));
    }
    for (line, name) in panics_less(before, after) {
        found.push(changed(line, format!("the test `{name}` expects another panic, or any, now")));
    }
    found
}

/// How often an assertion appears unconditionally, and how often it is awaited.
#[derive(Debug, Default)]
struct AssertionUses {
    plain: usize,
    awaited: usize,
    /// The line of a new one that is not awaited, and of a new one below a condition.
    unawaited: Option<usize>,
    guarded: Option<usize>,
}

fn heard_less(
    file: &TestFile<'_>,
    before: &Facts<'_>,
    after: &Facts<'_>,
    swallowed: impl Fn(usize, &str) -> Finding,
) -> Vec<Finding> {
    let unawaited = "the test does not wait for this assertion any more, and hears nothing of its failure";
    let (then, now) = (heard(before, None), heard(after, Some(file)));
    let mut found = Vec::new();
    for (key, then) in then {
        let Some(now) = now.get(&key) else { continue };
        found.extend(now.unawaited.filter(|_| now.awaited < then.awaited).map(|line| swallowed(line, unawaited)));
        let guarded = now.guarded.filter(|_| now.plain < then.plain);
        found.extend(guarded.map(|line| swallowed(line, "this is only asserted under a condition now")));
    }
    found
}

fn heard(facts: &Facts<'_>, file: Option<&TestFile<'_>>) -> HashMap<String, AssertionUses> {
    const CONDITIONS: &[&str] = &["sys.platform", "os.name", "process.platform", "platform", "version", "RUBY_"];
    let tokens = &facts.tokens;
    let lines = facts.lines();
    let mut all: HashMap<String, AssertionUses> = HashMap::new();
    for assertion in &facts.assertions {
        let Some(first) = assertion.tokens.first() else { continue };
        let at = tokens.place_of(first);
        let before = tokens.before(at, 1);
        let begins = before.is_none_or(|before| before.line != first.line || matches!(before.text, ";" | "{" | "}"));
        let is_new = file.is_none_or(|file| file.added.contains(&first.line));
        let heard = all.entry(assertion.key()).or_default();
        if facts.language == Language::Script {
            let is_awaited = before.is_some_and(|before| before.is_word("await"));
            heard.awaited += usize::from(is_awaited);
            if begins && is_new {
                heard.unawaited = Some(first.line);
            }
        }
        let line = lines.partition_point(|(line, _)| *line < first.line);
        let code = |line: Option<usize>| line.and_then(|line| lines.get(line)).map_or("", |(_, code)| code.as_str());
        let is_condition = |code: &str| {
            ["if ", "if("].iter().any(|word| code.starts_with(word))
                && !CONDITIONS.iter().any(|word| code.contains(word))
        };
        let own = is_condition(code(Some(line))) && !first.is_word("if");
        let above = line.checked_sub(1).and_then(|above| lines.get(above)).filter(|(_, code)| {
            is_condition(code) && code.ends_with(if facts.language == Language::Python { ":" } else { "{" })
        });
        let below = above.is_some_and(|(above, _)| tokens.column_of(*above) < tokens.column_of(first.line));
        let is_guarded = !matches!(facts.language, Language::Go | Language::Shell | Language::Ruby) && (own || below);
        if !is_guarded {
            heard.plain += 1;
        } else if is_new {
            heard.guarded = Some(first.line);
        }
    }
    all
}

/// Lines with new handlers around an assertion that do nothing but print.
fn handled(file: &TestFile<'_>, after: &Facts<'_>) -> Vec<usize> {
    let tokens = &after.tokens;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| file.added.contains(&token.line)) {
        match (after.language, token.text) {
            (Language::Script | Language::Braces, "catch") if token.kind == Kind::Word => {
                let pair = |at: usize, mark: &str| after.partner(at).filter(|_| tokens.is_mark(at, mark));
                let Some(open) = at.checked_sub(1).and_then(|close| pair(close, "}")) else { continue };
                let is_try = tokens.before(open, 1).is_some_and(|word| word.is_word("try"));
                let body = pair(at + 1, "(").map_or(at + 1, |close| close + 1);
                let Some(end) = pair(body, "{") else { continue };
                let inside = tokens.get(body + 1..end).unwrap_or_default();
                if is_try && after.asserts_in(tokens[open].line..=tokens[at - 1].line) && only_says(inside) {
                    found.push(token.line);
                }
            }
            (Language::Python, "except") | (Language::Ruby, "rescue") => {
                let is_python = after.language == Language::Python;
                let word = if is_python { "try" } else { "begin" };
                let begin = tokens.iter().take(at).rfind(|other| other.column == token.column && other.is_word(word));
                let rest = tokens.get(tokens.start_of(token.line + 1)..).unwrap_or_default();
                let end = rest.iter().position(|other| other.column <= token.column).unwrap_or(rest.len());
                let is_around = begin.is_some_and(|begin| after.asserts_in(begin.line..=token.line));
                if tokens.begins_line(at) && is_around && !(end == 0 && is_python) && only_says(&rest[..end]) {
                    found.push(token.line);
                }
            }
            _ => {}
        }
    }
    found
}

/// True if a handler's code does nothing but print: it stores nothing, ends nothing and asserts nothing.
fn only_says(inside: &[Token<'_>]) -> bool {
    const SAYING: &[&str] = word_list!(
        "console log print println printf warn warning info debug logging logger puts p System out err Console WriteLine
         e error ex message format str repr pass"
    );
    inside.iter().all(|token| match token.kind {
        Kind::Word => SAYING.contains(&token.text) || token.text.len() < 3,
        Kind::Mark => token.text != "=" && token.text != "!",
        Kind::Text | Kind::Number => true,
    })
}

/// Names of expected values that are given another value: `const EXPECTED = 4`.
fn other_values<'text>(before: &Facts<'text>, after: &Facts<'text>) -> Vec<(usize, &'text str, &'text str)> {
    let (then, now) = (given(before), given(after));
    let has = |facts: &Facts<'_>, name: &str| facts.assertions.iter().any(|one| one.tokens.has_word(name));
    let mut found = Vec::new();
    for (name, values) in &now {
        // A name that is set twice proves nothing.
        let ([(line, value)], Some([(_, old)])) = (values.as_slice(), then.get(name).map(Vec::as_slice)) else {
            continue;
        };
        if old != value && has(before, name) && has(after, name) {
            found.push((*line, *name, *value));
        }
    }
    found
}

/// The single values assigned to names of expected values.
fn given<'text>(facts: &Facts<'text>) -> BTreeMap<&'text str, Vec<(usize, &'text str)>> {
    let mut all: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for three in facts.tokens.windows(3) {
        let lower = three[0].text.to_ascii_lowercase();
        let is_name = three[0].kind == Kind::Word && ["expect", "want"].iter().any(|word| lower.starts_with(word));
        if is_name && lower != "expect" && three[1].is_mark("=") && three[2].is_literal() {
            all.entry(three[0].text).or_default().push((three[0].line, three[2].text));
        }
    }
    all
}

/// Rust tests that expected a panic with a message, and now expect another one or any.
fn panics_less<'text>(before: &Facts<'text>, after: &Facts<'text>) -> Vec<(usize, &'text str)> {
    if before.language != Language::Rust {
        return Vec::new();
    }
    let (then, now) = (panics(before), panics(after));
    let mut found = Vec::new();
    for (name, (line, message)) in now {
        let Some((_, Some(old))) = then.get(name) else { continue };
        if !message.is_some_and(|message| message.contains(old)) {
            found.push((line, name));
        }
    }
    found
}

/// The tests that expect a panic, each with its line and the expected message.
fn panics<'text>(facts: &Facts<'text>) -> BTreeMap<&'text str, (usize, Option<&'text str>)> {
    let mut all = BTreeMap::new();
    for (at, token) in facts.tokens.iter().enumerate().filter(|(_, token)| token.is_word("should_panic")) {
        let rest = facts.tokens.get(at + 1..at + 5).unwrap_or_default();
        let message = match rest {
            [_, word, _, text] if word.is_word("expected") && text.kind == Kind::Text => Some(text.text),
            [equals, text, ..] if equals.is_mark("=") && text.kind == Kind::Text => Some(text.text),
            _ => None,
        };
        if let Some(test) = facts.test_at(token.line) {
            all.insert(test.name, (token.line, message));
        }
    }
    all
}
