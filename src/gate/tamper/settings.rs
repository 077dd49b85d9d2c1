//! Settings of runners, and the scripts of a package: what changed in the parts that the checks depend on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token, tokens};
use super::lines;
use super::marks::is_of_runner;
use super::stricter::line_asks_for_more;
use super::{Text, file_name, short};
use crate::gate::cannot_fail::line_cannot_fail;
use crate::gate::package::scripts_of;
use crate::gate::pins::{Pin, Pins};
use crate::project::check_files::{ConfigRow, Format, Role, config_of, fits};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;
use crate::text::toml::TomlDocument;
use crate::text::words::word_list;

/// The relevant settings, by their keys.
pub(super) type SettingsByKey = BTreeMap<String, Setting>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    One(Value),
    List(Vec<Value>),
}

/// Changes of settings that may make a check weaker.
pub(super) fn changed(pins: &Pins, text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    let Some(row) = config_of(text.path) else { return Vec::new() };
    if row.format == Format::Code || text.before == text.after {
        return Vec::new();
    }
    // Without earlier tests, nothing can be made weaker.
    let has_tests = pins.files.iter().any(|(path, pin)| pin.role == Role::Test && is_of(row, path))
        || row.tools.iter().any(|tool| pins.tools.contains(tool));
    if text.before.is_none() && !has_tests {
        return Vec::new();
    }
    let mut found =
        if row.format == Format::Whole { whole(row, pins, text, all) } else { keyed(row, pins, text, has_tests) };
    if row.scripts {
        found.extend(scripts(pins, text));
    }
    found
}

/// True if a runner runs a file as its test.
fn is_of(row: &ConfigRow, path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| row.tests.iter().any(|test| test == ending))
}

/// Keys with which a runner leaves files out.
const LEAVING_OUT: &[&str] = word_list!(
    "testPathIgnorePatterns modulePathIgnorePatterns exclude ignore ignores testIgnore norecursedirs collect_ignore
     collect_ignore_glob ignoreSpec excludeSpecPattern"
);

/// True if a pattern of such a key matches a test that existed before.
fn leaves_out(row: &ConfigRow, pins: &Pins, pattern: &str) -> bool {
    let plain = pattern.replace("<rootDir>", "").replace("**/", "").replace(['^', '$', '\\'], "");
    let mut parts = plain
        .split('*')
        .flat_map(|part| part.split(['(', ')', '[', ']', '{', '}', '|', '?', '+']))
        .filter(|part| part.len() > 1);
    let longest = parts.by_ref().max_by_key(|part| part.len()).unwrap_or_default().trim_start_matches("./");
    let is_test = |(path, pin): (&String, &Pin)| {
        pin.role == Role::Test && is_of(row, path) && format!("/{path}").contains(longest)
    };
    longest.len() > 1 && pins.files.iter().any(is_test)
}

/// The finding for a file in which every change counts.
fn whole(row: &ConfigRow, pins: &Pins, text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    // New settings of a linter that no check runs.
    let name = text.name().trim_start_matches('.');
    let linter = ["eslint", "biome", "ruff", "golangci"].into_iter().find(|linter| name.starts_with(linter));
    if text.before.is_none() && linter.is_some_and(|linter| !pins.tools.iter().any(|tool| tool.starts_with(linter))) {
        return Vec::new();
    }
    let what = match (&text.before, &text.after) {
        (None, _) => "new settings of a runner",
        (_, None) => "the settings of a runner are gone",
        _ => "the settings of a runner changed",
    };
    let added = lines::added(text.then(), text.now());
    let line = added.first().copied().unwrap_or_default();
    if let (Some(before), Some(after)) = (&text.before, &text.after)
        && only_names_more(before, after, all)
    {
        return Vec::new();
    }
    let shown = line.checked_sub(1).and_then(|at| text.now().lines().nth(at)).map(str::trim);
    let shown =
        shown.filter(|shown| !shown.is_empty()).map(|shown| format!(": `{}`", short(shown, ' '))).unwrap_or_default();
    let mut found = vec![text.finding(line, Weakening::ChangedSettings, format!("{what}{shown}"))];
    let mut is_open = false;
    for (number, line) in text.now().lines().enumerate() {
        let word =
            line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).find(|word| !word.is_empty());
        let key = word.filter(|word| LEAVING_OUT.contains(word));
        is_open = key.is_some() || is_open && !line.trim_start().starts_with([']', '}']);
        let quoted = line.split(['\'', '"', '`']).skip(1).step_by(2);
        let inline = line.split_once('{').is_some_and(|(_, rest)| LEAVING_OUT.iter().any(|key| rest.contains(key)));
        if (is_open || inline) && added.contains(&(number + 1)) {
            for pattern in quoted.filter(|pattern| leaves_out(row, pins, pattern)) {
                let what = format!("`{}` leaves out tests that are there", short(pattern, ' '));
                found.push(text.finding(number + 1, Weakening::HiddenTests, what));
            }
        }
        is_open &= !line.contains(']');
    }
    found
}

/// True if settings that are code only got one more pattern of tests, a coverage threshold, or setup files that do not
/// change the runner.
fn only_names_more(before: &str, after: &str, all: &[Text<'_>]) -> bool {
    let (then, now) = (tokens(before, Language::Script), tokens(after, Language::Script));
    let same = |pair: &(&Token<'_>, &Token<'_>)| pair.0.kind == pair.1.kind && pair.0.text == pair.1.text;
    let head = then.iter().zip(&now).take_while(same).count();
    let tail = then.iter().skip(head).rev().zip(now.iter().skip(head).rev()).take_while(same).count();
    let Some(new) = now.get(head..now.len() - tail).filter(|new| !new.is_empty() && head + tail == then.len()) else {
        return false;
    };
    // Find the list that is open at the new words, below a key that names tests.
    let mut depth = 0_i32;
    let open = (0..head).rev().find(|at| {
        depth -= now[*at].turn();
        depth < 0
    });
    let key = open.and_then(|open| now.get(open.checked_sub(2)?)).map_or("", |key| key.text);
    let is_list = open.is_some_and(|open| now[open].is_mark("["));
    let is_pattern = |token: &Token<'_>| token.kind == Kind::Text && !token.text.starts_with('!') || token.is_mark(",");
    if is_list {
        return matches!(key, "include" | "testMatch") && head > 0 && new.iter().all(is_pattern);
    }
    is_threshold(new) || is_setup(new, all)
}

/// True if words of settings only name files that run before the tests, none of which changes the runner.
fn is_setup(new: &[Token<'_>], all: &[Text<'_>]) -> bool {
    let mut words = new.iter().filter(|token| !token.is_mark(","));
    let begins = words.next().is_some_and(|first| first.text == "setupFiles")
        && words.next().is_some_and(|next| next.is_mark(":"));
    let rest: Vec<&Token<'_>> = words.collect();
    let is_list = |token: &&&Token<'_>| token.kind == Kind::Text || matches!(token.text, "[" | "]");
    let is_plain = |path: &str| {
        let name = path.trim_start_matches(['.', '/']);
        let changed = all.iter().filter(|text| text.path == name || text.path.ends_with(&format!("/{name}")));
        changed.into_iter().all(|text| text.after.as_deref().is_none_or(|after| !is_of_runner(after)))
    };
    begins
        && !rest.is_empty()
        && rest.iter().all(|token| is_list(&token))
        && rest.iter().filter(|token| token.kind == Kind::Text).all(|token| is_plain(token.text))
}

/// True if words of settings are a coverage threshold that applies to everything.
fn is_threshold(new: &[Token<'_>]) -> bool {
    const WORDS: &[&str] = word_list!(
        "coverage coverageThreshold thresholds threshold global lines branches functions statements perFile provider v8
         istanbul true"
    );
    let is_one = |token: &Token<'_>| match token.kind {
        Kind::Word | Kind::Text => WORDS.contains(&token.text),
        Kind::Number => true,
        Kind::Mark => matches!(token.text, "{" | "}" | ":" | ","),
    };
    let begins = new.iter().find(|token| token.kind != Kind::Mark);
    let count = |mark: &str| new.iter().filter(|token| token.is_mark(mark)).count();
    begins.is_some_and(|first| first.text.starts_with("coverage")) && new.iter().all(is_one) && count("{") == count("}")
}

fn keyed(row: &ConfigRow, pins: &Pins, text: &Text<'_>, has_tests: bool) -> Vec<Finding> {
    let read = |side: &Option<String>| side.as_deref().map_or(Some(SettingsByKey::new()), |side| settings(row, side));
    let (Some(before), Some(after)) = (read(&text.before), read(&text.after)) else {
        return vec![text.finding(0, Weakening::ChangedSettings, "its settings cannot be read")];
    };
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for key in keys {
        let (then, now) = (before.get(key), after.get(key));
        let is_new = then.is_none() && !has_tests;
        if then == now || is_new || is_harmless(row, key, then, now) || is_usual(pins, key, then, now) {
            continue;
        }
        let kind = if hides(row, pins, key, now) { Weakening::HiddenTests } else { Weakening::ChangedSettings };
        let what = match (then, now) {
            (Some(then), Some(now)) => format!("`{key}` changed from {then} to {now}"),
            (None, Some(now)) => format!("`{key}` is new: {now}"),
            (Some(then), None) => format!("`{key}` is gone; it was {then}"),
            (None, None) => continue,
        };
        found.push(text.finding(line_of(text.now(), key), kind, what));
    }
    found
}

/// The last part of a key that is not the index of an entry.
fn last_of(key: &str) -> &str {
    key.rsplit('.').find(|part| !part.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(key)
}

fn texts_of(setting: Option<&Setting>) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match setting {
        Some(Setting::One(value)) => text(value).split_whitespace().map(str::to_owned).collect(),
        Some(Setting::List(values)) => values.iter().map(text).collect(),
        None => Vec::new(),
    }
}

/// Options of runners that change how much is shown, or check more.
const PLAIN_OPTIONS: &[&str] = word_list!(
    "-q -qq -v -vv -s -l -ra -rA -rf -x --tb* --color* --strict* --durations* --cov* -n auto --maxfail* --showlocals
     --verbose --quiet --disable-warnings --doctest-modules --import-mode* --randomly* --junitxml* --timeout* --dist*"
);

/// True for common additions to settings that leave out no existing test.
fn is_usual(pins: &Pins, key: &str, then: Option<&Setting>, now: Option<&Setting>) -> bool {
    // For a linter that no check runs.
    let linters = [
        ("tool.ruff", "ruff"),
        ("tool.mypy", "mypy"),
        ("mypy", "mypy"),
        ("flake8", "flake8"),
        ("tool.hatch", "hatch"),
        ("tool.tox", "tox"),
        ("tox", "tox"),
        ("testenv", "tox"),
    ];
    let linter = linters.iter().find(|(start, _)| key.starts_with(start));
    if then.is_none() && linter.is_some_and(|(_, tool)| !pins.tools.contains(*tool)) {
        return true;
    }
    let words = texts_of(now);
    let is_of_pytest = key.contains("pytest");
    match last_of(key) {
        "markers"
        | "minversion"
        | "required_plugins"
        | "asyncio_mode"
        | "asyncio_default_fixture_loop_scope"
        | "console_output_style"
            if is_of_pytest =>
        {
            now.is_some()
        }
        name if is_of_pytest && (name.starts_with("log_") || name.starts_with("junit_")) => now.is_some(),
        "xfail_strict" if is_of_pytest => {
            words.iter().all(|word| word.eq_ignore_ascii_case("true")) && !words.is_empty()
        }
        "pythonpath" if is_of_pytest => words.iter().all(|word| matches!(word.as_str(), "." | "src" | "lib" | "./src")),
        "filterwarnings" if is_of_pytest => words.first().is_some_and(|first| first.starts_with("error")),
        "addopts" if is_of_pytest => {
            let then = texts_of(then);
            let is_plain = |word: &&String| {
                PLAIN_OPTIONS.iter().any(|option| fits(option, word)) || word.bytes().all(|byte| byte.is_ascii_digit())
            };
            now.is_some()
                && words.iter().filter(|word| !then.contains(word)).all(|word| is_plain(&word))
                && then.iter().all(|word| words.contains(word))
        }
        // If all existing tests are below these paths.
        "testpaths" if is_of_pytest && then.is_none() => {
            let tests = pins.files.iter().filter(|(path, pin)| pin.role == Role::Test && is_python_test(path));
            tests
                .map(|(path, _)| path)
                .all(|path| words.iter().any(|word| path.starts_with(&format!("{}/", word.trim_end_matches('/')))))
        }
        "python_files" if is_of_pytest => {
            ["test_*.py", "*_test.py"].iter().all(|usual| words.iter().any(|word| word == usual))
        }
        // An explicit test, in addition to those that are found by their paths.
        "name" | "path" if key.starts_with("test.") && then.is_none() => {
            let name = key.split('.').nth(1).unwrap_or_default();
            let places = [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")];
            !places.iter().any(|place| pins.files.contains_key(place))
                || words.first().is_some_and(|path| last_of(key) == "name" || places.contains(path))
        }
        // `deny`, `forbid`, `warn`: a new level checks more.
        _ if key.starts_with("lints.") || key.starts_with("workspace.lints.") => {
            let rank = |setting: Option<&Setting>| {
                texts_of(setting)
                    .first()
                    .map(|word| ["allow", "warn", "deny", "forbid"].iter().position(|level| level == word))
            };
            match (rank(then), rank(now)) {
                (None, Some(Some(now))) => now > 0 || last_of(key) == "priority",
                (Some(Some(then)), Some(Some(now))) => now >= then,
                _ => then.is_none() && matches!(last_of(key), "priority" | "workspace"),
            }
        }
        // A name under which no check calls cargo.
        name if key.starts_with("alias.") => {
            !pins.checks.iter().any(|check| check.arguments().iter().any(|word| word == name))
        }
        _ => false,
    }
}

fn is_python_test(path: &str) -> bool {
    file_name(path).strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

/// True if a setting leaves tests out.
fn hides(row: &ConfigRow, pins: &Pins, key: &str, now: Option<&Setting>) -> bool {
    let words = texts_of(now);
    let is_false = || words.iter().any(|word| word == "false");
    match last_of(key) {
        "addopts" => words.iter().any(|word| {
            ["-k", "-m", "--ignore", "--deselect", "--co", "--collect-only", "-p"]
                .iter()
                .any(|option| word.split('=').next() == Some(*option) || word.starts_with("--ignore"))
        }),
        "autotests" | "test" | "harness" | "doctest" if row.tests.iter().any(|end| end == "rs") => is_false(),
        "python_files" | "python_functions" | "python_classes" => true,
        name if LEAVING_OUT.contains(&name) => words.iter().any(|word| leaves_out(row, pins, word)),
        _ => false,
    }
}

/// True if a change only checks more, or only names more tests.
fn is_harmless(row: &ConfigRow, key: &str, then: Option<&Setting>, now: Option<&Setting>) -> bool {
    let is_of = |keys: &[String]| keys.iter().any(|pattern| has_key(pattern, key));
    let one = |setting: Option<&Setting>| match setting {
        Some(Setting::One(value)) => Some(value.clone()),
        _ => None,
    };
    if is_of(&row.stricter) {
        return match (one(then), one(now)) {
            (_, Some(Value::Bool(now))) => now,
            (then, Some(now)) => now.as_f64() >= then.and_then(|then| then.as_f64()) && now.is_number(),
            _ => false,
        };
    }
    is_of(&row.wider)
        && match (then, now) {
            (None, Some(Setting::One(now))) => *now != Value::Bool(false),
            // Only an existing list may grow: without one, the runner chooses.
            (Some(Setting::List(then)), Some(Setting::List(now))) => then.iter().all(|item| now.contains(item)),
            _ => false,
        }
}

/// True if a pattern of the table matches a key.
fn has_key(pattern: &str, key: &str) -> bool {
    match pattern.strip_suffix('*') {
        _ if pattern.trim_end_matches('*').contains('*') => fits(pattern, key),
        Some(start) => key.starts_with(start),
        None => key.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

/// The relevant settings of a text; `None` if it cannot be read.
fn settings(row: &ConfigRow, text: &str) -> Option<SettingsByKey> {
    kept(row.format, &row.keys, text)
}

/// The settings of a text below these keys; `None` if it cannot be read.
pub(super) fn kept(format: Format, keys: &[String], text: &str) -> Option<SettingsByKey> {
    let mut all = SettingsByKey::new();
    match format {
        Format::Json if text.trim().is_empty() => {}
        Format::Json => {
            flatten(String::new(), &JsonDocument::read(text, JsonDialect::CommentsAndTrailingCommas).ok()??, &mut all);
        }
        Format::Toml => flatten(String::new(), &TomlDocument::parse(text).ok()?.into_json()?, &mut all),
        Format::Ini => all = ini(text),
        Format::Lines | Format::Code | Format::Whole => {}
    }
    all.retain(|key, _| keys.iter().any(|pattern| has_key(pattern, key)));
    Some(all)
}

fn flatten(key: String, value: &Value, all: &mut SettingsByKey) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                flatten(below(name), value, all);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (number, item) in items.iter().enumerate() {
                // An entry with a name is the same at any position.
                let name = item.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
                flatten(below(&name), item, all);
            }
        }
        Value::Array(items) => {
            all.insert(key, Setting::List(items.clone()));
        }
        one => {
            all.insert(key, Setting::One(one.clone()));
        }
    }
}

/// The keys of a file with sections; a line that begins with a blank continues the previous one.
fn ini(text: &str) -> SettingsByKey {
    let mut all = SettingsByKey::new();
    let (mut section, mut last) = (String::new(), None::<String>);
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            (section, last) = (name.trim().to_owned(), None);
        } else if line.starts_with([' ', '\t'])
            && let Some(Setting::One(Value::String(value))) = last.as_ref().and_then(|key| all.get_mut(key))
        {
            value.push('\n');
            value.push_str(bare);
        } else {
            let (name, value) = bare.split_once(['=', ':']).unwrap_or((bare, ""));
            let key = if section.is_empty() { name.trim().to_owned() } else { format!("{section}.{}", name.trim()) };
            let value = value.trim();
            let value = value.parse::<i64>().map_or_else(|_| Value::String(value.to_owned()), Value::from);
            all.insert(key.clone(), Setting::One(value));
            last = Some(key);
        }
    }
    all
}

/// Changes of scripts that the checks call, and of those that run before and after them.
fn scripts(pins: &Pins, text: &Text<'_>) -> Vec<Finding> {
    let read = |text: &Option<String>| text.as_deref().map(scripts_of).unwrap_or_default();
    let (before, after) = (read(&text.before), read(&text.after));
    let around = pins.scripts.iter().flat_map(|name| [format!("pre{name}"), format!("post{name}")]);
    let names: BTreeSet<String> = pins.scripts.iter().cloned().chain(around).collect();
    let mut found = Vec::new();
    for name in names {
        let what = match (before.get(&name), after.get(&name)) {
            (Some(then), Some(now)) if then != now && !line_asks_for_more(then, now) => {
                format!("the script `{name}` changed from `{}` to `{}`", short(then, ' '), short(now, ' '))
            }
            (Some(_), None) => format!("the script `{name}` is gone"),
            (None, Some(now)) => format!("the script `{name}` is new and runs with a check: `{}`", short(now, ' ')),
            _ => continue,
        };
        let line = line_of(text.now(), &name);
        found.push(text.finding(line, Weakening::ChangedScript, what));
        let is_idle = |text: Option<&String>| text.is_some_and(|text| line_cannot_fail(text).is_some());
        if is_idle(after.get(&name)) && before.contains_key(&name) && !is_idle(before.get(&name)) {
            let what = format!("the script `{name}`, which a check runs, cannot fail");
            found.push(text.finding(line, Weakening::SwallowedFailure, what));
        }
    }
    found
}

/// The first line that contains the last part of a key.
pub(super) fn line_of(text: &str, key: &str) -> usize {
    let name = last_of(key);
    text.lines().position(|line| line.contains(name)).map_or(0, |line| line + 1)
}

impl std::fmt::Display for Setting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::One(value) => value.to_string(),
            Self::List(values) => Value::Array(values.clone()).to_string(),
        };
        write!(formatter, "`{}`", short(&text, ' '))
    }
}

/// The new text with the earlier settings, for files that have other contents as well.
pub(super) fn with_pinned(pins: &Pins, text: &Text<'_>) -> Option<String> {
    let row = config_of(text.path)?;
    let (before, after) = (text.before.as_deref()?, text.after.as_deref()?);
    let made = match row.format {
        Format::Json if row.scripts => package_with_pinned(row, pins, before, after),
        Format::Toml => toml_with_pinned(row, before, after),
        _ => None,
    };
    // If parts could not be restored, the whole file is.
    made.filter(|made| settings(row, made).is_some_and(|made| Some(made) == settings(row, before)))
}

fn package_with_pinned(row: &ConfigRow, pins: &Pins, before: &str, after: &str) -> Option<String> {
    let before: Value = serde_json::from_str(before).ok()?;
    let mut after: Value = serde_json::from_str(after).ok()?;
    let put = |after: &mut Value, before: Option<&Value>, name: &str| {
        let entries = after.as_object_mut()?;
        match before.and_then(|before| before.get(name)) {
            Some(value) => entries.insert(name.to_owned(), value.clone()),
            None => entries.shift_remove(name),
        };
        Some(())
    };
    for key in &row.keys {
        put(&mut after, Some(&before), key)?;
    }
    let scripts = before.get("scripts");
    if scripts.is_some() && after.get("scripts").is_none() {
        after.as_object_mut()?.insert("scripts".to_owned(), Value::Object(serde_json::Map::new()));
    }
    if let Some(after) = after.get_mut("scripts") {
        for name in &pins.scripts {
            for name in [name.clone(), format!("pre{name}"), format!("post{name}")] {
                put(after, scripts, &name);
            }
        }
    }
    Some(serde_json::to_string_pretty(&after).ok()? + "\n")
}

fn toml_with_pinned(row: &ConfigRow, before: &str, after: &str) -> Option<String> {
    let before: DocumentMut = before.parse().ok()?;
    let mut after: DocumentMut = after.parse().ok()?;
    for key in &row.keys {
        let (folders, name) = key.rsplit_once('.').unwrap_or(("", key));
        let then = table_at(before.as_table(), folders);
        let now = if folders.is_empty() {
            Some(after.as_table_mut() as &mut dyn TableLike)
        } else {
            table_at_mut(after.as_table_mut(), folders, then.is_some())
        };
        let Some(now) = now else { continue };
        let is_named = |key: &str| name.strip_suffix('*').map_or(key == name, |start| key.starts_with(start));
        let names: BTreeSet<String> = now.iter().map(|(key, _)| key.to_owned()).filter(|key| is_named(key)).collect();
        for name in &names {
            now.remove(name);
        }
        for (name, item) in then.iter().flat_map(|then| then.iter()).filter(|(name, _)| is_named(name)) {
            now.insert(name, item.clone());
        }
    }
    Some(after.to_string())
}

fn table_at<'a>(root: &'a dyn TableLike, path: &str) -> Option<&'a dyn TableLike> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(root, |table, part| table.get(part)?.as_table_like())
}

fn table_at_mut<'a>(root: &'a mut dyn TableLike, path: &str, make: bool) -> Option<&'a mut dyn TableLike> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(root, |table, part| {
        if make && table.get(part).is_none() {
            table.insert(part, Item::Table(toml_edit::Table::new()));
        }
        table.get_mut(part)?.as_table_like_mut()
    })
}
