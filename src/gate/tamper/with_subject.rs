//! Tests that are gone together with the code they tested: they are not missed.

use super::facts::Facts;
use super::lexer::{Kind, Language, tokens};
use super::span::Span as _;
use super::taken::definitions;
use super::{Text, file_name, resolved, split};
use crate::project::check_files::role_of;
use crate::text::words::word_list;

/// True if everything that a removed test file imports from the project is gone as well and is not in another file now.
pub(super) fn is_gone_with_subject(path: &str, texts: &[Text<'_>]) -> bool {
    let gone = |text: &&Text<'_>| text.after.is_none() && text.before.is_some();
    let Some(own) = texts.iter().filter(gone).find(|text| text.path == path) else { return false };
    let Some(language) = Language::of(path) else { return false };
    let sources: Vec<&Text<'_>> = texts.iter().filter(gone).filter(|text| role_of(text.path).is_none()).collect();
    let before = own.before.as_deref().unwrap_or_default();
    let subjects = if role_of(path).is_none() {
        Some(vec![own])
    } else {
        match language {
            Language::Script => of_script(path, before, &sources),
            Language::Python => of_python(before, &sources),
            _ => of_name(path, &sources),
        }
    };
    subjects.is_some_and(|all| !all.is_empty() && all.iter().all(|subject| !stands_elsewhere(subject, texts)))
}

/// The sources that a JavaScript test imports by their paths; `None` if one of them is not gone.
fn of_script<'a, 'text>(path: &str, text: &str, sources: &[&'a Text<'text>]) -> Option<Vec<&'a Text<'text>>> {
    let words = tokens(text, Language::Script);
    let mut found = Vec::new();
    for (at, token) in words.iter().enumerate().filter(|(_, token)| token.kind == Kind::Text) {
        let word = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).map_or("", |token| token.text);
        let is_import =
            matches!(word(1), "from" | "import") || word(1) == "(" && matches!(word(2), "require" | "import");
        if !is_import {
            continue;
        }
        // Another name for a folder of the project.
        if token.text.starts_with(['~', '#']) || token.text.starts_with("@/") {
            return None;
        }
        if !token.text.starts_with('.') {
            continue;
        }
        let resolved = resolved(split(path).0, token.text);
        let is_it = |source: &&&Text<'_>| {
            source.path == resolved
                || source.path.rsplit_once('.').is_some_and(|(stem, _)| {
                    stem == resolved
                        || stem.strip_suffix("/index") == Some(resolved.as_str())
                        || resolved.strip_suffix(".js") == Some(stem)
                })
        };
        match sources.iter().find(is_it) {
            Some(source) => found.push(*source),
            None if role_of(&format!("{resolved}.js")).is_some() || role_of(&resolved).is_some() => {}
            None => return None,
        }
    }
    Some(found)
}

/// The sources that a Python test imports; `None` if a module of the same package is not gone.
fn of_python<'a, 'text>(text: &str, sources: &[&'a Text<'text>]) -> Option<Vec<&'a Text<'text>>> {
    let mut modules = Vec::new();
    for line in text.lines().map(str::trim) {
        let module = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "));
        let module = module.and_then(|rest| rest.split([' ', ',']).next()).filter(|module| !module.is_empty());
        if module.is_some_and(|module| module.starts_with('.')) {
            return None;
        }
        modules.extend(module.map(|module| module.replace('.', "/")));
    }
    let of = |module: &str| {
        sources.iter().find(|source| {
            [format!("{module}.py"), format!("{module}/__init__.py")]
                .iter()
                .any(|file| source.path == file || source.path.ends_with(&format!("/{file}")))
        })
    };
    let found: Vec<&'a Text<'text>> = modules.iter().filter_map(|module| of(module).copied()).collect();
    let top = |module: &str| module.split('/').next().unwrap_or_default().to_owned();
    let is_near = |module: &String| modules.iter().any(|other| of(other).is_some() && top(other) == top(module));
    modules.iter().all(|module| of(module).is_some() || !is_near(module)).then_some(found)
}

/// The source that has the name of a test: `note.go` of `note_test.go`, `Note.java` of `NoteTest.java`.
fn of_name<'a, 'text>(path: &str, sources: &[&'a Text<'text>]) -> Option<Vec<&'a Text<'text>>> {
    let (stem, ending) = file_name(path).rsplit_once('.')?;
    let bare = ["_test", "_spec", "Tests", "Test", "Spec"].iter().find_map(|word| stem.strip_suffix(word))?;
    let source = format!("{bare}.{ending}");
    let is_it = |text: &&&Text<'_>| text.name() == source;
    Some(sources.iter().filter(is_it).copied().collect())
}

/// Names that are too common to prove anything.
const COMMON: &[&str] =
    word_list!("new default main fmt from constructor render toString __init__ setUp init run tests");

/// True if something of a removed source is now in another file.
fn stands_elsewhere(subject: &Text<'_>, texts: &[Text<'_>]) -> bool {
    let Some(language) = Language::of(subject.path) else { return true };
    let before = subject.then();
    let names = names(before, language);
    let is_telling = |line: &str| {
        line.len() > 8
            && line.contains(|letter: char| letter.is_alphanumeric())
            && ![
                "import ", "from ", "use ", "#include", "package ", "//", "/*", "*", "#", "using ", "require",
                "const {",
            ]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let lines: Vec<&str> = before.lines().map(str::trim).filter(|line| is_telling(line)).collect();
    texts.iter().filter(|text| text.path != subject.path && role_of(text.path).is_none()).any(|text| {
        let (Some(after), then) = (text.after.as_deref(), text.then()) else { return false };
        let is_new = |line: &&&str| after.contains(**line) && !then.contains(**line);
        let Some(other) = Language::of(text.path) else { return false };
        let (had, has) = (self::names(then, other), self::names(after, other));
        lines.iter().any(|line| is_new(&line))
            || names.iter().any(|name| has.contains(name) && !had.contains(name) && !COMMON.contains(&name.as_str()))
    })
}

/// The names that a source defines or exports.
fn names(text: &str, language: Language) -> Vec<String> {
    let facts = Facts::read(text, language);
    let mut names: Vec<String> = definitions(&facts).iter().map(|one| one.name.to_owned()).collect();
    let handed_on = facts.tokens.find(&["exports", "."]).filter_map(|at| facts.tokens.get(at + 2));
    names.extend(handed_on.map(|name| name.text.to_owned()));
    names
}
