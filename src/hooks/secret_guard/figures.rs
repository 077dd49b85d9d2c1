//! How often the guard misjudges command lines from real files: `tests/data/command_lines`.
#![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::command::shown_by;
use super::judge::Judge;
use super::names::GuardedNames;
use super::place::WorkingFolder;

/// The command lines of a list, each with its source.
fn list(name: &str) -> Vec<(String, String)> {
    let path = format!("{}/tests/data/command_lines/{name}.tsv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once('\t').unwrap_or_else(|| panic!("no source: {line}")));
    parts.map(|(source, command)| (source.to_owned(), command.to_owned())).collect()
}

/// A project whose environment file has a value for every variable that the lists mention.
fn project(folder: &Path) {
    let mut names = BTreeSet::new();
    for (_, command) in ["everyday", "borderline", "revealing"].into_iter().flat_map(list) {
        let words = command.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let words = words.filter(|word| word.len() > 3 && !word.chars().any(|letter| letter.is_ascii_lowercase()));
        names.extend(words.filter(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned));
    }
    let mut text = String::from(
        "# values\nDATABASE_URL=postgresql://app:password@db/app\nREPLICA_URL=postgres://app:password@db/app\nAWS_KEY=AKIA0\n",
    );
    for name in names {
        let _ = writeln!(text, "{name}=sk-{}-token-secret-aws_secret-api_key", name.len());
    }
    for (file, text) in [
        (".gitignore", ".env\n.env.*\n!.env.example\nnode_modules\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".env", &text),
        (".env.local", &text),
        (".env.production", &text),
        ("backend/.env", &text),
        ("server/.env", &text),
        (".env.example", "API_KEY=\n"),
        (".env.test", "API_KEY=test\n"),
        ("package.json", "{}"),
        ("src/index.ts", "connect(process.env.API_KEY, password)\n"),
        ("app/main.py", "# TODO\n"),
        ("docker-compose.yml", "services: {}\n"),
    ] {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// The lines of a list that the guard judges differently from `shows`.
fn wrong(name: &str, least: usize, shows: bool) -> (usize, Vec<String>) {
    let temporary = crate::testing::folder();
    project(temporary.path());
    let names = GuardedNames::default();
    let lines = list(name);
    let commands: BTreeSet<&str> = lines.iter().map(|(_, command)| command.trim()).collect();
    assert_eq!(commands.len(), lines.len(), "{name}: a line stands twice");
    assert!(lines.len() >= least, "{name}: {} lines", lines.len());
    let said = |command: &str| {
        shown_by(
            command,
            Judge::new(&names, Some(WorkingFolder::new(temporary.path(), Some(temporary.path().join("home"))))),
        )
    };
    let wrong = lines.iter().filter_map(|(source, command)| {
        let said = said(command).map(|hit| hit.file);
        (said.is_some() != shows).then(|| format!("{source}: {command}  [{}]", said.unwrap_or_default()))
    });
    (lines.len(), wrong.collect())
}

fn check(name: &str, least: usize, shows: bool, most_percent: usize) {
    let (all, wrong) = wrong(name, least, shows);
    println!("{name}: {} of {all} wrong ({} per mille)\n{}", wrong.len(), 1_000 * wrong.len() / all, wrong.join("\n"));
    assert!(wrong.len() * 100 <= all * most_percent, "{name}: {} of {all} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_everyday_command_line_is_refused() {
    check("everyday", 300, false, 0);
}

#[test]
fn few_command_lines_that_only_use_secrets_are_refused() {
    check("borderline", 100, false, 8);
}

#[test]
fn few_command_lines_that_show_secrets_pass() {
    check("revealing", 200, true, 8);
}
