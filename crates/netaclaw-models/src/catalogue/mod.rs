//! What is known about suppliers and models without asking them.

mod models;
mod suppliers;

pub(crate) use suppliers::{AdaptiveOff, Auth, EffortNames, Quirks, ReasoningBack, ThinkingStyle};
pub use suppliers::{ApiFamily, SUPPLIERS, SupplierInfo, supplier};

use crate::channel::Channel;
use models::{Can, MODELS, Row};
use netaclaw_protocol::{ChannelModel, InfoSource, ModelInfo, Supplier};

/// For unknown models: the minimum that most servers support.
const GUESSED_WINDOW: u64 = 32_768;
const GUESSED_OUTPUT: u64 = 4_096;

/// A model and its thinking parameters on this channel.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) info: ModelInfo,
    pub(crate) thinking: ThinkingStyle,
}

/// The well-known models of a supplier, for screens that offer them.
pub fn known_models(supplier: Supplier) -> impl Iterator<Item = ModelInfo> {
    MODELS
        .iter()
        .filter(move |row| row.home == supplier)
        .map(|row| info_of(row, row.name))
}

/// The channel's entry, else the catalog, else a guess; each fills the gaps of the one before.
pub(crate) fn resolve(channel: &Channel, model: &str) -> Resolved {
    let row = find(model);
    let mut info = match row {
        Some(row) => info_of(row, model),
        None => ModelInfo {
            name: model.to_owned(),
            context_window: GUESSED_WINDOW,
            max_output: GUESSED_OUTPUT,
            vision: false,
            tools: true,
            thinking: false,
            price: None,
            source: InfoSource::Guess,
        },
    };
    if let Some(entry) = channel.models.iter().find(|entry| entry.name == model) {
        apply(entry, &mut info);
    }
    let style = supplier(channel.supplier).quirks.thinking;
    let thinking = match row {
        _ if !info.thinking => ThinkingStyle::None,
        Some(row) if at_home(row, channel.supplier) && row.thinking != ThinkingStyle::None => {
            with_effort(row.thinking, style)
        }
        _ => style,
    };
    Resolved { info, thinking }
}

fn apply(entry: &ChannelModel, info: &mut ModelInfo) {
    if let Some(window) = entry.context_window {
        info.context_window = window;
        info.source = InfoSource::Channel;
    }
    info.max_output = entry.max_output.unwrap_or(info.max_output);
    info.vision = entry.vision.unwrap_or(info.vision);
    info.tools = entry.tools.unwrap_or(info.tools);
    info.thinking = entry.thinking.unwrap_or(info.thinking);
    info.price = entry.price.or(info.price);
}

/// Azure hosts OpenAI's models and names them as OpenAI does.
fn at_home(row: &Row, supplier: Supplier) -> bool {
    row.home == supplier || (row.home == Supplier::Openai && supplier == Supplier::Azure)
}

/// Rows say that there is a switch; whether an effort goes with it is the supplier's habit.
fn with_effort(row: ThinkingStyle, supplier: ThinkingStyle) -> ThinkingStyle {
    match (row, supplier) {
        (ThinkingStyle::Switch, ThinkingStyle::SwitchAndEffort(_)) => supplier,
        _ => row,
    }
}

fn info_of(row: &Row, name: &str) -> ModelInfo {
    ModelInfo {
        name: name.to_owned(),
        context_window: row.context_window,
        max_output: row.max_output,
        vision: matches!(row.can, Can::UseToolsAndSee | Can::See),
        tools: matches!(row.can, Can::UseTools | Can::UseToolsAndSee),
        thinking: row.thinking != ThinkingStyle::None,
        price: row.price(),
        source: InfoSource::Catalogue,
    }
}

/// The row for a name as suppliers vary it: another case, a vendor before it, a date, a size or
/// a tag behind it. The longest name that fits wins.
fn find(model: &str) -> Option<&'static Row> {
    let name = model.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    MODELS
        .iter()
        .filter(|row| name.strip_prefix(row.name).is_some_and(is_variant))
        .max_by_key(|row| row.name.len())
}

/// Whether what follows a known name still means the same model.
fn is_variant(rest: &str) -> bool {
    let Some(tail) = rest.strip_prefix(['-', '@', ':']) else {
        return rest.is_empty();
    };
    // Ollama's tags are sizes and quantisations of one family.
    rest.starts_with(':')
        || tail.split(['-', '.', '_']).all(|word| {
            matches!(word, "latest" | "preview" | "exp" | "ga")
                || (word.len() >= 4 && word.bytes().all(|b| b.is_ascii_digit()))
                || (word.len() == 2 && word.bytes().all(|b| b.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests;
