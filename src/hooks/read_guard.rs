//! Reminds the agent to read a file before changing it. Not installed if the host requires that itself.
//!
//! Some hosts show the reminder before the call, others only with its result: the text fits both.

use super::payload::FileWrite;
use super::scene::Scene;
use super::verdict::Reaction;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    note(&scene.payload.writes(), |path| scene.is_file(path)).into()
}

/// The reminder, for files that exist according to `exists`.
fn note(writes: &[FileWrite], exists: impl Fn(&str) -> bool) -> Option<String> {
    let standing: Vec<&str> = writes.iter().map(|write| write.path.as_str()).filter(|path| exists(path)).collect();
    (!standing.is_empty()).then(|| {
        format!(
            "READ FIRST: {} existed before this call. If you have not read it in this session, read it now and make \
             sure that nothing in it is lost.",
            standing.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_exist_are_named() {
        let write = |path: &str| FileWrite { path: path.into(), text: String::new(), creates: true, replaced: 0 };
        let writes = [write("old.rs"), write("new.rs")];
        assert!(note(&writes, |path| path == "old.rs").unwrap().starts_with("READ FIRST: old.rs existed"));
        assert_eq!(note(&writes, |_| false), None);
    }
}
