//! Listing sessions from their rows; no entry is read.

use super::provider::Store;
use super::retry::Failure;
use super::session_row::{META_COLUMNS, meta_in};
use netaclaw_session::{PageRequest, SessionError, SessionFilter, SessionPage};
use sqlx::{MySql, QueryBuilder, Row};

impl Store {
    pub(super) async fn list(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage, SessionError> {
        let mut retry = self.retry("cannot list the sessions".to_owned());
        loop {
            match retry.long_attempt(self.try_list(filter, page)).await {
                Ok(found) => return Ok(found),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn try_list(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage, Failure> {
        let number = page.page.max(1);
        let skipped = u64::from(number - 1) * u64::from(page.size);
        let mut lease = self.connections.lease().await?;

        let mut count = QueryBuilder::new("SELECT COUNT(*) FROM neta_agent_session");
        push_filter(&mut count, filter);
        let total: i64 = count
            .build()
            .fetch_one(lease.connection())
            .await?
            .try_get(0)?;

        let mut select = QueryBuilder::new("SELECT ");
        select.push(META_COLUMNS).push(" FROM neta_agent_session");
        push_filter(&mut select, filter);
        select.push(" ORDER BY updatedAt DESC, sessionId DESC LIMIT ");
        select
            .push_bind(page.size)
            .push(" OFFSET ")
            .push_bind(skipped);
        let rows = select.build().fetch_all(lease.connection()).await?;
        lease.return_to_pool();

        Ok(SessionPage {
            items: rows.iter().map(meta_in).collect::<Result<_, _>>()?,
            page: number,
            size: page.size,
            total: total.unsigned_abs(),
        })
    }
}

fn push_filter(query: &mut QueryBuilder<MySql>, filter: &SessionFilter) {
    match filter.status {
        Some(status) => query.push(" WHERE status = ").push_bind(status.as_str()),
        None => query.push(" WHERE status <> 'deleted'"),
    };
    if let Some(user) = &filter.user_id {
        query.push(" AND (");
        push_equal(query, "userId", user);
        if filter.unowned {
            query.push(" OR userId IS NULL");
        }
        query.push(")");
    }
    if let Some(agent) = &filter.agent_id {
        query.push(" AND ");
        push_equal(query, "agentId", agent);
    }
    if let Some(key) = &filter.metadata_key {
        let path = format!("$.{}", serde_json::Value::from(key.as_str()));
        query
            .push(" AND JSON_CONTAINS_PATH(metadata, 'one', ")
            .push_bind(path)
            .push(")");
    }
    if let Some(text) = &filter.text {
        let text = text.to_lowercase();
        query.push(" AND (");
        let mut columns = query.separated(" OR ");
        for column in ["title", "firstMessage", "cwd", "sessionId"] {
            // Not LIKE, in which some characters of the text would be patterns.
            columns.push("LOCATE(").push_bind_unseparated(text.clone());
            columns.push_unseparated(format_args!(", LOWER({column})) > 0"));
        }
        query.push(")");
    }
}

/// Equality ignores spaces at the end, which must not make one user of two.
fn push_equal(query: &mut QueryBuilder<MySql>, column: &str, wanted: &str) {
    query
        .push(format_args!("{column} = "))
        .push_bind(wanted.to_owned())
        .push(format_args!(" AND LENGTH({column}) = "))
        .push_bind(wanted.len() as u64);
}
