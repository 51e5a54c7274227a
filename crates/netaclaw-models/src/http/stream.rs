//! One request and its streamed answer, as a stream of events.

use super::{Transport, error_reply, reply::read};
use crate::answer::{ANSWER_BYTES_MAX, Answer, too_large};
use crate::client::{ModelEvent, ModelStream};
use crate::error::{Detail, ModelError, TimeoutStage};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use secrecy::SecretString;
use sse_stream::{Sse, SseByteStream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A stream says the same in many more bytes than the answer has. It is never held as a whole.
const STREAM_BYTES_MAX: usize = 64 << 20;
/// One event or a whole body, which is held until it is complete. Escapes can double a text.
const PIECE_BYTES_MAX: usize = 2 * ANSWER_BYTES_MAX;

/// What is read of an answer after it has said that this was all.
const REST_EVENTS_MAX: usize = 16;

/// Understands the events of one API.
pub(crate) trait Decoder: Send + 'static {
    /// Takes in one event.
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        answer: &mut Answer,
    ) -> Result<Progress, ModelError>;

    /// Whether the supplier has said why the answer ends. What is missing then is only trimmings.
    fn is_complete(&self) -> bool;

    /// The body ended. Makes the last event if the answer was whole.
    fn end(&mut self, answer: &mut Answer) -> Result<(), ModelError>;

    /// Takes in an answer that came in one piece, from a server that does not stream.
    fn decode_whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// The supplier said that this was all; what follows in the body is of no interest.
    Complete,
}

/// Everything one answer needs. Dropping it drops the connection.
pub(crate) struct HttpAnswer<D> {
    pub(crate) transport: Arc<Transport>,
    pub(crate) key: Option<SecretString>,
    pub(crate) decoder: D,
    pub(crate) answer: Answer,
    pub(crate) cancel: CancellationToken,
}

enum Phase {
    /// The request is made when the first event is polled.
    Waiting(Box<dyn FnOnce() -> Result<RequestBuilder, ModelError> + Send>),
    Reading(Events),
    Over,
}

impl<D: Decoder> HttpAnswer<D> {
    /// The answer to a request as a stream.
    pub(crate) fn stream(
        self,
        request: impl FnOnce() -> Result<RequestBuilder, ModelError> + Send + 'static,
    ) -> ModelStream {
        let waiting = Phase::Waiting(Box::new(request));
        // Waited for from the beginning to the end: to join and to leave those who wait for a token
        // costs more than a piece of text.
        let stopped = Box::pin(self.cancel.clone().cancelled_owned());
        // Boxed, as it would be moved for every event.
        let state = Box::new((self, waiting, stopped));
        stream::unfold(state, |mut state| async move {
            let (this, phase, stopped) = &mut *state;
            let event = this.next(phase, stopped.as_mut()).await?;
            Some((event, state))
        })
        .boxed()
    }

    async fn next(
        &mut self,
        phase: &mut Phase,
        mut stopped: Pin<&mut WaitForCancellationFutureOwned>,
    ) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.answer.next_event() {
                return Some(event);
            }
            if self.answer.is_ended() {
                *phase = Phase::Over;
                return None;
            }
            let step = tokio::select! {
                biased;
                () = stopped.as_mut() => Err(ModelError::Cancelled),
                step = self.step(phase) => step,
            };
            match step {
                Ok(()) if self.answer.is_ended() => self.leave(phase),
                Ok(()) => {}
                Err(error) => {
                    // The connection is released before the event: a receiver of the end may rely
                    // on it.
                    *phase = Phase::Over;
                    self.answer.fail(error.sealed(self.key.as_ref()));
                }
            }
        }
    }

    /// The answer is whole. Its connection is kept for the next one: a new one would cost a turn
    /// several ways to the supplier and back.
    fn leave(&self, phase: &mut Phase) {
        if let Phase::Reading(events) = std::mem::replace(phase, Phase::Over)
            && !events.body_ended.load(Ordering::Relaxed)
        {
            Transport::read_out(events);
        }
    }

    /// One thing that can take time.
    async fn step(&mut self, phase: &mut Phase) -> Result<(), ModelError> {
        match phase {
            Phase::Waiting(_) => {
                let Phase::Waiting(request) = std::mem::replace(phase, Phase::Over) else {
                    unreachable!("matched above")
                };
                let response = self.transport.send(request()?).await?;
                if !response.status().is_success() {
                    return Err(error_reply(&self.transport, response).await);
                }
                if is_json(&response) {
                    let body = read(&self.transport, response, PIECE_BYTES_MAX).await?;
                    if body.len() == PIECE_BYTES_MAX {
                        return Err(too_large());
                    }
                    let body = String::from_utf8_lossy(&body);
                    return self.decoder.decode_whole(&body, &mut self.answer);
                }
                *phase = Phase::Reading(Events::new(&self.transport, response));
                Ok(())
            }
            Phase::Reading(events) => {
                let arrived = events.next().await;
                self.take_in(events, arrived)
            }
            Phase::Over => Err(ModelError::StreamBroken(Detail::default())),
        }
    }

    fn take_in(
        &mut self,
        events: &Events,
        arrived: Result<Option<Sse>, ModelError>,
    ) -> Result<(), ModelError> {
        let event = match arrived {
            Err(error) if !self.decoder.is_complete() => return Err(error),
            Err(_) | Ok(None) => return self.decoder.end(&mut self.answer),
            Ok(Some(event)) => event,
        };
        let data = event.data.as_deref().unwrap_or_default();
        let progress = self
            .decoder
            .event(event.event.as_deref(), data, &mut self.answer)
            .map_err(|error| events.judge(error))?;
        if self.answer.is_oversized() {
            return Err(too_large());
        }
        match progress {
            Progress::More => Ok(()),
            Progress::Complete => self.decoder.end(&mut self.answer),
        }
    }
}

fn is_json(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/json"))
}

/// The server-sent events of a response.
pub(super) struct Events {
    events: SseByteStream<BoxStream<'static, Result<Bytes, ModelError>>>,
    body_ended: Arc<AtomicBool>,
}

impl Events {
    fn new(transport: &Arc<Transport>, response: Response) -> Self {
        let body_ended = Arc::new(AtomicBool::new(false));
        let body = Body {
            transport: transport.clone(),
            response,
            bytes: 0,
            line_bytes: 0,
            ended: body_ended.clone(),
            heard: Instant::now(),
            silence: Box::pin(tokio::time::sleep(transport.timeouts().first_byte)),
        };
        let bytes = stream::try_unfold(Box::new(body), |mut body| async move {
            Ok(body.next().await?.map(|chunk| (chunk, body)))
        });
        Self {
            events: SseByteStream::new(bytes.boxed()),
            body_ended,
        }
    }

    async fn next(&mut self) -> Result<Option<Sse>, ModelError> {
        match self.events.next().await {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(sse_stream::Error::Body(error))) => {
                Err(match error.downcast::<ModelError>() {
                    Ok(error) => *error,
                    Err(other) => ModelError::StreamBroken(Detail::text(other.to_string())),
                })
            }
            Some(Err(other)) => Err(ModelError::Protocol(Detail::text(other.to_string()))),
        }
    }

    /// Reads what is left after the end of the answer. A connection can carry another request only
    /// when the last byte of this answer was read.
    pub(super) async fn read_out(mut self) {
        for _ in 0..REST_EVENTS_MAX {
            match self.next().await {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Half an event at the end of the body is a stream that broke, not malformed data.
    fn judge(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Protocol(detail) if self.body_ended.load(Ordering::Relaxed) => {
                ModelError::StreamBroken(detail)
            }
            other => other,
        }
    }
}

struct Body {
    transport: Arc<Transport>,
    response: Response,
    bytes: usize,
    /// Those of them after the last line end.
    line_bytes: usize,
    ended: Arc<AtomicBool>,
    /// When the last chunk came.
    heard: Instant,
    /// Ends when it may have been silent for too long. Set again only then: chunks are many.
    silence: Pin<Box<Sleep>>,
}

impl Body {
    async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(chunk) = self.chunk().await? else {
            // The last event may lack its blank line, and would be lost without one.
            self.ended.store(true, Ordering::Relaxed);
            return Ok(Some(Bytes::from_static(b"\n\n")));
        };
        self.heard = Instant::now();
        if self.bytes == 0 {
            let idle = self.transport.timeouts().idle;
            self.silence.as_mut().reset(self.heard + idle);
        }
        self.bytes += chunk.len();
        self.line_bytes = match chunk.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => chunk.len() - end - 1,
            None => self.line_bytes + chunk.len(),
        };
        if self.bytes > STREAM_BYTES_MAX || self.line_bytes > PIECE_BYTES_MAX {
            return Err(too_large());
        }
        Ok(Some(chunk))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let timeouts = self.transport.timeouts();
        let (stage, after) = match self.bytes {
            0 => (TimeoutStage::FirstByte, timeouts.first_byte),
            _ => (TimeoutStage::Idle, timeouts.idle),
        };
        loop {
            tokio::select! {
                biased;
                chunk = self.response.chunk() => {
                    let broken = |error| ModelError::StreamBroken(Detail::text(super::cause_of(error)));
                    return chunk.map_err(broken);
                }
                () = self.silence.as_mut() => {
                    if self.heard.elapsed() >= after {
                        return Err(ModelError::Timeout { stage, after });
                    }
                    self.silence.as_mut().reset(self.heard + after);
                }
            }
        }
    }
}
