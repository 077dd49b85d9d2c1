//! `docs/cli.md` lists exactly the environment variables and exit codes of the source.

use std::collections::BTreeSet;

use crate::kit::repository;

fn document() -> String {
    std::fs::read_to_string(repository().join("docs/cli.md")).unwrap()
}

/// Every Rust file below `src` that is not for tests, up to its test module, with its path.
fn sources() -> Vec<(String, String)> {
    let root = repository().join("src");
    let files = walkdir::WalkDir::new(&root).into_iter().map(|entry| entry.unwrap().into_path());
    let named = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).map(|path| {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        (name, std::fs::read_to_string(path).unwrap())
    });
    let is_of_tests = |name: &str| {
        name.split('/').any(|part| {
            let stem = part.trim_end_matches(".rs");
            stem == "tests" || stem.ends_with("_tests")
        })
    };
    let kept = named.filter(|(name, _)| !is_of_tests(name));
    kept.map(|(name, text)| {
        let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
        (name, text)
    })
    .collect()
}

/// The names of our own variables in a text.
fn own_names(text: &str) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let words = text.split(|letter| !is_of_name(letter));
    words.filter(|word| word.len() > 4 && word.starts_with("GSD_")).map(str::to_owned).collect()
}

/// The names of environment variables that the code reads: `variable("NAME")` and similar calls.
fn asked_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for call in ["variable(\"", "flag(\""] {
        for rest in text.split(call).skip(1) {
            let name = rest.split_once("\")").map_or("", |(name, _)| name);
            let is_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
            if !name.is_empty() && name.chars().all(is_name) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn the_documents_list_each_environment_variable() {
    let document = document();
    let sources = sources();
    let mut in_source = BTreeSet::new();
    let mut asked = BTreeSet::new();
    for (_, text) in &sources {
        in_source.extend(own_names(text));
        asked.extend(asked_names(text));
    }
    assert!(in_source.len() > 10 && asked.len() > 15, "{in_source:?} {asked:?}");
    let documented = own_names(&document);
    assert_eq!(documented, in_source, "left: docs/cli.md, right: src");
    let missing: Vec<_> = asked.iter().filter(|name| !document.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/cli.md does not list {missing:?}");
}

/// The rows of the table whose first column is `head`, as cells.
fn rows(document: &str, head: &str) -> Vec<Vec<String>> {
    let start = document.find(&format!("| {head} |")).unwrap();
    let lines = document[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The body of a function, found by its first words.
fn body<'a>(text: &'a str, head: &str) -> &'a str {
    let start = text.find(head).unwrap();
    let end = text[start..].find("\n    }\n").unwrap();
    &text[start..start + end]
}

#[test]
fn the_documents_list_each_exit_code_of_both_contracts() {
    let mut in_source: BTreeSet<u8> = BTreeSet::new();
    for (name, text) in sources() {
        let number = |text: &str| -> Option<u8> {
            text.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().ok()
        };
        in_source.extend(text.split(".exits(").skip(1).filter_map(number));
        if name == "install/error.rs" {
            in_source.extend(body(&text, "fn code").split("=> ").skip(1).filter_map(number));
        }
        if name == "auto/stop.rs" {
            let codes = body(&text, "fn code").split("=> ").skip(1).filter_map(number);
            in_source.extend(codes.filter(|code| *code > 0));
        }
        if ["commands/small/timeout.rs", "acts/run.rs"].contains(&name.as_str()) {
            in_source.extend(text.split("=> ").skip(1).filter_map(number));
        }
        let documented = text.split("xit code").skip(1).filter_map(|rest| rest.split_once('\n'));
        for (_, line) in documented.filter(|(_, line)| line.contains("const ")) {
            in_source.extend(line.split_once(": u8 = ").and_then(|(_, value)| number(value)));
        }
    }
    // The exit code for the table of reasons, and the one for an answer with the key `error`; a unit test covers that
    // table.
    assert!(in_source.remove(&1) && in_source.remove(&80), "{in_source:?}");
    let documented: BTreeSet<u8> = rows(&document(), "code").iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(documented, in_source, "left: docs/cli.md, right: src");
}
