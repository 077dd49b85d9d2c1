//! Configuration: reads and sets keys of `config.json`, creates the file, moves old keys.

use crate::acts::configured;
use crate::acts::user;
use crate::acts::writing::Target;
use serde_json::Value;

use super::settings;
use crate::failure::{Failure, Reason};
use crate::frame::{Context, verbs};
use crate::operations::documents::configuration::{self, CreateReport, NewFile};
use crate::project::config::{Setting, is_key};
use crate::project::view::{Edits, ProjectView};

verbs! {
    "Configuration";
    groups { "config": "List and explain configuration keys"; }

    /// List configuration keys with their values
    ///
    /// Shows each key that a file sets, with the file; `--all` adds the keys that have their defaults. The files are
    /// `config.json` of the workstream, `config.json` of the project and, if there is neither, `~/.gsd/defaults.json`.
    /// Preferences of `auto run` follow, from `.gsd/PREFERENCES.md` and `~/.gsd/PREFERENCES.md`, if the project has
    /// `.gsd/` or you have that file.
    ///
    /// Example: `gsd-tools config list workflow --all` lists the keys that begin with `workflow.`.
    "config list": reads json(settings::ListReport) = list(ConfigListArgs);

    /// Explain a configuration key or a preference of `auto run`
    ///
    /// Shows what the key does, the values it accepts, its default, its value and where that is set; of a preference also
    /// an example, and why a run refuses or ignores what is written.
    ///
    /// Example: `gsd-tools config explain workflow.research`.
    "config explain": reads json(settings::ExplainReport) = explain(ExplainArgs);

    /// Print the value of a configuration key
    ///
    /// Reads the workstream's `config.json`, then the project's. A key that is not set prints the value of `--default`,
    /// or its built-in default; a key with neither is an error.
    ///
    /// Example: `gsd-tools config-get workflow.research --default true --raw`.
    "config-get": reads json(Value) = get(ConfigGetArgs);

    /// Set a configuration key, or remove it with `null`
    ///
    /// Writes `.planning/config.json`. Unknown keys are refused, with the nearest known key as a hint. Keys that installed
    /// features add can be set too.
    ///
    /// Example: `gsd-tools config-set workflow.research false`.
    "config-set": writes json(configuration::SetReport) = set(ConfigSetArgs);

    /// Create `config.json` with the defaults if it is missing
    ///
    /// An existing file is not changed.
    ///
    /// Example: `gsd-tools config-ensure-section`.
    "config-ensure-section": writes json(CreateReport) = config_ensure_section();

    /// Create the configuration of a new project from JSON choices
    ///
    /// If the file exists, adds the missing keys and keeps the values that are set; `added` and `kept` list the keys.
    ///
    /// Example: `gsd-tools config-new-project '{"mode": "yolo", "granularity": "fine"}'`.
    "config-new-project": writes json(CreateReport) = config_new_project(ChoicesArgs);

    use crate::peer::small::CONFIG_PATH;

    use crate::peer::small::MIGRATE_CONFIG;
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigListArgs {
    /// Only this key, or the keys of this group, such as `workflow`
    key: Option<String>,
    /// Also list keys that no file sets
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The key, such as `workflow.research` or `verification_commands`
    key: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigGetArgs {
    /// The key, such as `workflow.research`
    key: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigSetArgs {
    /// The key, such as `workflow.research`
    key: String,
    /// The value: text, number, `true`, `false`, `null` or JSON
    #[arg(allow_negative_numbers = true)]
    value: String,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChoicesArgs {
    /// A JSON object with the values that differ from the defaults
    choices: Option<String>,
}

fn config_ensure_section(context: &mut Context) -> Result<(), Failure> {
    create(context, None, configuration::create)
}

fn config_new_project(context: &mut Context, arguments: &ChoicesArgs) -> Result<(), Failure> {
    create(context, arguments.choices.as_deref(), configuration::complete)
}

fn list(context: &mut Context, arguments: &ConfigListArgs) -> Result<(), Failure> {
    settings::list(context, arguments.all, arguments.key.as_deref())
}

fn explain(context: &mut Context, arguments: &ExplainArgs) -> Result<(), Failure> {
    settings::explain(context, &arguments.key)
}

fn get(context: &mut Context, arguments: &ConfigGetArgs) -> Result<(), Failure> {
    if context.default_value().is_none() {
        context.refuses_a_person_without_a_project()?;
    }
    let found = configuration::get(&context.view(), &arguments.key, context.default_value());
    if found.as_ref().is_err_and(|failure| matches!(failure.reason, Reason::ConfigKeyNotFound | Reason::ConfigNoFile))
        && context.shows_to_a_person()
        && is_key(&arguments.key)
        && let facts = settings::facts_of(context, &arguments.key)?
        && !facts.default.is_null()
    {
        context.text(format!("{} (default)\n", bare(&facts.default)));
        return Ok(());
    }
    let value = found?;
    let raw = bare(&value);
    context.say(&value, Some(&raw), |_| format!("{}\n", bare(&value)))
}

fn set(context: &mut Context, arguments: &ConfigSetArgs) -> Result<(), Failure> {
    let setting = if is_key(&arguments.key) {
        Setting::parse(&arguments.key, &arguments.value)?
    } else {
        configured::added(context, &arguments.key, &arguments.value)?
    };
    configured::knows_host(context, &setting)?;
    let report = if arguments.dry_run {
        context.needs_a_project()?;
        let (mut report, _) = configuration::set(&context.view(), &setting)?;
        report.updated = None;
        report.dry_run = Some(true);
        report.would_update = Some(true);
        report
    } else {
        context.write(Target::Project, |view| configuration::set(view, &setting))?
    };
    let mut raw = match setting.value {
        Some(_) => format!("{}={}", report.key, bare(&report.value)),
        None => format!("{} unset", report.key),
    };
    if arguments.dry_run {
        raw.push_str(" (dry run)");
    }
    let said = match (&setting.value, arguments.dry_run) {
        (Some(_), false) => format!("{} is now {}\n", report.key, bare(&report.value)),
        (Some(_), true) => format!("{} would be set to {}\n", report.key, bare(&report.value)),
        (None, false) => format!("{} is no longer set\n", report.key),
        (None, true) => format!("{} would be unset\n", report.key),
    };
    context.say(&report, Some(&raw), |_| said)
}

/// Creates the file of a new project with `operation`, which decides about an existing file.
fn create(
    context: &mut Context,
    choices: Option<&str>,
    operation: impl FnOnce(&ProjectView, NewFile<'_>) -> Result<(CreateReport, Edits), Failure>,
) -> Result<(), Failure> {
    context.start_a_project();
    let report =
        with_new_file(context, choices, |context, new| context.write(Target::Project, |view| operation(view, new)))?;
    let raw = match (report.created, report.added.is_empty()) {
        (true, _) => "created",
        (false, false) => "completed",
        (false, true) => "exists",
    };
    context.emit_raw(&report, raw)
}

/// Calls `act` with the values that a new project's file has here in addition to the initial ones.
pub(in crate::commands) fn with_new_file<T>(
    context: &mut Context,
    choices: Option<&str>,
    act: impl FnOnce(&mut Context, NewFile<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let personal = user::defaults(context.world())?;
    let services = configured::services(context);
    act(context, NewFile { services: &services, personal: personal.as_deref(), choices })
}

/// A value in the form for a shell.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
