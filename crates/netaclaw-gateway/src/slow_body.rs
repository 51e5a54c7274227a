//! A timeout for the bodies of requests.

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// A client that sends at least so much has all the time that its upload needs.
const BYTES_PER_SECOND_MIN: u64 = 4 << 10;

/// Ends the body of a request that comes too slowly: a body has `within`, and longer the more of it
/// has arrived.
pub(crate) fn in_time(request: Request, within: Duration) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    request.map(|inner| {
        Body::new(TimedBody {
            inner,
            until: Instant::now() + within,
            timer: None,
        })
    })
}

struct TimedBody {
    inner: Body,
    until: Instant,
    /// Most bodies arrive with the head of their request and need none.
    timer: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the body of the request did not arrive in time")]
struct TooSlow;

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            if let Some(Ok(frame)) = &frame
                && let Some(data) = frame.data_ref()
            {
                let millis = data.len() as u64 * 1000 / BYTES_PER_SECOND_MIN;
                this.until += Duration::from_millis(millis);
            }
            return Poll::Ready(frame);
        }
        let until = this.until;
        let timer = this
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(until)));
        if timer.deadline() != until {
            timer.as_mut().reset(until);
        }
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Some(Err(axum::Error::new(TooSlow)))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
