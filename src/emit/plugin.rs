//! The same content as a plugin of a host: a folder that the host loads from wherever it is.
//!
//! The host puts the folder's path into commands, agents and command lines of hooks, and into nothing else. So our own
//! files spell it as a word of ours, and each command and agent says what the word stands for.

use serde::Serialize;

use crate::library::{ItemKind, Library};
use crate::runtime::{Descriptor, PluginForm, Scope};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;

use super::artifact::{Anchor, Artifact, Contents, SharedEdit};
use super::hooks::{HookArtifacts, registrations};
use super::nesting::Nesting;
use super::rewrite::Rewriter;
use super::spelling::Spelling;

/// The name of the plugin, and of everything in it to whoever types it.
const NAME: &str = "gsd";

/// What stands for the plugin's folder in files that the host does not look into.
const ROOT_WORD: &str = "GSD_ROOT";

/// Our program, for a shell that finds it by its name.
const PROGRAM: &str = "gsd-tools";

#[derive(Serialize)]
struct Manifest<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    license: &'a str,
}

/// Every file of the plugin, below its folder; `None` where the host has no plugins that we know of.
pub(crate) fn package(library: &Library, descriptor: &Descriptor, version: &str) -> Option<Vec<Artifact>> {
    let form = descriptor.plugin.as_ref()?;
    let mut host = descriptor.clone();
    host.places.clone_from(&form.places);
    host.mention.command.clone_from(&form.command);
    host.mention.router = None;

    let (looked_into, others) = (Spelling::of_word(&form.root, PROGRAM), Spelling::of_word(ROOT_WORD, PROGRAM));
    let mut artifacts = Vec::new();
    for item in library.items() {
        let is_looked_into = matches!(item.kind, ItemKind::Command | ItemKind::Router | ItemKind::Agent);
        let spelling = if is_looked_into { &looked_into } else { &others };
        let rewriter = Rewriter { library, descriptor: &host, scope: Scope::Global, spelling };
        for mut artifact in super::emit(item, &rewriter, &Nesting::default()) {
            if let Contents::Whole(text) = &mut artifact.contents {
                *text = with_agents(text, library, form);
                if is_looked_into && artifact.path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md") {
                    *text = with_root(text, &form.root, item.kind);
                }
            }
            artifacts.push(artifact);
        }
    }
    let manifest = Manifest {
        name: NAME,
        version,
        description: env!("CARGO_PKG_DESCRIPTION"),
        license: env!("CARGO_PKG_LICENSE"),
    };
    let mut add = |path: String, contents: Contents, kind: ItemKind| {
        let executable = contents == Contents::Binary;
        artifacts.push(Artifact { anchor: Anchor::Root, path, contents, executable, kind });
    };
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    add(form.manifest.clone(), Contents::Whole(format!("{text}\n")), ItemKind::Program);
    let program = format!("{}/{PROGRAM}{}", form.programs, std::env::consts::EXE_SUFFIX);
    add(program, Contents::Binary, ItemKind::Program);
    add(".gsd-runtime".to_owned(), Contents::Whole(format!("{}\n", descriptor.id)), ItemKind::Program);
    let program = format!("\"{}\"/{}/{PROGRAM}", form.root, form.programs);
    if let Some(text) = hooks(library, &host, &Spelling::of_word(&form.root, &program)) {
        add(form.hooks.clone(), Contents::Whole(text), ItemKind::Hook);
    }
    artifacts.sort_by(|left, right| left.path.cmp(&right.path));
    Some(artifacts)
}

/// The registrations as a file of their own.
fn hooks(library: &Library, host: &Descriptor, spelling: &Spelling) -> Option<String> {
    match registrations(library.hooks(), host, Scope::Global, spelling)? {
        HookArtifacts::Own(artifacts) => match artifacts.into_iter().next()?.contents {
            Contents::Whole(text) => Some(text),
            Contents::Binary | Contents::Shared(_) => None,
        },
        HookArtifacts::Edits { edits, .. } => {
            let mut document = JsonDocument::parse("", JsonDialect::Strict).ok()?;
            for edit in &edits {
                let SharedEdit::Json(edit) = edit else { return None };
                document.apply(edit).ok()?;
            }
            Some(document.to_string())
        }
    }
}

/// Calls that start an agent name it as the host does.
fn with_agents(text: &str, library: &Library, form: &PluginForm) -> String {
    library.of_kind(ItemKind::Agent).fold(text.to_owned(), |text, agent| {
        let name = agent.name.as_str();
        text.replace(&format!("\"gsd-{name}\""), &format!("\"{}\"", form.agent.replace("{name}", name)))
    })
}

/// The file says where our files are; a command is called by its bare name.
fn with_root(text: &str, root: &str, kind: ItemKind) -> String {
    let text = if kind == ItemKind::Agent { text.to_owned() } else { text.replacen("\nname: gsd-", "\nname: ", 1) };
    format!("{}\n\nIn files of ours, `{ROOT_WORD}` stands for `{root}`.\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::made_up;

    const FACTS: &str = r#"
        hooks = { dialect = "standard", timeout = "seconds", form = { nested = { file = "s" } }, events = { session-start = "Start" } }
        [plugin]
        manifest = ".p/plugin.json"
        root = "${ROOT}"
        programs = "bin"
        hooks = "hooks.json"
        command = "/gsd:{name}"
        agent = "gsd:gsd-{name}"
        place = [
          { items = ["command", "router"], path = "skills/{name}/SKILL.md", encoding = "markdown" },
          { items = ["agent"], path = "agents/gsd-{name}.md", encoding = "markdown" },
        ]"#;

    #[test]
    fn a_plugin_names_its_folder_where_the_host_knows_it_and_by_a_word_elsewhere() {
        let library = Library::embedded().unwrap();
        let artifacts = package(&library, &made_up(FACTS), "1.2.3").unwrap();
        let text = |path: &str| match &artifacts.iter().find(|artifact| artifact.path == path).unwrap().contents {
            Contents::Whole(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        let command = text("skills/plan-phase/SKILL.md");
        assert!(command.starts_with("---\nname: plan-phase\n"), "{command}");
        assert!(command.contains("@${ROOT}/gsd-core/workflows/plan-phase.md"), "{command}");
        assert!(command.ends_with("`GSD_ROOT` stands for `${ROOT}`.\n"), "{command}");
        let workflow = text("gsd-core/workflows/plan-phase.md");
        assert!(workflow.contains("GSD_ROOT/gsd-core/") && !workflow.contains("${ROOT}"), "{workflow}");
        assert!(
            workflow.contains("\"gsd:gsd-planner\"") && workflow.contains("gsd-tools init plan-phase"),
            "{workflow}"
        );
        assert!(text("hooks.json").contains(r#"\"${ROOT}\"/bin/gsd-tools hook standard session-start"#));
        assert!(text(".p/plugin.json").contains("\"version\": \"1.2.3\""));
        assert!(artifacts.iter().any(|artifact| artifact.path == "bin/gsd-tools" && artifact.executable));
        assert!(package(&library, &made_up(""), "1.2.3").is_none());
    }
}
