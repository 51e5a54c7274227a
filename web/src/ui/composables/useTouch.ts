import { useMedia } from '@/browser/useMedia'
import type { Ref } from 'vue'

/** Whether the finger is the first means of pointing. The keyboard is then on the screen, and its Enter breaks the line. */
export function useTouch(): Readonly<Ref<boolean>> {
  return useMedia('(pointer: coarse)')
}
