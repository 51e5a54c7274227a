/** One line of Markdown where there is room for words only: in a button, say. No links, no pictures, no formulas. */

import MarkdownIt from 'markdown-it'
import cjkFriendly from 'markdown-it-cjk-friendly'
import { sanitizeWords } from './sanitize'

const engine = new MarkdownIt({ html: false, linkify: false }).use(cjkFriendly)

// A picture is what it is called.
engine.renderer.rules.image = (tokens, index, options, env) =>
  engine.utils.escapeHtml(engine.renderer.renderInlineAsText(tokens[index]!.children ?? [], options, env))

/** What is bold, slanted, struck or code stays so; of a link only its words. */
export const inlineHtml = (source: string): string => sanitizeWords(engine.renderInline(source))
