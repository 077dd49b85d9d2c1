//! Encodes keys and a body as the text of a file.

use std::fmt::Write as _;

use crate::library::is_plain;
use crate::text::quoted::quoted;

use super::front_matter::{Field, FieldValue};

/// Encodes front matter, if there is any, and then the body.
pub(crate) fn markdown(fields: &[Field], body: &str) -> String {
    if fields.is_empty() {
        return format!("{}\n", body.trim_matches('\n'));
    }
    let mut text = String::from("---\n");
    for Field { key, value } in fields {
        match value {
            FieldValue::Text(value) => push_line(&mut text, format_args!("{key}: {}", yaml(value))),
            FieldValue::Lines(lines) => push_line(&mut text, format_args!("{lines}")),
            FieldValue::Flag(flag) => push_line(&mut text, format_args!("{key}: {flag}")),
            FieldValue::Number(number) => push_line(&mut text, format_args!("{key}: {number}")),
            FieldValue::List(items) => {
                push_line(&mut text, format_args!("{key}:"));
                for item in items {
                    push_line(&mut text, format_args!("  - {}", yaml(item)));
                }
            }
            FieldValue::Map(pairs) => {
                push_line(&mut text, format_args!("{key}:"));
                for (below, value) in pairs {
                    push_line(&mut text, format_args!("  {}: {}", yaml(below), yaml(value)));
                }
            }
        }
    }
    text.push_str("---\n\n");
    text.push_str(body.trim_matches('\n'));
    text.push('\n');
    text
}

/// Encodes the keys, the last of which has the body as its value.
pub(crate) fn toml(fields: &[Field], body_key: &str, body: &str) -> String {
    let mut text = String::new();
    for Field { key, value } in fields {
        let value = match value {
            // Raw front matter lines mean nothing in a file without front matter.
            FieldValue::Lines(_) => continue,
            FieldValue::Text(value) => toml_edit::Value::from(value.as_str()),
            FieldValue::Flag(flag) => toml_edit::Value::from(*flag),
            FieldValue::Number(number) => toml_edit::Value::from(*number),
            FieldValue::List(items) => items.iter().map(String::as_str).collect(),
            FieldValue::Map(pairs) => pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        };
        push_line(&mut text, format_args!("{key} = {value}"));
    }
    push_line(&mut text, format_args!("{body_key} = {}", toml_lines(body.trim_matches('\n'))));
    text
}

/// A multi-line text, as a literal so that a person can read it, unless it contains something a literal cannot.
fn toml_lines(body: &str) -> String {
    let literal = !body.contains("'''") && !body.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if literal {
        return format!("'''\n{body}\n'''");
    }
    let mut escaped = String::with_capacity(body.len() + 16);
    for c in body.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '"' if escaped.ends_with("\"\"") => escaped.push_str("\\\""),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    format!("\"\"\"\n{escaped}\n\"\"\"")
}

/// A text as a YAML value: plain if YAML reads it back unchanged, else in double quotes.
fn yaml(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    quoted(text, |letter| letter.is_control().then(|| format!("\\u{:04x}", u32::from(letter))))
}

fn push_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn field(key: &str, value: FieldValue) -> Field {
        Field { key: key.to_owned(), value }
    }

    #[test]
    fn markdown_has_one_line_per_value() {
        let fields = [
            field("name", FieldValue::Text("gsd-x".into())),
            field("hint", FieldValue::Text("[a] \"b\"".into())),
            field("tools", FieldValue::List(vec!["a".into(), "x/*".into(), "*".into()])),
            field("permission", FieldValue::Map(vec![("edit".into(), "deny".into())])),
            field("hidden", FieldValue::Flag(true)),
        ];
        let expected = "---\nname: gsd-x\nhint: \"[a] \\\"b\\\"\"\ntools:\n  - a\n  - x/*\n  - \"*\"\npermission:\n  edit: deny\nhidden: true\n---\n\nbody\n";
        assert_eq!(markdown(&fields, "\nbody\n\n"), expected);
    }

    #[test]
    fn toml_keeps_a_readable_body() {
        let fields = [field("description", FieldValue::Text("it's \"x\"".into()))];
        let text = toml(&fields, "prompt", "one\\n `two`\n");
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["prompt = '''", "one\\n `two`", "'''"]);
        let read: toml_edit::DocumentMut = text.parse().unwrap();
        assert_eq!(read["description"].as_str(), Some("it's \"x\""));
    }

    proptest! {
        #[test]
        fn encoded_values_are_read_back(text in "[ -~\n\t'\"\\\\äé\u{7}]{0,60}", body in "(''|\"\"|[ -~\n'\"\\\\\u{1}]){0,30}") {
            let line = text.replace('\n', " ");
            let fields = [field("a", FieldValue::Text(line.clone())), field("b", FieldValue::List(vec![line.clone()]))];
            let trimmed = format!("{}\n", body.trim_matches('\n'));

            let in_toml: toml_edit::DocumentMut = toml(&fields, "body", &body).parse().unwrap();
            prop_assert_eq!(in_toml["a"].as_str().unwrap(), &line);
            prop_assert_eq!(in_toml["b"][0].as_str().unwrap(), &line);
            prop_assert_eq!(in_toml["body"].as_str().unwrap(), &trimmed);

            let in_markdown = markdown(&fields, &body);
            let top = in_markdown.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
            let in_yaml: serde_yaml::Value = serde_yaml::from_str(top).unwrap();
            prop_assert_eq!(in_yaml["a"].as_str().unwrap(), &line);
            prop_assert_eq!(in_yaml["b"][0].as_str().unwrap(), &line);
        }
    }
}
