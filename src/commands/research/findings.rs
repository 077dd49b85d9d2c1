//! Research findings: decides which provider to ask, and stores the results. Nothing here uses the network.

use crate::acts::files::{self, file_not_found};
use crate::acts::research::findings::{kept, put};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::research::findings::{self, FindingKey, ResearchFinding, ResearchQuestions, Sureness};

verbs! {
    "Research findings";
    groups { "research-store": "Add research findings and show them"; }

    /// Show which research questions are answered and where to ask the others
    ///
    /// Reads saved findings. For each question without one, names the provider to use. Does not use the network.
    ///
    /// Example: `gsd-tools research-plan --input questions.json --pick items[0].fetch.provider`.
    "research-plan": reads json(findings::PlanReport) = plan(PlanArgs);

    /// Show the saved finding of a key
    ///
    /// Example: `gsd-tools research-store get 1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441 --pick hit`.
    "research-store get": reads json(findings::KeptReport) = get(GetArgs);

    /// Add a finding to the research store, or replace it
    ///
    /// Writes to the project, or to `~/.gsd/research-cache` if the source is `curated`; an agent cannot do the latter.
    ///
    /// Example: `gsd-tools research-store put 1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441 --content "Hooks run in order." --source https://example.com --provider context7 --confidence HIGH --kind docs`.
    "research-store put": writes json(ResearchFinding) = keep(PutArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// A JSON file with a list `questions`, each with `text`, `kind` and, for a library, `library` and `version`
    #[arg(long, value_name = "FILE")]
    input: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// The key that `research-plan` prints
    key: FindingKey,
    /// The kind of question; the key already contains it
    #[arg(long, hide = true)]
    kind: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PutArgs {
    /// The key that `research-plan` prints
    key: FindingKey,
    /// The text of the finding
    #[arg(long)]
    content: String,
    /// The address of the source, or `curated` for findings that apply to every project
    #[arg(long)]
    source: String,
    /// The provider that found it, such as `context7`
    #[arg(long)]
    provider: String,
    /// The confidence: `HIGH`, `MEDIUM` or `LOW`
    #[arg(long)]
    confidence: Sureness,
    /// The kind of question, such as `docs`
    #[arg(long)]
    kind: String,
}

fn get(context: &mut Context, arguments: &GetArgs) -> Result<(), Failure> {
    context.emit(&kept(context, &arguments.key)?)
}

fn plan(context: &mut Context, PlanArgs { input }: &PlanArgs) -> Result<(), Failure> {
    let path = context.here().resolve(input);
    let text = files::read(context, &path)?.ok_or_else(|| file_not_found(&path, context.here()))?;
    let questions = ResearchQuestions::parse(&text).map_err(|error| {
        Failure::usage(format!("cannot read questions from `{path}`: {error}"))
            .hint("write `{\"questions\": [{\"text\": \"...\", \"kind\": \"docs\"}]}`")
    })?;
    let config = context.config()?;
    let has_service = |service: &str| match config.written(service) {
        // A page reader that needs no key is available unless it is disabled.
        None => service == "jina",
        Some(_) => config.flag(service) || config.text(service).is_some(),
    };
    context.emit(&findings::plan(questions, has_service, |key| kept(context, key))?)
}

fn keep(context: &mut Context, arguments: &PutArgs) -> Result<(), Failure> {
    let finding = ResearchFinding {
        content: arguments.content.clone(),
        source: arguments.source.clone(),
        provider: arguments.provider.clone(),
        confidence: arguments.confidence.word().to_owned(),
        fetched_at: context.world().now().to_string(),
        ttl: 0,
        kind: arguments.kind.clone(),
    }
    .held_for_its_source();
    put(context, &arguments.key, &finding)?;
    context.emit(&finding)
}
