//! Texts for people contain no phrase of `tests/voice/phrases.txt`: the string literals of the program, and the pages
//! about hooks, for agents and for users. Tests next to the commands check the help against the same table.

use std::path::Path;
use std::sync::LazyLock;

use crate::kit::repository;

#[path = "../voice/phrases.rs"]
mod phrases;

/// Literals that are not our prose, by a part of the file and of the text.
const NOT_PROSE: &[(&str, &str)] = &[
    // Options of curl.
    ("world/web.rs", "show-error"),
];

/// A string literal of a Rust file: its line, and its text with continued lines joined.
struct Literal {
    line: usize,
    text: String,
}

/// The string literals of a Rust text, without those of comments.
fn literals(source: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = source.get(at..) {
        let Some(next) = rest.find(['"', '/', '\'', 'r']) else { break };
        let (start, rest) = (at + next, &rest[next..]);
        at = start + 1;
        if rest.starts_with("//") {
            at = start + rest.find('\n').unwrap_or(rest.len());
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            // A character; a lifetime has no second quote.
            let end = match quoted.char_indices().next() {
                Some((_, '\\')) => rest[3..].find('\'').map(|end| end + 3),
                Some((_, letter)) => Some(1 + letter.len_utf8()).filter(|end| rest[*end..].starts_with('\'')),
                None => None,
            };
            at = end.map_or(at, |end| start + end + 1);
        } else if let Some((hashes, body)) = raw_string(source, start) {
            let closing = format!("\"{}", "#".repeat(hashes));
            let end = source[body..].find(&closing).map_or(source.len(), |end| body + end);
            found.push(Literal { line: line_of(source, start), text: source[body..end].to_owned() });
            at = end + closing.len();
        } else if rest.starts_with('"') {
            let end = closing_quote(rest).map_or(source.len(), |end| start + end);
            let text = joined(&source[start + 1..end]);
            if !source[..start].trim_end().ends_with("reason =") {
                found.push(Literal { line: line_of(source, start), text });
            }
            at = end + 1;
        }
    }
    found
}

/// How many `#` a raw string that begins at `start` has, and the offset of its text.
fn raw_string(source: &str, start: usize) -> Option<(usize, usize)> {
    let rest = source[start..].strip_prefix('r')?;
    let is_word = source[..start].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    (rest[hashes..].starts_with('"') && !is_word).then_some((hashes, start + hashes + 2))
}

/// The end of the string that begins here.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, letter)| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

fn line_of(source: &str, at: usize) -> usize {
    source[..at].matches('\n').count() + 1
}

/// A text with its continued lines joined.
fn joined(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start()).replace("\\n", "\n")
}

/// Rust files of the program without test-only code, with their paths below `src`.
fn sources() -> Vec<(String, String)> {
    let root = repository().join("src");
    let files = walkdir::WalkDir::new(&root).into_iter().map(|entry| entry.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs") && !is_of_tests(path));
    let words = regex::Regex::new(r#"word_list!\(\s*"[^"]*"\s*\)"#).unwrap();
    let tests = regex::Regex::new(r"\n#\[cfg\([^\n]*test[^\n]*\n(?:#\[[^\n]*\n)*(?:pub\([^)]*\) )?mod \w+ \{").unwrap();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let end = tests.find(&text).map_or(text.len(), |found| found.start());
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        // A list of words is not shown to people; its lines still count.
        let bare = |list: &regex::Captures<'_>| "\n".repeat(list[0].matches('\n').count());
        (name, words.replace_all(&text[..end], bare).into_owned())
    };
    files.map(read).collect()
}

fn is_of_tests(path: &Path) -> bool {
    let parts = path.with_extension("");
    let mut parts = parts.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    // `figures` measures the secret guard in a test; `fuzzing` makes texts for fuzzers.
    let names = ["tests", "made_up", "fuzzing", "figures"];
    parts.any(|part| names.contains(&part.as_str()) || part.ends_with("_tests"))
}

/// True if a person could read the literal: it has more than one word.
fn is_prose(literal: &Literal) -> bool {
    literal.text.split_whitespace().count() > 1
}

#[test]
fn texts_of_the_program_have_no_phrase_to_avoid() {
    let phrases = phrases::phrases();
    let mut faults = Vec::new();
    let mut seen = 0;
    for (file, text) in sources() {
        for literal in literals(&text).into_iter().filter(is_prose) {
            seen += 1;
            if NOT_PROSE.iter().any(|(part, text)| file.ends_with(part) && literal.text.contains(text)) {
                continue;
            }
            let prose = without_values(&literal.text);
            let found = phrases::found_in(&prose, &phrases);
            faults.extend(
                found.iter().map(|found| format!("src/{file}:{}: {found}\n    {}", literal.line, literal.text)),
            );
        }
    }
    assert!(seen > 2000, "only {seen} texts were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The text without the names of its values, such as `{path}`.
fn without_values(text: &str) -> String {
    static VALUE: LazyLock<regex::Regex> = LazyLock::new(|| regex::Regex::new(r"\{[a-z_.]*(:[^{}]*)?\}").unwrap());
    VALUE.replace_all(text, "{}").into_owned()
}

/// Pages in the root that people read.
const OWN_PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Folders with pages that people or agents read.
const PAGES: &[&str] = &["hooks", "references", "templates/guide", "templates/auto", "docs"];

/// The lines of a page that are prose, by number: text between fences is code.
fn prose_of(page: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let mut prose = Vec::new();
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push((number + 1, line));
        }
    }
    prose
}

#[test]
fn pages_have_no_phrase_to_avoid() {
    let phrases = phrases::phrases();
    let mut faults = Vec::new();
    let folders = PAGES.iter().flat_map(|folder| std::fs::read_dir(repository().join(folder)).unwrap());
    let pages =
        folders.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "md"));
    // The list of texts is made from their headings, which models read.
    let pages = pages.filter(|path| !path.ends_with("docs/inventory.md"));
    for path in pages.chain(OWN_PAGES.iter().map(|page| repository().join(page))) {
        for (number, line) in prose_of(&std::fs::read_to_string(&path).unwrap()) {
            let found = phrases::found_in(line, &phrases);
            faults.extend(found.iter().map(|found| format!("{}:{number}: {found}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The names of the tests in a Rust file.
fn tests_of(source: &str) -> Vec<String> {
    static NAME: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new(r"#\[test\]\s+(?:#\[[^\n]*\]\s+)*(?:async )?fn (\w+)").unwrap());
    NAME.captures_iter(source).map(|found| found[1].to_owned()).collect()
}

/// The comments of a Rust file that have a line to themselves, by line.
fn comments_of(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.lines().enumerate().map(|(at, line)| (at + 1, line.trim_start()));
    lines.filter_map(|(number, line)| {
        let text = line.strip_prefix("//")?;
        Some((number, text.trim_start_matches(['/', '!'])))
    })
}

/// The faults of the comments and the names of tests in a Rust file.
fn odd_words_of(source: &str, phrases: &[phrases::Phrase]) -> Vec<String> {
    let comments = comments_of(source).map(|(line, text)| (format!("line {line}"), text.to_owned()));
    let names = tests_of(source).into_iter().map(|name| (format!("`{name}`"), name.replace('_', " ")));
    let found = comments.chain(names).flat_map(|(place, text)| {
        let found = phrases::found_in(&text, phrases);
        found.into_iter().map(move |found| format!("{place}: {found}"))
    });
    found.collect()
}

#[test]
fn comments_and_names_of_tests_have_no_phrase_to_avoid() {
    let phrases = phrases::table(include_str!("../voice/comments.txt"));
    let folders = ["src", "tests", "benches", "fuzz"].map(|folder| walkdir::WalkDir::new(repository().join(folder)));
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().into_path());
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut faults = Vec::new();
    let mut seen = 0;
    for path in rust {
        let source = std::fs::read_to_string(&path).unwrap();
        seen += comments_of(&source).count();
        let name = path.strip_prefix(repository()).unwrap().display().to_string();
        faults.extend(odd_words_of(&source, &phrases).iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(seen > 10_000, "only {seen} comments were found");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn an_odd_phrase_is_found_in_comments_and_names_only() {
    let phrases = phrases::table(include_str!("../voice/comments.txt"));
    let source = "/// What it \
                  tells.\n// There is no file.\nlet told = \"it tells\";\n#[test]\nfn it_is_no_use() {}\n";
    assert_eq!(
        odd_words_of(source, &phrases),
        ["line 1: `tells`: says, reports, shows", "`it_is_no_use`: `is no`: is not a"]
    );
}

/// True if the name begins with the number of a rule or of a section, which only readers of that page understand.
fn cites_a_page(name: &str) -> bool {
    static NUMBER: LazyLock<regex::Regex> = LazyLock::new(|| {
        regex::Regex::new(r"^(criterion|invariant|feature|rule|ruling|section|[b-z])_?[a-z]?\d+_|_\d+_\d+_").unwrap()
    });
    NUMBER.is_match(name)
}

#[test]
fn names_of_tests_cite_no_numbers() {
    let folders = ["src", "tests"].map(|folder| walkdir::WalkDir::new(repository().join(folder)));
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().into_path());
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let names: Vec<String> = rust.flat_map(|path| tests_of(&std::fs::read_to_string(path).unwrap())).collect();
    assert!(names.len() > 2000, "only {} tests were found", names.len());
    let citing: Vec<&String> = names.iter().filter(|name| cites_a_page(name)).collect();
    assert!(citing.is_empty(), "say what is tested instead of the number of a rule: {citing:#?}");
}

#[test]
fn a_number_of_a_rule_in_a_test_name_is_noticed() {
    for name in ["criterion_4_3_9_a_box_is_ticked", "invariant_9_a_box", "ruling_c14_a_block", "c9_a_box", "x_e_3_2_y"]
    {
        assert!(cites_a_page(name), "{name}");
    }
    for name in ["a_subject_has_72_characters_at_most", "sha256_is_in_hexadecimal", "exits_1", "a_run_of_3_tasks_ends"]
    {
        assert!(!cites_a_page(name), "{name}");
    }
    assert_eq!(tests_of("#[test]\n#[ignore]\nfn one() {}\nfn helper() {}\n"), ["one"]);
}

#[test]
fn code_of_a_page_is_not_prose() {
    assert_eq!(prose_of("a\n```sh\nb\n```\nc\n"), [(1, "a"), (5, "c")]);
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let source = "// \"a comment\"\nlet a = \"one \\\"two\\\" \\\n    three\"; // it's \"x\"\nlet b = r#\"raw \"text\" \"#;\n\
                  let c = '\"'; fn d<'a>(e: &'a str) { f(\"last\", '\\'') }\n#[expect(x, reason = \"not this\")]\n";
    let found: Vec<(usize, String)> = literals(source).into_iter().map(|found| (found.line, found.text)).collect();
    let expected = [(2, "one \\\"two\\\" three"), (4, "raw \"text\" "), (5, "last")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    assert_eq!(without_values("{} {told} {count:>3} {{x}}"), "{} {} {} {{}}");
}
