import { onScopeDispose, readonly, ref, watch, type Ref } from 'vue'

/** This near to the end counts as being there. */
const NEAR_PX = 48

export interface Follow {
  /** Whether the view stays at the end as it grows. */
  following: Readonly<Ref<boolean>>
  /** Whether something stands below what is in view. */
  hasBelow: Readonly<Ref<boolean>>
  toEnd(): void
  /** The view is taken somewhere else. */
  release(): void
}

/**
 * Follows the end of a growing list while the reader is there, and never takes the view away:
 * wheel, finger, keys, scroll bar, selection and the focus stop following; scrolling back to the end resumes it.
 */
export function useFollow(
  scroller: Readonly<Ref<HTMLElement | null>>,
  content: Readonly<Ref<HTMLElement | null>>,
): Follow {
  const following = ref(true)
  const hasBelow = ref(false)
  let lastTop = 0
  let lastHeight = 0
  let touchY = 0
  /** The scroll bar is held. Nothing else says that a scroll is the reader's: lists move by themselves when rows are measured. */
  let pulls = false

  const distance = (box: HTMLElement) => box.scrollHeight - box.scrollTop - box.clientHeight
  const release = () => void (following.value = false)

  function stay(): void {
    const box = scroller.value
    if (!box) return
    // What stood at the end of the view stays there when the view gets smaller, as it does when something opens below it.
    const shrank = lastHeight - box.clientHeight
    if (following.value || (shrank > 0 && !hasBelow.value)) {
      box.scrollTop = following.value ? box.scrollHeight : box.scrollTop + shrank
      lastTop = box.scrollTop
    }
    lastHeight = box.clientHeight
    hasBelow.value = distance(box) > NEAR_PX
  }

  const onWheel = (event: WheelEvent) => event.deltaY < 0 && release()
  const onTouchStart = (event: TouchEvent) => (touchY = event.touches[0]?.clientY ?? 0)
  const onTouchMove = (event: TouchEvent) => (event.touches[0]?.clientY ?? 0) > touchY + 4 && release()
  const onKey = (event: KeyboardEvent) => {
    const up = ['PageUp', 'ArrowUp', 'Home'].includes(event.key) || (event.key === ' ' && event.shiftKey)
    if (up && event.target instanceof Node && !(event.target as HTMLElement).matches?.('textarea, input')) release()
  }
  const onScroll = () => {
    const box = scroller.value
    if (!box) return
    if (following.value && pulls && box.scrollTop < lastTop) release()
    else if (!following.value && box.scrollTop > lastTop && distance(box) <= NEAR_PX && !selects())
      following.value = true
    lastTop = box.scrollTop
    hasBelow.value = distance(box) > NEAR_PX
  }
  /** What is opened or closed stays where it was pressed; if the end is in view with it, the end is followed on. */
  const onClick = (event: MouseEvent) => {
    if (!following.value || !(event.target as Element).closest?.('[aria-expanded]')) return
    release()
    requestAnimationFrame(() =>
      requestAnimationFrame(() => scroller.value && distance(scroller.value) <= NEAR_PX && (following.value = true)),
    )
  }
  /** The focus goes to something above, which the browser brings into view. */
  const onFocus = (event: FocusEvent) => {
    const box = scroller.value
    if (
      box &&
      event.target !== box &&
      (event.target as Element).getBoundingClientRect().top < box.getBoundingClientRect().top
    )
      release()
  }
  const onPointerDown = (event: PointerEvent) => (pulls = event.target === scroller.value)
  const onPointerUp = () => (pulls = false)
  const selects = () => {
    const selection = document.getSelection()
    return !!selection && !selection.isCollapsed && !!scroller.value?.contains(selection.anchorNode)
  }
  const onSelection = () => selects() && release()

  const resized = new ResizeObserver(stay)
  const stopBox = watch(
    scroller,
    (box, before) => {
      before?.removeEventListener('scroll', onScroll)
      if (!box) return
      resized.observe(box)
      box.addEventListener('scroll', onScroll, { passive: true })
      box.addEventListener('wheel', onWheel, { passive: true })
      box.addEventListener('pointerdown', onPointerDown)
      box.addEventListener('touchstart', onTouchStart, { passive: true })
      box.addEventListener('touchmove', onTouchMove, { passive: true })
      box.addEventListener('keydown', onKey)
      box.addEventListener('click', onClick)
      box.addEventListener('focusin', onFocus)
      stay()
    },
    { immediate: true, flush: 'post' },
  )
  const stopContent = watch(content, (box) => box && resized.observe(box), { immediate: true, flush: 'post' })
  document.addEventListener('selectionchange', onSelection)
  window.addEventListener('pointerup', onPointerUp)
  onScopeDispose(() => {
    stopBox()
    stopContent()
    resized.disconnect()
    document.removeEventListener('selectionchange', onSelection)
    window.removeEventListener('pointerup', onPointerUp)
  })

  return {
    following: readonly(following),
    hasBelow: readonly(hasBelow),
    release,
    toEnd() {
      following.value = true
      stay()
    },
  }
}
