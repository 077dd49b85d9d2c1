//! Removes secrets from text before it is quoted or kept.

use std::borrow::Cow;

/// Replaces a secret.
const REDACTED: &str = "[REDACTED]";

/// Prefixes of keys of services.
const KEYS: &[&str] = &[
    "sk-",
    "pk-",
    "rk_",
    "sk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "npm_",
    "hf_",
    "-----BEGIN",
];
/// Names followed by `=` or `:` and a secret.
const NAMES: &[&str] =
    &["password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "private_key"];
/// A key is at least this long.
const SHORTEST: usize = 12;

/// Removes the secrets from a text and counts them. The owner's name is removed from paths of home folders.
pub(crate) fn redact(text: &str) -> (String, usize) {
    let mut count = 0;
    let mut after_bearer = false;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let was_after_bearer = std::mem::replace(&mut after_bearer, word.eq_ignore_ascii_case("bearer"));
            match redacted_word(word, was_after_bearer) {
                Some(word) => {
                    count += 1;
                    word
                }
                None => word.to_owned(),
            }
        })
        .collect();
    (words.join(" "), count)
}

fn redacted_word(word: &str, after_bearer: bool) -> Option<String> {
    let bare = word.trim_matches(|letter: char| matches!(letter, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '.'));
    if bare.is_empty() {
        return None;
    }
    if after_bearer || is_key(bare) {
        return Some(word.replacen(bare, REDACTED, 1));
    }
    if let Some(at) = bare.find(['=', ':']) {
        let (name, value) = (bare[..at].to_ascii_lowercase(), &bare[at + 1..]);
        let names_a_secret = NAMES.iter().any(|secret| name.ends_with(secret));
        if (names_a_secret && !value.is_empty() && !value.starts_with("//")) || is_key(value) {
            return Some(word.replacen(value, REDACTED, 1));
        }
    }
    for home in ["/home/", "/Users/", "C:\\Users\\"] {
        if let Some((before, rest)) = word.split_once(home) {
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            return Some(format!("{before}{home}{REDACTED}{}", &rest[end..]));
        }
    }
    None
}

fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST && KEYS.iter().any(|key| word.starts_with(key))
}

/// The kind of key in a line of a file, by its prefix. Stricter than hiding, because a line with a key is refused: a
/// name that only begins like a key does not count, nor does a value that is only named like a secret.
pub(crate) fn key_in(line: &str) -> Option<&'static str> {
    const PRIVATE: &str = "-----BEGIN";
    if line.split_once(PRIVATE).is_some_and(|(_, rest)| rest.contains("PRIVATE KEY-----")) {
        return Some("a private key");
    }
    // Most lines contain no prefix of a key, and need no closer look.
    if !KEYS.iter().any(|key| line.contains(key)) {
        return None;
    }
    let mut rest = line;
    while let Some(from) = rest.bytes().position(is_of_word) {
        rest = rest.get(from..)?;
        let length = rest.bytes().position(|byte| !is_of_word(byte)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let start = KEYS.iter().find(|key| **key != PRIVATE && word.starts_with(**key));
        if let Some(start) = start.filter(|start| is_whole_key(word, start, after)) {
            return Some(start);
        }
        rest = after;
    }
    None
}

/// True if a word that begins like a key is long and random enough for one. `after` is what follows it on its line.
fn is_whole_key(word: &str, start: &str, after: &str) -> bool {
    /// The keys of all services have at least this many characters.
    const SHORTEST_KEY: usize = 20;
    /// This many mixed letters and digits in a row are not a name made by a person.
    const RANDOM: usize = 16;
    // Examples in the documentation of services end like this.
    if word.len() < SHORTEST_KEY || word.ends_with("EXAMPLE") {
        return false;
    }
    let secret = &word[start.len()..];
    // A placeholder written by a person has no digits, or only digits.
    let is_mixed = |part: &str| {
        part.bytes().any(|byte| byte.is_ascii_digit()) && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    match start {
        "AKIA" | "ASIA" => {
            word.len() == SHORTEST_KEY && is_mixed(secret) && !secret.bytes().any(|byte| byte.is_ascii_lowercase())
        }
        // A token continues with a second part of this form. Other JSON, such as a source map, does not.
        "eyJ" => after.starts_with(".eyJ"),
        // Ordinary names can begin with these too.
        "sk-" | "pk-" | "sk_" | "rk_" | "npm_" | "hf_" => {
            secret.split(['-', '_']).any(|part| part.len() >= RANDOM && is_mixed(part))
        }
        _ => is_mixed(secret),
    }
}

/// Shorter values are not worth hiding.
const SHORTEST_VALUE: usize = 8;

/// A line of a byte stream, such as JSON, without its keys and without the values that are named like secrets.
pub(crate) fn redact_line(line: &[u8]) -> Cow<'_, [u8]> {
    let mut clean: Vec<u8> = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let is_inside_word =
            at.checked_sub(1).and_then(|before| line.get(before)).is_some_and(|byte| is_of_word(*byte));
        let found = if is_inside_word { named_value(rest, true) } else { secret(rest) };
        let Some((from, to)) = found else {
            at += 1;
            continue;
        };
        clean.extend_from_slice(line.get(kept..at + from).unwrap_or_default());
        clean.extend_from_slice(REDACTED.as_bytes());
        at += to;
        kept = at;
    }
    if kept == 0 {
        return Cow::Borrowed(line);
    }
    clean.extend_from_slice(line.get(kept..).unwrap_or_default());
    Cow::Owned(clean)
}

/// The range of the secret that begins with the word at the start of `text`.
fn secret(text: &[u8]) -> Option<(usize, usize)> {
    const PRIVATE: &[u8] = b"-----BEGIN";
    const END: &[u8] = b"-----END";
    if text.starts_with(PRIVATE) {
        let end = text.windows(END.len()).position(|part| part == END).map_or(text.len(), |at| at + END.len());
        return Some((0, end));
    }
    let length = run(text);
    if length >= SHORTEST && KEYS.iter().any(|key| text.starts_with(key.as_bytes())) {
        return Some((0, length));
    }
    let bearer = text.get(..7).filter(|word| word.eq_ignore_ascii_case(b"bearer ")).map(<[u8]>::len);
    if let Some(from) = bearer {
        let length = run(text.get(from..)?);
        return (length >= SHORTEST_VALUE).then_some((from, from + length));
    }
    named_value(text, false)
}

/// The range of the value after one of [`NAMES`] at the start of `text`. `is_end` is set if the name ends a longer
/// word.
fn named_value(text: &[u8], is_end: bool) -> Option<(usize, usize)> {
    let first = *text.first()?;
    if !matches!(first.to_ascii_lowercase(), b'p' | b's' | b't' | b'a') || (is_end && first == b'-') {
        return None;
    }
    let is_name = |name: &&&str| text.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()));
    let mut from = NAMES.iter().find(is_name)?.len();
    let mut has_sign = false;
    // As in `"token": "…"`, even if that is quoted again.
    while let Some(byte) = text.get(from) {
        match byte {
            b'=' | b':' if !has_sign => has_sign = true,
            b'"' | b'\'' | b'\\' => {}
            b' ' if has_sign => {}
            _ => break,
        }
        from += 1;
    }
    let length = run(text.get(from..)?);
    (has_sign && length >= SHORTEST_VALUE).then_some((from, from + length))
}

/// How many bytes at the start can belong to a key.
fn run(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_of_word(*byte) && !b"./+=~".contains(byte)).unwrap_or(text.len())
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{key_in, redact, redact_line};

    fn clean(line: &str) -> String {
        String::from_utf8(redact_line(line.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn keys_and_named_values_are_removed_from_a_line_of_a_stream() {
        for (line, expected) in [
            (r#"{"a":"sk-ant-api03-abcdefgh","b":1}"#, r#"{"a":"[REDACTED]","b":1}"#),
            (r#"{"h":"Authorization: Bearer abcdefgh.ijk"}"#, r#"{"h":"Authorization: Bearer [REDACTED]"}"#),
            (r#"{"access_token": "abcdefgh1", "n": 5}"#, r#"{"access_token": "[REDACTED]", "n": 5}"#),
            (r#"{"x":"{\"password\":\"correcthorse\"}"}"#, r#"{"x":"{\"password\":\"[REDACTED]\"}"}"#),
            ("API_KEY=abcdefgh1 make", "API_KEY=[REDACTED] make"),
            (r"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "[REDACTED] PRIVATE KEY-----"),
        ] {
            assert_eq!(clean(line), expected);
        }
        for line in [r#"{"output_tokens":12345678,"text":"the token: it is a task-list"}"#, "sk-", "", "bearer of news"]
        {
            assert_eq!(clean(line), line);
        }
    }

    #[test]
    fn a_key_in_a_file_is_distinguished_from_lookalikes() {
        assert_eq!(key_in("const key = \"ghp_0123456789abcdefABCDEF\""), Some("ghp_"));
        assert_eq!(key_in("AWS_KEY=AKIA0123456789ABCDEF"), Some("AKIA"));
        assert_eq!(key_in("-----BEGIN RSA PRIVATE KEY-----"), Some("a private key"));
        assert_eq!(key_in("\u{e9}: sk-ant-api03-0123456789abcdefABCD-x,"), Some("sk-"));
        assert_eq!(key_in("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), Some("eyJ"));
        for line in [
            "class=\"sk-loading-indicator-wide\"",
            "token: string",
            "sk-",
            "-----BEGIN CERTIFICATE-----",
            "npm_config_registry_url",
            "password=${PASSWORD}",
            ".sk-circle-fade-dot-number-12 { }",
            "sk_learn_version_0_24_2_wheel",
            "from hf_hub_download_v2_model import x",
            "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoiYSJ9",
            "AKIAIOSFODNN7EXAMPLE",
            "AKIAlowercase0123456789",
        ] {
            assert_eq!(key_in(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_key_never_stays_and_any_bytes_are_accepted(
            before in "[ -~]{0,20}[ \"=:{]", key in "[A-Za-z0-9]{12,30}", bytes in prop::collection::vec(any::<u8>(), 0..200)
        ) {
            let line = format!("{before}ghp_{key} after");
            prop_assert!(!clean(&line).contains(&key), "{line}");
            let _ = redact_line(&bytes);
        }
    }

    #[test]
    fn secrets_are_removed_and_counted() {
        let text = "my key sk-ant-api03-abcdefghijklm and \"ghp_abcdefghijklmnop\", AKIAIOSFODNN7EXAMPLE password=hunter2 Bearer abc.def /home/bob/x TOKEN: eyJhbGciOiJI.x";
        let (clean, count) = redact(text);
        assert_eq!(
            clean,
            "my key [REDACTED] and \"[REDACTED]\", [REDACTED] password=[REDACTED] Bearer [REDACTED] /home/[REDACTED]/x TOKEN: [REDACTED]"
        );
        assert_eq!(count, 7);
    }

    #[test]
    fn plain_words_stay() {
        for text in
            ["fix the sk- prefix", "token: the word", "https://example.com/a:b", "é = = :", "", "task-list-of-mine"]
        {
            assert_eq!(redact(text), (text.to_owned(), 0), "{text}");
        }
    }
}
