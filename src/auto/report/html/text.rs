//! Escapes text for HTML. Text of a document is never markup.

use super::super::facts::{acts, with_code};

/// Text on one line, also inside an attribute between double quotes. Characters that cannot be seen, or that reverse the
/// order of letters, are shown as their escapes.
pub(super) fn escaped(text: &str) -> String {
    escape(text, false)
}

/// Text with its line ends and tabs.
pub(super) fn escaped_lines(text: &str) -> String {
    escape(text, true)
}

/// Text on one line, in which code between backticks is marked as code.
pub(super) fn prose(text: &str) -> String {
    let part = |(part, is_code)| if is_code { code(part) } else { escaped(part) };
    with_code(text).into_iter().map(part).collect()
}

/// The same with its line ends.
pub(super) fn prose_lines(text: &str) -> String {
    text.lines().map(prose).collect::<Vec<_>>().join("\n")
}

/// Code on one line.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

fn escape(text: &str, keeps_lines: bool) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' if keeps_lines => escaped.push(letter),
            '\n' | '\t' => escaped.push(' '),
            letter if acts(letter) => escaped.extend(letter.escape_unicode()),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        assert_eq!(
            escaped("</script><img src=x onerror='a(\"b\")'>&\n"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp; "
        );
        assert_eq!(escaped("a\u{202e}b\u{0}\u{1b}[31m"), "a\\u{202e}b\\u{0}\\u{1b}[31m");
        assert_eq!(escaped_lines("a\n\tb\r"), "a\n\tb\\u{d}");
        assert_eq!(prose("run `<b>` & go"), "run <code>&lt;b&gt;</code> &amp; go");
        assert_eq!(escaped("\u{65e5}\u{672c} \u{5d0}"), "\u{65e5}\u{672c} \u{5d0}");
    }
}
