//! Functions that were renamed and are otherwise unchanged: a test of the new name is the same test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Text;
use super::facts::Facts;
use super::file::TestFile;
use super::lexer::{Kind, Language, Token};
use super::rebound::brought;
use super::taken::definitions;
use crate::project::check_files::role_of;

/// The most tokens of a definition that are compared.
const LONGEST: usize = 400;

/// The most bytes of a source in which definitions are searched for.
const LARGEST: usize = 256 * 1024;

/// Replaces new names of renamed functions with the old ones, in the current assertions.
pub(super) fn undo<'text>(files: &mut [TestFile<'text>], texts: &'text [Text<'_>]) {
    let mut by_language: BTreeMap<&str, HashMap<&'text str, &'text str>> = BTreeMap::new();
    for file in files {
        let Some(language) = Language::of(file.path) else { continue };
        let key = ending(file.path);
        let of_sources = by_language.entry(key).or_insert_with(|| {
            let mut names = of_sources(texts, language, key, true);
            names.extend(of_sources(texts, language, key, false));
            names
        });
        let mut names = of_sources.clone();
        if let (Some(before), Some(after)) = (&file.before, &file.after) {
            names.extend(of_imports(before, after));
        }
        let Some(after) = file.after.as_mut().filter(|_| !names.is_empty()) else { continue };
        // A name that the tests knew before is not new.
        let known: BTreeSet<&str> = file
            .before
            .iter()
            .flat_map(|facts| &facts.tokens)
            .filter(|token| token.kind == Kind::Word)
            .map(|token| token.text)
            .collect();
        names.retain(|new, _| !known.contains(new));
        let tokens = after.assertions.iter_mut().flat_map(|one| &mut one.tokens);
        for token in tokens.filter(|token| token.kind == Kind::Word) {
            if let Some(old) = names.get(token.text) {
                token.text = old;
            }
        }
    }
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Maps new names of functions to old ones: those with the same body, if it is unique. A function of the program that
/// is now in the tests is a copy, not an answer of the program.
fn of_sources<'text>(
    texts: &'text [Text<'_>],
    language: Language,
    kind: &str,
    is_of_program: bool,
) -> HashMap<&'text str, &'text str> {
    let mut then: BTreeMap<&'text str, BTreeSet<String>> = BTreeMap::new();
    let mut now: BTreeMap<&'text str, BTreeSet<String>> = BTreeMap::new();
    let is_one = |text: &&Text<'_>| ending(text.path) == kind && role_of(text.path).is_none() == is_of_program;
    for text in texts.iter().filter(is_one) {
        for (source, names) in [(&text.before, &mut then), (&text.after, &mut now)] {
            let source = source.as_deref().filter(|source| source.len() <= LARGEST).unwrap_or_default();
            let facts = Facts::read(source, language);
            for one in definitions(&facts).into_iter().filter(|one| one.body.len() < LONGEST) {
                names.entry(one.name).or_default().insert(said(one.body, one.name));
            }
        }
    }
    let (gone, new) = (only_in(&then, &now), only_in(&now, &then));
    let same = new.iter().filter_map(|(bodies, names)| match (names.as_slice(), gone.get(bodies).map(Vec::as_slice)) {
        ([new], Some([old])) => Some((*new, *old)),
        _ => None,
    });
    same.collect()
}

/// The names that one side has and the other has not, by their definitions.
fn only_in<'a, 'text>(
    side: &'a BTreeMap<&'text str, BTreeSet<String>>,
    other: &BTreeMap<&'text str, BTreeSet<String>>,
) -> HashMap<&'a BTreeSet<String>, Vec<&'text str>> {
    let mut found: HashMap<&BTreeSet<String>, Vec<&'text str>> = HashMap::new();
    for (name, bodies) in side.iter().filter(|(name, _)| !other.contains_key(*name)) {
        found.entry(bodies).or_default().push(name);
    }
    found
}

/// The text of a definition, without its name.
fn said(body: &[Token<'_>], name: &str) -> String {
    let parts = body.iter().map(|token| if token.is_word(name) { "\u{2}" } else { token.text });
    parts.collect::<Vec<_>>().join("\u{1}")
}

/// The old names of what a Python test imports from the same module under another name.
fn of_imports<'text>(before: &Facts<'text>, after: &Facts<'text>) -> Vec<(&'text str, &'text str)> {
    let now = brought(after);
    let mut found = Vec::new();
    for (name, from, _) in brought(before) {
        let is_gone = !now.iter().any(|(other, ..)| *other == name);
        let renamed = now.iter().find(|(_, other, _)| *other == format!("{from}.{name}"));
        found.extend(renamed.filter(|_| is_gone).map(|(new, ..)| (*new, name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::*;

    fn found(texts: &[(&str, &str, &str)]) -> usize {
        let texts: Vec<_> = texts
            .iter()
            .map(|(path, before, after)| Text {
                path,
                before: Some((*before).to_owned()),
                after: Some((*after).to_owned()),
            })
            .collect();
        let mut files: Vec<_> = texts.iter().filter_map(TestFile::of).collect();
        undo(&mut files, &texts);
        compare(&files).findings.len()
    }

    #[test]
    fn a_renamed_function_is_the_same_one() {
        let test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
        let code = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";
        let renamed = |text: &str| text.replace("add", "plus");
        assert_eq!(found(&[("tests/test_a.py", test, &renamed(test)), ("calc.py", code, &renamed(code))]), 0);
        let copied = format!("{}\n\ndef plus(a, b):\n    return a + b\n", renamed(test));
        let without = "def sub(a, b):\n    return a - b\n";
        assert!(found(&[("tests/test_a.py", test, &copied), ("calc.py", code, without)]) > 0);
        // Another function is another test.
        let other = renamed(code).replace("a + b", "3");
        assert!(found(&[("tests/test_a.py", test, &renamed(test)), ("calc.py", code, &other)]) > 0);
        assert!(found(&[("tests/test_a.py", test, &test.replace("add(", "sub(")), ("calc.py", code, code)]) > 0);
        let both = format!("{code}\n\ndef plus(a, b):\n    return a + b\n");
        assert!(found(&[("tests/test_a.py", test, &renamed(test)), ("calc.py", code, &both)]) > 0);
        let twice = format!("{}\n\ndef more(a, b):\n    return a + b\n", renamed(code));
        assert!(found(&[("tests/test_a.py", test, &renamed(test)), ("calc.py", code, &twice)]) > 0);
    }

    #[test]
    fn a_name_imported_under_another_one_is_the_same_one() {
        let test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
        let of = |import: &str| {
            let after = format!("{import}\n\n\ndef test_add():\n    assert plus(1, 2) == 3\n");
            found(&[("tests/test_a.py", test, &after)])
        };
        assert_eq!(of("from calc import add as plus"), 0);
        assert!(of("from operator import add as plus") > 0);
        assert!(of("from calc import sub as plus") > 0);
    }
}
