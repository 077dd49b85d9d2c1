//! What is written of how a person works: a profile, a command, and a section of an instruction file.

use crate::acts::agents::instructions;
use crate::acts::files::{self, file_not_found};
use crate::acts::{Call, hosts};
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::operations::person::profile::{
    self, Analysis, PreferencesReport, ProfileReport, SectionAction, SectionReport,
};
use crate::runtime::{PlaceAnchor, PlaceItem, Scope};
use crate::text::fragment::Marked;

/// The command that loads the preferences, without the common prefix of commands.
const PREFERENCES: &str = "dev-preferences";

/// Writes the profile of an analysis to `output`, else to the host's own folder.
pub(crate) fn write(call: &Call, input: &str, output: Option<&str>) -> Result<ProfileReport, Failure> {
    let analysis = analysis(call, input)?;
    let path = match output {
        Some(path) => files::output(call, call.root().resolve(path))?,
        None => AbsolutePath::parse(hosts::home(call)?.root)?.resolve("gsd-core").resolve("USER-PROFILE.md"),
    };
    let (page, sensitive_redacted) = profile::profile(&analysis, &call.world().now().to_string());
    put(call, &path, page)?;
    if sensitive_redacted > 0 {
        call.tell(format!("Removed {sensitive_redacted} secrets from quoted messages."));
    }
    Ok(ProfileReport {
        profile_path: path.to_string(),
        dimensions_scored: analysis.included().len(),
        high_confidence: profile::counted(&analysis, "HIGH"),
        medium_confidence: profile::counted(&analysis, "MEDIUM"),
        low_confidence: profile::counted(&analysis, "LOW"),
        sensitive_redacted,
        source: analysis.source,
    })
}

/// Writes a command that loads the preferences of an analysis; `stack` has more of them.
pub(crate) fn preferences(
    call: &Call,
    input: &str,
    output: Option<&str>,
    stack: Option<&str>,
) -> Result<PreferencesReport, Failure> {
    let analysis = analysis(call, input)?;
    let path = match output {
        Some(path) => files::output(call, call.root().resolve(path))?,
        None => usual_command(call)?,
    };
    let name = format!("gsd-{PREFERENCES}");
    let now = call.world().now().to_string();
    put(call, &path, profile::preferences(&analysis, &name, stack, &now))?;
    Ok(PreferencesReport {
        command_path: path.to_string(),
        command_name: format!("{}{PREFERENCES}", call.command_prefix()?),
        dimensions_included: analysis.included(),
        source: analysis.source,
    })
}

/// The path of a user's command on the current host, written in Markdown.
fn usual_command(call: &Call) -> Result<AbsolutePath, Failure> {
    let home = hosts::home(call)?;
    let descriptor = call.host()?.descriptor.as_ref();
    let place = descriptor.and_then(|descriptor| descriptor.place(PlaceItem::Command, Scope::Global));
    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the forms of descriptors are exact")]
    let place = place.filter(|place| place.path.ends_with(".md") && place.path.contains("{name}"));
    let place = place.ok_or_else(|| {
        Failure::usage("this host has no commands in Markdown").hint("choose a file with `--output FILE`")
    })?;
    let start = match &place.anchor {
        PlaceAnchor::Root => home.root,
        PlaceAnchor::Project => home.project,
        PlaceAnchor::Home(folder) => home.user.join(folder),
    };
    Ok(AbsolutePath::parse(start)?.resolve(place.path.replace("{name}", PREFERENCES)))
}

/// Puts the profile of an analysis into an instruction file: `output`, the user's own for all projects, or the project's.
pub(crate) fn section(
    call: &Call,
    input: &str,
    output: Option<&str>,
    is_global: bool,
) -> Result<SectionReport, Failure> {
    let analysis = analysis(call, input)?;
    let path = match output {
        Some(path) => files::output(call, call.root().resolve(path))?,
        None if is_global => {
            let file = call.host()?.descriptor.as_ref().map(|descriptor| descriptor.instruction_file.clone());
            AbsolutePath::parse(hosts::home(call)?.root)?.resolve(file.unwrap_or_default())
        }
        None => call.root().resolve(instructions::usual_file(call)?),
    };
    let body = profile::section(&analysis);
    let marked = Marked::new("<!-- GSD:profile-start -->", "<!-- GSD:profile-end -->");
    let action = files::edit(call, &path, |text| {
        let before = text.unwrap_or_default();
        let failed = |why| {
            Failure::new(Reason::Unknown, format!("cannot edit `{path}`: {why}"))
                .hint("correct the markers in the file, then run the command again; it was not changed")
        };
        let stands = marked.body(before).map_err(failed)?.is_some();
        let after = marked.put(before, &body).map_err(failed)?;
        let action = match (text, stands) {
            (None, _) => SectionAction::Created,
            (Some(text), _) if text == after => SectionAction::Unchanged,
            (Some(_), true) => SectionAction::Updated,
            (Some(_), false) => SectionAction::Appended,
        };
        Ok((action, Some(after).filter(|_| action != SectionAction::Unchanged)))
    })?;
    Ok(SectionReport { claude_md_path: path.to_string(), action, dimensions_included: analysis.included(), is_global })
}

/// The analysis in the file at `path`.
fn analysis(call: &Call, path: &str) -> Result<Analysis, Failure> {
    let file = call.root().resolve(path);
    let text = disk::read_text(&file)?;
    let text = text.ok_or_else(|| file_not_found(&file, call.root()))?;
    Analysis::parse(&text)
}

/// Writes a page that belongs entirely to us.
fn put(call: &Call, path: &AbsolutePath, page: String) -> Result<(), Failure> {
    files::edit(call, path, |text| Ok(((), Some(page).filter(|page| text != Some(page.as_str())))))
}
