//! One conversation's part: it does what the texts it was shown say, line by line, and nothing else.
//!
//! Every act needs a line. A call is derived from the code of a shown text, with the placeholders filled in; if the
//! text gives it in words, [`Actor::by`] quotes them first. A line that no shown text contains fails the play.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::clients::exchange::{Reply, ToolCall};
use crate::kit::repository;

use super::cast::{Cast, Errand};
use super::engine::Voice;
use super::heard::{CallResult, Heard};
use super::printed::{bare, is_lost};
use super::script::{Fill, Shown, filled, flat};
use super::stage::{Scene, workflow_of};
use super::tool_form::{Tools, objection};

/// The acts of an actor, and its last message.
pub(crate) type Script = Box<dyn FnOnce(&mut Actor) -> String + Send>;

/// Words that mark the refusals of our hooks and of the clients' own rules.
const REFUSALS: &[&str] = &[
    "ISOLATION_MISSING",
    "ISOLATION_UNKNOWN",
    "SECRET_READ",
    "OUTSIDE_WORKTREE",
    "PLANNING_SHRINK",
    "CONVENTIONAL_COMMITS_VIOLATION",
    "COMMIT_SUBJECT_TOO_LONG",
    "FORCED_ADD",
    "PROMPT GUARD:",
    "INJECTION SCAN [",
    "exec_command failed:",
];

pub(crate) struct Actor {
    name: String,
    workflow: Option<String>,
    pub(super) scene: Arc<Scene>,
    voice: Voice,
    shown: Shown,
    answers: Vec<Value>,
    known: BTreeMap<String, String>,
    seen: BTreeSet<String>,
    files_read: BTreeSet<PathBuf>,
    /// Files read or written since the person's last answer: a client may forget the others.
    files_at_hand: BTreeSet<PathBuf>,
    worktree: Option<PathBuf>,
    pub(super) quoted: bool,
    tolerant: bool,
    /// True in the automatic chain: no questions are asked.
    unattended: bool,
    pub(super) news: String,
    tools: Tools,
}

impl Spawn {
    /// Adds these lines at the end of the prompt.
    pub(crate) fn with(self, more: &str) -> Self {
        Self { prompt: format!("{}\n\n{}", self.prompt, more.trim()), ..self }
    }

    /// Replaces words in the prompt, as the text says.
    pub(crate) fn with_words(self, old: &str, new: &str) -> Self {
        assert!(self.prompt.contains(old), "the prompt does not say `{old}`: {}", self.prompt);
        Self { prompt: self.prompt.replace(old, new), ..self }
    }
}

/// The result of a call.
#[must_use = "say what it should have brought, or drop it with `done`"]
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(super) call: String,
    pub(crate) text: String,
}

/// An agent to spawn.
pub(crate) struct Spawn {
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) argument: Option<(String, String)>,
    pub(super) description: String,
    pub(super) prompt: String,
    pub(super) script: Script,
}

/// Stops a conversation whose own part did not fail.
struct Over;

impl Actor {
    /// Runs `script` on its own thread, in the conversation at the end of `voice`.
    ///
    /// `workflow` is the workflow of the person's command: clients that expand no paths leave it to the model to read.
    pub(crate) fn start(
        name: &str,
        scene: &Arc<Scene>,
        voice: Voice,
        workflow: Option<String>,
        script: Script,
    ) -> std::thread::JoinHandle<()> {
        let mut actor = Self {
            workflow,
            name: name.to_owned(),
            scene: Arc::clone(scene),
            voice,
            shown: Shown::default(),
            answers: Vec::new(),
            known: BTreeMap::new(),
            seen: BTreeSet::new(),
            files_read: BTreeSet::new(),
            files_at_hand: BTreeSet::new(),
            worktree: None,
            quoted: false,
            tolerant: false,
            unattended: false,
            news: String::new(),
            tools: Tools::new(),
        };
        std::thread::spawn(move || {
            let played = catch_unwind(AssertUnwindSafe(|| {
                actor.begin();
                let last = script(&mut actor);
                actor.note(&format!("says {last:.200}"));
                actor.scene.ended(&actor.name);
                let reply = match actor.cast().hands.finish {
                    Some(finish) if actor.name != MAIN => Reply::Call(finish(&last)),
                    _ => Reply::Say(last),
                };
                actor.voice.speak(reply);
            }));
            if let Err(cause) = played {
                if cause.is::<Over>() {
                    return;
                }
                let words = cause.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
                actor.scene.engine.fail(format!("{}: {words}", actor.name));
            }
        })
    }

    // Lines.

    /// Quotes the line that allows the next act.
    pub(crate) fn by(&mut self, line: &str) -> &mut Self {
        assert!(self.shown.holds(line), "the text no longer says this: {line}");
        self.quoted = true;
        self
    }

    /// Asserts that a line is not shown: a text that should be skipped.
    pub(crate) fn was_not_told(&self, line: &str) {
        assert!(!self.shown.holds(line), "this was to stay unread: {line}");
    }

    /// True if a line is shown that not every prompt has.
    pub(crate) fn is_ordered(&self, line: &str) -> bool {
        self.shown.holds(line)
    }

    /// Sets the value of `{name}` from now on.
    pub(crate) fn knows(&mut self, name: &str, value: &str) {
        self.known.insert(name.to_owned(), value.to_owned());
    }

    /// The value of `{name}`.
    pub(crate) fn known(&self, name: &str) -> String {
        self.known.get(name).unwrap_or_else(|| panic!("nobody said what {{{name}}} is")).clone()
    }

    /// Sets `{name}` to this field of an answer from now on.
    pub(crate) fn learns(&mut self, name: &str, field: &str) -> String {
        let value = self.field(field);
        self.knows(name, &value);
        value
    }

    /// The word after `key`, such as `agents_dir:`, in the prompt of this agent.
    pub(crate) fn told(&self, key: &str) -> String {
        self.shown.after(key).unwrap_or_else(|| panic!("the prompt does not say {key}"))
    }

    /// A field of the newest answer that has it; dots separate nested fields.
    pub(crate) fn field(&self, field: &str) -> String {
        self.find_field(field).unwrap_or_else(|| panic!("no answer has the field {field}"))
    }

    /// As [`Self::field`]; `None` if the newest answer with the field has null.
    pub(crate) fn field_if_any(&self, field: &str) -> Option<String> {
        let newest = self.answers.iter().rev().find(|answer| answer.get(field).is_some())?;
        newest[field].as_str().map(str::to_owned)
    }

    fn find_field(&self, field: &str) -> Option<String> {
        let pointer = format!("/{}", field.replace('.', "/"));
        self.answers.iter().rev().find_map(|answer| match answer.pointer(&pointer)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                Some(items.join(", "))
            }
            other => Some(other.to_string()),
        })
    }

    fn fill(&self, text: &str, fills: &[Fill<'_>]) -> String {
        // For a project without workstreams.
        let planning = |name: &str| (name == "planning").then(|| ".planning".to_owned());
        let known =
            |name: &str| self.known.get(name).cloned().or_else(|| self.find_field(name)).or_else(|| planning(name));
        filled(text, fills, known).unwrap_or_else(|reason| panic!("{reason} in: {text}"))
    }

    // Acts.

    /// Runs the code that contains `fragment`.
    pub(crate) fn runs(&mut self, fragment: &str, fills: &[Fill<'_>]) -> Outcome {
        self.runs_with(fragment, fills, "")
    }

    /// As [`Self::runs`], with an addition that the text orders, such as a flag.
    pub(crate) fn runs_with(&mut self, fragment: &str, fills: &[Fill<'_>], more: &str) -> Outcome {
        let code = self.shown.code(fragment).unwrap_or_else(|| panic!("the text no longer orders: {fragment}"));
        let command = self.fill(&code, fills);
        let command = if more.is_empty() { command } else { format!("{command} {more}") };
        self.quoted = false;
        self.shell_call(&command)
    }

    /// Runs a command that no text contains, for the line quoted last.
    pub(crate) fn shell(&mut self, command: &str) -> Outcome {
        self.rests_on_a_line(command);
        self.shell_call(command)
    }

    /// Changes to the folder in the `Worktree:` line of the prompt; from now on paths of the project are paths there.
    pub(crate) fn works_in_its_worktree(&mut self) {
        self.by("what it says before anything else").quoted = false;
        let line = self.shown.between("Worktree:", "<required_reading>").unwrap_or_default();
        let line = line.lines().next().unwrap_or_default().trim().to_owned();
        let orders: Vec<String> = line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let folder = orders.iter().find(|word| word.starts_with('/') && std::path::Path::new(word).is_dir()).cloned();
        let folder = folder.unwrap_or_else(|| self.shell_call("pwd").text.trim().to_owned());
        self.note(&format!("works in {folder}"));
        self.worktree = Some(PathBuf::from(folder));
        for order in orders.iter().filter(|order| order.starts_with("git merge")) {
            self.shell_call(order).done();
        }
    }

    /// A path of the project in this actor's folder.
    pub(crate) fn here(&self, path: &str) -> String {
        self.place(path).to_string_lossy().into_owned()
    }

    fn place(&self, path: &str) -> PathBuf {
        let whole = self.scene.resolve(path);
        let Some(worktree) = self.worktree.as_ref().filter(|worktree| !whole.starts_with(worktree)) else {
            return whole;
        };
        whole.strip_prefix(&self.scene.project).map(|inner| worktree.join(inner)).unwrap_or(whole)
    }

    /// A command in the actor's folder: if a client gives its agents no separate folder, each call begins in the
    /// project's.
    fn placed(&self, command: &str) -> String {
        let Some(worktree) = self.worktree.as_ref().filter(|_| !self.scene.cast.isolates) else {
            return command.to_owned();
        };
        let folder = worktree.display();
        if let Some(rest) = command.strip_prefix("git ") {
            return format!("git -C {folder} {rest}");
        }
        match command.split_once("gsd-tools ") {
            Some((program, rest)) => format!("{program}gsd-tools --cwd {folder} {rest}"),
            None => format!("cd {folder} && {command}"),
        }
    }

    fn shell_call(&mut self, command: &str) -> Outcome {
        let command = self.placed(command);
        let command = command.as_str();
        let run = |it: &mut Self| {
            let outcome = it.call(&format!("$ {command}"), (it.cast().hands.shell)(command));
            it.scene.count_command(command, outcome.text.len());
            outcome
        };
        let mut outcome = run(self);
        for _ in 0..2 {
            if is_lost(command, &outcome.text) {
                outcome = run(self);
            }
        }
        outcome
    }

    /// Reads the file with this ending whose path a shown text names.
    pub(crate) fn reads(&mut self, ending: &str) -> Outcome {
        let path = self.path_of(ending);
        self.quoted = false;
        self.read(&path)
    }

    /// The path with this ending, as a shown text writes it.
    pub(crate) fn path_of(&self, ending: &str) -> String {
        let paths = self.shown.paths(ending);
        let path = paths.iter().find(|path| path.ends_with(ending) && self.scene.resolve(path).is_file());
        path.unwrap_or_else(|| panic!("the text no longer names a file {ending}: {paths:?}")).clone()
    }

    /// Reads a section of a workflow that the payload includes.
    pub(crate) fn reads_section(&mut self, workflow: &str, section: &str) -> Outcome {
        // Each workflow followed so far has reported which of its sections are included.
        let manifests =
            self.answers.iter().filter_map(|answer| answer.pointer("/section_manifest/included")?.as_array());
        let is_included = manifests.flatten().any(|name| name == section);
        assert!(is_included, "{section} is not included");
        let form = format!("workflows/{workflow}/steps/{{section}}.md");
        let paths = self.shown.paths(&form);
        let path = paths.first().unwrap_or_else(|| panic!("the text no longer says where its sections are: {form}"));
        let path = path.replace("{section}", section);
        self.read(&path)
    }

    /// Reads a workflow whose name an answer gives, in the path form of the last shown text that has one.
    pub(crate) fn reads_workflow(&mut self, name: &str) -> Outcome {
        self.rests_on_a_line(name);
        let paths = self.shown.paths("workflows/{skill}.md");
        let path = paths.first().unwrap_or_else(|| panic!("the text no longer says where workflows are"));
        let path = path.replace("{skill}", name);
        self.read(&path)
    }

    /// Marks whether the following acts, up to the next such call, are a step of a capability.
    pub(crate) fn is_in_a_step(&self, is_in: bool) {
        self.scene.is_in_a_step(is_in);
    }

    /// True if a file with this ending was read in this conversation.
    pub(crate) fn has_read(&self, ending: &str) -> bool {
        self.files_read.iter().any(|path| path.ends_with(ending))
    }

    /// Reads a file of the project, for the line quoted last.
    pub(crate) fn reads_file(&mut self, path: &str) -> Outcome {
        self.rests_on_a_line(path);
        self.read(path)
    }

    fn read(&mut self, path: &str) -> Outcome {
        let whole = self.place(path);
        let written = if path.contains("gsd-core/") { path.to_owned() } else { whole.to_string_lossy().into_owned() };
        let call = (self.cast().hands.read)(&written, &whole.to_string_lossy());
        let outcome = self.call(&format!("reads {path}"), call);
        self.shown.push(&outcome.text);
        if path.contains("gsd-core/") {
            // Text that the client adds, such as line numbers, does not count as ours.
            let bytes = std::fs::read(&whole).map_or(outcome.text.len(), |text| text.len());
            self.scene.count_read(path, bytes);
        }
        self.files_read.insert(whole.clone());
        self.files_at_hand.insert(whole);
        outcome
    }

    /// True if the project has this file.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.place(path).is_file()
    }

    /// Reads every path on a line by itself between `begin` and `end`, for the line quoted last.
    pub(crate) fn reads_listed(&mut self, begin: &str, end: &str) {
        self.rests_on_a_line(begin);
        let listed =
            self.shown.between(begin, end).unwrap_or_else(|| panic!("nothing is listed between {begin} and {end}"));
        for line in listed.lines().map(str::trim) {
            if self.scene.resolve(line).is_file() {
                self.read(line).done();
            }
        }
    }

    /// Writes a whole file of the project, for the line quoted last.
    pub(crate) fn writes(&mut self, path: &str, text: &str) {
        self.rests_on_a_line(path);
        let whole = self.place(path);
        self.read_before_change(path);
        let call = (self.cast().hands.write)(&whole.to_string_lossy(), text);
        self.call(&format!("writes {path}"), call).done();
        let written = std::fs::read_to_string(&whole).unwrap_or_default();
        self.note(&format!("    {path} has {} bytes", written.len()));
        assert_eq!(flat(&written), flat(text), "{path} was not written");
        self.files_read.insert(whole.clone());
        self.files_at_hand.insert(whole);
    }

    /// Tries to write a file that the client may refuse to an agent; returns true if it exists afterwards.
    pub(crate) fn tries_to_write(&mut self, path: &str, text: &str) -> bool {
        self.rests_on_a_line(path);
        let whole = self.place(path);
        let call = (self.cast().hands.write)(&whole.to_string_lossy(), text);
        self.even_if_it_fails().call(&format!("writes {path}"), call).done();
        whole.is_file()
    }

    /// Replaces words in a file of the project, for the line quoted last.
    pub(crate) fn edits(&mut self, path: &str, old: &str, new: &str) {
        self.rests_on_a_line(path);
        let whole = self.place(path);
        self.read_before_change(path);
        let before = std::fs::read_to_string(&whole).unwrap();
        assert!(before.contains(old), "{path} does not hold `{old}`: {before}");
        let after = before.replacen(old, new, 1);
        let call = match self.cast().hands.edit {
            Some(edit) => edit(&whole.to_string_lossy(), old, new),
            None => (self.cast().hands.write)(&whole.to_string_lossy(), &after),
        };
        self.call(&format!("edits {path}"), call).done();
        assert_eq!(flat(&std::fs::read_to_string(&whole).unwrap()), flat(&after), "{path} was not edited");
    }

    /// Clients refuse to change a file that the model has not read.
    fn read_before_change(&mut self, path: &str) {
        let whole = self.place(path);
        if whole.is_file() && self.files_at_hand.insert(whole.clone()) {
            self.files_read.insert(whole.clone());
            let call = (self.cast().hands.read)(path, &whole.to_string_lossy());
            self.call(&format!("reads {path}"), call).done();
        }
    }

    /// The next call may fail.
    pub(crate) fn even_if_it_fails(&mut self) -> &mut Self {
        self.tolerant = true;
        self
    }

    // Agents and people.

    /// The block that contains `fragment`, filled in: an addition to a prompt.
    pub(crate) fn block(&mut self, fragment: &str, fills: &[Fill<'_>]) -> String {
        self.rests_on_a_line(fragment);
        let block = self.shown.block(fragment).unwrap_or_else(|| panic!("the text no longer has: {fragment}"));
        self.fill(&block, &fills_of(&block, fills))
    }

    /// The agent that the block with `fragment` orders.
    pub(crate) fn spawn(
        &mut self,
        fragment: &str,
        fills: &[Fill<'_>],
        script: impl FnOnce(&mut Self) -> String + Send + 'static,
    ) -> Spawn {
        let block = self.shown.block(fragment).unwrap_or_else(|| panic!("the text no longer spawns: {fragment}"));
        let head = block.lines().next().unwrap_or_default();
        let tool = head.trim().split('(').next().unwrap_or_default();
        let named = |key: &str| {
            let value = head.split_once(&format!("{key}=\""))?.1.split_once('"')?.0;
            Some(self.fill(value, &fills_of(value, fills)))
        };
        let agent = ["subagent_type", "agent_type", "agent_name"].into_iter().find_map(named);
        let agent = agent.unwrap_or_else(|| panic!("no agent is named in: {head}"));
        if let Some(objection) = objection(head, &self.tools) {
            panic!("{objection}: {head}");
        }
        // Not every client takes a description of the errand.
        let description = named("description").unwrap_or_else(|| self.scene.name_errand(&agent));
        let model = head.split_once("model=").and_then(|(_, rest)| rest.split([',', ')']).next());
        let model = model.and_then(|model| self.concrete_model(model.trim_matches(['{', '}'])));
        let argument = fills.iter().find(|(name, _)| *name == "argument" && head.contains("{argument}"));
        let argument = argument.and_then(|(_, argument)| argument.split_once('='));
        let argument = argument.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()));
        if let Some((name, _)) = &argument {
            assert!(self.tools[tool].parameters.contains(name), "`{tool}` has no parameter `{name}`");
        }
        let prompt = ["prompt=\"", "message=\""].into_iter().find_map(|key| Some(block.split_once(key)?.1));
        let prompt = prompt.unwrap_or_else(|| panic!("no prompt in: {block}"));
        let prompt = prompt.trim_end().trim_end_matches(')').trim_end_matches('"');
        let prompt = self.fill(prompt, &fills_of(prompt, fills));
        let prompt: Vec<&str> = prompt.lines().filter(|line| !line.contains(DROPPED)).collect();
        Spawn {
            agent,
            model,
            argument,
            description,
            prompt: prompt.join("\n").trim().to_owned(),
            script: Box::new(script),
        }
    }

    /// An agent that the line quoted last orders in words.
    pub(crate) fn spawn_in_words(
        &mut self,
        (agent, model): (&str, &str),
        description: &str,
        prompt: &str,
        script: impl FnOnce(&mut Self) -> String + Send + 'static,
    ) -> Spawn {
        self.rests_on_a_line(description);
        let model = self.concrete_model(model);
        let (agent, description, prompt) = (agent.to_owned(), description.to_owned(), prompt.trim().to_owned());
        Spawn { agent, model, argument: None, description, prompt, script: Box::new(script) }
    }

    /// True if this conversation has the client's tool that starts an agent.
    pub(crate) fn can_spawn(&self) -> bool {
        let [agent, description, prompt] = ["gsd-executor", "nothing", "nothing"].map(str::to_owned);
        let call = (self.cast().hands.spawn)(&Errand { agent, model: None, argument: None, description, prompt });
        self.tools.contains_key(call.name)
    }

    /// Reads the text of an agent in `folder`, to do its work, for the line quoted last.
    pub(crate) fn reads_agent(&mut self, folder: &str, agent: &str) {
        self.rests_on_a_line(agent);
        let files = std::fs::read_dir(self.scene.resolve(folder)).into_iter().flatten().flatten();
        let file = files.map(|file| file.path()).find(|path| path.file_stem().is_some_and(|stem| stem == agent));
        let file = file.unwrap_or_else(|| panic!("{folder} has no {agent}"));
        self.read(&file.to_string_lossy()).done();
    }

    /// A model is named only if the payload names a concrete one.
    fn concrete_model(&self, field: &str) -> Option<String> {
        let known = self.known.get(field).cloned().or_else(|| self.find_field(field));
        known.filter(|model| !model.is_empty() && model != "inherit")
    }

    /// Marks that the automatic chain runs from here on, without questions.
    pub(crate) fn is_unattended(&mut self) {
        self.by("Each question takes its recommended option, with a ⚡ line").quoted = false;
        self.unattended = true;
    }

    /// Asks the person, as plain text at the end of a turn; `answer` is what the person types next. In the automatic
    /// chain, takes the recommended option.
    pub(crate) fn asks(&mut self, question: &str, answer: &str) {
        self.rests_on_a_line(question);
        if self.unattended {
            self.note(&format!("⚡ {answer:.80}"));
            return;
        }
        self.scene.person_answers(answer);
        self.files_at_hand.clear();
        let heard = self.turn(Reply::Say(question.to_owned()));
        self.note(&format!("asked {question:.80}, answered {answer:.80}"));
        assert!(flat(&heard.news).contains(&flat(answer)), "the answer did not arrive: {:.400}", heard.news);
    }

    /// Ends the turn with `question`; the person types one of our commands instead of an answer, in the same session.
    pub(crate) fn is_told(&mut self, question: &str, command: &str, arguments: &str) {
        self.rests_on_a_line(question);
        self.scene.person_types(command, arguments);
        self.turn(Reply::Say(question.to_owned()));
        self.note(&format!("asked {question:.80}, was told /gsd-{command} {arguments}"));
        self.is_shown_or_reads(&workflow_of(command));
    }

    /// Kills the client here.
    pub(crate) fn dies(&mut self) -> ! {
        self.note("dies");
        self.scene.kill_client();
        // Keeps the line open while the client is killed; the stage ends the conversations.
        std::thread::sleep(Duration::from_millis(300));
        std::panic::resume_unwind(Box::new(Over))
    }

    // The conversation.

    fn begin(&mut self) {
        let Some(heard) = self.voice.hear() else { std::panic::resume_unwind(Box::new(Over)) };
        self.note("begins");
        self.seen.extend(heard.results.iter().map(|(id, _)| id.clone()));
        self.tools = heard.tools;
        self.shown.push(&heard.opening);
        if let Some(workflow) = self.workflow.take() {
            self.is_shown_or_reads(&workflow);
        }
    }

    /// Clients that expand no paths leave a workflow to the model to read.
    fn is_shown_or_reads(&mut self, workflow: &str) {
        let text = std::fs::read_to_string(repository().join(workflow)).unwrap();
        // The front matter is for the install.
        let body = text.strip_prefix("---\n").and_then(|rest| Some(rest.split_once("\n---\n")?.1)).unwrap_or(&text);
        let told = body.lines().filter(|line| !line.contains('`')).max_by_key(|line| line.len()).unwrap_or_default();
        if self.shown.holds(told) {
            self.scene.count_read(workflow, text.len());
        } else {
            self.reads(workflow).expects(told).done();
        }
    }

    fn call(&mut self, call: &str, tool: ToolCall) -> Outcome {
        let heard = self.turn(Reply::Call(tool));
        let mut results = self.new_results(&heard);
        assert!(!results.is_empty(), "no result for {call}; news: {:.600}", heard.news);
        let CallResult { text, failed } = results.remove(0);
        let result = CallResult { text: bare(&text), failed };
        self.note(&format!("{call}\n    -> {}{:.300}", if result.failed { "FAILED " } else { "" }, flat(&result.text)));
        let tolerant = std::mem::take(&mut self.tolerant);
        assert!(tolerant || !result.failed, "{call} failed: {:.900}", result.text);
        if result.failed || !call.starts_with("reads ") {
            Self::refuse_refusals(&result.text);
        }
        Self::refuse_refusals(&heard.news);
        if let Some(answer) = super::cast::json_within(&result.text) {
            self.answers.push(answer);
        }
        Outcome { call: call.to_owned(), text: result.text }
    }

    pub(super) fn turn(&mut self, reply: Reply) -> Heard {
        self.voice.speak(reply);
        let Some(heard) = self.voice.hear() else { std::panic::resume_unwind(Box::new(Over)) };
        self.shown.push(&heard.news);
        self.news.push_str(&heard.news);
        heard
    }

    pub(super) fn new_results(&mut self, heard: &Heard) -> Vec<CallResult> {
        let fresh = heard.results.iter().filter(|(id, _)| !self.seen.contains(id));
        let mut fresh: Vec<(String, CallResult)> = fresh.cloned().collect();
        fresh.sort_by(|left, right| left.0.cmp(&right.0));
        self.seen.extend(fresh.iter().map(|(id, _)| id.clone()));
        fresh.into_iter().map(|(_, result)| result).collect()
    }

    pub(super) fn refuse_refusals(text: &str) {
        let refusal = REFUSALS.iter().find(|code| text.contains(**code));
        assert!(refusal.is_none(), "a hook of ours objects ({}): {text:.900}", refusal.unwrap());
    }

    fn rests_on_a_line(&mut self, act: &str) {
        assert!(std::mem::take(&mut self.quoted), "this act rests on no line: {act}");
    }

    pub(super) fn note(&self, line: &str) {
        self.scene.engine.note(format!("[{}] {line}", self.name));
    }

    pub(crate) fn cast(&self) -> &'static Cast {
        self.scene.cast
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> String {
        self.scene.project.to_string_lossy().into_owned()
    }
}

/// The fills whose placeholder is in `text`.
fn fills_of<'a>(text: &str, fills: &[Fill<'a>]) -> Vec<Fill<'a>> {
    fills.iter().filter(|(name, _)| text.contains(&format!("{{{name}"))).copied().collect()
}

/// The name of the conversation that a person began.
pub(crate) const MAIN: &str = "orchestrator";

/// A fill that removes the whole line.
pub(crate) const DROPPED: &str = "\u{1}drop this line\u{1}";

impl Outcome {
    pub(crate) fn expects(self, words: &str) -> Self {
        assert!(flat(&self.text).contains(&flat(words)), "{} does not bring `{words}`: {:.900}", self.call, self.text);
        self
    }

    pub(crate) fn lacks(self, words: &str) -> Self {
        assert!(!flat(&self.text).contains(&flat(words)), "{} brings `{words}`: {:.900}", self.call, self.text);
        self
    }

    /// A field of the JSON answer; dots separate nested fields.
    pub(crate) fn is(self, field: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let answer = self.json();
        let found = answer.pointer(&format!("/{}", field.replace('.', "/")));
        assert_eq!(found, Some(&value), "{}: {field} in {:.900}", self.call, self.text);
        self
    }

    pub(crate) fn json(&self) -> Value {
        super::cast::json_within(&self.text).unwrap_or_else(|| panic!("{} is no JSON: {:.600}", self.call, self.text))
    }

    #[expect(clippy::unused_self, reason = "it ends a line of the play, whose result is then used")]
    pub(crate) fn done(self) {}
}
