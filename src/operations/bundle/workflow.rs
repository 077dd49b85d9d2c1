//! `init WORKFLOW`: the facts that a workflow requests in its front matter.

use crate::library::{self, FrontMatter};
use crate::operations::facts::{FactsCall, last_built};
use crate::project::files::FileError;
use crate::project::up_next;
use crate::project::view::ProjectView;

/// The front matter keys that list what a workflow needs at its start.
const KEYS: &[&str] = &["needs", "agents", "settings", "flags"];

/// What a workflow needs at its start, from its front matter.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowTable {
    name: String,
    front_matter: FrontMatter,
}

/// Why `init` cannot answer a workflow.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkflowError {
    #[error("`init {workflow}` has no flag `--{flag}`")]
    Flag { workflow: String, flag: String, known: Vec<String> },
    #[error("`init {workflow}` takes {takes}, and got `{got}`")]
    Words { workflow: String, takes: &'static str, got: String },
    #[error(transparent)]
    File(#[from] FileError),
}

impl WorkflowTable {
    /// The table of the workflow of this name; `None` if the workflow does not exist or its front matter requests
    /// nothing.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let front_matter = library::front_matter_of(&format!("workflows/{name}.md"))?;
        let says = KEYS.iter().any(|key| front_matter.value(key).is_some());
        says.then(|| Self { name: name.to_owned(), front_matter })
    }

    /// The call of the workflow with the words typed after its name. Without a word, the phase is the current one, or
    /// the last one built for a workflow that looks at results.
    pub(crate) fn call(self, words: &[String], view: &ProjectView) -> Result<FactsCall, WorkflowError> {
        let (mut phase, flags) = self.read(words)?;
        if phase.is_none() && self.needs("built-phase") {
            phase = last_built(view)?;
        } else if phase.is_none() && self.needs("phase") {
            phase = up_next::phase_at_work(view)?;
        }
        let call = FactsCall::new(self.name, self.front_matter).phase(phase.as_deref());
        Ok(flags.iter().fold(call, |call, flag| call.flag(flag, true)))
    }

    fn needs(&self, need: &str) -> bool {
        self.front_matter.names("needs").contains(&need)
    }

    /// The phase and the flags that were typed.
    fn read(&self, words: &[String]) -> Result<(Option<String>, Vec<String>), WorkflowError> {
        let known = self.front_matter.names("flags");
        let takes_phase = self.needs("phase") || self.needs("built-phase");
        let (mut phase, mut flags) = (None, Vec::new());
        for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
            if let Some(flag) = word.strip_prefix("--") {
                if !known.contains(&flag) {
                    let known = known.iter().map(|&flag| flag.to_owned()).collect();
                    return Err(WorkflowError::Flag { workflow: self.name.clone(), flag: flag.to_owned(), known });
                }
                flags.push(flag.to_owned());
            } else if takes_phase && phase.is_none() {
                phase = Some(word.to_owned());
            } else {
                let takes = if takes_phase { "one phase" } else { "no words" };
                return Err(WorkflowError::Words { workflow: self.name.clone(), takes, got: word.to_owned() });
            }
        }
        Ok((phase, flags))
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::Answers;
    use super::super::sections::When;
    use super::super::{BundleAnswer, find};
    use super::*;
    use serde_json::Value;

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
        super::super::tests::told_by(
            &files,
            |view| table(front_matter).call(&words, view).unwrap(),
            BundleAnswer::of_workflow,
        )
    }

    #[test]
    fn a_workflow_gets_the_facts_that_its_front_matter_requests() {
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
    fn the_profile_of_the_user_is_named_if_requested() {
        let report = told("needs: [profile]\n", &[]);
        assert_eq!(report["user_profile_path"], Value::Null);
        assert!(told("needs: [phase]\n", &["1"]).get("user_profile_path").is_none());
    }

    #[test]
    fn without_a_word_a_workflow_takes_the_current_or_the_last_built_phase() {
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
    fn arguments_that_a_workflow_does_not_take_are_refused() {
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
    fn every_table_names_existing_facts() {
        let library = Library::embedded().unwrap();
        let mut faults = Vec::new();
        for item in library.of_kind(ItemKind::Workflow) {
            let mut fault = |text: String| faults.push(format!("{}: {text}", item.path));
            let names = |key| item.front_matter.names(key);
            for word in names("needs") {
                if !Answers::embedded().workflow.contains_key(word) {
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
            let is_table = WorkflowTable::of(item.name.as_str()).is_some();
            for (_, word) in item.front_matter.pairs("sections") {
                match &When::of(word) {
                    Some(When::Flag(flag)) if is_table && !names("flags").contains(&flag.as_str()) => {
                        fault(format!("`--{flag}` is not among `flags`"));
                    }
                    Some(When::Setting(key)) if !key_names().contains(key) => {
                        fault(format!("no key of the configuration is called `{key}`"));
                    }
                    Some(When::Fact(name)) if find(name).is_none() => fault(format!("no fact is called `{name}`")),
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
