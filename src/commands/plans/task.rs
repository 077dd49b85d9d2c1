//! One task of a plan.

use crate::frame::verbs;

verbs! {
    "Tasks";
    groups { "task": "Check a task of a plan"; }

    use crate::peer::plans::IS_BEHAVIOR_ADDING;

    use crate::peer::plans::RESOLVE_CONTENT;
}
