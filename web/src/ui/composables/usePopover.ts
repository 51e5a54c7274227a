import { nextTick, onScopeDispose, ref, watch, type Ref } from 'vue'

/** A panel in the top layer beside its anchor, on the side with more room. Closes on a press outside and when the page scrolls. */
export function usePopover(
  anchor: Readonly<Ref<HTMLElement | null>>,
  panel: Readonly<Ref<HTMLElement | null>>,
  align: 'start' | 'end' = 'start',
): { isOpen: Ref<boolean> } {
  const isOpen = ref(false)

  function place(): void {
    if (!anchor.value || !panel.value) return
    const box = anchor.value.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = panel.value
    const gap = 4
    const margin = 8
    const below = innerHeight - box.bottom
    const top = below >= height + gap + margin || below >= box.top ? box.bottom + gap : box.top - gap - height
    const left = align === 'start' ? box.left : box.right - width
    panel.value.style.top = `${Math.max(margin, Math.min(top, innerHeight - height - margin))}px`
    panel.value.style.left = `${Math.max(margin, Math.min(left, innerWidth - width - margin))}px`
  }

  /** What comes late makes it larger. */
  const growth = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(place)

  function onPress(event: Event): void {
    const target = event.target as Node
    if (!anchor.value?.contains(target) && !panel.value?.contains(target)) isOpen.value = false
  }

  function onScroll(event: Event): void {
    if (!panel.value?.contains(event.target as Node)) isOpen.value = false
  }

  function listen(on: boolean): void {
    const change = on ? 'addEventListener' : 'removeEventListener'
    document[change]('pointerdown', onPress, true)
    document[change]('scroll', onScroll, true)
    window[change]('resize', place)
    if (!on) growth?.disconnect()
  }

  watch(isOpen, async (open) => {
    listen(open)
    if (!open) return
    await nextTick()
    panel.value?.showPopover?.()
    place()
    if (panel.value) growth?.observe(panel.value)
  })
  onScopeDispose(() => listen(false))
  return { isOpen }
}
