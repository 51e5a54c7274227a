//! `skill list`: a table for people, the skills as JSON for programs.

use super::find_agent;
use crate::admin::{self, engine_failure};
use crate::app::{App, Outcome};
use crate::assemble::skill_home;
use crate::error::{Result, in_language};
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_agents::{AdminAgentSource, AgentPreviews, ModelSettings};
use netaclaw_protocol::{SkillSource, SkillState, SkillView};
use netaclaw_tools::ToolRegistry;
use std::io::Write;
use std::sync::Arc;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Name of the agent whose skills are listed
    #[arg(long = "agent", id = "finder", value_name = "NAME")]
    agent: Option<String>,
    /// Print the skills as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App) -> Result<Outcome> {
    let lang = app.lang;
    let store = Arc::new(admin::open(app).await?);
    let agents = AdminAgentSource::new(
        Arc::clone(&store) as Arc<dyn AdminStore>,
        ModelSettings::default(),
        Arc::new(ToolRegistry::builtin()),
        std::env::current_dir()?,
    );
    let agents = agents.with_skills(skill_home(app, &app.config(None)?));
    let found = find_agent(app, &*store, args.agent.as_deref()).await;
    let skills = agents.skills(args.agent.as_deref()).await;
    store.close().await;
    found?;
    let skills = skills.map_err(|error| engine_failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &skills).map_err(std::io::Error::from)?;
        writeln!(app.out)?;
    } else if skills.is_empty() {
        writeln!(app.out, "{}", lang.no_skills())?;
    } else {
        let heads = [
            lang.name(),
            lang.skill_state(),
            lang.skill_source(),
            lang.description(),
        ];
        let rows: Vec<[Cell; 4]> = skills.iter().map(|skill| row(lang, skill)).collect();
        table::write(app, heads, &rows)?;
    }
    Ok(Outcome::Done)
}

fn row(lang: Lang, skill: &SkillView) -> [Cell; 4] {
    // Why it cannot be used says more than what it would do.
    let problems = skill.problems.iter();
    let words: Vec<String> = problems
        .map(|problem| in_language(lang, problem.words.clone()))
        .collect();
    let about = match words.is_empty() {
        true => skill.description.clone(),
        false => words.join("; "),
    };
    [
        one_line(&skill.name, 64),
        state(lang, skill.state),
        source(lang, skill.source),
        one_line(&about, 100),
    ]
}

fn state(lang: Lang, state: SkillState) -> String {
    match state {
        SkillState::Ready => lang.skill_ready(),
        SkillState::Unavailable => lang.skill_unavailable(),
        SkillState::Invalid => lang.skill_invalid(),
        SkillState::Shadowed => lang.skill_shadowed(),
        SkillState::NotChosen => lang.skill_not_chosen(),
    }
}

fn source(lang: Lang, source: SkillSource) -> String {
    match source {
        SkillSource::Agent => lang.skill_of_agent(),
        SkillSource::Data => lang.skill_of_data(),
        SkillSource::Workspace => lang.skill_of_workspace(),
        SkillSource::Shipped => lang.skill_shipped(),
    }
}
