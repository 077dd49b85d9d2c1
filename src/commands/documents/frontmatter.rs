//! Front matter of Markdown files: reads, sets, merges, checks.

use crate::acts::files;
use crate::acts::writing::{Beside, Target};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::disk;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::documents::frontmatter::{self, Changed, FieldChange, Schema};
use crate::text::front_matter::is_unclosed;
use crate::text::shell::typed;

verbs! {
    "Front matter";
    groups { "frontmatter": "Show and update the front matter of a Markdown file"; }

    /// Print the front matter of a file, or one of its fields
    ///
    /// All values are printed as strings.
    ///
    /// Example: `gsd-tools frontmatter get 02-01-PLAN.md --field wave --raw` prints `"1"`.
    "frontmatter get": reads json(
        std::collections::BTreeMap<String, crate::text::front_matter::Value>,
        crate::peer::answers::MissingFile,
        crate::peer::answers::NoField,
        crate::text::front_matter::Value
    ) = get(FrontmatterGetArgs);

    /// Set one front matter field of a file
    ///
    /// Every other byte of the file stays the same. The value `null` removes the field. A file without front matter
    /// gets one. An agent can only change files of the project.
    ///
    /// Example: `gsd-tools frontmatter set 02-01-PLAN.md --field depends_on --value '["01"]'`.
    "frontmatter set": writes json(crate::peer::answers::MissingFile, crate::peer::answers::NoField, FieldSetReport) = set(FrontmatterSetArgs);

    /// Set several front matter fields from a JSON object
    ///
    /// Every other byte of the file stays the same. A value of `null` removes its field. An agent can only change files of
    /// the project.
    ///
    /// Example: `gsd-tools frontmatter merge 02-01-PLAN.md --data '{"wave": 2, "autonomous": false}'`.
    "frontmatter merge": writes json(crate::peer::answers::MissingFile, MergeReport) = merge(MergeArgs);

    /// Check that a file has the front matter fields of its kind
    ///
    /// Example: `gsd-tools frontmatter validate 02-01-PLAN.md --schema plan --raw` prints `valid`.
    "frontmatter validate": reads json(frontmatter::FrontmatterValidateReport) = validate(ValidateArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct FrontmatterGetArgs {
    /// The file, relative to the current folder
    file: String,
    /// Print only this field
    #[arg(long)]
    field: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FrontmatterSetArgs {
    /// The file, relative to the current folder
    file: String,
    /// The name of the field
    #[arg(long)]
    field: String,
    /// The value: text, number, `true`, `false`, `null` or JSON
    #[arg(long)]
    value: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The file, relative to the current folder
    file: String,
    /// The fields to set, as a JSON object
    #[arg(long)]
    data: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The file, relative to the current folder
    file: String,
    /// The kind of file: `plan`, `plan-gap-closure`, `summary` or `verification`
    #[arg(long)]
    schema: String,
}

/// Whether the first line after the dashes is a key: a rule of dashes above a text does not begin front matter.
fn begins_with_a_key(text: &str) -> bool {
    let mut lines = text.lines().skip(1).take_while(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.any(|line| {
        let key = line.split_once(':').map(|(key, rest)| (key.trim(), rest));
        key.is_some_and(|(key, rest)| {
            let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '"' | '\'');
            !key.is_empty() && key.chars().all(is_name) && (rest.is_empty() || rest.starts_with([' ', '\t']))
        })
    })
}

fn get(context: &mut Context, arguments: &FrontmatterGetArgs) -> Result<(), Failure> {
    let file = &arguments.file;
    let text = files::text_from_here(context, file)?.ok_or_else(|| files::not_there(file))?;
    if is_unclosed(&text) && begins_with_a_key(&text) {
        context.warn(format!("the front matter of `{file}` is opened and never closed, so that nothing in it counts"));
    }
    let fields = frontmatter::read(&text);
    let Some(field) = &arguments.field else { return context.emit(&fields) };
    let value = fields.get(field).ok_or_else(|| {
        let unknown = Failure::usage(format!("the front matter of `{file}` has no field `{field}`"));
        let unknown = unknown.hint(format!("`{}` lists its fields", typed!("gsd-tools frontmatter get {}", file)));
        unknown.answered_about("Field not found", "field", field)
    })?;
    let raw = format!("{:#}", serde_json::to_value(value)?);
    context.emit_raw(&std::collections::BTreeMap::from([(field, value)]), raw)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct FieldSetReport<'a> {
    updated: bool,
    field: &'a str,
    value: Value,
}

fn set(context: &mut Context, arguments: &FrontmatterSetArgs) -> Result<(), Failure> {
    let (told, value) = frontmatter::typed(&arguments.value);
    let changes = [FieldChange { key: arguments.field.clone(), value }];
    match change(context, &arguments.file, &changes)? {
        Changed::Done => {
            context.emit_raw(&FieldSetReport { updated: true, field: &arguments.field, value: told }, "true")
        }
        refused => Err(refusal(&arguments.file, &refused)),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct MergeReport<'a> {
    merged: bool,
    fields: Vec<&'a str>,
}

fn merge(context: &mut Context, arguments: &MergeArgs) -> Result<(), Failure> {
    // A script that looks for a file learns that it is missing, whatever it would write.
    if files::text_from_here(context, &arguments.file)?.is_none() {
        return Err(files::not_there(&arguments.file));
    }
    let data = match serde_json::from_str(&arguments.data) {
        Ok(Value::Object(data)) => data,
        Ok(_) => return Err(not_fields("`--data` is not a JSON object".to_owned())),
        Err(error) => return Err(not_fields(format!("`--data` is not valid JSON: {error}"))),
    };
    let changes: Vec<FieldChange> =
        data.iter().map(|(key, value)| FieldChange { key: key.clone(), value: frontmatter::of_json(value) }).collect();
    match change(context, &arguments.file, &changes)? {
        Changed::Done => {
            let fields = data.keys().map(String::as_str).collect();
            context.emit_raw(&MergeReport { merged: true, fields }, "true")
        }
        refused => Err(refusal(&arguments.file, &refused)),
    }
}

fn not_fields(message: String) -> Failure {
    Failure::usage(message).hint("`gsd-tools frontmatter merge --help` shows an example")
}

fn change(context: &Context, file: &str, changes: &[FieldChange]) -> Result<Changed, Failure> {
    let told = |failure: Failure| failure.hint("correct it, then run the command again; the file was not changed");
    let path = context.here().resolve(file);
    if path.relative_to(context.root()).is_some() {
        let (target, path) = files::target(context, file)?;
        return context.write(target, |view| frontmatter::change(view, &path, changes).map_err(told));
    }
    files::hold_agents_to_project(context, file)?;
    // No lock is needed if nothing is written.
    if files::read(context, &path)?.is_none() {
        return Ok(Changed::NoFile);
    }
    context.write(Target::Beside(path.parent()), |_| {
        let before = files::read(context, &path)?;
        let (outcome, edited) = frontmatter::changed(file, before.as_deref(), changes).map_err(told)?;
        let beside = edited.map(|after| Beside { path: path.clone(), before, after: Some(after) });
        Ok((outcome, beside.into_iter().collect::<Vec<_>>()))
    })
}

/// Why nothing was changed.
fn refusal(file: &str, refused: &Changed) -> Failure {
    const FLAT: &str = "the field is a list of maps and the new value is not; pass the maps as JSON, or edit the file";
    match refused {
        Changed::WouldFlatten { key } => Failure::usage(FLAT).answered_about(FLAT, "field", key),
        Changed::NoFile | Changed::Done => files::not_there(file),
    }
}

fn validate(context: &mut Context, arguments: &ValidateArgs) -> Result<(), Failure> {
    let schema = Schema::named(&arguments.schema).map_err(|error| {
        Failure::usage(error.to_string()).hint("`gsd-tools frontmatter validate --help` lists the schemas")
    })?;
    let file = &arguments.file;
    let text = files::text_from_here(context, file)?.ok_or_else(|| files::not_there(file))?;
    let report =
        frontmatter::validate(&arguments.file, &text, schema, |file| disk::is_file(context.root().resolve(file)));
    context.emit_raw(&report, if report.valid { "valid" } else { "invalid" })
}
