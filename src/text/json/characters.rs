//! Characters that our parser and the readers of JSON in hosts treat differently.

use std::borrow::Cow;

use super::super::edit::ParseError;

/// Refuses what our parser accepts and no host does: control characters in strings, and white space between values that
/// JSON does not have. The text must parse.
pub(crate) fn check_characters(text: &str) -> Result<(), ParseError> {
    let mut rest = text.char_indices().peekable();
    let refused = |at: usize, message: String| Err(ParseError::at(text, at, message));
    while let Some((at, letter)) = rest.next() {
        match letter {
            '"' => loop {
                match rest.next() {
                    Some((_, '\\')) => drop(rest.next()),
                    Some((_, '"')) | None => break,
                    Some((at, control)) if control < ' ' => {
                        let (name, escape) = match control {
                            '\t' => ("a tab".to_owned(), "\\t".to_owned()),
                            '\n' => ("a line break".to_owned(), "\\n".to_owned()),
                            '\r' => ("a carriage return".to_owned(), "\\r".to_owned()),
                            _ => (named(control), format!("\\u{:04x}", u32::from(control))),
                        };
                        return refused(at, format!("{name} in a string; write it as `{escape}`"));
                    }
                    Some(_) => {}
                }
            },
            '/' if rest.next_if(|(_, next)| *next == '/').is_some() => {
                while rest.next_if(|(_, next)| !matches!(next, '\n' | '\r')).is_some() {}
            }
            '/' if rest.next_if(|(_, next)| *next == '*').is_some() => {
                while let Some((_, letter)) = rest.next() {
                    if letter == '*' && rest.next_if(|(_, next)| *next == '/').is_some() {
                        break;
                    }
                }
            }
            ' ' | '\t' | '\n' | '\r' => {}
            space if space.is_whitespace() => {
                return refused(at, format!("{} between values; replace it by a plain space", named(space)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// An invisible character, by its name.
fn named(letter: char) -> String {
    match letter {
        '\u{c}' => "a form feed".to_owned(),
        '\u{a0}' => "a no-break space".to_owned(),
        '\u{2028}' => "a line separator".to_owned(),
        other => format!("the character U+{:04X}", u32::from(other)),
    }
}

/// The text with the escapes of half a character replaced by others of the same length. Our strings have no halves, but
/// JavaScript's have, so its readers of JSON accept them.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    let halves: Vec<usize> = halves(text).collect();
    if halves.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut read, mut done) = (String::with_capacity(text.len()), 0);
    for at in halves {
        read.push_str(&text[done..at]);
        read.push_str("\\ufffd");
        done = at + ESCAPE;
    }
    read.push_str(&text[done..]);
    Cow::Owned(read)
}

/// The length of `\ud83d`.
const ESCAPE: usize = 6;

/// The bytes at which an escape of half a character begins, such as `\ud83d` without the second half.
fn halves(text: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text.get(at..)?.find('\\')?;
            let here = at;
            match unit(text, here) {
                Some(0xd800..=0xdbff) if matches!(unit(text, here + ESCAPE), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
                Some(0xd800..=0xdfff) => {
                    at += ESCAPE;
                    return Some(here);
                }
                // The backslash and the character after it.
                _ => at += 1 + text[here + 1..].chars().next().map_or(0, char::len_utf8),
            }
        }
    })
}

/// The code of an escape such as `\ud83d`.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_no_host_reads_are_named_with_their_place() {
        let rows = [
            ("{\n  \"a\": \"b\tc\"\n}", "line 2, column 10: a tab in a string; write it as `\\t`"),
            ("{\"a\": \"\u{1}\"}", "line 1, column 8: the character U+0001 in a string; write it as `\\u0001`"),
            ("{\"a\":\u{a0}1}", "line 1, column 6: a no-break space between values; replace it by a plain space"),
            ("{ // \"\n\u{c}\"a\": 1}", "line 2, column 1: a form feed between values; replace it by a plain space"),
            ("{/* \" */\"a\": \"\\\"\t\"}", "line 1, column 17: a tab in a string; write it as `\\t`"),
        ];
        for (text, expected) in rows {
            assert_eq!(check_characters(text).unwrap_err().to_string(), expected, "{text}");
        }
        for accepted in ["{\t\r\n}", "{\"a\": \"\u{a0}\u{2028}\u{7f}\\t\"}", "{ // \t\u{a0}\n /* \u{c} */ }", "", "\""]
        {
            assert_eq!(check_characters(accepted), Ok(()), "{accepted}");
        }
    }

    #[test]
    fn halves_of_characters_are_found_and_read_as_others() {
        let rows = [
            (r#""\ud83d""#, Some(1)),
            (r#""\ud83d\ude00 \uDE00x""#, Some(14)),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\ud83""#, None),
            ("\"\\é\"", None),
            ("\\", None),
        ];
        for (text, at) in rows {
            assert_eq!(halves(text).next(), at, "{text}");
            assert_eq!(readable(text).len(), text.len());
        }
        assert_eq!(readable(r#""\ud83d\ud83d\ude00\udfff""#), r#""\ufffd\ud83d\ude00\ufffd""#);
    }
}
