//! The envelope of a statement: DSSE 1.0.2, <https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md>.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

/// The payload type in an envelope, as specified by in-toto.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A payload with its signatures. As JSON it is one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Envelope {
    /// In base64.
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    /// Empty if the statement is not signed.
    signatures: Vec<Signature>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Signature {
    /// The fingerprint of the key.
    pub(crate) keyid: String,
    /// The armoured signature that `ssh-keygen` makes, in base64.
    sig: String,
}

impl Signature {
    pub(crate) fn new(keyid: String, armoured: &[u8]) -> Self {
        Self { keyid, sig: BASE64.encode(armoured) }
    }

    /// Returns the armoured signature; `None` if it is not valid base64.
    pub(crate) fn armoured(&self) -> Option<Vec<u8>> {
        BASE64.decode(self.sig.as_bytes()).ok()
    }
}

impl Envelope {
    pub(crate) fn new(payload: &[u8], signature: Option<Signature>) -> Self {
        Self {
            payload: BASE64.encode(payload),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: signature.into_iter().collect(),
        }
    }

    /// Returns the envelopes in a note, one per line. Other lines belong to other programs.
    pub(crate) fn all_in(note: &str) -> Vec<Self> {
        let envelopes = note.lines().filter_map(|line| serde_json::from_str::<Self>(line).ok());
        envelopes.filter(|envelope| envelope.payload_type == PAYLOAD_TYPE).collect()
    }

    /// Returns its line in a note.
    pub(crate) fn line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Returns the payload; `None` if it is not valid base64.
    pub(crate) fn payload(&self) -> Option<Vec<u8>> {
        BASE64.decode(self.payload.as_bytes()).ok()
    }

    pub(crate) fn signatures(&self) -> &[Signature] {
        &self.signatures
    }
}

/// Returns the bytes that are signed for a payload ("pre-authentication encoding").
pub(crate) fn signed_bytes(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signed_bytes_have_the_type_and_both_lengths() {
        assert_eq!(signed_bytes(b"{}"), b"DSSEv1 28 application/vnd.in-toto+json 2 {}");
        assert_eq!(signed_bytes("\u{e9}".as_bytes()), "DSSEv1 28 application/vnd.in-toto+json 2 \u{e9}".as_bytes());
    }

    #[test]
    fn an_envelope_is_found_among_other_lines_of_a_note() {
        let signature = Signature::new("SHA256:x".to_owned(), b"armour\n");
        let envelope = Envelope::new(b"{\"a\":1}", Some(signature));
        let line = envelope.line().unwrap();
        assert!(!line.contains('\n') && line.starts_with("{\"payload\":\"eyJhIjoxfQ==\","), "{line}");
        let other = "{\"payload\":\"\",\"payloadType\":\"text/plain\",\"signatures\":[]}";
        let note = format!("Reviewed-by: A\n\n{line}\n{other}\n{{}}\n");
        let found = Envelope::all_in(&note);
        assert_eq!(found, [envelope]);
        assert_eq!(found[0].payload().unwrap(), b"{\"a\":1}");
        assert_eq!(found[0].signatures()[0].armoured().unwrap(), b"armour\n");
    }

    #[test]
    fn a_payload_that_is_not_base64_is_rejected() {
        let note = "{\"payload\":\"e30\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[]}";
        assert_eq!(
            Envelope::all_in(note)[0].payload(),
            None,
            "without its padding it is another text of the same bytes"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_payload_is_read_back(payload in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
            let line = Envelope::new(&payload, None).line().unwrap();
            proptest::prop_assert_eq!(Envelope::all_in(&line)[0].payload(), Some(payload));
        }
    }
}
