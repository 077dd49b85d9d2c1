//! The documents of a project in milestones, slices and tasks, below `.gsd/`: read, changed and written.
