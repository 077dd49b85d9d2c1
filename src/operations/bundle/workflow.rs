//! `init WORKFLOW`: what a workflow says in its front matter that it starts from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::failure::Failure;
use crate::library::{self, FrontMatter};
use crate::operations::notes::todos::{self, TodoReport};
use crate::operations::overview::progress::PhaseStatus;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::up_next;
use crate::text::words;

use super::phase::{Aim, Artifacts, Identity, Phase, Title};
use super::project::{CODE_MAP, MilestoneFacts};
use super::sections::{SectionManifest, When};
use super::{Automation, Bundle, Complete};

/// The keys of front matter that say what a workflow starts from.
const KEYS: &[&str] = &["needs", "agents", "settings", "flags"];

/// What a workflow can ask for, in the words of `needs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Need {
    /// A phase: the one that was typed, or else the one at work.
    Phase,
    /// A phase that was built: the one that was typed, or else the last one with a summary.
    BuiltPhase,
    Milestone,
    Todos,
    Maps,
    /// The profile of the user, where there is one.
    Profile,
}

/// What a workflow starts from, as its front matter says it.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowTable {
    name: String,
    front_matter: FrontMatter,
}

/// What `init WORKFLOW` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkflowReport {
    workflow: String,
    commit_docs: bool,
    #[serde(flatten)]
    automation: Automation,
    planning_exists: bool,
    project_exists: bool,
    requirements_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    planning_dir: String,
    project_path: String,
    requirements_path: String,
    roadmap_path: String,
    state_path: String,
    config_path: String,
    /// The model of each agent that the workflow starts, by the agent's name.
    models: BTreeMap<String, String>,
    /// The settings that the workflow goes by, by the last part of their names.
    settings: BTreeMap<String, Value>,
    #[serde(flatten)]
    phase: IfAsked<PhaseFacts>,
    #[serde(flatten)]
    milestone: IfAsked<MilestoneFacts>,
    #[serde(flatten)]
    todos: IfAsked<TodoFacts>,
    #[serde(flatten)]
    maps: IfAsked<MapFacts>,
    #[serde(flatten)]
    profile: IfAsked<ProfileFacts>,
    section_manifest: SectionManifest,
}

/// What only some workflows ask for: its fields, or none.
#[derive(Debug)]
struct IfAsked<T>(Option<T>);

impl<T: Serialize> Serialize for IfAsked<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for IfAsked<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    /// Every field may be absent, and those that can be null without that still can.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let required = schema.remove("required").unwrap_or_default();
        let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|key| key == name));
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (_, property) in properties.iter_mut().filter(|(name, _)| is_required(name)) {
                let Some(property) = property.as_object_mut() else { continue };
                if let Some(forms) = property.remove("anyOf") {
                    property.insert("oneOf".to_owned(), forms);
                } else if let Some(Value::Array(kinds)) = property.get("type").cloned() {
                    property.remove("type");
                    let form = |kind| Value::Object([("type".to_owned(), kind)].into_iter().collect());
                    property.insert("oneOf".to_owned(), kinds.into_iter().map(form).collect());
                }
            }
        }
        schema
    }
}

/// The phase that a workflow works on.
#[derive(Debug, Serialize, JsonSchema)]
struct PhaseFacts {
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    title: Title,
    #[serde(flatten)]
    aim: Aim,
    phase_req_ids: Option<String>,
    phase_status: Option<PhaseStatus>,
    has_context: bool,
    has_research: bool,
    has_plans: bool,
    has_verification: bool,
    plan_count: usize,
    #[serde(flatten)]
    artifacts: Artifacts,
    /// The documents of the phase by their kind, such as `SPEC`.
    documents: BTreeMap<String, String>,
    plans: Vec<String>,
    summaries: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TodoFacts {
    todo_count: usize,
    pending_todos: Vec<TodoReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MapFacts {
    codebase_dir: String,
    existing_maps: Vec<String>,
    /// All documents of the map are there.
    has_codebase_map: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProfileFacts {
    /// The profile that `write-profile` has written; null if there is none.
    user_profile_path: Option<String>,
}

/// What was typed after the name of a workflow.
#[derive(Debug, Default)]
struct Typed<'words> {
    phase: Option<&'words str>,
    flags: Vec<&'words str>,
}

impl WorkflowTable {
    /// The table of the workflow of this name; none if there is no such workflow, or its front matter says nothing about
    /// what it starts from.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let front_matter = library::front_matter_of(&format!("workflows/{name}.md"))?;
        let says = KEYS.iter().any(|key| front_matter.value(key).is_some());
        says.then(|| Self { name: name.to_owned(), front_matter })
    }

    fn needs(&self, need: Need) -> bool {
        self.front_matter.names("needs").into_iter().any(|word| words::of_word(word) == Some(need))
    }

    fn read<'words>(&self, words: &'words [String]) -> Result<Typed<'words>, Failure> {
        let known = self.front_matter.names("flags");
        let takes_phase = self.needs(Need::Phase) || self.needs(Need::BuiltPhase);
        let mut typed = Typed::default();
        for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
            if let Some(flag) = word.strip_prefix("--") {
                if !known.contains(&flag) {
                    let failure = Failure::usage(format!("`init {}` has no flag `--{flag}`", self.name));
                    let known: Vec<String> = known.iter().map(|flag| format!("`--{flag}`")).collect();
                    let hint = if known.is_empty() {
                        "it has no flags".to_owned()
                    } else {
                        format!("it takes {}", known.join(", "))
                    };
                    return Err(failure.hint(hint));
                }
                typed.flags.push(flag);
            } else if takes_phase && typed.phase.is_none() {
                typed.phase = Some(word);
            } else {
                let takes = if takes_phase { "one phase" } else { "no words" };
                return Err(Failure::usage(format!("`init {}` takes {takes}, and got `{word}`", self.name))
                    .hint("leave the other words out; the workflow itself works with them"));
            }
        }
        Ok(typed)
    }
}

impl Bundle<'_> {
    /// What the workflow of `table` starts from, given what was typed after its name.
    pub(crate) fn workflow(
        &self,
        table: &WorkflowTable,
        words: &[String],
    ) -> Result<Complete<WorkflowReport>, Failure> {
        let layout = self.view.layout();
        let documents = self.documents();
        let typed = table.read(words)?;
        let phase = self.phase_of(table, typed.phase)?;
        let settings = table.front_matter.names("settings");
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let holds = |when: &When| match when {
            When::Flag(flag) => typed.flags.contains(&flag.as_str()),
            When::Setting(key) => self.config.flag(key),
            When::Has(kind) => self.artifact(phase.as_ref(), kind).is_some(),
            When::Lacks(kind) => self.artifact(phase.as_ref(), kind).is_none(),
        };
        let takes_phase = table.needs(Need::Phase) || table.needs(Need::BuiltPhase);
        let report = WorkflowReport {
            workflow: table.name.clone(),
            commit_docs: self.commit_docs(),
            automation: self.automation(),
            planning_exists: documents.planning,
            project_exists: documents.project,
            requirements_exists: documents.requirements,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            planning_dir: self.shown(&layout.scope()),
            project_path: self.shown(&layout.project()),
            requirements_path: self.shown(&layout.requirements()),
            roadmap_path: self.shown(&layout.roadmap()),
            state_path: self.shown(&layout.state()),
            config_path: self.shown(&layout.config()),
            models: {
                let agents = table.front_matter.names("agents").into_iter();
                agents.map(|agent| (agent.to_owned(), self.model(&format!("gsd-{agent}")))).collect()
            },
            settings: settings.into_iter().map(|key| (last(key), self.config.value(key).clone())).collect(),
            phase: IfAsked(takes_phase.then(|| self.phase_facts(phase.as_ref())).transpose()?),
            milestone: IfAsked(table.needs(Need::Milestone).then(|| self.milestone_facts()).transpose()?),
            todos: IfAsked(table.needs(Need::Todos).then(|| self.todo_facts()).transpose()?),
            maps: IfAsked(table.needs(Need::Maps).then(|| self.map_facts()).transpose()?),
            profile: IfAsked(
                table.needs(Need::Profile).then(|| ProfileFacts { user_profile_path: self.facts.user_profile.clone() }),
            ),
            section_manifest: SectionManifest::gathered(&table.name, &table.front_matter, holds),
        };
        Ok(self.complete(report)?)
    }

    /// The phase that was typed, or else the one that the workflow takes without a word.
    fn phase_of(&self, table: &WorkflowTable, typed: Option<&str>) -> Result<Option<Phase>, FileError> {
        let number = match typed {
            Some(typed) => Some(typed.to_owned()),
            None if table.needs(Need::BuiltPhase) => self.last_built()?,
            None if table.needs(Need::Phase) => up_next::phase_at_work(self.view)?,
            None => None,
        };
        number.map_or(Ok(None), |number| self.phase(&number))
    }

    fn last_built(&self) -> Result<Option<String>, FileError> {
        let folders = self.view.milestone_folders()?;
        let mut built: Vec<&PhaseFolder> =
            folders.iter().filter(|folder| folder.summaries().next().is_some()).collect();
        built.sort_by(|left, right| crate::project::phase::compare(left.token(), right.token()));
        Ok(built.last().map(|folder| folder.token().to_owned()))
    }

    fn phase_facts(&self, phase: Option<&Phase>) -> Result<PhaseFacts, FileError> {
        let folder = phase.and_then(|phase| phase.folder.as_ref());
        let has = |kind| self.artifact(phase, kind).is_some();
        let plans = self.plans(phase)?;
        let shown = |file: &str| folder.map(|folder| self.shown(&folder.join(file)));
        Ok(PhaseFacts {
            identity: self.identity(phase),
            title: self.title(phase)?,
            aim: self.aim(phase),
            phase_req_ids: phase.and_then(|phase| phase.entry.as_ref()?.requirements.clone()),
            phase_status: match phase {
                Some(found) => Some(PhaseStatus::of(&self.standing(phase, &found.number)?)),
                None => None,
            },
            has_context: has("CONTEXT"),
            has_research: has("RESEARCH"),
            has_plans: !plans.is_empty(),
            has_verification: has("VERIFICATION"),
            plan_count: plans.len(),
            artifacts: self.artifacts(phase),
            documents: {
                let kinds = folder.map(PhaseFolder::kinds).unwrap_or_default();
                kinds.into_iter().filter_map(|kind| Some((kind.to_owned(), self.artifact(phase, kind)?))).collect()
            },
            plans: plans.iter().filter_map(|plan| shown(plan)).collect(),
            summaries: folder.into_iter().flat_map(PhaseFolder::summaries).filter_map(shown).collect(),
        })
    }

    fn todo_facts(&self) -> Result<TodoFacts, FileError> {
        let mut pending_todos = todos::list(self.view, None)?.todos;
        for todo in &mut pending_todos {
            todo.path = self.shown(&todo.path);
        }
        Ok(TodoFacts { todo_count: pending_todos.len(), pending_todos })
    }

    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of documents are exact")]
    fn map_facts(&self) -> Result<MapFacts, FileError> {
        let folder = self.view.layout().codebase();
        let mut existing_maps = self.view.file_names(&folder)?;
        existing_maps.retain(|name| name.ends_with(".md"));
        Ok(MapFacts {
            codebase_dir: self.shown(&folder),
            has_codebase_map: CODE_MAP.iter().all(|file| existing_maps.iter().any(|name| name == file)),
            existing_maps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{ItemKind, Library};
    use crate::project::config::key_names;

    const ROADMAP: (&str, &str) = (
        ".planning/ROADMAP.md",
        "# R\n\n- [x] **Phase 1: Base** - b\n- [ ] **Phase 2: Notes** - n\n\n### Phase 1: Base\n\n### Phase 2: Notes\n**Goal**: g\n",
    );

    fn table(front_matter: &str) -> WorkflowTable {
        let (front_matter, _) = FrontMatter::split(&format!("---\n{front_matter}---\n")).unwrap();
        WorkflowTable { name: "look".to_owned(), front_matter }
    }

    fn told(front_matter: &str, words: &[&str]) -> Value {
        let files = [
            ROADMAP,
            (".planning/phases/01-base/01-01-PLAN.md", ""),
            (".planning/phases/01-base/01-01-SUMMARY.md", ""),
            (".planning/phases/01-base/01-UI-SPEC.md", ""),
            (".planning/codebase/STACK.md", ""),
        ];
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        super::super::tests::told(&files, |bundle| bundle.workflow(&table(front_matter), &words))
    }

    #[test]
    fn a_workflow_starts_from_what_its_front_matter_asks_for() {
        let report =
            told("needs: [phase, milestone, todos, maps]\nagents: [planner]\nsettings: [workflow.ui_review]\n", &["1"]);
        assert_eq!(report["workflow"], "look");
        assert_eq!(report["phase_dir"], "/p/.planning/phases/01-base");
        assert_eq!(report["documents"], serde_json::json!({ "UI-SPEC": "/p/.planning/phases/01-base/01-UI-SPEC.md" }));
        assert_eq!(report["summaries"], serde_json::json!(["/p/.planning/phases/01-base/01-01-SUMMARY.md"]));
        assert_eq!((&report["phase_count"], &report["todo_count"]), (&2.into(), &0.into()));
        assert_eq!(report["existing_maps"], serde_json::json!(["STACK.md"]));
        assert_eq!(report["settings"], serde_json::json!({ "ui_review": true }));
        assert!(report["models"]["planner"].is_string());
        let bare = told("needs: []\n", &[]);
        assert!(["phase_dir", "phase_count", "todo_count", "existing_maps"].iter().all(|key| bare.get(key).is_none()));
    }

    #[test]
    fn the_profile_of_the_user_is_named_where_it_is_asked_for() {
        let report = told("needs: [profile]\n", &[]);
        assert_eq!(report["user_profile_path"], Value::Null);
        assert!(told("needs: [phase]\n", &["1"]).get("user_profile_path").is_none());
    }

    #[test]
    fn without_a_word_a_workflow_takes_the_phase_at_work_or_the_one_built_last() {
        assert_eq!(told("needs: [phase]\n", &[])["number"], "2");
        assert_eq!(told("needs: [built-phase]\n", &[])["number"], "1");
        assert_eq!(told("needs: [phase]\n", &["9"])["phase_found"], false);
    }

    #[test]
    fn sections_run_by_flag_setting_and_document() {
        let front_matter = "needs: [phase]\nflags: [fix]\nsections:\n  a: flag fix\n  b: setting workflow.ui_review\n  \
                            c: has UI-SPEC\n  d: lacks UI-SPEC\n";
        let included = |words: &[&str]| told(front_matter, words)["section_manifest"]["included"].clone();
        assert_eq!(included(&["1", "--fix"]), serde_json::json!(["a", "b", "c"]));
        assert_eq!(included(&["2"]), serde_json::json!(["b", "d"]));
    }

    #[test]
    fn what_a_workflow_does_not_take_is_refused() {
        let read = |front_matter: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            table(front_matter).read(&words).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(read("flags: [fix]\n", &["--fix"]), Ok(()));
        assert!(read("flags: [fix]\n", &["--fox"]).unwrap_err().contains("no flag `--fox`"));
        assert!(read("needs: [phase]\n", &["1", "2"]).unwrap_err().contains("one phase"));
        assert!(read("needs: []\n", &["text"]).unwrap_err().contains("no words"));
    }

    #[test]
    fn every_table_names_what_there_is() {
        let library = Library::embedded().unwrap();
        let mut faults = Vec::new();
        for item in library.of_kind(ItemKind::Workflow) {
            let mut fault = |text: String| faults.push(format!("{}: {text}", item.path));
            let names = |key| item.front_matter.names(key);
            for word in names("needs") {
                if words::of_word::<Need>(word).is_none() {
                    fault(format!("nothing is called `{word}` under `needs`"));
                }
            }
            for agent in names("agents") {
                if library.at(&format!("agents/{agent}.md")).is_none() {
                    fault(format!("no agent is called `{agent}`"));
                }
            }
            for key in names("settings") {
                if !key_names().iter().any(|name| name == key) {
                    fault(format!("no key of the configuration is called `{key}`"));
                }
            }
            for (_, word) in item.front_matter.pairs("sections") {
                match &When::of(word) {
                    Some(When::Flag(flag)) if !names("flags").contains(&flag.as_str()) => {
                        fault(format!("`--{flag}` is not among `flags`"));
                    }
                    Some(When::Setting(key)) if !key_names().contains(key) => {
                        fault(format!("no key of the configuration is called `{key}`"));
                    }
                    Some(When::Has(_) | When::Lacks(_))
                        if !names("needs").iter().any(|need| need.ends_with("phase")) =>
                    {
                        fault(format!("`{word}` asks about a phase that is not among `needs`"));
                    }
                    _ => {}
                }
            }
        }
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }
}
