//! Signatures of statements, made and verified by `ssh-keygen -Y`, as git does for commits.

use std::path::Path;
use std::time::Duration;

use data_encoding::{BASE64, BASE64_NOPAD};
use sha2::{Digest as _, Sha256};

use super::envelope::{Signature, signed_bytes};
use crate::auto::landing::signing::SigningKey;
use crate::disk::{self, Scratch};
use crate::failure::{Failure, Reason};
use crate::world::{Program, World};

/// The namespace of the signatures: a signature of a proof cannot be used as one of a commit, or the other way round.
pub(crate) const NAMESPACE: &str = "gsd-proof";

/// The timeout of signing: a person may have to touch a key, or to type a passphrase.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program that verifies signatures, whatever the settings of a repository name.
const CHECKER: &str = "ssh-keygen";

/// The lines around a signature.
const ARMOUR: [&str; 2] = ["-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"];

/// Returns the failure for a signature that is missing or not valid.
fn unsigned(why: String) -> Failure {
    Failure::new(Reason::Unknown, why)
}

fn malformed() -> Failure {
    unsigned("its signature is not in the form that `ssh-keygen` makes".to_owned())
}

/// Signs a payload with the key that git signs commits with.
pub(crate) fn sign(world: &World, key: &SigningKey, payload: &[u8]) -> Result<Signature, Failure> {
    let scratch = Scratch::new(&world.temporary_folder())?;
    let file = scratch.path("statement");
    disk::write_fleeting(&file, &signed_bytes(payload))?;
    let mut program = Program::new(&key.program).arguments(["-Y", "sign", "-n", NAMESPACE, "-f"]);
    program = if key.is_literal() {
        let public = scratch.path("key.pub");
        disk::write_fleeting(&public, format!("{}\n", key.key).as_bytes())?;
        // The private half is in the SSH agent.
        program.arguments([public.as_path().as_os_str(), "-U".as_ref()])
    } else {
        program.arguments([&key.key])
    };
    let program = program.arguments([file.as_path()]).folder(key.folder.as_path()).timeout(PATIENCE);
    let finished = world.run(&program)?;
    let refused = |why: String| unsigned(format!("`{}` could not sign: {why}", key.program));
    if !finished.success() {
        return Err(refused(last_line(&finished.error_text())));
    }
    let armoured = disk::read_bytes(scratch.path("statement.sig"))?;
    let armoured = armoured.ok_or_else(|| refused("it left no signature".to_owned()))?;
    let keyid = fingerprint(&armoured).ok_or_else(malformed)?;
    Ok(Signature::new(keyid, &armoured))
}

/// Returns the owner of the key that signed a payload, from the file of allowed signers; `None` if that file does not
/// exist, so that the owner is unknown. An error if the signature does not fit, or if the file does not list the key.
pub(crate) fn signer(
    world: &World,
    payload: &[u8],
    signature: &Signature,
    signers: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let armoured = signature.armoured().ok_or_else(malformed)?;
    let found = fingerprint(&armoured).ok_or_else(malformed)?;
    if found != signature.keyid {
        let named = &signature.keyid;
        return Err(unsigned(format!("its signature is of the key {found}, and it names the key {named}")));
    }
    let scratch = Scratch::new(&world.temporary_folder())?;
    let file = scratch.path("signature");
    disk::write_fleeting(&file, &armoured)?;
    let about = |verb: &str| Program::new(CHECKER).arguments(["-Y", verb]).timeout(PATIENCE);
    let with_file = |program: Program| program.arguments(["-s".as_ref(), file.as_path().as_os_str()]);
    let fits = |program: Program| {
        let program = with_file(program.arguments(["-n", NAMESPACE])).stdin(signed_bytes(payload));
        let finished = world.run(&program)?;
        let why = || last_line(&[finished.text(), finished.error_text()].join("\n"));
        if finished.success() { Ok(()) } else { Err(unsigned(format!("its signature does not fit: {}", why()))) }
    };
    let Some(signers) = signers else {
        fits(about("check-novalidate"))?;
        return Ok(None);
    };
    let named = |program: Program| program.arguments(["-f".as_ref(), signers.as_os_str()]);
    let told = world.run(&with_file(named(about("find-principals"))))?.text();
    let mut last = unsigned(format!("its key {found} is not in `{}`", signers.display()));
    for principal in told.lines().filter(|line| !line.is_empty()) {
        match fits(named(about("verify")).arguments(["-I", principal])) {
            Ok(()) => return Ok(Some(principal.to_owned())),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the fingerprint of the key that made an armoured signature, in the format of OpenSSH. The signature contains
/// the key (`PROTOCOL.sshsig` of OpenSSH).
fn fingerprint(armoured: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(armoured).ok()?.trim();
    let body: String = text.strip_prefix(ARMOUR[0])?.strip_suffix(ARMOUR[1])?.split_whitespace().collect();
    let blob = BASE64.decode(body.as_bytes()).ok()?;
    let rest = blob.strip_prefix(b"SSHSIG\0\0\0\x01")?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let key = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some(format!("SHA256:{}", BASE64_NOPAD.encode(&Sha256::digest(key))))
}

fn last_line(text: &str) -> String {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not say why").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_signature_is_shown_in_the_format_of_openssh() {
        // Made by OpenSSH 9.2: `ssh-keygen -Y sign -n gsd-proof -f key`.
        let armoured = "-----BEGIN SSH SIGNATURE-----\n\
             U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgSvV/3hq2/bmPfQ2xWTAhvhWD16\n\
             nrTQ4myGTrfdztfmUAAAAJZ3NkLXByb29mAAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1l\n\
             ZDI1NTE5AAAAQOI7vRytXFANfHgvaofzut7LIZYOM6NAGwt5QACFMLw3F5e93gNsFwbwjF\n\
             47iKl9NSb5DNvgoFcjrd5kCc8/YAc=\n\
             -----END SSH SIGNATURE-----\n";
        assert_eq!(
            fingerprint(armoured.as_bytes()).as_deref(),
            Some("SHA256:EIH4exvlxjzsdPOscezi/eAdo8P5sE5/VGPevcKP63k")
        );
        for broken in ["", ARMOUR[0], &armoured.replace("U1NIU0lH", "U1NIU0lI"), &armoured[..80]] {
            assert_eq!(fingerprint(broken.as_bytes()), None, "{broken}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_blob_is_read(blob in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
            let blob = [&b"SSHSIG\0\0\0\x01"[..], &blob].concat();
            let text = format!("{}\n{}\n{}\n", ARMOUR[0], BASE64.encode(&blob), ARMOUR[1]);
            let _ = fingerprint(text.as_bytes());
        }
    }
}
