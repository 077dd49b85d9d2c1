//! How a person likes to work: asks, and writes a profile into files that agents read.

use crate::acts::person::profile::{preferences, section, write};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::person::profile;

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
    "write-profile": acts json(profile::ProfileReport) = write_profile(WriteArgs);

    /// Create a command that loads your preferences into a session
    ///
    /// Example: `gsd-tools generate-dev-preferences --analysis analysis.json --pick command_name`.
    "generate-dev-preferences": acts json(profile::PreferencesReport) = write_preferences(PreferencesArgs);

    /// Add your profile to an instruction file, such as CLAUDE.md
    ///
    /// Replaces the section between the profile markers; the rest of the file does not change.
    ///
    /// Example: `gsd-tools generate-claude-profile --analysis analysis.json --global`.
    "generate-claude-profile": acts json(profile::SectionReport) = write_section(SectionArgs);
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

fn write_profile(context: &mut Context, WriteArgs { input, output }: &WriteArgs) -> Result<(), Failure> {
    context.emit(&write(context, input, output.as_deref())?)
}

fn write_preferences(context: &mut Context, arguments: &PreferencesArgs) -> Result<(), Failure> {
    let PreferencesArgs { analysis, output, stack } = arguments;
    context.emit(&preferences(context, analysis, output.as_deref(), stack.as_deref())?)
}

fn write_section(context: &mut Context, arguments: &SectionArgs) -> Result<(), Failure> {
    let SectionArgs { analysis, output, global } = arguments;
    context.emit(&section(context, analysis, output.as_deref(), *global)?)
}
