//! The one test binary. A test in `architecture.rs` checks that no file of this folder is forgotten.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests prepare and inspect trees by hand"
)]

mod acts;
mod answers;
mod architecture;
mod audit;
mod auto;
#[cfg(target_os = "linux")]
mod auto_abandon;
mod auto_beliefs;
#[cfg(unix)]
mod auto_briefs;
#[cfg(target_os = "linux")]
mod auto_captures;
mod auto_checkout;
#[cfg(target_os = "linux")]
mod auto_clients;
#[cfg(target_os = "linux")]
mod auto_discuss;
#[cfg(target_os = "linux")]
mod auto_environments;
mod auto_fence;
mod auto_gate;
#[cfg(target_os = "linux")]
mod auto_held_out;
mod auto_landing;
mod auto_merge_backs;
mod auto_messages;
#[cfg(unix)]
mod auto_outside;
#[cfg(unix)]
mod auto_phases;
#[cfg(target_os = "linux")]
mod auto_phases_ways_on;
mod auto_queue;
mod auto_replanned;
mod auto_runs;
mod auto_secrets;
mod auto_seen;
#[cfg(target_os = "linux")]
mod auto_unit_hooks;
#[cfg(unix)]
mod auto_units;
#[cfg(target_os = "linux")]
mod auto_ways_on;
#[cfg(target_os = "linux")]
mod auto_ways_on_by_hand;
#[cfg(target_os = "linux")]
mod brought;
mod bytes;
mod capability;
#[cfg(target_os = "linux")]
mod cheats;
mod cli;
#[cfg(unix)]
mod clients;
mod codebase;
mod config;
mod conformance;
mod crash;
mod crash_project;
#[cfg(unix)]
mod demo;
mod dependencies;
mod dispatch;
mod doctor;
mod documents;
mod explain;
mod false_success;
mod faults;
mod features;
#[cfg(target_os = "linux")]
mod fence;
mod findings;
mod forms;
mod forms_of_calls;
mod gate;
mod gates;
mod git;
mod graphify;
mod guards;
mod handoff;
mod hints;
mod hook_projects;
mod hooks;
mod hostile;
#[cfg(target_os = "linux")]
mod hostile_clone;
mod hostile_git;
mod hostile_places;
mod hosts;
mod house;
mod init;
mod install;
mod install_detected;
mod install_face;
#[cfg(unix)]
mod install_sequences;
mod installed;
mod instructions;
mod intel;
#[cfg(target_os = "linux")]
mod kills;
mod kit;
mod learnings;
mod lived;
mod loops;
#[cfg(unix)]
mod managed;
mod mentions;
mod milestone;
mod notes;
mod npm;
mod one_answer;
mod own_host;
mod phase_work;
mod phases;
mod plans;
#[cfg(unix)]
mod play;
#[cfg(target_os = "linux")]
mod probe;
mod profile;
mod profiles;
mod project_bytes;
mod proof;
mod published;
mod refactor;
mod reference;
mod refusals;
mod rehearsal;
#[cfg(unix)]
mod review_lane;
mod roster;
#[cfg(target_os = "linux")]
mod runners;
mod scaffold;
mod schemas;
mod screens;
mod scripted;
mod settings;
mod shell;
mod small_verbs;
mod standing;
mod state;
mod structure;
mod subsets;
mod takeover;
mod takeover_peers;
mod team;
#[path = "../../src/testing.rs"]
mod testing;
mod tiers;
mod tolerance;
mod tree;
mod trees;
mod truth;
mod tutorial;
mod typed;
mod undo;
mod updating;
mod validate;
mod voice;
mod walk;
#[cfg(unix)]
mod wave_making;
#[cfg(unix)]
mod wave_safety;
#[cfg(unix)]
mod waves;
mod web;
mod workstream;
mod worktree;
mod yolo;
