//! `channel remove`.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use clap::Args;
use netaclaw_admin::{
    AUXILIARY_CHANNEL_ID, Actor, AdminError, AdminStore, Expect, NETACLAW_GROUP, UsedBy,
};
use netaclaw_protocol::ChannelView;
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// Name of the channel
    #[arg(value_name = "NAME")]
    channel: String,
}

pub(super) async fn run(args: RemoveArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let channel = store.channel_named(&args.channel).await;
    let channel = channel.map_err(|error| failure(lang, error))?;
    let removed = remove(store, &channel).await;
    removed.map_err(|error| failure(lang, error))?;
    Ok(writeln!(
        app.out,
        "{}",
        lang.channel_removed(&channel.spec.name)
    )?)
}

/// Agents have to be given another channel first. Without an auxiliary channel there is always
/// their own, so that entry is just cleared.
async fn remove(
    store: &dyn AdminStore,
    channel: &ChannelView,
) -> std::result::Result<(), AdminError> {
    let by = Actor::command_line();
    let removed = store.delete_channel(&by, &channel.id, Expect::Any).await;
    match removed {
        Err(AdminError::InUse { by: users, .. })
            if matches!(users.as_slice(), [UsedBy::DictEntry { .. }]) =>
        {
            let cleared = store.put_dict_value(&by, NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, "");
            cleared.await?;
            store.delete_channel(&by, &channel.id, Expect::Any).await
        }
        done => done,
    }
}
