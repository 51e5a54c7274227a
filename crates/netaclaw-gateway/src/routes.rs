//! Handlers at their paths, with their descriptions. Serving needs the first at once; the second is
//! computed on demand, as all of it is megabytes of code and memory.

use crate::gateway::Shared;
use axum::Router;
use axum::handler::Handler;
use axum::routing::MethodRouter;
use std::sync::Arc;
use utoipa::openapi::{HttpMethod, OpenApi};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

pub(crate) struct Routes {
    served: Router<Arc<Shared>>,
    described: Vec<Describe>,
}

/// The handlers of one path.
pub(crate) struct Handlers {
    pub(crate) path: String,
    pub(crate) methods: MethodRouter<Arc<Shared>>,
    pub(crate) describe: Describe,
}

type Describe = fn() -> UtoipaMethodRouter<Arc<Shared>>;

/// Handlers that share a path. The path and the methods are those of their `utoipa::path`.
macro_rules! handlers {
    ($first:ident $(, $more:ident)*) => {
        pastey::paste! {{
            use utoipa::Path as _;
            let path = [<__path_ $first>]::path();
            let methods = $crate::routes::on([<__path_ $first>]::methods(), $first);
            $(
                debug_assert_eq!(path, [<__path_ $more>]::path());
                let methods = methods.merge($crate::routes::on([<__path_ $more>]::methods(), $more));
            )*
            $crate::routes::Handlers {
                path,
                methods,
                describe: || utoipa_axum::routes!($first $(, $more)*),
            }
        }}
    };
}
pub(crate) use handlers;

pub(crate) fn on<H, T>(methods: Vec<HttpMethod>, handler: H) -> MethodRouter<Arc<Shared>>
where
    H: Handler<T, Arc<Shared>>,
    T: 'static,
{
    let methods = methods.iter().map(HttpMethod::to_method_filter);
    methods.fold(MethodRouter::new(), |router, method| {
        router.on(method, handler.clone())
    })
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            served: Router::new(),
            described: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, handlers: Handlers) -> Self {
        self.served = self.served.route(&handlers.path, handlers.methods);
        self.described.push(handlers.describe);
        self
    }

    /// Puts something around the routes so far.
    pub(crate) fn within(
        mut self,
        around: impl FnOnce(Router<Arc<Shared>>) -> Router<Arc<Shared>>,
    ) -> Self {
        self.served = around(self.served);
        self
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.served = self.served.merge(other.served);
        self.described.extend(other.described);
        self
    }

    pub(crate) fn serve(self) -> Router<Arc<Shared>> {
        self.served
    }

    pub(crate) fn describe(self) -> OpenApi {
        let described = self.described.into_iter();
        described
            .fold(OpenApiRouter::new(), |all, describe| all.routes(describe()))
            .into_openapi()
    }
}
