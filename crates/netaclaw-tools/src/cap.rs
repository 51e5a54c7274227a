//! Truncates results to the output limit of their tool.

use crate::output::ToolOutput;
use netaclaw_protocol::ContentBlock;

/// Cuts texts so that all of them together fit the cap, and says so. Tools that can continue from a
/// cut make it themselves; this is for those that produce too much.
pub(crate) fn cap(output: &mut ToolOutput, cap: usize) {
    let whole: usize = output.content.iter().map(text_bytes).sum();
    if whole <= cap {
        return;
    }
    let (mut left, mut shown) = (cap, 0);
    output.content.retain_mut(|block| {
        let ContentBlock::Text { text } = block else {
            return true;
        };
        let keep = text.floor_char_boundary(left.min(text.len()));
        // What comes behind a cut would look as if nothing were missing.
        left = if keep < text.len() { 0 } else { left - keep };
        text.truncate(keep);
        shown += keep;
        keep > 0
    });
    output.content.push(ContentBlock::Text {
        text: format!(
            "[Output truncated: the first {shown} of {whole} bytes are shown. Request less at a \
             time, or only the part you need.]"
        ),
    });
}

fn text_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } => text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_between_characters_and_said() {
        let mut output = ToolOutput::text("水".repeat(100));
        output.content.push(ContentBlock::Image {
            data: "x".repeat(5000),
            mime_type: "image/png".into(),
        });
        output.content.push(ContentBlock::Text {
            text: "late".into(),
        });
        cap(&mut output, 10);
        assert_eq!(
            output.joined_text(),
            "水水水\n[Output truncated: the first 9 of 304 bytes are shown. Request less at a time, or only the part you need.]"
        );
        assert_eq!(output.content.len(), 3, "pictures stay");
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut output = ToolOutput::text("abc");
        cap(&mut output, 3);
        assert_eq!(output, ToolOutput::text("abc"));
    }
}
