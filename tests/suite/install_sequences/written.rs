//! What a user writes into settings and instruction files, and whether it is still there.

use serde_json::Value;

/// The form of a file that hosts, users and we write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Toml,
    /// YAML and texts: only whole lines are compared.
    Lines,
}

impl Form {
    pub(super) fn of(path: &str) -> Self {
        match ending(path) {
            "json" | "jsonc" => Self::Json,
            "toml" => Self::Toml,
            _ => Self::Lines,
        }
    }

    /// Adds a key of the user at the beginning, or a line to a text without keys.
    pub(super) fn with_key(self, path: &str, text: &str, key: &str) -> String {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        match self {
            Self::Json => {
                let Some(open) = first_brace(text) else { return format!("{{\"{key}\": \"{key};\"}}\n") };
                let value = self.value(text);
                let is_empty = value.as_ref().and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
                let comma = if is_empty { "" } else { "," };
                format!("{}\"{key}\": \"{key};\"{comma}{}", &text[..=open], &text[open + 1..])
            }
            Self::Toml => format!("{key} = \"{key};\"{end}{text}"),
            Self::Lines if ending(path) == "yaml" => format!("{key}: {key};{end}{text}"),
            Self::Lines => format!("{key};{end}{text}"),
        }
    }

    /// The values in the text; `None` for lines, and for what does not parse.
    fn value(self, text: &str) -> Option<Value> {
        match self {
            Self::Json if text.trim_start_matches('\u{feff}').trim().is_empty() => Some(Value::Object(<_>::default())),
            Self::Json => serde_json::from_str(&apart(text).0).ok(),
            Self::Toml => toml_edit::de::from_str(text).ok(),
            Self::Lines => None,
        }
    }

    /// What the user wrote and is not in `now`; empty if nothing is missing.
    pub(super) fn missing(self, mine: &str, now: &str) -> Vec<String> {
        if mine == now {
            return Vec::new();
        }
        let Some(value) = self.value(mine) else {
            let mut lines = now.lines().map(str::trim_end);
            let mine = mine.lines().map(str::trim_end).filter(|line| !line.is_empty());
            return mine.filter(|line| !lines.any(|other| other == *line)).map(str::to_owned).collect();
        };
        let Some(in_now) = self.value(now) else { return vec![format!("it does not parse: {now}")] };
        let mut missing = Vec::new();
        subset("", &value, &in_now, &mut missing);
        let comments = match self {
            Self::Json => apart(mine).1,
            _ => mine.lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect(),
        };
        missing.extend(comments.into_iter().filter(|comment| !now.contains(comment.trim_end())));
        missing
    }

    /// Whether the texts have the same values, or the same lines.
    pub(super) fn is_same(self, mine: &str, now: &str) -> bool {
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        match (self.value(mine), self.value(now)) {
            (Some(mine), Some(now)) => mine == now,
            _ => lines(mine) == lines(now),
        }
    }
}

/// What is after the last full stop.
pub(super) fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// Adds each part of `mine` that `now` does not have.
fn subset(at: &str, mine: &Value, now: &Value, missing: &mut Vec<String>) {
    match (mine, now) {
        (Value::Object(mine), Value::Object(now)) => {
            for (key, value) in mine {
                match now.get(key) {
                    Some(now) => subset(&format!("{at}.{key}"), value, now, missing),
                    None => missing.push(format!("{at}.{key}: {value}")),
                }
            }
        }
        (Value::Array(mine), Value::Array(now)) => {
            let lost = mine.iter().filter(|value| !now.contains(value));
            missing.extend(lost.map(|value| format!("{at}[]: {value}")));
        }
        _ if mine == now => {}
        _ => missing.push(format!("{at}: {mine}, but {now}")),
    }
}

/// The first brace outside of comments.
fn first_brace(text: &str) -> Option<usize> {
    let mut rest = 0;
    loop {
        let here = &text[rest..];
        let skipped = here.len() - here.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
        let at = &here[skipped..];
        rest += skipped;
        if at.starts_with('{') {
            return Some(rest);
        }
        let end = if at.starts_with("//") { at.find('\n')? } else { at.strip_prefix("/*")?.find("*/")? + 4 };
        rest += end;
    }
}

/// The text without comments and trailing commas, and the comments.
fn apart(text: &str) -> (String, Vec<String>) {
    let (mut bare, mut comments) = (String::new(), Vec::new());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                bare.push(c);
                while let Some(c) = chars.next() {
                    bare.push(c);
                    match c {
                        '\\' => bare.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                let mut comment = String::from("/");
                while let Some(c) = chars.next_if(|c| *c != '\n') {
                    comment.push(c);
                }
                comments.push(comment);
            }
            ('/', Some('*')) => {
                let mut comment = String::from("/");
                while !comment.ends_with("*/") || comment.len() < 4 {
                    let Some(c) = chars.next() else { break };
                    comment.push(c);
                }
                comments.push(comment);
            }
            ('}' | ']', _) => {
                bare.truncate(bare.trim_end().trim_end_matches(',').len());
                bare.push(c);
            }
            _ => bare.push(c),
        }
    }
    (bare, comments)
}
