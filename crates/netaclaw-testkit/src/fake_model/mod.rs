//! A fake model server: it implements OpenAI's chat completions and Anthropic's messages to the
//! byte, records its requests, refuses what the real servers refuse, and fails in every way that a
//! test needs.
//!
//! [`FakeModel`] is a running server on a port of its own; [`serve`] is the same for an existing
//! listener. Its [`Script`] determines the answers.

pub mod anthropic;
mod body;
mod hold;
pub mod openai;
mod record;
mod refusal;
mod reply;
mod script;
mod server;

pub use hold::Hold;
pub use record::Recorded;
pub use refusal::Refusal;
pub use reply::{CallShape, Chunking, Fault, Part, Reply, TokenCounts};
pub use script::{Limits, Script};
pub use server::{FakeModel, serve};

/// Signs thinking in a way that can be verified when it is sent back.
pub fn signature_of(thinking: &str) -> String {
    let hash = thinking
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("fake-sig-{hash:016x}")
}

/// How many tokens a text is to this server: a quarter of its characters.
pub(crate) fn tokens_in(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

#[cfg(test)]
mod tests;
