//! Skills that the user assigned to agents of the system, as the block placed before an agent's task.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::config::{Config, Source};
use crate::project::view::ProjectView;

/// The prefix of the name of a user's skill, or of a plugin's.
const GLOBAL: &str = "global:";

/// What `agent-skills` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillsReport {
    pub(crate) agent_type: String,
    /// The text for the agent; empty if there is nothing to read.
    pub(crate) block: String,
    pub(crate) skills_count: usize,
    pub(crate) warnings: Vec<String>,
    /// Notes for a person that need no correction.
    #[serde(skip)]
    pub(crate) notes: Vec<String>,
    pub(crate) configured: bool,
    pub(crate) reason: &'static str,
    pub(crate) source: &'static str,
    /// True if a file that should have been read was missing or does not parse.
    pub(crate) degraded: bool,
    pub(crate) agent_payload_variant: Option<String>,
    pub(crate) value: SkillsValue,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillsValue {
    pub(crate) block: String,
    pub(crate) skills_count: usize,
}

/// Facts from outside the project that skills depend on.
#[derive(Debug)]
pub(crate) struct SkillSurroundings<'a> {
    /// The home folder, which `~` means in paths.
    pub(crate) home: &'a str,
    /// The folder of the calling host with the user's skills.
    pub(crate) skills: Option<String>,
    /// How the host loads a skill of a plugin, with `{skill}` as the placeholder for its name; absent if it cannot.
    pub(crate) plugin_skill: Option<&'a str>,
}

/// The skills of an agent. A folder without a `SKILL.md`, and a folder outside the project that is not trusted, is left
/// out with a warning. `real` resolves an absolute path, if something exists there.
pub(crate) fn of_agent(
    view: &ProjectView,
    config: &Config,
    agent: &str,
    around: &SkillSurroundings<'_>,
    real: impl Fn(&str) -> Option<String>,
) -> SkillsReport {
    let written = config.written("agent_skills").and_then(|skills| skills.get(agent));
    let mut found = SkillRemarks { warnings: Vec::new(), notes: Vec::new() };
    let wanted: Vec<&Value> = match written {
        Some(Value::String(one)) if one.trim().is_empty() => Vec::new(),
        Some(one @ Value::String(_)) => vec![one],
        Some(Value::Array(many)) => many.iter().collect(),
        Some(other) if !other.is_null() => {
            found.warnings.push(format!("`agent_skills.{agent}` is neither a text nor a list, but {}", kind(other)));
            Vec::new()
        }
        _ => Vec::new(),
    };
    let roots = config.texts("agent_skills_security.trusted_global_roots");
    let (whole, trusted): (Vec<String>, Vec<String>) =
        roots.iter().map(|root| at_home(root, around.home)).partition(|root| is_whole_disk(root));
    for root in whole {
        found.warnings.push(format!(
            "`agent_skills_security.trusted_global_roots` has `{root}`, which is the whole disk; it is ignored"
        ));
    }
    let mut lines = Vec::new();
    for skill in &wanted {
        let line = match skill.as_str() {
            None => Err(format!("an entry of `agent_skills.{agent}` is not text, but {}", kind(skill))),
            Some(skill) => match skill.strip_prefix(GLOBAL) {
                Some(name) => global(name, around, &trusted, &real, &mut found.notes),
                None => local(view, skill, around, &trusted, &real),
            },
        };
        match line {
            Ok(line) => lines.push(line),
            Err(warning) => found.warnings.push(warning),
        }
    }
    if written.is_some() && wanted.is_empty() {
        found.notes.push(format!("`agent_skills.{agent}` has no skills"));
    }
    if !wanted.is_empty() && lines.is_empty() {
        let count = wanted.len();
        found.warnings.push(format!("none of the {count} skills in `agent_skills.{agent}` can be used"));
    }
    let block = block(&lines);
    SkillsReport {
        agent_type: agent.to_owned(),
        skills_count: wanted.len(),
        configured: written.is_some(),
        reason: match (written.is_some(), wanted.is_empty(), lines.is_empty()) {
            (false, ..) => "not_configured",
            (true, true, _) => "configured_empty",
            (true, false, true) => "configured_unresolved",
            (true, false, false) => "resolved",
        },
        source: match config.source() {
            Source::Workstream => "workstream",
            Source::Project => "root",
            Source::Personal => "user-defaults",
            Source::Defaults => "builtin-defaults",
        },
        degraded: config.has_left_out() || (view.layout().workstream().is_some() && config.source() == Source::Project),
        warnings: found.warnings,
        notes: found.notes,
        agent_payload_variant: None,
        value: SkillsValue { block: block.clone(), skills_count: wanted.len() },
        block,
    }
}

/// The skills and notes that were found.
struct SkillRemarks {
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// The line of a skill given by its path, or why it is left out.
fn local(
    view: &ProjectView,
    skill: &str,
    around: &SkillSurroundings<'_>,
    trusted: &[String],
    real: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let path = at_home(skill.trim_end_matches('/'), around.home);
    let is_global = path.starts_with('/') || path.contains(':');
    let file = format!("{path}/SKILL.md");
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err(format!("`{skill}` leads out of the project"));
    }
    if is_global && !trusted.iter().any(|root| is_below(&path, root)) {
        return Err(format!("`{skill}` is outside the project and not in a trusted folder"));
    }
    if (is_global && real(&file).is_some()) || (!is_global && view.exists(&file)) {
        return Ok(format!("@{file}"));
    }
    let of_user = around.skills.as_ref().filter(|_| is_name(skill));
    if of_user.is_some_and(|folder| real(&format!("{folder}/{skill}/SKILL.md")).is_some()) {
        return Err(format!("`{skill}` is not in the project; the skill of the user is called `{GLOBAL}{skill}`"));
    }
    Err(format!("`{skill}` has no SKILL.md"))
}

/// The line of a skill of the user or of a plugin, given by its name, or why it is left out.
fn global(
    name: &str,
    around: &SkillSurroundings<'_>,
    trusted: &[String],
    real: impl Fn(&str) -> Option<String>,
    notes: &mut Vec<String>,
) -> Result<String, String> {
    let parts: Vec<&str> = name.split(':').collect();
    if !parts.iter().all(|part| is_name(part)) {
        return Err(format!("`{GLOBAL}{name}` is not the name of a skill, such as `{GLOBAL}reviewing`"));
    }
    if parts.len() > 1 {
        let line = around.plugin_skill.map(|line| line.replace("{skill}", name));
        return line.ok_or_else(|| format!("`{GLOBAL}{name}` is a skill of a plugin, which this host does not load"));
    }
    let Some(folder) = &around.skills else {
        return Err(format!("`{GLOBAL}{name}` cannot be found: no folder for skills of this host is known"));
    };
    let file = format!("{folder}/{name}/SKILL.md");
    let Some(leads_to) = real(&file) else { return Err(format!("`{GLOBAL}{name}` is not in `{folder}`")) };
    if real(folder).is_some_and(|folder| is_below(&leads_to, &folder)) {
        return Ok(format!("@{file}"));
    }
    let is_trusted =
        |root: &String| is_below(&leads_to, root) || real(root).is_some_and(|root| is_below(&leads_to, &root));
    if trusted.iter().any(is_trusted) {
        notes.push(format!("`{GLOBAL}{name}` leads to `{leads_to}`, in a trusted folder"));
        return Ok(format!("@{file}"));
    }
    Err(format!("`{GLOBAL}{name}` leads out of `{folder}`, and not into a trusted folder"))
}

/// True if a word can be the name of a skill: letters, digits, `.`, `_` and `-`, not a path.
fn is_name(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    !word.is_empty() && !word.starts_with('.') && word.chars().all(is_letter)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn block(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    format!("<agent_skills>\nRead these user-configured skills:\n{}\n</agent_skills>", lines.join("\n"))
}

fn at_home(path: &str, home: &str) -> String {
    path.strip_prefix("~/").map_or_else(|| path.to_owned(), |inside| format!("{home}/{inside}"))
}

/// True if a folder is the whole disk, however it is spelled: `/`, `//`, `/x/..`, `C:\`.
fn is_whole_disk(root: &str) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for part in root.trim().split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    match parts.as_slice() {
        [] => true,
        [drive] => drive.len() == 2 && drive.ends_with(':'),
        _ => false,
    }
}

fn is_below(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn only_existing_and_trusted_skills_reach_the_agent() {
        let files = MemoryFiles::new([("skills/a/SKILL.md", ""), ("skills/b/README.md", "")]);
        let view = files.view();
        let text = r#"{"agent_skills": {"x": ["skills/a/", "skills/b", "../c", "/opt/d", "~/s/e", "~/sly/f"], "y": "skills/a", "lost": ["skills/b"], "empty": []},
                       "agent_skills_security": {"trusted_global_roots": ["~/s"]}}"#;
        let (config, _) = Config::read(ConfigTexts { project: Some(text), ..ConfigTexts::default() });
        let around = SkillSurroundings { home: "/home/u", skills: None, plugin_skill: None };
        let report = of_agent(&view, &config, "x", &around, |path| Some(path.to_owned()));
        assert!(report.block.contains("- @skills/a/SKILL.md\n- @/home/u/s/e/SKILL.md\n"), "{}", report.block);
        assert_eq!((report.skills_count, report.warnings.len(), report.reason), (6, 4, "resolved"));
        let asked = |agent| of_agent(&view, &config, agent, &around, |_| None);
        assert_eq!((asked("y").skills_count, asked("y").reason), (1, "resolved"));
        assert_eq!(asked("lost").reason, "configured_unresolved");
        assert_eq!((asked("empty").reason, asked("empty").configured), ("configured_empty", true));
        let none = asked("z");
        assert_eq!((none.block.as_str(), none.reason, none.configured), ("", "not_configured", false));
    }

    #[test]
    fn a_skill_of_the_user_is_found_by_its_name() {
        let view = MemoryFiles::new([("skills/a/SKILL.md", "")]).view();
        let real = |path: &str| {
            let known = ["/home/u/.x/skills", "/home/u/.x/skills/mine/SKILL.md", "/home/u/t"];
            match path {
                "/home/u/.x/skills/link/SKILL.md" => Some("/home/u/t/link/SKILL.md".to_owned()),
                path => known.contains(&path).then(|| path.to_owned()),
            }
        };
        let asked = |skills: &str, trusted: &str, plugin_skill| {
            let text = format!(
                r#"{{"agent_skills": {{"x": {skills}}}, "agent_skills_security": {{"trusted_global_roots": [{trusted}]}}}}"#
            );
            let (config, _) = Config::read(ConfigTexts { project: Some(&text), ..ConfigTexts::default() });
            let around =
                SkillSurroundings { home: "/home/u", skills: Some("/home/u/.x/skills".to_owned()), plugin_skill };
            of_agent(&view, &config, "x", &around, real)
        };
        let report = asked(r#"["global:mine", "skills/a", "global:v:n"]"#, "", Some("load `{skill}`"));
        let lines: Vec<&str> = report.block.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(lines, ["- @/home/u/.x/skills/mine/SKILL.md", "- @skills/a/SKILL.md", "- load `v:n`"]);
        assert!(report.warnings.is_empty() && report.notes.is_empty(), "{report:?}");
        let names = r#"["global:v:n", "global:../mine", "global:", "global:none", "global:link", "mine"]"#;
        let report = asked(names, "", None);
        assert_eq!((report.block.as_str(), report.warnings.len()), ("", 7), "{:?}", report.warnings);
        assert!(report.warnings[5].contains("`global:mine`"), "{:?}", report.warnings);
        assert!(report.warnings[6].contains("none of the 6 skills in `agent_skills.x`"), "{:?}", report.warnings);
        let report = asked(r#""global:link""#, r#""~/t""#, None);
        assert!(report.block.contains("/skills/link/SKILL.md") && report.notes.len() == 1, "{report:?}");
    }

    #[test]
    fn a_trusted_root_that_is_the_whole_disk_is_ignored() {
        let view = MemoryFiles::new([]).view();
        for root in ["/", "//", "/.", "/x/..", " / ", "C:\\\\", "c:/", ""] {
            let text = format!(
                r#"{{"agent_skills": {{"x": "/opt/d"}}, "agent_skills_security": {{"trusted_global_roots": ["{root}", "/srv"]}}}}"#
            );
            let (config, problems) = Config::read(ConfigTexts { project: Some(&text), ..ConfigTexts::default() });
            let around = SkillSurroundings { home: "/home/u", skills: None, plugin_skill: None };
            let report = of_agent(&view, &config, "x", &around, |path| Some(path.to_owned()));
            assert_eq!((report.block.as_str(), report.reason), ("", "configured_unresolved"), "{root}: {problems:?}");
            assert!(report.warnings[0].contains("the whole disk"), "{root}: {:?}", report.warnings);
        }
    }

    #[test]
    fn a_value_that_names_no_skill_is_reported() {
        let text = r#"{"agent_skills": {"empty": "", "number": 7, "mixed": [1, "skills/a"]}}"#;
        let (config, _) = Config::read(ConfigTexts { project: Some(text), ..ConfigTexts::default() });
        let view = MemoryFiles::new([("skills/a/SKILL.md", "")]).view();
        let around = SkillSurroundings { home: "/home/u", skills: None, plugin_skill: None };
        let asked = |agent| of_agent(&view, &config, agent, &around, |_| None);
        let counts = |report: &SkillsReport| (report.reason, report.skills_count, report.warnings.len());
        assert_eq!(counts(&asked("empty")), ("configured_empty", 0, 0));
        assert_eq!(asked("empty").notes.len(), 1);
        assert_eq!(counts(&asked("number")), ("configured_empty", 0, 1));
        assert_eq!(counts(&asked("mixed")), ("resolved", 2, 1));
    }

    #[test]
    fn the_configuration_file_that_was_read_is_reported() {
        let source = |workstream: Option<&str>, texts| {
            let layout = Layout::new("/p", None, workstream);
            let view = ProjectView::new(layout, Box::new(MemoryFiles::new([])));
            let around = SkillSurroundings { home: "/home/u", skills: None, plugin_skill: None };
            let report = of_agent(&view, &Config::read(texts).0, "x", &around, |_| None);
            (report.source, report.degraded)
        };
        let texts = |project, workstream| ConfigTexts { project, workstream, ..ConfigTexts::default() };
        assert_eq!(source(None, texts(None, None)), ("builtin-defaults", false));
        assert_eq!(source(None, texts(Some("{}"), None)), ("root", false));
        assert_eq!(source(None, texts(Some("{"), None)), ("builtin-defaults", true));
        assert_eq!(source(Some("w"), texts(Some("{}"), Some("{}"))), ("workstream", false));
        assert_eq!(source(Some("w"), texts(Some("{}"), None)), ("root", true));
        assert_eq!(source(Some("w"), texts(Some("{"), Some("{}"))), ("workstream", true));
    }
}
