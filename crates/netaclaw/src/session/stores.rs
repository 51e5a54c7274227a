//! The session stores, opened on demand.

use crate::app::App;
use crate::config::Config;
use crate::error::{Failure, Result};
use crate::text::Lang;
use netaclaw_session::{ProviderKind, SessionError, SessionTreeProvider};
use netaclaw_store::{
    DeadInstances, FileProvider, FileSettings, Instance, MysqlProvider, MysqlSettings, NodeSettings,
};
use std::sync::Arc;
use tokio::sync::OnceCell;

pub(crate) type Provider = Arc<dyn SessionTreeProvider>;

pub(crate) struct Stores {
    pub(crate) config: Config,
    lang: Lang,
    node: NodeSettings,
    /// Processes of this data directory that are known to be dead.
    dead: Vec<String>,
    mysql: OnceCell<Provider>,
}

impl Stores {
    /// Reads the settings; `provider` is what the command line names, if it does.
    pub(crate) fn new(app: &App, provider: Option<&str>) -> Result<Self> {
        Ok(Self {
            config: app.config(provider)?,
            lang: app.lang,
            node: NodeSettings::default(),
            dead: Vec::new(),
            mysql: OnceCell::new(),
        })
    }

    /// For a process that others know by its file in the data directory, and that has found these
    /// others dead there.
    pub(crate) fn of_instance(self, instance: &Instance, dead: &DeadInstances) -> Self {
        Self {
            node: NodeSettings {
                instance: instance.id().to_owned(),
                ..self.node
            },
            dead: dead.ids().to_vec(),
            ..self
        }
    }

    /// The provider that was named or configured.
    pub(crate) async fn chosen(&self) -> Result<Provider> {
        self.open(self.config.provider).await
    }

    pub(crate) async fn open(&self, kind: ProviderKind) -> Result<Provider> {
        match kind {
            ProviderKind::File => Ok(Arc::new(FileProvider::new(FileSettings {
                dir: self.config.sessions_dir(),
                fsync: self.config.fsync,
            }))),
            ProviderKind::Mysql => {
                let provider = self.mysql.get_or_try_init(|| self.connect()).await?;
                Ok(Arc::clone(provider))
            }
        }
    }

    async fn connect(&self) -> Result<Provider> {
        let lang = self.lang;
        let Some(url) = &self.config.mysql_url else {
            return Err(Failure::new(
                "mysql",
                lang.no_database(),
                lang.set_mysql_url(),
            ));
        };
        let shown = without_secrets(url);
        let settings = MysqlSettings {
            node: self.node.clone(),
            ..MysqlSettings::new(url)
        };
        let connected = async {
            let provider = MysqlProvider::connect(settings).await?;
            provider.instances_died(&self.dead).await?;
            Ok(provider)
        };
        let provider = connected.await.map_err(|error: SessionError| {
            let why = lang.database_unreachable(first_cause(&error));
            Failure::new(format!("mysql {shown}"), why, lang.check_database())
        })?;
        Ok(Arc::new(provider))
    }

    /// The providers to search for an id, the chosen one first. A database that is not configured
    /// is left out.
    pub(crate) fn places(&self) -> Vec<ProviderKind> {
        let other = match self.config.provider {
            ProviderKind::File => ProviderKind::Mysql,
            ProviderKind::Mysql => ProviderKind::File,
        };
        let mut places = vec![self.config.provider];
        if other == ProviderKind::File || self.config.mysql_url.is_some() {
            places.push(other);
        }
        places
    }
}

/// The address in a database URL: no user and no password.
fn without_secrets(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    rest.split(['?', '#']).next().unwrap_or_default()
}

/// What went wrong in the first place, without what was going on around it.
fn first_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(
            without_secrets("mysql://neta:s3cret@db:3306/neta?ssl=1"),
            "db:3306/neta"
        );
        assert_eq!(without_secrets("mysql://a:p@ss@db/x"), "db/x");
        assert_eq!(without_secrets("db"), "db");
    }
}
