//! Records the calls of our installed binary and its answers: a script with its name notes each call and passes it on.
//!
//! The files that the client reads stay unchanged, so a call in the log is a call that the installed files caused.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::notes::Notes;

/// The log of one home's calls.
#[derive(Debug)]
pub(crate) struct Witness {
    log: PathBuf,
    original: PathBuf,
    place: PathBuf,
}

/// A call of our binary.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) code: i32,
    /// How much it answered on standard output.
    pub(crate) bytes: usize,
    pub(crate) arguments: String,
}

impl Witness {
    /// Puts the script at the path of the binary that was installed below one of `folders`, if there is one.
    pub(crate) fn before_binary_below(folders: &[PathBuf], log: PathBuf) -> Option<Self> {
        let how = format!(">> '{}'", log.display());
        Self::that_notes(folders, &how, log)
    }

    /// The same for a client in a fence: calls are sent over the network.
    pub(crate) fn that_tells(folders: &[PathBuf], notes: &Notes) -> Option<Self> {
        Self::that_notes(folders, &format!("> /dev/tcp/127.0.0.1/{}", notes.port()), PathBuf::new())
    }

    fn that_notes(folders: &[PathBuf], how: &str, log: PathBuf) -> Option<Self> {
        let binary = folders.iter().find_map(|folder| find_binary(folder, 6))?;
        let original = binary.with_file_name("gsd-tools-witnessed");
        std::fs::rename(&binary, &original).unwrap();
        let seen = original.display();
        // An argument may contain line breaks; a call is one line of the log.
        let script = format!(
            "#!/bin/bash\nanswer=$(mktemp)\n'{seen}' \"$@\" > \"$answer\"\ncode=$?\ncat \"$answer\"\n\
             line=$(printf '%s' \"$*\" | tr '\\n' ' ')\n\
             printf '%s\\n' \"$code $(wc -c < \"$answer\") $line\" {how}\nrm -f \"$answer\"\nexit $code\n"
        );
        std::fs::write(&binary, script).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { log, original, place: binary })
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        Self::calls_in(&std::fs::read_to_string(&self.log).unwrap_or_default())
    }

    /// The path of the binary that is called.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The calls in the log of a witness.
    pub(crate) fn calls_in(log: &str) -> Vec<Call> {
        log.lines()
            .filter_map(|line| {
                let (code, rest) = line.split_once(' ')?;
                let (bytes, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
                let code = code.parse().unwrap_or(-1);
                Some(Call { code, bytes: bytes.parse().unwrap_or(0), arguments: arguments.to_owned() })
            })
            .collect()
    }

    /// Moves the binary back, as an uninstall expects it.
    pub(crate) fn step_aside(self) {
        std::fs::rename(self.original, self.place).unwrap();
    }
}

fn find_binary(folder: &Path, depth: usize) -> Option<PathBuf> {
    let here = folder.join("bin/gsd-tools");
    if here.is_file() {
        return Some(here);
    }
    let folders = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    if depth == 0 { None } else { folders.into_iter().find_map(|inner| find_binary(&inner, depth - 1)) }
}
