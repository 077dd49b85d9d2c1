//! A run on one page as a document: HTML for a browser and paper, and Markdown.
//!
//! Both have the same sections in the same order, and take words and figures from [`facts`]. What comes from documents,
//! sessions and programs is escaped by the form that writes it.

mod facts;
pub(crate) mod html;
pub(crate) mod markdown;
#[cfg(test)]
pub(crate) mod samples;
