//! What administrators did.

use super::body::ApiQuery;
use crate::auth::Onlooker;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use netaclaw_protocol::AuditPage;
use serde::Deserialize;
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(list))
}

#[derive(Deserialize)]
struct Asked {
    page: Option<u32>,
    size: Option<u32>,
}

#[utoipa::path(get, path = "/admin/netaclaw/audit", tag = "audit",
    params(("page" = Option<u32>, Query), ("size" = Option<u32>, Query)),
    responses((status = 200, body = AuditPage)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: Onlooker,
    ApiQuery(asked): ApiQuery<Asked>,
) -> Result<Json<AuditPage>, ApiError> {
    let page = asked.page.unwrap_or(1).max(1);
    let size = asked.size.unwrap_or(50).clamp(1, 200);
    Ok(Json(shared.admin.audit(page, size).await?))
}
