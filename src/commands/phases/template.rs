//! `template`: selects the template that fits a plan, and creates a file of a phase from a template.

use crate::acts::writing::Target;
use serde_json::Value;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::documents::frontmatter::{self, FieldChange};
use crate::operations::phases::template::{self, FillReport, Filling, Template};

verbs! {
    "Templates";
    groups { "template": "Create documents from templates"; }

    use crate::peer::plans::TEMPLATE_SELECT;

    /// Create a summary, plan or verification report from its template
    ///
    /// An existing file is not overwritten.
    ///
    /// Example: `gsd-tools template fill plan --phase 3 --plan 02 --wave 2 --fields '{"depends_on": ["03-01"]}'`.
    "template fill": writes json(FillReport) = fill(FillArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct FillArgs {
    /// `summary`, `plan` or `verification`
    template: String,
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: String,
    /// The number of the plan
    #[arg(long, default_value = "01")]
    plan: String,
    /// The name of the phase; default: the name in its folder
    #[arg(long)]
    name: Option<String>,
    /// The type of the plan, such as `tdd`
    #[arg(long = "type")]
    kind: Option<String>,
    /// The wave of the plan
    #[arg(long)]
    wave: Option<String>,
    /// Fields of the front matter, as a JSON object
    #[arg(long)]
    fields: Option<String>,
}

const FIELDS: &str = "write it as `--fields '{\"tags\": [\"api\"]}'`";

fn fill(context: &mut Context, arguments: &FillArgs) -> Result<(), Failure> {
    let Some(template) = Template::named(&arguments.template) else {
        return Err(Failure::usage(format!("unknown template `{}`", arguments.template))
            .hint("the templates are: summary, plan, verification"));
    };
    let fields = match arguments.fields.as_deref().map(serde_json::from_str) {
        None => Vec::new(),
        Some(Ok(Value::Object(fields))) => fields
            .iter()
            .map(|(key, value)| FieldChange { key: key.clone(), value: frontmatter::of_json(value) })
            .collect(),
        Some(Ok(_)) => return Err(Failure::usage("`--fields` is not a JSON object").hint(FIELDS)),
        Some(Err(error)) => {
            return Err(Failure::usage(format!("`--fields` is not valid JSON: {error}")).hint(FIELDS));
        }
    };
    let filling = Filling {
        phase: &arguments.phase,
        plan: &arguments.plan,
        name: arguments.name.as_deref(),
        kind: arguments.kind.as_deref(),
        wave: arguments.wave.as_deref(),
        fields,
        today: &context.world().today(),
        now: &context.world().now().to_string(),
    };
    let report = context.write(Target::Project, |view| template::fill(view, template, &filling))?;
    match &report {
        FillReport::Created { path, .. } => context.emit_raw(&report, path),
        FillReport::Exists { .. } | FillReport::NoPhase { .. } => context.emit(&report),
    }
}
