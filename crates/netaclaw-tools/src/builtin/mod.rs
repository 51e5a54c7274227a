//! The tools that come with NetaClaw, one file each.

mod clarify;
mod image;
mod lines;
mod ls;
mod read;
mod todo;

pub use clarify::{Clarify, clarify_output};
pub use image::image_type;
pub use ls::Ls;
pub use read::Read;
pub use todo::Todo;
