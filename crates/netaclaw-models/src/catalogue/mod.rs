//! What is known about suppliers and models without asking them.

mod models;
mod names;
mod suppliers;

pub(crate) use suppliers::{AdaptiveOff, Auth, EffortNames, Quirks, ReasoningBack, ThinkingStyle};
pub use suppliers::{ApiFamily, SUPPLIERS, SupplierInfo, supplier};

use crate::channel::Channel;
use models::{Feature, MODELS, Row};
use names::{find, is_chat};
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

/// The well-known models of a supplier, for screens that offer them. Models that many servers host
/// under names of their own are offered for none.
pub fn known_models(supplier: Supplier) -> impl Iterator<Item = ModelInfo> {
    MODELS
        .iter()
        .filter(move |row| row.home == supplier && row.home != Supplier::Compatible)
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
            chat: is_chat(model),
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
    info.chat = entry.chat.unwrap_or(info.chat);
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
        vision: matches!(row.can, Feature::UseToolsAndSee | Feature::See),
        tools: matches!(row.can, Feature::UseTools | Feature::UseToolsAndSee),
        thinking: row.thinking != ThinkingStyle::None,
        chat: true,
        price: row.price(),
        source: InfoSource::Catalogue,
    }
}

/// What is known about a model on any channel, by its name alone.
pub fn look_up(model: &str) -> ModelInfo {
    resolve(&Channel::new("", Supplier::Compatible), model).info
}

#[cfg(test)]
mod tests;
