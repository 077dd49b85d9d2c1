//! Text on its way to a terminal. What came from a file may hold characters that move the cursor, rewrite the screen, or
//! turn the order of letters round: these are spelled out.

/// The text with every such character spelled as `\u{1b}`. Line ends and tabs stay, and so do colours.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(length) = colour(rest) {
            shown.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            let letter = rest.chars().next().unwrap_or_default();
            shown.extend(letter.escape_unicode());
            rest = &rest[letter.len_utf8()..];
        }
    }
    shown + rest
}

/// Whether a character does more than to be seen.
fn acts(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// The length of the sequence at the start of a text, where it sets a colour and nothing else.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    numbers[end..].starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_or_turns_is_spelled_and_colours_stay() {
        for plain in ["", "ä\tb\n", "\u{1b}[31mred\u{1b}[0m", "\u{1b}[1;4m", "日本語 👩‍💻"] {
            assert_eq!(shown(plain), plain);
        }
        assert_eq!(shown("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(shown("\u{9b}2J\r\u{7}\u{1b}]0;t\u{7}"), "\\u{9b}2J\\u{d}\\u{7}\\u{1b}]0;t\\u{7}");
        assert_eq!(shown("x\u{202e}y\u{2066}"), "x\\u{202e}y\\u{2066}");
        assert_eq!(shown("\u{1b}[31"), "\\u{1b}[31");
        assert_eq!(shown("\r\n"), "\\u{d}\n");
    }
}
