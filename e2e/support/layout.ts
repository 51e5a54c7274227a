/**
 * Judges a page by eye, as far as a program can: text that is cut off with no way to read it, controls
 * that lie over each other, things wider than their place. The functions below `judge` run in the page.
 */

import type { Page } from '@playwright/test'

/** What is wrong with the page as it is shown now. */
export async function judge(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(
    `(() => { ${IN_PAGE.map(String).join('\n')}; return [...cutTexts(), ...cutPlaceholders(), ...overlaps(), ...wide()] })()`,
  )
}

const IN_PAGE = [
  scope,
  isShown,
  describe,
  clippedBy,
  canBeRead,
  cutTexts,
  cutPlaceholders,
  shownPart,
  isAbove,
  overlaps,
  wide,
]

/** Behind a modal dialog nothing counts. */
function scope(): Element {
  return [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
}

function isShown(element: Element): boolean {
  return (
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.closest('.nc-visually-hidden, .katex-mathml, .skip, [inert]') === null
  )
}

function describe(element: Element): string {
  const text = (element.getAttribute('aria-label') ?? element.textContent ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 50)
  return `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${JSON.stringify(text)}`
}

/** The nearest box that cuts the text off, and in which direction; what scrolls shows all of it. */
function clippedBy(box: DOMRect, from: Element): { at: Element; axis: 'x' | 'y' } | null {
  const scrolls = { x: false, y: false }
  for (let at: Element | null = from; at && at !== document.documentElement; at = at.parentElement) {
    const style = getComputedStyle(at)
    const edge = at.getBoundingClientRect()
    if (style.display !== 'inline') {
      const outX = box.left < edge.left - 1 || box.right > edge.right + 1
      // Letters reach a little out of a tight line.
      const outY = box.top < edge.top - box.height * 0.35 || box.bottom > edge.bottom + box.height * 0.35
      if (!scrolls.x && outX && /hidden|clip/.test(style.overflowX)) return { at, axis: 'x' }
      if (!scrolls.y && outY && /hidden|clip/.test(style.overflowY)) return { at, axis: 'y' }
      scrolls.x ||= /auto|scroll/.test(style.overflowX)
      scrolls.y ||= /auto|scroll/.test(style.overflowY)
    }
    if (style.position === 'fixed') return null
  }
  return null
}

/** It ends in dots, and its whole text is at hand; or it says that there is more. */
function canBeRead({ at, axis }: { at: Element; axis: 'x' | 'y' }, text: Element): boolean {
  if (text.closest('[data-folded], [aria-expanded=false], [aria-hidden=true]')) return true
  const style = getComputedStyle(at)
  const hasDots = axis === 'x' ? style.textOverflow === 'ellipsis' : style.webkitLineClamp !== 'none'
  return hasDots && text.closest('[title]') !== null
}

function cutTexts(): string[] {
  const found = new Set<string>()
  const walker = document.createTreeWalker(scope(), NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement
    if (
      !parent ||
      !walker.currentNode.textContent?.trim() ||
      parent.closest('option, script, style, svg, textarea') ||
      !isShown(parent)
    )
      continue
    range.selectNodeContents(walker.currentNode)
    for (const box of range.getClientRects()) {
      const cut = clippedBy(box, parent)
      if (cut && !canBeRead(cut, parent))
        found.add(
          `cut off (${cut.axis}): ${describe(parent)} by <${cut.at.tagName.toLowerCase()} class="${cut.at.getAttribute('class') ?? ''}">`,
        )
    }
  }
  return [...found]
}

function cutPlaceholders(): string[] {
  const pen = document.createElement('canvas').getContext('2d')!
  return [...scope().querySelectorAll('input')].flatMap((field) => {
    if (!isShown(field) || field.value !== '' || !field.placeholder) return []
    const style = getComputedStyle(field)
    pen.font = style.font
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    const width = pen.measureText(field.placeholder).width
    return width > room + 1
      ? [`placeholder cut off by ${Math.ceil(width - room)} px: ${JSON.stringify(field.placeholder)}`]
      : []
  })
}

/** What of an element is in view, in all that scrolls around it. */
function shownPart(element: Element): DOMRect {
  const box = element.getBoundingClientRect()
  let [left, top, right, bottom] = [
    Math.max(0, box.left),
    Math.max(0, box.top),
    Math.min(innerWidth, box.right),
    Math.min(innerHeight, box.bottom),
  ]
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflow === 'visible') continue
    const edge = at.getBoundingClientRect()
    ;[left, top, right, bottom] = [
      Math.max(left, edge.left),
      Math.max(top, edge.top),
      Math.min(right, edge.right),
      Math.min(bottom, edge.bottom),
    ]
  }
  return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top))
}

/** What is meant to lie over the page. */
function isAbove(element: Element): boolean {
  return element.closest(':popover-open, .el-message, .el-popper, [role=listbox], [data-floats]') !== null
}

function overlaps(): string[] {
  const found = new Set<string>()
  const controls = [
    ...scope().querySelectorAll(
      'a[href], button, input, select, textarea, summary, [role=tab], [role=switch], [role=slider], [role=treeitem]',
    ),
  ].filter((control) => isShown(control) && !isAbove(control))
  const boxes = controls.map(shownPart)
  // A row that is a link as a whole has its other controls in the room that it leaves free.
  const nested = (one: Element, other: Element) =>
    one.matches('.session .link, .records .open') ||
    one.contains(other) ||
    other.contains(one) ||
    one.closest('label, .el-select, .el-input, .el-slider')?.contains(other)
  controls.forEach((control, index) => {
    const box = boxes[index]!
    const whole = control.getBoundingClientRect()
    if (box.width * box.height < whole.width * whole.height * 0.7 || whole.width * whole.height === 0) return
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
    if (hit && !nested(control, hit) && !isAbove(hit)) found.add(`covered: ${describe(control)} by ${describe(hit)}`)
    for (let other = index + 1; other < controls.length; other++) {
      const with_ = boxes[other]!
      const width = Math.min(box.right, with_.right) - Math.max(box.left, with_.left)
      const height = Math.min(box.bottom, with_.bottom) - Math.max(box.top, with_.top)
      if (width > 2 && height > 2 && !nested(control, controls[other]!))
        found.add(`overlap: ${describe(control)} and ${describe(controls[other]!)}`)
    }
  })
  return [...found]
}

/** Wide code, tables and pictures scroll in a box of their own; nothing else scrolls sideways. */
function wide(): string[] {
  const page = document.documentElement.scrollWidth - innerWidth
  const scrollers = [...scope().querySelectorAll('*')].filter((box) => {
    if (box.scrollWidth <= box.clientWidth + 1 || !isShown(box)) return false
    return (
      /auto|scroll/.test(getComputedStyle(box).overflowX) &&
      !box.matches('pre, pre *, .md-table, textarea, [data-wide]')
    )
  })
  return [
    ...(page > 0 ? [`the page is ${page} px too wide`] : []),
    ...scrollers.map((box) => `scrolls sideways by ${box.scrollWidth - box.clientWidth} px: ${describe(box)}`),
  ]
}
