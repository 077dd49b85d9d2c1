//! The text that an agent is given for a unit.
