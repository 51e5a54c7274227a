//! The parts of the context window and their sizes.

use super::setup::Overhead;
use crate::source::Measure;
use netaclaw_compaction::{ContextShares, Used, message_shares};
use netaclaw_protocol::{ContextBreakdown, ContextPart, ContextShare};
use netaclaw_session::SessionContext;

/// The shares are estimates; they are scaled so that they add up to what is used, which the
/// supplier may have counted.
pub(crate) fn breakdown(
    context: &SessionContext<'_>,
    used: Used,
    overhead: Overhead,
    measure: &Measure,
) -> ContextBreakdown {
    let ContextShares {
        summary,
        messages,
        tool_results,
    } = message_shares(context);
    let estimates = [
        (ContextPart::System, overhead.system),
        (ContextPart::Tools, overhead.tools),
        (ContextPart::Skills, overhead.skills),
        (ContextPart::Summary, summary),
        (ContextPart::Messages, messages),
        (ContextPart::ToolResults, tool_results),
    ];
    let mut parts = scaled(&estimates, used.tokens);
    let max_tokens = measure.model.context_window;
    let left = max_tokens.saturating_sub(used.tokens);
    let reserve = measure.model.max_output.min(left);
    parts.push(ContextShare {
        part: ContextPart::Reserve,
        tokens: reserve,
    });
    parts.push(ContextShare {
        part: ContextPart::Free,
        tokens: left - reserve,
    });
    ContextBreakdown {
        used_tokens: used.tokens,
        max_tokens,
        threshold_percent: measure.threshold_percent,
        estimated: used.estimated,
        window_source: measure.model.source,
        parts,
    }
}

/// Shares of a total in the proportion of the estimates. Rounding errors are carried on, so that
/// the shares add up exactly.
fn scaled(estimates: &[(ContextPart, u64)], total: u64) -> Vec<ContextShare> {
    let sum: u64 = estimates.iter().map(|(_, tokens)| tokens).sum();
    let mut so_far = 0_u64;
    let mut given = 0_u64;
    estimates
        .iter()
        .map(|(part, tokens)| {
            so_far += tokens;
            let upto = match sum {
                0 => 0,
                sum => (u128::from(so_far) * u128::from(total) / u128::from(sum)) as u64,
            };
            let tokens = upto - given;
            given = upto;
            ContextShare {
                part: *part,
                tokens,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_what_is_used_whatever_the_estimates_are() {
        for total in [0, 1, 7, 999, 123_456] {
            let estimates = [
                (ContextPart::System, 3),
                (ContextPart::Tools, 0),
                (ContextPart::Messages, 10),
                (ContextPart::ToolResults, 777),
            ];
            let shares = scaled(&estimates, total);
            let sum: u64 = shares.iter().map(|share| share.tokens).sum();
            assert_eq!(sum, total);
            assert_eq!(shares[1].tokens, 0);
        }
    }
}
