//! Mistakes in the arguments, in both languages. What a mistake is comes from the parser; the words
//! are ours.

use crate::text::{Lang, texts};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use netaclaw_admin::nearest;
use std::error::Error;
use std::fmt::Display;

texts! {
    usage_unknown_option(option) { "unknown option {option}" "未知的选项 {option}" }
    usage_unexpected(argument) { "unexpected argument {argument}" "多余的参数 {argument}" }
    usage_unknown_command(command) { "unknown command {command}" "未知的命令 {command}" }
    usage_no_command(commands) { "a command is missing; use one of: {commands}" "缺少命令；可用：{commands}" }
    usage_missing(arguments) { "missing argument: {arguments}" "缺少参数：{arguments}" }
    usage_no_value(argument) { "{argument} needs a value" "{argument} 需要一个值" }
    usage_wrong_value(argument, value) { "{argument} does not accept \"{value}\"" "{argument} 不接受“{value}”" }
    usage_values(values) { "use one of: {values}" "可用：{values}" }
    usage_conflict(argument, other) { "{argument} cannot be used with {other}" "{argument} 不能与 {other} 同时使用" }
    usage_repeated(argument) { "{argument} can be given only once" "{argument} 只能给出一次" }
    named(what, said) { "{what}: {said}" "{what}：{said}" }
    and_then(what, next) { "{what}; {next}" "{what}；{next}" }
    usage_not_a_number() { "enter a number" "请填写数字" }
    usage_least(least) { "enter a number, at least {least}" "请填写不小于 {least} 的数字" }
    usage_range(least, most) { "enter a number from {least} to {most}" "请填写 {least} 到 {most} 的数字" }
}

/// What is wrong, in one line; what the parser says itself for a kind that has no text here.
pub(crate) fn mistake(lang: Lang, error: &clap::Error) -> String {
    known_mistake(lang, error).unwrap_or_else(|| {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        first.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

fn known_mistake(lang: Lang, error: &clap::Error) -> Option<String> {
    let all = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    };
    let one = |kind| all(kind).into_iter().next();
    let meant = |kind| one(kind).map(|meant| lang.did_you_mean(bare(&meant).to_owned()));
    let argument = || one(ContextKind::InvalidArg);
    let (what, next) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = argument()?;
            let what = match name.starts_with('-') {
                true => lang.usage_unknown_option(name),
                false => lang.usage_unexpected(name),
            };
            (what, meant(ContextKind::SuggestedArg))
        }
        ErrorKind::InvalidSubcommand => {
            let name = one(ContextKind::InvalidSubcommand)?;
            let next = meant(ContextKind::SuggestedSubcommand);
            (lang.usage_unknown_command(name), next)
        }
        ErrorKind::MissingSubcommand => {
            let names = all(ContextKind::ValidSubcommand).join(", ");
            (lang.usage_no_command(names), None)
        }
        ErrorKind::MissingRequiredArgument => {
            let names = all(ContextKind::InvalidArg).join(" ");
            (lang.usage_missing(names), None)
        }
        ErrorKind::InvalidValue => {
            let (name, value) = (argument()?, one(ContextKind::InvalidValue)?);
            let name = option_of(&name);
            let values = all(ContextKind::ValidValue);
            match value.is_empty() {
                true => (lang.usage_no_value(name), None),
                false => {
                    // The parser suggests also what is far from the value.
                    let next = match nearest(&value, values.iter().map(String::as_str)) {
                        Some(meant) => lang.did_you_mean(meant),
                        None => lang.usage_values(values.join(", ")),
                    };
                    (lang.usage_wrong_value(name, value), Some(next))
                }
            }
        }
        ErrorKind::ValueValidation => {
            let (name, value) = (argument()?, one(ContextKind::InvalidValue)?);
            let why = error.source().map(|why| reason(lang, &why.to_string()));
            (lang.usage_wrong_value(option_of(&name), value), why)
        }
        ErrorKind::ArgumentConflict => {
            let (name, other) = (argument()?, all(ContextKind::PriorArg).join(", "));
            let what = match name == other || other.is_empty() {
                true => lang.usage_repeated(option_of(&name)),
                false => lang.usage_conflict(name, other),
            };
            (what, None)
        }
        _ => return None,
    };
    Some(match next {
        Some(next) => lang.and_then(what, next),
        None => what,
    })
}

/// Why a value is not valid. Numbers are checked by the parser, all else by us.
fn reason(lang: Lang, why: &str) -> String {
    if let Some((_, range)) = why.split_once(" is not in ") {
        let (least, most) = range.split_once("..=").unwrap_or((range, range));
        return match most == u32::MAX.to_string() {
            true => lang.usage_least(least),
            false => lang.usage_range(least, most),
        };
    }
    match why.contains("invalid digit") || why.contains("cannot parse integer") {
        true => lang.usage_not_a_number(),
        false => why.to_owned(),
    }
}

/// `--page` of `--page <PAGE>`.
fn option_of(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or(argument);
    name.to_owned()
}

/// A suggestion without the value that follows it.
fn bare(meant: &str) -> &str {
    meant.split(' ').next().unwrap_or(meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn said(lang: Lang, arguments: &str) -> String {
        let arguments = arguments.split_whitespace();
        let error = Cli::command().try_get_matches_from(arguments).unwrap_err();
        mistake(lang, &error)
    }

    #[test]
    fn mistakes_are_named_in_both_languages() {
        for (arguments, english, chinese) in [
            (
                "netaclaw --nope",
                "unknown option --nope",
                "未知的选项 --nope",
            ),
            (
                "netaclaw sesion",
                "unknown command sesion; did you mean session?",
                "未知的命令 sesion；您要找的是 session 吗？",
            ),
            (
                "netaclaw session show",
                "missing argument: <FILE|ID>",
                "缺少参数：<FILE|ID>",
            ),
            (
                "netaclaw link more",
                "unexpected argument more",
                "多余的参数 more",
            ),
            (
                "netaclaw chat --agent",
                "--agent needs a value",
                "--agent 需要一个值",
            ),
            (
                "netaclaw session list --status nope",
                "--status does not accept \"nope\"; use one of: active, archived, deleted",
                "--status 不接受“nope”；可用：active, archived, deleted",
            ),
            (
                "netaclaw session list --page 0",
                "--page does not accept \"0\"; enter a number, at least 1",
                "--page 不接受“0”；请填写不小于 1 的数字",
            ),
            (
                "netaclaw session list --size x",
                "--size does not accept \"x\"; enter a number",
                "--size 不接受“x”；请填写数字",
            ),
            (
                "netaclaw approval revoke a --all",
                "[ID] cannot be used with --all",
                "[ID] 不能与 --all 同时使用",
            ),
            (
                "netaclaw chat --yes --yes",
                "--yes can be given only once",
                "--yes 只能给出一次",
            ),
        ] {
            assert_eq!(said(Lang::En, arguments), english, "{arguments}");
            assert_eq!(said(Lang::Zh, arguments), chinese, "{arguments}");
        }
        let missing = said(Lang::Zh, "netaclaw session --lang zh");
        assert!(
            missing.starts_with("缺少命令；可用：list, show"),
            "{missing}"
        );
    }
}
