//! Checks that no session sees: they find cheats that nothing in the work shows.

use std::sync::LazyLock;

use super::row::Base;
use crate::kit::{TestContext, binary, not_run};

/// True if such checks are possible: without a fence a session could read them.
pub(super) fn can_be() -> bool {
    static CAN_BE: LazyLock<bool> = LazyLock::new(|| {
        let context = TestContext::on_disk();
        let probe = context.command(binary()).args(["__fence", "--", "true"]).output().unwrap();
        if !probe.status.success() {
            not_run("cheats: held-out checks", String::from_utf8_lossy(&probe.stderr).trim());
        }
        probe.status.success()
    });
    *CAN_BE
}

/// Declares the true tests as a held-out check, in the preferences of the user.
pub(super) fn declare(context: &TestContext, base: &Base) {
    let folder = context.home().join("held");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("truth.sh"), format!("TRUTH=$TMPDIR\n{}", base.project().truth)).unwrap();
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    let preferences = format!(
        "---\nheld_out:\n  - repository: {}\n    folder: {}\n    command: sh \"$GSD_HELD_OUT/truth.sh\"\n---\n",
        context.project().display(),
        folder.display()
    );
    std::fs::write(context.home().join(".gsd/PREFERENCES.md"), preferences).unwrap();
}
