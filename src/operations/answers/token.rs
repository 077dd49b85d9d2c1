//! Tokens: they record what a reader saw, so that a later write can be refused if another writer came in between.

use crate::failure::Failure;
use crate::project::files::{FileError, sha256};
use crate::project::layout::Layout;
use crate::project::view::ProjectView;

/// The number of digits of the digest in a token.
const DIGITS: usize = 16;

/// The documents that a token covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Only STATE.md.
    State,
    /// STATE.md, ROADMAP.md, REQUIREMENTS.md and config.json.
    Project,
}

impl Seen {
    fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Project => "project",
        }
    }

    fn documents(self, layout: &Layout) -> Vec<String> {
        match self {
            Self::State => vec![layout.state()],
            Self::Project => {
                vec![layout.state(), layout.roadmap(), layout.requirements(), layout.root_config(), layout.config()]
            }
        }
    }
}

/// The token for the current contents of `view`.
pub(crate) fn of(view: &ProjectView, seen: Seen) -> Result<String, FileError> {
    let mut listed = String::new();
    for path in seen.documents(view.layout()) {
        let text = match view.text(&path) {
            // A configuration that cannot be read is reported elsewhere, and the defaults apply.
            Err(_) if [view.layout().root_config(), view.layout().config()].contains(&path) => Some("!".into()),
            text => text?,
        };
        // A missing document differs from an empty one.
        let digest = text.map_or_else(|| "-".to_owned(), |text| sha256(text.as_bytes()));
        listed.push_str(&digest);
        listed.push('\n');
    }
    Ok(format!("{}-{}", seen.word(), &sha256(listed.as_bytes())[..DIGITS]))
}

/// The documents that a token covers.
pub(crate) fn parse(token: &str) -> Result<Seen, Failure> {
    [Seen::State, Seen::Project]
        .into_iter()
        .find(|seen| {
            token
                .strip_prefix(seen.word())
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        })
        .ok_or_else(|| {
            Failure::usage(format!("`{token}` is not a token, such as `state-0123456789abcdef`"))
                .hint("`gsd-tools state json --pick token` prints a token")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn token<const N: usize>(files: [(&str, &str); N], seen: Seen) -> String {
        let view = ProjectView::new(Layout::new("/project", None, None), Box::new(MemoryFiles::new(files)));
        of(&view, seen).unwrap()
    }

    #[test]
    fn a_token_changes_only_with_its_documents() {
        let state = token([(".planning/STATE.md", "a")], Seen::State);
        assert_eq!(state, token([(".planning/STATE.md", "a"), (".planning/ROADMAP.md", "b")], Seen::State));
        assert_ne!(state, token([(".planning/STATE.md", "b")], Seen::State));
        assert_ne!(token([], Seen::State), token([(".planning/STATE.md", "")], Seen::State));
        assert_ne!(token([], Seen::Project), token([(".planning/ROADMAP.md", "b")], Seen::Project));
        assert_eq!(parse(&state), Ok(Seen::State));
        assert_eq!(parse(&token([], Seen::Project)), Ok(Seen::Project));
    }

    #[test]
    fn an_invalid_token_is_an_error() {
        for text in ["", "state", "state-", "state-0123", "other-0123456789abcdef", "state-0123456789abcdeg"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
