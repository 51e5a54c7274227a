//! Facts about the server.

use crate::auth::SignedIn;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use netaclaw_protocol::{About, PROTOCOL, ProviderKind};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(about))
}

#[utoipa::path(get, path = "/admin/netaclaw/about", tag = "about", responses((status = 200, body = About)))]
async fn about(State(shared): State<Arc<Shared>>, _: SignedIn) -> Json<About> {
    let mysql = shared.engine.providers().mysql.as_ref();
    let mysql = mysql.map(|_| ProviderKind::Mysql);
    Json(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        debug: cfg!(debug_assertions),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        session_providers: std::iter::once(ProviderKind::File).chain(mysql).collect(),
        admin_store: shared.admin.kind(),
    })
}
