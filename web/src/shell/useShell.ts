import { inject, provide, type ComputedRef, type InjectionKey } from 'vue'

export interface Shell {
  isSidebarShown: ComputedRef<boolean>
  toggleSidebar(): void
  showSidebar(): void
  /** The list of all keys. */
  showKeys(): void
}

const KEY: InjectionKey<Shell> = Symbol('shell')

export function provideShell(shell: Shell): void {
  provide(KEY, shell)
}

/** The frame around this page. */
export function useShell(): Shell {
  const shell = inject(KEY)
  if (!shell) throw new Error('this component belongs inside AppShell')
  return shell
}
