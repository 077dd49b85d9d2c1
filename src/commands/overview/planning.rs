//! `planning inspect`: the whole project as data.

use crate::frame::verbs;

verbs! {
    "Project";
    groups { "planning": "Show the whole project as data"; }

    use crate::peer::phases::INSPECT;
}
