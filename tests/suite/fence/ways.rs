//! Ways out of a fence, one per row: what is tried, by which user, and from which version of Landlock it is closed.
//! What stays open is in `docs/auto-mode.md`, "What the fence holds".

/// The version of Landlock from which a way is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    From(u32),
    /// Open with every kernel that this suite covers.
    Never,
}

use Held::{From, Never};

/// A line for bash that tries to get out. It succeeded if something outside has changed, or if its output, or a
/// terminal of the user, shows the word `got`. `$OUT` is a folder outside, which contains the home folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) line: &'static str,
    pub(crate) held: Held,
    /// True if only root tries it: another user cannot do it anyway.
    pub(crate) of_root: bool,
}

const fn way(name: &'static str, line: &'static str, held: Held) -> Way {
    Way { name, line, held, of_root: false }
}

const fn root(name: &'static str, line: &'static str, held: Held) -> Way {
    Way { of_root: true, ..way(name, line, held) }
}

/// Each would change a file or folder outside.
pub(crate) const WRITES: &[Way] = &[
    way("new file", "echo x > $OUT/new", From(1)),
    way("append", "echo x >> $OUT/kept", From(1)),
    way("empty", ": > $OUT/kept", From(1)),
    way("truncate", "truncate -s 0 $OUT/kept", From(1)),
    way("read and write", "exec 3<> $OUT/kept; echo x >&3", From(1)),
    way("tee", "echo x | tee $OUT/kept", From(1)),
    way("dd", "dd if=/dev/zero of=$OUT/kept bs=1 count=3 conv=notrunc", From(1)),
    way("sed", "sed -i s/kept/gone/ $OUT/kept", From(1)),
    way("cp", "cp mine $OUT/new", From(1)),
    way("cp over", "cp -f mine $OUT/kept", From(1)),
    way("install", "install mine $OUT/new", From(1)),
    way("rm", "rm -f $OUT/kept", From(1)),
    way("rm folder", "rm -rf $OUT/folder", From(1)),
    way("rmdir", "rmdir $OUT/empty", From(1)),
    way("rename outside", "mv $OUT/kept $OUT/moved", From(1)),
    way("move out", "mv mine $OUT/moved", From(1)),
    way("move folder out", "mv -T sub $OUT/moved", From(1)),
    way("move in", "mv $OUT/kept .", From(1)),
    way("move across", "mv $OUT/folder/kept $OUT/empty/", From(1)),
    way("mkdir", "mkdir $OUT/new", From(1)),
    way("mkfifo", "mkfifo $OUT/new", From(1)),
    way("link", "ln -s /nowhere $OUT/new", From(1)),
    way("hard link out", "ln mine $OUT/new", From(1)),
    way("hard link in", "ln $OUT/kept mine-now && echo x >> mine-now", From(1)),
    way("through a link", "ln -s $OUT/kept way && echo x >> way", From(1)),
    way("through a linked folder", "ln -s $OUT way && echo x > way/new", From(1)),
    way("through a dangling link", "ln -s $OUT/new way && echo x > way", From(1)),
    way("cd", "cd $OUT && echo x > new", From(1)),
    way("dots", "cd ..; echo x > home/new", From(1)),
    way("/proc cwd", "echo x > /proc/self/cwd/../home/new", From(1)),
    way("/proc root", "echo x > /proc/self/root/$OUT/new", From(1)),
    way("another session", "(setsid bash -c 'echo x > $OUT/new'; true) & wait", From(1)),
    way("no environment", "env -i bash -c \"echo x > $OUT/new\"", From(1)),
    way("touch", "touch $OUT/new", From(1)),
    way("git init", "git init --quiet $OUT/new", From(1)),
    way("rename by call", "perl -e 'rename \"$ENV{OUT}/kept\", \"$ENV{OUT}/moved\"'", From(1)),
    way("truncate by path", "perl -e 'truncate \"$ENV{OUT}/kept\", 0'", From(3)),
    way(
        "socket file",
        "perl -MSocket -e 'socket S, PF_UNIX, SOCK_STREAM, 0; bind S, pack_sockaddr_un(\"$ENV{OUT}/new\")'",
        From(1),
    ),
    way("shared temporary folder", "echo x > $OUT/tmp/new", From(1)),
    way("reopen what is open for reading", "exec 3< $OUT/kept; echo x > /proc/self/fd/3", From(1)),
    way("hard link of what is open", "exec 3< $OUT/kept; ln -L /proc/$$/fd/3 here && echo x >> here", From(1)),
    way(
        "name for a file without one",
        "perl -e 'sysopen F, \".\", 020200002, 0600 or die; system \"ln -L /proc/$$/fd/\" . fileno(F) . \" $ENV{OUT}/new\"'",
        From(1),
    ),
    way(
        "swap",
        "[ $(uname -m) = x86_64 ] || exit; perl -e 'my ($own, $other) = (\"mine\", \"$ENV{OUT}/kept\"); syscall 316, -100, $own, -100, $other, 2'",
        From(1),
    ),
    way(
        "empty while it is opened for reading",
        "perl -MFcntl -e 'sysopen F, \"$ENV{OUT}/kept\", O_RDONLY | O_TRUNC'",
        From(3),
    ),
    way("root of another process", "echo x > /proc/$OTHER/root$OUT/new", From(1)),
    way("nested fence", "$GSD __fence --write $OUT -- bash -c 'echo x > $OUT/new'", From(1)),
    root("chroot", "chroot / bash -c \"echo x > $OUT/new\"", From(1)),
    root("mount over", "mount -t tmpfs none $OUT/empty && echo got && umount $OUT/empty", From(1)),
    root("bind mount", "mount --bind $OUT sub && echo x > sub/new; umount sub", From(1)),
    root("device", "mknod null c 1 3 && echo got", From(1)),
    root("disk", "mknod disk b 7 0 && echo got", From(1)),
];

/// Each would show a secret.
pub(crate) const READS: &[Way] = &[
    way("read a key", "cat $OUT/.ssh/id", From(1)),
    way("list keys", "ls $OUT/.ssh", From(1)),
    way("key by link", "ln -s $OUT/.ssh/id way; cat way", From(1)),
    way("key by hard link", "ln $OUT/.ssh/id here; cat here", From(1)),
    way("key by /proc", "cat /proc/self/root$OUT/.ssh/id", From(1)),
    way("key from inside", "cd $OUT/.ssh && cat id", From(1)),
    way("copy a key", "cp $OUT/.ssh/id here; cat here", From(1)),
    way("move a key", "mv $OUT/.ssh/id here; cat here", From(1)),
    way("archive keys", "tar cf - -C $OUT .ssh", From(1)),
    way("key by git", "git --no-pager diff --no-index /dev/null $OUT/.ssh/id", From(1)),
    way("run what is secret", "$OUT/.ssh/run", From(1)),
    way("another process's file", "cat /proc/$OTHER/fd/0", From(1)),
    way("another process's folder", "cat /proc/$OTHER/cwd/id", From(1)),
    way("folder of a thread of another process", "cat /proc/$OTHER/task/$OTHER/cwd/id", From(1)),
    way("key by the root of another process", "cat /proc/$OTHER/root$OUT/.ssh/id", From(1)),
    way(
        "key by a descriptor of its path",
        "perl -e 'sysopen F, \"$ENV{OUT}/.ssh/id\", 010000000 or die; open G, \"<\", \"/proc/self/fd/\" . fileno F; print <G>'",
        From(1),
    ),
    way(
        "swap a key",
        "[ $(uname -m) = x86_64 ] || exit; perl -e 'my ($own, $other) = (\"mine\", \"$ENV{OUT}/.ssh/id\"); syscall 316, -100, $own, -100, $other, 2'; cat mine",
        From(1),
    ),
    way("size of a key", "stat -c 'got %s' $OUT/.ssh/id", Never),
    way("link in a secret place", "readlink $OUT/.ssh/link", Never),
    way(
        "changes in a secret place",
        "[ $(uname -m) = x86_64 ] || { echo got; exit; }; perl -e 'print \"got\" if syscall(254, syscall(253), \"$ENV{OUT}/.ssh\", 4095) >= 0'",
        Never,
    ),
];

/// Each would make something outside act, or could.
pub(crate) const REACHES: &[Way] = &[
    way("signal", "kill -0 $OTHER && echo got", From(6)),
    way("end", "kill -CONT $OTHER && echo got", From(6)),
    way("signal to a group", "kill -0 -- -$(ps -o pgid= -p $OTHER | tr -d ' ') && echo got", From(6)),
    way(
        "signal by a descriptor of a process",
        "[ $(uname -m) = x86_64 ] || exit; perl -e 'print \"got\" if syscall(424, syscall(434, $ENV{OTHER} + 0, 0), 0, 0, 0) == 0'",
        From(6),
    ),
    way(
        "signal by a file",
        "perl -MSocket -e 'socketpair A, B, AF_UNIX, SOCK_STREAM, 0 or die; fcntl A, 8, $ENV{OTHER} + 0; fcntl A, 10, 9; \
         fcntl A, 4, 020000; syswrite B, \"x\"; select undef, undef, undef, 0.2'; grep -q 'State:.*Z' /proc/$OTHER/status && echo got",
        From(6),
    ),
    way("limits of another process", "prlimit --pid $OTHER --core=0:0 && echo got", Never),
    way("priority of another process", "renice -n 5 -p $OTHER && echo got", Never),
    way("lock of a file", "flock -n $OUT/kept echo got", Never),
    way(
        "memory that is shared by a number",
        "at=$(ipcmk -M 4096 | grep -o '[0-9]*$') && ipcrm -m $at && echo got",
        Never,
    ),
    way(
        "memory of another process",
        "perl -e 'open my $f, \"+<\", \"/proc/$ENV{OTHER}/mem\" and print \"got\"'",
        From(1),
    ),
    way(
        "trace",
        "[ $(uname -m) = x86_64 ] || exit; perl -e 'print \"got\" if syscall(101, 16, $ENV{OTHER} + 0, 0, 0) == 0'",
        From(1),
    ),
    root("namespace of another process", "nsenter -t $OTHER -m echo got", From(1)),
    way(
        "abstract socket",
        "perl -MSocket -e 'socket S, PF_UNIX, SOCK_STREAM, 0; print \"got\" if connect S, pack(\"Sxa*\", PF_UNIX, $ENV{ABSTRACT})'",
        From(6),
    ),
    way(
        "abstract datagram",
        "perl -MSocket -e 'socket S, PF_UNIX, SOCK_DGRAM, 0; print \"got\" if send S, \"x\", 0, pack(\"Sxa*\", PF_UNIX, \"$ENV{ABSTRACT}-d\")'",
        From(6),
    ),
    way("socket by its path", PATH_SOCKET, Never),
    way(
        "socket in a secret place",
        "perl -MSocket -e 'socket S, PF_UNIX, SOCK_STREAM, 0; print \"got\" if connect S, pack_sockaddr_un(\"$ENV{OUT}/.ssh/agent\")'",
        Never,
    ),
    way("the network", "exec 3<>/dev/tcp/127.0.0.1/$TCP && echo got", Never),
    way("mode", "chmod 600 $OUT/kept && echo got", Never),
    way("time", "touch -d 2001-01-01 $OUT/kept && echo got", Never),
    way("processes", "grep -q got /proc/$OTHER/cmdline && echo got", Never),
    way("TMUX", "printenv TMUX", From(1)),
    way("SSH_AUTH_SOCK", "printenv SSH_AUTH_SOCK", From(1)),
    way("DBUS_SESSION_BUS_ADDRESS", "printenv DBUS_SESSION_BUS_ADDRESS", From(1)),
    way("DOCKER_HOST", "printenv DOCKER_HOST", From(1)),
    way("XDG_RUNTIME_DIR", "printenv XDG_RUNTIME_DIR", From(1)),
    way("DISPLAY", "printenv DISPLAY", From(1)),
    way("WAYLAND_DISPLAY", "printenv WAYLAND_DISPLAY", From(1)),
    way("VSCODE_IPC_HOOK_CLI", "printenv VSCODE_IPC_HOOK_CLI", From(1)),
    way("KITTY_LISTEN_ON", "printenv KITTY_LISTEN_ON", From(1)),
    way("EMACS_SOCKET_NAME", "printenv EMACS_SOCKET_NAME", From(1)),
    way("NVIM", "printenv NVIM", From(1)),
    way("GPG_AGENT_INFO", "printenv GPG_AGENT_INFO", From(1)),
    way("gain privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo got", From(1)),
    way("another temporary folder", "[ \"${TMPDIR##*/}\" = own ] || echo got", From(1)),
];

pub(crate) const PATH_SOCKET: &str = "perl -MSocket -e 'socket S, PF_UNIX, SOCK_STREAM, 0; print \"got\" if connect S, pack_sockaddr_un(\"$ENV{OUT}/sock\")'";

/// Each would do something at the terminal of the user, `$TTY`.
pub(crate) const TERMINALS: &[Way] = &[
    way("write to the own terminal", "echo got > /dev/tty", From(0)),
    way(
        "type into the own terminal",
        "perl -e 'open my $t, \"<\", \"/dev/tty\" or exit; ioctl $t, 0x5412, $_ for split //, \"got\\n\"'",
        From(0),
    ),
    way("have a terminal", "[ \"$(ps -o tty= -p $$)\" = '?' ] || echo got", From(0)),
    way("be in the session of the terminal", "[ $(ps -o sid= -p $$) -ne $SHELL_SID ] || echo got", From(0)),
    way("write to the user's terminal", "echo got > $TTY", From(1)),
    way("read from the user's terminal", "exec 3< $TTY && echo got", From(1)),
    way("open the maker of terminals", "exec 3<> /dev/ptmx && echo got", From(1)),
    root(
        "type into the user's terminal",
        "perl -e 'open my $t, \"<\", $ENV{TTY} or exit; ioctl $t, 0x5412, $_ for split //, \"got\\n\"'",
        From(1),
    ),
    root(
        "take the user's terminal",
        "perl -MPOSIX -e 'exit if fork; POSIX::setsid(); open my $t, \"<\", $ENV{TTY} or exit; print \"got\" if ioctl $t, 0x540E, 1'; sleep 0.2",
        From(1),
    ),
];
