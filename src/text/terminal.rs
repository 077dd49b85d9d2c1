//! Makes text safe for a terminal. Text from a file may contain characters that move the cursor, rewrite the screen, or
//! reverse the order of letters: these are escaped.

use std::fmt::Write as _;

/// Escapes every such character as `\u{1b}`. Line ends and tabs stay, and so do the [`COLOURS`].
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

/// True if a terminal does more with a character than show it.
fn acts(letter: char) -> bool {
    turns(letter) || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// True if a character reverses the order of letters, or begins a line.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The colours that this program uses: none of them hides text.
const COLOURS: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// The length of the colour sequence at the start of a text.
fn colour(text: &str) -> Option<usize> {
    COLOURS.iter().find(|colour| text.starts_with(**colour)).map(|colour| colour.len())
}

/// The text without the escape sequences that colour it.
pub(crate) fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = sequence.find(|letter: char| ('@'..='~').contains(&letter)).map_or(sequence.len(), |at| at + 1);
        rest = &sequence[end..];
    }
    plain.push_str(rest);
    plain.replace('\r', "")
}

/// The text without everything that a terminal acts on: colours, and all that moves, reverses or hides text.
pub(crate) fn plain(text: &str) -> String {
    without_colours(text).chars().filter(|letter| !acts(*letter)).collect()
}

/// The text as one harmless line: colours and marks that reverse the order of letters are removed, and each run of
/// control characters, blanks and line ends becomes one blank.
pub(crate) fn one_line(text: &str) -> String {
    let text = without_colours(text);
    let seen =
        text.chars().filter(|letter| !turns(*letter)).map(|letter| if letter.is_control() { ' ' } else { letter });
    seen.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// JSON with every letter that a terminal acts on escaped, such as `\u009b`: its meaning is the same.
pub(crate) fn in_json(json: String) -> String {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    if json.bytes().all(is_plain) || !json.contains(acts_in_json) {
        return json;
    }
    let mut spelled = String::with_capacity(json.len());
    for letter in json.chars() {
        if acts_in_json(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(spelled, "\\u{unit:04x}");
            }
        } else {
            spelled.push(letter);
        }
    }
    spelled
}

/// A line end or tab in JSON is between its values; inside a text it is already escaped.
fn acts_in_json(letter: char) -> bool {
    acts(letter) && letter != '\r'
}

/// The last `bytes` of a text, beginning at the start of a character.
pub(crate) fn last(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_move_or_reverse_are_escaped_and_colours_stay() {
        for plain in ["", "ä\tb\n", "\u{1b}[31mred\u{1b}[0m", "日本語 👩‍💻"] {
            assert_eq!(shown(plain), plain);
        }
        assert_eq!(shown("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(shown("\u{9b}2J\r\u{7}\u{1b}]0;t\u{7}"), "\\u{9b}2J\\u{d}\\u{7}\\u{1b}]0;t\\u{7}");
        assert_eq!(shown("x\u{202e}y\u{2066}"), "x\\u{202e}y\\u{2066}");
        assert_eq!(shown("a\u{1b}[8m; rm x\u{1b}[30;40m"), "a\\u{1b}[8m; rm x\\u{1b}[30;40m");
        assert_eq!(shown("\u{1b}[31"), "\\u{1b}[31");
        assert_eq!(shown("\r\n"), "\\u{d}\n");
    }
}
