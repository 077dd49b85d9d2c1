//! Sessions that a host keeps, read for a profile of how a person works. They are neither changed nor sent anywhere.

use serde_json::Value;

use crate::acts::hosts;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::person::sessions::{
    self, ExtractReport, Message, ProjectSessions, Sample, SampleReport, SampleRequest, SessionFile,
};

/// The default number of messages in a sample.
const USUAL_SAMPLE: usize = 150;
/// The maximum length of a message in a sample.
const USUAL_LENGTH: usize = 500;

verbs! {
    "Sessions";

    /// List the projects that have sessions on the host
    ///
    /// Reads the session files of the host. Changes nothing and sends nothing anywhere.
    ///
    /// Example: `gsd-tools scan-sessions --json`.
    "scan-sessions": reads [asked] json(sessions::ScanReport) = scan(ScanArgs);

    /// Write the messages you typed in a project's sessions to a file
    ///
    /// Reads the session files of the host. The file is in a private temporary folder; `output_file` is its path.
    ///
    /// Example: `gsd-tools extract-messages my-project --limit 5 --pick output_file`.
    "extract-messages": runs json(ExtractReport) = extract(ExtractArgs);

    /// Write a sample of the messages you typed in all projects to a file
    ///
    /// Reads the session files of the host. The file is in a private temporary folder; `output_file` is its path.
    ///
    /// Example: `gsd-tools profile-sample --limit 100 --pick output_file`.
    "profile-sample": runs json(SampleReport) = sample(SampleArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScanArgs {
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// List every session
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExtractArgs {
    /// The project, or a part of its name
    project: NonBlank,
    /// Read only this session
    #[arg(long)]
    session: Option<String>,
    /// Read at most this many sessions, newest first
    #[arg(long)]
    limit: Option<usize>,
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// The number of messages
    #[arg(long, default_value_t = USUAL_SAMPLE)]
    limit: usize,
    /// The most messages from one project (default: an equal share)
    #[arg(long)]
    max_per_project: Option<usize>,
    /// The most characters of a message
    #[arg(long, default_value_t = USUAL_LENGTH)]
    max_chars: usize,
    /// Read sessions from this folder instead of the host's
    #[arg(long)]
    path: Option<String>,
}

fn scan(context: &mut Context, arguments: &ScanArgs) -> Result<(), Failure> {
    let kept = Kept::look(context, arguments.path.as_deref())?;
    if arguments.json || context.raw() {
        return context.emit(&sessions::scan(&kept.projects));
    }
    context.text(sessions::table(&kept.projects, arguments.verbose));
    Ok(())
}

fn extract(context: &mut Context, arguments: &ExtractArgs) -> Result<(), Failure> {
    let kept = Kept::find(context, arguments.path.as_deref())?;
    let project = sessions::find(&kept.projects, &arguments.project)?;
    let wanted = |session: &&SessionFile| arguments.session.as_ref().is_none_or(|id| session.id == *id);
    let chosen: Vec<&SessionFile> =
        project.sessions.iter().filter(wanted).take(arguments.limit.unwrap_or(usize::MAX)).collect();
    if let (true, Some(id)) = (chosen.is_empty(), &arguments.session) {
        return Err(Failure::usage(format!("project `{}` has no session `{id}`", project.name))
            .hint("`gsd-tools scan-sessions --verbose` lists the sessions"));
    }
    let (mut taken, mut skipped) = (Vec::new(), 0);
    for session in &chosen {
        match kept.messages(project, session) {
            Some(messages) => taken.extend(messages),
            None => skipped += 1,
        }
    }
    let cut = taken.iter_mut().map(|message| sessions::shorten(&mut message.content, sessions::LONGEST));
    let messages_truncated = cut.filter(|was_cut| *was_cut).count();
    let output_file = keep(context, "extracted-messages.jsonl", &taken)?;
    context.emit(&ExtractReport {
        output_file,
        project: project.name.clone(),
        sessions_processed: chosen.len() - skipped,
        sessions_skipped: skipped,
        messages_extracted: taken.len(),
        messages_truncated,
    })
}

fn sample(context: &mut Context, arguments: &SampleArgs) -> Result<(), Failure> {
    let kept = Kept::find(context, arguments.path.as_deref())?;
    let of_each = arguments.limit.div_ceil(kept.projects.len().max(1));
    let request = SampleRequest {
        messages: arguments.limit,
        of_a_project: arguments.max_per_project.unwrap_or(of_each),
        characters: arguments.max_chars,
    };
    let mut sample = Sample::default();
    for project in &kept.projects {
        if sample.is_full(request) {
            break;
        }
        // A session that cannot be read is left out of the sample.
        sample.take(project, request, |session| kept.messages(project, session).unwrap_or_default());
    }
    let output_file = keep(context, "profile-sample.jsonl", &sample.messages)?;
    context.emit(&SampleReport {
        output_file,
        projects_sampled: sample.projects.len(),
        messages_sampled: sample.messages.len(),
        per_project_cap: request.of_a_project,
        message_char_limit: request.characters,
        skipped_context_dumps: sample.dumps,
        project_breakdown: sample.projects,
    })
}

/// Writes messages to a file that only this user can read; returns its path.
fn keep(context: &Context, name: &str, messages: &[Message]) -> Result<String, Failure> {
    let folder = format!("messages-{}-{}", context.world().now().milliseconds(), context.world().process());
    let notes = AbsolutePath::parse(context.world().private_temporary_folder())?;
    disk::make_private_folder(&notes)?;
    let file = notes.resolve(&folder).resolve(name);
    disk::write_fleeting(&file, sessions::lines(messages)?.as_bytes())?;
    Ok(file.to_string())
}

/// The sessions that a host keeps.
struct Kept {
    folder: AbsolutePath,
    /// The name of the host.
    host: String,
    /// Beginnings of messages that a person did not type.
    untyped: Vec<String>,
    projects: Vec<ProjectSessions>,
}

impl Kept {
    /// As [`Self::look`], for calls that need a session.
    fn find(context: &Context, chosen: Option<&str>) -> Result<Self, Failure> {
        let kept = Self::look(context, chosen)?;
        if kept.projects.is_empty() { Err(kept.nothing()) } else { Ok(kept) }
    }

    fn nothing(&self) -> Failure {
        let told = Failure::usage(format!("no {} sessions in `{}`", self.host, self.folder));
        told.hint("name another folder with `--path FOLDER`")
    }

    /// Lists the sessions. An existing but empty folder is a valid answer if a person chose it.
    fn look(context: &Context, chosen: Option<&str>) -> Result<Self, Failure> {
        let host = context.host()?;
        let known = host.descriptor.as_ref().and_then(|descriptor| descriptor.sessions.as_ref());
        let name = host.descriptor.as_ref().map_or(host.id.as_str(), |descriptor| descriptor.name.as_str());
        let folder = match (chosen, known) {
            (Some(folder), _) => context.here().resolve(folder),
            (None, Some(known)) => AbsolutePath::parse(hosts::home(context)?.root)?.resolve(&known.folder),
            (None, None) => {
                let told = Failure::usage(format!("the session folder of {name} is unknown"));
                return Err(told.hint("name the folder with `--path FOLDER`"));
            }
        };
        let untyped = known.map(|known| known.untyped.clone()).unwrap_or_default();
        context.tell("Reading sessions; nothing is changed or sent anywhere.");
        let mut projects = Vec::new();
        for entry in disk::list(&folder)?.unwrap_or_default().into_iter().filter(disk::Entry::is_folder) {
            projects.push(project(&folder.resolve(&entry.name), entry.name)?);
        }
        let kept = Self { folder, host: name.to_owned(), untyped, projects: sessions::by_activity(projects) };
        let is_answer = !kept.projects.is_empty() || (chosen.is_some() && disk::is_folder(&kept.folder));
        if is_answer { Ok(kept) } else { Err(kept.nothing()) }
    }

    /// The messages of a session; `None` if its file cannot be read.
    fn messages(&self, project: &ProjectSessions, session: &SessionFile) -> Option<Vec<Message>> {
        let file = self.folder.resolve(&project.directory).resolve(format!("{}.jsonl", session.id));
        let bytes = disk::read_up_to(file, u64::MAX).ok()??;
        Some(sessions::messages(&session.id, &String::from_utf8_lossy(&bytes), &self.untyped))
    }
}

/// The sessions in one project's folder. If the host recorded the project's path, the project gets the name of its
/// folder.
fn project(folder: &AbsolutePath, directory: String) -> Result<ProjectSessions, Failure> {
    let index = disk::read_text(folder.resolve("sessions-index.json")).ok().flatten();
    let index: Option<Value> = index.and_then(|text| serde_json::from_str(&text).ok());
    let original = index.as_ref().and_then(|index| index.get("originalPath")?.as_str());
    let name = original.and_then(|path| path.rsplit(['/', '\\']).find(|part| !part.is_empty()));
    let name = name.map_or_else(|| directory.clone(), str::to_owned);
    let mut sessions = Vec::new();
    for entry in disk::list(folder)?.unwrap_or_default().into_iter().filter(disk::Entry::is_file) {
        if let Some(id) = entry.name.strip_suffix(".jsonl") {
            let size = disk::size(&entry.path).unwrap_or_default();
            let modified = disk::modified(&entry.path).unwrap_or_default();
            sessions.push(SessionFile { id: id.to_owned(), size, modified });
        }
    }
    Ok(ProjectSessions { name, directory, sessions })
}
