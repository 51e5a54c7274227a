//! Standing approvals for agents, in their table.

use super::SqlAdminStore;
use super::audit::write_act;
use super::database::commit;
use super::fault::{Result, found, unreadable};
use super::record::json;
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{
    APPROVALS_MAX, Actor, AdminError, ApprovalStore, Invalid, Problem, approval_act,
};
use netaclaw_protocol::{AuditAction, RecordKind, StandingApproval, UserId};
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Approval;

#[async_trait]
impl ApprovalStore for SqlAdminStore {
    async fn approvals(&self, user: Option<&UserId>) -> Result<Vec<StandingApproval>, AdminError> {
        Ok(read_approvals(&mut *self.database.connection().await?, user).await?)
    }

    async fn grant_approval(&self, by: &Actor, new: StandingApproval) -> Result<(), AdminError> {
        let Some(agent) = &new.agent_id else {
            let problem = Problem::NoSuchAgent { id: String::new() };
            return Err(Invalid::new("agentId", problem).into());
        };
        let mut writer = self.database.writer(Area::Approvals).await?;
        let known = read_approvals(&mut writer, Some(&new.user_id)).await?;
        let same = |known: &&StandingApproval| {
            (&known.agent_id, &known.tool_name, &known.scope)
                == (&new.agent_id, &new.tool_name, &new.scope)
        };
        let same: Vec<&StandingApproval> = known.iter().filter(same).collect();
        if known.len() - same.len() >= APPROVALS_MAX {
            let problem = Problem::TooMany { max: APPROVALS_MAX };
            return Err(Invalid::new("scope", problem).into());
        }
        for old in same {
            delete(&mut writer, &old.id).await?;
        }
        const INSERT: &str = "INSERT INTO netaclaw_approval \
             (id, userId, agentId, approval, grantedAt) VALUES (?, ?, ?, ?, ?)";
        sqlx::query(INSERT)
            .bind(&new.id)
            .bind(new.user_id.as_str())
            .bind(agent)
            .bind(json(&new))
            .bind(new.granted_at)
            .execute(&mut *writer)
            .await
            .map_err(super::fault::Fault::from)?;
        write_act(&mut writer, by, approval_act(AuditAction::Create, &new)).await?;
        commit(writer).await?;
        Ok(())
    }

    async fn revoke_approval(
        &self,
        by: &Actor,
        user: Option<&UserId>,
        id: &str,
    ) -> Result<StandingApproval, AdminError> {
        let mut writer = self.database.writer(Area::Approvals).await?;
        let mut known = read_approvals(&mut writer, user).await?;
        known.retain(|approval| approval.id == id);
        let approval = found(known.pop(), KIND, id, [])?;
        delete(&mut writer, id).await?;
        write_act(
            &mut writer,
            by,
            approval_act(AuditAction::Revoke, &approval),
        )
        .await?;
        commit(writer).await?;
        Ok(approval)
    }
}

async fn read_approvals(
    connection: &mut AnyConnection,
    user: Option<&UserId>,
) -> Result<Vec<StandingApproval>> {
    const ALL: &str = "SELECT id, approval FROM netaclaw_approval ORDER BY grantedAt, id";
    const OF_USER: &str =
        "SELECT id, approval FROM netaclaw_approval WHERE userId = ? ORDER BY grantedAt, id";
    let rows: Vec<(String, String)> = match user {
        None => sqlx::query_as(ALL).fetch_all(connection).await?,
        Some(user) => {
            let of_user = sqlx::query_as(OF_USER).bind(user.as_str());
            of_user.fetch_all(connection).await?
        }
    };
    let read = |(id, approval): (String, String)| {
        serde_json::from_str(&approval).map_err(|error| unreadable(KIND, &id, error))
    };
    rows.into_iter().map(read).collect()
}

async fn delete(writer: &mut AnyConnection, id: &str) -> Result<()> {
    sqlx::query("DELETE FROM netaclaw_approval WHERE id = ?")
        .bind(id)
        .execute(writer)
        .await?;
    Ok(())
}
