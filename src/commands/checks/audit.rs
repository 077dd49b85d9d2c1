//! Open items: everything that is open at the close of a milestone, and the tests of people.

use crate::acts::writing;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::audit::{self, AcknowledgedItem, Category};

verbs! {
    "Audits";

    /// List everything still open before a milestone is completed
    ///
    /// Reads debug sessions, quick tasks, threads, todos, seeds, UAT and verification gaps, open questions and deferred
    /// items. Acknowledged items are counted separately. Changes nothing.
    ///
    /// Example: `gsd-tools audit-open --json --pick counts.total`.
    "audit-open": reads json(audit::open::OpenReport) = open(OpenArgs);

    /// Record that an open item is known and may stay open
    ///
    /// Writes the decision into the item's own file, so that `audit-open` no longer lists it. If the item's status
    /// changes later, it is listed again. The flag that names the item depends on `--category`: `--slug` for debug
    /// sessions and threads, `--seed-id` for seeds, `--filename` for todos, `--dir` for quick tasks, `--phase` with
    /// `--file` or `--text` for everything in a phase.
    ///
    /// Example: `gsd-tools audit-open acknowledge --category todos --milestone v1.0 --filename add-tags.md`.
    "audit-open acknowledge": writes json(audit::acknowledge::AcknowledgeReport) = acknowledge(AcknowledgeArgs);

    /// List the acceptance tests and checks that have not passed yet
    ///
    /// Reads the UAT and verification reports of all phases.
    ///
    /// Example: `gsd-tools audit-uat --pick summary.total_items`.
    "audit-uat": reads json(audit::uat::UatAuditReport) = audit_uat();
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct OpenArgs {
    /// Print JSON instead of a page
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AcknowledgeArgs {
    /// The kind of item: `debug_sessions`, `quick_tasks`, `threads`, `todos`, `seeds`, `uat_gaps`, `verification_gaps`,
    /// `context_questions` or `deferred_items`
    #[arg(long, value_parser = category)]
    category: Category,
    /// The milestone that is completed with the item still open, such as `v1.0`
    #[arg(long)]
    milestone: String,
    /// The date of the decision (default: today)
    #[arg(long)]
    at: Option<String>,
    /// The phase that has the item
    #[arg(long)]
    phase: Option<String>,
    /// The file in the folder of the phase
    #[arg(long)]
    file: Option<String>,
    /// The milestone that archived the phase, for a phase that is archived
    #[arg(long)]
    archived_milestone: Option<String>,
    /// The name of the debug session or thread, without `.md`
    #[arg(long)]
    slug: Option<String>,
    /// The seed, such as `SEED-001-collab`
    #[arg(long)]
    seed_id: Option<String>,
    /// The folder of the quick task
    #[arg(long)]
    dir: Option<String>,
    /// The file of the todo
    #[arg(long)]
    filename: Option<String>,
    /// The text of the deferred item
    #[arg(long)]
    text: Option<String>,
}

fn category(word: &str) -> Result<Category, String> {
    Category::ALL.into_iter().find(|category| category.word() == word).ok_or_else(|| {
        let words: Vec<&str> = Category::ALL.into_iter().map(Category::word).collect();
        format!("the categories are {}", words.join(", "))
    })
}

fn audit_uat(context: &mut Context) -> Result<(), Failure> {
    context.refuses_a_person_without_a_project()?;
    let report = audit::uat(&context.view())?;
    let verify = format!("{}verify-work", context.command_prefix()?);
    context.show(&report, |screen| report.shown(screen, &verify))
}

fn open(context: &mut Context, OpenArgs { json }: &OpenArgs) -> Result<(), Failure> {
    let now = context.world().now().to_string();
    let report = audit::open(&context.view(), now)?;
    if *json {
        return context.emit(&report);
    }
    context.refuses_a_person_without_a_project()?;
    let page = if context.shows_to_a_person() { report.shown(context.screen()) } else { report.page() };
    context.text(page);
    Ok(())
}

fn acknowledge(context: &mut Context, arguments: &AcknowledgeArgs) -> Result<(), Failure> {
    let today = context.world().today();
    let target = AcknowledgedItem {
        category: arguments.category,
        milestone: &arguments.milestone,
        day: arguments.at.as_deref().unwrap_or(&today),
        slug: arguments.slug.as_deref(),
        seed: arguments.seed_id.as_deref(),
        folder: arguments.dir.as_deref(),
        todo: arguments.filename.as_deref(),
        phase: arguments.phase.as_deref(),
        file: arguments.file.as_deref(),
        text: arguments.text.as_deref(),
        archived_milestone: arguments.archived_milestone.as_deref(),
    };
    let report = context.write(writing::Target::Project, |view| audit::acknowledge(view, target))?;
    context.emit_raw(&report, "true")
}
