//! Reminds the agent of STATE.md after a change of a planning document, if the project asks for it.

use std::path::Path;

use super::scene::Scene;
use super::verdict::Reaction;
use crate::library::ToolSet;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let writes = matches!(scene.payload.tool(), Some(ToolSet::Write | ToolSet::Edit));
    if !writes || !scene.project.flag("hooks.community", false) {
        return Reaction::Nothing;
    }
    let layout = &scene.project.layout;
    let planning = layout.absolute(layout.planning());
    let changed = scene.payload.paths();
    let document = changed.iter().find_map(|name| document(scene.path(name).strip_prefix(&planning).ok()?));
    document.map(|document| note(&format!("{}/{document}", layout.planning()), &scene.program())).into()
}

/// A path below the planning folder whose change calls for the reminder; the state itself and the settings do not.
fn document(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let needs_none = name.starts_with('.') || matches!(name, "STATE.md" | "state.json" | "config.json");
    (!needs_none).then(|| path.to_string_lossy().into_owned())
}

fn note(document: &str, program: &str) -> String {
    format!(
        "PLANNING: `{document}` was changed. If a phase or a plan began or ended with that, update STATE.md: \
         `{program} state --help` lists the commands."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_documents_are_reported_and_the_state_itself_is_not() {
        let note = |path: &str| document(Path::new(path)).map(|document| note(&document, "x"));
        assert!(note("phases/01-a/01-01-SUMMARY.md").unwrap().contains("`phases/01-a/01-01-SUMMARY.md`"));
        assert!(note("ROADMAP.md").unwrap().contains("`x state --help`"));
        for document in ["STATE.md", "workstreams/a/STATE.md", "config.json", ".gsd-allow-shrink", ""] {
            assert_eq!(note(document), None, "{document}");
        }
    }
}
