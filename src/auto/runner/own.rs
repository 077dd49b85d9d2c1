//! The user's files that a client has in a fence: a view of its own folders, which it can change freely. Settings,
//! hooks, commands, skills, agents, plugins and instructions of the user are read there and stay unchanged. Of the
//! changes of a session, only a login that the client refreshed is copied back.

use serde_json::Value;

use super::table::{OwnFolder, Runner};
use crate::disk::{self, AbsolutePath, Digest, DiskError, Overlay};
use crate::world::World;

/// The largest file that is copied into the view: settings and logins are far smaller.
const COPIED: u64 = 1 << 20;

/// A client's folders as prepared for a session.
#[derive(Debug)]
pub(crate) struct Staged {
    folder: AbsolutePath,
    variables: Vec<(String, String)>,
    logins: Vec<Login>,
    /// The views, and the entries that are kept in each.
    views: Vec<(AbsolutePath, Vec<String>)>,
}

/// A login of the user and its copy in the view.
#[derive(Debug)]
struct Login {
    own: AbsolutePath,
    staged: AbsolutePath,
    /// The folder with the login that the session can change.
    lent: AbsolutePath,
    lock: Option<AbsolutePath>,
    /// The digest of both when they were last the same.
    both: Option<Digest>,
}

/// Returns why a client cannot be fenced: it is unknown which folders it writes to.
pub(crate) fn unknown_folders(runner: &Runner) -> String {
    format!("{} cannot be fenced in: which folders of yours it writes to is not known", runner.title)
}

/// The hint for [`unknown_folders`].
pub(crate) const UNKNOWN_FOLDERS_HINT: &str =
    "choose another client with `--runner`, or let its sessions write everywhere with `--no-fence`";

impl Runner {
    /// Prepares the client's view of the user's files in the folder `at`, which is kept from session to session.
    /// `given` are additional variables. `None` if the folders of the client are unknown.
    pub(crate) fn stage(
        &self,
        world: &World,
        at: &AbsolutePath,
        given: &[(String, String)],
    ) -> Result<Option<Staged>, DiskError> {
        let Some(folders) = &self.own else { return Ok(None) };
        disk::make_folder(at)?;
        let mut staged = Staged { folder: at.clone(), variables: Vec::new(), logins: Vec::new(), views: Vec::new() };
        for folder in folders {
            let Some(place) = folder.place(world, at, given)? else { continue };
            let siblings: Vec<String> =
                folders.iter().filter(|other| other.variable == folder.variable).map(|it| it.within.clone()).collect();
            folder.stage(&place, &siblings, &mut staged)?;
            staged.variables.retain(|(name, _)| *name != folder.variable);
            staged.variables.push((folder.variable.clone(), place.staged_base.to_string()));
        }
        Ok(Some(staged))
    }
}

/// The location of a folder, and of its view.
struct FolderView {
    own: AbsolutePath,
    /// The folder of the user that the variable names; the rest of its content is shown too.
    around: AbsolutePath,
    staged_base: AbsolutePath,
    staged: AbsolutePath,
    home: Option<AbsolutePath>,
}

impl OwnFolder {
    fn place(
        &self,
        world: &World,
        at: &AbsolutePath,
        given: &[(String, String)],
    ) -> Result<Option<FolderView>, DiskError> {
        let home = world.home().map(AbsolutePath::parse).transpose()?;
        let moved = world.path_variable(&self.variable).and_then(|path| AbsolutePath::parse(path).ok());
        let is_moved = moved.is_some();
        let usual = self.path.strip_suffix(self.within.as_str()).unwrap_or(&self.path).trim_end_matches('/');
        let base = moved.or_else(|| home.as_ref().map(|home| home.resolve(usual)));
        let Some(base) = base else { return Ok(None) };
        let name = usual.trim_start_matches('.').replace('/', "-");
        let staged_base = at.resolve(if name.is_empty() { "home" } else { name.as_str() });
        let given = given.iter().find(|(name, _)| *name == self.variable);
        let around = given.and_then(|(_, path)| AbsolutePath::parse(path).ok()).unwrap_or_else(|| base.clone());
        let (own, staged) = match self.within.as_str() {
            "" => (base, staged_base.clone()),
            within => (base.resolve(within), staged_base.resolve(within)),
        };
        Ok(Some(FolderView { own, around, staged_base, staged, home: home.filter(|_| !is_moved) }))
    }

    fn stage(&self, place: &FolderView, siblings: &[String], staged: &mut Staged) -> Result<(), DiskError> {
        let FolderView { own, around, staged_base, staged: view, home } = place;
        // The previous session may have left a link here to a folder of the user.
        disk::clear_way(view, &staged.folder)?;
        if !self.within.is_empty() {
            disk::clear(staged_base, siblings)?;
            Overlay { left_out: siblings, ..Overlay::default() }.show(around, staged_base)?;
        }
        let logins = self.login.iter().map(|name| Login {
            own: own.resolve(name),
            staged: view.resolve(name),
            lent: staged.folder.clone(),
            lock: self.lock.as_ref().map(|end| own.beside(&format!("{}{end}", own.name()))),
            both: None,
        });
        let mut logins: Vec<Login> = logins.collect();
        // Logins of a session whose end was not processed.
        for login in logins.iter().filter(|login| disk::modified(&login.staged) > disk::modified(&login.own)) {
            login.in_view()?.map_or(Ok(()), |found| login.hand_back(&found))?;
        }
        disk::clear(view, &self.history)?;
        let overlay = Overlay { opened: &self.opened, left_out: &self.history, copied: COPIED, ..Overlay::default() };
        overlay.show(own, view)?;
        for name in home.iter().flat_map(|_| &self.beside) {
            let file = home.as_ref().map(|home| home.resolve(name)).filter(|file| disk::is_file(file));
            file.map_or(Ok(()), |file| disk::copy_over(&file, &view.resolve(name)))?;
        }
        for name in &self.names_itself {
            let path = view.resolve(name);
            if let Some(text) = disk::read_text(&path)? {
                disk::write_fleeting(&path, text.replace(&own.to_string(), &view.to_string()).as_bytes())?;
            }
        }
        for login in &mut logins {
            login.both = login.in_view()?.map(|bytes| Digest::of(&bytes));
        }
        staged.logins.extend(logins);
        staged.views.push((view.clone(), self.history.clone()));
        Ok(())
    }
}

impl Staged {
    /// The folder with everything of the client's that it may write to.
    pub(crate) fn folder(&self) -> &AbsolutePath {
        &self.folder
    }

    /// True if gsd-tools is installed in one of the folders, so that the client should call its hooks.
    pub(crate) fn has_ours(&self) -> bool {
        self.views.iter().any(|(view, _)| disk::is_folder(view.resolve("gsd-core/bin")))
    }

    /// The variables that pass the folders to the client.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Copies a login that the client has refreshed to the user, and one that was refreshed elsewhere to the client.
    pub(crate) fn share_logins(&mut self) -> Result<(), DiskError> {
        self.logins.iter_mut().try_for_each(Login::share)
    }

    /// Ends a session: only a login and the client's session history are kept.
    pub(crate) fn close(mut self) -> Result<(), DiskError> {
        let shared = self.share_logins();
        for (view, kept) in &self.views {
            // Through a link on the way, files elsewhere would be removed.
            disk::clear_way(view, &self.folder)?;
            disk::clear(view, kept)?;
        }
        shared
    }
}

impl Login {
    fn share(&mut self) -> Result<(), DiskError> {
        let (own, found) = (Digest::of_file(&self.own)?, self.in_view()?);
        let staged = found.as_ref().map(|bytes| Digest::of(bytes));
        if own == staged {
            self.both = own;
        } else if own == self.both
            && let Some(found) = found
        {
            self.hand_back(&found)?;
            self.both = staged;
        } else if own.is_some() && own != self.both {
            let bytes = disk::read_up_to(&self.own, COPIED)?.unwrap_or_default();
            disk::write_lent(&self.staged, &self.lent, &bytes)?;
            self.both = own;
        }
        Ok(())
    }

    /// Reads the login in the view; `None` if it is not a file. The session may change it at the same time, and put
    /// links there.
    fn in_view(&self) -> Result<Option<Vec<u8>>, DiskError> {
        disk::read_lent(&self.staged, &self.lent, COPIED)
    }

    /// Replaces the user's login with the one in the view, if it is a refreshed one.
    fn hand_back(&self, staged: &[u8]) -> Result<(), DiskError> {
        let Some(own) = disk::read_up_to(&self.own, COPIED)? else { return Ok(()) };
        if !is_refreshed(&own, staged) {
            return Ok(());
        }
        let lock = self.lock.as_ref().map(disk::FolderLock::wait);
        let written = disk::replace(&self.own, staged);
        drop(lock);
        written
    }
}

/// True if `after` can be a refreshed version of `before`. New fields could make it a login of another kind, such as
/// one that names a server with settings for the client, and some clients execute a text that starts with `!`.
fn is_refreshed(before: &[u8], after: &[u8]) -> bool {
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text);
    match (read(before), read(after)) {
        (Err(_), after) => after.is_err(),
        (Ok(_), Err(_)) => false,
        (Ok(before), Ok(after)) => has_form_of(&before, &after),
    }
}

/// The key with the kind of a login.
const KIND: &str = "type";

fn has_form_of(before: &Value, after: &Value) -> bool {
    let fits = |before: Option<&Value>, after: &Value| match before {
        Some(before) => has_form_of(before, after),
        None => is_plain(after),
    };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => after.iter().all(|(key, value)| {
            let was = before.get(key);
            if key == KIND { was == Some(value) } else { fits(was, value) }
        }),
        (Value::Array(before), Value::Array(after)) => {
            after.iter().enumerate().all(|(number, value)| fits(before.get(number), value))
        }
        (Value::Object(_) | Value::Array(_), _) => false,
        (before, after) => before == after || is_plain(after),
    }
}

/// True if it is a plain text, number or the like, and not a command.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => false,
        Value::String(text) => !text.trim_start().starts_with('!'),
        _ => true,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::super::table::Runners;
    use super::*;

    struct TestHome {
        _temporary: tempfile::TempDir,
        at: AbsolutePath,
    }

    impl TestHome {
        fn new(files: &[&str]) -> Self {
            let temporary = crate::testing::folder();
            let at = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            let home = Self { _temporary: temporary, at };
            for path in files {
                home.write(path, "{\"mine\": {}}");
            }
            home
        }

        fn write(&self, path: &str, text: &str) {
            disk::write_fleeting(&self.at.resolve(path), text.as_bytes()).unwrap();
        }

        fn read(&self, path: &str) -> String {
            std::fs::read_to_string(self.at.resolve(path)).unwrap()
        }

        fn stage(&self, runner: &str) -> Staged {
            self.stage_with(runner, &[])
        }

        fn stage_with(&self, runner: &str, variables: &[(&str, &str)]) -> Staged {
            let runner = Runners::builtin().unwrap().find(runner).unwrap().clone();
            let at = self.at.to_string();
            let moved: Vec<(&str, String)> =
                variables.iter().map(|(name, path)| (*name, self.at.resolve(path).to_string())).collect();
            let named = moved.first().map_or(("HOME", at.as_str()), |(name, path)| (*name, path.as_str()));
            let world = World::with([("HOME", at.as_str()), named], self.at.as_path());
            runner.stage(&world, &self.at.resolve("run/client"), &[]).unwrap().unwrap()
        }
    }

    #[test]
    fn a_session_sees_the_users_settings_and_changes_only_copies() {
        let home = TestHome::new(&[
            ".claude/settings.json",
            ".claude/skills/a/SKILL.md",
            ".claude/projects/p/x.jsonl",
            ".claude.json",
        ]);
        let staged = home.stage("claude");
        assert_eq!(
            staged.variables(),
            [("CLAUDE_CONFIG_DIR".to_owned(), home.at.resolve("run/client/claude").to_string())]
        );
        for copy in ["settings.json", ".claude.json"] {
            let path = format!("run/client/claude/{copy}");
            assert!(!disk::is_link(home.at.resolve(&path)), "{copy}");
            home.write(&path, "{\"hooks\": {}}");
        }
        assert!(disk::is_link(home.at.resolve("run/client/claude/skills")));
        assert!(!disk::exists(home.at.resolve("run/client/claude/projects")), "histories stay with the user");
        home.write("run/client/claude/projects/p/mine.jsonl", "{}");
        home.write("run/client/claude/hooks/evil.sh", "x");
        staged.close().unwrap();
        for kept in [".claude/settings.json", ".claude.json"] {
            assert_eq!(home.read(kept), "{\"mine\": {}}");
        }
        let staged = home.stage("claude");
        assert_eq!(home.read("run/client/claude/projects/p/mine.jsonl"), "{}", "of the session before, to be resumed");
        assert_eq!(home.read("run/client/claude/settings.json"), "{\"mine\": {}}");
        assert!(!disk::exists(home.at.resolve("run/client/claude/hooks")));
        drop(staged);
    }

    #[test]
    fn only_a_login_refreshed_by_rename_is_copied_back_to_the_user() {
        let home = TestHome::new(&[".claude/settings.json", ".claude/.credentials.json"]);
        let mut staged = home.stage("claude");
        for name in [".credentials.json", "settings.json"] {
            home.write(&format!("run/client/claude/{name}"), "{\"mine\": {\"token\": \"new\"}}");
        }
        staged.share_logins().unwrap();
        assert_eq!(home.read(".claude/.credentials.json"), "{\"mine\": {\"token\": \"new\"}}");
        assert_eq!(home.read(".claude/settings.json"), "{\"mine\": {}}");
        home.write(".claude/.credentials.json", "{\"mine\": {\"token\": \"by another\"}}");
        staged.share_logins().unwrap();
        assert_eq!(home.read("run/client/claude/.credentials.json"), "{\"mine\": {\"token\": \"by another\"}}");
        home.write(
            "run/client/claude/.credentials.json",
            "{\"mine\": {}, \"https://evil\": {\"type\": \"wellknown\"}}",
        );
        staged.close().unwrap();
        assert_eq!(home.read(".claude/.credentials.json"), "{\"mine\": {\"token\": \"by another\"}}");
        assert!(!disk::exists(home.at.resolve("run/client/claude/.credentials.json")), "no login is left in the view");
    }

    #[test]
    fn a_refreshed_login_must_have_its_previous_form_and_no_command() {
        let before = r#"{"a": {"type": "oauth", "access": "x", "scopes": ["s"], "expires": 1, "own": "!pass show a"}, "b": null}"#;
        for (after, is_one) in [
            (
                r#"{"a": {"type": "oauth", "access": "y", "scopes": ["s", "t"], "expires": 2, "own": "!pass show a"}}"#,
                true,
            ),
            (r#"{"a": {"type": "oauth", "access": "y", "refresh": "z"}, "b": "c", "at": 3}"#, true),
            (r#"{"a": {"type": "oauth", "access": "!touch x"}}"#, false),
            (r#"{"a": {"type": "oauth", "access": "\u0021touch x"}}"#, false),
            (r#"{"a": {"type": "oauth", "scopes": [" !touch x"]}}"#, false),
            (r#"{"a": {"type": "oauth", "own": "!touch x"}}"#, false),
            (r#"{"a": {"type": "api_key", "access": "x"}}"#, false),
            (r#"{"a": {"type": "oauth", "env": {"A": "b"}}}"#, false),
            (r#"{"a": {"type": "oauth", "scopes": [{"command": "x"}]}}"#, false),
            (r#"{"b": {"command": "x"}}"#, false),
            (r#"{"c": {"type": "wellknown"}}"#, false),
            (r#"[{"a": "x"}]"#, false),
            (r#""x""#, false),
            (r#"{"a": null}"#, false),
            ("touch x", false),
        ] {
            assert_eq!(is_refreshed(before.as_bytes(), after.as_bytes()), is_one, "{after}");
        }
        assert!(is_refreshed(br#"[{"token": {"a": "x"}}]"#, br#"[{"token": {"a": "y"}}]"#));
        assert!(!is_refreshed(br#"[{"token": {"a": "x"}}]"#, br#"[{"token": {"a": "x"}}, {"token": {}}]"#));
        assert!(is_refreshed(b"iv:tag:one", b"iv:tag:two") && !is_refreshed(b"iv:tag:one", b"{}"));
    }

    #[test]
    fn a_login_of_a_session_without_a_processed_end_is_copied_back() {
        let home = TestHome::new(&[".codex/auth.json"]);
        drop(home.stage("codex"));
        std::thread::sleep(std::time::Duration::from_millis(5));
        home.write("run/client/codex/auth.json", "{\"mine\": {\"token\": \"new\"}}");
        home.stage("codex").close().unwrap();
        assert_eq!(home.read(".codex/auth.json"), "{\"mine\": {\"token\": \"new\"}}");
    }

    /// Links instead of a view while it is shared, and after that.
    #[test]
    fn a_link_instead_of_a_view_or_above_it_is_not_followed() {
        for place in ["config", "config/opencode", "local-share", "local-share/opencode"] {
            let login = ".local/share/opencode/auth.json";
            let home = TestHome::new(&[
                ".config/opencode/opencode.json",
                login,
                "victim/opencode/auth.json",
                "victim/auth.json",
            ]);
            let mut staged = home.stage("opencode");
            let view = home.at.resolve("run/client").resolve(place);
            assert!(disk::is_folder(&view), "{place}");
            std::fs::remove_dir_all(&view).unwrap();
            let to = if place.contains('/') { "victim/opencode" } else { "victim" };
            std::os::unix::fs::symlink(home.at.resolve(to).as_path(), view.as_path()).unwrap();
            let evil = "{\"mine\": {\"token\": \"of another\"}}";
            home.write("victim/opencode/auth.json", evil);
            staged.share_logins().unwrap();
            assert_eq!(home.read(login), "{\"mine\": {}}", "{place}");
            home.write(login, "{\"mine\": {\"token\": \"new\"}}");
            staged.share_logins().unwrap();
            assert_eq!(home.read("victim/opencode/auth.json"), evil, "{place}");
            staged.close().unwrap();
            assert_eq!(home.read("victim/opencode/auth.json"), evil, "{place}");
            std::fs::create_dir_all(view.parent().unwrap().as_path()).unwrap();
            let _ = std::fs::remove_dir_all(&view);
            std::os::unix::fs::symlink(home.at.resolve(to).as_path(), view.as_path()).unwrap();
            home.stage("opencode").close().unwrap();
            assert_eq!(home.read("victim/opencode/auth.json"), evil, "{place}");
            assert_eq!(home.read("victim/auth.json"), "{\"mine\": {}}", "{place}");
        }
    }

    #[test]
    fn folders_are_found_where_the_user_has_moved_them() {
        let home =
            TestHome::new(&["elsewhere/config.toml", ".codex/other", "c/opencode/opencode.json", "c/git/config"]);
        let staged = home.stage_with("codex", &[("CODEX_HOME", "elsewhere")]);
        assert!(disk::exists(staged.folder().resolve("codex/config.toml")));
        assert!(!disk::exists(staged.folder().resolve("codex/other")));
        let staged = home.stage_with("opencode", &[("XDG_CONFIG_HOME", "c")]);
        assert!(!disk::is_link(staged.folder().resolve("config/opencode")));
        assert!(disk::is_link(staged.folder().resolve("config/git")), "what others have there is seen");
        assert!(home.stage("demo").variables().is_empty());
    }

    /// The program may be the same file as that of other hosts and of the search path.
    #[test]
    fn sessions_cannot_write_to_the_program_in_the_folders_of_any_client() {
        for runner in Runners::builtin().unwrap().iter().filter(|runner| runner.own.is_some()) {
            let folders = runner.own.iter().flatten();
            let programs: Vec<String> =
                folders.map(|folder| format!("{}/gsd-core/bin/gsd-tools", folder.path)).collect();
            let home = TestHome::new(&programs.iter().map(String::as_str).collect::<Vec<_>>());
            let staged = home.stage(&runner.name);
            assert_eq!(staged.views.len(), programs.len(), "{}", runner.name);
            for (view, _) in &staged.views {
                let program = view.resolve("gsd-core/bin/gsd-tools").as_path().canonicalize().unwrap();
                assert!(program.is_file() && !program.starts_with(staged.folder()), "{}", program.display());
            }
        }
    }

    #[test]
    fn a_client_with_unknown_folders_has_no_view() {
        let world = World::with([("HOME", "/nowhere")], std::path::Path::new("/"));
        for name in ["cursor", "antigravity", "augment", "acp"] {
            let runner = Runners::builtin().unwrap().find(name).unwrap().clone();
            let at = AbsolutePath::parse("/nowhere/at").unwrap();
            assert!(runner.stage(&world, &at, &[]).unwrap().is_none(), "{name}");
        }
    }
}
