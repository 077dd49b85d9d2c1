//! Reads a program's output while it is written, until there is enough.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use super::process::spawn;
use super::program::Program;
use super::{World, WorldError, tree};

/// How many bytes are read at once.
const AT_ONCE: usize = 64 << 10;

impl World {
    /// Runs a program and passes its standard output to `take` in fields that end with a zero byte. When `take` returns
    /// false, the program is killed. Returns true if `take` stopped it or the program succeeded.
    pub(crate) fn fields(&self, program: &Program, take: impl FnMut(&[u8]) -> bool) -> Result<bool, WorldError> {
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = spawn(&mut command, program)?;
        let id = child.id();
        let is_enough = child.stdout.take().is_some_and(|output| is_enough(output, take));
        if is_enough {
            // It may have ended meanwhile, which is fine too.
            let _ = child.kill();
        }
        let ended = child.wait();
        tree::forget(id);
        let ended = ended.map_err(|source| WorldError::Wait { program: program.to_string(), source })?;
        Ok(is_enough || ended.success())
    }
}

/// True if `take` stopped before the output ended.
fn is_enough(output: impl Read, mut take: impl FnMut(&[u8]) -> bool) -> bool {
    let mut output = BufReader::with_capacity(AT_ONCE, output);
    let mut field = Vec::new();
    loop {
        field.clear();
        match output.read_until(0, &mut field) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        if field.last() == Some(&0) {
            field.pop();
        }
        if !take(&field) {
            return true;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn fields(script: &str, most: usize) -> (Vec<String>, bool) {
        let mut taken = Vec::new();
        let path = std::env::var("PATH").unwrap();
        let world = World::with([("PATH", path.as_str())], std::env::temp_dir().as_path());
        let ended = world.fields(&Program::new("sh").arguments(["-c", script]), |field| {
            taken.push(String::from_utf8(field.to_vec()).unwrap());
            taken.len() < most
        });
        (taken, ended.unwrap())
    }

    #[test]
    fn fields_are_read_until_there_is_enough() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(fields(r"printf 'a\0\0b c\nd\0e'", 9), (words(&["a", "", "b c\nd", "e"]), true));
        assert_eq!(fields(r"printf 'a\0'; exit 3", 9), (words(&["a"]), false));
        assert_eq!(fields(r"while printf 'a\0'; do :; done", 2), (words(&["a", "a"]), true), "it would never end");
    }
}
