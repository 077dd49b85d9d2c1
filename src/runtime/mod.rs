//! What we know about hosts, read from one TOML file per host. Facts only.
//!
//! A host is a program that runs agents. Nothing here knows the names of hosts: adding one adds a file to
//! `descriptors/` and no Rust. What we do with the facts is in [`crate::emit`].

mod check;
mod descriptor;
mod home;
#[cfg(test)]
mod made_up;
mod matrix;
mod plugin;
mod registry;
mod tables;

pub(crate) use descriptor::{
    AgentReach, AgentTools, ArgumentForm, Asking, Descriptor, Dispatch, EditForm, Encoding, Evidence, FileEdit,
    FileReach, Form, HostFile, HostFormat, IncludeForm, Isolation, LinePart, Place, PlaceAnchor, PlaceItem, Purpose,
    RuntimeId, Scalar, Scope, Spawn, StartCommit, VariableHolds,
};
pub(crate) use home::{Home, HomeError, Surroundings};
#[cfg(test)]
pub(crate) use made_up::{made_up, made_up_text};
pub(crate) use matrix::{Feature, Means};
pub(crate) use plugin::{PluginAgent, PluginForm, PluginsInUse};
pub(crate) use registry::{Registry, RegistryError, installed_for};
pub(crate) use tables::{Adapter, Dialect, EVENT_SCRIPT, EventName, HookForm, HookTable, TimeUnit};
