//! The checks that work has to pass, and the evidence that it did.
