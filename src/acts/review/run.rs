//! One reviewer: its command line, how it ran, and its output.

use crate::acts::caller;
use crate::acts::files;
use crate::acts::program;
use crate::acts::user;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::acts::Call;
use crate::auto::runner::event::{ClientEvent, Terminal};
use crate::auto::runner::own::{Staged, unknown_folders};
use crate::auto::runner::stream::{Opening, StreamFacts, StreamForm};
use crate::auto::runner::table::{Runner, Runners};
use crate::auto::runner::version::{major_of, version_of};
use crate::disk::{AbsolutePath, Digest, Scratch};
use crate::failure::{Explain, Failure, Reason};
use crate::operations::agents::prompt_budget::tokens;
use crate::operations::agents::review_text;
use crate::operations::agents::reviewers::{self, Delivery, Lane, LaneError, ReviewForm, Transport};
use crate::project::config::{self, Config};
use crate::text::shell::{Typed, typed};
use crate::text::terminal::{last, without_colours};
use crate::world::fence::{Fence, Fencing};
use crate::world::web::Response;
use crate::world::{Ended, Program, World, WorldError};

/// The most bytes of a reviewer's output that are kept.
const MOST: usize = 16 << 20;

/// The most bytes of its standard error that are shown in a file without a review.
const ERROR_TAIL: usize = 4000;

/// How long a query may take that needs no model.
const SHORT: Duration = Duration::from_secs(20);

/// The folders and files of a run.
#[derive(Debug)]
pub(crate) struct ReviewPaths {
    pub(crate) prompt: AbsolutePath,
    pub(crate) run: AbsolutePath,
    pub(crate) repository: AbsolutePath,
}

/// A reviewer that is ready to be asked, or why it cannot be.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) lane: Lane<'a>,
    means: Result<ReviewMeans, Failed>,
    limit: Duration,
    /// The name of this program in hints.
    program: Typed,
}

#[derive(Debug)]
enum ReviewMeans {
    Program(Box<Command>),
    Server { address: String, prompt: String },
}

/// How a program is asked.
#[derive(Debug)]
struct Command {
    program: Program,
    name: String,
    /// The call for its help text, which has to contain this word.
    help: Option<(Program, String)>,
    /// The reader of its stream.
    stream: Option<(StreamForm, StreamFacts)>,
    is_fenced: bool,
    /// The user's files for it, in a folder that is removed with the call.
    own: Mutex<Option<Own>>,
}

/// The user's files for a fenced reviewer, and the folder for its temporary files.
#[derive(Debug)]
struct Own {
    staged: Staged,
    temporary: AbsolutePath,
    _removed_with: Scratch,
}

/// Why a review is missing.
#[derive(Clone, Debug)]
struct Failed {
    reason: &'static str,
    detail: String,
    hint: String,
}

impl Failed {
    fn new(reason: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason, detail: detail.into(), hint: hint.into() }
    }
}

/// The result of asking a reviewer.
#[derive(Debug, Default)]
pub(crate) struct ReviewOutcome {
    failed: Option<Failed>,
    /// The review, or the part of it that exists.
    text: String,
    errors: String,
    exit_code: Option<i32>,
    took: Duration,
    /// The model that answered, and whether the server reported it.
    answered: Option<(String, ModelSource)>,
}

/// What `review-lane invoke` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvokeReport {
    pub(crate) slug: String,
    /// Whether there is a review.
    pub(crate) ok: bool,
    /// Whether the review file only says why the review is missing.
    stubbed: bool,
    model: ModelReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The file of the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<String>,
    /// Null if it was not run, was stopped, or is not a program.
    exit_code: Option<i32>,
    seconds: f64,
    /// Whether the system kept it from writing to the project.
    fenced: bool,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct ModelReport {
    value: Option<String>,
    source: ModelSource,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ModelSource {
    /// It was chosen for the reviewer.
    Pinned,
    /// The server reported it.
    Served,
    /// It was requested; the server does not report which one answered.
    Requested,
    /// The reviewer chooses it.
    #[default]
    Unknown,
}

impl InvokeReport {
    /// The answer for a reviewer that cannot be asked with the call's or the configuration's values.
    pub(crate) fn refused(slug: &str, error: LaneError) -> Self {
        Self {
            slug: slug.to_owned(),
            ok: false,
            stubbed: false,
            model: ModelReport::default(),
            reason: Some(error.reason),
            detail: Some(error.message),
            hint: Some(error.hint),
            review: None,
            exit_code: None,
            seconds: 0.0,
            fenced: false,
        }
    }
}

/// Prepares everything that is needed to ask the reviewer.
pub(crate) fn prepare<'a>(call: &Call, lane: Lane<'a>, place: &ReviewPaths) -> Result<Work<'a>, Failure> {
    let limit = Duration::from_secs(lane.seconds(call.config()?));
    let means = match prompt(call, &lane, place)? {
        Err(failed) => Err(failed),
        Ok(prompt) => match lane.reviewer.transport {
            Transport::Spawn => {
                command(call, &lane, place, prompt, limit)?.map(|command| ReviewMeans::Program(Box::new(command)))
            }
            Transport::OpenaiHttp => address(call, &lane)?.map(|address| ReviewMeans::Server { address, prompt }),
        },
    };
    Ok(Work { lane, means, limit, program: program_word(call) })
}

/// The prompt; an empty one for a reviewer that takes none.
fn prompt(call: &Call, lane: &Lane<'_>, place: &ReviewPaths) -> Result<Result<String, Failed>, Failure> {
    if lane.reviewer.delivery == Delivery::None {
        return Ok(Ok(String::new()));
    }
    let path = &place.prompt;
    let text = files::read(call, path)?.unwrap_or_default();
    if text.trim().is_empty() {
        let detail = format!("the prompt `{path}` is missing or empty");
        return Ok(Err(Failed::new("missing_prompt", detail, "write the prompt to that file, then call again")));
    }
    let size = tokens(&text) as u64;
    Ok(match lane.budget(call.config()?) {
        Some(budget) if size > budget => {
            let detail = format!("the prompt has about {size} tokens; `{}` may be sent {budget}", lane.name);
            let hint =
                format!("shorten it: `{}`", typed!("{} prompt-budget --budget {} ...", program_word(call), budget));
            Err(Failed::new("prompt_over_budget", detail, hint))
        }
        _ => Ok(text),
    })
}

fn command(
    call: &Call,
    lane: &Lane<'_>,
    place: &ReviewPaths,
    prompt: String,
    limit: Duration,
) -> Result<Result<Command, Failed>, Failure> {
    let reviewer = lane.reviewer;
    let world = call.world();
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let runner = reviewer.runner.as_deref().map(|name| runners.find(name)).transpose();
    let runner = runner.map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let programs = runner.map_or(&reviewer.programs, |runner| &runner.programs);
    let Some(name) = programs.iter().find(|program| world.finds(program)) else {
        let names = programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        let hint = format!("install {names}, check PATH, or leave `{}` out", lane.name);
        return Ok(Err(Failed::new("missing_binary", format!("{names} is not installed or not in PATH"), hint)));
    };
    let choose_model = runner.map_or(&[][..], |runner| &runner.choose_model);
    let (file, folder) = (place.prompt.to_string(), place.repository.to_string());
    let said = reviewer.depends_on_version().then(|| version_of(world, runner, name)).flatten();
    let major = said.as_deref().and_then(major_of);
    let arguments = lane.arguments(choose_model, &file, &folder, limit.as_secs(), major);
    let started = |arguments: Vec<String>, limit: Duration| {
        let program = Program::new(name).arguments(arguments).folder(place.repository.as_path()).timeout(limit);
        let usual = runner.into_iter().flat_map(|runner| &runner.environment);
        let program = program.without(runner.into_iter().flat_map(|runner| &runner.inside_itself));
        let variables = usual.chain(&reviewer.environment);
        variables.fold(program, |program, (name, value)| program.variable(name, value))
    };
    let session = caller::session_variables(call)?;
    let mut program = started(arguments, limit).without(&session);
    if reviewer.delivery == Delivery::StandardInput {
        program = program.stdin(prompt);
    }
    let help = reviewer.help_has.as_ref();
    let mut help = help.map(|word| (started(vec!["--help".to_owned()], SHORT).without(&session), word.clone()));
    if runner.is_some_and(|runner| runner.loses_output_in_pipes) {
        program = program.through_file();
    }
    (program, help) = (program.detached(), help.map(|(help, word)| (help.detached(), word)));
    let fenced = match runner.filter(|_| world.fencing() != Fencing::Unavailable) {
        None => None,
        Some(runner) if runner.own.is_none() && may_run_unfenced(call, &lane.name)? => None,
        Some(runner) => match own(world, runner)? {
            Some(own) => Some((fence(call, runner, &own)?, own)),
            None => return Ok(Err(unknown(runner, &lane.name))),
        },
    };
    if let Some((fence, own)) = &fenced {
        let in_it = |program: Program| {
            let variables = own.staged.variables().iter();
            variables.fold(program.fenced(fence), |program, (name, value)| program.variable(name, value))
        };
        program = in_it(program);
        help = help.map(|(help, word)| (in_it(help), word));
    }
    let own = Mutex::new(fenced.map(|(_, own)| own));
    let is_fenced = own.lock().is_ok_and(|own| own.is_some());
    let stream = runner.filter(|_| reviewer.output != ReviewForm::Text);
    let stream = stream.map(|runner| (runner.dialect, runner.facts_of_stream()));
    Ok(Ok(Command { program, name: name.clone(), help, stream, is_fenced, own }))
}

/// The user's files for the reviewer. `None` if its own folders are unknown.
fn own(world: &World, runner: &Runner) -> Result<Option<Own>, Failure> {
    let scratch = Scratch::new(&world.temporary_folder())?;
    let staged = runner.stage(world, &scratch.path("client"), &[])?;
    let temporary = scratch.make_folder("tmp")?;
    Ok(staged.map(|staged| Own { staged, temporary, _removed_with: scratch }))
}

/// The fence around the user's files for the client and its temporary files: a reviewer only reads the project.
fn fence(call: &Call, runner: &Runner, own: &Own) -> Result<Fence, Failure> {
    let fence = Fence::around([own.staged.folder().as_path()]).with_temporary(own.temporary.as_path());
    Ok(fence.for_user(call.world(), Some(&runner.name), &user::openings(call.world())?))
}

/// The reviewers that the user lets write everywhere. A project's settings are ignored here, because anyone may have
/// written them.
const UNFENCED: &str = "review.unfenced";

fn may_run_unfenced(call: &Call, name: &str) -> Result<bool, Failure> {
    let text = user::defaults(call.world())?.and_then(|text| config::parse(&text).ok());
    let value = text.and_then(|file| config::written_in(file, UNFENCED));
    Ok(match value {
        Some(serde_json::Value::Array(names)) => names.iter().any(|it| it.as_str() == Some(name)),
        value => value.is_some_and(|value| value.as_str() == Some(name)),
    })
}

fn unknown(runner: &Runner, name: &str) -> Failed {
    let hint = format!(
        "leave `{name}` out, or let it write everywhere: add it to the list `{UNFENCED}` in `~/.gsd/defaults.json`"
    );
    Failed::new("not_fenced", unknown_folders(runner), hint)
}

/// The name of this program in hints.
fn program_word(call: &Call) -> Typed {
    Typed::of_quoted(program::word_of(call))
}

/// The address of the server. The prompt may quote all of a project, and the settings came with the project: another
/// computer is contacted only if the user's own settings name it.
fn address(call: &Call, lane: &Lane<'_>) -> Result<Result<String, Failed>, Failure> {
    let key = lane.reviewer.address_key.as_deref().unwrap_or_default();
    let usual = lane.reviewer.address.as_deref().unwrap_or_default();
    let typed = call.config()?.text(key).unwrap_or(usual);
    let Some(address) = reviewers::base_address(typed) else {
        let detail = format!("`{typed}` from `{key}` is not the address of a server");
        let hint = format!("set it: `{}`", typed!("{} config-set {} {}", program_word(call), key, usual));
        return Ok(Err(Failed::new("invalid_setting", detail, hint)));
    };
    if !reviewers::is_local(&address) && personal_address(call, key)?.as_deref() != Some(address.as_str()) {
        let detail = format!("`{address}` from `{key}` is another computer");
        let hint = format!("to allow it, set `{key}` to the same address in `~/.gsd/defaults.json`");
        return Ok(Err(Failed::new("host_not_allowed", detail, hint)));
    }
    Ok(Ok(address))
}

fn personal_address(call: &Call, key: &str) -> Result<Option<String>, Failure> {
    let text = user::defaults(call.world())?.and_then(|text| config::parse(&text).ok());
    let value = text.and_then(|file| config::written_in(file, key));
    Ok(value.as_ref().and_then(serde_json::Value::as_str).and_then(reviewers::base_address))
}

/// How many reviewers are asked in parallel.
pub(crate) fn at_once(config: &Config) -> usize {
    if config.flag("review.parallel_lanes") {
        return usize::MAX;
    }
    let number = config.number("review.parallel_lanes").and_then(|number| usize::try_from(number).ok());
    number.unwrap_or(1).max(1)
}

impl Work<'_> {
    /// Asks the reviewer.
    pub(crate) fn run(&self, world: &World) -> ReviewOutcome {
        match &self.means {
            Ok(ReviewMeans::Program(command)) => self.run_program(command, world),
            Ok(ReviewMeans::Server { address, prompt }) => self.ask_server(address, prompt, world),
            Err(failed) => ReviewOutcome { failed: Some(failed.clone()), ..ReviewOutcome::default() },
        }
    }

    fn run_program(&self, command: &Command, world: &World) -> ReviewOutcome {
        let failed = |failed: Failed| ReviewOutcome { failed: Some(failed), ..ReviewOutcome::default() };
        let not_started = |error: &WorldError| {
            failed(Failed::new("failed", error.to_string(), error.hint().unwrap_or_else(|| self.by_hand(command))))
        };
        if let Some((help, word)) = &command.help {
            let ran = match world.run_for_both_tails(help, MOST) {
                Ok(ran) => ran,
                Err(error) => return not_started(&error),
            };
            let named = [&ran.output, &ran.errors].into_iter().any(|text| String::from_utf8_lossy(text).contains(word));
            if !named {
                let detail = format!("the help of `{}` does not have `{word}`: it is another program", command.name);
                let hint = format!("install {}, or put it first in PATH", self.lane.reviewer.section);
                return failed(Failed::new("probe_failed", detail, hint));
            }
        }
        let ran = world.run_for_both_tails(&command.program, MOST);
        let own = command.own.lock().ok().and_then(|mut own| own.take());
        let shared = own.map_or(Ok(()), |own| own.staged.close());
        let ran = match ran {
            Ok(ran) => ran,
            Err(error) => return not_started(&error),
        };
        if let Err(error) = shared {
            let hint = error.hint().unwrap_or_else(|| self.by_hand(command));
            return failed(Failed::new("failed", error.to_string(), hint));
        }
        let (text, gave_up) = match &command.stream {
            Some((dialect, facts)) => messages(*dialect, facts, &ran.output, self.lane.reviewer.output),
            None => (String::from_utf8_lossy(&ran.output).into_owned(), None),
        };
        let text = without_colours(&text).trim().to_owned();
        let name = &command.name;
        let failing = |reason, detail: String| Some(Failed::new(reason, detail, self.by_hand(command)));
        let why = match (ran.ended, gave_up) {
            (Ended::OutOfTime, _) => {
                let seconds = self.limit.as_secs();
                let key = format!("review.timeouts.{}", self.lane.reviewer.slug);
                let hint =
                    format!("give it more time: `{}`", typed!("{} config-set {} {}", self.program, key, seconds * 2));
                let detail = format!("`{name}` did not end within {seconds} s and was stopped");
                Some(Failed::new("timed_out", detail, hint))
            }
            (_, Some(why)) => failing("failed", format!("`{name}` reports: {why}")),
            (Ended::Signal(signal), None) => failing("failed", format!("`{name}` was ended by signal {signal}")),
            (Ended::Code(0), None) if text.is_empty() => {
                failing("empty", format!("`{name}` exited with 0 and printed no review"))
            }
            (Ended::Code(0), None) => None,
            (Ended::Code(code), None) => failing("failed", format!("`{name}` exited with {code}")),
        };
        let exit_code = if let Ended::Code(code) = ran.ended { Some(code) } else { None };
        let errors = without_colours(&String::from_utf8_lossy(&ran.errors));
        ReviewOutcome { failed: why, text, errors, exit_code, took: ran.took, answered: None }
    }

    fn by_hand(&self, command: &Command) -> String {
        format!(
            "read `gsd-review-{}.err`, and check that `{}` works when you start it yourself",
            self.lane.name, command.name
        )
    }

    fn ask_server(&self, address: &str, prompt: &str, world: &World) -> ReviewOutcome {
        let key = self.lane.reviewer.address_key.as_deref().unwrap_or_default();
        let start =
            format!("start the server, or set its address: `{}`", typed!("{} config-set {} URL", self.program, key));
        let failed = |reason, detail: String, hint: &str| {
            let failed = Some(Failed::new(reason, detail, hint));
            ReviewOutcome { failed, ..ReviewOutcome::default() }
        };
        let listed = format!("{address}/v1/models");
        let models = match world.ask_own_server(&listed, None, SHORT) {
            Ok(Response { status: 200..=299, body }) => serde_json::from_slice::<Models>(&body).unwrap_or_default(),
            Ok(response) => {
                return failed("host_unreachable", format!("`{listed}` answered with {}", response.status), &start);
            }
            Err(error @ WorldError::NoProgram { .. }) => {
                return failed("missing_binary", error.to_string(), &error.hint().unwrap_or_default());
            }
            Err(error) => return failed("host_unreachable", format!("`{listed}`: {error}"), &start),
        };
        let Some(model) = self.lane.model.clone().or_else(|| Some(models.data.first()?.id.clone())) else {
            return failed("no_model", format!("`{address}` has no model"), "load a model in the server");
        };
        let question =
            ChatRequest { model: &model, messages: [Message { role: "user", content: prompt }], stream: false };
        let Ok(question) = serde_json::to_string(&question) else {
            return failed("failed", "the prompt cannot be sent".to_owned(), "write the prompt again");
        };
        let log = format!("read the log of the server at `{address}`");
        match world.ask_own_server(&format!("{address}/v1/chat/completions"), Some(&question), self.limit) {
            Err(error) => failed("failed", error.to_string(), &log),
            Ok(response) => {
                let reply = serde_json::from_slice::<Reply>(&response.body).unwrap_or_default();
                let text = reply.choices.into_iter().next().and_then(|choice| choice.message.content);
                let text = text.unwrap_or_default().trim().to_owned();
                let failed = match response.status {
                    200..=299 if !text.is_empty() => None,
                    200..=299 if reply.error.is_none() => {
                        Some(Failed::new("empty", format!("`{address}` gave an empty answer"), log))
                    }
                    status => {
                        let why = reply.error.map(|error| format!(": {}", error.text())).unwrap_or_default();
                        Some(Failed::new("failed", format!("`{address}` answered with {status}{why}"), log))
                    }
                };
                let served = reply.model.filter(|model| !model.is_empty());
                let answered = served.map_or((model, ModelSource::Requested), |model| (model, ModelSource::Served));
                ReviewOutcome { failed, text, answered: Some(answered), ..ReviewOutcome::default() }
            }
        }
    }
}

/// The messages in a stream, and the client's report of its failure.
fn messages(dialect: StreamForm, facts: &StreamFacts, output: &[u8], form: ReviewForm) -> (String, Option<String>) {
    let mut reader = dialect.reader(facts, Opening::default());
    let (mut texts, mut failure) = (Vec::new(), None);
    for event in output.split(|byte| *byte == b'\n').flat_map(|line| reader.line(line)) {
        match event {
            ClientEvent::Text { text } => texts.push(text),
            ClientEvent::Terminal(Terminal::Failure(why)) => failure = Some(why.text),
            ClientEvent::Terminal(Terminal::Success) => failure = None,
            _ => {}
        }
    }
    let text = match form {
        ReviewForm::LastMessage => texts.pop().unwrap_or_default(),
        ReviewForm::Text | ReviewForm::AllMessages => texts.join("\n"),
    };
    (text, failure)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Models {
    data: Vec<Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    id: String,
}

#[derive(Debug, Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: [Message<'a>; 1],
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    model: Option<String>,
    choices: Vec<ReplyChoice>,
    error: Option<Complaint>,
}

#[derive(Debug, Deserialize)]
struct ReplyChoice {
    message: Said,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    content: Option<String>,
}

/// How servers report a failure: an object with a message, or the message itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Complaint {
    Object { message: String },
    Text(String),
    Other(serde_json::Value),
}

impl Complaint {
    fn text(self) -> String {
        match self {
            Self::Object { message } => message,
            Self::Text(text) => text,
            Self::Other(value) => value.to_string(),
        }
    }
}

/// Writes the reviewer's files, and reports how it went.
pub(crate) fn finish(
    call: &Call,
    work: &Work<'_>,
    outcome: ReviewOutcome,
    place: &ReviewPaths,
) -> Result<InvokeReport, Failure> {
    let lane = &work.lane;
    let file = |extension: &str| place.run.resolve(format!("gsd-review-{}.{extension}", lane.name));
    let (review, errors) = (file("md"), file("err"));
    let text = match &outcome.failed {
        None if lane.reviewer.reads_source && !review_text::names_lines(&outcome.text) => {
            review_text::marked(&outcome.text)
        }
        None => outcome.text.clone(),
        Some(failed) => {
            let tail = last(&outcome.errors, ERROR_TAIL);
            let stub = review_text::no_review(&lane.section(), &failed.detail, &failed.hint, tail);
            if outcome.text.is_empty() { stub } else { format!("{stub}\nPrinted before that:\n\n{}", outcome.text) }
        }
    };
    let text = text.trim_end().to_owned() + "\n";
    write(call, &place.run, [(&review, text), (&errors, outcome.errors)])?;
    let chosen = outcome.answered.map(|(value, source)| ModelReport { value: Some(value), source });
    let pinned = || lane.chosen_model().map(|value| ModelReport { value: Some(value), source: ModelSource::Pinned });
    let model = chosen.or_else(pinned).unwrap_or_default();
    if let (ModelSource::Served, Some(served), Some(asked)) = (model.source, &model.value, &lane.model)
        && served != asked
    {
        call.warn(format!("`{}` was asked for the model `{asked}` and answered with `{served}`", lane.name));
    }
    let failed = outcome.failed;
    Ok(InvokeReport {
        slug: lane.name.clone(),
        ok: failed.is_none(),
        stubbed: failed.is_some(),
        model,
        reason: failed.as_ref().map(|failed| failed.reason),
        detail: failed.as_ref().map(|failed| failed.detail.clone()),
        hint: failed.map(|failed| failed.hint),
        review: Some(review.to_string()),
        exit_code: outcome.exit_code,
        seconds: (outcome.took.as_secs_f64() * 10.0).round() / 10.0,
        fenced: matches!(&work.means, Ok(ReviewMeans::Program(command)) if command.is_fenced),
    })
}

/// Writes files of a run, all or none.
pub(crate) fn write<const N: usize>(
    call: &Call,
    run: &AbsolutePath,
    files: [(&AbsolutePath, String); N],
) -> Result<(), Failure> {
    let boundary = call.project().boundary()?;
    for (path, _) in &files {
        boundary.check(path)?;
    }
    call.disk().transact(BTreeSet::from([run.clone()]), |_, changes| {
        for (path, text) in files {
            let before = Digest::of_file(path)?;
            changes.write(path.clone(), text, before);
        }
        Ok(())
    })
}
