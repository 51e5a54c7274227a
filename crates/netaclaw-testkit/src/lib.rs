//! For tests only: a private MariaDB, and whatever else a test needs of the world outside.

mod mariadb;
mod pi;

pub use mariadb::{Database, MariaDb};
pub use pi::Pi;
