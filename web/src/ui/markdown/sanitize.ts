/** The last gate before generated HTML reaches the page. */

import DOMPurify, { type Config } from 'dompurify'

const PROSE: Config = {
  ALLOWED_TAGS: [
    'a',
    'blockquote',
    'br',
    'button',
    'code',
    'del',
    'details',
    'div',
    'em',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'hr',
    'img',
    'kbd',
    'li',
    'ol',
    'p',
    's',
    'span',
    'strong',
    'sub',
    'summary',
    'sup',
    'table',
    'tbody',
    'td',
    'th',
    'thead',
    'tr',
    'ul',
  ],
  ALLOWED_ATTR: [
    'alt',
    'aria-label',
    'class',
    'data-align',
    'data-checked',
    'data-image',
    'data-slot',
    'data-table',
    'href',
    'loading',
    'open',
    'rel',
    'role',
    'src',
    'start',
    'tabindex',
    'target',
    'title',
    'type',
  ],
  // Their values are not addresses.
  ADD_URI_SAFE_ATTR: [
    'aria-label',
    'data-align',
    'data-checked',
    'data-image',
    'data-slot',
    'data-table',
    'loading',
    'open',
    'rel',
    'start',
    'tabindex',
    'target',
    'type',
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|blob:|data:image\/(?:png|jpe?g|gif|webp|avif);|\/(?![/\\]))/i,
}

const WORDS: Config = {
  ALLOWED_TAGS: ['code', 'em', 's', 'strong'],
  ALLOWED_ATTR: [],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
}

const CODE: Config = { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false }

/** KaTeX draws with spans, MathML for those who listen, and small SVG paths. */
const FORMULA: Config = {
  USE_PROFILES: { html: true, mathMl: true, svg: true },
  ADD_TAGS: ['semantics', 'annotation'],
  ADD_ATTR: ['encoding'],
  FORBID_TAGS: ['a', 'img', 'image', 'use', 'style', 'form', 'input', 'button', 'foreignObject', 'script', 'iframe'],
  FORBID_ATTR: ['href', 'xlink:href', 'src', 'id', 'name'],
}

export const sanitizeProse = (html: string): string => DOMPurify.sanitize(html, PROSE)
export const sanitizeWords = (html: string): string => DOMPurify.sanitize(html, WORDS)
export const sanitizeCode = (html: string): string => DOMPurify.sanitize(html, CODE)
export const sanitizeFormula = (html: string): string => DOMPurify.sanitize(html, FORMULA)
