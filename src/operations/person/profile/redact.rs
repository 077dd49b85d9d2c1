//! Secrets in what a person typed: taken out before it is quoted.

/// What stands in the place of a secret.
const REDACTED: &str = "[REDACTED]";

/// Beginnings of words that are keys of services.
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
/// Words before `=` or `:` behind which a secret stands.
const NAMES: &[&str] =
    &["password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "private_key"];
/// A key is at least this long.
const SHORTEST: usize = 12;

/// The text without its secrets, and how many there were. A home folder loses the name of its owner.
pub(super) fn redact(text: &str) -> (String, usize) {
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

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_are_taken_out_and_counted() {
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
