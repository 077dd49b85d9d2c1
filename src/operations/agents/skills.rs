//! Skills that the user gave to agents of the system, as the block that is put before an agent's task.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::config::{Config, Source};
use crate::project::view::ProjectView;

/// What `agent-skills` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillsReport {
    pub(crate) agent_type: String,
    /// The text for the agent; empty where there is nothing to read.
    pub(crate) block: String,
    pub(crate) skills_count: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) configured: bool,
    pub(crate) reason: &'static str,
    pub(crate) source: &'static str,
    /// Whether a file that should have been asked was not there or does not parse.
    pub(crate) degraded: bool,
    pub(crate) agent_payload_variant: Option<String>,
    pub(crate) value: SkillsValue,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillsValue {
    pub(crate) block: String,
    pub(crate) skills_count: usize,
}

/// The skills of an agent. A folder without a `SKILL.md`, and one outside the project that is not trusted, is left out
/// and told. `exists` asks for absolute paths; `home` stands for `~`.
pub(crate) fn of_agent(
    view: &ProjectView,
    config: &Config,
    agent: &str,
    home: &str,
    exists: impl Fn(&str) -> bool,
) -> SkillsReport {
    let written = config.written("agent_skills").and_then(|skills| skills.get(agent));
    let wanted = match written {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let trusted: Vec<String> =
        config.texts("agent_skills_security.trusted_global_roots").iter().map(|root| at_home(root, home)).collect();
    let mut warnings = Vec::new();
    let mut files = Vec::new();
    for skill in &wanted {
        let path = at_home(skill.trim_end_matches('/'), home);
        let is_global = path.starts_with('/') || path.contains(':');
        let file = format!("{path}/SKILL.md");
        if path.split(['/', '\\']).any(|part| part == "..") {
            warnings.push(format!("`{skill}` leads out of the project"));
        } else if is_global && !trusted.iter().any(|root| is_below(&path, root)) {
            warnings.push(format!("`{skill}` is outside the project and not in a trusted folder"));
        } else if (is_global && exists(&file)) || (!is_global && view.exists(&file)) {
            files.push(file);
        } else {
            warnings.push(format!("`{skill}` has no SKILL.md"));
        }
    }
    let block = block(&files);
    SkillsReport {
        agent_type: agent.to_owned(),
        skills_count: wanted.len(),
        configured: written.is_some(),
        reason: match (written.is_some(), wanted.is_empty(), files.is_empty()) {
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
        warnings,
        agent_payload_variant: None,
        value: SkillsValue { block: block.clone(), skills_count: wanted.len() },
        block,
    }
}

fn block(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = files.iter().map(|file| format!("- @{file}")).collect();
    format!("<agent_skills>\nRead these user-configured skills:\n{}\n</agent_skills>", lines.join("\n"))
}

fn at_home(path: &str, home: &str) -> String {
    path.strip_prefix("~/").map_or_else(|| path.to_owned(), |inside| format!("{home}/{inside}"))
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
    fn only_skills_that_are_there_and_trusted_reach_the_agent() {
        let files = MemoryFiles::new([("skills/a/SKILL.md", ""), ("skills/b/README.md", "")]);
        let view = files.view();
        let text = r#"{"agent_skills": {"x": ["skills/a/", "skills/b", "../c", "/opt/d", "~/s/e", "~/sly/f"], "y": "skills/a", "lost": ["skills/b"], "empty": []},
                       "agent_skills_security": {"trusted_global_roots": ["~/s"]}}"#;
        let (config, _) = Config::read(ConfigTexts { project: Some(text), ..ConfigTexts::default() });
        let report = of_agent(&view, &config, "x", "/home/u", |_| true);
        assert!(report.block.contains("- @skills/a/SKILL.md\n- @/home/u/s/e/SKILL.md\n"), "{}", report.block);
        assert_eq!((report.skills_count, report.warnings.len(), report.reason), (6, 4, "resolved"));
        let asked = |agent| of_agent(&view, &config, agent, "/home/u", |_| false);
        assert_eq!((asked("y").skills_count, asked("y").reason), (1, "resolved"));
        assert_eq!(asked("lost").reason, "configured_unresolved");
        assert_eq!((asked("empty").reason, asked("empty").configured), ("configured_empty", true));
        let none = asked("z");
        assert_eq!((none.block.as_str(), none.reason, none.configured), ("", "not_configured", false));
    }

    #[test]
    fn the_file_that_was_asked_is_told() {
        let source = |workstream: Option<&str>, texts| {
            let layout = Layout::new("/p", None, workstream);
            let view = ProjectView::new(layout, Box::new(MemoryFiles::new([])));
            let report = of_agent(&view, &Config::read(texts).0, "x", "/home/u", |_| true);
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
