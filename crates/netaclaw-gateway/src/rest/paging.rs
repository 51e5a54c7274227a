//! Lists that come whole unless somebody asks for a page of them.

use super::body::ApiQuery;
use crate::error::ApiError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use netaclaw_protocol::Listing;
use serde::Deserialize;
use utoipa::IntoParams;

/// On a page, if nobody says how many.
const SIZE: u32 = 50;
const SIZE_MAX: u32 = 200;

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Paging {
    /// Counted from 1. Without `page` and `size` the list comes whole.
    page: Option<u32>,
    /// At most 200.
    size: Option<u32>,
}

impl Paging {
    /// The part that was asked for.
    pub(super) fn of<T>(self, items: Vec<T>) -> Listing<T> {
        if (self.page, self.size) == (None, None) {
            return Listing::new(items);
        }
        let page = self.page.unwrap_or(1).max(1);
        let size = self.size.unwrap_or(SIZE).clamp(1, SIZE_MAX);
        Listing::page(items, page, size)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let ApiQuery(paging) = ApiQuery::from_request_parts(parts, state).await?;
        Ok(paging)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_whole_or_page_by_page() {
        let of = |page, size| {
            let listing = Paging { page, size }.of((1..=7).collect::<Vec<u32>>());
            (listing.items, listing.page, listing.size, listing.total)
        };
        assert_eq!(of(None, None), ((1..=7).collect(), 1, 7, 7));
        assert_eq!(of(None, Some(3)), (vec![1, 2, 3], 1, 3, 7));
        assert_eq!(of(Some(3), Some(3)), (vec![7], 3, 3, 7));
        assert_eq!(of(Some(4), Some(3)), (vec![], 4, 3, 7));
        assert_eq!(of(Some(0), Some(0)), (vec![1], 1, 1, 7));
        assert_eq!(of(Some(1), None).2, SIZE);
        assert!(of(Some(u32::MAX), Some(u32::MAX)).0.is_empty());
    }
}
