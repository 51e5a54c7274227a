//! Messages as a server sees them.

mod check;
mod content;
mod render;

pub use check::check;
pub(crate) use render::{error_event, frames, model_list, whole};
