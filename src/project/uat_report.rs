//! UAT.md and VERIFICATION.md as lists: the tests with their results, and the gaps.

use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::{LineKind, Markdown};
use crate::text::table::Table;

use super::deferred::list_entry;
use super::noted::noted;

/// The tests and gaps of a report. Reading never fails: a test without a result is one with the result missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UatReport {
    /// The status word of the front matter, in lower case; `unknown` if it has none.
    pub(crate) status: String,
    pub(crate) tests: Vec<UatTest>,
    pub(crate) gaps: Vec<Gap>,
    /// The headings below `Tests` that could not be read as a test.
    pub(crate) unread: Vec<String>,
    /// The checks that only a person can make.
    pub(crate) human: Vec<String>,
    /// All checks that were left to a person are done.
    pub(crate) is_checked: bool,
}

/// A test, written as `### 3. Name` with fields below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UatTest {
    pub(crate) number: u64,
    pub(crate) name: String,
    /// The word in lower case, without the text that a person wrote around it; `None` without a result.
    pub(crate) result: Option<String>,
    pub(crate) expected: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) blocked_by: Option<String>,
}

/// A known gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// For example `G-01-1`.
    pub(crate) id: Option<String>,
    pub(crate) truth: String,
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
    pub(crate) test: Option<u64>,
}

impl UatTest {
    /// It did not pass and was not skipped.
    pub(crate) fn is_open(&self) -> bool {
        !self.result.as_deref().is_some_and(|result| is_pass(result) || result == "skipped")
    }
}

impl Gap {
    fn is_open(&self) -> bool {
        !self.truth.is_empty() && !SETTLED.contains(&self.status.as_str())
    }
}

/// The front matter key that marks the open items of an artifact as known.
pub(crate) const ACKNOWLEDGED: &str = "audit_acknowledged";

/// The key below [`ACKNOWLEDGED`] with the state of the report at that time.
pub(crate) const SNAPSHOT: &str = "gap_snapshot";

/// The status words of a closed gap.
const SETTLED: &[&str] = &["resolved", "closed", "fixed", "passed", "verified"];

/// Words that a person writes after a check that passed, in addition to those of a closed gap.
const PASSED: &[&str] = &["pass", "ok", "done", "approved", "✓", "✔", "✅", "☑"];

/// The words for the result of a test.
const RESULTS: &[&str] = &["pass", "passed", "pending", "blocked", "skipped", "issue", "failed"];

/// Whether the result of a test, as in [`UatTest::result`], means that it passed.
pub(crate) fn is_pass(result: &str) -> bool {
    matches!(result, "pass" | "passed")
}

/// The word of a result, and the note after it. A result without a known word is kept as it is; a check mark means that
/// the test passed.
fn result(value: &str) -> (String, Option<String>) {
    if let Some((word, behind)) = noted(value, RESULTS) {
        // The later result is after the arrow.
        if let Some(later) = ["→", "->", "=>"].iter().find_map(|arrow| behind.trim_start().strip_prefix(arrow))
            && noted(later, RESULTS).is_some()
        {
            return result(later);
        }
        let is_sign = |sign: char| {
            sign.is_whitespace() || matches!(sign, '*' | '_' | '`' | ']' | ')' | '—' | '–' | '-' | ':' | ',')
        };
        let note = behind.trim_start_matches(is_sign).trim_end();
        return (word.to_owned(), Some(note.to_owned()).filter(|note| !note.is_empty()));
    }
    if noted(value, PASSED).is_some() {
        return ("pass".to_owned(), None);
    }
    (value.trim().trim_matches(['[', ']']).trim().to_lowercase(), None)
}

/// The words for a status in a table.
const KNOWN: &[&str] = &[
    "resolved",
    "closed",
    "fixed",
    "passed",
    "verified",
    "failed",
    "partial",
    "open",
    "pending",
    "blocked",
    "skipped",
    "issue",
    "human_needed",
];

impl UatReport {
    pub(crate) fn parse(text: &str) -> Self {
        let markdown = Markdown::parse(text);
        let front = FrontMatter::of(&markdown);
        let status = front.as_ref().and_then(|front| front.text("status"));
        let listed = front.as_ref().and_then(|front| front.get("gaps"));
        let mut gaps: Vec<Gap> = listed.iter().flat_map(Value::items).map(gap).collect();
        gaps.extend(gaps_of_section(&markdown));
        gaps.extend(gaps_of_table(&markdown));
        gaps.retain(Gap::is_open);
        let human = front.as_ref().and_then(|front| front.get("human_verification"));
        let mut human: Vec<String> = human.iter().flat_map(Value::items).map(Value::flat).collect();
        let mut is_checked = false;
        if human.is_empty() {
            let section = human_section(&markdown);
            is_checked = section.iter().any(|check| check.0) && section.iter().all(|check| check.0);
            human = section.into_iter().filter(|check| !check.0).map(|check| check.1).collect();
        }
        let mut tests = tests(&markdown);
        if tests.is_empty() {
            tests = tests_of_tables(&markdown);
        }
        let unread = unread_tests(&markdown, &tests);
        Self {
            unread,
            status: status.map_or_else(|| "unknown".to_owned(), |status| status_word(&status)),
            tests,
            gaps,
            human,
            is_checked,
        }
    }

    /// The state of this report to store in an acknowledgement, so that the report is open again once the state
    /// differs.
    pub(crate) fn snapshot(&self) -> String {
        format!("{}::scenarios={}", self.status, self.pending())
    }

    /// Whether the front matter acknowledges the open items of the report in their current state.
    pub(crate) fn is_known(&self, front: Option<&FrontMatter<'_>>) -> bool {
        let note = front.and_then(|front| front.get_path(&[ACKNOWLEDGED, SNAPSHOT]));
        note.as_ref().and_then(Value::as_text).is_some_and(|known| known == self.snapshot())
    }

    /// As [`Self::is_known`], from the text of the report: most do not contain the word and need no parsing.
    pub(crate) fn is_known_in(&self, text: &str) -> bool {
        text.contains(ACKNOWLEDGED) && self.is_known(FrontMatter::of_keys(text, &[ACKNOWLEDGED]).as_ref())
    }

    /// How many tests are still pending.
    pub(crate) fn pending(&self) -> usize {
        self.tests.iter().filter(|test| test.result.as_deref() == Some("pending")).count()
    }
}

fn tests(markdown: &Markdown<'_>) -> Vec<UatTest> {
    let headings: Vec<_> = markdown.headings().collect();
    let mut tests = Vec::new();
    for (index, heading) in headings.iter().enumerate().filter(|(_, heading)| (2..=5).contains(&heading.level)) {
        let plain = numbered(heading.title).filter(|_| heading.level == 3);
        let end = headings.get(index + 1).map_or(markdown.lines().len(), |next| next.line);
        let lines: Vec<&str> = (heading.line + 1..end).map(|line| markdown.line(line)).collect();
        let field = |key: &str| field(&lines, key).or_else(|| marked_field(&lines, key));
        // A heading in another form is a test if its result is below it.
        let other = || numbered_otherwise(heading.title).filter(|_| field("result").is_some());
        let Some((number, name)) = plain.or_else(other) else { continue };
        let said = field("result").map(|value| result(value.lines().next().unwrap_or_default()));
        let (result, note) = said.unzip();
        tests.push(UatTest {
            number,
            name: name.to_owned(),
            result: result.filter(|result| !result.is_empty()),
            expected: field("expected"),
            reason: field("reason").or(note.flatten()),
            blocked_by: field("blocked_by"),
        });
    }
    tests
}

/// The tests of a report that lists them in tables: one column has their names, another their results.
fn tests_of_tables(markdown: &Markdown<'_>) -> Vec<UatTest> {
    let headings: Vec<_> = markdown.headings().collect();
    let is_of_tests = |line: usize| {
        let heading = headings.iter().rfind(|heading| heading.line < line);
        heading.is_some_and(|heading| {
            let title = heading.title.to_lowercase();
            !title.is_ascii() || ["test", "result", "scenario", "uat"].iter().any(|word| title.contains(word))
        })
    };
    let mut tests = Vec::new();
    for table in Table::all(markdown).iter().filter(|table| is_of_tests(table.lines().start)) {
        let column = |names: &[&str]| names.iter().find_map(|name| table.column(name));
        let name = column(&["test", "name", "scenario", "check", "deliverable", "criterion"]);
        let Some((name, said)) = name.zip(column(&["result", "status"])) else { continue };
        let (number, expected, reason) =
            (column(&["#", "no", "no.", "id"]), column(&["expected"]), column(&["reason"]));
        for row in 0..table.row_count() {
            let cell = |column: Option<usize>| {
                column.map(|column| table.cell_text(row, column)).filter(|text| !text.is_empty())
            };
            let Some(name) = cell(Some(name)) else { continue };
            let (result, note) = cell(Some(said)).map(|said| result(&said)).unzip();
            tests.push(UatTest {
                number: cell(number).and_then(|text| text.parse().ok()).unwrap_or(tests.len() as u64 + 1),
                name,
                result: result.filter(|result| !result.is_empty()),
                expected: cell(expected),
                reason: cell(reason).or(note.flatten()),
                blocked_by: None,
            });
        }
    }
    tests
}

/// The headings of the section `Tests`, in any language, below which no test was read.
fn unread_tests(markdown: &Markdown<'_>, tests: &[UatTest]) -> Vec<String> {
    let mut is_inside = false;
    let mut unread = Vec::new();
    for heading in markdown.headings() {
        if heading.level <= 2 {
            is_inside = heading.title.eq_ignore_ascii_case("Tests") || !heading.title.is_ascii();
        } else if is_inside && heading.level == 3 {
            let is_of = |test: &UatTest| !test.name.is_empty() && heading.title.ends_with(&test.name);
            let has_text = markdown.lines().get(heading.line + 1).is_some_and(|line| line.kind != LineKind::Blank);
            if has_text && !tests.iter().any(is_of) && numbered(heading.title).is_none() {
                unread.push(heading.title.to_owned());
            }
        }
    }
    unread
}

/// `3` and `Name` for `3. Name`.
fn numbered(title: &str) -> Option<(u64, &str)> {
    let (number, name) = title.split_once('.')?;
    Some((number.parse().ok()?, name.trim()))
}

/// The number and the name of a test in a heading such as `Test 3: Name`, `3) Name`, `#3 Name` or `3 - Name`.
fn numbered_otherwise(title: &str) -> Option<(u64, &str)> {
    let is_sign = |sign: char| !sign.is_alphanumeric();
    let bare = title.trim_start_matches(is_sign);
    // The word for a test may be in any language.
    let word = bare.find(|letter: char| !letter.is_alphabetic()).unwrap_or(0);
    let rest = bare[word..].trim_start_matches(is_sign);
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let name = &rest[end..];
    let is_apart = !name.starts_with(char::is_alphanumeric);
    let number = rest[..end].parse().ok().filter(|_| is_apart)?;
    let name = name.trim_start_matches(is_sign).trim_end();
    (!name.is_empty() || bare[..word].eq_ignore_ascii_case("test")).then_some((number, name))
}

/// As [`field`], for a line such as `- **Result:** pass`.
fn marked_field(lines: &[&str], key: &str) -> Option<String> {
    lines.iter().find_map(|line| {
        let bare = line.trim_start_matches(|sign: char| sign.is_whitespace() || matches!(sign, '-' | '*' | '+' | '_'));
        let rest = bare.get(..key.len()).filter(|word| word.eq_ignore_ascii_case(key)).map(|_| &bare[key.len()..])?;
        let value = rest.trim_start_matches(['*', '_']).strip_prefix([':', '：'])?;
        Some(value.trim_start_matches(['*', '_']).trim().to_owned()).filter(|value| !value.is_empty())
    })
}

fn gap(value: &Value) -> Gap {
    let text = |key: &str| Some(value.get(key)?.flat()).filter(|text| !text.trim().is_empty());
    Gap {
        id: text("gap_id").or_else(|| text("id")).map(|id| id.trim().to_owned()),
        truth: text("truth").unwrap_or_else(|| value.as_text().unwrap_or_default().to_owned()),
        status: gap_status(&text("status").unwrap_or_default()),
        reason: text("reason"),
        test: text("test").and_then(|test| test.trim().parse().ok()),
    }
}

/// The word of a report's status, or the value itself if it is not a known one.
fn status_word(value: &str) -> String {
    const STATUSES: &[&str] =
        &["testing", "partial", "complete", "diagnosed", "resolved", "passed", "gaps_found", "human_needed"];
    let word = noted(value, STATUSES).filter(|(_, behind)| !behind.trim_start().starts_with(char::is_alphanumeric));
    word.map_or_else(|| value.trim().to_lowercase(), |(word, _)| word.to_owned())
}

/// The word of a gap's status, or the value itself if it is not a known one.
fn gap_status(value: &str) -> String {
    noted(value, KNOWN).map_or_else(|| value.trim().to_lowercase(), |(word, _)| word.to_owned())
}

/// The gaps written as a list of maps under the heading `Gaps`, in the same format as in front matter.
fn gaps_of_section(markdown: &Markdown<'_>) -> Vec<Gap> {
    let Some((_, lines)) = markdown.section_named("Gaps") else { return Vec::new() };
    let inside = &markdown.text()[markdown.span(lines)];
    let is_truth = |line: &str| line.trim_start_matches([' ', '\t', '-']).starts_with("truth:");
    if !inside.lines().any(is_truth) {
        return Vec::new();
    }
    let kept = inside.lines().filter(|line| line.starts_with([' ', '\t']) || line.starts_with("- "));
    let listed: Vec<String> = kept.map(|line| format!("  {}", line.trim_end())).collect();
    let text = format!("---\ngaps:\n{}\n---\n", listed.join("\n"));
    let value = FrontMatter::parse(&text).and_then(|front| front.get("gaps"));
    value.iter().flat_map(Value::items).map(gap).collect()
}

/// The gaps written as rows of a table under the heading `Gaps`. Without a column called `truth`, a row is one text.
fn gaps_of_table(markdown: &Markdown<'_>) -> Vec<Gap> {
    let Some((_, lines)) = markdown.section_named("Gaps") else { return Vec::new() };
    let mut gaps = Vec::new();
    let tables: Vec<Table<'_>> = Table::all(markdown);
    let is_in_table = |line: usize| tables.iter().any(|table| table.lines().contains(&line));
    for line in lines.clone().filter(|line| markdown.is_prose(*line) && !is_in_table(*line)) {
        gaps.extend(bare_row(markdown.line(line)));
    }
    for table in tables.iter().filter(|table| lines.contains(&table.lines().start)) {
        let column = |name: &str| table.column(name);
        let (truth, status, reason, test) = (column("truth"), column("status"), column("reason"), column("test"));
        for row in 0..table.row_count() {
            let cell = |column: Option<usize>| {
                column.map(|column| table.cell_text(row, column)).filter(|text| !text.is_empty())
            };
            let whole = || {
                let cells = (0..table.columns().len()).map(|column| table.cell_text(row, column));
                cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" — ")
            };
            let said = gap_status(&cell(status).unwrap_or_default());
            gaps.push(Gap {
                id: cell(column("gap_id").or_else(|| column("id"))),
                truth: if truth.is_some() { cell(truth).unwrap_or_default() } else { whole() },
                // The words in a column for people are not always among those for programs.
                status: if KNOWN.contains(&said.as_str()) { said } else { "unknown".to_owned() },
                reason: cell(reason),
                test: cell(test).and_then(|test| test.trim_start_matches('#').parse().ok()),
            });
        }
    }
    gaps
}

/// A row of a table without a header: the meaning of its cells is unknown, except that one may be a settled status.
fn bare_row(line: &str) -> Option<Gap> {
    let inside = line.trim().strip_prefix('|')?;
    let bare = |cell: &str| cell.replace("\\|", "|").trim().trim_matches('*').trim().to_owned();
    let mut cells: Vec<String> = Vec::new();
    let mut from = 0;
    for (at, _) in inside.match_indices('|').filter(|(at, _)| !inside[..*at].ends_with('\\')) {
        cells.push(bare(&inside[from..at]));
        from = at + 1;
    }
    cells.push(bare(&inside[from..]));
    cells.retain(|cell| !cell.is_empty());
    let is_rule = cells.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':')));
    let settled = cells.iter().map(|cell| cell.to_lowercase()).find(|cell| SETTLED.contains(&cell.as_str()));
    (!is_rule).then(|| Gap {
        id: None,
        truth: cells.join(" — "),
        status: settled.unwrap_or_else(|| "unknown".to_owned()),
        reason: None,
        test: None,
    })
}

/// The checks for a person below the heading `Human Verification`, and whether each was done: the numbered headings, or
/// else the rows of tables with a result, and the list entries, by their boxes.
fn human_section(markdown: &Markdown<'_>) -> Vec<(bool, String)> {
    let headings: Vec<_> = markdown.headings().collect();
    let start = headings.iter().position(|heading| heading.title.to_lowercase().starts_with("human verification"));
    let Some(start) = start else { return Vec::new() };
    let below = headings[start + 1..].iter();
    let named: Vec<(bool, String)> =
        below.map_while(|heading| numbered(heading.title)).map(|(_, name)| (false, name.to_owned())).collect();
    if !named.is_empty() {
        return named;
    }
    let section = markdown.section(&headings[start]);
    let tables: Vec<Table<'_>> =
        Table::all(markdown).into_iter().filter(|table| section.contains(&table.lines().start)).collect();
    let mut checks: Vec<(bool, String)> = tables.iter().flat_map(human_rows).collect();
    let is_in_table = |line: &usize| tables.iter().any(|table| table.lines().contains(line));
    let lines = section.filter(|line| markdown.is_prose(*line) && !is_in_table(line));
    let entries = lines.filter_map(|line| list_entry(markdown.line(line)));
    checks.extend(entries.filter(|(_, text)| !text.is_empty()).map(|(ticked, text)| (ticked, text.to_owned())));
    checks
}

/// The rows of a table of checks. A table without a column for results does not show what was checked and is skipped.
fn human_rows(table: &Table<'_>) -> Vec<(bool, String)> {
    let column = |names: &[&str]| names.iter().find_map(|name| table.column(name));
    let Some(result) = column(&["result", "status", "outcome"]) else { return Vec::new() };
    let name =
        column(&["test", "check", "name", "item", "behavior", "behaviour", "what"]).filter(|name| *name != result);
    let name = name.or_else(|| (0..table.columns().len()).find(|at| *at != result && table.columns()[*at] != "#"));
    let row = |row: usize| {
        let said = table.cell_text(row, result);
        let is_checked = noted(&said, PASSED).or_else(|| noted(&said, SETTLED)).is_some();
        (is_checked, name.map(|name| table.cell_text(row, name)).unwrap_or_default())
    };
    (0..table.row_count()).map(row).filter(|(_, name)| !name.is_empty()).collect()
}

/// The value of `key: value` among the lines, if it is not empty.
pub(super) fn field(lines: &[&str], key: &str) -> Option<String> {
    let at = lines.iter().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))?;
    Some(value(lines[at][key.len() + 1..].trim(), &lines[at + 1..])).filter(|value| !value.is_empty())
}

/// The value of a field: the text after the colon, and the indented lines below it.
fn value(first: &str, below: &[&str]) -> String {
    let is_block = first.starts_with(['|', '>']) && first[1..].bytes().all(|byte| matches!(byte, b'-' | b'+'));
    let is_inside = |line: &&&str| line.starts_with([' ', '\t']) || line.trim().is_empty();
    let inside: Vec<&str> = below.iter().take_while(is_inside).copied().collect();
    let margin = |line: &&str| line.len() - line.trim_start().len();
    let common = inside.iter().filter(|line| !line.trim().is_empty()).map(margin).min().unwrap_or(0);
    let mut lines: Vec<&str> = inside.iter().map(|line| line.get(common..).unwrap_or("").trim_end()).collect();
    if !is_block {
        lines.insert(0, unquoted(first));
    }
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "---\r\nstatus: Partial\r\n---\r\n\r\n### 1. A\r\nexpected: |\r\n  two\r\n  lines\r\nresult: [pending]\r\n\r\n\
        ### 2. B\r\nresult: issue\r\n\r\n### 3. C\r\n\r\n### Not a test\r\nresult: pending\r\n\r\n## Gaps\r\n\r\n- truth: \"Mail arrives\"\r\n\
        \x20 status: failed\r\n  reason: \"User: no mail\"\r\n  test: 2\r\n- truth: old\r\n  status: resolved\r\n";

    #[test]
    fn a_table_of_checks_that_all_passed_leaves_nothing_to_a_person() {
        let table = |second: &str| {
            let rows = format!("| 1 | The page opens | ✅ pass |\n| 2 | Mail arrives | {second} |\n");
            let text = format!("## Human Verification\n\n| # | Check | Result |\n|---|---|---|\n{rows}");
            let report = UatReport::parse(&text);
            (report.human, report.is_checked)
        };
        assert_eq!(table("**PASSED**"), (vec![], true));
        assert_eq!(table("pending"), (vec!["Mail arrives".to_owned()], false));
        assert_eq!(table("passed on"), (vec![], true));
        let none = UatReport::parse("## Human Verification\n\nSomebody should look.\n");
        assert!(none.human.is_empty() && !none.is_checked);
    }

    #[test]
    fn tests_may_be_rows_of_a_table() {
        let text = "# UAT\n\n## Tests\n\n| # | Test | Expected | Result |\n|---|---|---|---|\n| 1 | Log in | in | ✅ pass |\n\
            | 3 | Log out | out | issue: stays in |\n| 4 | Export | a file | |\n\n## Summary\n\n| Test | Status |\n|---|---|\n| all | 3 |\n";
        let tests = UatReport::parse(text).tests;
        let said: Vec<_> = tests.iter().map(|test| (test.number, test.name.as_str(), test.result.as_deref())).collect();
        assert_eq!(said, [(1, "Log in", Some("pass")), (3, "Log out", Some("issue")), (4, "Export", None)]);
        assert_eq!(tests[1].reason.as_deref(), Some("stays in"));
        assert!(UatReport::parse(&text.replace("## Tests", "## Gaps").replace("# UAT", "# A")).tests.is_empty());
    }

    #[test]
    fn a_note_after_a_result_or_a_status_does_not_reopen_it() {
        for note in ["", " — checked 2026-08-21", " (2026-07-31): all good", " with one finding, fixed", ": ok"] {
            for (word, expected) in [
                ("pass", "pass"),
                ("PASSED", "passed"),
                ("**pass**", "pass"),
                ("✅ pass", "pass"),
                ("[pending]", "pending"),
                ("skipped", "skipped"),
                ("**Blocked**", "blocked"),
            ] {
                let report = UatReport::parse(&format!("### 1. T\nresult: {word}{note}\n"));
                assert_eq!(report.tests[0].result.as_deref(), Some(expected), "{word}{note}");
            }
            let text = format!("## Gaps\n\n- truth: a\n  status: RESOLVED{note}\n- truth: b\n  status: failed{note}\n");
            let gaps = UatReport::parse(&text).gaps;
            assert_eq!(gaps.iter().map(|gap| gap.truth.as_str()).collect::<Vec<_>>(), ["b"], "{note}");
        }
        for (value, expected) in
            [("✅", "pass"), ("ok", "pass"), ("pass | issue", "pass | issue"), ("not yet", "not yet")]
        {
            let report = UatReport::parse(&format!("### 1. T\nresult: {value}\n"));
            assert_eq!(report.tests[0].result.as_deref(), Some(expected));
        }
        let skipped = UatReport::parse("### 1. T\nresult: skipped — no device here\n");
        assert_eq!(skipped.tests[0].reason.as_deref(), Some("no device here"));
    }

    #[test]
    fn a_test_is_read_in_each_form_that_people_use() {
        for heading in
            ["### 3. Mail", "### Test 3: Mail", "## 3) Mail", "#### #3 Mail", "### 3 - Mail", "### **3:** Mail"]
        {
            for field in ["result: issue", "**Result:** issue", "- result: Issue", "* **result**: pass → issue"] {
                let report = UatReport::parse(&format!("## Tests\n\n{heading}\nexpected: x\n{field}\n"));
                let test = report.tests.first().unwrap_or_else(|| panic!("{heading} {field}"));
                let found = (test.number, test.name.as_str(), test.result.as_deref());
                assert_eq!(found, (3, "Mail", Some("issue")), "{heading} {field}");
            }
        }
        let none =
            UatReport::parse("## Summary\n\ntotal: 3\n\n## 2026-01-02\n\n- first look\n\n## Phase 3\nresult: pass\n");
        assert_eq!(none.tests, []);
        assert_eq!(UatReport::parse("### 1. T\nresult: issue → pass\n").tests[0].result.as_deref(), Some("pass"));
    }

    #[test]
    fn tests_have_results_and_gaps_have_reasons() {
        let report = UatReport::parse(TEXT);
        assert_eq!((report.status.as_str(), report.pending(), report.tests.len()), ("partial", 1, 3));
        assert_eq!(report.tests[0].expected.as_deref(), Some("two\nlines"));
        assert_eq!(report.tests[2].result, None);
        let gap = Gap {
            id: None,
            truth: "Mail arrives".into(),
            status: "failed".into(),
            reason: Some("User: no mail".into()),
            test: Some(2),
        };
        assert_eq!(report.gaps, [gap]);
    }

    #[test]
    fn a_gap_may_begin_with_its_identifier() {
        let text = "## Gaps\n\n```yaml\n- gap_id: G-02-1\n  truth: \"Mail arrives\"\n  status: failed            # resolved after \
            the fix\n  test: 3\n- gap_id: G-02-2\n  truth: \"It rings\"\n  status: resolved\n```\n";
        let gaps = UatReport::parse(text).gaps;
        assert_eq!(gaps.len(), 1);
        assert_eq!((gaps[0].id.as_deref(), gaps[0].status.as_str(), gaps[0].test), (Some("G-02-1"), "failed", Some(3)));
    }

    #[test]
    fn checks_for_a_person_are_in_front_matter_or_below_a_heading() {
        let body = "## Human Verification Required\n\n### 1. Look\n**Test:** x\n\n### 2. Listen\n\n## Gaps Summary\n\n### 3. No\n";
        assert_eq!(UatReport::parse(body).human, ["Look", "Listen"]);
        let front = format!("---\nhuman_verification:\n  - test: T\n    expected: E\n---\n{body}");
        assert_eq!(UatReport::parse(&front).human, ["test: T, expected: E"]);
        assert_eq!(UatReport::parse("").status, "unknown");
    }

    #[test]
    fn checks_for_a_person_may_be_a_list() {
        let human = |body: &str| UatReport::parse(&format!("---\nhuman_verification: []\n---\n{body}")).human;
        let listed = "## Human Verification Required\n\n1. Look\n   closely\n2. Listen\n- [x] Smell\n- [ ] Feel\n\n## Gaps\n- no\n";
        assert_eq!(human(listed), ["Look", "Listen", "Feel"]);
        assert_eq!(human("## Human Verification\n### 1. Look\n- expected: x\n"), ["Look"]);
        assert_eq!(human("## Human Verification\n```\n- code\n```\nNone.\n"), [""; 0]);
    }

    #[test]
    fn gaps_may_be_rows_of_a_table() {
        let told = |table: &str| {
            let text =
                format!("## Gaps\n- truth: Listed\n  status: failed\n\n{table}\n## Later\n| truth |\n|---|\n| no |\n");
            let gaps = UatReport::parse(&text).gaps.into_iter();
            gaps.map(|gap| (gap.truth, gap.status, gap.reason, gap.test)).collect::<Vec<_>>()
        };
        let listed = ("Listed".to_owned(), "failed".to_owned(), None, None);
        let columns = "| Truth | Status | Reason | Test |\n|---|---|---|---|\n";
        assert_eq!(
            told(&format!(
                "{columns}| A | Failed | no \\| mail | 2 |\n| B | resolved | | |\n| C | | | |\n| D | odd | | |\n"
            )),
            [
                listed.clone(),
                ("A".into(), "failed".into(), Some("no | mail".into()), Some(2)),
                ("C".into(), "unknown".into(), None, None),
                ("D".into(), "unknown".into(), None, None),
            ]
        );
        assert_eq!(
            told("| G-1 | Mail is lost | open |\n| G-2 | It rings | **Resolved** |\n| a \\| b | failed |\n"),
            [
                listed.clone(),
                ("G-1 — Mail is lost — open".into(), "unknown".into(), None, None),
                ("a | b — failed".into(), "unknown".into(), None, None),
            ],
            "a table without a header"
        );
        assert_eq!(
            told("| What | Why |\n|---|---|\n| Mail | lost |\n"),
            [listed, ("Mail — lost".into(), "unknown".into(), None, None)]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(### 1. A\n|result: |\\[pending\\]|## Gaps\n|- truth: |---\n|[ \na:|'\"])*") {
            let report = UatReport::parse(&text);
            prop_assert!(report.pending() <= report.tests.len());
        }
    }
}
