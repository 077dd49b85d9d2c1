//! Failures that need not be seen: those of commands that only clean up after a test.

use super::facts::Facts;
use super::lexer::{Language, Token};
use super::span::Span as _;
use crate::text::words::word_list;

/// Calls that remove what a test left.
const CLEANING: &[&str] = word_list!(
    "remove removedirs removeSync unlink unlinkSync rm rmSync rmdir rmdirSync rmtree RemoveAll remove_file
     remove_dir_all kill terminate close closeSync shutdown disconnect destroy cleanup"
);

/// Calls that give the path to remove, or the time to do it.
const AROUND: &[&str] = word_list!(
    "join Path path str resolve exists cwd getcwd gettempdir tmpdir after afterEach afterAll teardown addCleanup defer
     suppress"
);

/// Shell commands that remove something.
const COMMANDS: &[&str] = &["rm", "rmdir", "unlink", "kill", "umount", "wait", "popd"];

/// True if the guarded code on a line of a source, whose failure is hidden, only cleans up.
pub(super) fn only_cleans(facts: &Facts<'_>, line: usize) -> bool {
    let tokens = &facts.tokens;
    let begin = tokens.start_of(line);
    let end = tokens.start_of(line + 1);
    let Some(first) = tokens.get(begin) else { return false };
    let guarded = match facts.language {
        Language::Python if first.is_word("except") => {
            let is_head = |at: &usize| tokens[*at].column == first.column && tokens.begins_line(*at);
            let from = (0..begin).rev().find(is_head).filter(|from| tokens.is_word(*from, "try"));
            from.map(|from| (from + 1, begin))
        }
        Language::Python if first.is_word("with") => {
            let body = tokens.iter().skip(end).position(|token| token.column <= first.column);
            Some((end, body.map_or(tokens.len(), |count| end + count)))
        }
        Language::Script => caught(facts, begin, end),
        _ => None,
    };
    guarded.and_then(|(from, to)| tokens.get(from..to)).is_some_and(takes_away)
}

/// The code before `.catch(() => {})`, or the code in the block before `catch {}`.
fn caught(facts: &Facts<'_>, begin: usize, end: usize) -> Option<(usize, usize)> {
    let tokens = &facts.tokens;
    let at = (begin..end).rev().find(|at| tokens.is_word(*at, "catch"))?;
    let before = at.checked_sub(1)?;
    if tokens.get(before)?.is_mark(".") {
        return Some((begin, before));
    }
    let open = facts.partner(before)?;
    tokens.is_word(open.checked_sub(1)?, "try").then_some((open + 1, before))
}

fn takes_away(tokens: &[Token<'_>]) -> bool {
    tokens.called().any(|word| CLEANING.contains(&word))
        && tokens.called().all(|word| CLEANING.contains(&word) || AROUND.contains(&word))
        && !tokens
            .iter()
            .any(|token| token.text.starts_with("assert") || matches!(token.text, "expect" | "throw" | "raise"))
}

/// True if a line of a shell or of a recipe runs only commands that remove something.
pub(super) fn line_only_cleans(line: &str) -> bool {
    let line = line.split("||").next().unwrap_or_default();
    let line =
        line.trim().trim_start_matches(['@', '-', '+']).trim_start_matches("trap ").trim_start_matches(['\'', '"']);
    let mut parts = line.split([';', '&', '|']).map(str::trim).filter(|part| !part.is_empty()).peekable();
    let is_plain = !line.contains(['`', '\n']) && !line.contains("$(");
    // `2>/dev/null` and `2>&1` are not commands.
    is_plain
        && parts.peek().is_some()
        && parts.all(|part| {
            let first = part.split_whitespace().next().unwrap_or_default();
            COMMANDS.contains(&first) || part.chars().all(|letter| letter.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleans(path: &str, text: &str, line: usize) -> bool {
        only_cleans(&Facts::read(text, Language::of(path).unwrap()), line)
    }

    #[test]
    fn cleanup_is_distinguished_from_tested_code() {
        for (path, text, line, expected) in [
            ("a.py", "try:\n    os.remove('a')\nexcept FileNotFoundError:\n    pass\n", 3, true),
            ("a.py", "try:\n    add(1, 2)\nexcept FileNotFoundError:\n    pass\n", 3, false),
            ("a.py", "try:\n    os.remove('a')\n    self.assertEqual(1, a)\nexcept OSError:\n    pass\n", 4, false),
            ("a.py", "try:\n    os.remove('a')\n    add(1, 2)\nexcept OSError:\n    pass\n", 4, false),
            ("a.py", "with contextlib.suppress(OSError):\n    os.remove(os.path.join(d, 'a'))\nadd(1)\n", 1, true),
            ("a.py", "with contextlib.suppress(OSError):\n    add(1, 2)\n", 1, false),
            ("a.js", "t.after(() => fs.promises.unlink('a').catch(() => {}))\n", 1, true),
            ("a.js", "check(1).catch(() => {})\n", 1, false),
            ("a.js", "try {\n  fs.unlinkSync('a')\n} catch {}\n", 3, true),
            ("a.js", "try {\n  assert.equal(add(1, 2), 3)\n} catch {}\n", 3, false),
        ] {
            assert_eq!(cleans(path, text, line), expected, "{text}");
        }
        for (line, expected) in [
            ("rm -f out || true", true),
            ("rm \"$d/none\" 2>/dev/null || true", true),
            ("kill $pid 2>&1 || :", true),
            ("\t-rm -f *.o", true),
            ("trap 'rm -rf \"$d\" || true' EXIT", true),
            ("rm -f out; sh test.sh || true", false),
            ("rm $(sh test.sh) || true", false),
            ("sh test.sh || true", false),
            ("|| true", false),
        ] {
            assert_eq!(line_only_cleans(line), expected, "{line}");
        }
    }
}
