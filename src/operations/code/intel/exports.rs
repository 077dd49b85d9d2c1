//! The names that a JavaScript or TypeScript file exports, read from its tokens without running it.
//!
//! Comments, strings and templates are separated from code, so that a name in one does not count as an export. The
//! names of a whole module that is re-exported (`export * from`) cannot be listed here; the module is reported instead.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::script::{Script, Token};

/// What `intel extract-exports` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExportsReport {
    /// The absolute path of the file.
    file: String,
    /// The names, each listed once: first those of `module.exports`, then functions, variables, classes, types and
    /// lists.
    exports: Vec<String>,
    /// How the file exports them: `esm`, `module.exports`, `exports.X`, `mixed` or `none`.
    method: &'static str,
    /// Modules that are re-exported as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    handed_on: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The exports of a file with this text; an error if the file does not exist.
pub(crate) fn report(file: String, text: Option<&str>) -> ExportsReport {
    let Some(text) = text else {
        let error = Some(format!("File not found: {file}"));
        return ExportsReport { file, exports: Vec::new(), method: "none", handed_on: Vec::new(), error };
    };
    let found = ModuleExports::read(text);
    let method = match (found.is_module, found.object || !found.object_keys.is_empty(), !found.properties.is_empty()) {
        (true, false, false) => "esm",
        (true, _, _) => "mixed",
        (false, true, _) => "module.exports",
        (false, false, true) => "exports.X",
        (false, false, false) => "none",
    };
    let groups = [
        found.object_keys,
        found.properties,
        found.defaults,
        found.functions,
        found.variables,
        found.classes,
        found.types,
        found.listed,
    ];
    let mut exports: Vec<String> = Vec::new();
    for name in groups.into_iter().flatten() {
        if !exports.contains(&name) {
            exports.push(name);
        }
    }
    ExportsReport { file, exports, method, handed_on: found.handed_on, error: None }
}

#[derive(Default)]
struct ModuleExports {
    /// The file has a top-level `export`.
    is_module: bool,
    /// Something is assigned to `module.exports`.
    object: bool,
    object_keys: Vec<String>,
    properties: Vec<String>,
    defaults: Vec<String>,
    functions: Vec<String>,
    variables: Vec<String>,
    classes: Vec<String>,
    types: Vec<String>,
    listed: Vec<String>,
    handed_on: Vec<String>,
}

impl ModuleExports {
    fn read(text: &str) -> Self {
        let tokens = Script::read(text).tokens;
        let mut found = Self::default();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let after = &tokens[at + 1..];
            let follows_a_dot = at > 0 && tokens[at - 1] == Token::Mark('.');
            match token {
                Token::Mark('{' | '(' | '[') => depth += 1,
                Token::Mark('}' | ')' | ']') => depth = depth.saturating_sub(1),
                Token::Word("export") if depth == 0 && !follows_a_dot => found.export(after),
                Token::Word("exports") if !follows_a_dot => found.property(after),
                Token::Word("module") if !follows_a_dot => {
                    if let [Token::Mark('.'), Token::Word("exports"), rest @ ..] = after {
                        found.module_exports(rest);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Reads what follows the word `export`.
    fn export(&mut self, after: &[Token<'_>]) {
        let after = match after {
            [Token::Word("declare"), rest @ ..] => rest,
            other => other,
        };
        let mut push = |list: fn(&mut Self) -> &mut Vec<String>, name: &str| {
            list(self).push(name.to_owned());
            self.is_module = true;
        };
        match after {
            [Token::Word("default"), rest @ ..] => {
                let named = match rest {
                    [Token::Word("async"), Token::Word("function"), rest @ ..]
                    | [Token::Word("function"), rest @ ..] => without_star(rest).first(),
                    [Token::Word("abstract"), Token::Word("class"), name, ..] | [Token::Word("class"), name, ..] => {
                        Some(name)
                    }
                    _ => None,
                };
                let name = named.and_then(Token::word).filter(|name| *name != "extends").unwrap_or("default");
                push(|found| &mut found.defaults, name);
            }
            [Token::Word("async"), Token::Word("function"), rest @ ..] | [Token::Word("function"), rest @ ..] => {
                if let Some(name) = without_star(rest).first().and_then(Token::word) {
                    push(|found| &mut found.functions, name);
                }
            }
            [Token::Word("abstract"), Token::Word("class"), Token::Word(name), ..]
            | [Token::Word("class"), Token::Word(name), ..] => push(|found| &mut found.classes, name),
            [Token::Word("const"), Token::Word("enum"), Token::Word(name), ..]
            | [Token::Word("interface" | "enum" | "namespace" | "type"), Token::Word(name), ..] => {
                push(|found| &mut found.types, name);
            }
            [Token::Word("const" | "let" | "var"), rest @ ..] => {
                for name in declared(rest) {
                    push(|found| &mut found.variables, name);
                }
            }
            [Token::Word("type"), Token::Mark('{'), rest @ ..] | [Token::Mark('{'), rest @ ..] => {
                self.is_module = true;
                self.listed.extend(listed(rest).into_iter().map(str::to_owned));
            }
            [Token::Mark('*'), Token::Word("as"), name, ..] if name.name().is_some() => {
                push(|found| &mut found.listed, name.name().unwrap_or_default());
            }
            [Token::Mark('*'), Token::Word("from"), Token::Text(from), ..] => {
                push(|found| &mut found.handed_on, from);
            }
            [Token::Mark('='), ..] => self.object = true,
            _ => {}
        }
    }

    /// Reads what follows `exports`: `.name =` or `['name'] =`.
    fn property(&mut self, after: &[Token<'_>]) {
        let name = match after {
            [Token::Mark('.'), Token::Word(name), Token::Mark('='), rest @ ..]
            | [Token::Mark('['), Token::Text(name), Token::Mark(']'), Token::Mark('='), rest @ ..]
                if rest.first() != Some(&Token::Mark('=')) =>
            {
                name
            }
            _ => return,
        };
        self.properties.push((*name).to_owned());
    }

    /// Reads what follows `module.exports`.
    fn module_exports(&mut self, after: &[Token<'_>]) {
        match after {
            [Token::Mark('='), Token::Mark('='), ..] => {}
            [Token::Mark('='), Token::Mark('{'), rest @ ..] => {
                self.object = true;
                self.object_keys.extend(keys(rest).into_iter().map(str::to_owned));
            }
            [Token::Mark('='), ..] => self.object = true,
            other => self.property(other),
        }
    }
}

fn without_star<'tokens, 'text>(tokens: &'tokens [Token<'text>]) -> &'tokens [Token<'text>] {
    tokens.strip_prefix(&[Token::Mark('*')]).unwrap_or(tokens)
}

/// The exported names in `a, b as c, type D }`.
fn listed<'text>(tokens: &[Token<'text>]) -> Vec<&'text str> {
    let end = tokens.iter().position(|token| *token == Token::Mark('}')).unwrap_or(tokens.len());
    tokens[..end].split(|token| *token == Token::Mark(',')).filter_map(|entry| entry.last()?.name()).collect()
}

/// The keys of an object, from after its opening brace.
fn keys<'text>(tokens: &[Token<'text>]) -> Vec<&'text str> {
    let mut names = Vec::new();
    for entry in top_level_entries(tokens) {
        let entry = match entry {
            [Token::Word("async" | "get" | "set"), rest @ ..]
                if rest.first().is_some_and(|next| next.name().is_some() || *next == Token::Mark('*')) =>
            {
                without_star(rest)
            }
            other => without_star(other),
        };
        match entry {
            [name, Token::Mark(':' | '('), ..] => names.extend(name.name()),
            [Token::Word(name)] => names.push(name),
            _ => {}
        }
    }
    names
}

/// The token runs between the commas, up to the closing bracket of the level at which the tokens begin.
fn top_level_entries<'tokens, 'text>(tokens: &'tokens [Token<'text>]) -> Vec<&'tokens [Token<'text>]> {
    let mut entries = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{' | '(' | '[') => depth += 1,
            Token::Mark('}' | ')' | ']') if depth == 0 => {
                entries.push(&tokens[start..at]);
                return entries;
            }
            Token::Mark('}' | ')' | ']') => depth -= 1,
            Token::Mark(',') if depth == 0 => {
                entries.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&tokens[start..]);
    entries
}

/// The names that `const a = 1, { b, c: d } = x` declares. The statement ends at a semicolon, or at a word that begins
/// another statement.
fn declared<'text>(tokens: &[Token<'text>]) -> Vec<&'text str> {
    const BEGINS: &[&str] = &["export", "import", "const", "let", "var", "function", "class", "module", "exports"];
    let mut names = Vec::new();
    let mut depth = 0_usize;
    match tokens {
        [Token::Mark('{' | '['), rest @ ..] => {
            names.extend(bound(rest, NESTED));
            depth = 1;
        }
        [Token::Word(name), ..] => names.push(name),
        _ => return names,
    }
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token {
            Token::Mark('{' | '(' | '[') => depth += 1,
            Token::Mark('}' | ')' | ']') => depth = depth.saturating_sub(1),
            Token::Mark(';') if depth == 0 => break,
            // `= function` and `= class` are values; anywhere else the word begins a statement.
            Token::Word(word) if depth == 0 && BEGINS.contains(word) && tokens[at - 1] != Token::Mark('=') => break,
            Token::Mark(',') if depth == 0 => match &tokens[at + 1..] {
                // A comma between types, as in `new Map<string, Note>()`, is followed by neither of these.
                [Token::Word(name), Token::Mark('=' | ':' | ',' | ';'), ..] | [Token::Word(name)] => names.push(name),
                [Token::Mark('{' | '['), rest @ ..] => names.extend(bound(rest, NESTED)),
                _ => {}
            },
            _ => {}
        }
    }
    names
}

/// The depth to which nested patterns are read: more than occurs in practice.
const NESTED: usize = 16;

/// The names that a pattern binds, from after its opening bracket, at most `deeper` levels down.
fn bound<'text>(tokens: &[Token<'text>], deeper: usize) -> Vec<&'text str> {
    let mut names = Vec::new();
    if deeper == 0 {
        return names;
    }
    for entry in top_level_entries(tokens) {
        let renamed = match entry {
            [_, Token::Mark(':'), rest @ ..] => rest,
            other => other,
        };
        let bare = renamed.iter().position(|token| *token != Token::Mark('.')).map_or(renamed, |at| &renamed[at..]);
        match bare {
            [Token::Mark('{' | '['), rest @ ..] => names.extend(bound(rest, deeper - 1)),
            [Token::Word(name), ..] => names.push(name),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, method: &str, exports: &[&str]) {
        let report = report("/p/a.ts".to_owned(), Some(text));
        assert_eq!(
            (report.method, report.exports),
            (method, exports.iter().map(ToString::to_string).collect()),
            "{text}"
        );
    }

    #[test]
    fn modules_are_read_whatever_they_export() {
        check(
            "import {b} from './b';\nexport const foo = 1;\nexport function bar(){return b;}",
            "esm",
            &["bar", "foo"],
        );
        check("export default function main() {}\nexport default class Foo {}", "esm", &["main", "Foo"]);
        check("export default class extends Base {}", "esm", &["default"]);
        check("export default () => {}", "esm", &["default"]);
        check("export async function a() {}\nexport function* b() {}", "esm", &["a", "b"]);
        check(
            "export const a = 1, b = f(1, 2);\nexport let c\nexport var d: Map<string, Note> = x",
            "esm",
            &["a", "b", "c", "d"],
        );
        check("export const { a, b: c, ...d } = x, [e, { f }] = y;", "esm", &["a", "c", "d", "e", "f"]);
        check(
            "export { g, h as i, default as j, type T } from './x';\nexport * as ns from './z'",
            "esm",
            &["g", "i", "j", "T", "ns"],
        );
        check(
            "export type A = {b: 1};\nexport interface I {}\nexport const enum E {}\nexport abstract class C {}\n\
             export declare const n: string;\nexport namespace N {}",
            "esm",
            &["n", "C", "A", "I", "E", "N"],
        );
        check("export const f = function g() {}\nexport const h = class K {}", "esm", &["f", "h"]);
    }

    #[test]
    fn common_js_scripts_are_read_too() {
        check(
            "module.exports = { a, b: 1, 'c-d': 2, ...spread, fn() {}, async g() {}, [x]: 1, n: { i: 1 } };\nexports.z = 1;\nmodule.exports.y = 2;\nexports['w'] = 3;",
            "module.exports",
            &["a", "b", "c-d", "fn", "g", "n", "z", "y", "w"],
        );
        check("exports.z = 1; exports.q == 2", "exports.X", &["z"]);
        check("module.exports = main;", "module.exports", &[]);
        check("export const a = 1;\nexports.b = 2;\nmodule.exports = {c};", "mixed", &["c", "b", "a"]);
        check("def foo():\n  pass", "none", &[]);
    }

    #[test]
    fn comments_and_strings_export_nothing() {
        check(
            "// export const a = 1\n/* export const b */ const s = \"export const c = 1\"; `export ${x} const d`",
            "none",
            &[],
        );
        check("const r = /[/\"]'export const x/; f(a / b); export const e = 1 / 2 / 3", "esm", &["e"]);
        check("if (x) { export const inner = 1 }", "none", &[]);
        check("a.export('x'); s.exports.b = 1", "none", &[]);
    }

    #[test]
    fn a_whole_module_that_is_re_exported_is_listed() {
        let report = report(String::new(), Some("export * from './y';"));
        assert_eq!((report.exports.len(), report.handed_on, report.method), (0, vec!["./y".to_owned()], "esm"));
    }

    #[test]
    fn broken_sources_are_read_as_far_as_possible() {
        for text in [
            "export",
            "export {",
            "export const",
            "export const {",
            "module.exports = {",
            "'",
            "/*",
            "`",
            "/",
            "\u{e9}/",
            "export default",
        ] {
            let _ = report(String::new(), Some(text));
        }
        let nested = format!("export const {}", "[".repeat(100_000));
        assert_eq!(report(String::new(), Some(&nested)).method, "none");
        assert!(report("/p/x.js".to_owned(), None).error.is_some());
    }
}
