//! Programs and servers that can review: facts from `reviewers.toml`, which of them a call means, and how each is
//! called. That file decides what is run; a project can only choose among its entries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::config::Config;
use crate::text::nearest::nearest;

/// How a reviewer is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// It is a program.
    #[default]
    Spawn,
    /// It is a server with the API of OpenAI.
    OpenaiHttp,
}

/// How a reviewer gets the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Delivery {
    StandardInput,
    /// It gets the path of the file.
    File,
    /// It does not take a prompt: it finds the changes itself.
    None,
    /// In the request to the server.
    Request,
}

/// Which part of the standard output is the review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReviewForm {
    #[default]
    Text,
    /// The last message of a stream of events.
    LastMessage,
    AllMessages,
}

/// One reviewer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reviewer {
    #[serde(skip)]
    pub(crate) slug: String,
    /// The heading of its review.
    pub(crate) section: String,
    /// The flags that request it, in the arguments of a workflow.
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) transport: Transport,
    /// The row of the client table with its programs, the flag for its model, and its environment.
    #[serde(default)]
    pub(crate) runner: Option<String>,
    /// Names of its program if that row does not exist.
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    pub(crate) delivery: Delivery,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    choose_effort: Vec<String>,
    #[serde(default)]
    choose_agent: Vec<String>,
    /// Its key below `review.models`; if absent, the configuration has no model for it.
    #[serde(default)]
    model_key: Option<String>,
    /// The effort if none is set; if absent, it has no effort setting.
    #[serde(default)]
    effort: Option<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) output: ReviewForm,
    /// How many seconds its own time limit is longer than ours.
    #[serde(default)]
    more_seconds: u64,
    /// A word in its help text that another program of the same name does not have.
    #[serde(default)]
    pub(crate) help_has: Option<String>,
    /// True if it may be unable to read the project. It is then asked to say so.
    #[serde(default)]
    may_lack_access: bool,
    /// True if it can read the source, so that its review should name lines.
    #[serde(default)]
    pub(crate) reads_source: bool,
    /// The usual address of its server.
    #[serde(default)]
    pub(crate) address: Option<String>,
    /// The setting that has its address.
    #[serde(default)]
    pub(crate) address_key: Option<String>,
    /// Command lines for other major versions of the program, by the first number of the version.
    #[serde(default)]
    majors: BTreeMap<String, Major>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every command line has a day and a source"))]
    fact: Fact,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Major {
    arguments: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every command line has a day and a source"))]
    fact: Fact,
}

/// The source of a command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests check that every command line has a day and a source"))]
struct Fact {
    date: String,
    source: String,
    #[serde(default)]
    note: Option<String>,
}

/// All reviewers, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Reviewers {
    all: Vec<Reviewer>,
}

/// A reviewer as the call or the project configures it: with a name for its files, a model and an agent.
#[derive(Clone, Debug)]
pub(crate) struct Lane<'a> {
    /// The name of its files: that of the reviewer, or of an instance of it.
    pub(crate) name: String,
    pub(crate) reviewer: &'a Reviewer,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) agent: Option<String>,
}

/// A reviewer cannot be called as the call or the configuration asks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LaneError {
    /// The code of the error in an answer.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl LaneError {
    /// The call or the configuration names a reviewer that does not exist.
    fn malformed(message: String, hint: String) -> Self {
        Self { reason: "malformed_lane", message, hint }
    }

    /// A setting of the reviewer is invalid.
    fn invalid(message: String, hint: String) -> Self {
        Self { reason: "invalid_setting", message, hint }
    }

    fn refused(key: &str, value: &str) -> Self {
        Self::invalid(
            format!("`{value}` from `{key}` cannot be passed to a reviewer"),
            format!("set `{key}` to a name of letters, digits and `. _ - / : @`, not starting with `-`"),
        )
    }

    fn not_taken(name: &str, what: &str) -> Self {
        Self::invalid(
            format!("the reviewer `{name}` does not take {what}"),
            format!("choose another reviewer, or do not choose {what}"),
        )
    }
}

impl Reviewer {
    /// True if its command line depends on the version of the program.
    pub(crate) fn depends_on_version(&self) -> bool {
        !self.majors.is_empty()
    }
}

impl Reviewers {
    pub(crate) fn builtin() -> Result<Self, toml_edit::de::Error> {
        let text = include_str!("reviewers.toml");
        // A document keeps the order of its tables; a map does not.
        let document: toml_edit::DocumentMut = text.parse().map_err(toml_edit::de::Error::from)?;
        let mut rows: BTreeMap<String, Reviewer> = toml_edit::de::from_str(text)?;
        let named = |(slug, _): (&str, &toml_edit::Item)| {
            let row = rows.remove(slug)?;
            Some(Reviewer { slug: slug.to_owned(), ..row })
        };
        Ok(Self { all: document.iter().filter_map(named).collect() })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reviewer> {
        self.all.iter()
    }

    fn find(&self, slug: &str) -> Option<&Reviewer> {
        self.all.iter().find(|reviewer| reviewer.slug == slug)
    }

    fn known(&self) -> String {
        self.all.iter().map(|reviewer| reviewer.slug.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Finds the reviewer of this name, or the instance of one that the project defines.
    pub(crate) fn lane(&self, name: &str, config: &Config) -> Result<Lane<'_>, LaneError> {
        let set = |key: String| config.text(&key).map(|value| plain(&key, value)).transpose();
        if let Some(reviewer) = self.find(name) {
            return reviewer.lane(name, None, None, config);
        }
        let instance = format!("review.reviewer_instances.{name}");
        // A text that is not a name could lead to other settings and to other files.
        let is_defined = is_name(name) && config.written(&instance).is_some();
        if !is_defined {
            let instances = config.entries("review.reviewer_instances").map(|(name, _)| name);
            let names = self.all.iter().map(|reviewer| reviewer.slug.as_str()).chain(instances);
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("choose one of {}", self.known()),
            };
            return Err(LaneError::malformed(format!("`{name}` is not a reviewer"), hint));
        }
        let key = format!("{instance}.cli");
        let cli = config.text(&key).unwrap_or_default();
        let Some(reviewer) = self.find(cli) else {
            let message = format!("`{key}` names `{cli}`, which is not a reviewer");
            return Err(LaneError::malformed(message, format!("set `{key}` to one of {}", self.known())));
        };
        let (model, agent) = (set(format!("{instance}.model"))?, set(format!("{instance}.agent"))?);
        reviewer.lane(name, model, agent, config)
    }

    /// The reviewers whose flags are among the arguments of a workflow, by name.
    pub(crate) fn asked_for<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        // Hosts pass everything that was typed as one argument.
        let words: Vec<&str> = arguments.into_iter().flat_map(str::split_whitespace).collect();
        let is_asked = |reviewer: &&Reviewer| reviewer.flags.iter().any(|flag| words.contains(&flag.as_str()));
        let mut asked: Vec<&str> = self.all.iter().filter(is_asked).map(|reviewer| reviewer.slug.as_str()).collect();
        asked.sort_unstable();
        asked
    }
}

impl Reviewer {
    fn lane(
        &self,
        name: &str,
        model: Option<String>,
        agent: Option<String>,
        config: &Config,
    ) -> Result<Lane<'_>, LaneError> {
        let set = |key: String| config.text(&key).map(|value| plain(&key, value)).transpose();
        let of_reviewer = || self.model_key.as_ref().map(|key| set(format!("review.models.{key}")));
        let model = match model {
            Some(model) => Some(model),
            None => of_reviewer().transpose()?.flatten(),
        };
        let effort = match &self.effort {
            Some(usual) => set(format!("review.effort.{}", self.slug))?.or_else(|| Some(usual.clone())),
            None => None,
        };
        let lane = Lane { name: name.to_owned(), reviewer: self, model, effort, agent: None };
        lane.with_agent(agent)?.called(None, None)
    }

    fn takes_model(&self) -> bool {
        self.transport == Transport::OpenaiHttp || self.arguments.iter().any(|part| part == "{model}")
    }

    /// True if the prompt itself is sent, not only its path.
    pub(crate) fn is_sent_the_prompt(&self) -> bool {
        matches!(self.delivery, Delivery::StandardInput | Delivery::Request)
    }
}

impl Lane<'_> {
    /// Applies `--as` and `--model` of the call.
    pub(crate) fn called(mut self, name: Option<&str>, model: Option<&str>) -> Result<Self, LaneError> {
        if let Some(name) = name {
            if !is_name(name) {
                return Err(LaneError::refused("--as", name));
            }
            name.clone_into(&mut self.name);
        }
        if let Some(model) = model {
            self.model = Some(plain("--model", model)?);
        }
        if self.model.is_some() && !self.reviewer.takes_model() {
            return Err(LaneError::not_taken(&self.reviewer.slug, "a model"));
        }
        Ok(self)
    }

    pub(crate) fn with_agent(mut self, agent: Option<String>) -> Result<Self, LaneError> {
        if let Some(agent) = agent {
            if self.reviewer.choose_agent.is_empty() {
                return Err(LaneError::not_taken(&self.reviewer.slug, "an agent"));
            }
            self.agent = Some(plain("--agent", &agent)?);
        }
        Ok(self)
    }

    /// The heading of its review.
    pub(crate) fn section(&self) -> String {
        let section = &self.reviewer.section;
        if self.name == self.reviewer.slug { section.clone() } else { format!("{} ({section})", self.name) }
    }

    /// The model and the effort for people, if a model was chosen.
    pub(crate) fn chosen_model(&self) -> Option<String> {
        let model = self.model.as_ref()?;
        Some(match &self.effort {
            Some(effort) => format!("{model} (reasoning={effort})"),
            None => model.clone(),
        })
    }

    /// The most tokens to send: its own limit, else the general one.
    pub(crate) fn budget(&self, config: &Config) -> Option<u64> {
        let of = |name: &str| config.number(&format!("review.max_prompt_tokens_per_reviewer.{name}"));
        of(&self.name).or_else(|| of(&self.reviewer.slug)).or_else(|| config.number("review.max_prompt_tokens"))
    }

    /// Its time limit in seconds.
    pub(crate) fn seconds(&self, config: &Config) -> u64 {
        let of = |name: &str| config.number(&format!("review.timeouts.{name}")).filter(|seconds| *seconds > 0);
        of(&self.name).or_else(|| of(&self.reviewer.slug)).unwrap_or(USUAL_SECONDS).min(MOST_SECONDS)
    }

    /// Its command line without the program. `choose_model` holds the arguments that set the model; `prompt` and
    /// `repository` are paths.
    pub(crate) fn arguments(
        &self,
        choose_model: &[String],
        prompt: &str,
        repository: &str,
        seconds: u64,
        major: Option<u64>,
    ) -> Vec<String> {
        let reviewer = self.reviewer;
        let other = major.and_then(|major| reviewer.majors.get(&major.to_string()));
        let filled = |template: &[String], name: &str, value: Option<&String>| -> Vec<String> {
            let value = value.map(|value| template.iter().map(|word| word.replace(name, value)).collect());
            value.unwrap_or_default()
        };
        let own_seconds = (seconds + reviewer.more_seconds).to_string();
        let template = other.map_or(&reviewer.arguments, |other| &other.arguments);
        let words = template.iter().flat_map(|part| match part.as_str() {
            "{model}" => filled(choose_model, "{model}", self.model.as_ref()),
            "{effort}" => filled(&reviewer.choose_effort, "{effort}", self.effort.as_ref()),
            "{agent}" => filled(&reviewer.choose_agent, "{agent}", self.agent.as_ref()),
            "{request}" => vec![request(prompt, repository, reviewer.may_lack_access)],
            part => vec![part.replace("{seconds}", &own_seconds)],
        });
        words.collect()
    }
}

/// The time limit of a reviewer if nothing sets one.
const USUAL_SECONDS: u64 = 600;

/// The longest time limit of a reviewer: one day.
const MOST_SECONDS: u64 = 24 * 60 * 60;

/// The line with which a reviewer reports that it could not read the source.
const NO_ACCESS: &str = "REVIEWED-WITHOUT-REPO-ACCESS";

/// The request to a reviewer that reads the prompt from a file.
fn request(prompt: &str, repository: &str, may_lack_access: bool) -> String {
    let mut request = format!(
        "Read all of the file {prompt} and carry out the review request in it. The repository is at {repository}; \
         relative paths in the request are below that folder. Do not change any file. Print only the review, as Markdown."
    );
    if may_lack_access {
        // Writing to a string cannot fail.
        let _ = write!(request, " If you cannot read files below {repository}, print the line {NO_ACCESS} first.");
    }
    request
}

/// Checks a value that becomes an argument of a program. With a leading hyphen it would be a flag, which a project must
/// not be able to choose.
fn plain(key: &str, value: &str) -> Result<String, LaneError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/:@+[]".contains(letter);
    if value.is_empty() || value.starts_with('-') || !value.chars().all(is_plain) {
        return Err(LaneError::refused(key, value));
    }
    Ok(value.to_owned())
}

/// True if a text can name a reviewer and a file.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// The address of a server without the prefix of its paths, such as `http://localhost:1234`; `None` if it is not a web
/// address or contains a user name.
pub(crate) fn base_address(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let (scheme, rest) = typed.split_once("://").unwrap_or(("http", typed));
    let rest = rest.trim_end_matches('/');
    let rest = rest.strip_suffix("/v1").unwrap_or(rest).trim_end_matches('/');
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:/[]".contains(letter);
    let is_sound = matches!(scheme, "http" | "https") && !rest.is_empty() && rest.chars().all(is_plain);
    (is_sound && !rest.starts_with('/')).then(|| format!("{scheme}://{rest}"))
}

/// True if a server at this address is on the same computer.
pub(crate) fn is_local(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, _)) => host,
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|host| host.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    fn config(project: &str) -> Config {
        Config::read(ConfigTexts { project: Some(project), ..ConfigTexts::default() }).0
    }

    fn arguments(name: &str, project: &str) -> String {
        let reviewers = Reviewers::builtin().unwrap();
        let lane = reviewers.lane(name, &config(project)).unwrap();
        let model = ["--model".to_owned(), "{model}".to_owned()];
        lane.arguments(&model, "/run/p.md", "/repo", 100, None).join(" ")
    }

    #[test]
    fn every_row_has_a_transport_and_a_source() {
        let reviewers = Reviewers::builtin().unwrap();
        assert_eq!(reviewers.iter().count(), 12);
        for reviewer in reviewers.iter() {
            let is_program = reviewer.transport == Transport::Spawn;
            assert_eq!(is_program, reviewer.runner.is_some() == reviewer.programs.is_empty(), "{reviewer:?}");
            assert_eq!(is_program, reviewer.address.is_none() && reviewer.address_key.is_none(), "{reviewer:?}");
            assert_eq!(is_program, !reviewer.arguments.is_empty(), "{reviewer:?}");
            assert_eq!(!is_program, reviewer.delivery == Delivery::Request, "{reviewer:?}");
            let asks = reviewer.arguments.iter().any(|part| part == "{request}");
            assert_eq!(asks, reviewer.delivery == Delivery::File, "{reviewer:?}");
            assert!(reviewer.fact.date.starts_with("20") && !reviewer.fact.source.is_empty(), "{reviewer:?}");
            assert!(reviewer.fact.note.as_deref().is_none_or(|note| !note.is_empty()));
            for major in reviewer.majors.values() {
                assert!(major.fact.date.starts_with("20") && !major.arguments.is_empty(), "{reviewer:?}");
            }
        }
    }

    #[test]
    fn another_major_version_of_a_program_has_its_own_command_line() {
        let reviewers = Reviewers::builtin().unwrap();
        let lane = reviewers.lane("opencode", &config("{}")).unwrap();
        let of = |major| lane.arguments(&[], "/run/p.md", "/repo", 100, major).join(" ");
        assert_eq!(of(Some(1)), of(None));
        assert!(of(None).contains("--variant") && !of(None).contains("--standalone"), "{}", of(None));
        assert!(of(Some(2)).contains("--standalone") && !of(Some(2)).contains("--variant"), "{}", of(Some(2)));
    }

    #[test]
    fn settings_choose_model_effort_and_agent_and_nothing_else() {
        let set = r#"{"review": {"models": {"claude": "opus"}, "effort": {"claude": "low"},
          "reviewer_instances": {"arch": {"cli": "opencode", "model": "a/b", "agent": "architect"}}}}"#;
        assert!(arguments("claude", set).ends_with("--model opus --effort low"));
        assert!(arguments("claude", "{}").ends_with("--strict-mcp-config --effort high"));
        assert!(arguments("arch", set).ends_with("--model a/b --variant high --agent architect"));
        assert!(arguments("antigravity", "{}").contains("--print-timeout 160s"));
        assert!(arguments("cursor", "{}").contains("/run/p.md"));
    }

    #[test]
    fn a_project_cannot_set_a_flag_or_a_program() {
        let reviewers = Reviewers::builtin().unwrap();
        let error = |name: &str, set: &str| reviewers.lane(name, &config(set)).unwrap_err();
        for value in ["--yolo", "a b", "$(x)", "a;b", "a\\nb"] {
            let set = format!(r#"{{"review": {{"models": {{"gemini": "{value}"}}}}}}"#);
            assert_eq!(error("gemini", &set).reason, "invalid_setting", "{value}");
        }
        let set = r#"{"review": {"reviewer_instances": {"x": {"cli": "sh"}, "y": {"cli": "codex", "agent": "z"}}}}"#;
        assert_eq!(error("x", set).message, "`review.reviewer_instances.x.cli` names `sh`, which is not a reviewer");
        assert_eq!(error("y", set).message, "the reviewer `codex` does not take an agent");
        assert_eq!(error("codx", set).hint, "did you mean `codex`?");
        assert!(error("../x", set).hint.starts_with("choose one of gemini, claude"));
        let lane = reviewers.lane("codex", &config("{}")).unwrap();
        assert!(lane.clone().called(Some("../up"), None).is_err());
        assert_eq!(lane.called(Some("fast"), Some("m")).unwrap().section(), "fast (Codex)");
        let diff = reviewers.lane("coderabbit", &config("{}")).unwrap();
        assert!(diff.called(None, Some("m")).unwrap_err().message.ends_with("does not take a model"));
    }

    #[test]
    fn limits_of_the_reviewer_win_over_general_ones() {
        let reviewers = Reviewers::builtin().unwrap();
        let set = config(
            r#"{"review": {"max_prompt_tokens": 50, "timeouts": {"codex": 7, "claude": -1},
          "max_prompt_tokens_per_reviewer": {"codex": 70, "claude": -1}}}"#,
        );
        let of = |name: &str| {
            let lane = reviewers.lane(name, &set).unwrap();
            (lane.budget(&set), lane.seconds(&set))
        };
        assert_eq!(of("codex"), (Some(70), 7));
        assert_eq!(of("claude"), (Some(50), 600));
        assert_eq!(reviewers.lane("codex", &config("{}")).unwrap().budget(&config("{}")), None);
    }

    #[test]
    fn flags_are_found_in_the_typed_arguments() {
        let reviewers = Reviewers::builtin().unwrap();
        assert_eq!(
            reviewers.asked_for(["4 --lm-studio", "--agy", "--gemini", "--gemini"]),
            ["antigravity", "gemini", "lm_studio"]
        );
        assert_eq!(reviewers.asked_for(["gemini", "-gemini", "--gemini=1", "--all"]), [""; 0]);
    }

    #[test]
    fn only_addresses_of_this_computer_are_local() {
        for (typed, address) in [
            ("localhost:11434", Some("http://localhost:11434")),
            ("http://127.0.0.1:1/v1/", Some("http://127.0.0.1:1")),
            ("https://[::1]:80/api", Some("https://[::1]:80/api")),
            ("file:///etc/passwd", None),
            ("http://me@localhost", None),
            ("http://", None),
            ("http://a\\nurl", None),
        ] {
            assert_eq!(base_address(typed).as_deref(), address, "{typed}");
            assert!(address.is_none_or(is_local), "{typed}");
        }
        for address in ["http://127.0.0.1.example.com", "http://10.0.0.1:80", "http://localhost.example", "https://x"] {
            assert!(!is_local(address), "{address}");
        }
    }
}
