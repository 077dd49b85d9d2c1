//! What a command means across documents. Pure.
