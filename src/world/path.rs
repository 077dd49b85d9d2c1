//! Finds programs in `PATH`. They are inspected but never started.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::World;

/// How many bytes of a file are searched for a mark: the first lines of a script.
const HEAD: u64 = 4 << 10;

/// A program in `PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InPath {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl World {
    /// True if a program with this name is in `PATH`.
    pub(crate) fn finds(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    /// The file that a call of `program` starts: the first executable one in `PATH`. Folders in `PATH` that are not
    /// absolute are skipped, because they depend on the current folder.
    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.path_variable("PATH").unwrap_or_default();
        let names = [program.to_owned(), format!("{program}{}", std::env::consts::EXE_SUFFIX)];
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.flat_map(|folder| names.clone().map(|name| folder.join(name))).find(|file| can_be_run(file))
    }

    /// The first of these names in `PATH`. Marks are given if other programs have the same name: one of them must then
    /// be in the path, with links resolved or not, or in the first lines of the script.
    pub(crate) fn program_of(&self, names: &[String], marks: &[String]) -> Option<InPath> {
        let found = |name: &String| Some(InPath { name: name.clone(), path: self.find(name)? });
        names.iter().filter_map(found).find(|found| marks.is_empty() || has_one_of(&found.path, marks))
    }
}

/// True for a file, or a link to one, that this user can run.
pub(crate) fn can_be_run(file: &Path) -> bool {
    #[cfg(unix)]
    let is_allowed = || rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    let is_allowed = || true;
    file.is_file() && is_allowed()
}

fn has_one_of(file: &Path, marks: &[String]) -> bool {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let mut head = Vec::new();
    // For a program that this user may run but not read, only the path is searched.
    let _ = std::fs::File::open(&real).and_then(|opened| opened.take(HEAD).read_to_end(&mut head));
    let texts = [file.to_string_lossy(), real.to_string_lossy(), String::from_utf8_lossy(&head)];
    // On Windows, a mark with a folder in it also uses `/`.
    let texts = texts.map(|text| text.replace('\\', "/"));
    marks.iter().any(|mark| texts.iter().any(|text| text.contains(mark.as_str())))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Bin {
        root: tempfile::TempDir,
    }

    impl Bin {
        fn new() -> Self {
            Self { root: crate::testing::folder() }
        }

        fn file(&self, path: &str, text: &str, mode: u32) -> PathBuf {
            let file = self.root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        }

        fn world(&self, path: &str) -> World {
            let path = path.replace("{}", self.root.path().to_str().unwrap());
            World::with([("PATH", path.as_str())], self.root.path())
        }
    }

    #[test]
    fn the_first_file_that_can_be_run_is_found() {
        let bin = Bin::new();
        fs::create_dir_all(bin.root.path().join("a/tool")).unwrap();
        bin.file("b/tool", "", 0o644);
        let real = bin.file("real/tool-1", "", 0o755);
        fs::create_dir_all(bin.root.path().join("c")).unwrap();
        symlink(bin.root.path().join("nowhere"), bin.root.path().join("c/tool")).unwrap();
        fs::create_dir_all(bin.root.path().join("d")).unwrap();
        symlink(&real, bin.root.path().join("d/tool")).unwrap();
        bin.file("e/tool", "", 0o755);
        let found = bin.world("{}/a:{}/none:{}/b:{}/c:{}/d:{}/e").find("tool").unwrap();
        assert_eq!(found, bin.root.path().join("d/tool"));
        assert!(!bin.world("{}/a:{}/b:{}/c").finds("tool"));
        assert!(!World::with([], bin.root.path()).finds("tool"));
    }

    #[test]
    fn programs_in_the_current_folder_are_not_installed() {
        let bin = Bin::new();
        bin.file("tool", "", 0o755);
        assert!(!bin.world(":.:bin").finds("tool"));
        assert!(bin.world("{}").finds("tool"));
    }

    #[test]
    fn a_name_of_several_programs_needs_a_mark() {
        let bin = Bin::new();
        let (names, marks) = (["pocket".to_owned(), "tool".to_owned()], ["lantern-tool".to_owned()]);
        let found = |path: &str, marks: &[String]| bin.world(path).program_of(&names, marks).map(|found| found.name);
        bin.file("plain/tool", "#!/bin/sh\nexec other\n", 0o755);
        assert_eq!(found("{}/plain", &marks), None);
        assert_eq!(found("{}/plain", &[]).as_deref(), Some("tool"));
        bin.file("script/tool", "#!/bin/sh\nexec node /x/lantern-tool/cli.js\n", 0o755);
        assert_eq!(found("{}/script", &marks).as_deref(), Some("tool"));
        let real = bin.file("lib/lantern-tool/cli.js", "", 0o755);
        fs::create_dir_all(bin.root.path().join("link")).unwrap();
        symlink(&real, bin.root.path().join("link/tool")).unwrap();
        assert_eq!(found("{}/link", &marks).as_deref(), Some("tool"));
        assert_eq!(found("{}/plain:{}/link", &marks), None, "a call starts the other program");
        bin.file("late/tool", &format!("#!/bin/sh\n{}lantern-tool\n", "# \n".repeat(2000)), 0o755);
        assert_eq!(found("{}/late", &marks), None, "only the first lines are read");
    }
}
