//! Checks the wording of the help, and that the files of `tests/help/` equal the pages that a reader gets.

use std::fmt::Write as _;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Command;

use crate::commands::families::CATALOG;
use crate::frame::verb::{AnswerForm, Verb};
use crate::frame::{Family, help, tree};

#[path = "../../../tests/voice/phrases.rs"]
mod phrases;

/// The words that may begin the first line of a help page. Look for one of these before adding another.
const VERBS: &[&str] = &[
    "Add",
    "Approve",
    "Archive",
    "Build",
    "Change",
    "Check",
    "Commit",
    "Compare",
    "Complete",
    "Create",
    "Disable",
    "Discuss",
    "Enable",
    "Explain",
    "Find",
    "Finish",
    "Install",
    "Land",
    "List",
    "Merge",
    "Move",
    "Pause",
    "Pin",
    "Print",
    "Record",
    "Redo",
    "Remove",
    "Rename",
    "Restore",
    "Run",
    "Score",
    "Search",
    "Set",
    "Show",
    "Start",
    "Stop",
    "Switch",
    "Undo",
    "Uninstall",
    "Update",
    "Write",
];

/// The maximum length of the first line of a help page.
const FIRST_LINE: usize = 72;

/// The width of the pages in the files.
const WIDTH: usize = 100;

/// A page of the help: the words to type for it, and the command it describes.
struct Page {
    path: String,
    command: Command,
}

/// The pages of a family: of its verbs and of the words that lead to them.
fn pages(family: &Family) -> Vec<Page> {
    fn collect(command: &Command, path: &str, pages: &mut Vec<Page>) {
        for child in command.get_subcommands() {
            let path = format!("{path} {}", child.get_name()).trim_start().to_owned();
            pages.push(Page { path: path.clone(), command: child.clone() });
            collect(child, &path, pages);
        }
    }
    let mut tree = tree(family);
    tree.build();
    let mut pages = Vec::new();
    collect(&tree, "", &mut pages);
    pages
}

/// The prose of a page, in pieces: its paragraphs, and the lines of its words and flags.
fn prose(page: &Page) -> Vec<String> {
    let mut pieces = Vec::new();
    let about = page.command.get_long_about().or_else(|| page.command.get_about());
    pieces.extend(about.map(ToString::to_string));
    for argument in page.command.get_arguments() {
        pieces.extend(argument.get_help().map(ToString::to_string));
        pieces.extend(argument.get_long_help().map(ToString::to_string));
        for value in argument.get_possible_values() {
            pieces.extend(value.get_help().map(ToString::to_string));
        }
    }
    pieces
}

/// The description of an answer that is not JSON.
fn answer(verb: &Verb) -> Option<String> {
    match verb.answer {
        AnswerForm::Text(what) => Some(what.to_owned()),
        AnswerForm::Json(_) | AnswerForm::Seen(_) => None,
    }
}

#[test]
fn the_first_line_of_a_help_page_is_a_short_command() {
    let mut faults = Vec::new();
    for page in CATALOG.0.iter().flat_map(pages) {
        let about = page.command.get_about().map(ToString::to_string).unwrap_or_default();
        let first = about.split([' ', ',']).next().unwrap_or_default();
        if !VERBS.contains(&first) {
            faults.push(format!("`{}` begins with `{first}`, which is not in VERBS: {about}", page.path));
        }
        let length = about.chars().count();
        if length > FIRST_LINE {
            faults.push(format!("`{}` has {length} characters, and {FIRST_LINE} fit: {about}", page.path));
        }
        if about.ends_with('.') {
            faults.push(format!("`{}` ends with a full stop: {about}", page.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn help_has_no_phrase_to_avoid() {
    let phrases = phrases::phrases();
    let mut faults = Vec::new();
    let mut check = |place: &str, text: &str| {
        faults.extend(phrases::found_in(text, &phrases).iter().map(|found| format!("{place}: {found}\n    {text}")));
    };
    for family in CATALOG.0 {
        check("title", family.title);
        for page in pages(family) {
            for piece in prose(&page) {
                check(&page.path, &piece);
            }
        }
        for verb in family.verbs {
            if let Some(text) = answer(verb) {
                check(verb.path, &text);
            }
        }
    }
    check("flags", &help::flags());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn phrases_are_found_in_prose_and_not_in_code() {
    let phrases = phrases::phrases();
    for bad in [
        "Tell what each host can do",
        "everything stands there already",
        "`x` is no host",
        "roots, parted by commas",
        "The folder of the host, in the place of the usual one",
        "Write the file anew",
    ] {
        assert!(!phrases::found_in(bad, &phrases).is_empty(), "{bad}");
    }
    for good in ["there is no file", "`tell anew`", "Show installed hosts", "what `n` stands for"] {
        assert_eq!(phrases::found_in(good, &phrases), Vec::<String>::new(), "{good}");
    }
}

/// The files of `tests/help/`: one for each first word with all its pages, one with the flags of every command.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("_flags.txt".to_owned(), help::flags())]);
    for family in CATALOG.0 {
        for page in pages(family) {
            let word = page.path.split(' ').next().unwrap_or_default();
            let text = files.entry(format!("{word}.txt")).or_insert_with(|| format!("# {}\n", family.title));
            let shown = page.command.clone().term_width(WIDTH).render_long_help().to_string();
            // A line without text is as wide as its column.
            let lines = shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n";
            // Writing to a string cannot fail.
            let _ = write!(text, "\n## gsd-tools {}\n\n{lines}", page.path);
            let flags = help::flags_of(family, &page.path, &page.command);
            let flags = flags.lines().filter_map(|line| line.trim().split(' ').next());
            let flags: Vec<&str> = flags.filter(|word| word.starts_with("--")).collect();
            if !flags.is_empty() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "\nMore flags, described in _flags.txt: {}", flags.join(", "));
            }
        }
    }
    files
}

/// The page `docs/commands.md`: every command with the first line of its help, by family.
fn reference() -> String {
    let mut text = String::from(
        "# Commands\n\nEvery command of `gsd-tools`, by subject. `gsd-tools help COMMAND` shows its arguments and an example, \
         `gsd-tools schema\nCOMMAND` the JSON Schema of its answer, and [cli.md](cli.md) what all of them have in common. \
         A test writes this page:\n`SNAPSHOTS=overwrite cargo test --lib help_tests`.\n\nEffect: `reads` changes nothing; \
         `writes` changes documents or installed files, all or none; `acts` also works through\ngit or on other files; \
         `destroys` removes something; `runs` runs what it is given. All but `reads` and `runs` take\n`--dry-run`.\n",
    );
    for family in CATALOG.0 {
        let _ = write!(text, "\n## {}\n\n| command | what it does | effect |\n|---|---|---|\n", family.title);
        for verb in family.verbs {
            let listed = verb.listed();
            let effect = serde_json::to_value(listed.effect).unwrap();
            let about = listed.about.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {about} | {} |", listed.command, effect.as_str().unwrap());
        }
    }
    text
}

#[test]
fn the_command_reference_is_the_page_in_docs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    snapbox::assert_data_eq!(reference(), snapbox::Data::read_from(&file, None).raw());
}

#[test]
fn help_pages_are_the_files_of_tests_help() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let overwrites = std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite");
    let files = files();
    let named: BTreeSet<String> = files.keys().cloned().collect();
    let entries = std::fs::read_dir(&folder).unwrap();
    let there: BTreeSet<String> = entries.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    if overwrites {
        for gone in there.difference(&named) {
            std::fs::remove_file(folder.join(gone)).unwrap();
        }
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let differs = |(name, text): &(&String, &String)| {
        std::fs::read_to_string(folder.join(name)).ok().is_none_or(|file| file.replace("\r\n", "\n") != **text)
    };
    let differing: Vec<&String> = files.iter().filter(differs).map(|(name, _)| name).collect();
    assert!(differing.is_empty(), "SNAPSHOTS=overwrite writes the help pages; read the diff: {differing:?}");
    assert_eq!(there, named, "left: the files; right: the first words of commands");
}

/// The families of the peer's contract exit 1, and those exit 2 which only this program has.
#[test]
fn the_page_on_exit_codes_names_each_command_whose_wrong_usage_exits_2() {
    let page = crate::frame::error::codes::page();
    let row = page.lines().find(|line| line.starts_with("    2  ")).unwrap();
    let is_named = |word: &str| row.contains(&format!("`{word}`"));
    let own = CATALOG.0.iter().filter(|family| family.usage_code == 2).flat_map(Family::words);
    let missing: Vec<&str> = own.filter(|word| !is_named(word)).collect();
    assert_eq!(missing, [""; 0]);
    let others = CATALOG.0.iter().filter(|family| family.usage_code == 1).flat_map(Family::words);
    // Two are named with reasons of another kind.
    let wrong: Vec<&str> =
        others.filter(|word| is_named(word) && !["worktree", "prompt-budget"].contains(word)).collect();
    assert_eq!(wrong, [""; 0]);
}
