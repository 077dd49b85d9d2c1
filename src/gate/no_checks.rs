//! A unit without checks. Only a unit that changes nothing but documents may have none, and it must give a reason.

use serde::{Deserialize, Serialize};

use crate::project::check_files::is_document;

/// The statement that a unit has no checks, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoChecks {
    pub(crate) reason: String,
}

/// Why a unit needs checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoChecksError {
    #[error("only a change of nothing but documents needs no check, and `{path}` is not a document")]
    NotADocument { path: String },
}

impl NoChecks {
    /// Accepts a unit without checks. `changed` are the paths of its diff, including deleted files.
    pub(crate) fn allowed<'a>(reason: &str, changed: impl IntoIterator<Item = &'a str>) -> Result<Self, NoChecksError> {
        match changed.into_iter().find(|path| !is_document(path)) {
            Some(path) => Err(NoChecksError::NotADocument { path: path.to_owned() }),
            None => Ok(Self { reason: reason.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_diff_of_documents_needs_no_check() {
        assert_eq!(
            NoChecks::allowed("wording", ["README.md", "docs/a.rst"]),
            Ok(NoChecks { reason: "wording".to_owned() })
        );
        assert!(NoChecks::allowed("no code", []).is_ok());
        for path in ["src/a.rs", "requirements.txt", "tests/data/a.md", "package.json", ".github/workflows/ci.yml"] {
            let refused = NoChecks::allowed("x", ["README.md", path]).unwrap_err();
            assert_eq!(refused, NoChecksError::NotADocument { path: path.to_owned() }, "{path}");
        }
    }
}
