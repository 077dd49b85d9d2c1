//! The front matter of the built-in content: a strict parser for the few forms that it uses.
//!
//! Keys with a text, a number, a `true` or `false`, a `[flow, list]`, a block list, or pairs of names below the key.
//! Anything else is an error with its line: this parser reads only built-in files, and a mistake there must be
//! corrected.

/// Keys and values in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    entries: Vec<(String, Value)>,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Flag(bool),
    Number(i64),
    List(Vec<String>),
    /// Names with their values, in their original order.
    Pairs(Vec<(String, String)>),
}

/// Why the top of a file is not valid built-in front matter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrontMatterError {
    #[error("the file does not begin with a `---` line")]
    Missing,
    #[error("the front matter has no closing `---` line")]
    Unclosed,
    #[error("line {line} is neither `key: value` nor a list item below a key")]
    Line { line: usize },
    #[error("line {line}: duplicate key `{key}`")]
    Twice { line: usize, key: String },
    #[error("line {line}: the value of `{key}` needs quotes")]
    NeedsQuotes { line: usize, key: String },
}

impl FrontMatter {
    /// Splits `text` into its front matter and the body below it.
    pub(crate) fn split(text: &str) -> Result<(FrontMatter, &str), FrontMatterError> {
        let rest = text.strip_prefix("---\n").ok_or(FrontMatterError::Missing)?;
        let (inside, body) = match rest.strip_prefix("---\n") {
            Some(body) => ("", body),
            None => rest.split_once("\n---\n").ok_or(FrontMatterError::Unclosed)?,
        };
        Ok((FrontMatter::parse(inside)?, body))
    }

    fn parse(inside: &str) -> Result<FrontMatter, FrontMatterError> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        let mut is_open = false;
        for (index, text) in inside.lines().enumerate() {
            let line = index + 2;
            if let Some(below) = text.strip_prefix("  ") {
                let open = entries.last_mut().filter(|_| is_open).ok_or(FrontMatterError::Line { line })?;
                add_below(open, below, line)?;
                continue;
            }
            let (key, value) = key_and_value(text, line)?;
            if entries.iter().any(|(earlier, _)| earlier == key) {
                return Err(FrontMatterError::Twice { line, key: key.to_owned() });
            }
            is_open = value.is_empty();
            entries.push((key.to_owned(), parse_value(value, key, line)?));
        }
        Ok(FrontMatter { entries })
    }

    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the text of `key`, if it has one.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the names below `key`, each with its value.
    pub(crate) fn pairs(&self, key: &str) -> &[(String, String)] {
        match self.value(key) {
            Some(Value::Pairs(pairs)) => pairs,
            _ => &[],
        }
    }

    /// True if `key` is `true`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.value(key) == Some(&Value::Flag(true))
    }

    /// Returns the names of `key`: a list, or a text with commas.
    pub(crate) fn names(&self, key: &str) -> Vec<&str> {
        match self.value(key) {
            Some(Value::List(items)) => items.iter().map(String::as_str).collect(),
            Some(Value::Text(text)) => text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
            _ => Vec::new(),
        }
    }

    /// Removes the names of `key` that are not wanted.
    pub(super) fn keep_names(&mut self, key: &str, wanted: &dyn Fn(&str) -> bool) {
        let entry = self.entries.iter_mut().find(|(name, _)| name == key);
        if let Some((_, Value::List(items))) = entry {
            items.retain(|item| wanted(item));
        }
    }

    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }
}

fn key_and_value(text: &str, line: usize) -> Result<(&str, &str), FrontMatterError> {
    let (key, value) = text.split_once(':').ok_or(FrontMatterError::Line { line })?;
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(FrontMatterError::Line { line });
    }
    Ok((key, value))
}

/// Adds an indented line to the key above it: an item of a list, or a pair.
fn add_below((key, value): &mut (String, Value), text: &str, line: usize) -> Result<(), FrontMatterError> {
    if let Some(item) = text.strip_prefix("- ") {
        let Value::List(items) = value else { return Err(FrontMatterError::Line { line }) };
        items.push(scalar(item, key, line)?);
        return Ok(());
    }
    if *value == Value::List(Vec::new()) {
        *value = Value::Pairs(Vec::new());
    }
    let Value::Pairs(pairs) = value else { return Err(FrontMatterError::Line { line }) };
    let (name, meaning) = key_and_value(text, line)?;
    if pairs.iter().any(|(earlier, _)| earlier == name) {
        return Err(FrontMatterError::Twice { line, key: name.to_owned() });
    }
    pairs.push((name.to_owned(), scalar(meaning.trim(), name, line)?));
    Ok(())
}

fn parse_value(value: &str, key: &str, line: usize) -> Result<Value, FrontMatterError> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(Value::List(Vec::new()));
    }
    if let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
        return Ok(Value::List(items.map(|item| scalar(item, key, line)).collect::<Result<_, _>>()?));
    }
    if value.bytes().all(|byte| byte.is_ascii_digit()) && !value.starts_with('0') {
        return value.parse().map(Value::Number).map_err(|_| FrontMatterError::Line { line });
    }
    Ok(match value {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        _ => Value::Text(scalar(value, key, line)?),
    })
}

/// Parses a plain or double-quoted text. Text that YAML would read as another type must be quoted.
fn scalar(text: &str, key: &str, line: usize) -> Result<String, FrontMatterError> {
    if text.starts_with('"') {
        return serde_json::from_str(text).map_err(|_| FrontMatterError::Line { line });
    }
    if is_plain(text) { Ok(text.to_owned()) } else { Err(FrontMatterError::NeedsQuotes { line, key: key.to_owned() }) }
}

/// True if YAML reads `text` without quotes as exactly this text.
pub(crate) fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let looks_like_something_else = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "~" | "y" | "n"
    ) || text.parse::<f64>().is_ok();
    !looks_like_something_else
        && !"-?:,[]{}#&*!|>'\"%@` ".contains(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_built_in_files_are_parsed() {
        let text = "---\nname: gsd-x\nargument-hint: \"[--a] \\\"b\\\"\"\nallowed-tools:\n  - Read\n  - Write\nrouter: true\nrequires: [a, b-c]\ntools: Read, mcp__x__*\nbudget: 1024\nsections:\n  b: when-x\n  a: \"1\"\n---\nBody: y\n";
        let (front_matter, body) = FrontMatter::split(text).unwrap();
        assert_eq!(body, "Body: y\n");
        assert_eq!(front_matter.text("name"), Some("gsd-x"));
        assert_eq!(front_matter.text("argument-hint"), Some("[--a] \"b\""));
        assert_eq!(front_matter.names("allowed-tools"), ["Read", "Write"]);
        assert!(front_matter.flag("router"));
        assert_eq!(front_matter.names("requires"), ["a", "b-c"]);
        assert_eq!(front_matter.names("tools"), ["Read", "mcp__x__*"]);
        assert_eq!(front_matter.text("missing"), None);
        assert_eq!(front_matter.value("budget"), Some(&Value::Number(1024)));
        assert_eq!(front_matter.pairs("sections"), [("b".into(), "when-x".into()), ("a".into(), "1".into())]);
        assert!(front_matter.pairs("requires").is_empty());
        assert_eq!(front_matter.keys().count(), 8);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        let error = |inside: &str| FrontMatter::split(&format!("---\n{inside}---\nbody\n")).unwrap_err();
        assert_eq!(error("name: a\nno key\n"), FrontMatterError::Line { line: 3 });
        assert_eq!(error("name: a\n  - stray\n"), FrontMatterError::Line { line: 3 });
        assert_eq!(error("name: a\n  b: c\n"), FrontMatterError::Line { line: 3 });
        assert_eq!(error("a:\n  - b\n  c: d\n"), FrontMatterError::Line { line: 4 });
        assert_eq!(error("a:\n  c: d\n  - b\n"), FrontMatterError::Line { line: 4 });
        assert_eq!(error("a:\n  c: d\n  c: e\n"), FrontMatterError::Twice { line: 4, key: "c".into() });
        assert_eq!(error("a:\n  c:\n"), FrontMatterError::NeedsQuotes { line: 3, key: "c".into() });
        assert_eq!(error("a: 007\n"), FrontMatterError::NeedsQuotes { line: 2, key: "a".into() });
        assert_eq!(error("a: x\na: y\n"), FrontMatterError::Twice { line: 3, key: "a".into() });
        assert_eq!(error("a: x: y\n"), FrontMatterError::NeedsQuotes { line: 2, key: "a".into() });
        assert_eq!(error("a: [\"x\n"), FrontMatterError::NeedsQuotes { line: 2, key: "a".into() });
        assert_eq!(FrontMatter::split("text\n").unwrap_err(), FrontMatterError::Missing);
        assert_eq!(FrontMatter::split("---\na: b\n").unwrap_err(), FrontMatterError::Unclosed);
    }

    #[test]
    fn a_text_is_plain_if_yaml_reads_it_unchanged() {
        for text in [
            "Plan a phase",
            "a-b",
            "Read, Write",
            "it's",
            "mcp__x__*",
            "a:b",
            "v1.2.3",
            "yes or no",
            "false",
            "1",
            "x: y",
            "- a",
            "[x]",
            "# a",
            "a #b",
        ] {
            let read: Result<serde_yaml::Value, _> = serde_yaml::from_str(text);
            let same = read.ok().as_ref().and_then(serde_yaml::Value::as_str) == Some(text);
            assert!(!is_plain(text) || same, "`{text}` is taken for plain");
        }
        assert!(is_plain("Plan a phase") && is_plain("Read, Write") && is_plain("it's"));
        assert!(!is_plain("x: y") && !is_plain("true") && !is_plain("1.5") && !is_plain("[x]"));
    }
}
