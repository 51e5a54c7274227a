//! The protocol in TypeScript: one generated file that the web app is written against.

use anyhow::{Context, bail};
use netaclaw_protocol as protocol;
use netaclaw_protocol::Command;
use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

const FILE: &str = "web/src/protocol/types.ts";

/// Writes the file.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    let path = root.join(FILE);
    let dir = path.parent().context("the file lies in a directory")?;
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    std::fs::write(&path, generate()?).with_context(|| path.display().to_string())
}

fn generate() -> anyhow::Result<String> {
    let config = Config::default().with_large_int("number");
    let mut types = Types::new(&config);
    roots(&mut types);
    let mut text =
        String::from("// Generated from crates/netaclaw-protocol by `make types`. Do not edit.\n");
    for declaration in types.declarations.values() {
        write!(text, "\n{declaration}\n")?;
    }
    write!(text, "\n{}", commands()?)?;
    let number = protocol::PROTOCOL;
    write!(
        text,
        "\n/** A server with another number needs another page. */\nexport const PROTOCOL = {number}\n"
    )?;
    let bytes = protocol::COMMAND_BYTES_MAX;
    write!(
        text,
        "\n/** A command may be this long, as JSON with its name; a much longer one ends the connection. */\nexport const COMMAND_BYTES_MAX = {bytes}\n"
    )?;
    let (first, last) = (protocol::STEPS_FIRST, protocol::STEPS_LAST);
    write!(
        text,
        "\n/** Of more steps of a call than these together, those in the middle are not kept. */\nexport const STEPS_FIRST = {first}\nexport const STEPS_LAST = {last}\n"
    )?;
    if text.contains("bigint") {
        bail!("JSON has no bigint; a type escaped the configuration");
    }
    Ok(text)
}

/// What a client sends and what it is sent; everything these name comes along.
fn roots(types: &mut Types<'_>) {
    types.add::<protocol::Envelope<protocol::ReliableEvent>>();
    types.add::<protocol::ReliableEvent>();
    types.add::<protocol::DeltaEvent>();
    types.add::<protocol::LegacyEvent>();
    types.add::<protocol::Opened>();
    types.add::<protocol::Refusal>();
    types.add::<protocol::NoticeEnvelope>();
    types.add::<protocol::ApiProblem>();
    types.add::<protocol::About>();
    types.add::<protocol::Me>();
    types.add::<protocol::SessionList>();
    types.add::<protocol::SessionChange>();
    types.add::<protocol::ForkRequest>();
    types.add::<protocol::SessionMessages>();
    types.add::<protocol::SessionTreeView>();
    types.add::<protocol::CompactionDetails>();
    types.add::<protocol::ContextBreakdown>();
    types.add::<protocol::UploadedFile>();
    types.add::<protocol::ToolExecution>();
    types.add::<protocol::ProcessLogPage>();
    types.add::<protocol::Listing<protocol::SkillView>>();
    types.add::<protocol::SkillDetail>();
    types.add::<protocol::SkillTry>();
    types.add::<protocol::SkillTried>();
    types.add::<protocol::SentAttachment>();
    types.add::<protocol::Listing<protocol::AgentListItem>>();
    types.add::<protocol::AgentPreview>();
    types.add::<protocol::ToolInfo>();
    types.add::<protocol::ToolDetail>();
    types.add::<protocol::ToolRecord>();
    types.add::<protocol::ToolSwitch>();
    types.add::<protocol::ChannelView>();
    types.add::<protocol::McpServerView>();
    types.add::<protocol::McpServerInfo>();
    types.add::<protocol::McpServerWrite>();
    types.add::<protocol::McpServerTry>();
    types.add::<protocol::McpServerTest>();
    types.add::<protocol::ChannelWrite>();
    types.add::<protocol::ChannelTry>();
    types.add::<protocol::ChannelTest>();
    types.add::<protocol::ChannelModels>();
    types.add::<protocol::AgentModel>();
    types.add::<protocol::ModelLookup>();
    types.add::<protocol::SupplierOption>();
    types.add::<protocol::DictType>();
    types.add::<protocol::DictInfoSpec>();
    types.add::<protocol::Setting>();
    types.add::<protocol::AuditPage>();
    types.add::<protocol::ApprovalListItem>();
    types.add::<protocol::Memory>();
    types.add::<protocol::MemorySpec>();
    types.add::<protocol::User>();
    types.add::<protocol::NewUser>();
    types.add::<protocol::UserWrite>();
    types.add::<protocol::SettingWrite>();
    types.add::<protocol::DictValue>();
    types.add::<protocol::Login>();
    types.add::<protocol::OwnPassword>();
    types.add::<protocol::TokenIssued>();
    for command in commands_known() {
        (command.add)(types);
    }
}

/// One command: its name on the wire, what it carries, and what its acknowledgement does.
struct CommandTypes {
    name: &'static str,
    ask: fn(&Config) -> String,
    answer: fn(&Config) -> String,
    add: fn(&mut Types<'_>),
}

impl CommandTypes {
    fn of<C: Command<Answer: TS> + TS>() -> Self {
        Self {
            name: C::NAME,
            ask: C::name,
            answer: C::Answer::name,
            add: |types| {
                types.visit::<C>();
                types.visit::<C::Answer>();
            },
        }
    }
}

macro_rules! known {
    ($($_group:ident {
        $($_name:literal => $command:ident -> $_answer:ident [$($_field:ident),*],)*
    })*) => {
        fn commands_known() -> Vec<CommandTypes> {
            vec![$($(CommandTypes::of::<protocol::$command>(),)*)*]
        }
    };
}

protocol::commands!(known);

fn commands() -> anyhow::Result<String> {
    let config = Config::default().with_large_int("number");
    let mut text = String::from(
        "/** Commands by name: what each carries, and what its acknowledgement adds to `ok`. */\nexport interface Commands {\n",
    );
    for command in commands_known() {
        let (ask, answer) = ((command.ask)(&config), (command.answer)(&config));
        writeln!(
            text,
            "  {}: {{ ask: {ask}; answer: {answer} }}",
            command.name
        )?;
    }
    text.push_str("}\n");
    Ok(text)
}

/// Declarations by name, so that the file does not change with the order of discovery.
struct Types<'c> {
    config: &'c Config,
    seen: HashSet<TypeId>,
    declarations: BTreeMap<String, String>,
}

impl<'c> Types<'c> {
    fn new(config: &'c Config) -> Self {
        Self {
            config,
            seen: HashSet::new(),
            declarations: BTreeMap::new(),
        }
    }

    fn add<T: TS + 'static>(&mut self) {
        self.visit::<T>();
    }
}

impl TypeVisitor for Types<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // Built-in types have no file of their own, and so no declaration.
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declaration = format!("{docs}export {}", T::decl(self.config));
            self.declarations
                .insert(T::ident(self.config), declaration.trim_end().to_owned());
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_file_is_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let committed = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
        assert!(
            committed == generate().unwrap(),
            "{FILE} differs from the protocol: run `make types` and commit it"
        );
    }
}
