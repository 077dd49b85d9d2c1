//! The npm packages: packed from the program just built, installed from the archives without a network, and run; then
//! the installed files are run without Node.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::kit::{TestContext, binary, not_run, repository};

/// The package for this machine, as `npm/build.cjs` names it.
fn platform() -> Option<&'static str> {
    Some(match (std::env::consts::OS, std::env::consts::ARCH, cfg!(target_env = "musl")) {
        ("linux", "x86_64", false) => "linux-x64-gnu",
        ("linux", "x86_64", true) => "linux-x64-musl",
        ("linux", "aarch64", false) => "linux-arm64-gnu",
        ("linux", "aarch64", true) => "linux-arm64-musl",
        ("macos", "x86_64", _) => "darwin-x64",
        ("macos", "aarch64", _) => "darwin-arm64",
        _ => return None,
    })
}

fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn ran(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// A folder with the few programs that hooks and commands may need, and without Node.
#[cfg(unix)]
fn path_without_node(below: &Path) -> PathBuf {
    let folder = below.join("few-programs");
    std::fs::create_dir_all(&folder).unwrap();
    for program in ["sh", "git"] {
        std::os::unix::fs::symlink(on_path(program).unwrap(), folder.join(program)).unwrap();
    }
    folder
}

/// Every command line that the host would run at its events.
fn hook_commands(settings: &Value) -> Vec<String> {
    let mut commands = vec![settings["statusLine"]["command"].as_str().unwrap().to_owned()];
    for entry in settings["hooks"].as_object().unwrap().values().flat_map(|event| event.as_array().unwrap()) {
        for member in entry["hooks"].as_array().unwrap() {
            commands.push(member["command"].as_str().unwrap().to_owned());
        }
    }
    commands
}

#[cfg(unix)]
#[test]
#[ignore = "slow: another program"]
fn packages_install_from_archives_and_node_can_go_afterwards() {
    let (Some(_), Some(_), Some(platform)) = (on_path("npm"), on_path("node"), platform()) else {
        not_run("npm", "npm or node is not installed, or this machine has no package");
        return;
    };
    let context = TestContext::new();
    let scratch = context.home().with_file_name("packages");
    std::fs::create_dir_all(&scratch).unwrap();
    let program = smaller(&scratch);
    let npm = |program: &str| {
        let mut command = context.command(program);
        // npm must not wait for a network that is not needed.
        command.env("npm_config_offline", "true").env("npm_config_update_notifier", "false");
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
    };
    let build = repository().join("npm/build.cjs");
    ran(npm("node").arg(build).arg(scratch.join("dist")).arg(format!("{platform}={}", program.display())));
    for name in ["gsd-tools", platform] {
        ran(npm("npm").arg("pack").arg(scratch.join("dist").join(name)).arg("--pack-destination").arg(&scratch));
    }
    let archives = std::fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().path());
    let archives: Vec<PathBuf> =
        archives.filter(|path| path.extension().is_some_and(|ending| ending == "tgz")).collect();
    assert_eq!(archives.len(), 2, "{archives:?}");
    ran(npm("npm").args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).args(&archives));
    assert!(ran(npm("npx").args(["gsd-tools", "--claude", "--global"])).contains("Uninstall: `gsd-tools uninstall"));

    // The launcher passes the exit code on, and reports the cause if the program is missing.
    let wrong = npm("npx").args(["gsd-tools", "install", "--cladue"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
    let modules = context.project().join("node_modules");
    std::fs::rename(modules.join("@gsd-tools"), scratch.join("gone")).unwrap();
    let lost = npm("npx").args(["gsd-tools", "--version"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&lost.stderr).into_owned();
    assert!(lost.status.code() == Some(1) && said.contains("--include=optional"), "{said}");
    std::fs::remove_dir_all(modules).unwrap();

    let root = context.home().join(".claude");
    let installed = root.join("gsd-core/bin/gsd-tools");
    assert_eq!(std::fs::read(&installed).unwrap(), std::fs::read(&program).unwrap(), "the program, not the launcher");
    let few = path_without_node(&scratch);
    let settings: Value = serde_json::from_slice(&std::fs::read(root.join("settings.json")).unwrap()).unwrap();
    let commands = hook_commands(&settings);
    assert!(commands.len() > 2, "{commands:?}");
    for command in commands {
        assert!(!command.contains("node") && !command.contains("npx"), "{command}");
        ran(context.command("sh").env("PATH", &few).args(["-c", &command]));
    }
    let native = |arguments: &[&str]| ran(context.command(&installed).env("PATH", &few).args(arguments));
    assert!(native(&["--version"]).starts_with("gsd-tools "));
    native(&["status", "--claude"]);
    native(&["guide"]);
    native(&["uninstall", "--claude", "--global"]);
    assert!(!root.exists());
}

/// The program without debug data, if there is a tool to remove it: packing then takes less time.
fn smaller(scratch: &Path) -> PathBuf {
    let program = scratch.join("gsd-tools");
    std::fs::copy(binary(), &program).unwrap();
    let _ = Command::new("strip").arg(&program).output();
    program
}
