//! Facts about hosts, read from one TOML file per host. Nothing but facts.
//!
//! A host is a program that runs agents. The code here does not contain names of hosts: adding one adds a file to
//! `descriptors/` and no Rust. What we do with the facts is in [`crate::emit`].

mod agents;
mod check;
mod descriptor;
mod files;
mod home;
#[cfg(test)]
mod made_up;
mod managed;
mod matrix;
mod plugin;
mod registry;
mod tables;
mod terms;

pub(crate) use agents::{AgentReach, Dispatch, Isolation, Spawn, StartCommit};
pub(crate) use descriptor::{
    AgentTools, ArgumentForm, Descriptor, Evidence, FileReach, Form, IncludeForm, LinePart, RuntimeId, VariableHolds,
};
pub(crate) use files::{EditForm, FileEdit, FormDetail, HostFile, HostFormat, Purpose};
pub(crate) use home::{Home, HomeError, Surroundings};
#[cfg(test)]
pub(crate) use made_up::{made_up, made_up_text};
pub(crate) use managed::{
    MANAGED_MARKER, ManagedForm, is_marked_managed, managed_places, managed_roots, missing_of_managed,
};
pub(crate) use matrix::Means;
#[cfg(test)]
pub(crate) use matrix::UNREGISTERED;
pub(crate) use plugin::{PluginAgent, PluginForm, PluginsInUse};
pub(crate) use registry::{Registry, RegistryError, installed_for};
pub(crate) use tables::{Adapter, Dialect, EVENT_SCRIPT, EventName, HookForm, HookTable, TimeUnit};
pub(crate) use terms::{CONTENT_FOLDER, Encoding, Feature, Lack, Place, PlaceAnchor, PlaceItem, Scalar, Scope};
