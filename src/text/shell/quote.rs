//! Quotes words so that a shell reads them back.

use std::fmt::Write as _;

/// `path` as one shell word; a leading `~/` still means the home. Characters that a terminal would act on are escaped
/// in the form that bash, zsh and ksh read back; other shells see a harmless word.
pub(crate) fn shell_word(path: &str) -> String {
    let (home, rest) = match path.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", path),
    };
    let is_plain = rest.chars().all(|c| c.is_alphanumeric() || "/._-+:@%,=".contains(c));
    // Zsh looks up a program for a word that begins with `=`.
    if is_plain && !path.is_empty() && !path.starts_with('=') {
        return path.to_owned();
    }
    if rest.chars().any(is_unseen) {
        return home.to_owned() + &spelled(rest);
    }
    // An interactive bash replaces `!word` by an earlier command, even between double quotes.
    if rest.contains('!') {
        return format!("{home}'{}'", rest.replace('\'', r"'\''"));
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

/// True if a terminal acts on a character, or does not show it.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text between `$'` and `'`, with every invisible byte in octal.
fn spelled(text: &str) -> String {
    let mut word = "$'".to_owned();
    for letter in text.chars() {
        match letter {
            '\n' => word.push_str("\\n"),
            // A shell without this form reads a text between single quotes, which must not end before the last letter.
            letter if is_unseen(letter) || matches!(letter, '!' | '\'' | '\\') => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(word, "\\{byte:03o}");
                }
            }
            letter => word.push(letter),
        }
    }
    word.push('\'');
    word
}

/// The first letter of a name that a shell would act on if the name is not quoted: one that starts a command, ends one,
/// or opens a quotation. Blanks and patterns only change the words.
pub(crate) fn acting_letter(name: &str) -> Option<char> {
    let acts = |letter: &char| {
        letter.is_control() || matches!(letter, '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '\'' | '"' | '\\')
    };
    name.chars().find(acts)
}
