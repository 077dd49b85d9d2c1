//! Research: what findings are worth. Nothing here uses the network.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Family};
use crate::operations::confidence::{Finding, classify};

const KEY: &str = "BRAVE_API_KEY";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Research {
    /// Tell how far a finding can be trusted, by where it comes from
    ///
    /// Example: `gsd-tools classify-confidence --provider websearch --verified --pick confidence` prints `MEDIUM`.
    ClassifyConfidence(ConfidenceArgs),
    /// Tell whether this program can search the web, which it cannot
    ///
    /// Example: `gsd-tools websearch "query" --pick available` prints `false`.
    Websearch(SearchArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfidenceArgs {
    /// Who found it, such as `context7` or `websearch`
    #[arg(long)]
    provider: String,
    /// The package it is about
    #[arg(long, requires = "ecosystem")]
    package: Option<String>,
    /// Where the package is published
    #[arg(long, value_parser = ["npm", "pypi", "crates"], requires = "package")]
    ecosystem: Option<String>,
    /// It was held against its source
    #[arg(long)]
    verified: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to search for
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    query: Vec<String>,
}

impl Family for Research {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::ClassifyConfidence(arguments) => {
                if arguments.package.is_some() {
                    context.warn("whether the package is what it says it is was not looked up: no network is used");
                }
                context.emit(&classify(Finding {
                    provider: &arguments.provider,
                    package: arguments.package.as_deref(),
                    ecosystem: arguments.ecosystem.as_deref(),
                    verified: arguments.verified,
                }))
            }
            Self::Websearch(_) => websearch(context),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchReport {
    available: bool,
    reason: String,
}

fn websearch(context: &mut Context) -> Result<(), CommandError> {
    let reason = match context.world().variable(KEY) {
        None => format!("{KEY} not set"),
        Some(_) => "gsd-tools uses no network; search with a tool of the host".to_owned(),
    };
    context.emit(&SearchReport { available: false, reason })
}
