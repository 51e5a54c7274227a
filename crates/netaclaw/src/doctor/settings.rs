//! Variables and the configuration file.

use super::check::Check;
use crate::app::App;
use crate::config::{Config, var};
use netaclaw_admin::nearest;

/// Those of NetaClaw's own variables that are set. One that it does not read is most likely a
/// typing mistake, and would otherwise be one in silence.
pub(super) fn variables(app: &App) -> Vec<Check> {
    let lang = app.lang;
    let (known, unknown): (Vec<&str>, Vec<&str>) = app
        .env
        .own
        .iter()
        .map(String::as_str)
        .partition(|name| var::OWN.contains(name));
    let what = lang.environment();
    let said = match known.is_empty() {
        true => lang.no_variables(),
        false => known.join(", "),
    };
    let mut checks = vec![Check::ok("environment", what, said)];
    checks.extend(unknown.into_iter().map(|name| {
        let todo = match nearest(name, var::OWN) {
            Some(meant) => lang.did_you_mean(meant),
            None => lang.unset_it(),
        };
        Check::warn("environment", lang.variable(name), lang.not_read(), todo)
    }));
    checks
}

/// The file was read without a mistake, or is not there.
pub(super) fn file(app: &App, config: &Config) -> Vec<Check> {
    let lang = app.lang;
    let said = match &config.file {
        Some(file) => lang.config_read(file.display()),
        None => lang.config_absent(),
    };
    let what = lang.configuration();
    let mut checks = vec![Check::ok("configuration", what.clone(), said)];
    let warnings = config.warnings.iter().map(|warning| {
        Check::warn(
            "configuration",
            what.clone(),
            warning.clone(),
            lang.fix_config(),
        )
    });
    checks.extend(warnings);
    checks
}
