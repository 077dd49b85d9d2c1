//! Checks the claims of a summary: the files it names, its commits, its self-check.

use schemars::JsonSchema;
use serde::Serialize;

use super::structure::{has_folder, ticked_files};
use crate::project::check_files::fits;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;

/// What `verify-summary` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SummaryCheckReport {
    pub(crate) passed: bool,
    pub(crate) checks: SummaryChecks,
    /// The problems. Missing commits are listed but do not fail the check, since histories get rewritten.
    pub(crate) errors: Vec<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SummaryChecks {
    pub(crate) summary_exists: bool,
    pub(crate) files_created: FilesCheck,
    pub(crate) commits_exist: bool,
    pub(crate) self_check: SelfCheck,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct FilesCheck {
    pub(crate) checked: usize,
    pub(crate) found: usize,
    pub(crate) missing: Vec<String>,
}

/// The result of the self-check, according to the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SelfCheck {
    Passed,
    Failed,
    #[default]
    NotFound,
}

impl SummaryCheckReport {
    /// The report for a missing summary.
    pub(crate) fn missing() -> Self {
        let errors = vec!["SUMMARY.md not found".to_owned()];
        Self { passed: false, checks: SummaryChecks::default(), errors }
    }
}

/// Checks the first `count` files that the summary `text` names, its commits, and its self-check.
pub(crate) fn check(
    text: &str,
    count: usize,
    file_exists: impl Fn(&str) -> bool,
    commit_exists: impl Fn(&str) -> bool,
) -> SummaryCheckReport {
    let mut files = claimed_files(text);
    files.truncate(count);
    let mut missing: Vec<String> =
        files.iter().filter(|file| !file_exists(file)).map(|&file| file.to_owned()).collect();
    let found = files.len() - missing.len();
    // The list is short, and a separate claim: all its files are checked.
    let listed = listed_files(text).into_iter().filter(|file| !missing.contains(file) && !file_exists(file));
    let listed: Vec<String> = listed.collect();
    missing.extend(listed);
    let commits = hashes(text);
    let commits_exist = commits.iter().any(|hash| commit_exists(hash));
    let self_check = self_check(text);
    let mut errors = Vec::new();
    if !missing.is_empty() {
        errors.push(format!("Missing files: {}", missing.join(", ")));
    }
    if !commits.is_empty() && !commits_exist {
        errors.push("Referenced commit hashes not found in git history".to_owned());
    }
    if self_check == SelfCheck::Failed {
        errors.push("The self-check section reports a failure".to_owned());
    }
    SummaryCheckReport {
        passed: missing.is_empty() && self_check != SelfCheck::Failed,
        checks: SummaryChecks {
            summary_exists: true,
            files_created: FilesCheck { checked: files.len(), found, missing },
            commits_exist,
            self_check,
        },
        errors,
    }
}

/// The files that the front matter lists as created or modified.
pub(crate) fn listed_files(text: &str) -> Vec<String> {
    files_under(text, &["created", "modified"])
}

fn files_under(text: &str, keys: &[&str]) -> Vec<String> {
    let Some(front) = FrontMatter::parse(text) else { return Vec::new() };
    let lists = keys.iter().filter_map(|key| front.get_path(&["key-files", key]));
    let files = lists.flat_map(|list| list.texts().into_iter().map(|file| file.trim().to_owned()).collect::<Vec<_>>());
    files.filter(|file| !file.is_empty() && !file.contains(['{', '*'])).collect()
}

/// The files that a summary claims to have created or changed: those in backticks, then those after labels such as
/// `Created:`. A sentence about future work is not a claim, nor is a path among other words.
fn claimed_files(text: &str) -> Vec<&str> {
    const WORDS: &[&str] = &["created", "modified", "added", "updated", "edited"];
    let mut files: Vec<&str> = Vec::new();
    let claims = || text.lines().flat_map(sentences_of).filter(|sentence| !is_to_come(sentence));
    let behind_words = claims().filter_map(|line| {
        let line = line.trim_start_matches([' ', '\t', '-', '*']);
        let (word, rest) = line.split_once(':')?;
        let path = rest.trim_start_matches(['*', ' ']).trim_matches('`');
        let path = path.split_whitespace().next()?.trim_matches('`');
        let (stem, extension) = path.rsplit_once('.')?;
        let is_file = has_folder(stem) && !extension.is_empty() && extension.chars().all(char::is_alphanumeric);
        (is_file && WORDS.contains(&word.trim_end_matches('*').to_ascii_lowercase().as_str())).then_some(path)
    });
    for file in claims().flat_map(ticked_files).chain(behind_words) {
        if !file.starts_with("http") && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The sentences of a line: a path has no blank after its dots.
fn sentences_of(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.match_indices(". ").chain(line.match_indices("; ")).map(|(at, _)| at + 1);
    let mut ends: Vec<usize> = ends.chain([line.len()]).collect();
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter().map(move |end| {
        let sentence = &line[start..end];
        start = end;
        sentence
    })
}

/// True if a sentence is about future work.
fn is_to_come(sentence: &str) -> bool {
    const LATER: &[&str] = &["later", "future", "next", "following", "subsequent", "another", "upcoming"];
    const WORK: &[&str] = &["phase", "plan", "milestone", "release", "version", "wave", "task", "work", "step", "day"];
    const PUT_OFF: &[&str] = &["planned", "scheduled", "intended", "meant", "left", "reserved"];
    let sentence = sentence.to_lowercase();
    let words: Vec<&str> =
        sentence.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let pair = |word: &str, next: &str| {
        matches!((word, next), ("is" | "are", "to") | ("to", "be") | ("not", "yet"))
            || (LATER.contains(&word) && WORK.contains(&next.trim_end_matches('s')))
            || (PUT_OFF.contains(&word) && next == "for")
            || (matches!(word, "is" | "are") && next == "planned")
    };
    words.iter().any(|word| matches!(*word, "will" | "deferred" | "postponed" | "todo"))
        || words.windows(2).any(|words| pair(words[0], words[1]))
}

/// Possible commit hashes: separate words of 7 to 40 hexadecimal digits.
fn hashes(text: &str) -> Vec<&str> {
    const MOST: usize = 20;
    let is_hash = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let mut hashes: Vec<&str> = Vec::new();
    // The commit before the work is not one of its commits.
    let lines = text.lines().filter(|line| !line.starts_with("plan_head_before:"));
    let words = lines.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    for hash in words.filter(is_hash) {
        if !hashes.contains(&hash) && hashes.len() < MOST {
            hashes.push(hash);
        }
    }
    hashes
}

/// The commits that a SUMMARY lists for its tasks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskCommits<'text> {
    pub(crate) hashes: Vec<&'text str>,
    /// Placeholders instead of a hash: `TBD`, `[hash]`.
    pub(crate) placeholders: Vec<&'text str>,
}

/// Reads the commits that a SUMMARY lists for its tasks.
pub(crate) fn task_commits(text: &str) -> TaskCommits<'_> {
    let is_heading = |title: &str| title.starts_with("task commits") || title == "commits";
    let mut found = TaskCommits::default();
    for line in section_lines(text, is_heading) {
        let hashes = hashes_in(line);
        if hashes.is_empty() {
            found.placeholders.extend(placeholder_in(line));
        }
        for hash in hashes {
            if !found.hashes.contains(&hash) {
                found.hashes.push(hash);
            }
        }
    }
    found
}

/// The lines below the first heading whose title, in lower case, is wanted. A line in bold is a heading too.
fn section_lines(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<&str> {
    let markdown = Markdown::parse(text);
    let title = |title: &str| title.trim_matches(['*', ':', ' ']).to_lowercase();
    if let Some(heading) = markdown.headings().find(|heading| is_wanted(&title(heading.title))) {
        let section = &text[markdown.span(heading.line + 1..markdown.section(&heading).end)];
        return section.lines().collect();
    }
    let is_bold = |line: &str| line.starts_with("**") && line.trim_end_matches([':', ' ']).ends_with("**");
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| !(is_bold(line) && is_wanted(&title(line))));
    lines.next();
    lines.take_while(|line| !line.starts_with('#') && !is_bold(line)).collect()
}

/// The hashes in a line of a list of commits. In code, a word of such letters counts even without a digit.
fn hashes_in(line: &str) -> Vec<&str> {
    const ENGLISH: &[&str] = &["acceded", "defaced", "effaced", "decaded", "beefaded"];
    let is_hex = |word: &str| (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut found = Vec::new();
    for (number, part) in line.split('`').enumerate() {
        let part = part.trim();
        if number % 2 == 1 {
            found.extend(Some(part.trim_end_matches(['.', '\u{2026}'])).filter(|word| is_hex(word)));
            continue;
        }
        // The text of a link has the same hash as its address.
        let words = part.split(|letter: char| letter.is_whitespace() || "()[]|,;*".contains(letter));
        let words = words.map(|word| word.trim_matches(['.', ':', '\u{2026}']));
        let is_plain =
            |word: &&str| is_hex(word) && !ENGLISH.contains(word) && word.bytes().any(|byte| byte.is_ascii_lowercase());
        found.extend(words.filter(is_plain));
    }
    found
}

/// A placeholder in a line, or an invented hash.
fn placeholder_in(line: &str) -> Option<&str> {
    let is_item = line.starts_with(|first: char| first.is_ascii_digit() || "-*|".contains(first));
    let is_made_up = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let in_code = line.split('`').skip(1).step_by(2).map(str::trim);
    let open = |word: &&str| {
        let bare = word.trim_matches(|letter: char| "[]<>{}()".contains(letter)).to_lowercase();
        let is_bracketed = word.len() > bare.len();
        matches!(bare.as_str(), "tbd" | "todo")
            || is_bracketed && matches!(bare.as_str(), "hash" | "commit" | "sha" | "commit hash")
    };
    let words = line.split_whitespace().map(|word| word.trim_matches(['`', '*', ',', ';', '|', '.', ':']));
    let made_up = in_code.clone().find(|word| is_made_up(word));
    in_code.clone().find(open).or_else(|| words.into_iter().find(|word| open(word))).or(made_up).filter(|_| is_item)
}

/// The files that a SUMMARY lists as created, changed or removed, in any form: under `key-files`, or in a section such
/// as `Files Created/Modified`. Patterns such as `src/*.js` are included.
pub(crate) fn named_files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    if let Some(front) = FrontMatter::parse(text) {
        for key in ["key-files", "key_files", "keyFiles", "files_modified", "files-modified"] {
            if let Some(value) = front.get(key) {
                collect(&value, &mut files);
            }
        }
    }
    let is_heading = |title: &str| {
        let words: Vec<&str> = title.split(|letter: char| !letter.is_alphanumeric()).collect();
        let did = ["created", "modified", "changed", "deleted", "removed", "touched", "key"];
        words.contains(&"files") && (title == "files" || words.iter().any(|word| did.contains(word)))
    };
    for line in section_lines(text, is_heading) {
        let in_code = line.split('`').skip(1).step_by(2);
        files.extend(in_code.map(|word| word.trim().to_owned()));
        let item = line.trim_start().trim_start_matches(['-', '*', '|', ' ']);
        let first = item.split([' ', '|', ':']).next().unwrap_or_default().trim_matches(['`', '*', ',']);
        files.extend(Some(first.to_owned()).filter(|word| word.contains(['/', '.']) && item != line));
    }
    files.retain(|file| !file.is_empty());
    files
}

/// The texts below a value. Of a map that describes a file, only the path.
fn collect(value: &Value, files: &mut Vec<String>) {
    match value {
        Value::Empty => {}
        Value::Text(text) => files.push(text.trim().to_owned()),
        Value::List(items) => items.iter().for_each(|item| collect(item, files)),
        Value::Map(entries) => {
            let path = entries.iter().find(|(key, _)| matches!(key.as_str(), "path" | "file" | "name"));
            match path {
                Some((_, path)) => collect(path, files),
                None => entries.iter().for_each(|(_, value)| collect(value, files)),
            }
        }
    }
}

/// True if a name in a SUMMARY is that of the file, or a pattern of folder and extension that matches it.
pub(crate) fn is_named(name: &str, path: &str) -> bool {
    if !name.contains('*') {
        return name == path;
    }
    let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
    let says_enough = !folder.is_empty()
        && !folder.starts_with('*')
        && last.rsplit_once('.').is_some_and(|(_, end)| !end.is_empty() && !end.contains('*'));
    let is_as_deep = name.contains("**") || name.matches('/').count() == path.matches('/').count();
    says_enough && is_as_deep && fits(&name.replace("**/", "*").replace("**", "*"), path)
}

/// The result in the self-check section, including its heading.
pub(crate) fn self_check(text: &str) -> SelfCheck {
    const TITLES: &[&str] = &["self-check", "self check", "quality check", "verification"];
    const BAD: &[&str] = &["fail", "✗", "❌", "incomplete"];
    const GOOD: &[&str] = &["pass", "✓", "✅", "complete"];
    let markdown = Markdown::parse(text);
    let is_check = |title: &str| TITLES.iter().any(|known| title.to_lowercase().starts_with(known));
    let Some(heading) = markdown.headings().find(|heading| is_check(heading.title)) else { return SelfCheck::NotFound };
    let section = markdown.span(heading.line..markdown.section(&heading).end);
    let said = text[section].to_lowercase();
    match (BAD.iter().any(|word| said.contains(word)), GOOD.iter().any(|word| said.contains(word))) {
        (true, _) => SelfCheck::Failed,
        (false, true) => SelfCheck::Passed,
        (false, false) => SelfCheck::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_compared_with_existing_files() {
        let text = "# S\n`src/a.ts` and `src/none.ts`, `https://x/y.md`\n- Created: src/z.ts (new)\n1. `abc1234` defaced\n\
            ## Self-Check: PASSED\n";
        let report = |count| check(text, count, |file| file == "src/a.ts", |hash| hash == "abc1234");
        assert_eq!(report(9).checks.files_created.missing, ["src/none.ts", "src/z.ts"]);
        assert!(!report(2).passed && report(1).passed);
        assert!(report(1).checks.commits_exist && report(1).errors.is_empty());
        assert_eq!(report(1).checks.self_check, SelfCheck::Passed);
    }

    #[test]
    fn files_that_a_summary_does_not_claim_are_not_checked() {
        let checked = |text: &str| check(text, 9, |_| false, |_| false).checks.files_created.checked;
        for claim in [
            "- `src/a.ts`",
            "Created: src/a.ts",
            "- **Modified:** src/a.ts",
            "We created `src/a.ts`, willingly",
            "| `src/a.ts` | created |",
        ] {
            assert_eq!(checked(claim), 1, "{claim}");
        }
        for other in [
            "Later we will edit `src/a.ts`.",
            "- `src/a.ts` is to be written by the next plan",
            "- `src/a.ts` has to be split",
            "Created src/a.ts in prose",
            "Uses src/a.ts",
            "- Will be wired in `src/a.ts`",
            "`src/a.ts` is planned for a later phase.",
            "`src/a.ts` belongs to a future milestone",
            "`src/a.ts` was deferred",
            "- `src/a.ts`: left for the next plan",
            "`src/a.ts` is not yet there",
        ] {
            assert_eq!(checked(other), 0, "{other}");
        }
        assert_eq!(checked("Added `src/a.ts`\n\nPlan 3 will add `src/b.ts`\n"), 1);
        assert_eq!(checked("Added `src/a.ts`. `src/b.ts` is planned for a later phase.\n"), 1);
        assert_eq!(checked("Added `src/a.ts` as planned in the phase\n"), 1);
    }

    #[test]
    fn missing_commits_are_reported_and_do_not_fail() {
        let report = check("abc1234", 2, |_| true, |_| false);
        assert!(report.passed && report.errors.len() == 1);
        assert!(check("", 2, |_| false, |_| false).errors.is_empty());
    }

    #[test]
    fn task_commits_are_read_below_their_heading() {
        let text = "---\nplan_head_before: 1234567\n---\n# S\n\n## Task Commits\n1. **Task 1: a** - `abc1234` (feat)\n2. b: `def5678`\n\n\
            ## Issues\n`0000001` was there before\n";
        assert_eq!(task_commits(text).hashes, ["abc1234", "def5678"]);
        assert!(task_commits("# S\n`abc1234`\n").hashes.is_empty());
        assert_eq!(task_commits("# S\n## Task Commits\n1. a - `deadbee`\n").hashes, ["deadbee"]);
    }

    #[test]
    fn a_commit_of_a_task_is_read_however_it_is_written() {
        for (line, hash) in [
            ("1. **Task 1** - deadbee1 (feat)", "deadbee1"),
            ("1. Task 1 (deadbeef)", "deadbeef"),
            ("1. Task 1: **deadbee**", "deadbee"),
            ("| 1 | deadbeef |", "deadbeef"),
            ("1. Task 1: [deadbeef](https://github.com/a/b/commit/deadbeef)", "deadbeef"),
            ("1. Task 1: `deadbee...`", "deadbee"),
        ] {
            for heading in ["## Task Commits", "## Commits", "**Task Commits**", "**Task Commits:**"] {
                let text = format!("# S\n\n{heading}\n\n{line}\n\n## Next\n\n`0000001`\n");
                assert_eq!(task_commits(&text), TaskCommits { hashes: vec![hash], placeholders: vec![] }, "{text}");
            }
        }
        for (line, placeholder) in [
            ("1. Task 1: TBD", Some("TBD")),
            ("1. **Task 1: [name]** - `[hash]`", Some("[hash]")),
            ("1. Task 1: `xyz1234`", Some("xyz1234")),
            ("1. Task 1: a checkpoint, nothing to commit", None),
            ("1. Task 1 on 20260101, 1234567 rows, defaced", None),
            ("_Tasks may have several commits (TBD)_", None),
        ] {
            let text = format!("# S\n\n## Task Commits\n\n{line}\n");
            let found = task_commits(&text);
            assert_eq!((found.hashes.len(), found.placeholders.first().copied()), (0, placeholder), "{line}");
        }
    }

    #[test]
    fn a_file_is_named_wherever_a_summary_lists_it() {
        for text in [
            "---\nkey-files:\n  created: [src/a.js]\n---\n",
            "---\nkey-files:\n  deleted: [src/a.js]\n---\n",
            "---\nkey_files: [src/a.js]\n---\n",
            "---\nkey-files:\n  - path: src/a.js\n    why: x\n---\n",
            "---\nkey-files:\n  modified:\n    - src/*.js\n---\n",
            "# S\n\n## Files Created/Modified\n\n- `src/a.js` - helper\n\n## Next\n",
            "# S\n\n**Files Modified:**\n\n- src/a.js (new)\n",
        ] {
            assert!(named_files(text).iter().any(|name| is_named(name, "src/a.js")), "{text}");
        }
        for text in [
            "---\nkey-files:\n  created: [src/*, '*', '**/*.js', src/]\n---\n",
            "# S\n\n## Decisions\n\n- `src/a.js` stays\n",
        ] {
            assert!(!named_files(text).iter().any(|name| is_named(name, "src/a.js")), "{text}");
        }
        assert!(!is_named("src/*.js", "src/b/a.js") && is_named("src/**/*.js", "src/b/a.js"));
    }

    #[test]
    fn the_self_check_is_read_from_its_section() {
        let said = |text: &str| check(text, 2, |_| true, |_| true).checks.self_check;
        assert_eq!(said("## Self Check\n\nall pass\n## Next\nfailed"), SelfCheck::Passed);
        assert_eq!(said("## Self-Check\n- ✗ not done\n- ✓ done"), SelfCheck::Failed);
        assert_eq!(said("## Self-Check\nnothing"), SelfCheck::NotFound);
        assert_eq!(said("passed"), SelfCheck::NotFound);
    }
}
