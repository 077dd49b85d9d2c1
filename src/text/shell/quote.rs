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
/// The first letter of a name on which a shell would act wherever the name stands without quotes: one that starts a command,
/// ends one, or opens a quotation. Blanks and patterns only give other words.
pub(crate) fn acting_letter(name: &str) -> Option<char> {
    name.chars().find(|letter| letter.is_control() || "$`;&|<>()'\"\\".contains(*letter))
}
