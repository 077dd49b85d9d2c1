//! Variables that lead a program to another one outside of its fence: sockets, displays, agents, editors.

/// Names, grouped by the programs they lead to. Source: the documentation of each program, as of 2026-11-27.
const NAMES: &[&str] = &[
    // Terminal multiplexers: tmux(1), screen(1).
    "STY",
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    // Containers: docker(1), podman(1), buildctl(1).
    "BUILDKIT_HOST",
    "CONTAINER_HOST",
    "DOCKER_HOST",
    // Key agents and password prompts: ssh-agent(1), gpg-agent(1), git(1), sudo(8), gnome-keyring(1).
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SUDO_ASKPASS",
    // The desktop: XDG Base Directory 0.8, X(7), Wayland, sway(1), i3(1), PulseAudio, AT-SPI, X session management.
    "AT_SPI_BUS_ADDRESS",
    "DISPLAY",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "I3SOCK",
    "ICEAUTHORITY",
    "NIRI_SOCKET",
    "PULSE_SERVER",
    "SESSION_MANAGER",
    "SWAYSOCK",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    // Services: sd_notify(3), watchman(1).
    "NOTIFY_SOCKET",
    "WATCHMAN_SOCK",
    // Editors and terminals that can be made to run something: emacsclient(1), Neovim, Vim, Kakoune, Alacritty,
    // WezTerm.
    "ALACRITTY_SOCKET",
    "BROWSER",
    "EMACS_SERVER_FILE",
    "EMACS_SOCKET_NAME",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VIM_SERVERNAME",
    "WEZTERM_UNIX_SOCKET",
    "kak_session",
];

/// Prefixes of names: D-Bus 1.15, GNOME Keyring, iTerm2 3.5, kitty 0.38, VS Code 1.9x, Zellij 0.41.
const STARTS: &[&str] = &[
    "DBUS_",
    "GNOME_KEYRING_",
    "ITERM2_",
    "KITTY_",
    "PIPEWIRE_",
    "VSCODE_GIT_ASKPASS_",
    "VSCODE_GIT_IPC_",
    "VSCODE_IPC_",
    "ZELLIJ",
];

/// True if a variable leads out of a fence.
pub(crate) fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_sockets_lead_out_and_those_that_builds_need_do_not() {
        for name in ["TMUX", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "VSCODE_IPC_HOOK_CLI", "ZELLIJ_SESSION_NAME"]
        {
            assert!(is_known(name), "{name}");
        }
        for name in ["PATH", "HOME", "TERM", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "EDITOR", "DATABASE_URL", "KITTY"] {
            assert!(!is_known(name), "{name}");
        }
    }
}
