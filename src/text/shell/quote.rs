//! Words as a shell reads them back.

/// `path` as one word of a shell; a leading `~/` still means the home.
pub(crate) fn shell_word(path: &str) -> String {
    let (home, rest) = match path.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", path),
    };
    if rest.chars().all(|c| c.is_alphanumeric() || "/._-+:@%,=".contains(c)) {
        return path.to_owned();
    }
    let mut word = format!("{home}\"");
    for c in rest.chars() {
        if "\"\\$`".contains(c) {
            word.push('\\');
        }
        word.push(c);
    }
    word.push('"');
    word
}
