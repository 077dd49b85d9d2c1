//! How a person likes to work: asks, and writes a profile into files that agents read.

use crate::acts::files;
use crate::acts::hosts;
use crate::commands::documents::file_not_found;
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::person::profile;
use crate::operations::person::profile::{Analysis, PreferencesReport, ProfileReport, SectionAction, SectionReport};
use crate::runtime::{PlaceAnchor, PlaceItem, Scope};
use crate::text::fragment::Marked;

/// The command that loads the preferences, without the common prefix of commands.
const PREFERENCES: &str = "dev-preferences";

verbs! {
    "Profile";

    /// Print a questionnaire about how you work, or analyse the answers
    ///
    /// Without `--answers`, prints the questions. With them, prints the analysis that `write-profile` reads.
    ///
    /// Example: `gsd-tools profile-questionnaire --answers a,b,c,d,a,b,c,d > analysis.json`.
    "profile-questionnaire": reads json(profile::Questionnaire, profile::Answers) = questionnaire(QuestionnaireArgs);

    /// Write a user profile from an analysis
    ///
    /// Secrets in quoted messages are removed. Writes `gsd-core/USER-PROFILE.md` in the config directory of the host.
    ///
    /// Example: `gsd-tools write-profile --input analysis.json --pick profile_path`.
    "write-profile": acts json(ProfileReport) = write(WriteArgs);

    /// Create a command that loads your preferences into a session
    ///
    /// Example: `gsd-tools generate-dev-preferences --analysis analysis.json --pick command_name`.
    "generate-dev-preferences": acts json(PreferencesReport) = preferences(PreferencesArgs);

    /// Add your profile to an instruction file, such as CLAUDE.md
    ///
    /// Replaces the section between the profile markers; the rest of the file does not change.
    ///
    /// Example: `gsd-tools generate-claude-profile --analysis analysis.json --global`.
    "generate-claude-profile": acts json(SectionReport) = section(SectionArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuestionnaireArgs {
    /// A letter for each question, separated by commas
    #[arg(long)]
    answers: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// The JSON file with the analysis
    #[arg(long)]
    input: NonBlank,
    /// Write the profile to this file instead of the host's config directory
    #[arg(long)]
    output: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PreferencesArgs {
    /// The JSON file with the analysis
    #[arg(long)]
    analysis: NonBlank,
    /// Write the command to this file instead of the host's config directory
    #[arg(long)]
    output: Option<String>,
    /// More preferences for the command, such as preferred tools
    #[arg(long)]
    stack: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SectionArgs {
    /// The JSON file with the analysis
    #[arg(long)]
    analysis: NonBlank,
    /// Write to this instruction file instead of the project's
    #[arg(long)]
    output: Option<String>,
    /// Write to the host's global instruction file, for all projects
    #[arg(long, conflicts_with = "output")]
    global: bool,
}

fn questionnaire(context: &mut Context, arguments: &QuestionnaireArgs) -> Result<(), Failure> {
    let Some(answers) = &arguments.answers else { return context.emit(&profile::questionnaire()) };
    let now = context.world().now().to_string();
    let analysis = profile::answers(answers, &now)?;
    context.emit(&analysis)
}

fn write(context: &mut Context, arguments: &WriteArgs) -> Result<(), Failure> {
    let analysis = analysis(context, &arguments.input)?;
    let path = match &arguments.output {
        Some(path) => files::output(context, context.root().resolve(path))?,
        None => AbsolutePath::parse(hosts::home(context)?.root)?.resolve("gsd-core").resolve("USER-PROFILE.md"),
    };
    let (page, sensitive_redacted) = profile::profile(&analysis, &context.world().now().to_string());
    put(context, &path, page)?;
    if sensitive_redacted > 0 {
        context.tell(format!("Removed {sensitive_redacted} secrets from quoted messages."));
    }
    context.emit(&ProfileReport {
        profile_path: path.to_string(),
        dimensions_scored: analysis.included().len(),
        high_confidence: profile::counted(&analysis, "HIGH"),
        medium_confidence: profile::counted(&analysis, "MEDIUM"),
        low_confidence: profile::counted(&analysis, "LOW"),
        sensitive_redacted,
        source: analysis.source,
    })
}

fn preferences(context: &mut Context, arguments: &PreferencesArgs) -> Result<(), Failure> {
    let analysis = analysis(context, &arguments.analysis)?;
    let path = match &arguments.output {
        Some(path) => files::output(context, context.root().resolve(path))?,
        None => usual_command(context)?,
    };
    let name = format!("gsd-{PREFERENCES}");
    let now = context.world().now().to_string();
    put(context, &path, profile::preferences(&analysis, &name, arguments.stack.as_deref(), &now))?;
    context.emit(&PreferencesReport {
        command_path: path.to_string(),
        command_name: format!("{}{PREFERENCES}", context.command_prefix()?),
        dimensions_included: analysis.included(),
        source: analysis.source,
    })
}

/// The path of a user's command on the current host, written in Markdown.
fn usual_command(context: &Context) -> Result<AbsolutePath, Failure> {
    let home = hosts::home(context)?;
    let descriptor = context.host()?.descriptor.as_ref();
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

fn section(context: &mut Context, arguments: &SectionArgs) -> Result<(), Failure> {
    let analysis = analysis(context, &arguments.analysis)?;
    let path = match &arguments.output {
        Some(path) => files::output(context, context.root().resolve(path))?,
        None if arguments.global => {
            let file = context.host()?.descriptor.as_ref().map(|descriptor| descriptor.instruction_file.clone());
            AbsolutePath::parse(hosts::home(context)?.root)?.resolve(file.unwrap_or_default())
        }
        None => context.root().resolve(crate::commands::documents::instructions::usual_file(context)?),
    };
    let body = profile::section(&analysis);
    let marked = Marked::new("<!-- GSD:profile-start -->", "<!-- GSD:profile-end -->");
    let action = files::edit(context, &path, |text| {
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
    context.emit(&SectionReport {
        claude_md_path: path.to_string(),
        action,
        dimensions_included: analysis.included(),
        is_global: arguments.global,
    })
}

/// The analysis in the file at `path`.
fn analysis(context: &Context, path: &str) -> Result<Analysis, Failure> {
    let file = context.root().resolve(path);
    let text = disk::read_text(&file)?;
    let text = text.ok_or_else(|| file_not_found(&file, context.root()))?;
    Analysis::parse(&text)
}

/// Writes a page that belongs entirely to us.
fn put(context: &Context, path: &AbsolutePath, page: String) -> Result<(), Failure> {
    files::edit(context, path, |text| Ok(((), Some(page).filter(|page| text != Some(page.as_str())))))
}
