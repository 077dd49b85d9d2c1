//! A project for the calls in the texts: in the middle of its second phase, with its one plan executed.

use std::path::Path;

/// A copy of `tests/projects/notes`, with questions that a researcher wrote down.
pub(super) fn project() -> tempfile::TempDir {
    let folder = crate::testing::folder();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/projects/notes"), folder.path());
    let temporary = folder.path().join(".planning/tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    std::fs::write(temporary.join("questions.json"), r#"{"questions": [{"text": "a", "kind": "web"}]}"#).unwrap();
    folder
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
