//! The processes that this one was started by. A program can take variables from what it starts; it cannot take them from itself or
//! from those above it.

use super::UNIT;

/// How many are looked at: more are a circle that the numbers of new processes made.
#[cfg(target_os = "linux")]
const MOST: usize = 64;

/// The numbers of the processes above this one, nearest first. Systems other than Linux show none.
pub(super) fn ancestors() -> Vec<u32> {
    #[cfg(target_os = "linux")]
    {
        let parent = |id: u32| {
            let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            // The name before it may hold anything, brackets too.
            let (_, rest) = text.rsplit_once(')')?;
            rest.split_whitespace().nth(1)?.parse::<u32>().ok().filter(|parent| *parent > 1)
        };
        std::iter::successors(parent(std::process::id()), |id| parent(*id)).take(MOST).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The kind of the unit in whose session a process above this one is.
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
