//! Lists that are complete unless the client requests a page of them.

use super::body::ApiQuery;
use crate::error::ApiError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use netaclaw_protocol::{BadRequest, FieldProblem, Listing};
use serde::Deserialize;
use serde_json::json;
use std::ops::RangeInclusive;
use utoipa::IntoParams;

/// The default page size.
const SIZE: u32 = 50;
const SIZE_MAX: u32 = 200;

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Paging {
    /// Page number, starting at 1. Without `page` and `size`, the complete list is returned.
    #[param(minimum = 1)]
    page: Option<u32>,
    #[param(minimum = 1, maximum = 200)]
    size: Option<u32>,
}

/// The page and the size that were asked for, with a size for who did not say one. What is outside of
/// the description is refused.
pub(super) fn page_and_size(
    page: Option<u32>,
    size: Option<u32>,
    usual: u32,
) -> Result<(u32, u32), ApiError> {
    let page = within("page", page.unwrap_or(1), 1..=u32::MAX)?;
    let size = within("size", size.unwrap_or(usual), 1..=SIZE_MAX)?;
    Ok((page, size))
}

/// A number of a query, if it is in its range.
pub(super) fn within<T>(field: &str, number: T, range: RangeInclusive<T>) -> Result<T, ApiError>
where
    T: PartialOrd + Copy + TryInto<i64>,
{
    if range.contains(&number) {
        return Ok(number);
    }
    let bound = |number: T| number.try_into().unwrap_or(i64::MAX);
    let out_of_range = BadRequest::FieldNotValid {
        field: field.to_owned(),
        problem: FieldProblem::OutOfRange {
            min: bound(*range.start()),
            max: bound(*range.end()),
        },
    };
    Err(ApiError::new(out_of_range).with_details(json!({ "field": field })))
}

impl Paging {
    /// The part that was asked for.
    pub(super) fn of<T>(self, items: Vec<T>) -> Listing<T> {
        if (self.page, self.size) == (None, None) {
            return Listing::new(items);
        }
        let (page, size) = (self.page.unwrap_or(1), self.size.unwrap_or(SIZE));
        Listing::page(items, page, size)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let ApiQuery(paging) = ApiQuery::<Self>::from_request_parts(parts, state).await?;
        page_and_size(paging.page, paging.size, SIZE)?;
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
        assert_eq!(of(Some(1), None).2, SIZE);
        assert!(of(Some(u32::MAX), Some(SIZE_MAX)).0.is_empty());
    }
}
