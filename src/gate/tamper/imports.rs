//! The names that a test imports.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::lexer::{Kind, Language, Token};

/// The source and line of an imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import<'text> {
    pub(super) from: &'text str,
    pub(super) line: usize,
}

/// The names that a file imports.
pub(super) fn imports<'text>(facts: &Facts<'text>) -> BTreeMap<&'text str, Import<'text>> {
    let mut found = BTreeMap::new();
    let tokens = &facts.tokens;
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let rest = tokens.get(at + 1..tokens.len().min(at + 120)).unwrap_or_default();
        let (names, from): (&[Token<'text>], Option<&'text str>) = match (facts.language, token.text) {
            // `from a.b import c, d`: the module is one run of bytes in the source.
            (Language::Python, "from") => {
                let Some(import) = rest.iter().position(|token| token.is_word("import")) else { continue };
                let names = rest.get(import + 1..).unwrap_or_default();
                let end = statement_end(names);
                (
                    names.get(..end).unwrap_or_default(),
                    rest.iter().take(import).rfind(|token| token.kind == Kind::Word).map(|token| token.text),
                )
            }
            // `import a, {b as c} from "d"`, `const {a} = require("d")`
            (Language::Script, "import" | "const" | "let" | "var") => {
                let from = rest.iter().position(|token| token.is_word("from") || token.is_word("require"));
                let Some(from) = from.filter(|from| {
                    !rest.iter().take(*from).any(|token| token.kind == Kind::Text || token.is_mark(";"))
                }) else {
                    continue;
                };
                let text =
                    rest.get(from + 1..from + 3).unwrap_or_default().iter().find(|token| token.kind == Kind::Text);
                (rest.get(..from).unwrap_or_default(), text.map(|text| text.text))
            }
            _ => continue,
        };
        let Some(from) = from else { continue };
        let names = names.iter().filter(|name| name.kind == Kind::Word && !matches!(name.text, "as" | "type" | "from"));
        found.extend(names.map(|name| (name.text, Import { from, line: token.line })));
    }
    found
}

/// The end of a one-line statement, with parentheses closed.
fn statement_end(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_i32;
    let first = tokens.first().map_or(0, |token| token.line);
    tokens
        .iter()
        .position(|token| {
            let ends = depth == 0 && token.line != first;
            depth += i32::from(token.is_mark("(")) - i32::from(token.is_mark(")"));
            ends
        })
        .unwrap_or(tokens.len())
}
