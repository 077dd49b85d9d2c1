//! Why a step needs an agent or a person.

use crate::failure::unexplained;
use crate::project::milestone_layout::record::RecordError;
use crate::project::milestone_layout::tick::TickError;
use crate::text::shell::typed;

/// Why nothing is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotEnough {
    #[error("`{document}` is missing")]
    NoDocument { document: String },
    #[error("the tasks {} of `{slice}` have no summary", listed(tasks))]
    NoTaskSummary { slice: String, tasks: Vec<String> },
    #[error(
        "the summaries of {} in `{slice}` name nothing: no `provides`, no `key_files`, no bold line",
        listed(tasks)
    )]
    SilentTasks { slice: String, tasks: Vec<String> },
    #[error("the summary of `{slice}` would have {characters} characters of the {least} it needs")]
    Thin { slice: String, characters: usize, least: usize },
    #[error("the roadmap cannot be ticked: {0}")]
    Roadmap(#[from] TickError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("the slices {} of `{milestone}` are done and have no summary", listed(slices))]
    NoSliceSummary { milestone: String, slices: Vec<String> },
    #[error("the slices {} of `{milestone}` are not done", listed(slices))]
    OpenSlices { milestone: String, slices: Vec<String> },
    #[error("the validation of `{milestone}` says {}, not `pass`", verdict.as_deref().map_or("nothing".to_owned(), |verdict| format!("`{verdict}`")))]
    NotValidated { milestone: String, verdict: Option<String> },
    #[error("the validation of `{milestone}` is an agent's and has no verdict")]
    Unclear { milestone: String },
}

unexplained!(NotEnough);

impl NotEnough {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Roadmap(error) => error.hint(),
            Self::Record(error) => error.hint(),
            Self::NoSliceSummary { milestone, slices } => {
                let first = slices.first().map_or("S01", String::as_str);
                format!("write the summaries: `{}`", typed!("gsd-tools auto dispatch complete {}/{}", milestone, first))
            }
            Self::NotValidated { milestone, .. } | Self::Unclear { milestone } => {
                format!("validate it with an agent: `{}`", typed!("gsd-tools auto dispatch validate {}", milestone))
            }
            _ => "let an agent do it: `gsd-tools auto run`".to_owned(),
        }
    }
}

fn listed(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
