//! The bytes of a file, as planned or found. A plan hands them from change to snapshot to transaction: a copy costs
//! nothing, and their digest is computed once.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::Digest;

/// Bytes that are shared by their copies.
#[derive(Clone, Default)]
pub(crate) struct FileBytes(Arc<KnownBytes>);

#[derive(Default)]
struct KnownBytes {
    bytes: Vec<u8>,
    digest: OnceLock<Digest>,
}

impl FileBytes {
    pub(crate) fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| Digest::of(&self.0.bytes))
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl<T: Into<Vec<u8>>> From<T> for FileBytes {
    fn from(bytes: T) -> Self {
        Self(Arc::new(KnownBytes { bytes: bytes.into(), digest: OnceLock::new() }))
    }
}

impl PartialEq for FileBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for FileBytes {}

impl fmt::Debug for FileBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.bytes.fmt(formatter)
    }
}
