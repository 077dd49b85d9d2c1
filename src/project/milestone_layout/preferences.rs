//! `PREFERENCES.md`: settings of the pipeline, from the project and, with lower precedence, from the user.
//!
//! Unknown keys are ignored. A value of the wrong kind is reported with its line and counts as not set.

use super::lines::bare;
use super::preference_table::{self as table, KEYS};
use crate::text::front_matter::{FrontMatter, Value, is_unclosed};
use crate::text::markdown::Markdown;
use crate::text::words::{of_word, read_words, words};

words! {
    /// How much effort a milestone is worth. In the classic pipeline it decides which sessions are skipped.
    #[derive(Default, Hash, serde::Serialize, schemars::JsonSchema)]
    pub(crate) enum Profile {
        Budget = "budget",
        #[default]
        Balanced = "balanced",
        Quality = "quality",
        BurnMax = "burn-max",
    }
}

read_words! {
    /// How much of the documents a prompt contains.
    #[derive(Default)]
    pub(crate) enum InlineLevel {
        #[default]
        Paths = "paths",
        Minimal = "minimal",
        Full = "full",
    }
}

/// Settings about phases; the pipeline decides those that are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhasePreferences {
    pub(crate) skip_research: Option<bool>,
    pub(crate) skip_slice_research: Option<bool>,
    pub(crate) skip_reassess: Option<bool>,
    pub(crate) skip_milestone_validation: Option<bool>,
    pub(crate) reassess_after_slice: Option<bool>,
    pub(crate) require_slice_discussion: Option<bool>,
    pub(crate) progressive_planning: Option<bool>,
}

/// `auto_supervisor`: time limits of a unit, in minutes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    pub(crate) idle: Option<u32>,
    pub(crate) hard: Option<u32>,
}

/// The settings of the pipeline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Preferences {
    pub(crate) token_profile: Profile,
    pub(crate) phases: PhasePreferences,
    pub(crate) uat_dispatch: bool,
    pub(crate) uat_accept_partial: bool,
    /// `git.worktree_post_create`: the command that prepares a worktree.
    pub(crate) worktree_post_create: Option<String>,
    /// `git.worktree_environments`: whether installed packages are brought to worktrees.
    pub(crate) worktree_environments: bool,
    pub(crate) time_limits: TimeLimits,
    pub(crate) verification_commands: Vec<String>,
    pub(crate) verification_max_retries: u32,
    pub(crate) verification_require_evidence: bool,
    pub(crate) budget_ceiling: Option<f64>,
    pub(crate) per_unit_cost_cap_usd: Option<f64>,
    pub(crate) gate_evaluation: bool,
    pub(crate) mechanical: MechanicalPreferences,
    /// `None`: the pipeline decides.
    pub(crate) plan_inline_s01: Option<bool>,
    pub(crate) inline_level: InlineLevel,
    /// How much of a run a view shows at first.
    pub(crate) widget_mode: Option<WidgetMode>,
    /// Digests of changes that the user approves in advance.
    pub(crate) approved: Vec<String>,
}

/// Documents that are written without an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MechanicalPreferences {
    /// `None`: the pipeline decides.
    pub(crate) enabled: Option<bool>,
    /// The minimum length of a summary; 0 means no limit.
    pub(crate) min_summary_chars: usize,
}

/// A value of the wrong kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreferenceProblem {
    pub(crate) source: PreferenceSource,
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// A dotted key that a document sets, with its value on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) source: PreferenceSource,
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// The keys that the documents set, with the values in effect: those of the project win.
pub(crate) fn given(project: Option<&str>, global: Option<&str>) -> Vec<Given> {
    let sources = [(PreferenceSource::Project, project), (PreferenceSource::Global, global)];
    let mut found: Vec<Given> = Vec::new();
    for source in sources.into_iter().filter_map(|(source, text)| PreferenceDocument::new(source, text?)) {
        for (name, value) in source.front.entries() {
            let entries = match value {
                Value::Map(inner) => inner.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)).collect(),
                value => vec![(name, value)],
            };
            for (key, value) in entries.into_iter().filter(|(_, value)| *value != Value::Empty) {
                if !found.iter().any(|known| known.key == key) {
                    let (source, line) = (source.whose, source.line(&key));
                    found.push(Given { source, line, key, value: value.flat() });
                }
            }
        }
    }
    found
}

/// Why a document cannot be read as preferences: the line, and what is wrong there.
pub(crate) fn fault(text: &str) -> Option<(usize, &'static str)> {
    let text = bare(text);
    if is_unclosed(text) {
        return Some((1, "the front matter that begins here is not closed by `---`"));
    }
    if let Some(front) = FrontMatter::parse(text) {
        return front.problem().map(|problem| (problem.line, problem.what));
    }
    let (line, first) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let is_key =
        |(key, _): (&str, &str)| !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_yaml = first.starts_with(['[', '{', '-']) || first.split_once(':').is_some_and(is_key);
    is_yaml.then_some((line + 1, "preferences are keys between two lines `---`, and none is before this"))
}

words! {
    /// How much of a run a view shows.
    #[derive(serde::Serialize)]
    pub(crate) enum WidgetMode {
        Full = "full",
        Small = "small",
        Min = "min",
        Off = "off",
    }
}

/// The source of a preference: the project's win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreferenceSource {
    Project,
    Global,
}

impl PreferenceSource {
    /// The sources of a key, the one that takes precedence first: the project, except for messages, which reach the user.
    pub(crate) fn in_order(key: &str) -> [Self; 2] {
        if key.starts_with("messages.") { [Self::Global, Self::Project] } else { [Self::Project, Self::Global] }
    }

    /// The document, for display.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Project => ".gsd/PREFERENCES.md",
            Self::Global => "~/.gsd/PREFERENCES.md",
        }
    }
}

impl Default for Preferences {
    fn default() -> Self {
        Self::read(None, None).0
    }
}

impl Preferences {
    /// Reads the preferences of the project and those of the user.
    pub(crate) fn read(project: Option<&str>, global: Option<&str>) -> (Self, Vec<PreferenceProblem>) {
        let sources = [(PreferenceSource::Project, project), (PreferenceSource::Global, global)];
        let sources = sources.into_iter().filter_map(|(source, text)| PreferenceDocument::new(source, text?)).collect();
        let keys = Keys { sources };
        let preferences = Self {
            token_profile: keys.word("token_profile").unwrap_or_default(),
            phases: phases(&keys),
            uat_dispatch: keys.flag("uat_dispatch").unwrap_or(false),
            uat_accept_partial: keys.flag("uat_accept_partial").unwrap_or(false),
            worktree_post_create: keys.text("git.worktree_post_create"),
            worktree_environments: keys.flag("git.worktree_environments").unwrap_or(true),
            time_limits: TimeLimits {
                idle: keys.number("auto_supervisor.idle_timeout_minutes"),
                hard: keys.number("auto_supervisor.hard_timeout_minutes"),
            },
            verification_commands: keys.list("verification_commands"),
            verification_max_retries: keys.number("verification_max_retries").unwrap_or(2),
            verification_require_evidence: keys.flag("verification.require_evidence").unwrap_or(true),
            budget_ceiling: keys.amount("budget_ceiling"),
            per_unit_cost_cap_usd: keys.amount("per_unit_cost_cap_usd"),
            gate_evaluation: keys.flag("gate_evaluation.enabled").unwrap_or(false),
            mechanical: MechanicalPreferences {
                enabled: keys.flag("mechanical.enabled"),
                min_summary_chars: keys
                    .number("mechanical.min_summary_chars")
                    .map_or(200, |number| usize::try_from(number).unwrap_or(usize::MAX)),
            },
            plan_inline_s01: keys.flag("plan.inline_s01"),
            inline_level: keys.word("inline_level").unwrap_or_default(),
            widget_mode: keys.word("widget_mode"),
            approved: keys.list("approved"),
        };
        (preferences, keys.problems())
    }
}

fn phases(keys: &Keys<'_>) -> PhasePreferences {
    PhasePreferences {
        skip_research: keys.flag("phases.skip_research"),
        skip_slice_research: keys.flag("phases.skip_slice_research"),
        skip_reassess: keys.flag("phases.skip_reassess"),
        skip_milestone_validation: keys.flag("phases.skip_milestone_validation"),
        reassess_after_slice: keys.flag("phases.reassess_after_slice"),
        require_slice_discussion: keys.flag("phases.require_slice_discussion"),
        progressive_planning: keys.flag("phases.progressive_planning"),
    }
}

/// A document with preferences.
pub(super) struct PreferenceDocument<'text> {
    pub(super) whose: PreferenceSource,
    front: FrontMatter<'text>,
    markdown: Markdown<'text>,
}

impl<'text> PreferenceDocument<'text> {
    pub(super) fn new(whose: PreferenceSource, text: &'text str) -> Option<Self> {
        let markdown = Markdown::head(bare(text));
        Some(Self { whose, front: FrontMatter::of(&markdown)?, markdown })
    }

    pub(super) fn get(&self, key: &str) -> Option<Value> {
        let path: Vec<&str> = key.split('.').collect();
        self.front.get_path(&path).filter(|value| *value != Value::Empty)
    }

    /// The line of a key, or of the map that it is in.
    pub(super) fn line(&self, key: &str) -> usize {
        let mut found = 0;
        let mut from = 1;
        for (depth, name) in key.split('.').enumerate() {
            let lines = from..self.markdown.lines().len();
            let is_key = |line: &usize| {
                let text = self.markdown.line(*line);
                let inside = text.trim_start();
                let is_inner = inside.len() < text.len();
                is_inner == (depth > 0) && inside.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
            };
            let Some(line) = lines.into_iter().find(is_key) else { break };
            found = line;
            from = line + 1;
        }
        found + 1
    }
}

/// The values of both documents, by dotted keys.
struct Keys<'text> {
    sources: Vec<PreferenceDocument<'text>>,
}

impl Keys<'_> {
    /// The first value of the right kind.
    fn first<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        self.sources.iter().find_map(|source| read(&source.get(key)?))
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.first(key, table::flag)
    }

    fn number(&self, key: &str) -> Option<u32> {
        self.first(key, table::number)
    }

    fn amount(&self, key: &str) -> Option<f64> {
        self.first(key, table::amount)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.first(key, |value| value.as_text().map(str::to_owned))
    }

    fn word<T: for<'word> serde::Deserialize<'word>>(&self, key: &str) -> Option<T> {
        self.first(key, |value| of_word(value.as_text()?))
    }

    fn list(&self, key: &str) -> Vec<String> {
        self.first(key, table::list).unwrap_or_default()
    }

    /// The values of the wrong kind before the one that counts, for every key of the table.
    fn problems(&self) -> Vec<PreferenceProblem> {
        let mut problems = Vec::new();
        for key in KEYS {
            let values = self.sources.iter().filter_map(|source| Some((source, source.get(key.name)?)));
            problems.extend(values.take_while(|(_, value)| !key.kind.fits(value)).map(|(source, value)| {
                let what = format!("`{}` is `{}`, not {}", key.name, one_word(&value), key.kind);
                PreferenceProblem { source: source.whose, line: source.line(key.name), what }
            }));
        }
        problems
    }
}

/// A value shortened for a message.
fn one_word(value: &Value) -> String {
    crate::text::untrusted::line(&value.flat(), 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_project_wins_and_wrong_kinds_are_reported_with_their_lines() {
        let project = "\u{feff}---\r\ntoken_profile: quality\r\nphases:\r\n  skip_research: false\r\n  reassess_after_slice: maybe\r\nuat_dispatch: \
            [true]\r\nmechanical: { enabled: false, min_summary_chars: 0 }\r\nverification_commands:\r\n  - cargo test\r\n  - npm run lint: \
            fast\r\nunknown: x\r\nbudget_ceiling: 12.5\r\ngit:\r\n  isolation: cloud\r\n---\r\n# Mine\r\n";
        let global = "---\ntoken_profile: budget\nuat_dispatch: true\ngit:\n  isolation: worktree\nmodels:\n  planning: big\nverification:\n  \
            require_evidence: no\n---\n";
        let (read, problems) = Preferences::read(Some(project), Some(global));
        assert_eq!((read.token_profile, read.uat_dispatch), (Profile::Quality, true));
        assert_eq!((read.phases.skip_research, read.phases.reassess_after_slice), (Some(false), None));
        assert_eq!(read.mechanical, MechanicalPreferences { enabled: Some(false), min_summary_chars: 0 });
        assert_eq!(read.verification_commands, ["cargo test", "npm run lint: fast"]);
        assert!(!read.verification_require_evidence);
        let lines: Vec<_> = problems.iter().map(|problem| (problem.source, problem.line)).collect();
        let project = PreferenceSource::Project;
        assert_eq!(lines, [(project, 5), (project, 6), (project, 14)]);
        assert_eq!(problems[0].what, "`phases.reassess_after_slice` is `maybe`, not `true` or `false`");
        assert!((read.budget_ceiling, read.per_unit_cost_cap_usd) == (Some(12.5), None));
    }

    #[test]
    fn a_document_that_is_not_yaml_is_reported_with_its_line() {
        let line = |text: &str| fault(text).map(|(line, _)| line);
        for text in
            ["", "# Notes\n\nprose: yes\n", "---\nmode: solo\n---\n# Mine\n", "\u{feff}---\r\nmode: solo\r\n---\r\n"]
        {
            assert_eq!(line(text), None, "{text}");
        }
        for (text, expected) in [
            ("[broken", 1),
            ("---\n[broken\n---\n", 2),
            ("---\nmode: solo\n", 1),
            ("---\nmode: solo\nphases: [a\n---\n", 3),
            ("---\nmode: solo\nmode: team\n---\n", 3),
            ("\nbudget_ceiling: 2\n", 2),
        ] {
            assert_eq!(line(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn unset_keys_have_their_defaults() {
        let read = Preferences::default();
        assert_eq!((read.verification_max_retries, read.mechanical.min_summary_chars), (2, 200));
        assert_eq!(read.inline_level, InlineLevel::Paths);
        assert!(read.verification_require_evidence && !read.uat_accept_partial && !read.uat_dispatch);
        assert_eq!(Preferences::read(Some("# no front matter"), Some("---\nmode:\n---\n")), (read, Vec::new()));
    }

    proptest! {
        #[test]
        fn any_preferences_are_read(text in "(---\n|phases:\n|  skip_research: |git: |mode: |true|\\[|\\{|\\}|- |\n|\r\n|[ a:é0-9.-]){0,30}") {
            let _ = Preferences::read(Some(&text), Some(&text));
        }
    }
}
