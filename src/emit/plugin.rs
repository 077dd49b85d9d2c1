//! The same content as a plugin of a host: a folder that the host loads wherever it is.
//!
//! Some hosts put the folder's path into commands and agents, some only give the path of a command's file, and none
//! process our other files. So those spell the folder as a placeholder, and each command and agent explains the
//! placeholder, unless the host has one fixed folder for the plugin.

use serde::Serialize;

use crate::library::{ItemKind, Library};
use crate::runtime::{Descriptor, Form, PluginAgent, PluginForm, Scope};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;

use super::artifact::{Anchor, Artifact, Contents, SharedEdit};
use super::hooks::{HookArtifacts, registrations};
use super::nesting::Nesting;
use super::rewrite::Rewriter;
use super::spelling::{CONTENT_FOLDER, Spelling};

/// The name of the plugin, and the prefix of everything in it when it is typed.
const NAME: &str = "gsd";

/// The name of the list of plugins that contains only ours.
const MARKETPLACE: &str = "gsd-tools";

/// The placeholder of the plugin's folder in files that the host does not process.
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

#[derive(Serialize)]
struct Marketplace<'a> {
    name: &'a str,
    description: &'a str,
    owner: PluginOwner<'a>,
    plugins: [Listed<'a>; 1],
}

#[derive(Serialize)]
struct PluginOwner<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    source: &'a str,
    description: &'a str,
    version: &'a str,
}

/// Every file of the plugin, below its folder; `None` if the host has no known plugins.
pub(crate) fn package(library: &Library, descriptor: &Descriptor, version: &str) -> Option<Vec<Artifact>> {
    let form = descriptor.plugin.as_ref()?;
    let host = as_in_plugins(descriptor, form);
    let program = form.programs.as_ref().map(|_| PROGRAM);
    let others = Spelling::of_word(form.fixed_root().unwrap_or(ROOT_WORD), program);
    let looked_into = Spelling::of_word(form.root.as_deref().unwrap_or(ROOT_WORD), program);
    let mut artifacts = Vec::new();
    for item in library.items() {
        let is_looked_into = matches!(item.kind, ItemKind::Command | ItemKind::Router | ItemKind::Agent);
        let spelling = if is_looked_into { &looked_into } else { &others };
        let rewriter = Rewriter { library, descriptor: &host, scope: Scope::Global, spelling, profile: None };
        for mut artifact in super::emit(item, &rewriter, &Nesting::default()) {
            if let Contents::Whole(text) = &mut artifact.contents {
                *text = with_agents(text, library, form);
                if is_looked_into && artifact.path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md") {
                    *text =
                        with_root(&with_bare_name(text, &artifact.path, item.kind), &artifact.path, form, item.kind);
                }
            }
            artifacts.push(artifact);
        }
    }
    let (description, license) = (env!("CARGO_PKG_DESCRIPTION"), env!("CARGO_PKG_LICENSE"));
    let manifest = Manifest { name: NAME, version, description, license };
    let listed = Listed { name: NAME, source: "./", description, version };
    let marketplace =
        Marketplace { name: MARKETPLACE, description, owner: PluginOwner { name: MARKETPLACE }, plugins: [listed] };
    let mut add = |path: String, contents: Contents, kind: ItemKind| {
        let executable = contents == Contents::Binary;
        artifacts.push(Artifact { anchor: Anchor::Root, path, contents, executable, kind });
    };
    add(form.manifest.clone(), json(&manifest), ItemKind::Program);
    if let Some(path) = &form.marketplace {
        add(path.clone(), json(&marketplace), ItemKind::Program);
    }
    // The files next to the program's folder show it which host it is in.
    let (programs, beside) = match &form.programs {
        Some(folder) => (folder.clone(), String::new()),
        None => (format!("{CONTENT_FOLDER}/bin"), format!("{CONTENT_FOLDER}/")),
    };
    add(format!("{programs}/{PROGRAM}{}", std::env::consts::EXE_SUFFIX), Contents::Binary, ItemKind::Program);
    add(format!("{beside}.gsd-runtime"), Contents::Whole(format!("{}\n", descriptor.id)), ItemKind::Program);
    let program = format!("\"{}\"/{programs}/{PROGRAM}", form.hook_root);
    if let Some(text) = hooks(library, &host, &Spelling::of_word(&form.hook_root, Some(&program))) {
        add(form.hooks.clone(), Contents::Whole(text), ItemKind::Hook);
    }
    artifacts.sort_by(|left, right| left.path.cmp(&right.path));
    Some(artifacts)
}

/// The host with the places and names that apply in its plugins.
fn as_in_plugins(descriptor: &Descriptor, form: &PluginForm) -> Descriptor {
    let mut host = descriptor.clone();
    host.places.clone_from(&form.places);
    host.mention.command.clone_from(&form.command);
    host.mention.router.clone_from(&form.router);
    if let PluginAgent::Role(words) = &form.agent {
        (host.spawn.agent, host.spawn.role) = (None, Some(words.clone()));
        host.agent = Form::default();
    }
    host
}

fn json(value: &impl Serialize) -> Contents {
    Contents::Whole(format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()))
}

/// The registrations as a separate file.
fn hooks(library: &Library, host: &Descriptor, spelling: &Spelling) -> Option<String> {
    match registrations(library.hooks(), host, Scope::Global, spelling, false)? {
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

/// Names agents as the host does in calls that start them.
fn with_agents(text: &str, library: &Library, form: &PluginForm) -> String {
    let PluginAgent::Named(written) = &form.agent else { return text.to_owned() };
    library.of_kind(ItemKind::Agent).fold(text.to_owned(), |text, agent| {
        let name = agent.name.as_str();
        text.replace(&format!("\"gsd-{name}\""), &format!("\"{}\"", written.replace("{name}", name)))
    })
}

/// Removes the `gsd-` of a command's name if its folder has none: the host puts the name of the plugin before it.
fn with_bare_name(text: &str, path: &str, kind: ItemKind) -> String {
    if kind == ItemKind::Agent || path.contains("gsd-") {
        return text.to_owned();
    }
    text.replacen("\nname: gsd-", "\nname: ", 1)
}

/// Adds a line to the file that says where our files are, unless the host has a fixed folder for the plugin.
fn with_root(text: &str, path: &str, form: &PluginForm, kind: ItemKind) -> String {
    let folder = match (&form.root, &form.agent) {
        _ if form.fixed_root().is_some() => return text.to_owned(),
        (Some(root), _) => format!("`{root}`."),
        (None, PluginAgent::Named(_)) if kind == ItemKind::Agent => "a folder that your prompt names.".to_owned(),
        (None, _) => format!(
            "the folder in which this file is `{path}`. Write that folder's path in its place, and name it to every \
             agent that you start."
        ),
    };
    format!("{}\n\nIn files of ours, `{ROOT_WORD}` stands for {folder}\n", text.trim_end())
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
        hook-root = "${ROOT}"
        load = []
        programs = "bin"
        hooks = "hooks.json"
        command = "/gsd:{name}"
        agent = { named = "gsd:gsd-{name}" }
        place = [
          { items = ["command", "router"], path = "skills/{name}/SKILL.md", encoding = "markdown" },
          { items = ["agent"], path = "agents/gsd-{name}.md", encoding = "markdown" },
        ]"#;

    #[test]
    fn a_plugin_names_its_folder_by_the_host_variable_or_by_a_placeholder() {
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

    /// The text of a file in the plugin described by `facts`.
    fn text(facts: &str, path: &str) -> String {
        let artifacts = package(&Library::embedded().unwrap(), &made_up(facts), "1.2.3").unwrap();
        let found = artifacts.iter().find(|artifact| artifact.path == path).map(|artifact| &artifact.contents);
        let Some(Contents::Whole(text)) = found else { panic!("{path}: {found:?}") };
        text.clone()
    }

    #[test]
    fn an_unknown_folder_follows_from_the_file_and_agents_get_it_in_their_prompt() {
        let facts = FACTS
            .replace("        root = \"${ROOT}\"\n        hook-root", "        hook-root")
            .replace("        programs = \"bin\"\n", "");
        let command = text(&facts, "skills/plan-phase/SKILL.md");
        assert!(command.contains("GSD_ROOT/gsd-core/workflows/plan-phase.md"), "{command}");
        assert!(command.contains("the folder in which this file is `skills/plan-phase/SKILL.md`."), "{command}");
        assert!(text(&facts, "agents/gsd-planner.md").ends_with("stands for a folder that your prompt names.\n"));
        assert!(text(&facts, "gsd-core/workflows/plan-phase.md").contains("GSD_ROOT/gsd-core/bin/gsd-tools init"));
        assert!(text(&facts, "hooks.json").contains(r#"\"${ROOT}\"/gsd-core/bin/gsd-tools hook"#));
        assert_eq!(text(&facts, "gsd-core/.gsd-runtime"), "lantern\n");

        let roles = facts
            .replace("{ named = \"gsd:gsd-{name}\" }", "{ role = \"Read {file}.\" }")
            .replace("\"agents/gsd-{name}.md\"", "\"gsd-core/agents/gsd-{name}.md\"");
        let role = text(&roles, "gsd-core/agents/gsd-planner.md");
        assert!(role.contains("in which this file is `gsd-core/agents/gsd-planner.md`."), "{role}");
        assert!(text(&roles, "gsd-core/workflows/plan-phase.md").contains("Read GSD_ROOT/gsd-core/agents/gsd-"));
    }

    #[test]
    fn a_fixed_plugin_folder_is_named_everywhere() {
        let facts = FACTS.replace("root = \"${ROOT}\"\n        hook", "root = \"~/.p/gsd\"\n        hook");
        let facts = facts.replace("        programs = \"bin\"\n", "        marketplace = \".p/list.json\"\n");
        let workflow = text(&facts, "gsd-core/workflows/plan-phase.md");
        assert!(workflow.contains("~/.p/gsd/gsd-core/bin/gsd-tools") && !workflow.contains(ROOT_WORD), "{workflow}");
        assert!(!text(&facts, "skills/plan-phase/SKILL.md").contains(ROOT_WORD));
        assert!(text(&facts, ".p/list.json").contains("\"source\": \"./\""));
    }
}
