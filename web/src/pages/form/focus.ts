import { nextTick } from 'vue'

/** Puts the cursor where something is wrong, once the page shows it. */
export async function focusFirstProblem(): Promise<void> {
  await nextTick()
  document
    .querySelector<HTMLElement>('main [data-wrong] :is(input, textarea, select), main [aria-invalid="true"]')
    ?.focus()
}
