//! Reminds of STATE.md when a planning document was changed, where the project asks for it.

use std::path::Path;

use super::scene::Scene;
use super::verdict::Finding;
use crate::library::ToolSet;

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    let writes = matches!(scene.payload.tool(), Some(ToolSet::Write | ToolSet::Edit));
    if !writes || !scene.project.flag("hooks.community", false) {
        return Finding::Nothing;
    }
    let planning = scene.project.root.join(".planning");
    scene.payload.paths().iter().find_map(|name| note(scene.path(name).strip_prefix(&planning).ok()?)).into()
}

/// The reminder, for a document below the planning folder; the state itself and the settings need none.
fn note(document: &Path) -> Option<String> {
    let name = document.file_name()?.to_str()?;
    let needs_none = name.starts_with('.') || matches!(name, "STATE.md" | "state.json" | "config.json");
    (!needs_none).then(|| {
        format!(
            "PLANNING: `.planning/{}` was changed. If a phase or a plan began or ended with that, bring STATE.md up to date: \
             `gsd-tools state` has a verb for each.",
            document.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_phases_are_told_and_the_state_itself_is_not() {
        let note = |document: &str| note(Path::new(document));
        assert!(note("phases/01-a/01-01-SUMMARY.md").unwrap().contains("`.planning/phases/01-a/01-01-SUMMARY.md`"));
        assert!(note("ROADMAP.md").is_some());
        for document in ["STATE.md", "workstreams/a/STATE.md", "config.json", ".gsd-allow-shrink", ""] {
            assert_eq!(note(document), None, "{document}");
        }
    }
}
