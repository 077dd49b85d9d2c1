//! Splits a Markdown body into blocks, and a block into zones: prose, code between backticks, lines of a fence.

use super::include_path;

/// A fence with its marker lines, or text outside fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextBlock<'a> {
    pub(super) text: &'a str,
    pub(super) fenced: bool,
    /// A fence whose lines may be commands: with a shell language, or without a language.
    shell: bool,
}

/// A stretch of a block that is read in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone<'a> {
    pub(super) text: &'a str,
    pub(super) fenced: bool,
    inline: bool,
    shell: bool,
}

impl Zone<'_> {
    /// True for code between backticks.
    pub(super) fn is_inline(&self) -> bool {
        self.inline
    }

    /// True for text that is neither code between backticks nor in a fence.
    pub(super) fn is_prose(&self) -> bool {
        !self.inline && !self.fenced
    }

    /// True for code that may contain commands.
    pub(super) fn is_shell(&self) -> bool {
        self.inline || self.shell
    }
}

/// Splits a body at its fences. The texts together are the body.
pub(super) fn blocks(body: &str) -> Vec<TextBlock<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut position = 0;
    let mut open: Option<(&str, bool)> = None;
    for line in body.split_inclusive('\n') {
        let end = position + line.len();
        let bare = line.trim();
        match open {
            None => {
                if let Some((marker, language)) = fence(bare) {
                    push(&mut found, &body[start..position], false, false);
                    start = position;
                    open = Some((marker, matches!(language, "" | "bash" | "sh" | "shell" | "zsh" | "console")));
                }
            }
            Some((marker, shell)) => {
                if bare.starts_with(marker) && bare.trim_start_matches(&marker[..1]).is_empty() {
                    push(&mut found, &body[start..end], true, shell);
                    start = end;
                    open = None;
                }
            }
        }
        position = end;
    }
    push(&mut found, &body[start..], open.is_some(), open.is_some_and(|(_, shell)| shell));
    found
}

fn push<'a>(found: &mut Vec<TextBlock<'a>>, text: &'a str, fenced: bool, shell: bool) {
    if !text.is_empty() {
        found.push(TextBlock { text, fenced, shell });
    }
}

/// The marker and the language of a line that opens a fence.
fn fence(line: &str) -> Option<(&str, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    let (marker, information) = line.split_at(length);
    let language = information.split_whitespace().next().unwrap_or("");
    (length >= 3 && !information.contains('`')).then_some((marker, language))
}

impl<'a> TextBlock<'a> {
    /// The include lines of a block outside fences (`Ok`, the path) and the text between them (`Err`).
    pub(super) fn split_include_lines(&self) -> Vec<Result<&'a str, TextBlock<'a>>> {
        let mut parts = Vec::new();
        let mut start = 0;
        let mut position = 0;
        for line in self.text.split_inclusive('\n') {
            let end = position + line.len();
            if let Some(path) = include_path(line) {
                if start < position {
                    parts.push(Err(TextBlock { text: &self.text[start..position], ..*self }));
                }
                parts.push(Ok(path));
                start = end;
            }
            position = end;
        }
        if start < self.text.len() {
            parts.push(Err(TextBlock { text: &self.text[start..], ..*self }));
        }
        parts
    }
}

/// Splits a block: a fence is one zone; elsewhere code between backticks is separate from prose, even if it continues
/// on the next line, but never across a blank line.
pub(super) fn zones<'a>(block: &TextBlock<'a>) -> Vec<Zone<'a>> {
    if block.fenced {
        return vec![Zone { text: block.text, fenced: true, inline: false, shell: block.shell }];
    }
    let mut found = Vec::new();
    let mut push = |text: &'a str, inline: bool| {
        if !text.is_empty() {
            found.push(Zone { text, fenced: false, inline, shell: false });
        }
    };
    let mut rest = block.text;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let inside = &rest[open + ticks..];
        let Some(length) = closing(inside, ticks) else {
            push(&rest[..open + ticks], false);
            rest = inside;
            continue;
        };
        push(&rest[..open + ticks], false);
        push(&inside[..length], true);
        push(&inside[length..length + ticks], false);
        rest = &inside[length + ticks..];
    }
    push(rest, false);
    found
}

/// The distance to the closing run of `ticks` backticks, within the paragraph.
fn closing(inside: &str, ticks: usize) -> Option<usize> {
    let mut position = 0;
    while let Some(next) = inside[position..].find('`') {
        let start = position + next;
        if inside[position..start].contains("\n\n") {
            return None;
        }
        let run = inside[start..].len() - inside[start..].trim_start_matches('`').len();
        if run == ticks {
            return Some(start);
        }
        position = start + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_zones_together_are_the_body() {
        let body = "one `two` three\n\n   ```bash\n   four\n   ```\nfive ``si`x`` seven `eight\n\nnine` ten\n~~~\n```\n~~~\n```xml\nlast";
        let all: Vec<TextBlock<'_>> = blocks(body);
        assert_eq!(all.iter().map(|block| block.text).collect::<String>(), body);
        let zones: Vec<Zone<'_>> = all.iter().flat_map(zones).collect();
        assert_eq!(zones.iter().map(|zone| zone.text).collect::<String>(), body);
        let inline: Vec<&str> = zones.iter().filter(|zone| zone.inline).map(|zone| zone.text).collect();
        assert_eq!(inline, ["two", "si`x"]);
        let fences: Vec<(&str, bool)> =
            zones.iter().filter(|zone| zone.fenced).map(|zone| (zone.text, zone.shell)).collect();
        assert_eq!(
            fences,
            [("   ```bash\n   four\n   ```\n", true), ("~~~\n```\n~~~\n", true), ("```xml\nlast", false),]
        );
    }

    #[test]
    fn code_may_continue_on_the_next_line() {
        let text = "run `gsd-tools x\n  y` now";
        let block = blocks(text)[0];
        let inline: Vec<&str> = zones(&block).iter().filter(|zone| zone.inline).map(|zone| zone.text).collect();
        assert_eq!(inline, ["gsd-tools x\n  y"]);
    }

    #[test]
    fn include_lines_are_found_between_texts() {
        let block = blocks("a\n@workflows/x.md\nb @references/y.md\n")[0];
        let parts: Vec<String> = block
            .split_include_lines()
            .into_iter()
            .map(|part| part.map_or_else(|text| text.text.to_owned(), |path| format!("<{path}>")))
            .collect();
        assert_eq!(parts, ["a\n", "<workflows/x.md>", "b @references/y.md\n"]);
    }
}
