//! Which file a host reads first.

use crate::acts::Call;
use crate::failure::Failure;

/// The configuration key that may name the file.
const CONFIGURED: &str = "claude_md_path";

/// The configured file; else the one that the current host reads first. A configured name that only other hosts read
/// gives the path of that file; it does not mean that this host should have none. The same is true of the default,
/// which every new configuration contains.
pub(crate) fn usual_file(call: &Call) -> Result<String, Failure> {
    let host = call.host()?;
    file_of_host(call, host.descriptor.as_ref().map(|descriptor| descriptor.instruction_file.as_str()))
}

/// As [`usual_file`], for a host that reads `of_host` first.
pub(crate) fn file_of_host(call: &Call, of_host: Option<&str>) -> Result<String, Failure> {
    let configured = call.config()?.text(CONFIGURED).unwrap_or_default().to_owned();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let Some(of_host) = of_host else { return Ok(configured) };
    let hosts = call.registry()?.all()?;
    let is_of_others = hosts.iter().any(|host| name(&host.instruction_file) == name(&configured));
    Ok(if is_of_others && name(of_host) != name(&configured) { of_host.to_owned() } else { configured })
}
