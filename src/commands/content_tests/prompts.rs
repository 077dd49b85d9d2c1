//! The texts that the pipeline's prompts are made of. They are not part of an install, so the tests of the library do
//! not cover them.

use super::calls::{self, ContentCall, ContentWord};
use super::{CATALOG, refused, unquoted};
use crate::library::{self, Library};
use crate::runtime::Registry;

fn calls_of_prompts() -> Vec<ContentCall> {
    library::prompt_texts().into_iter().flat_map(|(path, text)| calls::calls_in(&path, text)).collect()
}

#[test]
fn the_program_accepts_every_call_in_a_prompt() {
    let calls = calls_of_prompts();
    assert!(calls.len() >= 3, "{calls:?}");
    let faults = refused(calls.into_iter());
    assert!(faults.is_empty(), "correct the text, or the command:\n{}", faults.join("\n"));
}

#[test]
fn the_next_commands_of_the_pipeline_exist() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/auto")];
    let mut named = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for rest in text.split("gsd-tools auto ").skip(1) {
                named.insert(
                    rest.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-').next().unwrap().to_owned(),
                );
            }
        }
    }
    let verbs: Vec<&str> =
        CATALOG.verbs().filter_map(|verb| verb.path.strip_prefix("auto ")?.split(' ').next()).collect();
    let missing: Vec<&String> =
        named.iter().filter(|word| !word.is_empty() && !verbs.contains(&word.as_str())).collect();
    assert!(named.len() > 8 && missing.is_empty(), "{missing:?} of {named:?}");
}

#[test]
fn a_value_in_a_call_of_a_prompt_is_in_single_quotes() {
    // The kind is one of three words.
    let calls = calls_of_prompts();
    let faults: Vec<String> = calls.iter().flat_map(unquoted).filter(|fault| !fault.starts_with("{kind}")).collect();
    assert_eq!(faults, [""; 0]);
    let texts = library::prompt_texts();
    let forgets = |(path, text): &&(String, &str)| {
        let quotes = calls::calls_in(path, text).iter().flat_map(|call| &call.words).any(ContentWord::has_quoted_value);
        quotes && !text.contains(r"'\''")
    };
    let faults: Vec<&String> = texts.iter().filter(forgets).map(|(path, _)| path).collect();
    assert!(faults.is_empty(), "{faults:?} does not say how a quote is written");
}

#[test]
fn prompts_are_plain_text_that_names_no_host_and_no_command_of_a_host() {
    let hosts: Vec<String> = Registry::embedded().ids().map(ToString::to_string).collect();
    let texts = library::prompt_texts();
    assert!(hosts.len() > 10 && texts.len() > 15);
    for (path, text) in texts {
        assert!(text.ends_with('\n') && !text.contains('\r') && !text.contains("{{"), "{path}");
        assert!(text.lines().all(|line| line.chars().count() <= 320), "{path}");
        assert_eq!(calls::commands_named(text).next(), None, "{path}");
        let words: Vec<String> =
            text.split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_lowercase).collect();
        for host in &hosts {
            let first = host.split('-').next().unwrap_or(host);
            assert!(!words.contains(host) && !words.iter().any(|word| word == first), "{path} names {host}");
        }
    }
}

#[test]
fn no_prompt_is_in_the_library() {
    let library = Library::embedded().unwrap();
    assert!(!library.has_folder("templates/auto"));
    assert!(library::prompt_text("common").is_some() && library::prompt_text("no-such").is_none());
}
