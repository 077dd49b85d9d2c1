//! The sessions of a host: one file each, with a line of JSON for every event. They are only read, never written.
//!
//! The lines are in the format of one host: an object with `type`, `message.content`, `timestamp`. The host's
//! descriptor lists the beginnings of messages that no person typed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::text::screen::counted;

/// The longest message that is kept whole, in characters.
pub(crate) const LONGEST: usize = 2000;

/// The sessions of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectSessions {
    pub(crate) name: String,
    /// The name of the project's folder among the sessions.
    pub(crate) directory: String,
    /// The sessions, newest first.
    pub(crate) sessions: Vec<SessionFile>,
}

/// One session's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionFile {
    pub(crate) id: String,
    pub(crate) size: u64,
    /// When it last changed, in milliseconds since 1970.
    pub(crate) modified: i64,
}

/// What `scan-sessions` answers: the projects, the last one worked on first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct ScanReport(Vec<ProjectReport>);

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectReport {
    name: String,
    directory: String,
    session_count: usize,
    /// The size in bytes.
    total_size: u64,
    total_size_human: String,
    /// The time in UTC.
    last_active: String,
    date_range: DateRange,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DateRange {
    first: String,
    last: String,
}

/// Sorts the projects in the order of the report: the most recently active first.
pub(crate) fn by_activity(mut projects: Vec<ProjectSessions>) -> Vec<ProjectSessions> {
    for project in &mut projects {
        project.sessions.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.id.cmp(&other.id)));
    }
    projects.retain(|project| !project.sessions.is_empty());
    projects.sort_by(|one, other| other.last().cmp(&one.last()).then_with(|| one.directory.cmp(&other.directory)));
    projects
}

impl ProjectSessions {
    fn last(&self) -> i64 {
        self.sessions.iter().map(|session| session.modified).max().unwrap_or_default()
    }

    fn first(&self) -> i64 {
        self.sessions.iter().map(|session| session.modified).min().unwrap_or_default()
    }

    fn size(&self) -> u64 {
        self.sessions.iter().map(|session| session.size).sum()
    }
}

/// The report about the projects.
pub(crate) fn scan(projects: &[ProjectSessions]) -> ScanReport {
    let report = |project: &ProjectSessions| ProjectReport {
        name: project.name.clone(),
        directory: project.directory.clone(),
        session_count: project.sessions.len(),
        total_size: project.size(),
        total_size_human: size(project.size()),
        last_active: seconds(project.last()),
        date_range: DateRange { first: moment(project.first()), last: moment(project.last()) },
    };
    ScanReport(projects.iter().map(report).collect())
}

/// The report as a table for people; with `verbose`, every session.
pub(crate) fn table(projects: &[ProjectSessions], verbose: bool) -> String {
    let mut lines = vec![row("Project", "Sessions", "Size", "Last Active"), "-".repeat(75)];
    for project in projects {
        let count = project.sessions.len().to_string();
        lines.push(row(&project.name, &count, &size(project.size()), &seconds(project.last())));
    }
    for project in projects.iter().filter(|_| verbose) {
        lines.push(String::new());
        lines.push(format!("  {} ({}):", project.name, counted(project.sessions.len(), "session")));
        for session in &project.sessions {
            lines.push(format!("  {:<40}{:<10}{}", session.id, size(session.size), seconds(session.modified)));
        }
    }
    lines.push(String::new());
    lines.push(format!("Total: {}", counted(projects.len(), "project")));
    lines.join("\n") + "\n"
}

fn row(project: &str, sessions: &str, size: &str, active: &str) -> String {
    format!("{project:<35}{sessions:<10}{size:<10}{active}")
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = (u128::from(bytes) * 10 + 512) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

fn moment(milliseconds: i64) -> String {
    crate::text::time::shown(milliseconds).unwrap_or_default()
}

/// A time to the second, without the separators of the format.
fn seconds(milliseconds: i64) -> String {
    moment(milliseconds).chars().take(19).map(|letter| if letter == 'T' { ' ' } else { letter }).collect()
}

fn shown(names: &[String]) -> String {
    names.iter().map(|name| format!("  - {name}")).collect::<Vec<_>>().join("\n")
}

/// Finds the project that `typed` names: exactly, else by a part of its name or folder.
pub(crate) fn find<'projects>(
    projects: &'projects [ProjectSessions],
    typed: &str,
) -> Result<&'projects ProjectSessions, Failure> {
    let refused = |message| Err(Failure::usage(message).hint("`gsd-tools scan-sessions` lists the projects"));
    let exact = projects.iter().find(|project| project.name == typed || project.directory == typed);
    if let Some(project) = exact {
        return Ok(project);
    }
    let wanted = typed.to_lowercase();
    let holds = |text: &str| text.to_lowercase().contains(&wanted);
    let found: Vec<_> = projects.iter().filter(|project| holds(&project.name) || holds(&project.directory)).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let known: Vec<String> = projects.iter().map(|project| project.name.clone()).collect();
            refused(format!("no project matches `{typed}`; the projects are:\n{}", shown(&known)))
        }
        several => {
            let name = |project: &&ProjectSessions| format!("{} ({})", project.name, project.directory);
            let found: Vec<String> = several.iter().map(name).collect();
            refused(format!("several projects match `{typed}`:\n{}", shown(&found)))
        }
    }
}

/// A message that a person typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    pub(crate) session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project_name: Option<String>,
    /// The working folder.
    pub(crate) project_path: Option<String>,
    /// The time as the host writes it: a text, or a number of milliseconds.
    pub(crate) timestamp: Option<Value>,
    pub(crate) content: String,
}

/// The messages of a session that a person typed; `untyped` lists the beginnings of messages that no person typed.
pub(crate) fn messages(session: &str, text: &str, untyped: &[String]) -> Vec<Message> {
    text.lines().filter_map(|line| message(session, line, untyped)).collect()
}

fn message(session: &str, line: &str, untyped: &[String]) -> Option<Message> {
    // Most lines are long tool output. Lines without this word cannot be a person's.
    if !line.contains("\"user\"") {
        return None;
    }
    let entry: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let flag = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
    let is_typed = text("type") == Some("user") && text("userType").is_none_or(|kind| kind == "external");
    if !is_typed || flag("isMeta") || flag("isSidechain") {
        return None;
    }
    let content = match entry.get("message")?.get("content")? {
        Value::String(content) => content.clone(),
        Value::Array(parts) => {
            let is_text = |part: &&Value| part.get("type").and_then(Value::as_str) == Some("text");
            let texts = parts.iter().filter(is_text).filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let begins = content.trim_start();
    if begins.is_empty() || untyped.iter().any(|beginning| begins.starts_with(beginning.as_str())) {
        return None;
    }
    Some(Message {
        session_id: session.to_owned(),
        project_name: None,
        project_path: text("cwd").map(str::to_owned),
        timestamp: entry.get("timestamp").filter(|time| time.is_string() || time.is_number()).cloned(),
        content,
    })
}

/// Cuts a text that is longer than `longest` characters; returns true if it did.
pub(crate) fn shorten(content: &mut String, longest: usize) -> bool {
    match content.char_indices().nth(longest) {
        Some((at, _)) => {
            content.truncate(at);
            content.push_str("... [truncated]");
            true
        }
        None => false,
    }
}

/// Messages as a file of JSON lines.
pub(crate) fn lines(messages: &[Message]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for message in messages {
        text.push_str(&serde_json::to_string(message)?);
        text.push('\n');
    }
    Ok(text)
}

/// What `extract-messages` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExtractReport {
    /// The file with the messages, as lines of JSON.
    pub(crate) output_file: String,
    pub(crate) project: String,
    pub(crate) sessions_processed: usize,
    /// The number of sessions whose file could not be read.
    pub(crate) sessions_skipped: usize,
    pub(crate) messages_extracted: usize,
    pub(crate) messages_truncated: usize,
}

/// What `profile-sample` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SampleReport {
    /// The file with the messages, as lines of JSON.
    pub(crate) output_file: String,
    pub(crate) projects_sampled: usize,
    pub(crate) messages_sampled: usize,
    /// The most messages taken from one project.
    pub(crate) per_project_cap: usize,
    /// The longest message that is kept whole, in characters.
    pub(crate) message_char_limit: usize,
    /// The number of messages left out because they were pasted rather than written.
    pub(crate) skipped_context_dumps: usize,
    pub(crate) project_breakdown: Vec<ProjectSample>,
}

/// The part of the sample from one project.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectSample {
    pub(crate) project: String,
    pub(crate) messages: usize,
    pub(crate) sessions: usize,
}

/// The size of the requested sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleRequest {
    pub(crate) messages: usize,
    pub(crate) of_a_project: usize,
    pub(crate) characters: usize,
}

/// A sample under construction.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) messages: Vec<Message>,
    pub(crate) dumps: usize,
    pub(crate) projects: Vec<ProjectSample>,
}

impl Sample {
    pub(crate) fn is_full(&self, request: SampleRequest) -> bool {
        self.messages.len() >= request.messages
    }

    /// Takes as many messages of one project as fit, newest sessions first. `read` returns the messages of a session.
    pub(crate) fn take(
        &mut self,
        project: &ProjectSessions,
        request: SampleRequest,
        mut read: impl FnMut(&SessionFile) -> Vec<Message>,
    ) {
        let room = request.of_a_project.min(request.messages.saturating_sub(self.messages.len()));
        let (mut taken, mut sessions) = (0, 0);
        for session in &project.sessions {
            if taken == room {
                break;
            }
            let before = taken;
            for mut message in read(session) {
                if taken == room {
                    break;
                }
                if is_dump(&message.content) {
                    self.dumps += 1;
                    continue;
                }
                shorten(&mut message.content, request.characters);
                message.project_name = Some(project.name.clone());
                self.messages.push(message);
                taken += 1;
            }
            sessions += usize::from(taken > before);
        }
        if taken > 0 {
            self.projects.push(ProjectSample { project: project.name.clone(), messages: taken, sessions });
        }
    }
}

/// True if a message was pasted rather than written: many lines, most of which look like a log or a trace.
fn is_dump(content: &str) -> bool {
    const MANY: usize = 10;
    let lines: Vec<&str> = content.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect();
    let looks_pasted = |line: &&&str| {
        let first = line.chars().next().unwrap_or_default();
        first.is_ascii_digit()
            || matches!(first, '{' | '}' | '[' | ']' | '<' | '"' | '+' | '|')
            || line.starts_with("at ")
    };
    lines.len() >= MANY && lines.iter().filter(looks_pasted).count() * 5 >= lines.len() * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(content: &str) -> String {
        format!(
            r#"{{"type":"user","userType":"external","cwd":"/p","timestamp":"t","message":{{"content":{content}}}}}"#
        )
    }

    #[test]
    fn only_what_a_person_typed_is_a_message() {
        let text = [
            typed("\"Fix it\""),
            typed(r#"[{"type":"text","text":"with"},{"type":"image"},{"type":"text","text":"picture"}]"#),
            typed(r#"[{"type":"tool_result","content":"x"}]"#),
            typed("\"<command-name>/clear</command-name>\""),
            typed("\"  \""),
            typed("7"),
            typed("\"side\"").replace("\"cwd\"", "\"isSidechain\":true,\"cwd\""),
            typed("\"meta\"").replace("\"cwd\"", "\"isMeta\":true,\"cwd\""),
            typed("\"inner\"").replace("external", "internal"),
            r#"{"type":"assistant","message":{"content":"user"}}"#.to_owned(),
            "not \"user\" json".to_owned(),
        ]
        .join("\n");
        let contents: Vec<String> =
            messages("s", &text, &["<command-".to_owned()]).into_iter().map(|message| message.content).collect();
        assert_eq!(contents, ["Fix it", "with\npicture"]);
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let mut text = "é".repeat(5);
        assert!(!shorten(&mut text, 5));
        assert!(shorten(&mut text, 3));
        assert_eq!(text, "ééé... [truncated]");
    }

    fn project(name: &str, sessions: &[(&str, i64)]) -> ProjectSessions {
        let sessions = sessions.iter();
        let sessions =
            sessions.map(|(id, modified)| SessionFile { id: (*id).to_owned(), size: 600, modified: *modified });
        ProjectSessions { name: name.to_owned(), directory: format!("-home-{name}"), sessions: sessions.collect() }
    }

    #[test]
    fn projects_are_sorted_by_their_last_activity() {
        let projects = by_activity(vec![
            project("old", &[("a", 1)]),
            project("new", &[("b", 2), ("c", 1000)]),
            project("empty", &[]),
        ]);
        let report = scan(&projects);
        let told: Vec<&str> = report.0.iter().map(|project| project.name.as_str()).collect();
        assert_eq!(told, ["new", "old"]);
        assert_eq!(
            (report.0[0].total_size_human.as_str(), report.0[0].last_active.as_str()),
            ("1.2 KB", "1970-01-01 00:00:01")
        );
        assert!(table(&projects, true).contains("new (2 sessions)"));
        assert_eq!((size(155).as_str(), size(u64::MAX).ends_with(" TB")), ("155 B", true));
    }

    #[test]
    fn a_project_is_found_by_a_part_of_its_name_only_if_that_is_unique() {
        let projects = [project("garden", &[("a", 1)]), project("pocket", &[("b", 2)])];
        assert_eq!(find(&projects, "Gard").unwrap().name, "garden");
        assert_eq!(find(&projects, "-home-pocket").unwrap().name, "pocket");
        let refused = |typed| find(&projects, typed).unwrap_err().message;
        assert!(refused("nope").starts_with("no project matches `nope`"));
        assert!(refused("e").starts_with("several projects match `e`"));
    }

    #[test]
    fn a_sample_takes_some_messages_of_each_project() {
        let request = SampleRequest { messages: 3, of_a_project: 2, characters: 10 };
        let read = |session: &SessionFile| {
            let one = |content: &str| Message {
                session_id: session.id.clone(),
                project_name: None,
                project_path: None,
                timestamp: None,
                content: content.to_owned(),
            };
            vec![one(&"{\n".repeat(20)), one("a"), one("bb")]
        };
        let mut sample = Sample::default();
        for project in [project("x", &[("a", 2), ("b", 1)]), project("y", &[("c", 1)])] {
            sample.take(&project, request, read);
        }
        assert!(sample.is_full(request));
        let told: Vec<(usize, usize)> =
            sample.projects.iter().map(|project| (project.messages, project.sessions)).collect();
        assert_eq!((told, sample.dumps), (vec![(2, 1), (1, 1)], 2));
        assert_eq!(lines(&sample.messages).unwrap().lines().count(), 3);
    }
}
