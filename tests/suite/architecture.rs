//! The house rules that a compiler does not check: direction between rooms, no host names in Rust, no forgotten test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::kit::repository;
use crate::structure;

/// Rooms and the rooms each may name in a `crate::…` path.
const MAY_USE: &[(&str, &[&str])] = &[
    ("failure", &[]),
    ("text", &["failure"]),
    ("disk", &["failure", "text"]),
    ("world", &["failure"]),
    ("library", &["failure", "text"]),
    ("runtime", &["failure", "library", "text", "disk"]),
    ("emit", &["library", "runtime", "text"]),
    ("install", &["failure", "emit", "library", "runtime", "disk", "text", "world"]),
    ("project", &["failure", "text", "disk"]),
    ("operations", &["failure", "gate", "project", "library", "text"]),
    ("hooks", &["text", "project", "library", "runtime", "disk", "world"]),
    ("gate", &["failure", "project", "text", "disk", "world"]),
    ("auto", &["failure", "gate", "operations", "project", "library", "text", "disk", "world"]),
    ("peer", &["frame", "acts", "failure", "operations", "project", "library", "runtime", "text", "disk", "world"]),
    ("fuzzing", &["failure", "text", "project", "operations", "hooks"]),
    (
        "acts",
        &[
            "failure",
            "install",
            "operations",
            "emit",
            "project",
            "library",
            "runtime",
            "text",
            "disk",
            "world",
            "auto",
            "gate",
            "hooks",
        ],
    ),
    ("frame", &["acts", "failure", "operations", "emit", "project", "text", "disk", "world", "auto"]),
    (
        "commands",
        &[
            "frame",
            "acts",
            "failure",
            "install",
            "operations",
            "emit",
            "project",
            "library",
            "runtime",
            "text",
            "disk",
            "world",
            "hooks",
            "auto",
            "gate",
            "peer",
        ],
    ),
];

#[test]
fn rooms_use_only_the_rooms_below() {
    let mut trespasses = Vec::new();
    for (file, used) in structure::rooms_named() {
        let room = file.split('/').next().unwrap_or_default();
        if room.is_empty() || room == used || !MAY_USE.iter().any(|(name, _)| *name == used) {
            continue;
        }
        let allowed = MAY_USE.iter().find(|(name, _)| *name == room);
        let allowed = allowed.unwrap_or_else(|| panic!("room `{room}` has no row in MAY_USE")).1;
        if !allowed.contains(&used.as_str()) {
            trespasses.push(format!("{file} uses {used}"));
        }
    }
    assert_eq!(trespasses, Vec::<String>::new());
}

#[test]
fn acts_neither_prints_nor_reads_arguments() {
    let printing =
        Regex::new(r"\b(?:clap|dialoguer|stdout|stderr)\(?\)?::|::(?:stdout|stderr)\(|\be?print(?:ln)?!|\bdbg!")
            .unwrap();
    assert_eq!(lines_with("src/acts", &printing), Vec::<String>::new(), "`commands` prints and has the arguments");
}

#[test]
fn commands_name_no_git_and_start_no_program() {
    let acting = Regex::new(
        r"\bworktree::git\b|\bgit::repository\b|\bworld::(?:\{[^}]*\b)?(?:Program|Process)\b|\bworld::process\b|\bworld(?:\(\))?\.(?:run|git|fetch|timed|hand_over|start\w*)\(",
    )
    .unwrap();
    for room in ["frame", "peer", "commands"] {
        assert_eq!(lines_with(&format!("src/{room}"), &acting), Vec::<String>::new(), "`acts` does it");
    }
}

/// The lines of code below a folder that `pattern` is in, tests left out.
fn lines_with(folder: &str, pattern: &Regex) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in rust_files(folder).into_iter().filter(|(file, _)| !is_of_tests(file)) {
        let code = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        let lines = code.filter(|(_, line)| pattern.is_match(line));
        found.extend(lines.map(|(number, line)| format!("{}:{}: {line}", file.display(), number + 1)));
    }
    found
}

#[test]
fn no_type_has_more_than_25_methods() {
    const MOST: usize = 25;
    let block = Regex::new(r"(?ms)^impl(?:<[^\n]*?>)? (\w+)[^\n]*\{\n(.*?)^\}").unwrap();
    let method = Regex::new(r"(?m)^    (?:pub(?:\([^)]*\))? )?(?:const )?fn \w+").unwrap();
    for room in ["acts", "frame", "peer", "commands"] {
        // Two types with the same name are in two folders.
        let mut methods = BTreeMap::<(Option<PathBuf>, String), usize>::new();
        for (file, text) in rust_files(&format!("src/{room}")).into_iter().filter(|(file, _)| !is_of_tests(file)) {
            for found in block.captures_iter(&text).filter(|found| !found[0].lines().next().unwrap().contains(" for "))
            {
                let folder = file.parent().map(Path::to_path_buf);
                *methods.entry((folder, found[1].to_owned())).or_default() += method.find_iter(&found[2]).count();
            }
        }
        let halls: Vec<_> = methods.into_iter().filter(|(_, count)| *count > MOST).collect();
        assert_eq!(halls, Vec::new(), "make functions by subject of them");
    }
}

#[test]
fn no_type_name_is_used_for_more_than_two_types() {
    let mut types = BTreeMap::<String, Vec<String>>::new();
    for (file, text) in rust_files("src") {
        let file = file.strip_prefix(repository()).unwrap().display().to_string();
        for name in types_defined(&text) {
            types.entry(name).or_default().push(file.clone());
        }
    }
    let shared: Vec<String> = types
        .into_iter()
        .filter(|(_, files)| files.len() > 2)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert_eq!(shared, Vec::<String>::new(), "give them names that a search tells apart");
}

#[test]
fn a_fact_is_defined_once() {
    let table = Regex::new(r"(?ms)^ *(facts|facts_of)! \{ \|([^|]*)\|\n(.*?)\n *\}$").unwrap();
    let row = Regex::new(r"(?m)^ {4,8}(\w+): [^=;]*? =").unwrap();
    let mut facts = BTreeMap::<(String, String), Vec<String>>::new();
    for (file, text) in rust_files("src/operations") {
        for table in table.captures_iter(&text) {
            // A fact of `facts_of` belongs to what it is read from, such as a phase in a list.
            let source = if &table[1] == "facts_of" { table[2].rsplit(": ").next().unwrap() } else { "" };
            for row in row.captures_iter(&table[3]) {
                let name = (source.to_owned(), row[1].to_owned());
                facts.entry(name).or_default().push(file.display().to_string());
            }
        }
    }
    assert!(facts.len() > 280, "only {} facts were found", facts.len());
    let twice: Vec<_> = facts.into_iter().filter(|(_, files)| files.len() > 1).collect();
    assert_eq!(twice, Vec::new(), "answers list the name of a fact; it is computed in one place");
}

/// The types that a file defines, in its tests as well. Associated types are not among them.
fn types_defined(text: &str) -> Vec<String> {
    static TYPE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?(struct|enum|trait|union|type) ([A-Z]\w*)").unwrap()
    });
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(item) = TYPE.captures(line) else { continue };
        if &item[1] != "type" || !is_in_a_trait_or_impl(&lines[..number], line) {
            found.push(item[2].to_owned());
        }
    }
    found
}

/// Whether the block that a line is in belongs to a trait or an `impl`, given the lines above it.
fn is_in_a_trait_or_impl(above: &[&str], line: &str) -> bool {
    static HEADER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:impl|trait)\b").unwrap());
    let depth = |line: &str| line.len() - line.trim_start().len();
    let begins_a_block = |above: &&&str| {
        let text = above.trim_start();
        !text.is_empty() && text != "{" && text != "where" && depth(above) < depth(line)
    };
    above.iter().rev().find(begins_a_block).is_some_and(|header| HEADER.is_match(header))
}

#[test]
fn types_are_found_except_associated_ones() {
    let text = "struct One;\nimpl<T> Iterator for One\nwhere\n    T: Copy,\n{\n    type Item = T;\n\n    fn next() {\n        \
                struct Two;\n    }\n}\npub(crate) trait Three {\n    type Four;\n}\nmod tests {\n    type Five = u8;\n}\n";
    assert_eq!(types_defined(text), ["One", "Two", "Three", "Five"]);
}

#[test]
fn no_host_is_named_in_rust() {
    let entries = std::fs::read_dir(repository().join("src/runtime/descriptors")).unwrap();
    let names = entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
    let hosts: Vec<Vec<String>> = names.map(|name| words(&name)).collect();
    assert!(hosts.len() > 10, "{hosts:?}");
    let mut found_names = Vec::new();
    for (file, text) in rust_files("src").into_iter().filter(|(file, _)| !is_of_tests(file)) {
        let code = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let host = hosts_in(line, &hosts).next();
            found_names.extend(host.map(|host| format!("{}:{}: {}", file.display(), number + 1, host.join("-"))));
        }
    }
    assert_eq!(found_names, Vec::<String>::new(), "facts about hosts belong into their descriptors");
}

/// Words that contain the name of a host but do not mean the host: names from the peer's scripts, files and settings,
/// and one of clap's.
const NOT_A_HOST: &[&str] = &[
    "CLAUDE.md",
    "\"augment\", \"kg_backend\"",
    "augment_args",
    "claude_instruction",
    "claude_md_assembly",
    "claude_md_path",
    "claude_orchestration",
    "generate-claude-md",
    "generate-claude-profile",
    "legacy_claude_commands_installed",
];

/// The hosts that a line of code names, also inside identifiers and texts.
fn hosts_in<'a>(line: &str, hosts: &'a [Vec<String>]) -> impl Iterator<Item = &'a Vec<String>> {
    let rest = NOT_A_HOST.iter().fold(line.to_owned(), |line, word| line.replace(word, ""));
    let words = words(&rest);
    hosts.iter().filter(move |host| words.windows(host.len()).any(|window| window == host.as_slice()))
}

/// The words of a text in lower case: `OneTwo`, `one_two`, `ONE_TWO` and `one-two` are two words each.
fn words(text: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[A-Z]+(?:[0-9]|\\b|_)|[A-Z]?[a-z0-9]+|[A-Z]+").unwrap());
    let found = WORD.find_iter(text).map(|found| found.as_str().trim_end_matches('_').to_lowercase());
    found.collect()
}

/// True if the whole file is compiled for tests only.
fn is_of_tests(file: &Path) -> bool {
    let is_of_tests = |part: &str| part == "tests" || part.ends_with("_tests");
    file.with_extension("").components().any(|part| is_of_tests(&part.as_os_str().to_string_lossy()))
        || file.ends_with("runtime/made_up.rs")
}

#[test]
fn a_host_is_noticed_inside_identifiers_and_texts() {
    let hosts = [vec!["codex".to_owned()], vec!["kimi".to_owned(), "code".to_owned()], vec!["pi".to_owned()]];
    for line in ["\"CODEX_THREAD_ID\"", "fn codex_home()", "struct CodexHome;", "\"~/.codex/x\"", "KimiCode", "a.pi()"]
    {
        assert!(hosts_in(line, &hosts).next().is_some(), "{line}");
    }
    for line in ["codec", "api, copies", "code of kimi", "generate-claude-md"] {
        assert!(hosts_in(line, &hosts).next().is_none(), "{line}");
    }
}

#[test]
fn every_file_of_the_suite_is_compiled() {
    let main = std::fs::read_to_string(repository().join("tests/suite/main.rs")).unwrap();
    let forgotten: Vec<PathBuf> = std::fs::read_dir(repository().join("tests/suite"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| {
            let stem = path.file_stem().unwrap().to_string_lossy();
            stem != "main" && !main.lines().any(|line| line.trim() == format!("mod {stem};"))
        })
        .collect();
    assert_eq!(forgotten, Vec::<PathBuf>::new());
}

fn rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}
