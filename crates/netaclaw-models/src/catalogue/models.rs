//! Well-known models, as data. Prices are in US dollars for a million tokens, as the suppliers
//! listed them in autumn 2026; a channel's own entry always comes first.

use super::suppliers::{
    AdaptiveOff, EFFORT_ALWAYS, EFFORT_CLASSIC, EFFORT_LOW_HIGH, EFFORT_MINIMAL, EFFORT_NONE,
    EFFORT_NONE_WITH_TOOLS, EFFORT_ON_OFF, ThinkingStyle,
};
use netaclaw_protocol::{ModelPrice, Supplier};

#[derive(Debug)]
pub(crate) struct Row {
    /// Lower case, without the dates and tags that suppliers append.
    pub(crate) name: &'static str,
    /// The supplier for whose API the thinking style is; other hosts of the model have their own.
    pub(crate) home: Supplier,
    pub(crate) context_window: u64,
    pub(crate) max_output: u64,
    pub(crate) can: Feature,
    pub(crate) thinking: ThinkingStyle,
    /// Input, output, cache read, cache write.
    pub(crate) price: [f64; 4],
}

/// What a model can do besides reading and writing text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    UseTools,
    UseToolsAndSee,
    /// See, but take no tools over this API.
    See,
    Neither,
}

impl Row {
    pub(crate) fn price(&self) -> Option<ModelPrice> {
        let [input, output, cache_read, cache_write] = self.price;
        (output > 0.0).then_some(ModelPrice {
            input,
            output,
            cache_read,
            cache_write,
        })
    }
}

const M: u64 = 1_000_000;
const BUDGET: ThinkingStyle = ThinkingStyle::Budget;
const ADAPTIVE_FIRST: ThinkingStyle = ThinkingStyle::Adaptive {
    off: AdaptiveOff::Disabled,
    most: "high",
};
const ADAPTIVE: ThinkingStyle = ThinkingStyle::Adaptive {
    off: AdaptiveOff::Disabled,
    most: "xhigh",
};
const ADAPTIVE_ALWAYS: ThinkingStyle = ThinkingStyle::Adaptive {
    off: AdaptiveOff::LeastEffort,
    most: "xhigh",
};
const SWITCH: ThinkingStyle = ThinkingStyle::Switch;
const FLAG: ThinkingStyle = ThinkingStyle::FlagAndBudget;
const NO: ThinkingStyle = ThinkingStyle::None;

/// One row: name, home, window, output, abilities, thinking, price.
const fn row(
    name: &'static str,
    home: Supplier,
    (context_window, max_output): (u64, u64),
    can: Feature,
    thinking: ThinkingStyle,
    price: [f64; 4],
) -> Row {
    Row {
        name,
        home,
        context_window,
        max_output,
        can,
        thinking,
        price,
    }
}

use Feature::{Neither, See, UseTools, UseToolsAndSee};
use Supplier::{
    Anthropic, Compatible, Deepseek, Demo, Gemini, Minimax, Mistral, Moonshot, Ollama, Openai,
    Tongyi, Volcengine, Xai, Zhipu,
};
use ThinkingStyle::{AdaptiveSwitch, Effort};

#[rustfmt::skip]
pub(crate) const MODELS: &[Row] = &[
    row("claude-fable-5-1", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE_ALWAYS, [10.0, 50.0, 0.25, 12.5]),
    row("claude-fable-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE_ALWAYS, [10.0, 50.0, 1.0, 12.5]),
    row("claude-opus-5-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE_ALWAYS, [4.0, 20.0, 0.2, 5.0]),
    row("claude-opus-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE, [5.0, 25.0, 0.5, 6.25]),
    row("claude-sonnet-5-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE, [2.0, 10.0, 0.2, 2.5]),
    row("claude-sonnet-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE, [2.0, 10.0, 0.2, 2.5]),
    row("claude-haiku-5-5", Anthropic, (M, 128_000), UseToolsAndSee, ADAPTIVE, [0.1, 0.5, 0.01, 0.125]),
    row("claude-opus-4-8", Anthropic, (200_000, 128_000), UseToolsAndSee, ADAPTIVE, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-7", Anthropic, (200_000, 128_000), UseToolsAndSee, ADAPTIVE, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-6", Anthropic, (200_000, 128_000), UseToolsAndSee, ADAPTIVE_FIRST, [5.0, 25.0, 0.5, 6.25]),
    row("claude-sonnet-4-6", Anthropic, (200_000, 64_000), UseToolsAndSee, ADAPTIVE_FIRST, [3.0, 15.0, 0.3, 3.75]),
    row("claude-opus-4-5", Anthropic, (200_000, 64_000), UseToolsAndSee, BUDGET, [5.0, 25.0, 0.5, 6.25]),
    row("claude-sonnet-4-5", Anthropic, (200_000, 64_000), UseToolsAndSee, BUDGET, [3.0, 15.0, 0.3, 3.75]),
    row("claude-haiku-4-5", Anthropic, (200_000, 64_000), UseToolsAndSee, BUDGET, [1.0, 5.0, 0.1, 1.25]),
    row("claude-opus-4-1", Anthropic, (200_000, 32_000), UseToolsAndSee, BUDGET, [15.0, 75.0, 1.5, 18.75]),
    row("claude-sonnet-4", Anthropic, (200_000, 64_000), UseToolsAndSee, BUDGET, [3.0, 15.0, 0.3, 3.75]),
    row("claude-opus-4", Anthropic, (200_000, 32_000), UseToolsAndSee, BUDGET, [15.0, 75.0, 1.5, 18.75]),
    row("claude-3-7-sonnet", Anthropic, (200_000, 64_000), UseToolsAndSee, BUDGET, [3.0, 15.0, 0.3, 3.75]),
    row("claude-3-5-sonnet", Anthropic, (200_000, 8_192), UseToolsAndSee, NO, [3.0, 15.0, 0.3, 3.75]),
    row("claude-3-opus", Anthropic, (200_000, 4_096), UseToolsAndSee, NO, [15.0, 75.0, 1.5, 18.75]),
    row("claude-3-haiku", Anthropic, (200_000, 4_096), UseToolsAndSee, NO, [0.25, 1.25, 0.03, 0.3]),
    row("claude-3-5-haiku", Anthropic, (200_000, 8_192), UseTools, NO, [0.8, 4.0, 0.08, 1.0]),

    // OpenAI's newest models accept tools only over an API that is not implemented here.
    row("gpt-6.1-sol", Openai, (1_050_000, 128_000), See, Effort(&EFFORT_ALWAYS), [2.0, 10.0, 0.2, 0.0]),
    row("gpt-6-astra", Openai, (1_050_000, 128_000), See, Effort(&EFFORT_ALWAYS), [10.0, 50.0, 1.0, 0.0]),
    row("gpt-6-sol", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [2.0, 10.0, 0.2, 0.0]),
    row("gpt-6-luna", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [0.1, 0.5, 0.01, 0.0]),
    row("gpt-5.6", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [4.0, 20.0, 0.4, 0.0]),
    row("gpt-5.6-sol", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [4.0, 20.0, 0.4, 0.0]),
    row("gpt-5.6-terra", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [2.0, 12.0, 0.2, 0.0]),
    row("gpt-5.6-luna", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [0.2, 1.2, 0.02, 0.0]),
    row("gpt-5.5", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [5.0, 30.0, 0.5, 0.0]),
    row("gpt-5.4", Openai, (1_050_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [2.5, 15.0, 0.25, 0.0]),
    row("gpt-5.4-mini", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE_WITH_TOOLS), [0.75, 4.5, 0.075, 0.0]),
    row("gpt-5.2", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE), [1.75, 14.0, 0.175, 0.0]),
    row("gpt-5.1", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_NONE), [1.25, 10.0, 0.125, 0.0]),
    row("gpt-5", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_MINIMAL), [1.25, 10.0, 0.125, 0.0]),
    row("gpt-5-mini", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_MINIMAL), [0.25, 2.0, 0.025, 0.0]),
    row("gpt-5-nano", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_MINIMAL), [0.05, 0.4, 0.005, 0.0]),
    row("gpt-4.1", Openai, (1_047_576, 32_768), UseToolsAndSee, NO, [2.0, 8.0, 0.5, 0.0]),
    row("gpt-4.1-mini", Openai, (1_047_576, 32_768), UseToolsAndSee, NO, [0.4, 1.6, 0.1, 0.0]),
    row("gpt-4o", Openai, (128_000, 16_384), UseToolsAndSee, NO, [2.5, 10.0, 1.25, 0.0]),
    row("gpt-4o-mini", Openai, (128_000, 16_384), UseToolsAndSee, NO, [0.15, 0.6, 0.075, 0.0]),
    row("o3", Openai, (200_000, 100_000), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [2.0, 8.0, 0.5, 0.0]),
    row("o4-mini", Openai, (200_000, 100_000), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [1.1, 4.4, 0.275, 0.0]),

    row("gpt-4.1-nano", Openai, (1_047_576, 32_768), UseToolsAndSee, NO, [0.1, 0.4, 0.025, 0.0]),
    row("gpt-5-chat", Openai, (128_000, 16_384), See, NO, [1.25, 10.0, 0.125, 0.0]),
    row("gpt-5-codex", Openai, (400_000, 128_000), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [1.25, 10.0, 0.125, 0.0]),
    row("chatgpt-4o", Openai, (128_000, 16_384), See, NO, [5.0, 15.0, 5.0, 0.0]),
    row("gpt-4-turbo", Openai, (128_000, 4_096), UseToolsAndSee, NO, [10.0, 30.0, 10.0, 0.0]),
    row("gpt-4-1106", Openai, (128_000, 4_096), UseTools, NO, [10.0, 30.0, 10.0, 0.0]),
    row("gpt-4-0125", Openai, (128_000, 4_096), UseTools, NO, [10.0, 30.0, 10.0, 0.0]),
    row("gpt-4", Openai, (8_192, 4_096), UseTools, NO, [30.0, 60.0, 30.0, 0.0]),
    row("gpt-3.5-turbo", Openai, (16_385, 4_096), UseTools, NO, [0.5, 1.5, 0.5, 0.0]),
    row("o1", Openai, (200_000, 100_000), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [15.0, 60.0, 7.5, 0.0]),
    row("o3-mini", Openai, (200_000, 100_000), UseTools, Effort(&EFFORT_CLASSIC), [1.1, 4.4, 0.55, 0.0]),

    row("gemini-3-pro", Gemini, (1_048_576, 65_536), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [2.0, 12.0, 0.2, 0.0]),
    row("gemini-3-flash", Gemini, (1_048_576, 65_536), UseToolsAndSee, Effort(&EFFORT_MINIMAL), [0.5, 3.0, 0.05, 0.0]),
    row("gemini-2.5-pro", Gemini, (1_048_576, 65_536), UseToolsAndSee, Effort(&EFFORT_CLASSIC), [1.25, 10.0, 0.125, 0.0]),
    row("gemini-2.5-flash", Gemini, (1_048_576, 65_536), UseToolsAndSee, Effort(&EFFORT_ON_OFF), [0.3, 2.5, 0.03, 0.0]),
    row("gemini-2.5-flash-lite", Gemini, (1_048_576, 65_536), UseToolsAndSee, Effort(&EFFORT_ON_OFF), [0.1, 0.4, 0.01, 0.0]),
    row("gemini-2.0-flash", Gemini, (1_048_576, 8_192), UseToolsAndSee, NO, [0.1, 0.4, 0.025, 0.0]),

    row("kimi-k2.5", Moonshot, (262_144, 32_768), UseToolsAndSee, SWITCH, [0.6, 3.0, 0.1, 0.0]),
    row("kimi-k2-thinking", Moonshot, (262_144, 32_768), UseTools, NO, [0.6, 2.5, 0.15, 0.0]),
    row("kimi-k2-turbo", Moonshot, (262_144, 32_768), UseTools, NO, [1.15, 8.0, 0.15, 0.0]),
    row("kimi-k2", Moonshot, (131_072, 32_768), UseTools, NO, [0.6, 2.5, 0.15, 0.0]),
    row("kimi-k2-0905", Moonshot, (262_144, 32_768), UseTools, NO, [0.6, 2.5, 0.15, 0.0]),
    row("kimi-latest", Moonshot, (131_072, 8_192), UseToolsAndSee, NO, [0.0; 4]),
    row("moonshot-v1-8k", Moonshot, (8_192, 4_096), UseTools, NO, [0.0; 4]),
    row("moonshot-v1-32k", Moonshot, (32_768, 8_192), UseTools, NO, [0.0; 4]),
    row("moonshot-v1-128k", Moonshot, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("moonshot-v1-32k-vision", Moonshot, (32_768, 8_192), UseToolsAndSee, NO, [0.0; 4]),
    row("moonshot-v1-128k-vision", Moonshot, (131_072, 8_192), UseToolsAndSee, NO, [0.0; 4]),

    // Grok has no parameter for thinking, except in the small model.
    row("grok-4", Xai, (256_000, 64_000), UseToolsAndSee, NO, [3.0, 15.0, 0.75, 0.0]),
    row("grok-4-fast", Xai, (2_000_000, 30_000), UseToolsAndSee, NO, [0.2, 0.5, 0.05, 0.0]),
    row("grok-4-fast-reasoning", Xai, (2_000_000, 30_000), UseToolsAndSee, NO, [0.2, 0.5, 0.05, 0.0]),
    row("grok-4-fast-non-reasoning", Xai, (2_000_000, 30_000), UseToolsAndSee, NO, [0.2, 0.5, 0.05, 0.0]),
    row("grok-4-1-fast-reasoning", Xai, (2_000_000, 30_000), UseToolsAndSee, NO, [0.2, 0.5, 0.05, 0.0]),
    row("grok-4-1-fast-non-reasoning", Xai, (2_000_000, 30_000), UseToolsAndSee, NO, [0.2, 0.5, 0.05, 0.0]),
    row("grok-code-fast", Xai, (256_000, 10_000), UseTools, NO, [0.2, 1.5, 0.02, 0.0]),
    row("grok-code-fast-1", Xai, (256_000, 10_000), UseTools, NO, [0.2, 1.5, 0.02, 0.0]),
    row("grok-3", Xai, (131_072, 8_192), UseTools, NO, [3.0, 15.0, 0.75, 0.0]),
    row("grok-3-mini", Xai, (131_072, 8_192), UseTools, Effort(&EFFORT_LOW_HIGH), [0.3, 0.5, 0.075, 0.0]),

    row("mistral-large", Mistral, (131_072, 32_768), UseToolsAndSee, NO, [0.5, 1.5, 0.05, 0.0]),
    row("mistral-large-2411", Mistral, (131_072, 32_768), UseTools, NO, [2.0, 6.0, 0.2, 0.0]),
    row("mistral-medium", Mistral, (131_072, 32_768), UseToolsAndSee, NO, [0.4, 2.0, 0.04, 0.0]),
    row("mistral-small", Mistral, (131_072, 32_768), UseToolsAndSee, NO, [0.1, 0.3, 0.01, 0.0]),
    row("codestral", Mistral, (256_000, 32_768), UseTools, NO, [0.3, 0.9, 0.03, 0.0]),
    row("devstral-medium", Mistral, (131_072, 32_768), UseTools, NO, [0.4, 2.0, 0.04, 0.0]),
    row("devstral-small", Mistral, (131_072, 32_768), UseTools, NO, [0.1, 0.3, 0.01, 0.0]),
    row("magistral-medium", Mistral, (131_072, 32_768), UseTools, NO, [2.0, 5.0, 0.2, 0.0]),
    row("pixtral-large", Mistral, (131_072, 32_768), UseToolsAndSee, NO, [2.0, 6.0, 0.2, 0.0]),
    row("ministral-8b", Mistral, (131_072, 32_768), UseTools, NO, [0.1, 0.1, 0.01, 0.0]),

    row("deepseek-flash", Deepseek, (M, 384_000), UseToolsAndSee, SWITCH, [0.28, 1.12, 0.0056, 0.0]),
    row("deepseek-v4-flash", Deepseek, (M, 384_000), UseTools, SWITCH, [0.28, 1.12, 0.0056, 0.0]),
    row("deepseek-v4-pro", Deepseek, (M, 384_000), UseTools, SWITCH, [1.26, 3.78, 0.042, 0.0]),
    row("deepseek-chat", Deepseek, (M, 384_000), UseTools, SWITCH, [0.28, 1.12, 0.0056, 0.0]),
    row("deepseek-reasoner", Deepseek, (M, 384_000), UseTools, SWITCH, [0.28, 1.12, 0.0056, 0.0]),
    row("deepseek-v3.2", Deepseek, (131_072, 65_536), UseTools, SWITCH, [0.28, 0.42, 0.028, 0.0]),

    row("glm-5.3", Zhipu, (1_048_576, 131_072), UseTools, SWITCH, [1.4, 4.4, 0.26, 0.0]),
    row("glm-5.3-flash", Zhipu, (1_048_576, 131_072), UseToolsAndSee, SWITCH, [0.15, 0.5, 0.03, 0.0]),
    row("glm-5.2", Zhipu, (1_048_576, 131_072), UseTools, SWITCH, [1.19, 3.74, 0.22, 0.0]),
    row("glm-5.1", Zhipu, (204_800, 128_000), UseTools, SWITCH, [1.26, 3.96, 0.24, 0.0]),
    row("glm-5", Zhipu, (202_752, 131_072), UseTools, SWITCH, [1.0, 3.2, 0.2, 0.0]),
    row("glm-5v-turbo", Zhipu, (202_752, 131_072), UseToolsAndSee, SWITCH, [1.2, 4.0, 0.24, 0.0]),
    row("glm-4.7", Zhipu, (202_752, 131_072), UseTools, SWITCH, [0.6, 2.2, 0.11, 0.0]),
    row("glm-4.6", Zhipu, (202_752, 131_072), UseTools, SWITCH, [0.6, 2.2, 0.11, 0.0]),
    row("glm-4.6v", Zhipu, (131_072, 32_768), UseToolsAndSee, SWITCH, [0.3, 0.9, 0.05, 0.0]),
    row("glm-4.5", Zhipu, (131_072, 98_304), UseTools, SWITCH, [0.6, 2.2, 0.11, 0.0]),
    row("glm-4.5-air", Zhipu, (131_072, 98_304), UseTools, SWITCH, [0.2, 1.1, 0.03, 0.0]),

    row("qwen3.8-max", Tongyi, (M, 65_536), UseTools, FLAG, [1.5, 4.5, 0.15, 0.0]),
    row("qwen3.7-max", Tongyi, (M, 65_536), UseTools, FLAG, [1.475, 4.425, 0.15, 0.0]),
    row("qwen3.7-plus", Tongyi, (M, 65_536), UseToolsAndSee, FLAG, [0.32, 1.28, 0.03, 0.0]),
    row("qwen3.6-flash", Tongyi, (M, 65_536), UseToolsAndSee, FLAG, [0.1875, 1.125, 0.02, 0.0]),
    row("qwen3.6-plus", Tongyi, (M, 65_536), UseToolsAndSee, FLAG, [0.3, 1.8, 0.03, 0.0]),
    row("qwen3.5-plus", Tongyi, (M, 65_536), UseToolsAndSee, FLAG, [0.3, 1.8, 0.03, 0.0]),
    row("qwen3-max", Tongyi, (262_144, 65_536), UseTools, FLAG, [1.2, 6.0, 0.24, 0.0]),
    row("qwen3-coder-plus", Tongyi, (1_048_576, 65_536), UseTools, NO, [1.0, 5.0, 0.2, 0.0]),
    row("qwen-plus", Tongyi, (M, 32_768), UseTools, FLAG, [0.4, 1.2, 0.16, 0.0]),
    row("qwen-flash", Tongyi, (M, 32_768), UseTools, FLAG, [0.05, 0.4, 0.02, 0.0]),
    row("qwen-turbo", Tongyi, (M, 16_384), UseTools, FLAG, [0.05, 0.2, 0.02, 0.0]),
    row("qwen-max", Tongyi, (32_768, 8_192), UseTools, NO, [1.6, 6.4, 0.64, 0.0]),
    row("qwen-vl-max", Tongyi, (131_072, 8_192), UseToolsAndSee, NO, [0.8, 3.2, 0.0, 0.0]),

    row("minimax-m3", Minimax, (M, 524_288), UseToolsAndSee, AdaptiveSwitch, [0.3, 1.2, 0.03, 0.375]),
    row("minimax-m2.7", Minimax, (204_800, 131_072), UseTools, AdaptiveSwitch, [0.3, 1.2, 0.03, 0.375]),
    row("minimax-m2.5", Minimax, (204_800, 131_072), UseTools, AdaptiveSwitch, [0.3, 1.2, 0.03, 0.375]),
    row("minimax-m2.1", Minimax, (204_800, 131_072), UseTools, AdaptiveSwitch, [0.3, 1.2, 0.03, 0.375]),
    row("minimax-m2", Minimax, (196_608, 131_072), UseTools, AdaptiveSwitch, [0.3, 1.2, 0.03, 0.375]),

    row("doubao-seed-2-0-code", Volcengine, (262_144, 131_072), UseToolsAndSee, SWITCH, [0.47, 2.37, 0.09, 0.0]),
    row("doubao-seed-2-0-pro", Volcengine, (262_144, 131_072), UseToolsAndSee, SWITCH, [0.47, 2.37, 0.09, 0.0]),
    row("doubao-seed-1-8", Volcengine, (262_144, 65_536), UseToolsAndSee, SWITCH, [0.12, 1.1, 0.02, 0.0]),
    row("doubao-seed-1-6", Volcengine, (262_144, 32_768), UseToolsAndSee, SWITCH, [0.12, 1.1, 0.02, 0.0]),
    row("doubao-seed-1-6-flash", Volcengine, (262_144, 32_768), UseToolsAndSee, SWITCH, [0.02, 0.22, 0.004, 0.0]),

    // Models that users run themselves. The window is the servers' default or that of the training,
    // whichever is smaller: a server with less refuses with an error that we recognize.
    row("gpt-oss", Ollama, (131_072, 32_768), UseTools, Effort(&EFFORT_CLASSIC), [0.0; 4]),
    row("qwen3", Ollama, (40_960, 16_384), UseTools, NO, [0.0; 4]),
    row("qwen2.5", Ollama, (32_768, 8_192), UseTools, NO, [0.0; 4]),
    row("llama3.1", Ollama, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("llama3.2", Ollama, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("gemma3", Ollama, (131_072, 8_192), See, NO, [0.0; 4]),
    row("smollm2", Ollama, (8_192, 2_048), Neither, NO, [0.0; 4]),

    // The same, as relays and inference servers host them.
    row("deepseek-chat-v3", Compatible, (131_072, 32_768), UseTools, NO, [0.0; 4]),
    row("deepseek-v3", Compatible, (65_536, 8_192), UseTools, NO, [0.0; 4]),
    row("deepseek-v3.1", Compatible, (131_072, 32_768), UseTools, NO, [0.0; 4]),
    row("deepseek-r1", Compatible, (65_536, 16_384), UseTools, NO, [0.0; 4]),
    row("qwen3-coder", Compatible, (262_144, 65_536), UseTools, NO, [0.0; 4]),
    row("qwen3-vl", Compatible, (131_072, 32_768), UseToolsAndSee, NO, [0.0; 4]),
    row("qwen2.5-coder", Compatible, (32_768, 8_192), UseTools, NO, [0.0; 4]),
    row("qwen2.5-vl", Compatible, (32_768, 8_192), See, NO, [0.0; 4]),
    row("qwq", Compatible, (32_768, 8_192), UseTools, NO, [0.0; 4]),
    row("glm-4.5v", Compatible, (65_536, 16_384), UseToolsAndSee, NO, [0.0; 4]),
    row("llama-3.1", Compatible, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("llama-3.3", Compatible, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("llama3.3", Compatible, (131_072, 8_192), UseTools, NO, [0.0; 4]),
    row("llama-4-scout", Compatible, (131_072, 8_192), UseToolsAndSee, NO, [0.0; 4]),
    row("llama-4-maverick", Compatible, (131_072, 8_192), UseToolsAndSee, NO, [0.0; 4]),
    row("gemma-3", Compatible, (131_072, 8_192), See, NO, [0.0; 4]),
    row("phi-4", Compatible, (16_384, 4_096), UseTools, NO, [0.0; 4]),
    row("mistral-nemo", Compatible, (131_072, 8_192), UseTools, NO, [0.0; 4]),

    row("demo", Demo, (32_768, 4_096), UseToolsAndSee, SWITCH, [0.0; 4]),
];
