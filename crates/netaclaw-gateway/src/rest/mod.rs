//! REST: configuration and reading over plain HTTP, for users and programs.

mod about;
mod agents;
mod approvals;
mod attachments;
mod audit;
mod body;
mod channels;
mod dictionary;
mod mcp_servers;
mod memories;
mod outline;
mod paging;
mod record;
mod revision;
mod sessions;
mod settings;
mod skills;
mod tokens;
mod tools;
mod transcript;
mod users;

pub(crate) use body::{ApiJson, ApiPath, ApiQuery};
pub(crate) use sessions::find as session_provider;

use crate::gateway::Shared;
use crate::routes::Routes;
use crate::{auth, health, openai};
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use netaclaw_protocol::ApiProblem;
use openai::OpenaiProblem;
use std::sync::{Arc, OnceLock};
use utoipa::ToSchema;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
    Schema, SecurityRequirement,
};

/// All routes that are described, and their description.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    let description = get(|| async {
        (
            [(header::CACHE_CONTROL, "no-cache")],
            Json(openapi().clone()),
        )
            .into_response()
    });
    described().serve().route("/openapi.json", description)
}

pub(crate) fn openapi_json() -> String {
    openapi().to_pretty_json().unwrap_or_default()
}

fn described() -> Routes {
    Routes::new()
        .merge(auth::routes())
        .merge(about::routes())
        .merge(sessions::routes())
        .merge(transcript::routes())
        .merge(attachments::routes())
        .merge(agents::routes())
        .merge(approvals::routes())
        .merge(channels::routes())
        .merge(mcp_servers::routes())
        .merge(dictionary::routes())
        .merge(settings::routes())
        .merge(memories::routes())
        .merge(users::routes())
        .merge(tokens::routes())
        .merge(tools::routes())
        .merge(skills::routes())
        .merge(audit::routes())
        .merge(health::routes())
        .merge(openai::routes())
}

fn openapi() -> &'static OpenApi {
    static DESCRIPTION: OnceLock<OpenApi> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let info = InfoBuilder::new()
            .title("NetaClaw")
            .version(env!("CARGO_PKG_VERSION"))
            .description(Some(
                "Every request needs a credential: `Authorization: Bearer`, or the cookie of a login. \
                 Errors are `{ code, message, details? }`.",
            ));
        let mut description = OpenApiBuilder::new()
            .info(info.build())
            .security(Some([SecurityRequirement::new::<_, [&str; 0], &str>("bearer", [])]))
            .build();
        description.merge(described().describe());
        describe_refusals(&mut description);
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        description
    })
}

/// Every request can be refused, in the same form; those of OpenAI's API in the form that its clients
/// read.
fn describe_refusals(description: &mut OpenApi) {
    let (own, openai) = (refusal::<ApiProblem>(), refusal::<OpenaiProblem>());
    for (path, item) in &mut description.paths.paths {
        let refusal = match path.starts_with(openai::PREFIX) {
            true => &openai,
            false => &own,
        };
        let operations = [
            &mut item.get,
            &mut item.post,
            &mut item.put,
            &mut item.patch,
            &mut item.delete,
        ];
        for operation in operations.into_iter().flatten() {
            let responses = &mut operation.responses.responses;
            responses.insert("default".to_owned(), RefOr::T(refusal.clone()));
        }
    }
    let components = description.components.get_or_insert_default();
    components.schemas.extend(schemas::<ApiProblem>());
    components.schemas.extend(schemas::<OpenaiProblem>());
}

fn refusal<T: ToSchema>() -> Response {
    let problem = Ref::from_schema_name(T::name());
    let content = ContentBuilder::new().schema(Some(problem)).build();
    ResponseBuilder::new()
        .description("The request was rejected")
        .content("application/json", content)
        .build()
}

fn schemas<T: ToSchema>() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas);
    schemas
}
