//! Reads and changes the front matter of any Markdown file of the project.
//!
//! An edit touches only the lines of its keys. The edited text is parsed again before it is returned; if any other
//! field changed, the edit is refused.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{self, FrontMatter, Value};
use crate::text::markdown::{Markdown, newline_of};
use crate::text::splice::Splices;
use crate::text::table::Table;

/// A change of one field: the new value, or `None` to remove the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldChange {
    pub(crate) key: String,
    pub(crate) value: Option<Value>,
}

/// The result of a change.
#[derive(Debug)]
pub(crate) enum Changed {
    Done,
    NoFile,
    /// The field has a list of maps, and the new value would flatten it.
    WouldFlatten {
        key: String,
    },
}

/// The front matter of a text as JSON with string values; empty without a front matter. If a key occurs twice, the last
/// value counts.
pub(crate) fn read(text: &str) -> Value {
    let mut entries: Vec<(String, Value)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (key, value) in FrontMatter::parse(text).map(|front| front.entries()).unwrap_or_default() {
        if let Some(place) = places.get(&key) {
            entries[*place].1 = value;
        } else {
            places.insert(key.clone(), entries.len());
            entries.push((key, value));
        }
    }
    Value::Map(entries)
}

/// Parses a value typed for `frontmatter set`: as JSON if it is valid JSON, else as text. A number keeps its digits.
pub(crate) fn typed(text: &str) -> (serde_json::Value, Option<Value>) {
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Number(number)) => (number.into(), Some(Value::Text(text.trim().to_owned()))),
        Ok(json) => {
            let value = of_json(&json);
            (json, value)
        }
        Err(_) => (text.into(), Some(Value::Text(text.to_owned()))),
    }
}

/// Converts a JSON value to a front matter value; `None` for `null`.
pub(crate) fn of_json(json: &serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    let item = |item: &Json| of_json(item).unwrap_or_else(|| Value::Text("null".to_owned()));
    Some(match json {
        Json::Null => return None,
        Json::Bool(_) | Json::Number(_) => Value::Text(json.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(item).collect()),
        Json::Object(fields) => {
            Value::Map(fields.iter().filter_map(|(key, value)| Some((key.clone(), of_json(value)?))).collect())
        }
    })
}

/// Changes fields in the front matter of a project file. A missing front matter is created.
pub(crate) fn change(view: &ProjectView, path: &str, changes: &[FieldChange]) -> Edited<Changed, Failure> {
    let (outcome, edited) = changed(path, view.text(path)?.as_deref(), changes)?;
    let mut edits = Edits::default();
    if let Some(edited) = edited {
        edits.write(view, path, edited)?;
    }
    Ok((outcome, edits))
}

/// Applies a change to the text of any file: the result and the new text. `path` is for error messages.
pub(crate) fn changed(
    path: &str,
    text: Option<&str>,
    changes: &[FieldChange],
) -> Result<(Changed, Option<String>), Failure> {
    let Some(text) = text else { return Ok((Changed::NoFile, None)) };
    let front = FrontMatter::parse(text);
    let flattened = changes.iter().find(|change| {
        let old = front.as_ref().and_then(|front| front.get(&change.key));
        let flattens = |new: &Value| !has_maps_in_a_list(new);
        old.is_some_and(|old| has_maps_in_a_list(&old)) && change.value.as_ref().is_some_and(flattens)
    });
    if let Some(change) = flattened {
        return Ok((Changed::WouldFlatten { key: change.key.clone() }, None));
    }
    Ok((Changed::Done, Some(applied(path, text, changes)?)))
}

/// The text with changed fields. `path` is for error messages.
pub(crate) fn applied(path: &str, text: &str, changes: &[FieldChange]) -> Result<String, Failure> {
    if let Some(change) = changes.iter().find(|change| !is_name(&change.key)) {
        return Err(not_a_name(&change.key));
    }
    if front_matter::is_unclosed(text) {
        return Err(Failure::unknown(format!("the front matter of `{path}` is opened and never closed")));
    }
    let edited = match FrontMatter::parse(text) {
        Some(front) => {
            if let Some(problem) = front.problem() {
                let front_matter::Problem { line, what } = problem;
                let message = format!("the front matter of `{path}` does not parse: line {line} is {what}");
                return Err(Failure::unknown(message));
            }
            edit(text, &front, changes)
        }
        None => with_new_front_matter(text, changes),
    };
    check(path, text, &edited, changes)?;
    Ok(edited)
}

fn edit(text: &str, front: &FrontMatter<'_>, changes: &[FieldChange]) -> String {
    let mut splices = Splices::default();
    for change in changes {
        match &change.value {
            Some(value) => front.set(&change.key, value, &mut splices),
            None => front.remove(&change.key, &mut splices),
        }
    }
    splices.apply(text)
}

fn with_new_front_matter(text: &str, changes: &[FieldChange]) -> String {
    let entries: Vec<(String, Value)> =
        changes.iter().filter_map(|change| Some((change.key.clone(), change.value.clone()?))).collect();
    if entries.is_empty() {
        return text.to_owned();
    }
    let newline = newline_of(text);
    let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body));
    let gap = if body.is_empty() { "" } else { newline };
    format!("{mark}{}", front_matter::compose(&entries, &format!("{gap}{body}"), newline))
}

/// Parses the edited text again: the changed fields have the requested values, and all others and the body are
/// unchanged.
fn check(path: &str, before: &str, after: &str, changes: &[FieldChange]) -> Result<(), Failure> {
    let entries = |text: &str| FrontMatter::parse(text).map(|front| front.entries()).unwrap_or_default();
    let last = |entries: &[(String, Value)], key: &str| {
        entries.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    };
    let (old, new) = (entries(before), entries(after));
    for change in changes {
        if last(&new, &change.key).as_ref().map(as_read) != change.value.as_ref().map(as_read) {
            let key = change.key.clone();
            let sound = front_matter::compose(&[(key.clone(), Value::Text("x".into()))], "", "\n");
            return Err(match entries(&sound).as_slice() {
                [(read, _)] if *read == key => uneditable(path, &key),
                _ => not_a_name(&key),
            });
        }
    }
    let is_asked = |key: &str| changes.iter().any(|change| change.key == key);
    let kept =
        |entries: &[(String, Value)]| entries.iter().filter(|(key, _)| !is_asked(key)).cloned().collect::<Vec<_>>();
    let body = |text: &str| FrontMatter::parse(text).map_or(text.len(), |front| front.body().len());
    let same_body = FrontMatter::parse(before).is_none() || body(before) == body(after);
    if kept(&old) == kept(&new) && same_body {
        return Ok(());
    }
    let key = changes.first().map(|change| change.key.clone()).unwrap_or_default();
    Err(uneditable(path, &key))
}

fn uneditable(path: &str, key: &str) -> Failure {
    Failure::unknown(format!("the front matter of `{path}` cannot be edited safely at `{key}`"))
}

fn not_a_name(key: &str) -> Failure {
    Failure::unknown(format!("`{key}` cannot be the name of a field")).hint("name it with letters, digits, `_` and `-`")
}

/// A value as it is parsed back: an empty map and an empty value are the same.
fn as_read(value: &Value) -> Value {
    match value {
        Value::Map(entries) if entries.is_empty() => Value::Empty,
        Value::Map(entries) => Value::Map(entries.iter().map(|(key, value)| (key.clone(), as_read(value))).collect()),
        Value::List(items) => Value::List(items.iter().map(as_read).collect()),
        Value::Empty | Value::Text(_) => value.clone(),
    }
}

/// True if `key` can be the name of a field: visible characters on one line.
fn is_name(key: &str) -> bool {
    !key.trim().is_empty() && !key.contains(char::is_control)
}

fn has_maps_in_a_list(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(|item| matches!(item, Value::Map(_)) || has_maps_in_a_list(item)),
        Value::Map(entries) => entries.iter().any(|(_, value)| has_maps_in_a_list(value)),
        Value::Empty | Value::Text(_) => false,
    }
}

/// The fields that the front matter of a kind of file must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    name: &'static str,
    fields: &'static [&'static str],
}

impl Schema {
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        let found = SCHEMAS.into_iter().find(|schema| schema.name == name);
        found.ok_or_else(|| {
            let known = SCHEMAS.map(|schema| schema.name).join(", ");
            Failure::unknown(format!("unknown schema `{name}`; the schemas are {known}"))
        })
    }
}

const SCHEMAS: [Schema; 4] = [
    Schema { name: "plan", fields: PLAN_FIELDS },
    Schema { name: "plan-gap-closure", fields: GAP_PLAN_FIELDS },
    Schema { name: "summary", fields: &["phase", "plan", "subsystem", "tags", "duration", "completed"] },
    Schema { name: VERIFICATION, fields: &["phase", "verified", "status", "score"] },
];

const VERIFICATION: &str = "verification";

/// The fields that every plan must have.
pub(crate) const PLAN_FIELDS: &[&str] =
    &["phase", "plan", "type", "wave", "depends_on", "files_modified", "autonomous", "must_haves"];

/// The fields that a gap closure plan must have; the last one must be true.
const GAP_PLAN_FIELDS: &[&str] =
    &["phase", "plan", "type", "wave", "depends_on", "files_modified", "autonomous", "must_haves", GAP_CLOSURE];

const GAP_CLOSURE: &str = "gap_closure";

/// What `frontmatter validate` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrontmatterValidateReport {
    pub(crate) valid: bool,
    pub(crate) missing: Vec<&'static str>,
    pub(crate) present: Vec<&'static str>,
    /// Fields whose value the schema does not allow.
    pub(crate) invalid_value: Vec<&'static str>,
    pub(crate) schema: &'static str,
    /// Problems that make the whole file unreadable for other programs.
    pub(crate) errors: Vec<String>,
}

/// An error message if the text has a NUL byte: most programs end the document there, or do not treat it as text.
pub(crate) fn nul_byte(path: &str, text: &str) -> Option<String> {
    let at = text.find('\0')?;
    Some(format!("`{path}` holds a NUL byte at byte {at}; remove it"))
}

/// Checks the front matter of a text against a schema. `path` names the file in errors. In a verification, each
/// verified truth must name its evidence; `is_file` reports whether a file named there exists.
pub(crate) fn validate(
    path: &str,
    text: &str,
    schema: Schema,
    is_file: impl Fn(&str) -> bool,
) -> FrontmatterValidateReport {
    let front = read(text);
    let Schema { name, fields } = schema;
    let is_wrong =
        |field: &str| field == GAP_CLOSURE && front.get(field).is_some_and(|value| value.as_text() != Some("true"));
    let invalid_value: Vec<&str> = fields.iter().copied().filter(|field| is_wrong(field)).collect();
    let has = |field: &&str| front.get(field).is_some() && !invalid_value.contains(field);
    let (present, missing): (Vec<&str>, Vec<&str>) = fields.iter().copied().partition(has);
    let mut errors = Vec::from_iter(nul_byte(path, text));
    if name == VERIFICATION {
        errors.extend(unsound(path, text, is_file));
    }
    let valid = missing.is_empty() && errors.is_empty();
    FrontmatterValidateReport { valid, missing, present, invalid_value, schema: name, errors }
}

/// The errors in the verdict of a verification, apart from missing front matter.
pub(crate) fn unsound(path: &str, text: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = unproven(path, text, is_file);
    if read(text).get("status").and_then(Value::as_text).is_some_and(|status| status.trim() == "passed") {
        found.extend(contradicted(path, text));
    }
    found
}

/// The truths that a report marks as verified without evidence: a file with a line, a command, or a test.
fn unproven(path: &str, text: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let markdown = Markdown::parse(text);
    let mut found = Vec::new();
    for table in Table::all(&markdown) {
        let columns = (table.column("Truth"), table.column("Status"), table.column("Evidence"));
        let (Some(truth), Some(status), Some(evidence)) = columns else { continue };
        for row in 0..table.row_count() {
            let state = table.cell_text(row, status);
            if !state.trim_start_matches(|letter: char| !letter.is_alphanumeric()).starts_with("VERIFIED") {
                continue;
            }
            let line = table.line_of(row).map_or(0, |line| line + 1);
            let said = table.cell_text(row, evidence);
            let places: Vec<&str> = said
                .split(|letter: char| letter.is_whitespace() || "`,;()".contains(letter))
                .filter_map(place)
                .collect();
            let missing = places.iter().find(|file| !is_file(file));
            let cure = "name `path:line`, a command with its result, or a test, or change the state";
            let what = match missing {
                Some(file) => format!("names `{file}` as evidence, which does not exist; {cure}"),
                None if places.is_empty() && !said.contains('`') && !said.to_lowercase().contains("test") => {
                    format!("is VERIFIED without evidence; {cure}")
                }
                None => continue,
            };
            found.push(format!("`{path}` line {line}: the truth \"{}\" {what}", table.cell_text(row, truth)));
        }
    }
    found
}

/// The rows of a report that record a failure although its status is `passed`.
fn contradicted(path: &str, text: &str) -> Vec<String> {
    let markdown = Markdown::parse(text);
    let mut found = Vec::new();
    for table in Table::all(&markdown) {
        let of_truths = table.column("Truth").zip(table.column("Status"));
        let of_findings = table.column("Finding").zip(table.column("Verdict"));
        for (subject, state, wrong) in [(of_truths, "FAILED"), (of_findings, "GAP")]
            .into_iter()
            .filter_map(|(columns, wrong)| columns.map(|(subject, state)| (subject, state, wrong)))
        {
            for row in 0..table.row_count() {
                let said = table.cell_text(row, state).to_uppercase();
                if said.trim_start_matches(|letter: char| !letter.is_alphanumeric()).starts_with(wrong) {
                    let line = table.line_of(row).map_or(0, |line| line + 1);
                    let subject = table.cell_text(row, subject);
                    found.push(format!(
                        "`{path}` line {line}: the status is `passed`, and \"{subject}\" is {said}; set `status: gaps_found`, or \
                         correct the row"
                    ));
                }
            }
        }
    }
    found
}

/// The file in a reference such as `src/a.ts:12`.
fn place(word: &str) -> Option<&str> {
    let (file, line) = word.split_once(':')?;
    let is_line = line.starts_with(|first: char| first.is_ascii_digit());
    let is_path = file.rsplit('/').next().is_some_and(|name| name.contains('.')) && !file.contains(['*', '{']);
    (is_line && is_path && !file.starts_with("http")).then_some(file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn changed(text: &str, changes: &[(&str, &str)]) -> Result<String, Failure> {
        let view = ProjectView::of([("a.md", text)]);
        let changes: Vec<FieldChange> =
            changes.iter().map(|(key, value)| FieldChange { key: (*key).to_owned(), value: typed(value).1 }).collect();
        match change(&view, "a.md", &changes)? {
            (Changed::Done, edits) => Ok(edits.texts.get("a.md").cloned().unwrap_or_else(|| text.to_owned())),
            (Changed::NoFile, _) => panic!("the file is there"),
            (Changed::WouldFlatten { key }, _) => Ok(format!("flattens {key}")),
        }
    }

    #[test]
    fn a_truth_is_verified_only_by_checkable_evidence() {
        let errors = |state: &str, evidence: &str| {
            let text = format!(
                "---\nphase: 1\nverified: x\nstatus: passed\nscore: 1/1\n---\n### Observable Truths\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n\
                 | 1 | Notes are kept | {state} | {evidence} |\n"
            );
            let schema = Schema::named("verification").unwrap();
            validate("V.md", &text, schema, |file| file == "src/a.ts").errors
        };
        for evidence in [
            "src/a.ts:12",
            "`src/a.ts:12-30`, read",
            "`npm test` passes",
            "test \"keeps notes\" passes",
            "`keeps_notes`",
        ] {
            assert!(errors("✓ VERIFIED", evidence).is_empty(), "{evidence}");
        }
        for evidence in ["", "looks right", "see the SUMMARY", "src/none.ts:3", "`src/none.ts:3`"] {
            let found = errors("VERIFIED", evidence);
            assert!(
                found.len() == 1 && found[0].starts_with("`V.md` line 10: the truth \"Notes are kept\""),
                "{evidence}: {found:?}"
            );
        }
        for state in ["PRESENT_BEHAVIOR_UNVERIFIED", "UNCERTAIN", "PASSED (override)"] {
            assert!(errors(state, "").is_empty(), "{state}");
        }
    }

    #[test]
    fn a_passed_report_must_have_no_failed_row() {
        let errors = |status: &str, table: &str| {
            let text = format!("---\nphase: 1\nverified: x\nstatus: {status}\nscore: 1/1\n---\n{table}\n");
            validate("V.md", &text, Schema::named("verification").unwrap(), |_| true).errors
        };
        let truths =
            "| # | Truth | Status | Evidence |\n|---|---|---|---|\n| 1 | Notes are kept | ✗ FAILED | `a.rs:1` |";
        let findings =
            |verdict: &str| format!("| Finding | Place | Verdict |\n|---|---|---|\n| CR-01 | `a.rs:1` | {verdict} |");
        assert!(
            errors("passed", truths)[0].starts_with("`V.md` line 9: the status is `passed`, and \"Notes are kept\"")
        );
        assert_eq!(errors("passed", &findings("gap")).len(), 1);
        for verdict in ["refuted: the guard is there", "fixed: abc1234"] {
            assert!(errors("passed", &findings(verdict)).is_empty(), "{verdict}");
        }
        assert!(errors("gaps_found", truths).is_empty() && errors("gaps_found", &findings("gap")).is_empty());
    }

    #[test]
    fn fields_are_set_added_and_removed() {
        let text = "---\na: 1 # one\nb: [x]\nc:\n  d: e\n---\n\n# T  \ntext";
        let edited = changed(text, &[("a", "2"), ("b", "null"), ("new", r#"{"x":["p","q"],"y":null}"#)]).unwrap();
        assert_eq!(edited, "---\na: 2 # one\nc:\n  d: e\nnew:\n  x: [p, q]\n---\n\n# T  \ntext");
        assert_eq!(changed(text, &[("a", "1"), ("zzz", "null")]).unwrap(), text);
        let empty = changed(text, &[("new", r#"{"m":{},"l":[],"n":[{},null,"",[{"p":{"q":[1]}}]]}"#)]).unwrap();
        let told = serde_json::to_string(read(&empty).get("new").unwrap()).unwrap();
        assert_eq!(told, r#"{"m":{},"l":[],"n":["","null","","[p: q: [1]]"]}"#);
    }

    #[test]
    fn numbers_keep_their_digits() {
        let text = "---\nv: x\n---\n";
        for digits in ["1.0", "007", "12345678901234567890123", "-3"] {
            let edited = changed(text, &[("v", digits)]).unwrap();
            assert_eq!(read(&edited).get("v").and_then(Value::as_text), Some(digits), "{edited}");
        }
        assert_eq!(typed("1.0").0, 1.0);
        assert_eq!(typed("007").0, "007");
    }

    #[test]
    fn a_file_without_front_matter_gets_one() {
        assert_eq!(changed("# T\r\n", &[("x", "1")]).unwrap(), "---\r\nx: 1\r\n---\r\n\r\n# T\r\n");
        assert_eq!(changed("", &[("x", "1")]).unwrap(), "---\nx: 1\n---\n");
        assert_eq!(changed("\u{feff}# T", &[("x", "1")]).unwrap(), "\u{feff}---\nx: 1\n---\n\n# T");
        assert_eq!(changed("---\n---\nbody", &[("x", "1")]).unwrap(), "---\nx: 1\n---\nbody");
        assert_eq!(changed("# T", &[("x", "null")]).unwrap(), "# T");
    }

    #[test]
    fn a_front_matter_that_does_not_parse_is_not_edited() {
        let refused = |text| changed(text, &[("a", "2")]).unwrap_err().message;
        assert!(refused("---\na: 1\n# T\n").ends_with("is opened and never closed"));
        let malformed = refused("---\na: 1\nb: [x\n---\n");
        assert!(malformed.contains("does not parse: line 3 is "), "{malformed}");
    }

    #[test]
    fn names_that_cannot_be_fields_are_refused() {
        let text = "---\na: 1\n---\n";
        for key in ["", " ", "a\nb"] {
            let refused = changed(text, &[(key, "1")]).unwrap_err();
            assert!(refused.message.ends_with("cannot be the name of a field"), "{key:?}: {refused:?}");
        }
        assert!(changed(text, &[("- odd: key", "1")]).unwrap().contains("\"- odd: key\": 1"));
    }

    #[test]
    fn a_list_of_maps_is_not_flattened_by_the_output_of_get() {
        let text = "---\nmust_haves:\n  artifacts:\n    - path: a.ts\n      exports: [b]\n---\n";
        let told = serde_json::to_string(read(text).get("must_haves").unwrap()).unwrap();
        assert_eq!(changed(text, &[("must_haves", &told)]).unwrap(), "flattens must_haves");
        let whole = r#"{"artifacts":[{"path":"b.ts"}]}"#;
        assert!(changed(text, &[("must_haves", whole)]).unwrap().contains("    - path: b.ts\n"));
        assert!(changed(text, &[("must_haves", "null")]).is_ok());
    }

    #[test]
    fn a_schema_is_a_list_of_fields() {
        let report = validate(
            "a.md",
            "---\nphase: 1\ngap_closure: false\n---\n",
            Schema::named("plan-gap-closure").unwrap(),
            |_| true,
        );
        assert_eq!((report.valid, report.present), (false, vec!["phase"]));
        assert_eq!((report.missing.len(), report.invalid_value), (8, vec!["gap_closure"]));
        let nul = validate("a.md", "---\nphase: 1\n---\n\0", Schema { name: "plan", fields: &["phase"] }, |_| true);
        assert_eq!((nul.valid, nul.errors), (false, vec!["`a.md` holds a NUL byte at byte 17; remove it".to_owned()]));
        assert!(Schema::named("uat").unwrap_err().to_string().contains("plan, plan-gap-closure, summary"));
    }

    proptest! {
        #[test]
        fn bytes_outside_the_field_stay(
            head in "(k[0-9]: [ -~é]{0,10}\r?\n|  - [a-z: ]{0,6}\n|#[a-z]{0,4}\n|\n){0,6}",
            body in "\\PC{0,20}(\r?\n\\PC{0,10}){0,3}",
            key in "[ -~]{0,8}",
            value in "\\PC{0,16}",
        ) {
            let text = format!("---\n{head}mine: old # c\nlast: 1\n---\n{body}");
            let start = format!("---\n{head}mine: ");
            let end = format!(" # c\nlast: 1\n---\n{body}");
            if let Ok(edited) = changed(&text, &[("mine", &serde_json::to_string(&value).unwrap())]) {
                prop_assert!(edited.starts_with(&start) && edited.ends_with(&end), "{}", edited);
                let told = read(&edited);
                prop_assert_eq!(told.get("mine").and_then(Value::as_text), Some(value.as_str()));
            }
            if let Ok(edited) = changed(&text, &[(&key, "x")]) {
                prop_assert!(edited.ends_with(&body));
                let told = read(&edited);
                prop_assert_eq!(told.get(&key).and_then(Value::as_text), Some("x"), "{}", edited);
            }
        }
    }
}
