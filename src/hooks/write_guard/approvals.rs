//! Refuses to write the user's own preferences: they approve what repositories bring, and an agent may not.

use crate::hooks::scene::Scene;
use crate::hooks::verdict::Block;
use crate::text::words::word_list;

const FILE: &str = ".gsd/PREFERENCES.md";

/// What can change a file in a command line; `>` is a redirection.
const CHANGING: &[&str] = word_list!("> tee sed cp mv rm dd ln rsync install truncate python perl node ruby");

pub(super) fn refused(scene: &Scene<'_>) -> Option<Block> {
    let file = scene.world.gsd_home()?.join(FILE);
    let by_tool = scene.payload.writes().iter().any(|write| scene.path(&write.path) == file);
    let by_shell = || scene.payload.command().is_some_and(|command| may_change(&command, &file.to_string_lossy()));
    (by_tool || by_shell()).then(|| Block {
        code: "USER_PREFERENCES",
        reason: format!(
            "`{}` is the user's own, and approves what repositories may run. Instead, show the user which lines to add to it.",
            file.display()
        ),
    })
}

/// True if a command line names the file and may change it.
fn may_change(command: &str, file: &str) -> bool {
    let spelled = ["~/", "$HOME/", "${HOME}/", "\"$HOME\"/"].map(|home| format!("{home}{FILE}"));
    let names = command.contains(file) || spelled.iter().any(|spelled| command.contains(spelled));
    let is_word = |word: &&str| {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '/' | '.');
        let is_alone = |at: usize| {
            let (before, after) = (&command[..at], &command[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(char::is_alphabetic)
        };
        command.match_indices(*word).any(|(at, _)| *word == ">" || is_alone(at))
    };
    names && CHANGING.iter().any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_may_change_the_file_is_not_one_that_reads_it() {
        let of = |command: &str| may_change(command, "/home/u/.gsd/PREFERENCES.md");
        for changing in [
            "echo 'approved: [x]' >> ~/.gsd/PREFERENCES.md",
            "sed -i 1d $HOME/.gsd/PREFERENCES.md",
            "cp p /home/u/.gsd/PREFERENCES.md",
            "python3 -c \"open('/home/u/.gsd/PREFERENCES.md','a')\"",
        ] {
            assert!(of(changing), "{changing}");
        }
        for other in ["cat ~/.gsd/PREFERENCES.md", "cat .gsd/PREFERENCES.md > x", "grep approved ~/.gsd/PREFERENCES.md"]
        {
            assert!(!of(other), "{other}");
        }
    }
}
