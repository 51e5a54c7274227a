//! The tools that come with NetaClaw, one file each.

mod bash;
mod clarify;
mod diff;
mod edit;
mod find;
mod glob;
mod grep;
mod image;
mod lines;
mod looking;
mod ls;
mod memory_save;
mod memory_search;
mod names;
mod read;
mod search;
mod todo;
mod web_fetch;
mod write;

pub use bash::Bash;
pub use clarify::{Clarify, clarify_output};
pub use edit::Edit;
pub use find::Find;
pub use grep::Grep;
pub use image::image_type;
pub use ls::Ls;
pub use memory_save::MemorySave;
pub use memory_search::MemorySearch;
pub use read::Read;
pub use todo::Todo;
pub use web_fetch::{PublicInternet, Reach, WebFetch};
pub use write::Write;
