//! Native hooks: one process per event.
