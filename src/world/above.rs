//! The ancestors of this process. A program can remove variables from the environment of its children, but not from its
//! own or from that of its ancestors.

use super::UNIT;

/// How many ancestors are checked: a longer chain is a loop caused by reused process ids.
#[cfg(target_os = "linux")]
const MOST: usize = 64;

/// The ids of the ancestors of this process, nearest first. Empty on systems other than Linux.
pub(super) fn ancestors() -> Vec<u32> {
    #[cfg(target_os = "linux")]
    {
        let parent = |id: u32| {
            let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            // The name before it may contain anything, even brackets.
            let (_, rest) = text.rsplit_once(')')?;
            rest.split_whitespace().nth(1)?.parse::<u32>().ok().filter(|parent| *parent > 1)
        };
        std::iter::successors(parent(std::process::id()), |id| parent(*id)).take(MOST).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The kind of the unit in whose session an ancestor of this process is.
pub(crate) fn unit() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let name = format!("{UNIT}=");
        let of = |id: u32| {
            let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            let kind = variables.find_map(|variable| variable.strip_prefix(name.as_bytes()))?;
            Some(String::from_utf8_lossy(kind).into_owned())
        };
        ancestors().into_iter().find_map(of)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = UNIT;
        None
    }
}
