//! Prints a text in double quotes, in the form that JSON, TOML and YAML share.

/// The text in double quotes on one line. `escaped` returns the form of other letters that must be escaped.
pub(crate) fn quoted(text: &str, escaped: impl Fn(char) -> Option<String>) -> String {
    let mut printed = String::with_capacity(text.len() + 2);
    printed.push('"');
    for letter in text.chars() {
        match letter {
            '"' => printed.push_str("\\\""),
            '\\' => printed.push_str("\\\\"),
            '\n' => printed.push_str("\\n"),
            '\r' => printed.push_str("\\r"),
            '\t' => printed.push_str("\\t"),
            letter => match escaped(letter) {
                Some(escaped) => printed.push_str(&escaped),
                None => printed.push(letter),
            },
        }
    }
    printed.push('"');
    printed
}
