//! Text on its way to a terminal. What came from a file may hold characters that move the cursor, rewrite the screen, or
//! turn the order of letters round: these are spelled out.

/// The text with every such character spelled as `\u{1b}`. Line ends and tabs stay, and so do the [`COLOURS`].
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

/// The colours that this program uses: none of them hides what is written.
const COLOURS: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// The length of the colour at the start of a text.
fn colour(text: &str) -> Option<usize> {
    COLOURS.iter().find(|colour| text.starts_with(**colour)).map(|colour| colour.len())
}

/// A text without the sequences by which programs colour it.
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

/// The text without all that a terminal acts on: colours, and whatever else moves, turns or hides.
pub(crate) fn plain(text: &str) -> String {
    without_colours(text).chars().filter(|letter| !acts(*letter)).collect()
}

/// The last `bytes` of a text, from the start of a character on.
pub(crate) fn last(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_or_turns_is_spelled_and_colours_stay() {
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
