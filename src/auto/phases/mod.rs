//! Projects in phases, below `.planning/`: a unit is a whole workflow of a phase, and what comes next is what every view
//! of the project shows as next.

pub(crate) mod position;
