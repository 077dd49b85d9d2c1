//! The instruction file that a host reads first: sections between markers, generated from the project's documents.
//!
//! Text outside the markers belongs to the person, and so does a file without markers. Headings and fixed texts are in
//! `sections.toml`.

mod outline;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::outline::outline;
use super::skill_manifest;
use crate::failure::Failure;
use crate::project::files::FileError;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::fragment::{Marked, MarkedError};
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// What the caller asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructionsRequest<'call> {
    /// The prefix of a command's name as people type it.
    pub(crate) prefix: &'call str,
    /// Do not change sections that differ from what the program would write.
    pub(crate) careful: bool,
    /// Add the sections to a file that has none.
    pub(crate) force: bool,
}

/// What `generate-claude-md` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InstructionsReport {
    /// The absolute path of the file.
    claude_md_path: String,
    action: FileAction,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Sections generated from documents.
    sections_generated: Vec<String>,
    /// Sections that are not in the file because their documents say nothing yet.
    sections_fallback: Vec<String>,
    /// Sections that were not changed.
    sections_skipped: Vec<String>,
    sections_total: usize,
    profile_status: ProfileStatus,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FileAction {
    Created,
    Updated,
    /// Everything is already in the file.
    Unchanged,
    /// The file belongs to the person.
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProfileStatus {
    Exists,
    /// Nothing is known about the person, so the file has no such section.
    Skipped,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstructionTexts {
    section: Vec<SectionText>,
    profile: SectionText,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionText {
    name: String,
    heading: String,
    source: Option<String>,
    body: Option<String>,
    /// The text that earlier versions wrote if the documents said nothing.
    filler: Option<String>,
}

fn texts() -> Result<InstructionTexts, Failure> {
    toml_edit::de::from_str(include_str!("sections.toml")).map_err(|error: toml_edit::de::Error| {
        Failure::unknown("the built-in `sections.toml` is invalid").cause(error.to_string())
    })
}

/// Updates the sections of the file at `path` (relative to the root).
pub(crate) fn generate(
    view: &ProjectView,
    path: &str,
    request: InstructionsRequest<'_>,
) -> Edited<InstructionsReport, Failure> {
    let texts = texts()?;
    let before = view.text(path)?;
    let names = |sections: &[SectionText]| sections.iter().map(|section| section.name.clone()).collect::<Vec<_>>();
    let mut report = InstructionsReport {
        claude_md_path: view.layout().shown(path),
        action: FileAction::Skipped,
        reason: None,
        sections_generated: Vec::new(),
        sections_fallback: Vec::new(),
        sections_skipped: Vec::new(),
        sections_total: texts.section.len(),
        profile_status: ProfileStatus::Skipped,
        message: String::new(),
    };
    let mut edits = Edits::default();
    let is_theirs = |text: &str| !text.trim().is_empty() && !has_markers(text);
    if before.as_deref().is_some_and(is_theirs) && !request.force {
        report.reason = Some("the file has no generated sections; --force adds them at the end");
        report.sections_skipped = names(&texts.section);
        report.message = format!("Left {path} as it is.");
        return Ok((report, edits));
    }
    let mut text = before.as_deref().unwrap_or_default().to_owned();
    let failed = |why: MarkedError| Failure::unknown(format!("`{path}` cannot be edited: {why}"));
    for section in &texts.section {
        let said = content(view, section, request.prefix)?;
        let source = said.as_ref().map(|(source, _)| source.clone()).or_else(|| section.source.clone());
        let body = said.map(|(_, body)| format!("\n## {}\n\n{}\n", section.heading, body.trim()));
        let marked = marked(&section.name, source.as_deref(), &text);
        let there = marked.body(&text).map_err(failed)?.map(|body| body.replace("\r\n", "\n"));
        let is_edited = there.is_some_and(|there| {
            let is_written = body.as_ref().is_some_and(|body| squeezed(&there) == squeezed(body));
            !is_written && !is_filler(&there, section, request.prefix)
        });
        if request.careful && is_edited {
            report.sections_skipped.push(section.name.clone());
            continue;
        }
        if let Some(body) = body {
            text = marked.put(&text, &body).map_err(failed)?;
            report.sections_generated.push(section.name.clone());
        } else {
            text = marked.remove(&text).map_err(failed)?;
            report.sections_fallback.push(section.name.clone());
        }
    }
    let profile = marked(&texts.profile.name, None, &text);
    if let Some(there) = profile.body(&text).map_err(failed)? {
        if is_filler(there, &texts.profile, request.prefix) {
            text = profile.remove(&text).map_err(failed)?;
        } else {
            report.profile_status = ProfileStatus::Exists;
        }
    }
    report.action = match &before {
        None => FileAction::Created,
        Some(before) if **before == *text => FileAction::Unchanged,
        Some(_) => FileAction::Updated,
    };
    report.message = message(&report);
    edits.write(view, path, text)?;
    Ok((report, edits))
}

/// A one-line summary of what was done. Writing to a string cannot fail.
fn message(report: &InstructionsReport) -> String {
    let mut message = format!("Generated {}/{} sections.", report.sections_generated.len(), report.sections_total);
    for (what, names) in
        [("Nothing to say yet", &report.sections_fallback), ("Skipped (manually edited)", &report.sections_skipped)]
    {
        if !names.is_empty() {
            let _ = write!(message, " {what}: {}.", names.join(", "));
        }
    }
    message
}

/// The trimmed non-empty lines of `text`. Other whitespace is ignored, since editors and other programs change it.
fn squeezed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// True if a section is the filler that earlier versions wrote if there was nothing to say.
fn is_filler(there: &str, section: &SectionText, prefix: &str) -> bool {
    let filler = section.filler.as_deref().map(|filler| filler.replace("{prefix}", prefix));
    filler.is_some_and(|filler| squeezed(there) == squeezed(&format!("## {}\n{filler}", section.heading)))
}

const MARKER: &str = "<!-- GSD:";

fn has_markers(text: &str) -> bool {
    text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with(MARKER) && line.contains("-start"))
}

/// Returns `text` without the sections that this program maintains. A section that is not closed belongs to the person.
pub(crate) fn without_parts(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Where the open section begins in `kept`, and the line that closes it.
    let mut open: Option<(usize, String)> = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches('\u{feff}').trim();
        if open.is_none()
            && let Some((name, _)) = bare.strip_prefix(MARKER).and_then(|rest| rest.split_once("-start"))
        {
            open = Some((kept.len(), format!("{MARKER}{name}-end -->")));
        }
        kept.push_str(line);
        if let Some((start, _)) = open.take_if(|(_, close)| bare == close) {
            kept.truncate(start);
        }
    }
    kept
}

/// Finds the section called `name` in `text`. Its opening line may name another source than the current one.
fn marked(name: &str, source: Option<&str>, text: &str) -> Marked {
    let begins = format!("{MARKER}{name}-start");
    let there = text
        .lines()
        .map(|line| line.trim_start_matches('\u{feff}').trim_end())
        .find(|line| line.strip_prefix(&begins).is_some_and(|rest| rest.starts_with(' ') && rest.ends_with("-->")));
    let source = source.map(|source| format!(" source:{source}")).unwrap_or_default();
    let open = there.map_or_else(|| format!("{begins}{source} -->"), str::to_owned);
    Marked::new(open, format!("{MARKER}{name}-end -->"))
}

/// The content of a section and its source; `None` if the documents say nothing.
fn content(view: &ProjectView, section: &SectionText, prefix: &str) -> Result<Option<(String, String)>, Failure> {
    let layout = view.layout();
    let of_map = |name: &str| -> Result<Option<(String, String)>, FileError> {
        let mapped = view.text(&format!("{}/{name}", layout.codebase()))?;
        Ok(mapped.and_then(|text| outline(&text)).map(|outline| {
            let path = format!("{}/{name}", layout.codebase());
            let more = if outline.is_cut { format!("\n\nMore in `{path}`.") } else { String::new() };
            (format!("codebase/{name}"), outline.text + &more)
        }))
    };
    let told = match section.name.as_str() {
        "project" => {
            view.text(&layout.project())?.and_then(|text| project(&text)).map(|body| ("PROJECT.md".to_owned(), body))
        }
        "stack" => {
            let researched = format!("{}/STACK.md", layout.research());
            let summary = format!("{}/SUMMARY.md", layout.research());
            if let Some(mapped) = of_map("STACK.md")? {
                Some(mapped)
            } else if let Some(outline) = view.text(&researched)?.and_then(|text| outline(&text)) {
                let more = if outline.is_cut { format!("\n\nMore in `{researched}`.") } else { String::new() };
                Some(("research/STACK.md".to_owned(), outline.text + &more))
            } else {
                let body = view.text(&summary)?.and_then(|text| part(&text, "Recommended Stack"));
                body.map(|body| ("research/SUMMARY.md".to_owned(), body))
            }
        }
        "conventions" => of_map("CONVENTIONS.md")?,
        "architecture" => of_map("ARCHITECTURE.md")?,
        "skills" => skills(view)?.map(|body| ("skills/".to_owned(), body)),
        _ => section
            .body
            .as_ref()
            .map(|body| (section.source.clone().unwrap_or_default(), body.replace("{prefix}", prefix))),
    };
    Ok(told)
}

/// The body of a section.
fn part(text: &str, title: &str) -> Option<String> {
    let document = Markdown::parse(text);
    let (_, lines) = document.section_named(title)?;
    let body = text[document.span(lines)].replace("\r\n", "\n").trim().to_owned();
    Some(body).filter(|body| !body.is_empty())
}

/// Name, purpose, core value and constraints of the project.
fn project(text: &str) -> Option<String> {
    let document = Markdown::parse(text);
    let part = |title: &str| part(text, title);
    let title = document.headings().find(|heading| heading.level == 1).map(|heading| heading.title.trim());
    let title = title.filter(|title| !title.is_empty()).map(|title| format!("**Project:** {title}"));
    let value = part("Core Value").map(|value| format!("**Core Value:** {value}"));
    let constraints = part("Constraints").map(|constraints| format!("### Constraints\n\n{constraints}"));
    let parts: Vec<String> = [title, part("What This Is"), value, constraints].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// A table of the project's own skills.
fn skills(view: &ProjectView) -> Result<Option<String>, Failure> {
    let (mut rows, mut told_names) = (Vec::new(), BTreeSet::new());
    for root in skill_manifest::roots()?.into_iter().filter(skill_manifest::Root::is_in_project) {
        for folder in view.folder_names(&root.path)? {
            let file = format!("{}/{folder}/SKILL.md", root.path);
            let Some(text) = view.text(&file)? else { continue };
            let front = FrontMatter::parse(&text);
            let told = |key: &str| front.as_ref().and_then(|front| front.text(key)).unwrap_or_default();
            let name = Some(told("name")).filter(|name| !name.trim().is_empty()).unwrap_or(folder);
            // The host lists those of the workflow system itself. A skill in several folders is listed once, from the
            // first of them.
            if !skill_manifest::is_ours(&name) && told_names.insert(name.clone()) {
                rows.push(format!("| {} | {} | `{file}` |", cell(&name), cell(&told("description"))));
            }
        }
    }
    Ok((!rows.is_empty()).then(|| format!("| Skill | Description | Path |\n|---|---|---|\n{}", rows.join("\n"))))
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const FILE: &str = "RULES.md";

    fn made(files: &[(&str, &str)], careful: bool, force: bool) -> (InstructionsReport, String) {
        let view = ProjectView::of(files.iter().copied());
        let request = InstructionsRequest { prefix: "/gsd-", careful, force };
        let (report, mut edits) = generate(&view, FILE, request).unwrap();
        let before = view.text(FILE).unwrap().map(|text| text.to_string()).unwrap_or_default();
        (report, edits.texts.remove(FILE).unwrap_or(before))
    }

    const PROJECT: (&str, &str) =
        (".planning/PROJECT.md", "# Acme\n\n## What This Is\n\nNotes.\n\n## Core Value\n\nNever lost.\n");

    #[test]
    fn the_texts_parse_and_name_each_section_once() {
        let texts = texts().unwrap();
        let mut names: Vec<&str> = texts.section.iter().map(|section| section.name.as_str()).collect();
        names.push(&texts.profile.name);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(texts.section.iter().all(|section| section.body.is_some() || section.filler.is_some()));
    }

    #[test]
    fn sections_follow_from_documents_and_others_are_left_out() {
        let stack = (
            ".planning/codebase/STACK.md",
            "# Stack\n\nprose\n\n## Languages\n- Rust\n\n```\n- code\n```\n\n## Tools\n",
        );
        let skill = (".agents/skills/one/SKILL.md", "---\nname: one\ndescription: a | b\n---\n");
        let (report, text) = made(&[PROJECT, stack, skill], false, false);
        assert_eq!(report.sections_generated, ["project", "stack", "skills", "workflow"]);
        assert_eq!(report.sections_fallback, ["conventions", "architecture"]);
        assert_eq!((report.action, report.profile_status), (FileAction::Created, ProfileStatus::Skipped));
        assert!(
            text.contains("**Project:** Acme\n\nNotes.\n\n**Core Value:** Never lost.\n<!-- GSD:project-end -->"),
            "{text}"
        );
        assert!(text.contains("<!-- GSD:stack-start source:codebase/STACK.md -->"), "{text}");
        assert!(text.contains("### Languages\n\n- Rust\n\n```\n- code\n```\n<!-- GSD:stack-end -->"), "{text}");
        assert!(!text.contains("conventions") && !text.contains("profile"), "{text}");
        assert!(text.contains("| one | a \\| b | `.agents/skills/one/SKILL.md` |"), "{text}");
        assert!(!text.contains("{prefix}") && text.contains("`/gsd-quick`"), "{text}");
        assert!(report.message.starts_with("Generated 4/6 sections. Nothing to say yet: conventions, architecture."));
    }

    #[test]
    fn filler_of_earlier_versions_is_removed_and_a_written_profile_stays() {
        let texts = texts().unwrap();
        let old = |name: &str, section: &SectionText, body: &str| {
            format!("<!-- GSD:{name}-start -->\n\n## {}\n\n{}\n<!-- GSD:{name}-end -->\n", section.heading, body.trim())
        };
        let mut file = "# Mine\n".to_owned();
        for section in texts.section.iter().filter(|section| section.filler.is_some()) {
            let filler = section.filler.as_deref().unwrap().replace("{prefix}", "/gsd-");
            file = format!("{file}\n{}", old(&section.name, section, &filler));
        }
        let filler = texts.profile.filler.as_deref().unwrap();
        let with_profile = |body: &str| format!("{file}\n{}\nend\n", old("profile", &texts.profile, body));
        for careful in [false, true] {
            let (report, text) = made(&[(FILE, &with_profile(filler))], careful, false);
            assert!(text.starts_with("# Mine\n") && text.contains("end\n"), "{text}");
            let parts: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
            assert_eq!((parts, report.sections_skipped.len()), (vec!["## GSD Workflow Enforcement"], 0), "{text}");
            let (report, text) = made(&[(FILE, &with_profile("> Likes tests."))], careful, false);
            assert!(report.profile_status == ProfileStatus::Exists && text.contains("Likes tests."), "{text}");
        }
    }

    #[test]
    fn text_outside_the_sections_stays() {
        let (_, text) = made(&[PROJECT], false, false);
        let mine = format!("# Mine\r\n{}\r\nown text", text.replace('\n', "\r\n").replace("Notes.", "By hand."));
        let (report, again) = made(&[PROJECT, (FILE, &mine)], false, false);
        assert_eq!(report.action, FileAction::Updated);
        assert_eq!(again, mine.replace("By hand.", "Notes."));
        let (report, careful) = made(&[PROJECT, (FILE, &mine)], true, false);
        assert_eq!((report.sections_skipped, careful), (vec!["project".to_owned()], mine));
        let (report, same) = made(&[PROJECT, (FILE, &text)], false, false);
        assert_eq!((report.action, same), (FileAction::Unchanged, text));
    }

    #[test]
    fn a_file_without_our_sections_is_left_alone_unless_forced() {
        let own = "# Mine\n\nrules\n";
        let (report, text) = made(&[PROJECT, (FILE, own)], false, false);
        assert_eq!((report.action, text.as_str()), (FileAction::Skipped, own));
        let (report, text) = made(&[PROJECT, (FILE, own)], false, true);
        assert!(report.action == FileAction::Updated && text.starts_with(own), "{text}");
    }

    #[test]
    fn without_our_sections_only_the_text_of_the_person_is_left() {
        let (_, made) = made(&[PROJECT], false, false);
        assert_eq!(without_parts(&made).trim(), "");
        let mine = format!("# Mine\r\n\r\n{}\r\nrules\r\n", made.replace('\n', "\r\n"));
        assert_eq!(without_parts(&mine).split_whitespace().collect::<Vec<_>>(), ["#", "Mine", "rules"]);
        let open = "a\n<!-- GSD:project-start -->\nb\n";
        assert_eq!(without_parts(open), open);
    }

    #[test]
    fn a_section_that_is_not_closed_is_an_error() {
        let files = MemoryFiles::new([(FILE, "<!-- GSD:project-start source:PROJECT.md -->\nx\n")]);
        let view = files.view();
        let request = InstructionsRequest { prefix: "/", careful: false, force: true };
        assert!(generate(&view, FILE, request).unwrap_err().message.contains("cannot be edited: "));
    }
}
