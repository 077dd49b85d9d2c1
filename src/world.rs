//! The world outside that is not a file: environment, clock, processes, terminal.
