//! The fix for a missing document, if the verb that needs it does not know the rest of the project.

use super::Context;
use crate::operations::hints::NO_ROADMAP;
use crate::operations::state::NO_STATE_CURE;
use crate::project::next::{Around, Next};
use crate::project::up_next::UpNext;

impl Context {
    /// `text` with a fix that works: a STATE.md cannot be created without a roadmap, and a roadmap in a workstream is
    /// not lost. `None` if the text has no such fix, or has the right one.
    pub(super) fn cured(&self, text: &str) -> Option<String> {
        let found: Vec<&str> = [NO_STATE_CURE, NO_ROADMAP].into_iter().filter(|cure| text.contains(cure)).collect();
        if found.is_empty() {
            return None;
        }
        let next = Next::of(&self.view(), &Around::default()).ok()?;
        let is_better = |cure: &str| match &next {
            Next::ChooseWorkstream(_) => true,
            Next::Documents(UpNext::NoRoadmap | UpNext::NoMilestone) => cure == NO_STATE_CURE,
            _ => false,
        };
        let prefix = self.command_prefix().ok()?;
        let call = next.call(|_| true).typed(|name| format!("{prefix}{name}"));
        let better = format!("{}: `{call}`", next.why());
        let better_in = |text: String, cure: &&str| text.replace(*cure, &better);
        let wrong: Vec<&str> = found.into_iter().filter(|cure| is_better(cure)).collect();
        (!wrong.is_empty()).then(|| wrong.iter().fold(text.to_owned(), better_in))
    }
}
