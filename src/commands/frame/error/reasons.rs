//! Which reason the errors of operations have, where a command adds none.

use std::error::Error;

use super::Reason;
use crate::operations::audit::acknowledge::AcknowledgeError;
use crate::operations::notes::todos::TodoError;
use crate::operations::phases::add::AddError;
use crate::operations::phases::remove::RemoveError;
use crate::operations::phases::scaffold::ScaffoldError;
use crate::project::workstream::WorkstreamNameError;

/// The reason of an error that one of the rooms made; none for a failure of the machine, and for those without a code.
pub(super) fn reason_of(error: &(dyn Error + 'static)) -> Option<Reason> {
    let reason = error.downcast_ref::<RemoveError>().and_then(|error| match error {
        RemoveError::NotFound { .. } | RemoveError::Ambiguous { .. } => Some(Reason::PhaseNotFound),
        RemoveError::Executed { .. } | RemoveError::Shipped { .. } => Some(Reason::Usage),
        _ => None,
    });
    let reason = reason.or_else(|| match error.downcast_ref::<AddError>()? {
        AddError::NoTarget { .. } | AddError::NoSection { .. } => Some(Reason::PhaseNotFound),
        AddError::Taken { .. } | AddError::NoName | AddError::Name(_) => Some(Reason::Usage),
        _ => None,
    });
    let reason = reason.or_else(|| match error.downcast_ref::<AcknowledgeError>()? {
        AcknowledgeError::NoPhase { .. } => Some(Reason::PhaseNotFound),
        AcknowledgeError::NoFlag { .. } | AcknowledgeError::NotAName { .. } => Some(Reason::Usage),
        _ => None,
    });
    let reason = reason.or_else(|| match error.downcast_ref::<TodoError>()? {
        TodoError::NotAName { .. } | TodoError::Missing { .. } | TodoError::Taken { .. } => Some(Reason::Usage),
        _ => None,
    });
    let reason = reason.or_else(|| match error.downcast_ref::<ScaffoldError>()? {
        ScaffoldError::NoPhase { .. } => Some(Reason::PhaseNotFound),
        ScaffoldError::File(_) => None,
        ScaffoldError::NoName | ScaffoldError::NotAPhase { .. } | ScaffoldError::Name(_) => Some(Reason::Usage),
    });
    reason.or_else(|| error.downcast_ref::<WorkstreamNameError>().map(|_| Reason::Usage))
}

#[cfg(test)]
mod tests {
    use super::super::CommandError;
    use super::*;

    #[test]
    fn errors_of_operations_have_the_reason_that_fits() {
        let reason = |error: CommandError| error.reason();
        let missing = RemoveError::NotFound { phase: "9".to_owned() };
        assert_eq!(reason(CommandError::from(missing)), Reason::PhaseNotFound);
        assert_eq!(reason(CommandError::from(TodoError::Missing { name: "a".to_owned() })), Reason::Usage);
        let ours = CommandError::because(Reason::ConfigNoFile, &AddError::NoName);
        assert_eq!(reason(ours), Reason::ConfigNoFile, "a command that gives a reason keeps it");
        assert_eq!(reason(CommandError::from(RemoveError::NoRoadmap)), Reason::Unknown);
    }
}
