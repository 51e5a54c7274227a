//! Channels. Keys go in and never come out.

use super::body::{ApiJson, ApiPath, ApiQuery};
use super::paging::Paging;
use super::record::{CanCreate, CanEdit, RevisionParam, WithEtag};
use crate::auth::{Administrator, CanInspect, SignedIn};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::{AdminError, check_channel, model_channel, resolve_model};
use netaclaw_models::{Channel, SUPPLIERS, known_models, look_up, test_connection};
use netaclaw_protocol::{
    AgentModel, ChannelId, ChannelModels, ChannelStatus, ChannelTest, ChannelTry, ChannelView,
    ChannelWrite, KeyChange, Listing, ModelInfo, ModelLookup, SupplierOption,
};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use utoipa::IntoParams;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create))
        .with(handlers!(get, replace, delete))
        .with(handlers!(test))
        .with(handlers!(test_unsaved))
        .with(handlers!(models))
        .with(handlers!(lookup))
        .with(handlers!(defaults))
        .with(handlers!(suppliers))
}

/// Which channels are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    /// `true` for the channels of auxiliary models, `false` for the others.
    is_auxiliary: Option<bool>,
    #[param(inline)]
    status: Option<ChannelStatus>,
}

impl Wanted {
    fn fits(&self, channel: &ChannelView) -> bool {
        let spec = &channel.spec;
        let auxiliary = self.is_auxiliary;
        auxiliary.is_none_or(|wanted| spec.is_auxiliary == wanted)
            && self.status.is_none_or(|wanted| spec.status == wanted)
    }
}

#[utoipa::path(get, path = "/admin/netaclaw/channels", tag = "channels",
    params(Paging, Wanted), responses((status = 200, body = Listing<ChannelView>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
    ApiQuery(wanted): ApiQuery<Wanted>,
) -> Result<Json<Listing<ChannelView>>, ApiError> {
    let mut channels = shared.admin.channels().await?;
    channels.retain(|channel| wanted.fits(channel));
    Ok(Json(paging.of(channels)))
}

#[utoipa::path(post, path = "/admin/netaclaw/channels", tag = "channels", request_body = ChannelWrite,
    responses((status = 201, body = ChannelView)))]
async fn create(
    maker: CanCreate,
    ApiJson(write): ApiJson<ChannelWrite>,
) -> Result<WithEtag<ChannelView>, ApiError> {
    let key = match write.api_key {
        KeyChange::Set(key) => Some(key),
        KeyChange::Keep | KeyChange::Clear => None,
    };
    let made = maker.admin().create_channel(&maker.by, write.spec, key);
    Ok(WithEtag::made(made.await?))
}

#[utoipa::path(get, path = "/admin/netaclaw/channels/{id}", tag = "channels", params(("id" = String, Path)),
    responses((status = 200, body = ChannelView)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(id): ApiPath<String>,
) -> Result<WithEtag<ChannelView>, ApiError> {
    let channel = shared.admin.channel(&ChannelId::new(id)).await?;
    Ok(WithEtag::found(channel))
}

#[utoipa::path(put, path = "/admin/netaclaw/channels/{id}", tag = "channels", request_body = ChannelWrite,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = ChannelView)))]
async fn replace(
    edit: CanEdit<ChannelId>,
    ApiJson(write): ApiJson<ChannelWrite>,
) -> Result<WithEtag<ChannelView>, ApiError> {
    let (by, expect) = (edit.by(), edit.expect());
    let admin = edit.admin();
    let changed = admin.update_channel(by, &edit.id, expect, write.spec, write.api_key);
    edit.changed(changed.await)
}

#[utoipa::path(delete, path = "/admin/netaclaw/channels/{id}", tag = "channels",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(edit: CanEdit<ChannelId>) -> Result<StatusCode, ApiError> {
    edit.deleted(
        edit.admin()
            .delete_channel(edit.by(), &edit.id, edit.expect())
            .await,
    )
}

/// Test the connection to the supplier.
/// A failed test is a result, not an error of this request.
#[utoipa::path(post, path = "/admin/netaclaw/channels/{id}/test", tag = "channels",
    params(("id" = String, Path)), responses((status = 200, body = ChannelTest)))]
async fn test(
    State(shared): State<Arc<Shared>>,
    _: Administrator,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<ChannelTest>, ApiError> {
    let channel = shared.admin.open_channel(&ChannelId::new(id)).await?;
    Ok(Json(tried(&shared, channel).await))
}

/// Test a channel that is not saved.
/// If an existing channel is being changed, its stored API key is used.
#[utoipa::path(post, path = "/admin/netaclaw/channels/test", tag = "channels", request_body = ChannelTry,
    responses((status = 200, body = ChannelTest)))]
async fn test_unsaved(
    State(shared): State<Arc<Shared>>,
    _: Administrator,
    ApiJson(wanted): ApiJson<ChannelTry>,
) -> Result<Json<ChannelTest>, ApiError> {
    let ChannelTry { id, write } = wanted;
    check_channel(&write.spec).map_err(AdminError::from)?;
    let key = match (write.api_key, id) {
        (KeyChange::Set(key), _) => Some(key),
        (KeyChange::Keep, Some(id)) => shared.admin.open_channel(&id).await?.api_key,
        (KeyChange::Keep | KeyChange::Clear, _) => None,
    };
    let channel = model_channel(&write.spec, key);
    Ok(Json(tried(&shared, channel).await))
}

async fn tried(shared: &Shared, channel: Channel) -> ChannelTest {
    let channel = Arc::new(channel);
    let start = Instant::now();
    let tested = test_connection(&channel, &shared.models).await;
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    match tested {
        Ok(report) => ChannelTest {
            ok: true,
            latency_ms: millis(report.latency),
            models: report.models,
            message: None,
            trouble: None,
        },
        Err(error) => ChannelTest {
            ok: false,
            latency_ms: millis(start.elapsed()),
            models: Vec::new(),
            message: Some(error.words().en),
            trouble: Some(Box::new(error.channel_trouble(&channel.name))),
        },
    }
}

/// List the models of all enabled channels, for the choice in a chat.
#[utoipa::path(get, path = "/admin/netaclaw/models", tag = "channels",
    params(Paging), responses((status = 200, body = Listing<ChannelModels>)))]
async fn models(
    State(shared): State<Arc<Shared>>,
    _: SignedIn,
    paging: Paging,
) -> Result<Json<Listing<ChannelModels>>, ApiError> {
    let mut channels = shared.admin.channels().await?;
    channels.retain(|channel| channel.spec.status == ChannelStatus::Enabled);
    let items = channels.into_iter().map(|view| {
        let channel = model_channel(&view.spec, None);
        let models = view.spec.models.iter();
        ChannelModels {
            models: models
                .map(|model| channel.model_info(&model.name))
                .collect(),
            channel_id: view.id,
            channel_name: view.spec.name,
            supplier: view.spec.supplier,
            is_auxiliary: view.spec.is_auxiliary,
        }
    });
    Ok(Json(paging.of(items.collect())))
}

/// List the suppliers that a channel can have, with their defaults.
#[utoipa::path(get, path = "/admin/netaclaw/suppliers", tag = "channels",
    params(Paging), responses((status = 200, body = Listing<SupplierOption>)))]
async fn suppliers(_: CanInspect, paging: Paging) -> Json<Listing<SupplierOption>> {
    let items = SUPPLIERS.iter().map(|info| SupplierOption {
        id: info.supplier,
        label: info.label.to_owned(),
        base_url: (!info.base_url.is_empty()).then(|| info.base_url.to_owned()),
        needs_key: info.needs_key,
        key_variable: info.key_variable.map(str::to_owned),
        models: known_models(info.supplier).collect(),
    });
    Json(paging.of(items.collect()))
}

/// Look up what is known about models by their names alone, for channels that are not saved.
/// Names may have the prefixes, dates and tags of relays; unknown models are marked as guesses.
#[utoipa::path(post, path = "/admin/netaclaw/models/lookup", tag = "channels", request_body = ModelLookup,
    responses((status = 200, body = Listing<ModelInfo>)))]
async fn lookup(
    _: CanInspect,
    ApiJson(wanted): ApiJson<ModelLookup>,
) -> Result<Json<Listing<ModelInfo>>, ApiError> {
    let names = wanted.names.iter().take(LOOKUP_NAMES_MAX);
    Ok(Json(Listing::new(
        names.map(|name| look_up(name)).collect(),
    )))
}

/// Suppliers of everything list some hundreds.
const LOOKUP_NAMES_MAX: usize = 2_000;

/// List the model that each agent uses unless a session chooses another one. Agents without a
/// usable model are missing.
#[utoipa::path(get, path = "/admin/netaclaw/models/defaults", tag = "channels",
    params(Paging), responses((status = 200, body = Listing<AgentModel>)))]
async fn defaults(
    State(shared): State<Arc<Shared>>,
    _: SignedIn,
    paging: Paging,
) -> Result<Json<Listing<AgentModel>>, ApiError> {
    let channels = shared.admin.channels().await?;
    let agents = shared.admin.agents().await?.into_iter();
    let models = agents.filter_map(|agent| {
        let choice = resolve_model(&agent.spec, &channels).ok()?.main;
        Some(AgentModel {
            agent_id: agent.id,
            channel_id: choice.channel_id,
            channel_name: choice.channel_name,
            model: choice.model,
        })
    });
    Ok(Json(paging.of(models.collect())))
}
