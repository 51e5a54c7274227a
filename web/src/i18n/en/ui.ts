/** Words of the leaf components in `src/ui`. */
export default {
  copied: 'Copied',
  code: {
    plain: 'text',
    copy: 'Copy code',
    wrap: 'Wrap lines',
    fold: 'Show less',
    unfold: 'Show all {count} lines',
    label: 'Code: {language}',
  },
  diagram: {
    label: 'Diagram',
    source: 'Show the source',
    drawing: 'Show the drawing',
    problem: 'This diagram cannot be drawn.',
  },
}
