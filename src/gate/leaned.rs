//! The files that tests name and that are not tests: those that they import, source or read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::project::check_files::role_of;
use crate::project::files::{FileError, Files};
use crate::text::words::word_list;

/// The most tests that are read, and the size of the longest one.
const READ: usize = 300;
const LONGEST: usize = 256 * 1024;

/// The endings of tests that are code.
const CODE: &[&str] = &["py", "js", "mjs", "cjs", "ts", "jsx", "tsx", "sh", "bash", "bats", "rb"];

/// Endings of sources that may read a file by its name.
const SOURCES: &[&str] = word_list!(
    "py js mjs cjs ts jsx tsx sh bash rb go rs c cc cpp h java kt cs php swift lua pl toml mk Makefile Dockerfile"
);

/// Endings of files that hold data.
pub(super) const DATA: &[&str] =
    &["csv", "dat", "env", "expected", "golden", "ini", "json", "jsonl", "out", "tsv", "txt", "xml", "yaml", "yml"];

/// The files among `others` that the tests name. Data that the program reads too is part of the program.
pub(super) fn leaned<'a>(
    files: &dyn Files,
    tests: impl Iterator<Item = &'a str>,
    others: &[&'a str],
) -> Result<BTreeSet<String>, FileError> {
    let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
    for &path in others {
        by_name.entry(name_of(path)).or_default().push(path);
    }
    let mut found = BTreeSet::new();
    for path in tests.filter(|path| CODE.contains(&ending(path))).take(READ) {
        let Some(text) = files.read(path)?.filter(|text| text.len() <= LONGEST) else { continue };
        for wanted in wanted(&text, ending(path)) {
            let hits = by_name.get(name_of(&wanted)).map_or(&[][..], Vec::as_slice);
            let is_it = |hit: &&&str| **hit == wanted || hit.ends_with(&format!("/{wanted}")) || !wanted.contains('/');
            // A name that many files have is not a clue.
            let hits: Vec<&str> = hits.iter().filter(is_it).copied().take(4).collect();
            if hits.len() < 4 {
                found.extend(hits.into_iter().map(str::to_owned));
            }
        }
    }
    let read = read_by_program(files, others, &found)?;
    found.retain(|path| !read.contains(path));
    Ok(found)
}

/// The data files among some that a source of the program names.
fn read_by_program(
    files: &dyn Files,
    others: &[&str],
    found: &BTreeSet<String>,
) -> Result<BTreeSet<String>, FileError> {
    let is_data = |path: &&String| DATA.contains(&ending(path)) || name_of(path).starts_with(".env");
    let mut open: Vec<&String> = found.iter().filter(is_data).collect();
    let mut read = BTreeSet::new();
    let is_source = |path: &&&str| {
        let kind = if ending(path).is_empty() { name_of(path) } else { ending(path) };
        SOURCES.contains(&kind) && role_of(path).is_none()
    };
    for path in others.iter().filter(is_source).take(READ) {
        if open.is_empty() {
            break;
        }
        let Some(text) = files.read(path)?.filter(|text| text.len() <= LONGEST) else { continue };
        let (named, left) = open.into_iter().partition(|data| text.contains(name_of(data)));
        open = left;
        read.extend(Vec::into_iter(named).cloned());
    }
    Ok(read)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The ends of paths that a text names.
fn wanted(text: &str, ending: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_of_path = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    for line in text.lines() {
        let trimmed = line.trim_start();
        let brings = ending == "py" && (trimmed.starts_with("import ") || trimmed.starts_with("from "));
        for word in line.split(|letter: char| !is_of_path(letter)).filter(|word| !word.is_empty()) {
            if brings {
                let module = word.trim_matches('.').replace('.', "/");
                found.extend(["", "/__init__"].map(|end| format!("{module}{end}.py")));
                continue;
            }
            let parts: Vec<&str> = word.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
            let Some(last) = parts.last().filter(|last| last.len() > 2) else { continue };
            // The part before the last folder may be a variable.
            let end = parts.get(parts.len().saturating_sub(2)..).unwrap_or_default().join("/");
            if last.contains('.') && !last.ends_with('.') {
                found.insert(end);
                found.insert((*last).to_owned());
            } else if parts.len() > 1 && ending != "py" {
                found.extend([".js", ".ts", "/index.js", ".sh"].map(|more| format!("{last}{more}")));
            }
        }
    }
    found
}

/// The files among some that tests may depend on: those without a role.
pub(super) fn others<'a, V>(paths: &'a [String], roles: &BTreeMap<&str, V>) -> Vec<&'a str> {
    paths.iter().map(String::as_str).filter(|path| !roles.contains_key(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn files_that_tests_import_source_and_read_are_found() {
        let files = [
            (
                "tests/test_a.py",
                "from support.sums import check\nimport calc\nx = ROOT / \"data\" / \"sums.txt\"\nopen('.env')\nparse(a.b)\n",
            ),
            ("tests/run.sh", "HERE=$(dirname \"$0\")/..\n. \"$HERE/scripts/common.sh\"\n"),
            ("test/a.test.js", "const check = require('../vendor/check')\n"),
        ];
        let others = [
            "support/sums.py",
            "support/other.py",
            "calc.py",
            "parse.py",
            "data/sums.txt",
            ".env",
            "scripts/common.sh",
            "vendor/check/index.js",
            "vendor/other/index.js",
        ];
        let tests = files.map(|(path, _)| path);
        let found = leaned(&MemoryFiles::new(files), tests.into_iter(), &others).unwrap();
        let expected =
            [".env", "calc.py", "data/sums.txt", "scripts/common.sh", "support/sums.py", "vendor/check/index.js"];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn data_that_the_program_reads_is_part_of_the_program() {
        let test = "x = open('sums.txt')\ny = open('settings.json')\n";
        let code = "def settings():\n    return json.load(open('settings.json'))\n";
        let files = MemoryFiles::new([("tests/test_a.py", test), ("calc.py", code)]);
        let others = ["calc.py", "data/sums.txt", "settings.json"];
        let found = leaned(&files, ["tests/test_a.py"].into_iter(), &others).unwrap();
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["data/sums.txt"]);
    }
}
