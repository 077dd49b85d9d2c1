//! The key that git signs commits with.

use super::error::LandingError;
use super::repository::Repository;
use crate::disk::AbsolutePath;
use crate::text::shell::PlainLine;
use crate::world::Program;

/// An SSH key, and the program that signs with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SigningKey {
    /// `ssh-keygen`, or what `gpg.ssh.program` names.
    pub(crate) program: String,
    /// The path of a private or public key, or a literal public key.
    pub(crate) key: String,
    /// The folder in which git would run the program.
    pub(crate) folder: AbsolutePath,
}

impl SigningKey {
    /// True if the setting is the key itself rather than a file.
    pub(crate) fn is_literal(&self) -> bool {
        is_literal(&self.key)
    }
}

fn is_literal(key: &str) -> bool {
    key.starts_with("ssh-") || key.starts_with("ecdsa-sha2-") || key.starts_with("sk-")
}

impl Repository {
    /// Returns the SSH key that git signs commits with here, or why git has none.
    pub(crate) fn signing_key(&self) -> Result<Result<SigningKey, String>, LandingError> {
        if !self.signs {
            return Ok(Err("git does not sign commits here".to_owned()));
        }
        let set = |line: &[&str]| {
            let told = self.git.run(["config"].iter().chain(line))?.text();
            Ok::<_, LandingError>(Some(told).filter(|told| !told.is_empty()))
        };
        let format = set(&["--get", "gpg.format"])?.unwrap_or_else(|| "openpgp".to_owned());
        if format != "ssh" {
            return Ok(Err(format!("git signs commits with {format} here, not with an SSH key")));
        }
        let program = set(&["--type=path", "--get", "gpg.ssh.program"])?;
        let key = match set(&["--get", "user.signingkey"])? {
            Some(key) => match key.strip_prefix("key::") {
                Some(literal) => Some(literal.to_owned()),
                None if is_literal(&key) => Some(key),
                None => set(&["--type=path", "--get", "user.signingkey"])?,
            },
            None => self.default_key(set(&["--get", "gpg.ssh.defaultKeyCommand"])?.as_deref())?,
        };
        let Some(key) = key else { return Ok(Err("git does not know which SSH key to sign with".to_owned())) };
        let program = program.unwrap_or_else(|| "ssh-keygen".to_owned());
        Ok(Ok(SigningKey { program, key, folder: self.root().clone() }))
    }

    /// Returns the first key that the user's command for default keys prints. Git also runs it without a shell.
    fn default_key(&self, command: Option<&str>) -> Result<Option<String>, LandingError> {
        let Some(line) = command.and_then(|command| PlainLine::read(command).ok()) else { return Ok(None) };
        let words: Vec<String> = line.commands.into_iter().flatten().map(|word| word.text).collect();
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let told = self.git.world().run(&Program::new(program).arguments(arguments).folder(self.root().as_path()))?;
        let first = told.text().lines().next().map(|key| key.strip_prefix("key::").unwrap_or(key).to_owned());
        Ok(first.filter(|key| told.success() && is_literal(key)))
    }
}
