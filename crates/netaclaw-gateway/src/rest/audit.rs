//! The audit log.

use super::body::ApiQuery;
use super::paging::page_and_size;
use crate::auth::CanInspect;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use netaclaw_protocol::AuditPage;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(list))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// Page number, starting at 1.
    #[param(minimum = 1)]
    page: Option<u32>,
    #[param(minimum = 1, maximum = 200)]
    size: Option<u32>,
}

#[utoipa::path(get, path = "/admin/netaclaw/audit", tag = "audit",
    params(AuditQuery), responses((status = 200, body = AuditPage)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiQuery(asked): ApiQuery<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let (page, size) = page_and_size(asked.page, asked.size, 50)?;
    Ok(Json(shared.admin.audit(page, size).await?))
}
