//! The tutorial pages: their commands run in order, their files are written, and the output they show is compared.
//!
//! A block ```` ```console ```` contains commands after `$ ` and the output of each at a terminal of 80 columns; a
//! block with a path after its language is written to that path; a comment `<!-- $ COMMAND -->` runs what an agent does
//! at this point. `SNAPSHOTS=overwrite` writes the output into the page.

use std::fs;

use crate::answers::project;
use crate::kit::{TestContext, binary, repository};
use crate::mentions;

/// A page, and the project of `tests/projects` in which it begins; `None` for an empty folder.
const PAGES: &[(&str, Option<&str>)] = &[
    ("README.md", Some("pocket")),
    ("docs/quick-start.md", Some("pocket")),
    ("docs/tutorial.md", None),
    ("docs/user-guide.md", Some("pocket")),
    ("docs/installs.md", None),
    ("docs/teams.md", None),
];

#[test]
fn a_tutorial_page_shows_what_its_commands_print() {
    for (page, begin) in PAGES {
        let path = repository().join(page);
        let text = fs::read_to_string(&path).unwrap();
        let context = begin.map_or_else(TestContext::new, project);
        let played = play(&text, &context);
        if std::env::var("SNAPSHOTS").is_ok_and(|word| word == "overwrite") {
            fs::write(&path, &played).unwrap();
        } else {
            snapbox::assert_data_eq!(played, snapbox::Data::text(text).raw());
        }
    }
}

#[test]
fn outdated_output_is_noticed() {
    let context = TestContext::new();
    let page = "Say:\n\n```text a/b.txt\none\n```\n\n```console\n$ cat a/b.txt\ntwo\n$ false\n```\n\nEnd.\n";
    assert_eq!(play(page, &context), page.replace("two", "one"));
}

/// The page with the current output of its commands.
fn play(page: &str, context: &TestContext) -> String {
    let mut played = String::new();
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        played += line;
        if let Some((command, _)) = line.strip_prefix("<!-- $ ").and_then(|rest| rest.split_once(" -->")) {
            let command = command.replacen("gsd-tools", &format!("'{}'", binary().display()), 1);
            let ran = context.command("sh").args(["-c", &command]).output().unwrap();
            assert!(ran.status.success(), "`{command}`: {ran:?}");
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        match info.trim().split_once(' ') {
            Some((_, path)) => {
                context.write(path, &block.concat());
                played += &block.concat();
            }
            None if info.trim() == "console" => {
                for line in block.iter().filter(|line| line.starts_with("$ ")) {
                    played += line;
                    played += &output(line[2..].trim_end(), context);
                }
            }
            None => played += &block.concat(),
        }
        played += "```\n";
    }
    played
}

/// The output of a command at a terminal; every minute is the same.
fn output(command: &str, context: &TestContext) -> String {
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
    let printed = if let Some(call) = command.strip_prefix("gsd-tools") {
        context.at_a_terminal_of(80, call, &[("NO_COLOR", "1")], "").stdout
    } else {
        let line = format!("{{ {command}; }} 2>&1");
        context.command("sh").args(["-c", &line]).output().unwrap().stdout
    };
    let printed = String::from_utf8(printed).unwrap().replace("\r\n", "\n");
    let printed = time.replace_all(&printed, "2026-11-30 12:00").into_owned();
    assert!(!printed.contains(&*context.home().to_string_lossy()), "`{command}` prints a path: {printed}");
    let lines = printed.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect::<String>().trim_end_matches('\n').to_owned() + if printed.trim().is_empty() { "" } else { "\n" }
}

#[test]
fn a_tutorial_page_names_existing_commands_and_pages() {
    for (page, _) in PAGES {
        let text = fs::read_to_string(repository().join(page)).unwrap();
        assert_eq!(mentions::wrong(&text), Vec::<String>::new(), "{page}");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
            let file = target.split('#').next().unwrap_or_default();
            let folder = repository().join(page).parent().unwrap().to_owned();
            assert!(folder.join(file).exists(), "{page}: {target}");
        }
    }
}
