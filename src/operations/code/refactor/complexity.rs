//! The cyclomatic complexity of the functions of a JavaScript or TypeScript file: one, plus one for each decision in
//! the body.
//!
//! An unnamed function counts towards the function around it. A file that does not parse is scored by the tokens it
//! has; nothing here runs or rejects it.

use crate::text::script::{Script, Token};

/// A function with its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Counted from one.
    pub(crate) line: usize,
    pub(crate) score: u64,
}

/// Words that are followed by parentheses and a block but are not methods.
const CONTROL: &[&str] =
    &["if", "for", "while", "switch", "catch", "with", "function", "return", "await", "typeof", "new"];
/// Words that make a decision.
const DECISIONS: &[&str] = &["if", "for", "while", "case", "catch"];
/// The most tokens that a result type may have.
const LONGEST_TYPE: usize = 40;

/// The functions of a file, in the order of their beginnings.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let script = Script::read(text);
    let tokens = &script.tokens;
    let closes = closing(tokens);
    let mut found: Vec<(Function, std::ops::Range<usize>)> = Vec::new();
    for at in 0..tokens.len() {
        if let Some((name, body)) = header(&script, &closes, at) {
            found.push((Function { name, line: script.line(at), score: 1 }, body));
        }
    }
    // Bodies nest: a decision belongs to the innermost open one.
    let mut starts: Vec<usize> = (0..found.len()).collect();
    starts.sort_by_key(|function| found[*function].1.start);
    let mut starts = starts.into_iter().peekable();
    let mut open: Vec<usize> = Vec::new();
    for at in 0..tokens.len() {
        while let Some(function) = starts.next_if(|function| found[*function].1.start <= at) {
            open.push(function);
        }
        while open.pop_if(|function| found[*function].1.end <= at).is_some() {}
        if let Some(function) = open.last().filter(|_| decides(&script, at)) {
            found[*function].0.score += 1;
        }
    }
    found.into_iter().map(|(function, _)| function).collect()
}

/// For each opening bracket, the index of its closing one.
fn closing(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut closes = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{' | '(' | '[') => open.push(at),
            Token::Mark('}' | ')' | ']') => {
                if let Some(opened) = open.pop() {
                    closes[opened] = Some(at);
                    closes[at] = Some(opened);
                }
            }
            _ => {}
        }
    }
    closes
}

/// The name and the body of the function that begins with the token at `at`, or whose arrow it is.
fn header(script: &Script<'_>, closes: &[Option<usize>], at: usize) -> Option<(String, std::ops::Range<usize>)> {
    let tokens = &script.tokens;
    let is = |at: usize, mark: char| tokens.get(at) == Some(&Token::Mark(mark));
    let follows_a_dot = at > 0 && is(at - 1, '.');
    match tokens[at] {
        Token::Word("function") if !follows_a_dot => {
            let star = usize::from(is(at + 1, '*'));
            let own = tokens.get(at + 1 + star).and_then(Token::word);
            let parameters = (at + 1..tokens.len().min(at + LONGEST_TYPE)).find(|at| is(*at, '('))?;
            let name = own.map(str::to_owned).or_else(|| name_before(tokens, at))?;
            Some((name, block_after(tokens, closes, closes[parameters]?)?))
        }
        Token::Mark('=') if is(at + 1, '>') && script.touch(at) => {
            let start = parameters_before(tokens, closes, at)?;
            let name = name_before(tokens, start)?;
            if is(at + 2, '{') {
                return Some((name, at + 2..closes[at + 2]?));
            }
            Some((name, at + 2..end_of_expression(tokens, closes, at + 2)))
        }
        Token::Word(name) if is(at + 1, '(') && !follows_a_dot && !CONTROL.contains(&name) => {
            let after_a_word = at > 0 && matches!(tokens[at - 1], Token::Word("function" | "new"));
            let last = closes[at + 1]?;
            (!after_a_word).then_some(())?;
            Some((name.to_owned(), block_after(tokens, closes, last)?))
        }
        _ => None,
    }
}

/// The block after the parameters that end at `last`, skipping a result type.
fn block_after(tokens: &[Token<'_>], closes: &[Option<usize>], last: usize) -> Option<std::ops::Range<usize>> {
    let open = match tokens.get(last + 1)? {
        Token::Mark('{') => last + 1,
        Token::Mark(':') => {
            let is_of_type = |token: &Token<'_>| {
                matches!(
                    token,
                    Token::Word(_) | Token::Text(_) | Token::Mark('.' | '<' | '>' | '[' | ']' | '|' | '&' | ',')
                )
            };
            let behind = tokens.iter().enumerate().skip(last + 2).take(LONGEST_TYPE);
            behind
                .take_while(|(_, token)| is_of_type(token) || **token == Token::Mark('{'))
                .find(|(_, token)| **token == Token::Mark('{'))?
                .0
        }
        _ => return None,
    };
    Some(open..closes[open]?)
}

/// Where the parameters of the arrow at `arrow` begin.
fn parameters_before(tokens: &[Token<'_>], closes: &[Option<usize>], arrow: usize) -> Option<usize> {
    let last = arrow.checked_sub(1)?;
    if tokens[last] == Token::Mark(')') {
        return closes[last];
    }
    // `(a): T =>` has a result type in between.
    let typed = last >= 2 && tokens[last - 1] == Token::Mark(':') && tokens[last - 2] == Token::Mark(')');
    if typed { closes[last - 2] } else { tokens[last].word().map(|_| last) }
}

/// The name of the expression that begins at `start`: from `name = …`, `name: …`, or the default export.
fn name_before(tokens: &[Token<'_>], start: usize) -> Option<String> {
    let mut before = start.checked_sub(1)?;
    if tokens[before] == Token::Word("async") {
        before = before.checked_sub(1)?;
    }
    match tokens[before] {
        Token::Word("default") => Some("default".to_owned()),
        Token::Mark('=' | ':') => tokens[before.checked_sub(1)?].name().map(str::to_owned),
        _ => None,
    }
}

/// Where the expression that begins at `start` ends: at the next comma, semicolon or bracket.
fn end_of_expression(tokens: &[Token<'_>], closes: &[Option<usize>], start: usize) -> usize {
    let mut at = start;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Mark('{' | '(' | '[') => match closes[at] {
                Some(close) => at = close + 1,
                None => return tokens.len(),
            },
            Token::Mark(',' | ';' | ')' | ']' | '}')
            | Token::Word("const" | "let" | "var" | "function" | "class" | "export" | "import" | "return") => {
                return at;
            }
            _ => at += 1,
        }
    }
    tokens.len()
}

/// True if the token at `at` is a decision.
fn decides(script: &Script<'_>, at: usize) -> bool {
    let tokens = &script.tokens;
    let next = tokens.get(at + 1);
    let twice = |mark: char| next == Some(&Token::Mark(mark)) && script.touch(at);
    let is_second = |mark: char| at > 0 && tokens[at - 1] == Token::Mark(mark) && script.touch(at - 1);
    match tokens[at] {
        Token::Word(word) => {
            let is_name = (at > 0 && tokens[at - 1] == Token::Mark('.')) || next == Some(&Token::Mark(':'));
            DECISIONS.contains(&word) && !is_name
        }
        Token::Mark(mark @ ('&' | '|')) => twice(mark) && !is_second(mark),
        Token::Mark('?') if is_second('?') => false,
        Token::Mark('?') => twice('?') || !matches!(next, Some(Token::Mark('.' | ':' | ',' | ')' | '=' | ';'))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u64)]) {
        let found = functions(text);
        let told: Vec<(&str, u64)> = found.iter().map(|function| (function.name.as_str(), function.score)).collect();
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn functions_of_every_form_are_found() {
        check("function one(a) { if (a) { return 1 } return 2 }", &[("one", 2)]);
        check(
            "const two = (a) => { if (a) {} if (a) {} };\nconst three = async x => x ? 1 : 2;",
            &[("two", 3), ("three", 2)],
        );
        check(
            "class K { four(a) { while (a) {} } static async five() { for (;;) {} } get six() { return 1 } }",
            &[("four", 2), ("five", 2), ("six", 1)],
        );
        check("export default function () { if (a) {} }", &[("default", 2)]);
        check(
            "const o = { seven(a) { if (a) {} }, eight: function (a) { if (a && b) {} }, nine: (x) => x || y };",
            &[("seven", 2), ("eight", 3), ("nine", 2)],
        );
        check("function outer() { function inner() { if (a) {} } if (b) {} }", &[("outer", 2), ("inner", 2)]);
        check("module.exports.ten = function (a) { if (a) {} };", &[("ten", 2)]);
        check(
            "function typed(a?: string): Promise<Note[]> { return a?.b }\nconst arrow = (a: X): Y => { if (a) {} }",
            &[("typed", 1), ("arrow", 2)],
        );
    }

    #[test]
    fn every_decision_counts_once() {
        check(
            "function n(a) { try { } catch (e) { } a ?? b; a || b; a ? b : c; a?.b; do {} while (x); for (const x of y) {} for (const x in y) {} }",
            &[("n", 8)],
        );
        check(
            "function s(x) { switch (x) { case 1: break; case 2: break; default: } x.if(1); const o = { if: 1 } }",
            &[("s", 3)],
        );
        check("function c() { // if (a)\n const s = \"if (a)\"; /* && */ list.map(x => x ? 1 : 2) }", &[("c", 2)]);
    }

    #[test]
    fn functions_have_line_numbers_and_broken_files_do_not_fail() {
        assert_eq!(functions("\n\nfunction a() {}\n")[0].line, 3);
        for text in
            ["function", "function (", "=>", "a =>", "{{{", ")))", "class { x(", "const a = (b) =>", "x ? ", "case"]
        {
            let _ = functions(text);
        }
    }
}
