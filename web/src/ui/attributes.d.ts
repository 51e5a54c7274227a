/** Templates are checked strictly; `data-…` attributes carry states for styles and are all right on any element. */
declare module '@vue/runtime-dom' {
  interface HTMLAttributes {
    [name: `data-${string}`]: string | number | boolean | undefined
  }
}

declare module '@vue/runtime-core' {
  interface AllowedComponentProps {
    [name: `data-${string}`]: string | number | boolean | undefined
  }
}

export {}
