//! The text of a pull request: the report of the run, and the statement of what was tested.

use crate::auto::memory::LoggedCandidate;
use crate::text::shell::typed;

/// The most bytes of a text: the forges take 65,536 characters or more.
const MOST: usize = 60_000;

/// Returns the text. `report` is Markdown, `statement` JSON.
pub(crate) fn body(report: &str, statement: Option<&str>, candidate: &LoggedCandidate) -> String {
    let (commit, tree) = (&candidate.commit, &candidate.tree);
    let shows = typed!("git rev-parse {}", format!("{commit}^{{tree}}"));
    let proof = statement.map_or(String::new(), |statement| {
        format!(
            "\n## Statement of what was tested\n\nThe checks ran on commit `{commit}`. As long as `{shows}` prints \
             `{tree}`, these are the files that were tested.\n\n<details><summary>in-toto statement, not signed</summary>\n\n```json\n{}\n\
             ```\n\n</details>\n",
            statement.replace("```", "` ` `")
        )
    });
    let room = MOST.saturating_sub(proof.len());
    let report = quiet(report);
    if report.len() <= room {
        return report + &proof;
    }
    let rest = "\n\nThe rest is left out here: `gsd-tools auto report --md` prints it.\n";
    let lines = report.split_inclusive('\n').scan(rest.len(), |bytes, line| {
        *bytes += line.len();
        (*bytes <= room).then_some(line)
    });
    let mut cut: String = lines.collect();
    if is_open(&cut) {
        cut += "```\n";
    }
    cut + rest + &proof
}

/// True if a text ends inside a fenced block.
fn is_open(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

/// An empty comment, which keeps two parts of a word from being read as one.
const APART: &str = "<!-- -->";

/// Takes the effect from what a forge would act on in the text of a document: `@name` sends mail, `Closes #1` and the
/// address of an issue close one. Code has no effect.
fn quiet(text: &str) -> String {
    let mut quiet = String::with_capacity(text.len());
    let mut is_fenced = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence {
            quiet += line;
        } else {
            quiet_line(line, &mut quiet);
        }
    }
    quiet
}

fn quiet_line(line: &str, quiet: &mut String) {
    let (mut is_code, mut is_escaped, mut is_tag) = (false, false, false);
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        quiet.push(letter);
        let next = letters.peek().map(|(_, next)| *next);
        is_code ^= letter == '`' && !is_escaped;
        is_tag = if letter == '<' { true } else { is_tag && letter != '>' };
        is_escaped = letter == '\\' && !is_escaped;
        if is_code || is_tag {
            continue;
        }
        let acts = match letter {
            '@' => next.is_some_and(char::is_alphanumeric),
            '#' | '!' => next.is_some_and(|next| next.is_ascii_digit()),
            '/' => ["issues/", "pull/", "merge_requests/"]
                .iter()
                .any(|part| line.get(at + 1..).is_some_and(|rest| rest.starts_with(part))),
            _ => false,
        };
        if acts {
            quiet.push_str(APART);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> LoggedCandidate {
        LoggedCandidate {
            base: "b".repeat(40),
            head: "a".repeat(40),
            tree: "e".repeat(40),
            commit: "c".repeat(40),
            evidence: None,
            held_out: None,
        }
    }

    #[test]
    fn nothing_of_a_document_has_an_effect_at_a_forge() {
        let text = "# M001\n\nFixes #12, closes org/repo#3, !7 and https://example.org/o/r/issues/12. cc @team\n\n- `@team #12`\n\
                    ```sh\necho @team #12\n```\n| a\\`@x | <b title=\"@y\">@z</b> |\n";
        let found = body(text, None, &candidate());
        let wanted = "# M001\n\nFixes #<!-- -->12, closes org/repo#<!-- -->3, !<!-- -->7 and \
                      https://example.org/o/r/<!-- -->issues/12. cc @<!-- -->team\n\n- `@team #12`\n\
                      ```sh\necho @team #12\n```\n| a\\`@<!-- -->x | <b title=\"@y\">@<!-- -->z</b> |\n";
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_long_report_is_cut_between_lines_and_keeps_the_statement() {
        let report = format!("# M001\n\n```\n{}", "x\n".repeat(40_000));
        let found = body(&report, Some("{\"a\": \"```\"}"), &candidate());
        assert!(found.len() <= MOST + 10, "{}", found.len());
        assert!(found.contains("```\n\n\nThe rest is left out here") && found.contains("{\"a\": \"` ` `\"}"));
        assert!(!is_open(&found));
    }
}
