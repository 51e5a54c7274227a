//! The project's instructions for agents in `AGENTS.md` and `CLAUDE.md`.

use super::layer::{Layer, LayerName, cut};

const BUDGET: usize = 48_000;
const FILE_CHARS_MAX: usize = 24_000;
const HEADING: &str = "# Instructions of the project\nIf they contradict each other, follow the \
                       last one.";

/// An instruction file that the caller has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// How the file is called for the model.
    pub name: String,
    pub text: String,
}

/// The nearest files matter most, so the budget is spent from the end.
pub(super) fn layer(files: &[InstructionFile]) -> Layer {
    let mut left = BUDGET;
    let (mut texts, mut omitted) = (Vec::new(), Vec::new());
    for file in files
        .iter()
        .rev()
        .filter(|file| !file.text.trim().is_empty())
    {
        let room = left.min(FILE_CHARS_MAX);
        if room < 200 {
            omitted.push(file.name.clone());
            continue;
        }
        let (text, missing) = cut(file.text.trim(), room);
        left = left.saturating_sub(text.chars().count());
        omitted.extend(missing.map(|missing| format!("{}: {missing}", file.name)));
        texts.push(format!("<file name=\"{}\">\n{text}\n</file>", file.name));
    }
    if texts.is_empty() {
        return Layer::new(LayerName::Instructions, BUDGET, String::new(), omitted);
    }
    texts.push(HEADING.to_owned());
    texts.reverse();
    Layer::new(LayerName::Instructions, BUDGET, texts.join("\n"), omitted)
}
