/**
 * Makes the children of an element equal to those in a piece of HTML while keeping every node that can stay.
 * Text that grows is appended to its node: a selection in it survives.
 */

export interface MorphHooks {
  /** Elements whose content is managed elsewhere. */
  isOpaque(element: Element): boolean
  removed(node: Node): void
}

const NONE: MorphHooks = { isOpaque: () => false, removed: () => undefined }

export function morphHtml(target: Element, html: string, hooks: MorphHooks = NONE): void {
  const template = document.createElement('template')
  template.innerHTML = html
  morphChildren(target, template.content, hooks)
}

function morphChildren(target: Node, wanted: Node, hooks: MorphHooks): void {
  let current = target.firstChild
  for (let next = wanted.firstChild; next;) {
    const following: ChildNode | null = next.nextSibling
    if (current && isSameKind(current, next)) {
      const after: ChildNode | null = current.nextSibling
      morphNode(current, next, hooks)
      current = after
    } else {
      target.insertBefore(next, current)
    }
    next = following
  }
  while (current) {
    const after: ChildNode | null = current.nextSibling
    hooks.removed(current)
    current.remove()
    current = after
  }
}

const isSameKind = (a: Node, b: Node) => a.nodeType === b.nodeType && a.nodeName === b.nodeName

function morphNode(current: Node, wanted: Node, hooks: MorphHooks): void {
  if (current instanceof Text) {
    const text = (wanted as Text).data
    if (text === current.data) return
    if (text.startsWith(current.data)) current.appendData(text.slice(current.data.length))
    else current.data = text
    return
  }
  if (!(current instanceof Element)) return
  const element = wanted as Element
  for (const { name } of [...current.attributes]) {
    // What the reader has opened stays open.
    if (name === 'open' && current.nodeName === 'DETAILS') continue
    if (!element.hasAttribute(name)) current.removeAttribute(name)
  }
  for (const { name, value } of [...element.attributes]) {
    if (current.getAttribute(name) !== value) current.setAttribute(name, value)
  }
  if (!hooks.isOpaque(current)) morphChildren(current, element, hooks)
}
