//! Lists the available skills: those of the project, those of the user, and leftovers of earlier versions.
//!
//! `skill_roots.toml` lists the folders of skills. `commands` reads them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::front_matter::FrontMatter;

/// The text before a skill's triggers.
const TRIGGER: &str = "TRIGGER when:";

/// A folder that contains skills.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Root {
    /// Relative to the project or the user's home.
    pub(crate) path: String,
    pub(crate) scope: RootScope,
    #[serde(default)]
    pub(crate) deprecated: bool,
    /// The host whose folder it is in; that folder may be elsewhere.
    pub(crate) host: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RootScope {
    Project,
    Global,
    /// Skills that a host no longer lists.
    ImportOnly,
    /// Commands from the time before skills.
    LegacyCommands,
    /// A folder that the caller named.
    Custom,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RootTable {
    root: Vec<Root>,
}

/// The folders that are searched for skills.
pub(crate) fn roots() -> Result<Vec<Root>, toml_edit::de::Error> {
    Ok(toml_edit::de::from_str::<RootTable>(include_str!("skill_roots.toml"))?.root)
}

impl Root {
    /// The folder for display, with `~` for the home folder.
    fn shown(&self) -> String {
        if self.scope == RootScope::Global { format!("~/{}", self.path) } else { self.path.clone() }
    }

    /// The path below the folder of its host, if it has one.
    pub(crate) fn below_host(&self) -> &str {
        self.path.split_once('/').map_or("", |(_, below)| below)
    }

    /// True if it is in the project rather than in the user's home.
    pub(crate) fn is_in_project(&self) -> bool {
        matches!(self.scope, RootScope::Project | RootScope::Custom)
    }
}

/// A folder and its contents.
#[derive(Debug)]
pub(crate) struct FoundRoot {
    pub(crate) root: Root,
    /// The absolute path.
    pub(crate) path: String,
    /// True if the folder exists.
    pub(crate) present: bool,
    /// The folders with a `SKILL.md`, each with its text. Skills inside folders of routers come after the others.
    pub(crate) skills: Vec<(String, String)>,
    /// The number of Markdown files directly in the folder.
    pub(crate) pages: usize,
}

/// What `skill-manifest` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillManifest {
    skills: Vec<Skill>,
    roots: Vec<RootReport>,
    installation: Installation,
    counts: SkillCounts,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Skill {
    name: String,
    description: String,
    /// When to use it, if the skill says so.
    triggers: Vec<String>,
    /// The folder, relative to its root.
    path: String,
    file_path: String,
    root: String,
    scope: RootScope,
    /// True if a host lists it.
    installed: bool,
    deprecated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RootReport {
    root: String,
    path: String,
    scope: RootScope,
    present: bool,
    deprecated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_count: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Installation {
    gsd_skills_installed: bool,
    legacy_claude_commands_installed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SkillCounts {
    skills: usize,
    roots: usize,
}

/// True if a skill of this name belongs to the library; the host lists those as commands.
pub(crate) fn is_ours(name: &str) -> bool {
    name.starts_with("gsd-")
}

/// True if a skill of this name leads to others, which may be in its folder.
pub(crate) fn is_router(name: &str) -> bool {
    name.strip_prefix("gsd-").is_some_and(|name| name.starts_with("ns-"))
}

/// Lists the skills in these folders, by folder and name; with `others`, without our own.
pub(crate) fn manifest(found: Vec<FoundRoot>, others: bool) -> SkillManifest {
    let mut skills = Vec::new();
    let mut roots = Vec::new();
    let mut legacy = false;
    for FoundRoot { root, path, present, skills: folders, pages } in found {
        let shown = if root.scope == RootScope::Custom { path.clone() } else { root.shown() };
        let holds_commands = root.scope == RootScope::LegacyCommands;
        legacy |= holds_commands && pages > 0;
        roots.push(RootReport {
            root: shown.clone(),
            path,
            scope: root.scope,
            present,
            deprecated: root.deprecated,
            skill_count: (present && !holds_commands).then_some(folders.len()),
            command_count: (present && holds_commands).then_some(pages),
        });
        if !holds_commands {
            let mut own: Vec<Skill> = Vec::new();
            for (folder, text) in folders {
                let skill = Skill::read(&root, &shown, folder, &text);
                let is_nested = skill.path.contains('/');
                if !(is_nested && own.iter().any(|known| known.name == skill.name)) {
                    own.push(skill);
                }
            }
            skills.extend(own);
        }
    }
    skills.sort_by(|one, other| (&one.root, &one.name).cmp(&(&other.root, &other.name)));
    let installation = Installation {
        gsd_skills_installed: skills.iter().any(|skill| skill.installed && is_ours(&skill.name)),
        legacy_claude_commands_installed: legacy,
    };
    skills.retain(|skill: &Skill| !(others && is_ours(&skill.name)));
    let counts = SkillCounts { skills: skills.len(), roots: roots.len() };
    SkillManifest { skills, roots, installation, counts }
}

impl Skill {
    fn read(root: &Root, shown: &str, folder: String, text: &str) -> Self {
        let front = FrontMatter::parse(text);
        let told = |key: &str| front.as_ref().and_then(|front| front.text(key)).unwrap_or_default();
        let name = Some(told("name").trim().to_owned()).filter(|name| !name.is_empty());
        let triggers = text.lines().filter_map(|line| Some(line.split_once(TRIGGER)?.1.trim().to_owned()));
        Self {
            name: name.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or_default().to_owned()),
            description: told("description"),
            triggers: triggers.filter(|trigger| !trigger.is_empty()).collect(),
            file_path: format!("{folder}/SKILL.md"),
            path: folder,
            root: shown.to_owned(),
            scope: root.scope,
            installed: root.scope != RootScope::ImportOnly,
            deprecated: root.deprecated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_listed_once() {
        let roots = roots().unwrap();
        for (at, root) in roots.iter().enumerate() {
            assert!(!roots[..at].contains(root), "{root:?}");
            assert!(root.scope != RootScope::Custom && !root.path.starts_with(['/', '~']), "{root:?}");
        }
    }

    #[test]
    fn a_skill_inside_a_router_is_listed_once() {
        let skills = [("x", ""), ("gsd-ns-a/skills/x", ""), ("gsd-ns-a/skills/y", ""), ("gsd-ns-b/skills/y", "")];
        let found = FoundRoot {
            root: Root { path: "a/skills".to_owned(), scope: RootScope::Global, deprecated: false, host: None },
            path: "/h/a/skills".to_owned(),
            present: true,
            skills: skills.map(|(folder, text)| (folder.to_owned(), text.to_owned())).to_vec(),
            pages: 0,
        };
        let report = manifest(vec![found], false);
        let told: Vec<_> = report.skills.iter().map(|skill| (skill.name.as_str(), skill.file_path.as_str())).collect();
        assert_eq!(told, [("x", "x/SKILL.md"), ("y", "gsd-ns-a/skills/y/SKILL.md")]);
        assert!(is_router("gsd-ns-a") && !is_router("gsd-a") && !is_router("ns-a"));
    }

    #[test]
    fn a_skill_is_described_by_its_front_matter_and_found_without_one() {
        let root = |path: &str, scope, skills: &[(&str, &str)], pages| FoundRoot {
            root: Root { path: path.to_owned(), scope, deprecated: false, host: None },
            path: format!("/p/{path}"),
            present: true,
            skills: skills.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            pages,
        };
        let text = "---\nname: gsd-x\ndescription: \"Does: x\"\n---\nTRIGGER when: asked for x\n";
        let found = || {
            vec![
                root("b/skills", RootScope::Project, &[("x", text), ("bare", "no front matter")], 0),
                root("a/skills", RootScope::ImportOnly, &[("old", "")], 0),
                root("c", RootScope::LegacyCommands, &[], 2),
            ]
        };
        let others = manifest(found(), true);
        assert_eq!((others.skills.len(), others.counts.skills), (2, 2));
        assert!(others.installation.gsd_skills_installed && others.skills.iter().all(|skill| skill.name != "gsd-x"));
        let report = manifest(found(), false);
        let told: Vec<_> = report.skills.iter().map(|skill| (skill.name.as_str(), skill.installed)).collect();
        assert_eq!(told, [("old", false), ("bare", true), ("gsd-x", true)]);
        let skill = &report.skills[2];
        assert_eq!(
            (skill.description.as_str(), skill.triggers.as_slice()),
            ("Does: x", &["asked for x".to_owned()][..])
        );
        assert!(report.installation.gsd_skills_installed && report.installation.legacy_claude_commands_installed);
        assert_eq!((report.roots[2].command_count, report.roots[2].skill_count), (Some(2), None));
    }
}
