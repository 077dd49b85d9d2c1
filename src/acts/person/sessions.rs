//! Sessions that a host keeps: finding and reading them, and files of messages for a profile.

use serde_json::Value;

use crate::acts::{Call, hosts};
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::operations::person::sessions::{
    self, ExtractReport, Message, ProjectSessions, Sample, SampleReport, SampleRequest, SessionFile,
};

/// Writes messages to a file that only this user can read; returns its path.
fn keep(call: &Call, name: &str, messages: &[Message]) -> Result<String, Failure> {
    let folder = format!("messages-{}-{}", call.world().now().milliseconds(), call.world().process());
    let notes = AbsolutePath::parse(call.world().private_temporary_folder())?;
    disk::make_private_folder(&notes)?;
    let file = notes.resolve(&folder).resolve(name);
    disk::write_fleeting(&file, sessions::lines(messages)?.as_bytes())?;
    Ok(file.to_string())
}

/// The sessions that a host keeps.
pub(crate) struct Kept {
    folder: AbsolutePath,
    /// The name of the host.
    host: String,
    /// Beginnings of messages that a person did not type.
    untyped: Vec<String>,
    pub(crate) projects: Vec<ProjectSessions>,
}

impl Kept {
    /// As [`Self::look`], for calls that need a session.
    fn find(call: &Call, chosen: Option<&str>) -> Result<Self, Failure> {
        let kept = Self::look(call, chosen)?;
        if kept.projects.is_empty() { Err(kept.nothing()) } else { Ok(kept) }
    }

    fn nothing(&self) -> Failure {
        let told = Failure::usage(format!("no {} sessions in `{}`", self.host, self.folder));
        told.hint("name another folder with `--path FOLDER`")
    }

    /// Lists the sessions. An existing but empty folder is a valid answer if a person chose it.
    pub(crate) fn look(call: &Call, chosen: Option<&str>) -> Result<Self, Failure> {
        let host = call.host()?;
        let known = host.descriptor.as_ref().and_then(|descriptor| descriptor.sessions.as_ref());
        let name = host.descriptor.as_ref().map_or(host.id.as_str(), |descriptor| descriptor.name.as_str());
        let folder = match (chosen, known) {
            (Some(folder), _) => call.here().resolve(folder),
            (None, Some(known)) => AbsolutePath::parse(hosts::home(call)?.root)?.resolve(&known.folder),
            (None, None) => {
                let told = Failure::usage(format!("the session folder of {name} is unknown"));
                return Err(told.hint("name the folder with `--path FOLDER`"));
            }
        };
        let untyped = known.map(|known| known.untyped.clone()).unwrap_or_default();
        call.tell("Reading sessions; nothing is changed or sent anywhere.");
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

/// Writes the messages of a project to a file: of one session or of the newest ones, `limit` at most. `folder` is where the
/// sessions are, if not where the host keeps them.
pub(crate) fn extract(
    call: &Call,
    folder: Option<&str>,
    project: &str,
    session: Option<&str>,
    limit: Option<usize>,
) -> Result<ExtractReport, Failure> {
    let kept = Kept::find(call, folder)?;
    let project = sessions::find(&kept.projects, project)?;
    let wanted = |file: &&SessionFile| session.is_none_or(|id| file.id == id);
    let chosen: Vec<&SessionFile> = project.sessions.iter().filter(wanted).take(limit.unwrap_or(usize::MAX)).collect();
    if let (true, Some(id)) = (chosen.is_empty(), session) {
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
    let output_file = keep(call, "extracted-messages.jsonl", &taken)?;
    Ok(ExtractReport {
        output_file,
        project: project.name.clone(),
        sessions_processed: chosen.len() - skipped,
        sessions_skipped: skipped,
        messages_extracted: taken.len(),
        messages_truncated,
    })
}

/// Writes a sample of the messages of all projects to a file; `of_each` are those of one project at most.
pub(crate) fn sample(
    call: &Call,
    folder: Option<&str>,
    messages: usize,
    of_each: Option<usize>,
    characters: usize,
) -> Result<SampleReport, Failure> {
    let kept = Kept::find(call, folder)?;
    let share = messages.div_ceil(kept.projects.len().max(1));
    let request = SampleRequest { messages, of_a_project: of_each.unwrap_or(share), characters };
    let mut sample = Sample::default();
    for project in &kept.projects {
        if sample.is_full(request) {
            break;
        }
        // A session that cannot be read is left out of the sample.
        sample.take(project, request, |session| kept.messages(project, session).unwrap_or_default());
    }
    let output_file = keep(call, "profile-sample.jsonl", &sample.messages)?;
    Ok(SampleReport {
        output_file,
        projects_sampled: sample.projects.len(),
        messages_sampled: sample.messages.len(),
        per_project_cap: request.of_a_project,
        message_char_limit: request.characters,
        skipped_context_dumps: sample.dumps,
        project_breakdown: sample.projects,
    })
}
