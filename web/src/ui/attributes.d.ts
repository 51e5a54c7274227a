/** Templates are checked strictly: `data-…` attributes carry states for styles and are all right on any element. */
declare module '@vue/runtime-dom' {
  interface HTMLAttributes {
    popover?: 'auto' | 'manual'
    [name: `data-${string}`]: string | number | boolean | undefined
  }
}

/** On a component they fall through to its element. */
declare module '@vue/runtime-core' {
  interface AllowedComponentProps {
    [name: `data-${string}`]: string | number | boolean | undefined
    [name: `aria-${string}`]: string | number | boolean | undefined
  }
}

export {}
