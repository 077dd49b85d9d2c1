//! The texts of a review by another program: the request, and the contents of its file if the review failed.

use std::fmt::Write as _;

use crate::text::words::words;

words! {
    /// How thorough a code review is.
    pub(crate) enum Depth {
        Quick = "quick",
        Standard = "standard",
        Deep = "deep",
    }
}

impl Depth {
    const fn about(self) -> &'static str {
        match self {
            Self::Quick => {
                "Look for obvious bugs, secrets in the code, and dangerous calls. Read only the files listed."
            }
            Self::Standard => {
                "Read each file in full. Look for bugs, security problems, and errors that are not handled."
            }
            Self::Deep => {
                "Read each file in full, and the code that calls it or is called by it. Look for bugs, security problems, \
                 errors that are not handled, types and states that do not agree across files, and cycles between modules."
            }
        }
    }
}

/// The request to reviewers of changed source files.
pub(crate) fn request_for_changes(repository: &str, base: &str, depth: Depth, files: &[String]) -> String {
    let mut request = format!(
        "# Code review\n\nRepository: {repository}\nBase commit: {base}\nDepth: {}\n\n\
         Review what changed in these files since the base commit.\n\n{}\n\n## Files\n\n",
        depth.word(),
        depth.about(),
    );
    for file in files {
        // Writing to a string cannot fail.
        let _ = writeln!(request, "- {file}");
    }
    request.push_str(
        "\n## Rules\n\n\
         - Name the file and line of every finding, as `path:line`. A finding without them cannot be checked.\n\
         - Give each finding a severity: critical, warning or info.\n\
         - Leave out speed and memory, unless the code gives a wrong result or never ends.\n\
         - Change no file, run no tests, and start nothing that keeps running.\n\
         - Print only the review, as Markdown.\n",
    );
    request
}

/// True if a review names a line of a file, such as `src/main.rs:12`.
pub(crate) fn names_lines(review: &str) -> bool {
    let is_end = |letter: char| letter.is_whitespace() || "`*_()[]{}<>\"',;".contains(letter);
    review.split(is_end).any(|word| {
        word.match_indices(':').any(|(at, _)| {
            let (file, line) = (&word[..at], &word[at + 1..]);
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            let is_file = extension.is_some_and(|extension| {
                // In an address this part is a number.
                extension.starts_with(|first: char| first.is_ascii_alphabetic())
                    && extension.chars().all(|letter| letter.is_ascii_alphanumeric())
            });
            let line = line.strip_prefix('L').unwrap_or(line);
            is_file && !file.contains("://") && line.starts_with(|first: char| first.is_ascii_digit())
        })
    })
}

/// Marks a review that could have named lines but did not, for readers who compare reviews.
pub(crate) fn marked(review: &str) -> String {
    format!(
        "> [reviewed-without-source-citations] This review does not name a line of any file. It may be based on the \
         prompt only; give it less weight.\n\n{review}"
    )
}

/// The text of the review file if the review failed.
pub(crate) fn no_review(section: &str, why: &str, hint: &str, errors: &str) -> String {
    let mut text = format!("> [no-review] {section}: {why}. {hint}\n");
    let errors = errors.trim();
    if !errors.is_empty() {
        // The fence must be longer than any in the text.
        let longest = errors.lines().map(|line| line.chars().take_while(|letter| *letter == '`').count()).max();
        let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
        let _ = write!(text, "\nEnd of its standard error:\n\n{fence}\n{errors}\n{fence}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_file_is_noticed() {
        for review in ["see src/main.rs:12", "`lib/a.py:3-9` is wrong", "(a.txt:1)", "x\\b.cs:L7"] {
            assert!(names_lines(review), "{review}");
        }
        for review in
            ["", "at 12:30", "http://a.example:80/x", "127.0.0.1:80", "Note: 3", "src/main.rs: it fails", "a:1"]
        {
            assert!(!names_lines(review), "{review}");
        }
    }

    #[test]
    fn a_request_names_what_it_is_about() {
        let request = request_for_changes("/repo", "abc", Depth::Quick, &["a.rs".to_owned(), "b.rs".to_owned()]);
        for part in ["Repository: /repo\nBase commit: abc\nDepth: quick\n", "- a.rs\n- b.rs\n", "`path:line`"] {
            assert!(request.contains(part), "{request}");
        }
    }

    #[test]
    fn a_missing_review_says_why() {
        assert_eq!(no_review("X", "it exited with 3", "Run it.", ""), "> [no-review] X: it exited with 3. Run it.\n");
        let text = no_review("X", "it failed", "Run it.", "```\nboom\n");
        assert!(text.ends_with("\n````\n```\nboom\n````\n"), "{text}");
    }
}
