//! Desired against actual: installing, uninstalling, status.
