//! The limits of a fence on Linux, in the terms of the kernel (Landlock).

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::readable::readable_beside;
use super::value::Fence;

/// The file accesses that a fence limits, in the terms of the first kernel that supports all of them, 6.10: requests to
/// devices came last. An access that an older kernel does not support stays allowed there.
const WHOLE: ABI = ABI::V5;

/// Without this version, files outside can be emptied (6.2); without the previous one, nothing can be moved between
/// folders.
const FULL: ABI = ABI::V3;

/// The first versions that limit ports (kernel 6.7), and signals and sockets without a path (kernel 6.12).
const WITH_PORTS: ABI = ABI::V4;
const WITH_SCOPES: ABI = ABI::V6;

/// The newest version that may be used. In debug builds a variable can lower it, to test what older kernels enforce.
fn newest() -> ABI {
    #[cfg(debug_assertions)]
    if let Some(limit) = std::env::var("GSD_FENCE_ABI").ok().and_then(|limit| limit.parse::<i32>().ok()) {
        return ABI::from(limit);
    }
    WITH_SCOPES
}

/// True if the kernel supports this version.
pub(super) fn knows(version: ABI) -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let is_known = || ruleset.handle_access(AccessFs::from_write(version)).and_then(Ruleset::create).is_ok();
    version <= newest() && is_known()
}

/// Whether all files outside are protected, and whether most of them are.
pub(super) fn limits_files() -> (bool, bool) {
    (knows(FULL), knows(ABI::V1))
}

pub(super) fn limits_ports() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    WITH_PORTS <= newest() && ruleset.handle_access(AccessNet::ConnectTcp).and_then(Ruleset::create).is_ok()
}

pub(super) fn restrict(fence: &Fence) -> Result<(), String> {
    if newest() == ABI::Unsupported {
        return Err(NO_LANDLOCK.to_owned());
    }
    if fence.ports.is_some() && !limits_ports() {
        return Err("this kernel cannot limit the network".to_owned());
    }
    let readable = readable_beside(fence)?;
    match apply(fence, &readable) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err(NO_LANDLOCK.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

const NO_LANDLOCK: &str = "this kernel has no Landlock";

fn apply(fence: &Fence, readable: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let newest = newest();
    let writes = AccessFs::from_write(WHOLE.min(newest));
    // Supported by every kernel that has Landlock.
    let reads = AccessFs::from_read(ABI::V1);
    // A device file made by root is the real device wherever it is: the disk, or a terminal.
    let granted = (writes | reads) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let scopes = if newest >= WITH_SCOPES { Scope::from_all(WITH_SCOPES) } else { BitFlags::EMPTY };
    let mut ruleset = Ruleset::default().handle_access(writes | reads)?;
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes)?;
    }
    if fence.ports.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut ruleset = ruleset.create()?;
    ruleset = ruleset.add_rules(path_beneath_rules(fence.all_writable(), granted))?;
    ruleset = ruleset.add_rules(path_beneath_rules(readable, reads))?;
    for port in fence.ports.iter().flatten() {
        ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}
