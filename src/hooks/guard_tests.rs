//! How often the guards of secrets and of planning documents misjudge shell lines, measured with the lists in
//! `tests/data/guards`. The lists were written before the guards could be fitted to them, and are not changed.
#![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]

use std::path::Path;

use serde_json::json;

use super::payload::Payload;
use super::scene::{HookProject, Scene};
use super::verdict::Reaction;
use super::{secret_guard, write_guard};
use crate::library::Event;
use crate::world::World;

/// The lines of a list. A mark represents a line break, so that each is one line of the file.
fn list(name: &str) -> Vec<String> {
    let path = format!("{}/tests/data/guards/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.replace('⏎', "\n")).collect()
}

/// A project with the files that the lists mention, and a home folder next to it.
struct GuardedProject {
    folder: tempfile::TempDir,
}

impl GuardedProject {
    fn new() -> Self {
        let place = Self { folder: crate::testing::folder() };
        let values = "# values\nAPI_KEY=sk-live-1234\nDATABASE_URL=postgres://app:password@db/app\nAPI_TOKEN=t-1\nJWT_SECRET=s\n\
            DB_PASSWORD=p\nPORT=3000\n";
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n";
        let document = |title: &str| format!("# {title}\n{}", "- a line\n".repeat(119));
        for (file, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".gitignore", ".env\n.env.*\n!.env.example\nnode_modules\n"),
            (".env", values),
            (".env.local", values),
            (".env.production", values),
            (".envrc", "export API_KEY=sk-live-1234\n"),
            (".npmrc", "//registry.npmjs.org/:_authToken=npm_abc\n"),
            (".env.example", "API_KEY=\nPORT=\n"),
            (".env.test", "API_KEY=test\n"),
            ("config/server.key", key),
            ("certs/tls.pem", key),
            ("certs/server.crt", "-----BEGIN CERTIFICATE-----\n"),
            (".secrets/token", "t-1\n"),
            ("package.json", "{}\n"),
            ("README.md", "# App\n"),
            ("src/config.ts", "connect(process.env.API_KEY)\n"),
            ("short.md", "# Short\n\n- one\n"),
            (".planning/ROADMAP.md", &document("Roadmap")),
            (".planning/STATE.md", &document("Project State")),
            (".planning/config.json", "{}\n"),
            (".planning/phases/01-start/scratch.md", "x\n"),
        ] {
            place.write(&format!("app/{file}"), text);
        }
        for (file, text) in [
            (".aws/credentials", "[default]\naws_secret_access_key = abc\n"),
            (".netrc", "machine example.com login me password p\n"),
            (".ssh/id_ed25519", key),
            (".ssh/id_ed25519.pub", "ssh-ed25519 AAAA me\n"),
            (".kube/config", "users:\n- user: {token: abc}\n"),
            (".docker/config.json", "{\"auths\": {\"r\": {\"auth\": \"abc\"}}}\n"),
        ] {
            place.write(&format!("home/{file}"), text);
        }
        place
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// True if a guard refuses a line.
    fn refuses(&self, guard: fn(&Scene<'_>) -> Reaction, command: &str) -> bool {
        let here = self.folder.path().join("app");
        let home = self.folder.path().join("home");
        let world = World::with([("HOME", home.to_str().unwrap())], &here);
        let event = json!({"session_id": "s", "cwd": &here, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}});
        let payload = Payload::parse(&event.to_string()).unwrap();
        let project = HookProject::find(&here, &world, payload.session()).unwrap();
        let scene = Scene {
            world: &world,
            event: Event::BeforeTool,
            payload: &payload,
            here: Path::new(&here),
            project: &project,
        };
        matches!(guard(&scene), Reaction::Block(_))
    }

    /// Checks that at most so many of a thousand lines of a list are misjudged.
    fn check(&self, name: &str, is_refused: bool, most_of_1000: usize, guards: &[fn(&Scene<'_>) -> Reaction]) {
        let lines = list(name);
        let refused = |line: &String| guards.iter().any(|guard| self.refuses(*guard, line));
        let wrong: Vec<&String> = lines.iter().filter(|line| refused(line) != is_refused).collect();
        let shown: Vec<&str> = wrong.iter().map(|line| line.as_str()).collect();
        println!("{name}: {} of {} are wrong\n{}", wrong.len(), lines.len(), shown.join("\n"));
        assert!(
            wrong.len() * 1_000 <= lines.len() * most_of_1000,
            "{name}: {} of {}\n{}",
            wrong.len(),
            lines.len(),
            shown.join("\n")
        );
    }
}

#[test]
fn at_most_8_of_100_fresh_lines_that_show_secrets_pass() {
    GuardedProject::new().check("secret-reads", true, 80, &[secret_guard::look]);
}

#[test]
fn at_most_12_of_100_fresh_lines_that_shorten_a_planning_document_pass() {
    GuardedProject::new().check("planning-writes", true, 120, &[write_guard::look]);
}

#[test]
fn at_most_one_of_160_fresh_everyday_lines_is_refused() {
    GuardedProject::new().check("everyday", false, 6, &[secret_guard::look, write_guard::look]);
}
