/** Walks a page with the Tab key. The functions below `walk` run in the page. */

import type { Page } from '@playwright/test'

/** Longer walks are walks in a circle. */
const STOPS_MAX = 400

interface Stop {
  /** Its place among all that should be reached; -1 for what should not. */
  at: number
  name: string
  faults: string[]
}

/** Goes through all the page has, from its beginning, and tells what was wrong on the way. */
export async function walk(page: Page): Promise<string[]> {
  const inPage = <T>(call: string) =>
    page.evaluate<T>(`(() => { ${IN_PAGE.map(String).join('\n')}; return ${call} })()`)
  const { names, first } = await inPage<{ names: string[]; first: number }>('begin()')
  const faults: string[] = []
  const reached = new Set(first < 0 ? [] : [first])
  for (let count = 0; ; count++) {
    await page.keyboard.press('Tab')
    const stop = await inPage<Stop | null>('arrive()')
    if (stop === null || reached.has(stop.at)) break
    if (count > STOPS_MAX) return [...faults, `no end: still at ${stop.name}`]
    if (stop.at >= 0) reached.add(stop.at)
    faults.push(...stop.faults.map((fault) => `${fault}: ${stop.name}`))
  }
  return [...faults, ...names.flatMap((name, at) => (reached.has(at) ? [] : [`not reached: ${name}`]))]
}

const IN_PAGE = [describe, nameOf, region, looks, stops, begin, isBefore, arrive]

interface Walking {
  stops: { element: HTMLElement; looks: string }[]
  last: HTMLElement | null
}

function describe(element: Element): string {
  return `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${JSON.stringify(nameOf(element).slice(0, 50))}`
}

/** Roughly what a screen reader says. */
function nameOf(element: Element): string {
  const labels = [...((element as HTMLInputElement).labels ?? [])].map((label) => label.textContent).join(' ')
  const by = (element.getAttribute('aria-labelledby') ?? '')
    .split(/\s+/)
    .map((id) => document.getElementById(id)?.textContent ?? '')
    .join(' ')
  const own = element.matches('input, select, textarea') ? '' : element.textContent
  const names = [
    element.getAttribute('aria-label'),
    by,
    labels,
    own,
    element.getAttribute('title'),
    element.querySelector('img')?.alt,
  ]
  return (names.find((name) => name?.trim()) ?? '').replace(/\s+/g, ' ').trim()
}

/** Order is judged inside of one part of the page. */
function region(element: Element): Element {
  return element.closest('nav, aside, header, dialog, [role=dialog], [data-region], footer, main') ?? document.body
}

/** How the surroundings of an element look, for something has to change when it has the focus. */
function looks(element: Element): string {
  const near: Element[] = [element, ...(element.parentElement?.children ?? []), ...element.querySelectorAll('*')]
  for (
    let at = element.parentElement;
    at && near.length < 200 && near.filter((one) => one.contains(element)).length < 6;
    at = at.parentElement
  )
    near.push(at)
  const styleOf = (one: Element, part?: string) => {
    const {
      outlineStyle,
      outlineWidth,
      outlineColor,
      boxShadow,
      borderColor,
      backgroundColor,
      color,
      textDecorationLine,
    } = getComputedStyle(one, part)
    return [
      outlineStyle === 'none' ? '' : `${outlineWidth} ${outlineColor}`,
      boxShadow,
      borderColor,
      backgroundColor,
      color,
      textDecorationLine,
    ].join()
  }
  return [...near.map((one) => styleOf(one)), styleOf(element, '::after')].join('\n')
}

/** All that Tab should reach. Of a group of radio buttons that is the chosen one. */
function stops(): HTMLElement[] {
  const scope = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
  const all = [...scope.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')]
  return all.filter((element) => {
    if (
      element.tabIndex < 0 ||
      element.matches(':disabled, input[type=hidden]') ||
      element.closest('[inert]') ||
      !element.checkVisibility({ visibilityProperty: true })
    )
      return false
    if (!(element instanceof HTMLInputElement) || element.type !== 'radio') return true
    const group = all.filter(
      (other): other is HTMLInputElement =>
        other instanceof HTMLInputElement && other.type === 'radio' && other.name === element.name,
    )
    return (group.find((other) => other.checked) ?? group[0]) === element
  })
}

/** In a dialog the walk begins where the dialog has put the focus, which is a stop as well. */
function begin(): { names: string[]; first: number } {
  const start = document.activeElement
  document.body.tabIndex = -1
  document.body.focus()
  document.body.removeAttribute('tabindex')
  const found = stops()
  ;(window as unknown as { walking: Walking }).walking = {
    stops: found.map((element) => ({ element, looks: looks(element) })),
    last: null,
  }
  return {
    names: found.map(describe),
    first: found.findIndex((element) => element === start && element === document.activeElement),
  }
}

/** Whether the eye meets the second one first: above it, or left of it on the same line. A next column begins at its top. */
function isBefore(last: Element, next: Element): boolean {
  const [from, to] = [last.getBoundingClientRect(), next.getBoundingClientRect()]
  const tolerance = 4
  if (to.bottom <= from.top + tolerance) return to.left < from.right - tolerance
  const sameLine = Math.min(from.bottom, to.bottom) - Math.max(from.top, to.top) > Math.min(from.height, to.height) / 2
  return sameLine && to.right <= from.left + tolerance
}

function arrive(): Stop | null {
  const { walking } = window as unknown as { walking: Walking }
  const here = document.activeElement
  if (!(here instanceof HTMLElement) || here === document.body) return null
  const at = walking.stops.findIndex(({ element }) => element === here)
  const faults: string[] = []
  const box = here.getBoundingClientRect()
  if (nameOf(here) === '') faults.push('has no name')
  if (at >= 0 && looks(here) === walking.stops[at]!.looks) faults.push('does not show the focus')
  if (!here.checkVisibility({ opacityProperty: true }) && !here.matches('input')) faults.push('is focused unseen')
  if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth)
    faults.push('is focused out of view')
  const { last } = walking
  if (
    last?.isConnected &&
    region(last) === region(here) &&
    !last.contains(here) &&
    !here.contains(last) &&
    isBefore(last, here)
  )
    faults.push(`comes after ${describe(last)}, which stands behind it`)
  walking.last = here
  return { at, name: describe(here), faults }
}
