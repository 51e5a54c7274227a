import { computed, onScopeDispose, ref } from 'vue'

/** A tap becomes a click this long after the finger has left, at the latest. */
const TAP_MS = 400

/** Whether the pointer, a finger or the focus is at an element, which then must not move. */
export function useNear() {
  const isPointed = ref(false)
  const isFocused = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  onScopeDispose(() => clearTimeout(timer))

  return {
    isNear: computed(() => isPointed.value || isFocused.value),
    /** What the element has to listen to. */
    on: {
      pointerenter() {
        clearTimeout(timer)
        isPointed.value = true
      },
      pointerleave({ pointerType }: PointerEvent) {
        if (pointerType !== 'touch') isPointed.value = false
        else timer = setTimeout(() => (isPointed.value = false), TAP_MS)
      },
      focusin: () => void (isFocused.value = true),
      focusout: () => void (isFocused.value = false),
    },
  }
}
