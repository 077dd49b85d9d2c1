//! What `sed` scripts and pieces of code leave in a file.

use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::content::Content;
use crate::text::words::word_list;

/// The content that a `sed` script leaves in its file, if it can be determined: `10,$d`, `1,40d`, `20q`, and with `-n`
/// `1,20p`.
pub(super) fn left_by(script: &str, prints_only: bool) -> Option<Content> {
    let mut parts = script.split([';', '\n']).filter_map(|part| left_by_one(part, prints_only));
    let first = parts.next()?;
    // If there are several commands, each removes something.
    Some(parts.fold(first, |left, also| match (left, also) {
        (Content::Lines(one), Content::Lines(other)) => Content::Lines(one.min(other)),
        (Content::Edited { fewer, more }, Content::Edited { fewer: also, .. }) => {
            Content::Edited { fewer: fewer.saturating_add(also), more }
        }
        (Content::Lines(lines), _) | (_, Content::Lines(lines)) => Content::Lines(lines),
        (left, _) => left,
    }))
}

/// The content that an editor command leaves: `10,$d`, `%d`.
pub(super) fn left_by_editor(command: &str) -> Option<Content> {
    let command = command.trim().trim_start_matches(['+', ':']);
    if command == "%d" || command == ",d" {
        return Some(Content::Lines(0));
    }
    command.ends_with('d').then(|| left_by_one(command, false)).flatten()
}

/// How many lines a script of `awk`, `perl` or `ruby` keeps if it selects them by number: `NR<10`, `print if $. < 10`.
pub(super) fn kept_by_number(script: &str) -> Option<usize> {
    static PICKING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let of_awk = r"^NR *(<=?) *(\d+) *(?:\{ *print *;? *\})?$";
        let of_perl = r"^(?:print|puts \$_|puts) if \$\. *(<=?) *(\d+) *;?$";
        let unless = r"^(?:print|puts \$_|puts) unless (\d+) *\.\.\.? *(?:eof|-1) *;?$";
        Regex::new(&format!("{of_awk}|{of_perl}|{unless}")).ok()
    });
    let found = PICKING.as_ref()?.captures(script.trim())?;
    let number = |at: usize| found.get(at).and_then(|number| number.as_str().parse::<usize>().ok());
    let up_to = |mark: usize, at: usize| {
        Some(if found.get(mark)?.as_str() == "<" { number(at)?.saturating_sub(1) } else { number(at)? })
    };
    up_to(1, 2).or_else(|| up_to(3, 4)).or_else(|| Some(number(5)?.saturating_sub(1)))
}

fn left_by_one(script: &str, prints_only: bool) -> Option<Content> {
    let script = script.trim();
    let verb = script.chars().last()?;
    let (from, to) = range(script[..script.len() - verb.len_utf8()].trim())?;
    let count = to.map(|to| to.saturating_sub(from).saturating_add(1));
    match (verb, prints_only) {
        ('d', false) => Some(match count {
            Some(count) => Content::Edited { fewer: count, more: 0 },
            None => Content::Lines(from.saturating_sub(1)),
        }),
        ('q', false) => Some(Content::Lines(from)),
        ('p', true) => count.map(Content::Lines),
        _ => None,
    }
}

/// The lines that an address names; the last is `None` for the end of the file. An empty address means the whole file.
fn range(address: &str) -> Option<(usize, Option<usize>)> {
    match address.split_once(',') {
        Some((from, "$")) => Some((from.trim().parse().ok()?, None)),
        Some((from, to)) => Some((from.trim().parse().ok()?, Some(to.trim().parse().ok()?))),
        None if address.is_empty() => Some((1, None)),
        None => address.parse().ok().map(|line| (line, Some(line))),
    }
}

/// Files that a piece of code opens to write and does not read, with the number of lines that the code contains for
/// them.
pub(super) fn written_by_code(code: &str) -> Vec<(String, Content)> {
    const READING: &[&str] =
        &["read(", "read_text(", "readFileSync(", "readlines(", "load(", "import json", "'r'", "\"r\""];
    if READING.iter().any(|word| code.contains(word)) {
        return Vec::new();
    }
    // Computed once, because there may be many files.
    let lines = code.matches('\n').count() + code.matches("\\n").count() + 1;
    let mut written = Vec::new();
    let mut at = 0;
    for text in code.split(['\'', '"']) {
        let (start, end) = (at, at + text.len());
        at = end + 1;
        if start == 0 || Path::new(text).extension().is_none_or(|end| end != "md") {
            continue;
        }
        // `open F, ">file"`.
        if let Some(name) = text.strip_prefix('>').filter(|name| !name.starts_with('>')) {
            written.push((name.trim().to_owned(), Content::Lines(lines)));
            continue;
        }
        let before = code[..start].trim_end_matches(['\'', '"']);
        if let Some(source) = source_of(before) {
            written.push((text.to_owned(), Content::OfFiles(vec![source])));
            continue;
        }
        let behind = code[end..].trim_start_matches(['\'', '"']).trim_start();
        let mode = behind.strip_prefix(',').map(|mode| mode.trim_start().trim_start_matches("mode=").trim_start());
        let opens = mode.is_some_and(|mode| mode.starts_with("'w") || mode.starts_with("\"w"));
        let is_given = |functions: &[&str]| functions.iter().any(|function| before.ends_with(function));
        let opens = opens || [r"'>', ", "\">\", ", "'>',", "\">\","].iter().any(|mode| before.ends_with(mode));
        if is_given(REMOVING) || behind.starts_with(").unlink(") {
            written.push((text.to_owned(), Content::Removed));
        } else if opens || behind.starts_with(").write_text(") || is_given(WRITING) {
            written.push((text.to_owned(), Content::Lines(lines)));
        }
    }
    written
}

/// Functions that give the file with a name new content.
const WRITING: &[&str] =
    word_list!("writeFileSync( writeFile( writeTextFileSync( writeTextFile( File.write( file_put_contents( Bun.write(");

/// Functions that remove the file with a name.
const REMOVING: &[&str] = &["remove(", "unlink(", "unlinkSync(", "rmSync(", "rm(", "File.delete(", "removeSync("];

/// Functions that replace one file with another.
const COPYING: &[&str] =
    word_list!("copy( copyfile( copy2( move( replace( rename( copyFileSync( copyFile( renameSync( cp( mv(");

/// The file that replaces the one whose name follows: `copy('a', `.
fn source_of(before: &str) -> Option<String> {
    let rest = before.trim_end().strip_suffix(',')?.trim_end();
    let quote = rest.chars().next_back().filter(|quote| matches!(*quote, '\'' | '"'))?;
    let rest = &rest[..rest.len() - 1];
    let start = rest.rfind(quote)?;
    COPYING.iter().any(|function| rest[..start].ends_with(function)).then(|| rest[start + 1..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_are_read_if_they_select_lines_by_number() {
        let left = |script: &str| left_by(script, false);
        assert_eq!(left("10,$d"), Some(Content::Lines(9)));
        assert_eq!(left("1,40d"), Some(Content::Edited { fewer: 40, more: 0 }));
        assert_eq!(left("7d"), Some(Content::Edited { fewer: 1, more: 0 }));
        assert_eq!((left("20q"), left("d")), (Some(Content::Lines(20)), Some(Content::Lines(0))));
        assert_eq!(left_by("1,20p", true), Some(Content::Lines(20)));
        let all = format!("0,{}p", usize::MAX);
        assert_eq!(left_by(&all, true), Some(Content::Lines(usize::MAX)));
        for script in ["s/a/b/", "/x/d", "/x/,$d", "", "p", "1,20p", "$d", "ä", "1,2,3d"] {
            assert_eq!(left(script), None, "{script}");
        }
    }

    #[test]
    fn code_that_only_writes_a_file_is_distinguished_from_code_that_edits_it() {
        let written = |code: &str| written_by_code(code).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        for code in [
            "open('.planning/STATE.md','w').write('x')",
            "open(\".planning/STATE.md\", \"w\").write(\"x\")",
            "from pathlib import Path; Path('.planning/STATE.md').write_text('x')",
            "require('fs').writeFileSync('.planning/STATE.md', 'x')",
        ] {
            assert_eq!(written(code), [".planning/STATE.md"], "{code}");
        }
        for code in [
            "p='.planning/STATE.md'; t=open(p).read(); open(p,'w').write(t.replace('a','b'))",
            "open('.planning/STATE.md','a').write('x')",
            "print(open('.planning/STATE.md'))",
            "",
        ] {
            assert!(written(code).is_empty(), "{code}");
        }
    }
    #[test]
    fn every_file_in_long_code_is_found() {
        let code = "open('a.md','w');".repeat(100_000);
        assert_eq!(written_by_code(&code).len(), 100_000);
        let code = (0..100_000).map(|number| format!("'x{number}';")).collect::<Vec<_>>().concat();
        assert!(written_by_code(&code).is_empty());
    }
}
